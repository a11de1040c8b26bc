// SPDX-License-Identifier: BSD-3-Clause
// prove.h - are the schedules of all ranks, taken together, the collective?
//
// All ranks are run symbolically. For Order::rounds as written: a round's
// operations start together, a send ends only when its receive has been reached,
// so a program that needs buffering does not pass. For Order::waits as the
// passes left them. What is checked, and what each finding names, is in
// prove.cpp; the definitions of the collectives in postcondition.cpp.

#pragma once

#include <span>
#include <string>

#include "compiler/ir/claim.h"
#include "compiler/ir/schedule.h"
#include "compiler/ir/topology.h"

namespace nbcc {

/// A step that is right only if all blocks are equally long; `what` empty: there is none.
struct Unequal {
  std::string what;  // "rank 2 receives tmp[1 +: 2] from 3 in round 1"
  Loc at;
};

/// What is true of a call, or of all that were proven.
struct Facts {
  bool rankOrder = true;    // reductions: in rank order, so right for operators that do not commute
  bool bitwiseSame = true;  // all ranks combine alike, up to the order of two operands
  bool anyLengths = true;   // right also where each rank's block has another length (v-variants)
  Unequal unequal;          // if not: the first that shows it

  /// Keeps what is true of these calls too.
  void meet(const Facts &);
};

/// What was found to be true, and what it cost.
struct Proof : Facts {
  bool holds = false;
  int64_t ranks = 0;
  int64_t rounds = 0;        // the most of any rank
  int64_t messages = 0;      // all ranks together; signals included
  int64_t mostMessages = 0;  // the most that one rank sends
  Amount mostSent{};         // blocks: the most that one rank sends
};

/// Runs the schedules of all ranks of one call (ranks[i].rank == i, all for the
/// same root) and reports what is wrong: the rank, the round, the place in the
/// source, the values. At most a handful of findings a call: later ones mostly
/// follow from the first. Where the ranks are matters to claims of links; null: one on each node.
Proof prove(std::span<const Schedule> ranks, std::span<const ClaimValue> claims, Diag &,
            const Topology * = nullptr);

}  // namespace nbcc
