// SPDX-License-Identifier: BSD-3-Clause
// estimate.h - how long a collective would take by LogGP: from the schedules of all ranks.

#pragma once

#include <cstdint>
#include <span>

#include "compiler/ir/schedule.h"

namespace nbcc {

/// LogGP's, in microseconds.
struct Costs {
  double latency, overhead, gap, perByte;
};

struct Estimate {
  double time = 0;         // until the last rank is done, all begin at 0; us
  int64_t messages = 0;    // of the rank that sends most
  uint64_t bytesSent = 0;  // likewise
};

/// Of schedules of all ranks, Order::waits, with blocks (or vectors) of so many bytes. A message
/// takes the sender's and the receiver's port for max(gap, n perByte) each, and `latency` in
/// between; a rank does one thing at a time: `overhead` for each message, or a copy, or a
/// reduction.
Estimate estimate(std::span<const Schedule>, uint64_t blockBytes, const Costs &);

}  // namespace nbcc
