// SPDX-License-Identifier: BSD-3-Clause
// barrier.cpp - does each rank leave only after each rank has entered?
//
// Who has entered is known along messages: what a rank knows when it starts a
// send, the receiver knows when its receive has ended. That a send has ended
// tells nothing: the prover lets sends wait, but a device may buffer them.
//
// Known ranks are sets of 64 at a time, one walk over the events for each such
// set: little memory, and P/64 times linear in the steps.

#include <algorithm>

#include "compiler/prove/stages.h"

namespace nbcc {

namespace {

using Set = uint64_t;

/// What is known when a step starts, and how that spreads; one for each Order.
class KnownInRounds {
 public:
  explicit KnownInRounds(const Together &all) : all_(all), round_(all.ranks.size()) {
    begin_.resize(all.ranks.size());
    now_.resize(all.ranks.size());
  }

  void enter(std::span<const Set> own) {
    std::fill(round_.begin(), round_.end(), -1);
    std::copy(own.begin(), own.end(), now_.begin());
  }

  void message(int64_t from, StepId send, int64_t to, StepId recv) {
    start(from, all_.step(from, send).round);
    start(to, all_.step(to, recv).round);
    now_[to] |= begin_[from];
  }

  void local(int64_t, StepId) {}

  Set atEnd(int64_t rank) const { return now_[rank]; }

 private:
  void start(int64_t rank, int32_t round) {
    if (round_[rank] == round) return;
    round_[rank] = round;
    begin_[rank] = now_[rank];
  }

  const Together &all_;
  std::vector<int32_t> round_;
  std::vector<Set> begin_, now_;  // by rank; at the beginning of its round
};

class KnownInWaits {
 public:
  explicit KnownInWaits(const Together &all) : all_(all) {
    known_.resize(static_cast<size_t>(all.steps()));
    end_.resize(all.ranks.size());
  }

  void enter(std::span<const Set> own) {
    own_ = own;
    std::copy(own.begin(), own.end(), end_.begin());
  }

  void message(int64_t from, StepId send, int64_t to, StepId recv) {
    const Set sent = start(from, send);
    known_[all_.number(from, send)] = sent;
    end_[to] |= known_[all_.number(to, recv)] = start(to, recv) | sent;
  }

  void local(int64_t rank, StepId step) { known_[all_.number(rank, step)] = start(rank, step); }

  Set atEnd(int64_t rank) const { return end_[rank]; }

 private:
  Set start(int64_t rank, StepId step) const {
    Set known = own_[rank];
    for (const StepId d : all_.schedule(rank).after(all_.step(rank, step)))
      known |= known_[all_.number(rank, d)];
    return known;
  }

  const Together &all_;
  std::span<const Set> own_;
  std::vector<Set> known_;  // by step, at its end
  std::vector<Set> end_;    // by rank
};

void report(const Together &all, int64_t leaves, int64_t enters, Findings &findings) {
  const Schedule &s = all.schedule(leaves);
  const Loc loc = s.steps.empty() ? Loc{} : s.steps.back().loc;
  if (findings.take(loc))
    findings.diag.error(loc, "rank ", leaves, " may leave before rank ", enters,
                        " has entered: no chain of messages leads from rank ", enters, " to rank ",
                        leaves);
}

template <class Known>
void check(const Together &all, const Partners &partners, const std::vector<Event> &events,
           Findings &findings) {
  const auto ranks = static_cast<int64_t>(all.ranks.size());
  Known known(all);
  std::vector<Set> own(all.ranks.size());
  for (int64_t first = 0; first < ranks && findings.none(); first += 64) {
    const int64_t count = std::min<int64_t>(64, ranks - first);
    std::fill(own.begin(), own.end(), 0);
    for (int64_t i = 0; i < count; ++i) own[first + i] = Set{1} << i;
    known.enter(own);
    for (const Event &e : events) {
      const Step &step = all.step(e.rank, e.step);
      if (step.peer >= 0)
        known.message(step.peer, partners[all.number(e.rank, e.step)], e.rank, e.step);
      else
        known.local(e.rank, e.step);
    }
    for (int64_t r = 0; r < ranks; ++r)
      for (int64_t i = 0; i < count; ++i)
        if (!(known.atEnd(r) >> i & 1)) {
          report(all, r, first + i, findings);
          break;
        }
  }
}

}  // namespace

void checkBarrier(const Together &all, const Partners &partners, const std::vector<Event> &events,
                  Findings &findings) {
  if (all.ranks[0].order == Order::rounds)
    check<KnownInRounds>(all, partners, events, findings);
  else
    check<KnownInWaits>(all, partners, events, findings);
}

}  // namespace nbcc
