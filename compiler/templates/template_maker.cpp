// SPDX-License-Identifier: BSD-3-Clause
// template_maker.cpp - passes, legalize, emit, for one rank at a time.
//
// Two of these ask about peers: merge-sends what a peer has written, legalize whether a peer sends
// to just those it receives from. Their schedules are made when first asked for, and kept for one
// number of ranks and one root.

#include "compiler/templates/template_maker.h"

#include <algorithm>

namespace nbcc {

void TemplateMaker::aboutPeersOf(int64_t ranks, int64_t root) {
  if (ranks == peersRanks_ && root == peersRoot_) return;
  peers_.clear();
  symmetric_.assign(static_cast<size_t>(ranks), -1);
  peersRanks_ = ranks;
  peersRoot_ = root;
}

const Schedule *TemplateMaker::peer(int64_t ranks, int64_t rank, int64_t root) {
  aboutPeersOf(ranks, root);
  auto it = peers_.find(rank);
  if (it == peers_.end()) {
    std::optional<Schedule> s = written_(ranks, rank, root);
    if (!s) return nullptr;
    it = peers_.emplace(rank, std::move(*s)).first;
  }
  return &it->second;
}

bool TemplateMaker::symmetric(int64_t ranks, int64_t rank, int64_t root, const Topology *nodes) {
  aboutPeersOf(ranks, root);
  signed char &known = symmetric_[static_cast<size_t>(rank)];
  if (known < 0) {
    std::vector<int32_t> to, from;
    if (std::optional<Schedule> s = written_(ranks, rank, root))
      for (const Step &step : s->steps) {
        if (step.peer >= 0 && nodes && nodes->nodeOf(rank) == nodes->nodeOf(step.peer)) continue;
        if (sends(step)) to.push_back(step.peer);
        if (receives(step)) from.push_back(step.peer);
      }
    for (std::vector<int32_t> *peers : {&to, &from}) {
      std::sort(peers->begin(), peers->end());
      peers->erase(std::unique(peers->begin(), peers->end()), peers->end());
    }
    known = to == from;
  }
  return known;
}

PassContext TemplateMaker::context(const Schedule &s) {
  int64_t ranks = s.ranks, root = s.root;
  return {.peer = [=, this](int64_t rank) { return peer(ranks, rank, root); }};
}

void TemplateMaker::improve(Schedule &s, bool inPlace) {
  if (s.order == Order::waits) return;  // was read so
  runPasses(s, {.strictRounds = strictRounds_, .inPlace = inPlace}, context(s), diag_);
}

std::optional<Template> TemplateMaker::make(Rank of, const Collective &collective, bool inPlace,
                                            const Target &target, TargetOptions options,
                                            std::vector<Legal> *legal) {
  std::optional<Schedule> schedule = written_(of.ranks, of.rank, of.root);
  if (!schedule) return std::nullopt;
  std::optional<Schedule> placed;
  // A rooted collective's other ranks never say MPI_IN_PLACE.
  if (inPlace && collective.hasInPlace() && (!collective.hasRoot() || of.rank == of.root)) {
    placed = schedule;
    improve(*placed, true);
  }
  improve(*schedule, false);
  if (!diag_.ok()) return std::nullopt;

  const Topology *nodes = options.within ? options.topology : nullptr;
  options.symmetric = [=, this](int64_t rank) { return symmetric(of.ranks, rank, of.root, nodes); };
  std::vector<Legal> ways = target.legalize(*schedule, placed ? &*placed : nullptr, options, diag_);
  if (!diag_.ok()) return std::nullopt;
  Template bytes = target.emit(ways, options);
  target.verifyTemplate(bytes, ways, options, diag_);
  if (!diag_.ok()) return std::nullopt;
  if (legal) *legal = std::move(ways);
  return bytes;
}

}  // namespace nbcc
