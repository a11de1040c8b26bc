// SPDX-License-Identifier: BSD-3-Clause
// emit.cpp - legal schedules as a template of records.

#include "codegen/messages/messages.h"
#include "codegen/sci/sci.h"

namespace nbcc {

Template sci_emit(std::span<const Legal> legals, const TargetOptions &options) {
  return messages::emit(legals, options, sci, {});
}

}  // namespace nbcc
