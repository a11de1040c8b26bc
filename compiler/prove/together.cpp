// SPDX-License-Identifier: BSD-3-Clause
// together.cpp - are these the schedules of one call, and how its steps are spoken of.
//
// The elaborator makes nothing else; but schedules can be read from a text.

#include <algorithm>

#include "compiler/prove/stages.h"
#include "dsl/collectives.h"

namespace nbcc {

namespace {

/// How many blocks the collective gives a buffer; 0: there is none.
int64_t blocksOf(const Schedule &s, Role role) {
  const Collective c = collective(s);
  if (role == Role::out && s.inPlace && c.hasAllInOut()) return s.ranks;
  return blocksOf(s, role == Role::in ? c.in : role == Role::out ? c.out : c.data);
}

/// Of an own collective: the buffers of all ranks are alike, and what is promised is there.
bool ownFits(const Schedule &first, const Schedule &s, Diag &diag) {
  const auto bad = [&](Loc at, const auto &...what) {
    diag.error(at, "rank ", s.rank, " ", what...);
    return false;
  };
  if (s.collective != first.collective)
    return bad({}, "is in ", s.collective, ", and rank 0 in ", first.collective);
  const bool data = s.buffer(Role::data) >= 0;
  for (const Role role : {Role::in, Role::out, Role::data}) {
    const BufferId own = s.buffer(role), others = first.buffer(role);
    if ((own < 0) != (others < 0))
      return bad({}, own < 0 ? "has no" : "has", " buffer `", name(role), "`, unlike rank 0");
    if (own < 0) continue;
    const Buffer &here = s.buffers[own], &there = first.buffers[others];
    if (std::ranges::count(s.buffers, role, &Buffer::role) > 1)
      return bad(here.loc, "has a second buffer `", name(role), "`");
    if (data && role != Role::data)
      return bad(here.loc, "has `", name(role), "` beside `data`, which stands for both");
    if (here.blocks != there.blocks || here.vector != there.vector)
      return bad(here.loc, "has another ", name(role), " than rank 0: ", here.blocks,
                 here.blocks == 1 ? " block" : " blocks", here.vector ? ", a vector" : "");
    if (here.vector && here.blocks != 1)
      return bad(here.loc, "has ", here.blocks, " blocks in ", name(role), ", a vector");
  }
  return true;
}

bool sourcesAreThere(std::span<const Schedule> ranks, const Schedule &s, Diag &diag) {
  for (const Promise &promise : s.promises)
    for (const Source &source : s.sources(promise))
      for (int64_t r = 0; r < source.ranks; ++r) {
        const Schedule &from = ranks[static_cast<size_t>(source.rank + r)];
        const Buffer &buffer = from.buffers[from.buffer(source.role)];
        if (buffer.significant) continue;
        diag.error(promise.loc, "rank ", s.rank, " is promised what rank ", from.rank, " has in ",
                   buffer.name, ", which is absent there");
        return false;
      }
  return true;
}

bool callersBuffersFit(const Together &all, const Schedule &s, Diag &diag) {
  bool seen[3] = {};
  for (const Buffer &buffer : s.buffers) {
    if (!buffer.ofCaller()) continue;
    bool &again = seen[static_cast<int>(buffer.role)];
    const int64_t wanted = blocksOf(s, buffer.role);
    if (again) {
      diag.error(buffer.loc, "rank ", s.rank, " has a second buffer `", name(buffer.role), "`");
      return false;
    }
    if (buffer.blocks != wanted) {
      diag.error(buffer.loc, buffer.name, " of rank ", s.rank, " has ", buffer.blocks,
                 buffer.blocks == 1 ? " block" : " blocks", ", but in ", name(s.kind), " among ",
                 collective(s).hasGraph() ? "these neighbours" : cat(s.ranks, " ranks"), " it has ",
                 wanted);
      return false;
    }
    again = true;
  }
  // What is not named need not be there, but for a result: someone expects it.
  for (const Role role : {Role::out, Role::data}) {
    Buffer absent;
    absent.role = role;
    if (seen[static_cast<int>(role)]) continue;
    int64_t block = 0;
    while (block < blocksOf(s, role) && expected(all, s, absent, block).nothing()) ++block;
    if (block == blocksOf(s, role)) continue;
    diag.error({}, "rank ", s.rank, " has no buffer `", name(role), "`, where the result belongs");
    return false;
  }
  return true;
}

/// Each destination slot is the source slot of one rank, the one that it names. As no source slot
/// of a rank stands in two (verify), it is enough to count them.
bool neighborsAgree(const Together &all, Diag &diag) {
  int64_t destinations = 0, sources = 0;
  for (const Schedule &s : all.ranks) {
    for (const int32_t destination : s.neighbors.destinations)
      destinations += destination != kNobody;
    for (size_t i = 0; i < s.neighbors.sources.size(); ++i) {
      const auto &[rank, slot] = s.neighbors.sources[i];
      if (rank == kNobody) continue;
      ++sources;
      const std::vector<int32_t> &there = all.schedule(rank).neighbors.destinations;
      if (static_cast<size_t>(slot) < there.size() && there[static_cast<size_t>(slot)] == s.rank)
        continue;
      diag.error({}, "source ", i, " of rank ", s.rank, " is destination ", slot, " of rank ", rank,
                 ", but that is ",
                 static_cast<size_t>(slot) >= there.size() ? cat("not there: it has ", there.size())
                 : there[static_cast<size_t>(slot)] == kNobody
                     ? "nobody's"
                     : cat("rank ", there[static_cast<size_t>(slot)]));
      return false;
    }
  }
  if (sources != destinations)
    diag.error({}, "the ranks have ", destinations, " destinations, but ", sources,
               " sources: not every edge stands at both ends");
  return sources == destinations;
}

}  // namespace

bool belongTogether(const Together &all, Diag &diag) {
  const std::span<const Schedule> ranks = all.ranks;
  if (ranks.empty()) {
    diag.error({}, "there is no schedule to prove anything of");
    return false;
  }
  const Schedule &first = ranks[0];
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Schedule &s = ranks[i];
    if (s.ranks != static_cast<int64_t>(ranks.size()) || s.rank != static_cast<int64_t>(i)) {
      diag.error({}, "schedule ", i, " of ", ranks.size(), " is that of rank ", s.rank, " of ",
                 s.ranks, ": one each is needed, in order");
      return false;
    }
    if (s.kind != first.kind || s.root != first.root || s.order != first.order ||
        s.inPlace != first.inPlace) {
      diag.error({}, "the schedules of rank 0 and rank ", i,
                 " differ in kind, root, order or in-place: they are not of one call");
      return false;
    }
  }
  if (!neighborsAgree(all, diag)) return false;
  for (const Schedule &s : ranks) {
    const bool own = s.kind == ast::Kind::own;
    if (!(own ? ownFits(first, s, diag) : callersBuffersFit(all, s, diag))) return false;
  }
  for (const Schedule &s : ranks)
    if (!sourcesAreThere(ranks, s, diag)) return false;
  return true;
}

Together::Together(std::span<const Schedule> schedules) : ranks(schedules) {
  first_.assign(1, 0);
  for (const Schedule &s : ranks)
    first_.push_back(first_.back() + static_cast<int64_t>(s.steps.size()));
  firstSlot_.assign(1, 0);
  for (const Schedule &s : ranks)
    firstSlot_.push_back(firstSlot_.back() + static_cast<int64_t>(s.neighbors.destinations.size()));
}

std::string describe(const Schedule &s, const Step &step) {
  switch (step.op) {
    case Op::send:
      return cat("sends ", toString(s, s.from(step)), " to rank ", step.peer);
    case Op::recv:
      return cat("receives ", toString(s, s.to(step)), " from rank ", step.peer);
    case Op::signal:
      return cat("signals rank ", step.peer);
    case Op::await:
      return cat("awaits rank ", step.peer);
    case Op::copy:
      return cat("copies ", toString(s, s.from(step)), " to ", toString(s, s.to(step)));
    case Op::reduce:
      return cat("reduces ", toString(s, s.from(step)), " with ", toString(s, s.with(step)), " to ",
                 toString(s, s.to(step)));
  }
  return {};
}

}  // namespace nbcc
