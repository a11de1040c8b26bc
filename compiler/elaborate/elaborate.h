// SPDX-License-Identifier: BSD-3-Clause
// elaborate.h - from `build` to schedules: run for each (P, rank, root, parameters).
//
// Needs no LLVM: compiled code is there, or comes from a library. Thread safe but for the Diag:
// threads that run at the same time have one each.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/elaborate/compiled_algorithm.h"
#include "compiler/ir/claim.h"
#include "compiler/ir/schedule.h"
#include "compiler/ir/topology.h"
#include "dsl/diag.h"

namespace nbcc {

/// What makes a run end in an error instead of never.
struct Limits {
  int64_t iterations = 100'000'000;  // of all loops of one rank together
  int64_t steps = 8'000'000;         // of one rank: some 600 MB
  int64_t extents = 40'000'000;      // of one rank, in sections and in lengths of scratch
  int64_t buffers = 1'000'000;       // of one rank
};

struct Request {
  int64_t ranks = 1, rank = 0, root = 0;
  std::vector<int64_t> parameters;  // as many as the algorithm has
  const Topology *topology =
      nullptr;                   // of `ranks` ranks; null: the algorithm is refused if it asks
  const Graph *graph = nullptr;  // likewise: refused if its kind has neighbours
};

/// Whether `requires` holds. `why`, if given, gets the first one that does not.
/// Empty: evaluating it failed, which was reported.
/// Rank and root are not looked at.
std::optional<bool> applies(const CompiledAlgorithm &, const Request &, const Limits &, Diag &,
                            Loc *why = nullptr);

/// The bounds of the claims for this P; empty where one failed (reported).
std::optional<std::vector<ClaimValue>> claims(const CompiledAlgorithm &, const Request &,
                                              const Limits &, Diag &);

/// One rank's schedule, Order::rounds. Empty where something was wrong, which
/// was reported with its place and values.
std::optional<Schedule> elaborate(const CompiledAlgorithm &, const Request &, const Limits &,
                                  Diag &);

}  // namespace nbcc
