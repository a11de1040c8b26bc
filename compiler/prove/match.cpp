// SPDX-License-Identifier: BSD-3-Clause
// match.cpp - which send meets which receive, and whether they are equally long.
//
// Per ordered pair of ranks the k-th send or signal meets the k-th receive or
// await: there are no tags. Lengths must be equal for every length of a block,
// so what is compared is where in its block each cell lies: part 0 of 2 and
// part 1 of 2 differ when the length is odd. One walk over the steps and the
// blocks they name.

#include <algorithm>

#include "compiler/prove/stages.h"

namespace nbcc {

namespace {

/// The blocks of a section and parts of blocks, one after the other.
class Pieces {
 public:
  Pieces(const Memory &memory, int64_t rank, Section section)
      : memory_(memory), rank_(rank), section_(section) {
    next();
  }

  int64_t cells = 0;   // what is left of this piece; 0: all are done
  int64_t cut = 0;     // where in a block it begins
  int64_t length = 0;  // BlockCells::length

  void take(int64_t count) {
    cells -= count;
    cut += count;
    if (cells == 0) next();
  }

 private:
  void next() {
    while (extent_ < section_.size()) {
      const Extent &e = section_[extent_];
      if (block_ < 0) {
        block_ = e.first / e.parts;
        run_ = e.count > 0 ? memory_.cells(rank_, e) : Cells{};
      }
      if (run_.size() == 0) {
        ++extent_;
        block_ = -1;
        continue;
      }
      const BlockCells b = memory_.block(rank_, e.buffer, block_++);
      const int64_t end = std::min(b.cells.end, run_.end);
      cells = end - run_.begin;
      cut = b.cut + run_.begin - b.cells.begin;
      length = b.length;
      run_.begin = end;
      if (cells > 0) return;
    }
  }

  const Memory &memory_;
  int64_t rank_;
  Section section_;
  size_t extent_ = 0;
  int64_t block_ = -1;
  Cells run_;
};

class Matcher {
 public:
  Matcher(const Together &all, const Memory &memory, Unequal &unequal, Findings &findings)
      : all_(all), memory_(memory), unequal_(unequal), findings_(findings) {}

  Partners match() {
    partners_.assign(static_cast<size_t>(all_.steps()), -1);
    collectSends();
    next_.assign(all_.ranks.size(), -1);
    for (const Schedule &s : all_.ranks) meetAt(s);
    for (const Schedule &s : all_.ranks) reportUnmet(s);
    for (const Schedule &s : all_.ranks) checkLocal(s);
    return std::move(partners_);
  }

 private:
  struct Sent {
    int32_t rank;
    StepId step;
  };

  /// sent_[firstSent_[r] ..]: what is sent to r, by sender and then in order.
  void collectSends() {
    firstSent_.assign(all_.ranks.size() + 1, 0);
    for (const Schedule &s : all_.ranks)
      for (const Step &step : s.steps)
        if (sends(step)) ++firstSent_[step.peer + 1];
    for (size_t r = 1; r < firstSent_.size(); ++r) firstSent_[r] += firstSent_[r - 1];

    sent_.resize(static_cast<size_t>(firstSent_.back()));
    std::vector<int64_t> at(firstSent_.begin(), firstSent_.end() - 1);
    for (const Schedule &s : all_.ranks)
      for (StepId i = 0; i < static_cast<StepId>(s.steps.size()); ++i)
        if (sends(s.steps[i])) sent_[at[s.steps[i].peer]++] = {static_cast<int32_t>(s.rank), i};
  }

  void meetAt(const Schedule &s) {
    const int64_t begin = firstSent_[s.rank], end = firstSent_[s.rank + 1];
    // next_[a]: the first message from a that has not been met.
    for (int64_t i = end - 1; i >= begin; --i) next_[sent_[i].rank] = i;

    for (StepId i = 0; i < static_cast<StepId>(s.steps.size()); ++i) {
      const Step &step = s.steps[i];
      if (!receives(step)) continue;
      int64_t &next = next_[step.peer];
      if (next < 0 || next >= end || sent_[next].rank != step.peer) continue;
      const StepId other = sent_[next++].step;
      partners_[all_.number(s.rank, i)] = other;
      partners_[all_.number(step.peer, other)] = i;
      compare(s, step, all_.schedule(step.peer), all_.step(step.peer, other));
    }
    for (int64_t i = begin; i < end; ++i) next_[sent_[i].rank] = -1;
  }

  void compare(const Schedule &here, const Step &recv, const Schedule &there, const Step &send) {
    if ((recv.op == Op::await) != (send.op == Op::signal)) {
      if (!findings_.take(recv.loc)) return;
      findings_.diag.error(recv.loc, "rank ", here.rank, " ", describe(here, recv), " in round ",
                           recv.round, ", but what comes is a ",
                           send.op == Op::signal ? "signal" : "message with data");
      noteSender(there, send);
      return;
    }
    const bool same = equallyLong(here.rank, here.to(recv), there.rank, there.from(send));
    noteUnequal(here, recv);
    if (same) return;
    if (!findings_.take(recv.loc)) return;
    const Amount wanted = amount(here, here.to(recv)), found = amount(there, there.from(send));
    const std::string what =
        cat("rank ", here.rank, " ", describe(here, recv), " in round ", recv.round);
    if (wanted == found)
      findings_.diag.error(
          recv.loc, what, ", but the parts sent are as long only if the division has no remainder");
    else
      findings_.diag.error(recv.loc, what, ": ", inBlocks(wanted), ", but ", inBlocks(found),
                           found.count == found.parts ? " is sent" : " are sent");
    noteSender(there, send);
  }

  /// If this step is the first.
  void noteUnequal(const Schedule &s, const Step &step) {
    if (anyLengths_ || !unequal_.what.empty()) return;
    unequal_ = {cat("rank ", s.rank, " ", describe(s, step), " in round ", step.round), step.loc};
  }

  static std::string inBlocks(const Amount &a) {
    if (a.parts == 1) return cat(a.count, a.count == 1 ? " block" : " blocks");
    return cat(a.count, "/", a.parts, " of a block");
  }

  void noteSender(const Schedule &there, const Step &send) {
    findings_.diag.note(send.loc, "rank ", there.rank, " ", describe(there, send), " in round ",
                        send.round);
  }

  void reportUnmet(const Schedule &s) {
    for (StepId i = 0; i < static_cast<StepId>(s.steps.size()); ++i) {
      const Step &step = s.steps[i];
      if (step.peer < 0 || partners_[all_.number(s.rank, i)] >= 0) continue;
      if (!findings_.take(step.loc)) continue;
      const Schedule &peer = all_.schedule(step.peer);
      findings_.diag.error(step.loc, "rank ", s.rank, " ", describe(s, step), " in round ",
                           step.round, ", which ",
                           sends(step) ? "does not receive it" : "does not send it");

      // The last one that did meet, if there is one, shows where the other end stops.
      const Step *last = nullptr;
      int64_t count = 0;
      for (const Step &other : peer.steps)
        if (other.peer == s.rank && sends(other) != sends(step)) last = &other, ++count;
      if (last)
        findings_.diag.note(last->loc, "rank ", peer.rank, " ",
                            sends(step) ? "receives from" : "sends to", " rank ", s.rank, " ",
                            count == 1 ? std::string("once") : cat(count, " times"),
                            ", the last time in round ", last->round);
    }
  }

  void checkLocal(const Schedule &s) {
    for (const Step &step : s.steps) {
      if (step.peer >= 0) continue;
      const bool same =
          equallyLong(s.rank, s.to(step), s.rank, s.from(step)) &&
          (step.op != Op::reduce || equallyLong(s.rank, s.to(step), s.rank, s.with(step)));
      noteUnequal(s, step);
      if (!same && findings_.take(step.loc))
        findings_.diag.error(step.loc, "rank ", s.rank, " ", describe(s, step), " in round ",
                             step.round,
                             ": as long as each other only if the division has no remainder");
    }
  }

  bool equallyLong(int64_t rankA, Section a, int64_t rankB, Section b) {
    // Whole blocks, the common case: as many, and mostly that is all to be said.
    const int64_t blocks = anyLengths_ ? -1 : wholeBlocks(rankA, a);
    if (blocks >= 0)
      if (const int64_t others = wholeBlocks(rankB, b); others >= 0) return blocks == others;

    Pieces left(memory_, rankA, a), right(memory_, rankB, b);
    while (left.cells > 0 && right.cells > 0) {
      if (left.cut != right.cut) return false;
      if (left.length != right.length) anyLengths_ = false;
      const int64_t both = std::min(left.cells, right.cells);
      left.take(both);
      right.take(both);
    }
    return left.cells == right.cells;
  }

  /// How many; -1: there are parts of blocks too.
  int64_t wholeBlocks(int64_t rank, Section section) const {
    int64_t count = 0;
    for (const Extent &e : section) {
      if (e.parts != 1 || !memory_.whole(rank, e.buffer)) return -1;
      count += e.count;
    }
    return count;
  }

  const Together &all_;
  const Memory &memory_;
  bool anyLengths_ = true;
  Unequal &unequal_;
  Findings &findings_;
  Partners partners_;
  std::vector<int64_t> firstSent_, next_;
  std::vector<Sent> sent_;
};

}  // namespace

Partners matchMessages(const Together &all, const Memory &memory, Unequal &unequal,
                       Findings &findings) {
  return Matcher(all, memory, unequal, findings).match();
}

}  // namespace nbcc
