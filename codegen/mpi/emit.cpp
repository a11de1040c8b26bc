// SPDX-License-Identifier: BSD-3-Clause
// emit.cpp - legal schedules as a template of records, each of one run of memory.

#include "codegen/messages/messages.h"
#include "codegen/mpi/mpi.h"

namespace nbcc {

Template mpi_emit(std::span<const Legal> legals, const TargetOptions &options) {
  return messages::emit(legals, options, mpi, {});
}

}  // namespace nbcc
