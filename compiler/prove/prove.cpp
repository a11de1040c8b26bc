// SPDX-License-Identifier: BSD-3-Clause
// prove.cpp - the proof, stage by stage.
//
// Nothing is sampled: what holds here holds for every length of a block, every
// legal order of events and every start of the plan. Each stage relies on those
// before it, so the first with a finding is the last to run. Linear in the steps
// and in the blocks they move; nothing but the stages' rows is kept in memory.

#include "compiler/prove/prove.h"

#include <algorithm>

#include "compiler/prove/stages.h"

namespace nbcc {

void Facts::meet(const Facts &other) {
  rankOrder &= other.rankOrder;
  bitwiseSame &= other.bitwiseSame;
  anyLengths &= other.anyLengths;
  if (unequal.what.empty()) unequal = other.unequal;
}

Proof prove(std::span<const Schedule> ranks, std::span<const ClaimValue> claims, Diag &diag,
            const Topology *topology) {
  Proof proof;
  proof.ranks = static_cast<int64_t>(ranks.size());

  const Together all(ranks);
  if (!belongTogether(all, diag)) return proof;
  Findings findings(diag);

  // Bytes become cells; a step moves whole cells.
  Memory memory;
  if (!memory.layOut(all, diag)) return proof;

  // Each send has its receive, and they are equally long.
  const Partners partners = matchMessages(all, memory, proof.unequal, findings);
  proof.anyLengths = proof.unequal.what.empty();
  if (!findings.none()) return proof;

  // Every step ends, though nothing is buffered.
  const std::vector<Event> events = execute(all, partners, findings);
  if (!findings.none()) return proof;

  // All legal orders come to the same.
  findRaces(all, memory, findings);
  if (!findings.none()) return proof;

  // Nothing is read that was not written.
  Values values = follow(all, memory, partners, events, findings);
  if (!findings.none()) return proof;

  // It is the collective.
  const Combining combining = checkResult(all, memory, values, findings);
  if (ranks[0].kind == ast::Kind::barrier) checkBarrier(all, partners, events, findings);
  if (!findings.none()) return proof;
  proof.rankOrder = combining.outOfOrder.empty();
  proof.bitwiseSame = combining.unlike.empty();

  // And it is what it says of itself.
  count(all, proof, findings);
  LinkUse links;
  if (ranks[0].order == Order::rounds &&
      std::ranges::count(claims, ast::Claim::What::link_sharing, &ClaimValue::what))
    links = findLinks(all, partners, events, topology ? *topology : oneOnEach(proof.ranks));
  checkClaims(claims, ranks[0].order, proof, combining, links, findings);
  proof.holds = findings.none();
  return proof;
}

}  // namespace nbcc
