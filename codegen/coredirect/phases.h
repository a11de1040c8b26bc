// SPDX-License-Identifier: BSD-3-Clause
// phases.h - when the program as written reaches something, for those who look at the order of what
// was emitted.
//
// Within a round first what is local, then clear-to-sends, then sends; what a round has brought, in
// the next. Where every rank waits for nothing of a later phase than what follows the WAIT, ranks
// cannot wait for each other for ever.

#pragma once

#include <cstdint>

#include "compiler/ir/schedule.h"

namespace nbcc::crosschannel {

inline constexpr int64_t kNever = INT64_MAX;

inline int64_t phaseOfStart(const Step &step) {
  return 3 * int64_t{step.round} + (step.peer < 0 ? 0 : receives(step) ? 1 : 2);
}
inline int64_t phaseOfEnd(const Step &step) {
  return 3 * (int64_t{step.round} + (step.peer < 0 ? 0 : 1));
}

}  // namespace nbcc::crosschannel
