// SPDX-License-Identifier: BSD-3-Clause
// prove_number.cpp - every root, every way to call it.
//
// Cost: the schedules of all ranks are held for one root at a time; while those
// called in place wait for their turn, twice.

#include "compiler/driver/prove_number.h"

#include <algorithm>
#include <set>

#include "compiler/prove/prove.h"

namespace nbcc {
namespace {

constexpr int64_t kAllRootsUpTo = 16;
constexpr int kMostFailures = 4;  // ranks: an endless loop takes a while on each

std::set<int64_t> roots(const Collective &kind, int64_t ranks) {
  if (!kind.hasRoot()) return {0};
  std::set<int64_t> some{0, 1 % ranks, ranks / 2, ranks - 1};
  if (ranks <= kAllRootsUpTo)
    for (int64_t r = 0; r < ranks; ++r) some.insert(r);
  return some;
}

/// False: reported.
bool proveRoot(Compilation &c, int64_t ranks, int64_t root, NumberProof &result, Diag &diag) {
  auto claims = c.claims(ranks, root);
  if (!claims) return false;
  std::vector<Schedule> written;
  written.reserve(ranks);
  size_t bytes = 0;
  int failed = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::optional<Schedule> s = c.written(ranks, rank, root);
    if (s) {
      bytes += s->bytes();
      written.push_back(std::move(*s));
    } else if (++failed == kMostFailures) {
      break;
    }
  }
  if (!diag.ok()) return false;
  result.bytes = std::max(result.bytes, bytes);

  auto run = [&](std::span<const Schedule> schedules) {
    Proof p = prove(schedules, *claims, diag, c.topology(ranks));
    ++result.proofs;
    result.meet(p);
    return p.holds && diag.ok();
  };
  if (!run(written)) return false;
  if (written.front().order == Order::waits) return true;  // read so: nothing is left to the passes

  std::vector<Schedule> placed;
  if (hasInPlace(c.collective())) placed = written;
  for (Schedule &s : written) c.improve(s, false);
  if (!diag.ok() || !run(written)) return false;
  if (placed.empty()) return true;
  written.clear();
  for (Schedule &s : placed) c.improve(s, true);
  return diag.ok() && run(placed);
}

/// Placed as the ranks are now.
void provePlaced(Compilation &c, int64_t ranks, NumberProof &proof, Diag &diag) {
  using enum NumberProof::Result;
  const std::optional<bool> applies = c.applies(ranks, false);
  if (!applies) proof.result = unusable;
  if (!applies || !*applies) return;
  proof.result = proven;
  // A schedule that was read is of one root.
  const std::set<int64_t> some =
      c.algorithm() ? roots(c.collective(), ranks) : std::set<int64_t>{c.readRoot()};
  for (const int64_t root : some) {
    if (proveRoot(c, ranks, root, proof, diag)) continue;
    proof.result = failed;
    proof.root = root;
    return;
  }
}

/// As a file for --topology says it.
std::string nodesOf(const Topology &t) {
  constexpr int64_t kMostShown = 32;
  std::string text;
  for (int64_t rank = 0; rank < std::min(t.ranks(), kMostShown); ++rank)
    text += cat(rank > 0 ? " " : "", t.nodeOf(rank));
  return text + (t.ranks() > kMostShown ? " ..." : "");
}

/// Among the neighbours there are now. Where none of the placings meets `requires`, nothing is
/// said.
void proveConnected(Compilation &c, int64_t ranks, NumberProof &proof, Diag &diag) {
  using enum NumberProof::Result;
  if (!c.needsTopology()) return provePlaced(c, ranks, proof, diag);
  for (const Topology &topology : sampleTopologies(ranks)) {
    c.place(&topology);
    ++proof.topologies;
    provePlaced(c, ranks, proof, diag);
    c.place(nullptr);
    if (proof.result != failed && proof.result != unusable) continue;
    proof.placed = nodesOf(topology);
    break;
  }
}

}  // namespace

NumberProof proveNumber(Compilation &c, int64_t ranks, Diag &diag) {
  using enum NumberProof::Result;
  constexpr int64_t kMostShown = 12;
  NumberProof proof;
  proof.result = skipped;
  if (!c.needsGraph()) {
    proveConnected(c, ranks, proof, diag);
    return proof;
  }
  for (const SampleGraph &sample : sampleGraphs(ranks)) {
    c.connect(&sample.graph);
    ++proof.graphs;
    proveConnected(c, ranks, proof, diag);
    c.connect(nullptr);
    if (proof.result != failed && proof.result != unusable) continue;
    proof.connected = cat(sample.name, ": ", describe(sample.graph, kMostShown, "; "));
    break;
  }
  return proof;
}

NumberProof proveCall(Compilation &c, int64_t ranks, int64_t root, Diag &diag) {
  NumberProof proof;
  proof.root = root;
  proof.result = proveRoot(c, ranks, root, proof, diag) ? NumberProof::Result::proven
                                                        : NumberProof::Result::failed;
  return proof;
}

void noteFailure(const NumberProof &proof, Compilation &c, int64_t ranks, Diag &diag,
                 const std::string &more) {
  diag.note(Loc(), c.name(), " fails with ", ranks, " rank", ranks == 1 ? "" : "s",
            c.collective().hasRoot() ? cat(", root ", proof.root) : "", more);
  if (!proof.placed.empty()) diag.note(Loc(), "with the ranks on nodes ", proof.placed);
  if (!proof.connected.empty()) diag.note(Loc(), "among the neighbours of ", proof.connected);
}

void checkLengths(const Facts &facts, Diag &diag) {
  if (!facts.anyLengths)
    diag.error(facts.unequal.at, "own lengths: ", facts.unequal.what,
               ", which is right only if all blocks are equally long");
}

}  // namespace nbcc
