// SPDX-License-Identifier: BSD-3-Clause
// substitute_in_place.cpp - `in` lies where MPI_IN_PLACE says it does.
//
//   allgather, rank 3                           in is out[3]
//   %0 = copy in -> out[3] round 0        =>
//   %1 = send in to 4 round 0                   %0 = send out[3] to 4 round 0
//
//   allgather      in is out[me]
//   alltoall       in is out, block by block
//   allreduce      in is out; reduce: at the root
//   gather         at the root: in is out[root]
//   scatter        at the root: out is in[root]
//   bcast, barrier have no such call
//   scan, exscan   in is out
//   reduce_scatter, reduce_scatter_block: in is out, block by block, and out is out[0];
//                  so `out` has P blocks from here on
//
// A copy of bytes onto themselves vanishes. Where bytes of that region are written
// before `in` was last read, they are no longer what the caller gave: then the
// region is saved first, and `in` is read there:
//
//   alltoall                                    %0 = copy out[0 +: 2] -> in.saved[0 +: 2]
//   %0 = send in[1] to 1 round 0          =>    %1 = send in.saved[1] to 1
//   %1 = recv out[1] from 1 round 0             %2 = recv out[1] from 1
//
// scatter's root keeps its block in `in`, which nobody may write. So if anything
// but the copy in[root] -> out writes `out`, that goes to a scratch, out.unused.
//
// The pass takes Order::rounds. Near-linear in extents.

#include <algorithm>

#include "compiler/passes/intervals.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/remove_unused_scratch.h"
#include "compiler/passes/side_by_side.h"
#include "dsl/collectives.h"

namespace nbcc {
namespace {

/// Block i of buffer `from` is block i + shift of buffer `to`.
struct Alias {
  BufferId from = -1, to = -1;
  int64_t shift = 0;

  bool covers(const Extent &e) const { return e.buffer == from; }
  Extent operator()(Extent e) const {
    if (covers(e)) {
      e.buffer = to;
      e.first += shift * e.parts;
    }
    return e;
  }
  std::vector<Extent> operator()(Section section) const {
    std::vector<Extent> result;
    result.reserve(section.size());
    for (const Extent &e : section) result.push_back((*this)(e));
    return result;
  }
};

Alias aliasOf(const Schedule &s) {
  const Alias whole{s.buffer(Role::in), s.buffer(Role::out), 0};
  const bool atRoot = s.rank == s.root;
  switch (s.kind) {
    case ast::Kind::allgather:
      return {whole.from, whole.to, s.rank};
    case ast::Kind::alltoall:
    case ast::Kind::allreduce:
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
    case ast::Kind::scan:
    case ast::Kind::exscan:
      return whole;
    case ast::Kind::reduce:
      return atRoot ? whole : Alias();
    case ast::Kind::gather:
      return atRoot ? Alias{whole.from, whole.to, s.root} : Alias();
    case ast::Kind::scatter:
      return atRoot ? Alias{whole.to, whole.from, s.root} : Alias();
    case ast::Kind::bcast:
    case ast::Kind::barrier:
    case ast::Kind::neighbor_allgather:  // MPI: "in place" has no meaning there
    case ast::Kind::neighbor_alltoall:
    case ast::Kind::own:
      return {};
  }
  return {};
}

/// A copy's sections, without what `drop(from, to)` says of its pieces. Where
/// nothing is dropped, as they were.
template <class Drop>
bool dropPieces(const Schedule &s, const Step &step, std::vector<Extent> &from,
                std::vector<Extent> &to, Drop drop) {
  SideBySide pieces(s, s.from(step), s.to(step));
  Piece a, b;
  bool dropped = false;
  from.clear();
  to.clear();
  while (pieces.next(a, b)) {
    if (drop(a.raw, b.raw)) {
      dropped = true;
      continue;
    }
    from.push_back(normalize(a.raw));
    to.push_back(normalize(b.raw));
  }
  return dropped && !pieces.failed();
}

class Substitution {
 public:
  Substitution(Schedule &s, Alias alias)
      : s_(s), alias_(alias), where_(s, aliased()), written_(where_.size(), 0) {}

  void run() {
    for (size_t begin = 0; begin < s_.steps.size();) {
      size_t end = begin + 1;
      if (s_.steps[begin].peer < 0) {
        local(s_.steps[begin]);
      } else {
        while (end < s_.steps.size() && s_.steps[end].round == s_.steps[begin].round) ++end;
        communication(begin, end);
      }
      begin = end;
    }
    if (saved_) save();
    for (Step &step : steps_) {
      step.from = s_.keep(alias_(s_.from(step)));
      step.with = s_.keep(alias_(s_.with(step)));
    }
    s_.steps = std::move(steps_);
  }

 private:
  std::vector<Extent> aliased() const {
    std::vector<Extent> result;
    for (const Step &step : s_.steps)
      for (const Section section : {s_.from(step), s_.with(step)})
        for (const Extent &e : section)
          if (alias_.covers(e)) result.push_back(alias_(e));
    // Copies are cut into pieces, whose ends are those of both sides.
    for (const Step &step : s_.steps) {
      if (step.op != Op::copy) continue;
      SideBySide pieces(s_, s_.from(step), s_.to(step));
      for (Piece a, b; pieces.next(a, b);) {
        result.push_back(alias_(a.raw));
        result.push_back(b.raw);
      }
    }
    return result;
  }

  bool isWritten(const Extent &e) const {
    bool found = false;
    written_.look(where_(e), [&](char w) { found |= w != 0; });
    return found;
  }
  void write(const Extent &e) {
    if (e.buffer == alias_.to) written_.assign(where_(e), 1);
  }
  void read(Section section) {
    for (const Extent &e : section)
      if (alias_.covers(e) && isWritten(alias_(e))) saved_ = true;
  }

  /// Whether a step that works byte by byte leaves this piece alone or reads it
  /// just before it writes it.
  bool sameBytes(const Extent &from, const Extent &to) const {
    return alias_.covers(from) && normalize(alias_(from)) == normalize(to);
  }

  void local(Step step) {
    read(s_.from(step));
    read(s_.with(step));
    if (step.op == Op::reduce) {
      // A reduction may have its result where an operand is, byte for byte.
      for (const Extent &e : s_.to(step)) write(e);
      for (const Section operand : {s_.from(step), s_.with(step)}) {
        SideBySide pieces(s_, operand, s_.to(step));
        bool same = true, reads = false;
        for (Piece a, b; pieces.next(a, b);) {
          reads |= alias_.covers(a.raw);
          same &= !alias_.covers(a.raw) || sameBytes(a.raw, b.raw);
        }
        if (reads && (!same || pieces.failed())) read(operand);
      }
      steps_.push_back(step);
      return;
    }
    // What is dropped here stays dropped if all of `in` has to be saved: at this
    // point the bytes are still the caller's.
    const bool dropped =
        dropPieces(s_, step, from_, to_, [&](const Extent &from, const Extent &to) {
          return sameBytes(from, to) && !isWritten(to);
        });
    if (dropped) {
      if (from_.empty()) return;
      step.from = s_.keep(from_);
      step.to = s_.keep(to_);
    }
    for (const Extent &e : s_.to(step)) write(e);
    read(s_.from(step));
    steps_.push_back(step);
  }

  void communication(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      for (const Extent &e : s_.to(s_.steps[i])) write(e);
    for (size_t i = begin; i < end; ++i) {
      read(s_.from(s_.steps[i]));
      steps_.push_back(s_.steps[i]);
    }
  }

  void save() {
    const int64_t blocks = s_.buffers[alias_.from].blocks;
    const Extent region = alias_(Extent{alias_.from, 1, 0, blocks});
    Buffer buffer{.name = "in.saved", .blocks = blocks, .like = {region}};
    const Extent copy{static_cast<BufferId>(s_.buffers.size()), 1, 0, blocks};
    s_.buffers.push_back(buffer);
    steps_.insert(steps_.begin(),
                  Step{.op = Op::copy, .from = s_.keep({&region, 1}), .to = s_.keep({&copy, 1})});
    alias_ = {alias_.from, copy.buffer, 0};
  }

  Schedule &s_;
  Alias alias_;
  const Coordinates where_;
  IntervalMap<char> written_;  // bytes where `in` lies that are not what they were
  bool saved_ = false;
  std::vector<Step> steps_;
  std::vector<Extent> from_, to_;
};

/// `in` is never written, so there is nothing to save; but neither may `out` be.
void substituteAtScatterRoot(Schedule &s, const Alias &alias) {
  bool onlyCopied = true;
  for (const Step &step : s.steps) {
    if (std::ranges::none_of(s.to(step), [&](const Extent &e) { return alias.covers(e); }))
      continue;
    SideBySide pieces(s, s.from(step), s.to(step));
    if (step.op != Op::copy) onlyCopied = false;
    for (Piece a, b; pieces.next(a, b);)
      if (alias.covers(b.raw) && normalize(alias(b.raw)) != normalize(a.raw)) onlyCopied = false;
    if (pieces.failed()) onlyCopied = false;
  }

  Alias to = alias;
  if (!onlyCopied) {
    to = {alias.from, static_cast<BufferId>(s.buffers.size()), 0};
    s.buffers.push_back(
        {.name = "out.unused", .blocks = 1, .like = {alias(Extent{alias.from, 1, 0, 1})}});
  }
  const bool isRead = std::ranges::any_of(s.steps, [&](const Step &step) {
    return std::ranges::any_of(s.from(step), [&](const Extent &e) { return alias.covers(e); }) ||
           std::ranges::any_of(s.with(step), [&](const Extent &e) { return alias.covers(e); });
  });

  std::vector<Step> steps;
  std::vector<Extent> from, toLeft;
  for (Step step : s.steps) {
    if (step.op == Op::copy &&
        dropPieces(s, step, from, toLeft, [&](const Extent &, const Extent &b) {
          return alias.covers(b) && (onlyCopied || !isRead);
        })) {
      if (from.empty()) continue;
      step.from = s.keep(from);
      step.to = s.keep(toLeft);
    }
    step.from = s.keep(to(s.from(step)));
    step.with = s.keep(to(s.with(step)));
    step.to = s.keep(to(s.to(step)));
    steps.push_back(step);
  }
  s.steps = std::move(steps);
  if (!onlyCopied && !isRead) removeUnusedScratch(s);
}

}  // namespace

void substituteInPlace(Schedule &s, const PassContext &) {
  const Collective kind = collective(s);
  if (s.order != Order::rounds || s.inPlace || kind.hasGraph() || s.kind == ast::Kind::own) return;
  s.inPlace = true;
  const Alias alias = aliasOf(s);
  if (alias.to >= 0 && collective(s).hasAllInOut()) s.buffers[alias.to].blocks = s.ranks;
  if (alias.from < 0 || alias.to < 0) return;
  // Not of this collective's shape: for prove to say.
  if (s.buffers[alias.from].blocks + alias.shift > s.buffers[alias.to].blocks) return;
  if (s.kind == ast::Kind::scatter)
    substituteAtScatterRoot(s, alias);
  else
    Substitution(s, alias).run();
  // The caller says nothing of the lengths of what is not there.
  const Alias moved = aliasOf(s);  // buffers may have been renumbered
  for (size_t b = 0; b < s.buffers.size(); ++b)
    for (Extent &e : s.buffers[b].like)
      if (static_cast<size_t>(moved.to) < b) e = moved(e);
}

}  // namespace nbcc
