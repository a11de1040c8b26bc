// SPDX-License-Identifier: BSD-3-Clause
// record_proof.h - what a library tells of an algorithm's proofs.

#pragma once

#include "compiler/output/output.h"
#include "compiler/prove/prove.h"
#include "dsl/collectives.h"

namespace nbcc {

/// Of `from` to `to` ranks. What means nothing for the collective is not claimed.
inline void recordProof(const Facts &facts, int64_t from, int64_t to, const Collective &kind,
                        LibraryContent::Algorithm &a) {
  a.provenFrom = from;
  a.provenTo = to;
  a.anyLengths = facts.anyLengths && kind.hasBlocks();
  a.rankOrder = facts.rankOrder && kind.reduces;
  a.bitwiseSame = facts.bitwiseSame && kind.reduces && !kind.isPrefix() && !kind.hasAllInOut();
}

}  // namespace nbcc
