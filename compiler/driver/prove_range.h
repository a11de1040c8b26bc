// SPDX-License-Identifier: BSD-3-Clause
// prove_range.h - prove an algorithm for every number of ranks in a range.

#pragma once

#include <iosfwd>

#include "compiler/driver/compile.h"
#include "compiler/prove/prove.h"

namespace nbcc {

/// What is true for all numbers of ranks that were proven.
struct RangeProof : Facts {
  bool holds = false;
  int64_t from = 0, to = 0;
  int64_t proven = 0, skipped = 0;  // numbers of ranks; skipped: `requires` does not hold
  int64_t proofs = 0;               // runs of the prover
  int64_t topologies = 0;           // made up for them, for all numbers of ranks together
  int64_t graphs = 0;               // likewise
};

/// proveNumber() for each number of ranks, several at the same time (Options::jobs);
/// what is found and reported does not depend on how many. Stops at the first number
/// of ranks that shows an error: it is the smallest.
RangeProof proveRange(Compilation &, const Options &, Diag &);

/// One sentence or two: for how many ranks, what was found.
void print(const RangeProof &, Compilation &, std::ostream &);

}  // namespace nbcc
