// SPDX-License-Identifier: BSD-3-Clause
// own_waits.h - whether queues that wait for words wait for words of their own rank for ever.
//
// Read from the bytes alone. That ranks do not wait for each other is what phases are about
// (phases.h), and these are of rounds: they say nothing of two queues of a rank within a round.

#pragma once

#include <vector>

#include "codegen/coredirect/view.h"

namespace nbcc::crosschannel {

struct StuckWait {
  uint32_t queue;  // whose entry it is
  Entry entry;
};

/// The WAITs at which queues end if peers write all that they are to write, a queue once.
/// Linear in entries, but for a logarithm.
std::vector<StuckWait> stuckWaits(const View &, const nbc_variant &);

}  // namespace nbcc::crosschannel
