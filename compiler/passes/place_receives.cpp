// SPDX-License-Identifier: BSD-3-Clause
// place_receives.cpp - what would be copied to `out` in the end is put there at once.
//
//   scratch tmp[3] like out[2], out[0 +: 2]
//   %0 = copy in -> tmp[0] round 0                  %0 = copy in -> out[2] round 0
//   %1 = send tmp[0 +: 2] to 1 round 0         =>   %1 = send out[2], out[0] to 1 round 0
//   %2 = recv tmp[1 +: 2] from 0 round 0            %2 = recv out[0 +: 2] from 0 round 0
//   %3 = copy tmp[0] -> out[2] round 1
//   %4 = copy tmp[1 +: 2] -> out[0 +: 2] round 1
//
// A placement is a run of scratch that copies move to an equally long run of the
// caller's memory, one or several of them, together one to one. (Equally long for
// any length of blocks: what the scratch is like is as far into its block as the
// destination is into its own.) The scratch is renamed to the destination, the
// copies vanish, if in the order of rounds
//
//   1. no other placement takes these bytes of scratch, or of the destination;
//   2. the scratch is not written once the first of the copies was reached;
//   3. other accesses to the destination come before all to the scratch, or, reads,
//      after the last of the copies, or, writes, after the last access to the
//      scratch: so the two are never in use at the same time;
//   4. except that the step which is the first to touch the scratch may read the
//      destination, if it reads and writes the same byte: then it may as well
//      find it there (in-place calls begin like this).
//
// Operations of one round are at the same time, neither before nor after. Placements do not depend
// on each other, so each stands or falls alone; the time of a placement is that of all its bytes.
// Of several copies of the same scratch the last is taken.
//
// Near-linear in extents, but for accesses that go over many placements: after
// kReceivesSearch of those per extent everything is left as it is. What frees one scratch
// may free the next, so this is repeated, kRepeat times at most.

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/ir/wide.h"
#include "compiler/passes/intervals.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/remove_unused_scratch.h"
#include "compiler/passes/side_by_side.h"

namespace nbcc {
namespace {

constexpr int64_t kReceivesSearch = 64;
constexpr int kRepeat = 4;

/// Scratch position x is destination position (x + shift) / parts.
struct Placement {
  Extent scratch, destination;
  int64_t shift;
  int32_t parts;
  StepId firstCopy, lastCopy;
  StepId firstAccess = std::numeric_limits<StepId>::max(), lastAccess = -1, lastWrite = -1;
  bool refused = false;

  Extent operator()(const Extent &e) const {
    return {destination.buffer, e.parts * parts, e.first + shift * e.parts, e.count};
  }
};

/// A piece of a copy.
struct CopyPiece {
  Extent from, to;
  int32_t placement = -1;
};

class Placing {
 public:
  explicit Placing(Schedule &s) : s_(s) {}

  bool run() {
    if (!pieces()) return false;
    placements();
    if (placements_.empty() || !accesses()) return false;
    judge();
    return rename();
  }

 private:
  /// The copies' pieces; whether any goes from scratch to the caller's memory.
  bool pieces() {
    bool any = false;
    firstPiece_ = walkCopies(s_, [&](const Piece &from, const Piece &to) {
      const bool candidate = isCandidate(from, to);
      pieces_.push_back({from.raw, to.raw, candidate ? kCandidate : -1});
      any |= candidate;
    });
    return any && !firstPiece_.empty();
  }

  bool isCandidate(const Piece &a, const Piece &b) const {
    return s_.buffers[a.raw.buffer].role == Role::scratch && s_.buffers[b.raw.buffer].ofResult() &&
           (b.raw.first - a.base.first) % b.raw.parts == 0;
  }

  void placements() {
    std::vector<Extent> ends;
    for (const CopyPiece &piece : pieces_) {
      ends.push_back(piece.from);
      ends.push_back(piece.to);
    }
    where_.emplace(s_, ends);
    IntervalMap<char> taken(where_->size(), 0);
    const auto isFree = [&](const Extent &e) {
      bool free = true;
      taken.look((*where_)(e), [&](char t) { free &= !t; });
      return free;
    };
    size_t copy = firstPiece_.size() - 1;
    for (StepId i = static_cast<StepId>(s_.steps.size()) - 1; i >= 0; --i) {
      if (s_.steps[i].op != Op::copy) continue;
      --copy;
      for (size_t k = firstPiece_[copy + 1]; k-- > firstPiece_[copy];) {
        CopyPiece &piece = pieces_[k];
        if (piece.placement != kCandidate) continue;
        piece.placement = -1;
        if (!isFree(piece.from) || !isFree(piece.to)) continue;
        taken.assign((*where_)(piece.from), 1);
        taken.assign((*where_)(piece.to), 1);
        piece.placement = place(piece, i);
      }
    }
  }

  /// Neighbours on both sides are one placement.
  int32_t place(const CopyPiece &piece, StepId copy) {
    const int32_t parts = piece.to.parts / piece.from.parts;
    const int64_t shift = (piece.to.first - piece.from.first) / piece.from.parts;
    if (!placements_.empty()) {
      Placement &last = placements_.back();
      if (last.scratch.buffer == piece.from.buffer && last.shift == shift && last.parts == parts &&
          last.destination.buffer == piece.to.buffer) {
        Extent ahead = piece.from;
        const bool isAhead = extend(ahead, last.scratch);
        if (isAhead) last.scratch = ahead;
        if (isAhead || extend(last.scratch, piece.from)) {
          last.destination = last(last.scratch);
          last.firstCopy = copy;
          return static_cast<int32_t>(placements_.size() - 1);
        }
      }
    }
    placements_.push_back({piece.from, piece.to, shift, parts, copy, copy});
    return static_cast<int32_t>(placements_.size() - 1);
  }

  struct DestinationAccess {
    int32_t placement;
    StepId time;
    bool write, sameByte;
  };

  /// False: too much to look at.
  bool accesses() {
    IntervalMap<int32_t> owner(where_->size(), -1);
    for (size_t p = 0; p < placements_.size(); ++p) {
      owner.assign((*where_)(placements_[p].scratch), static_cast<int32_t>(p));
      owner.assign((*where_)(placements_[p].destination), static_cast<int32_t>(p));
    }
    int64_t budget =
        kReceivesSearch * (static_cast<int64_t>(s_.steps.size() + pieces_.size()) + 64);

    // `partner`: where a copy or reduction puts these bytes.
    const auto access = [&](const Extent &e, bool write, StepId time, const Extent *partner) {
      owner.look((*where_)(e), [&](int32_t p) {
        --budget;
        if (p < 0) return;
        Placement &placement = placements_[p];
        if (e.buffer == placement.scratch.buffer) {
          placement.firstAccess = std::min(placement.firstAccess, time);
          placement.lastAccess = std::max(placement.lastAccess, time);
          if (write) placement.lastWrite = std::max(placement.lastWrite, time);
        } else {
          const bool same = partner && partner->buffer == placement.scratch.buffer &&
                            contains(placement.scratch, *partner) &&
                            normalize(placement(*partner)) == normalize(e);
          destination_.push_back({p, time, write, same});
        }
      });
    };

    size_t copy = 0;
    StepId time = 0;
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()) && budget >= 0; ++i) {
      const Step &step = s_.steps[i];
      const bool together = i > 0 && step.peer >= 0 && s_.steps[i - 1].peer >= 0 &&
                            s_.steps[i - 1].round == step.round;
      if (!together) time = i;
      if (step.op == Op::copy) {
        for (size_t k = firstPiece_[copy]; k < firstPiece_[copy + 1]; ++k) {
          access(pieces_[k].from, false, time, &pieces_[k].to);
          if (pieces_[k].placement < 0) access(pieces_[k].to, true, time, nullptr);
        }
        ++copy;
        continue;
      }
      for (const Section section : {s_.from(step), s_.with(step)}) {
        const Section to = s_.to(step);
        // Extent by extent, the usual case, is enough to see operands and result in one place.
        const bool alike = step.op == Op::reduce && section.size() == to.size();
        for (size_t k = 0; k < section.size(); ++k)
          access(section[k], false, time, alike ? &to[k] : nullptr);
      }
      for (const Extent &e : s_.to(step)) access(e, true, time, nullptr);
    }
    return budget >= 0;
  }

  static bool contains(const Extent &outer, const Extent &inner) {
    return comparePositions(outer.first, outer.parts, inner.first, inner.parts) <= 0 &&
           comparePositions(inner.first + inner.count, inner.parts, outer.first + outer.count,
                            outer.parts) <= 0;
  }

  void judge() {
    for (Placement &p : placements_) p.refused = p.lastWrite >= p.firstCopy;
    for (const DestinationAccess &a : destination_) {
      Placement &p = placements_[a.placement];
      const bool fine = a.time < p.firstAccess || (!a.write && a.time > p.lastCopy) ||
                        (a.write && a.time > p.lastAccess) ||
                        (a.sameByte && a.time == p.firstAccess);
      if (!fine) p.refused = true;
    }
  }

  bool rename() {
    for (const Placement &p : placements_)
      if (!p.refused) accepted_.push_back(p);
    if (accepted_.empty()) return false;
    std::sort(accepted_.begin(), accepted_.end(), [](const Placement &p, const Placement &q) {
      if (p.scratch.buffer != q.scratch.buffer) return p.scratch.buffer < q.scratch.buffer;
      return comparePositions(p.scratch.first, p.scratch.parts, q.scratch.first, q.scratch.parts) <
             0;
    });

    std::vector<Step> steps;
    std::vector<Extent> from, with, to;
    size_t copy = 0;
    for (Step step : s_.steps) {
      from.clear(), with.clear(), to.clear();
      if (step.op == Op::copy) {
        for (size_t k = firstPiece_[copy]; k < firstPiece_[copy + 1]; ++k) {
          const CopyPiece &piece = pieces_[k];
          if (piece.placement >= 0 && !placements_[piece.placement].refused) continue;
          if (!rename(piece.from, from) || !rename(piece.to, to)) return false;
        }
        ++copy;
        if (!dropCopiesOntoThemselves(from, to)) return false;
        if (from.empty()) continue;
      } else {
        for (const Extent &e : s_.from(step))
          if (!rename(e, from)) return false;
        for (const Extent &e : s_.with(step))
          if (!rename(e, with)) return false;
        for (const Extent &e : s_.to(step))
          if (!rename(e, to)) return false;
      }
      step.from = s_.keep(from);
      step.with = s_.keep(with);
      step.to = s_.keep(to);
      steps.push_back(step);
    }
    s_.steps = std::move(steps);
    removeUnusedScratch(s_);
    return true;
  }

  /// Appends what the extent is now. False: it can't be cut as finely as needed.
  bool rename(const Extent &e, std::vector<Extent> &result) const {
    auto at = std::partition_point(accepted_.begin(), accepted_.end(), [&](const Placement &p) {
      if (p.scratch.buffer != e.buffer) return p.scratch.buffer < e.buffer;
      return comparePositions(p.scratch.first + p.scratch.count, p.scratch.parts, e.first,
                              e.parts) <= 0;
    });
    Extent rest = e;
    for (; rest.count > 0 && at != accepted_.end() && overlap(at->scratch, rest); ++at) {
      if (!contains(at->scratch, rest)) {
        const int64_t parts = std::lcm<int64_t>(rest.parts, at->scratch.parts);
        if (parts * at->parts > kMaxParts) return false;
        const int64_t times = parts / rest.parts;
        rest = {rest.buffer, static_cast<int32_t>(parts), rest.first * times, rest.count * times};
      }
      // Positions of the placement in the parts of `rest`; where they are not whole, the
      // placement goes further than `rest` does.
      const Wide low = Wide{at->scratch.first} * rest.parts / at->scratch.parts;
      const Wide high =
          Wide{at->scratch.first + at->scratch.count} * rest.parts / at->scratch.parts;
      if (rest.first < low)
        append(result, normalize(take(rest, static_cast<int64_t>(low - rest.first))));
      const int64_t count = static_cast<int64_t>(std::min<Wide>(rest.count, high - rest.first));
      append(result, normalize((*at)(take(rest, count))));
    }
    if (rest.count > 0 || e.count == 0) append(result, normalize(rest));
    return true;
  }

  static Extent take(Extent &rest, int64_t count) {
    Extent result = rest;
    result.count = count;
    rest.first += count;
    rest.count -= count;
    return result;
  }

  bool dropCopiesOntoThemselves(std::vector<Extent> &from, std::vector<Extent> &to) const {
    std::vector<Extent> fromLeft, toLeft;
    SideBySide walk(s_, from, to);
    bool dropped = false;
    for (Piece a, b; walk.next(a, b);) {
      if (a.raw == b.raw) {
        dropped = true;
      } else {
        append(fromLeft, normalize(a.raw));
        append(toLeft, normalize(b.raw));
      }
    }
    if (walk.failed()) return false;
    if (dropped) from = std::move(fromLeft), to = std::move(toLeft);
    return true;
  }

  static constexpr int32_t kCandidate = -2;

  Schedule &s_;
  std::vector<CopyPiece> pieces_;   // of all copies, in their order
  std::vector<size_t> firstPiece_;  // of each copy, and the end
  std::optional<Coordinates> where_;
  std::vector<Placement> placements_, accepted_;
  std::vector<DestinationAccess> destination_;
};

}  // namespace

void placeReceives(Schedule &s, const PassContext &) {
  if (s.order != Order::rounds) return;
  for (int i = 0; i < kRepeat && Placing(s).run(); ++i) {
  }
}

}  // namespace nbcc
