// SPDX-License-Identifier: BSD-3-Clause
// sink_group.cpp - groups, where ranks are, and `run`: the callee's ranks and views become ours.
//
//   rank 5 of 8: run gather.linear(root = 0) among {1, 5, 6} with in = in, out = tmp
//     =>   a frame of 3 ranks, rank 1; views in, out over ours; its peer 2 is our 6
//
// A member of a group is a rank of the frame that made it. A frame keeps its members as
// ranks of the whole, so depth costs nothing. A run costs its members once more.

#include <algorithm>
#include <cassert>

#include "compiler/elaborate/sink_refuse.h"

namespace nbcc {

// Groups

int64_t Sink::groupSize(int64_t index) const {
  return index < 0 ? frame().ranks : static_cast<int64_t>(group(index).members.size());
}

int64_t Sink::position(int64_t index, int64_t rank) const {
  if (rank < 0 || rank >= frame().ranks) return -1;
  if (index < 0) return rank;
  const Group &g = group(index);
  const auto wanted = static_cast<int32_t>(rank);
  if (g.sorted.empty()) {
    auto it = std::ranges::lower_bound(g.members, wanted);
    return it != g.members.end() && *it == wanted ? it - g.members.begin() : -1;
  }
  auto it = std::ranges::lower_bound(g.sorted, std::pair(wanted, int32_t{0}));
  return it != g.sorted.end() && it->first == wanted ? it->second : -1;
}

Checked Sink::addGroup(std::vector<int32_t> members, Place at) {
  groupMembers_ += static_cast<int64_t>(members.size());
  if (groupMembers_ > limits_.extents || static_cast<int64_t>(groups_.size()) >= limits_.extents)
    return refuseValue(at, "more than ", limits_.extents, " groups or members of groups", where());
  Group g;
  if (!std::ranges::is_sorted(members)) {
    g.sorted.reserve(members.size());
    for (size_t i = 0; i < members.size(); ++i)
      g.sorted.emplace_back(members[i], static_cast<int32_t>(i));
    std::ranges::sort(g.sorted);
  }
  g.members = std::move(members);
  groups_.push_back(std::move(g));
  return {static_cast<int64_t>(groups_.size()) - 1, 1};
}

int64_t Sink::groupBegin(Place at) {
  newMembers_.clear();
  groupAt_ = at;
  return 0;
}

int64_t Sink::groupAdd(int64_t rank) {
  if (rank < 0 || rank >= frame().ranks)
    return refuse(groupAt_, "member ", newMembers_.size(), " of this group is rank ", rank,
                  ", which is not in 0..", frame().ranks - 1, where());
  // One more than there are ranks is there twice.
  if (static_cast<int64_t>(newMembers_.size()) <= frame().ranks)
    newMembers_.push_back(static_cast<int32_t>(rank));
  return 0;
}

Checked Sink::groupEnd() {
  std::vector<std::pair<int32_t, size_t>> sorted;
  if (std::ranges::adjacent_find(newMembers_, std::ranges::greater_equal()) != newMembers_.end()) {
    for (size_t i = 0; i < newMembers_.size(); ++i) sorted.emplace_back(newMembers_[i], i);
    std::ranges::sort(sorted);
  }
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1].first == sorted[i].first)
      return refuseValue(groupAt_, "rank ", sorted[i].first, " is in this group twice: members ",
                         sorted[i - 1].second, " and ", sorted[i].second, where());
  return addGroup(std::move(newMembers_), groupAt_);
}

Checked Sink::size(int64_t group, Place) {
  return {groupSize(group), 1};
}

Checked Sink::rank_in(int64_t group, int64_t rank, Place) {
  return {position(group, rank), 1};
}

Checked Sink::member(int64_t index, int64_t which, Place at) {
  int64_t count = groupSize(index);
  if (which < 0 || which >= count)
    return refuseValue(at, "[", which, "] is outside this group, which has ", plural(count, "rank"),
                       where());
  return {index < 0 ? which : group(index).members[static_cast<size_t>(which)], 1};
}

// Where ranks are

const Topology *Sink::topology(Place at) {
  if (!topology_) {
    refuse(at, "asks where the ranks are: say it with --topology=4x8 (nodes x ranks on each) or ",
           "a file");
    return nullptr;
  }
  Frame &f = frame();
  if (f.members.empty()) return topology_;
  if (!f.topology) f.topology = topology_->among(f.members);
  return &*f.topology;
}

Checked Sink::askRank(const char *builtin, int64_t rank,
                      int64_t (*answer)(const Topology &, int64_t), Place at) {
  const Topology *t = topology(at);
  if (!t) return {};
  if (rank < 0 || rank >= t->ranks())
    return refuseValue(at, builtin, "(", rank, "): rank ", rank, " is not in 0..", t->ranks() - 1,
                       where());
  return {answer(*t, rank), 1};
}

Checked Sink::nodes(Place at) {
  const Topology *t = topology(at);
  return t ? Checked{t->nodes(), 1} : Checked{};
}

Checked Sink::node_of(int64_t rank, Place at) {
  return askRank(
      "node_of", rank, [](const Topology &t, int64_t r) -> int64_t { return t.nodeOf(r); }, at);
}

Checked Sink::first_on_node(int64_t rank, Place at) {
  return askRank(
      "first_on_node", rank,
      [](const Topology &t, int64_t r) -> int64_t { return t.localRank(r) == 0; }, at);
}

Checked Sink::local_rank(int64_t rank, Place at) {
  return askRank(
      "local_rank", rank, [](const Topology &t, int64_t r) -> int64_t { return t.localRank(r); },
      at);
}

Checked Sink::ranks_on(int64_t node, Place at) {
  const Topology *t = topology(at);
  if (!t) return {};
  if (node < 0 || node >= t->nodes())
    return refuseValue(at, "ranks_on(", node, "): node ", node, " is not in 0..", t->nodes() - 1,
                       where());
  if (auto known = frame().onNode.find(node); known != frame().onNode.end())
    return {known->second, 1};
  Checked made = addGroup(t->ranksOn(node), at);
  if (made.ok) frame().onNode.emplace(node, made.value);
  return made;
}

// run

/// The operand becomes a view of the callee. elements -1: one, all of it.
int64_t Sink::bind(int64_t index, int64_t elements, Place at) {
  const Operand &o = operands_[0];
  if (elements >= 0 && o.elements != elements)
    return refuse(at, "wants ", plural(elements, "element"), ", as that buffer has, not ",
                  o.elements, where());
  bound_.emplace_back(index, viewOf(0, elements < 0));
  close();
  return 0;
}

int64_t Sink::bindBegin(int64_t, Place) {
  arrayExtents_.clear();
  arrayAtoms_.clear();
  arrayElements_.clear();
  return 0;
}

int64_t Sink::bindElement(Place at) {
  arrayAbsentIn_ = view(operands_[0].view).absentIn;
  return addArrayElement(true, at);
}

int64_t Sink::bindEnd(int64_t index, [[maybe_unused]] int64_t elements, Place) {
  assert(static_cast<int64_t>(arrayElements_.size()) == (elements < 0 ? 1 : elements));
  View v = viewOver(std::move(arrayExtents_), arrayAtoms_, arrayElements_);
  v.absentIn = arrayAbsentIn_;
  bound_.emplace_back(index, std::move(v));
  return 0;
}

int64_t Sink::enter(int64_t index, const char *callee, int64_t kind, int64_t buffers, int64_t root,
                    Place at) {
  Frame inner;
  inner.name = callee;
  inner.kind = kind;
  inner.at = at;
  inner.ranks = groupSize(index);
  inner.rank = position(index, frame().rank);
  inner.root = root;
  if ((kind & kHasRoot) && (root < 0 || root >= inner.ranks))
    return refuse(at, "root ", root, " of ", callee, " is not in 0..", inner.ranks - 1, where());
  inner.views = views_.size();
  inner.groups = groups_.size();
  inner.members = index < 0 ? frame().members : group(index).members;
  if (index >= 0 && !frame().members.empty())
    for (int32_t &m : inner.members) m = frame().members[static_cast<size_t>(m)];
  iterations -= inner.ranks;  // a run among many takes as long as a loop over them

  const auto number = static_cast<int32_t>(frames_.size());
  frames_.push_back(std::move(inner));
  const Frame &f = frame();
  base_ = f.views;
  views_.resize(base_ + static_cast<size_t>(buffers));
  for (auto &[i, v] : bound_) view(i) = std::move(v);
  bound_.clear();

  int64_t next = 0;
  auto name = [&](KindFact has, Role role, bool significant) {
    if (!(kind & has)) return;
    View &v = view(next++);
    assert(v.buffer >= 0 && "check() sees that all buffers are bound");
    v.name = nbcc::name(role);
    if (!significant && v.absentIn < 0) v.absentIn = number;
  };
  bool atRoot = f.rank == f.root;
  name(kHasIn, Role::in, !(kind & kInAtRoot) || atRoot);
  name(kHasOut, Role::out, !(kind & kOutAtRoot) || atRoot);
  name(kHasData, Role::data, true);
  return 0;
}

int64_t Sink::leave() {
  views_.resize(frame().views);
  for (size_t i = frame().groups; i < groups_.size(); ++i)
    groupMembers_ -= static_cast<int64_t>(groups_[i].members.size());
  groups_.resize(frame().groups);
  frames_.pop_back();
  base_ = frame().views;
  return 0;
}

int64_t Sink::doesNotApply(Place at) {
  return refuse(at, frame().name, " requires this, which does not hold for ",
                plural(frame().ranks, "rank"), where());
}

}  // namespace nbcc
