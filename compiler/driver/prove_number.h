// SPDX-License-Identifier: BSD-3-Clause
// prove_number.h - prove an algorithm for one number of ranks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "compiler/driver/compile.h"
#include "compiler/prove/prove.h"

namespace nbcc {

/// What came of it. Proven: all that is said here holds for all roots tried.
struct NumberProof : Facts {
  enum class Result {
    unknown,   // was not tried
    proven,    //
    skipped,   // `requires` does not hold
    failed,    // with this root
    unusable,  // `requires` itself could not be worked out
  };
  Result result = Result::unknown;
  int64_t root = 0;
  int64_t proofs = 0;      // runs of the prover
  int64_t topologies = 0;  // that were made up for it
  std::string placed;      // failed: the nodes of the ranks in the one made up
  int64_t graphs = 0;      // that were made up for it
  std::string connected;   // failed: the one made up, and who is whose neighbour there
  size_t bytes = 0;        // of the schedules of all ranks, as written; the most of any root
};

/// For an algorithm that asks where the ranks are, where --topology does not say it: in each
/// of sampleTopologies(); of a kind with neighbours, where neither --cart nor --graph says who they
/// are: in each of sampleGraphs(). As written, then as the passes leave it, then as called with
/// MPI_IN_PLACE; for all roots up to 16 ranks, for some beyond. The first that fails is reported.
NumberProof proveNumber(Compilation &, int64_t ranks, Diag &);

/// The same for one root, and with the ranks placed as they are: what one call is made of.
NumberProof proveCall(Compilation &, int64_t ranks, int64_t root, Diag &);

/// Behind what was reported: with how many ranks, with which root, where, among which neighbours.
/// `more`: of the sentence.
void noteFailure(const NumberProof &, Compilation &, int64_t ranks, Diag &,
                 const std::string &more = "");

/// Where blocks are to have lengths of their own (--lengths=each): reports that they may not.
void checkLengths(const Facts &, Diag &);

}  // namespace nbcc
