// SPDX-License-Identifier: BSD-3-Clause
// measure.h - figures of several contestants for one collective and size, taken in turns.

#pragma once

#include <string>
#include <vector>

#include "tools/bench/calls.h"
#include "tools/bench/computation.h"
#include "tools/bench/options.h"
#include "tools/bench/statistics.h"

namespace nbcc::bench {

/// Times are microseconds, of the slowest rank; CPU that of an average rank, for each call.
struct Overlap {
  int tests;
  double overlap;    // 1 - (total - computing) / latency, of the medians
  double low, high;  // the quartiles of that of single rounds
  Spread total;      // start, computation with its tests, wait
  Spread computing;  // the computation alone
  double latency;    // of calls between these
  double cpu;        // what calls with computation used, less the computation alone
  size_t calls;
};

struct Result {
  const Collective *collective;
  std::string algorithm, target;  // target empty: the MPI's own
  nbc_transfer transfer;
  bool nonblocking;
  size_t bytes, calls;
  Spread start, latency;
  double cpu;
  std::vector<Overlap> overlaps;
  std::vector<double> starts, latencies;  // of each call
};

/// "allgather.ring:sci by dma", "MPI_Iallgather".
std::string nameOf(const Result &);

/// Collective. First each contestant's result is checked; a wrong one is refused.
std::vector<Result> measure(const Options &, const Computation &, Arguments &,
                            const std::vector<Contestant> &);

}  // namespace nbcc::bench
