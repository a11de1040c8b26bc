// SPDX-License-Identifier: BSD-3-Clause
// drop_dead_copies.cpp - what nobody reads before it is written again is not copied.
//
//   %0 = copy in -> out round 0                =>
//   %1 = send in[0 of 2] to 1 round 0               %0 = send in[0 of 2] to 1 round 0
//   %2 = recv out[0 of 2] from 1 round 0            %1 = recv out[0 of 2] from 1 round 0
//   %3 = recv out[1 of 2] from 1 round 0            %2 = recv out[1 of 2] from 1 round 0
//
// Such copies are left by read_originals.cpp, which lets others read what was copied: a ring's
// allreduce then moves no vector before it begins. Of a copy that is needed in part, the pieces
// that are not are dropped.
//
// From back to front: results are read by the caller in the end, a write makes what was there
// before unread, a step that is kept reads. Only copies are dropped: messages have another end, and
// a reduction that nobody needs is a mistake of the program's, which is not to be hidden.
//
// The pass takes Order::rounds. Near-linear in extents.

#include <optional>

#include "compiler/passes/intervals.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/remove_unused_scratch.h"
#include "compiler/passes/side_by_side.h"

namespace nbcc {
namespace {

class Dropping {
 public:
  explicit Dropping(Schedule &s) : s_(s) {}

  void run() {
    if (!cutCopies()) return;
    where_.emplace(s_, ends_);
    isRead_.emplace(where_->size(), 0);
    for (const Extent &e : results()) note(e, true);
    size_t copy = firstPiece_.size() - 1;
    for (size_t end = s_.steps.size(); end > 0;) {
      size_t begin = end - 1;
      if (s_.steps[begin].peer >= 0)
        while (begin > 0 && s_.steps[begin - 1].peer >= 0 &&
               s_.steps[begin - 1].round == s_.steps[begin].round)
          --begin;
      if (s_.steps[begin].op == Op::copy)
        lookAtCopy(--copy);
      else
        lookAt(begin, end);
      end = begin;
    }
    if (dropped_) rewrite();
  }

 private:
  struct CopyPiece {
    Extent from, to;
    bool dead = false;
  };

  std::vector<Extent> results() const {
    std::vector<Extent> all;
    for (size_t b = 0; b < s_.buffers.size(); ++b)
      if (s_.buffers[b].ofResult() && s_.buffers[b].blocks > 0)
        all.push_back({static_cast<BufferId>(b), 1, 0, s_.buffers[b].blocks});
    return all;
  }

  /// False: there are none, or they cannot be cut as finely as needed.
  bool cutCopies() {
    firstPiece_ = walkCopies(s_, [&](const Piece &from, const Piece &to) {
      pieces_.push_back({from.raw, to.raw});
      ends_.insert(ends_.end(), {from.raw, to.raw});
    });
    const std::vector<Extent> all = results();
    ends_.insert(ends_.end(), all.begin(), all.end());
    return firstPiece_.size() > 1;
  }

  void note(const Extent &e, bool read) { isRead_->assign((*where_)(e), read); }

  bool isRead(const Extent &e) const {
    bool read = false;
    isRead_->look((*where_)(e), [&](char r) { read |= r; });
    return read;
  }

  /// Steps that happen together: what they read was there before what they write.
  void lookAt(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      for (const Extent &e : s_.to(s_.steps[i])) note(e, false);
    for (size_t i = begin; i < end; ++i)
      for (const Section section : {s_.from(s_.steps[i]), s_.with(s_.steps[i])})
        for (const Extent &e : section) note(e, true);
  }

  void lookAtCopy(size_t copy) {
    const size_t begin = firstPiece_[copy], end = firstPiece_[copy + 1];
    for (size_t k = begin; k < end; ++k)
      dropped_ |= pieces_[k].dead = pieces_[k].to.count > 0 && !isRead(pieces_[k].to);
    for (size_t k = begin; k < end; ++k)
      if (!pieces_[k].dead) note(pieces_[k].to, false);
    for (size_t k = begin; k < end; ++k)
      if (!pieces_[k].dead) note(pieces_[k].from, true);
  }

  void rewrite() {
    std::vector<Step> steps;
    std::vector<Extent> from, to;
    size_t copy = 0, k = 0;
    for (Step step : s_.steps) {
      if (step.op == Op::copy) {
        from.clear(), to.clear();
        bool any = false;
        for (const size_t end = firstPiece_[++copy]; k < end; ++k) {
          any |= pieces_[k].dead;
          if (pieces_[k].dead) continue;
          append(from, normalize(pieces_[k].from));
          append(to, normalize(pieces_[k].to));
        }
        if (any && from.empty()) continue;
        if (any) step.from = s_.keep(from), step.to = s_.keep(to);
      }
      steps.push_back(step);
    }
    s_.steps = std::move(steps);
    removeUnusedScratch(s_);
  }

  Schedule &s_;
  std::vector<CopyPiece> pieces_;   // of all copies, in their order
  std::vector<size_t> firstPiece_;  // of each copy, and the end
  std::vector<Extent> ends_;
  std::optional<Coordinates> where_;
  std::optional<IntervalMap<char>> isRead_;  // later, before it is written
  bool dropped_ = false;
};

}  // namespace

void dropDeadCopies(Schedule &s, const PassContext &) {
  if (s.order == Order::rounds) Dropping(s).run();
}

}  // namespace nbcc
