// SPDX-License-Identifier: BSD-3-Clause
// deadlock.cpp - lets all ranks run, with nothing buffered, until nothing moves any more.
//
// A send ends only when its receive has been reached, and a receive when its
// send has: both then end at once. Whatever the order in which ranks are let
// run, the same steps end (each only ever makes more possible), so one run
// decides; the order of its events serves the stages after this one. If steps
// are left, who waits for whom is followed until it closes: linear in the steps.

#include <algorithm>
#include <map>

#include "compiler/prove/stages.h"

namespace nbcc {

namespace {

struct At {
  int64_t rank = 0;
  StepId step = 0;
  friend auto operator<=>(const At &, const At &) = default;
};

/// Order::rounds. A rank is somewhere in its list of steps: those before are
/// reached, and `open` of its present round have not met their partners yet.
class Rounds {
 public:
  Rounds(const Together &all, const Partners &partners)
      : all_(all), partners_(partners), next_(all.ranks.size(), 0), open_(all.ranks.size(), 0) {}

  void run(std::vector<Event> &events) {
    for (int64_t r = 0; r < static_cast<int64_t>(all_.ranks.size()); ++r) ready_.push_back(r);
    while (!ready_.empty()) {
      const int64_t rank = ready_.back();
      ready_.pop_back();
      while (open_[rank] == 0 && next_[rank] < end(rank)) enterRound(rank, events);
    }
  }

  bool reached(At a) const { return a.step < next_[a.rank]; }

  /// A step that keeps the rank from going on.
  At blocker(At a) const {
    // Back to the first of the round's operations; one of them is open.
    StepId i = next_[a.rank] - 1;
    while (isOpen(a.rank, i) == false) --i;
    return {a.rank, i};
  }

 private:
  StepId end(int64_t rank) const { return static_cast<StepId>(all_.schedule(rank).steps.size()); }
  bool isOpen(int64_t rank, StepId i) const {
    const Step &step = all_.step(rank, i);
    return step.peer >= 0 && !reached({step.peer, partners_[all_.number(rank, i)]});
  }

  /// Copies and reductions first, one by one; then what is sent and received, at once.
  void enterRound(int64_t rank, std::vector<Event> &events) {
    const Schedule &s = all_.schedule(rank);
    StepId i = next_[rank];
    const int32_t round = s.steps[i].round;
    for (; i < end(rank) && s.steps[i].round == round && s.steps[i].peer < 0; ++i)
      events.push_back({static_cast<int32_t>(rank), i});
    const StepId first = i;
    while (i < end(rank) && s.steps[i].round == round && s.steps[i].peer >= 0) ++i;
    next_[rank] = i;

    for (StepId c = first; c < i; ++c) {
      const int64_t peer = s.steps[c].peer;
      const StepId partner = partners_[all_.number(rank, c)];
      if (!reached({peer, partner})) {
        ++open_[rank];
        continue;
      }
      if (receives(s.steps[c]))
        events.push_back({static_cast<int32_t>(rank), c});
      else
        events.push_back({static_cast<int32_t>(peer), partner});
      if (--open_[peer] == 0) ready_.push_back(peer);
    }
  }

  const Together &all_;
  const Partners &partners_;
  std::vector<StepId> next_;
  std::vector<int32_t> open_;
  std::vector<int64_t> ready_;
};

/// Order::waits. A step counts what it still waits for: those in `after`, and
/// that the earlier one on its channel has started.
class Waits {
 public:
  Waits(const Together &all, const Partners &partners) : all_(all), partners_(partners) {
    const auto steps = static_cast<size_t>(all.steps());
    missing_.assign(steps, 0);
    following_.assign(steps, -1);
    started_.assign(steps, false);
    ended_.assign(steps, false);
    firstWaiter_.assign(steps + 1, 0);
    lastTo_.assign(all.ranks.size(), -1);
    lastFrom_.assign(all.ranks.size(), -1);
    for (const Schedule &s : all.ranks) {
      for (StepId i = 0; i < static_cast<StepId>(s.steps.size()); ++i) {
        const Step &step = s.steps[i];
        missing_[all.number(s.rank, i)] += static_cast<int32_t>(s.after(step).size());
        for (const StepId d : s.after(step)) ++firstWaiter_[all.number(s.rank, d) + 1];
        if (step.peer < 0) continue;
        StepId &earlier = sends(step) ? lastTo_[step.peer] : lastFrom_[step.peer];
        if (earlier >= 0) {
          following_[all.number(s.rank, earlier)] = i;
          ++missing_[all.number(s.rank, i)];
        }
        earlier = i;
      }
      for (const Step &step : s.steps)
        if (step.peer >= 0) lastTo_[step.peer] = lastFrom_[step.peer] = -1;
    }
    for (size_t i = 1; i < firstWaiter_.size(); ++i) firstWaiter_[i] += firstWaiter_[i - 1];
    waiters_.resize(static_cast<size_t>(firstWaiter_.back()));
    std::vector<int64_t> at(firstWaiter_.begin(), firstWaiter_.end() - 1);
    for (const Schedule &s : all.ranks)
      for (StepId i = 0; i < static_cast<StepId>(s.steps.size()); ++i)
        for (const StepId d : s.after(s.steps[i])) waiters_[at[all.number(s.rank, d)]++] = i;
  }

  void run(std::vector<Event> &events) {
    for (const Schedule &s : all_.ranks)
      for (StepId i = 0; i < static_cast<StepId>(s.steps.size()); ++i) {
        if (missing_[all_.number(s.rank, i)] == 0 && !started_[all_.number(s.rank, i)])
          ready_.push_back({s.rank, i});
        while (!ready_.empty()) {
          const At a = ready_.back();
          ready_.pop_back();
          start(a, events);
        }
      }
  }

  bool reached(At a) const { return started_[all_.number(a.rank, a.step)]; }

  /// A message under way on that rank, without whose end `a` cannot start.
  At blocker(At a) const {
    const Schedule &s = all_.schedule(a.rank);
    while (!reached(a)) {
      At before{a.rank, -1};
      for (const StepId d : s.after(s.steps[a.step]))
        if (!ended_[all_.number(a.rank, d)]) before.step = d;
      if (before.step < 0) before.step = earlierOnChannel(a);
      a = before;
    }
    return a;
  }

 private:
  void start(At a, std::vector<Event> &events) {
    const int64_t number = all_.number(a.rank, a.step);
    started_[number] = true;
    if (following_[number] >= 0) release({a.rank, following_[number]});

    const Step &step = all_.step(a.rank, a.step);
    if (step.peer < 0) {
      events.push_back({static_cast<int32_t>(a.rank), a.step});
      end(a);
      return;
    }
    const At other{step.peer, partners_[number]};
    if (!reached(other)) return;
    const At to = receives(step) ? a : other;
    events.push_back({static_cast<int32_t>(to.rank), to.step});
    end(a);
    end(other);
  }

  void end(At a) {
    const int64_t number = all_.number(a.rank, a.step);
    ended_[number] = true;
    for (int64_t i = firstWaiter_[number]; i < firstWaiter_[number + 1]; ++i)
      release({a.rank, waiters_[i]});
  }

  void release(At a) {
    if (--missing_[all_.number(a.rank, a.step)] == 0) ready_.push_back(a);
  }

  StepId earlierOnChannel(At a) const {
    const Step &step = all_.step(a.rank, a.step);
    StepId i = a.step - 1;
    const auto sameChannel = [&](const Step &other) {
      return other.peer == step.peer && sends(other) == sends(step);
    };
    while (!sameChannel(all_.step(a.rank, i))) --i;
    return i;
  }

  const Together &all_;
  const Partners &partners_;
  std::vector<int32_t> missing_;
  std::vector<StepId> following_;  // the next on the same channel
  std::vector<bool> started_, ended_;
  std::vector<int64_t> firstWaiter_;
  std::vector<StepId> waiters_;
  std::vector<StepId> lastTo_, lastFrom_;
  std::vector<At> ready_;
};

/// Follows who waits for whom from a step that never ends, until that closes.
template <class Simulation>
void reportCycle(const Together &all, const Partners &partners, const Simulation &simulation,
                 Findings &findings) {
  At at;
  for (const Schedule &s : all.ranks) {
    // Any message reached at one end only will do.
    const auto stuck = std::find_if(s.steps.begin(), s.steps.end(), [&](const Step &step) {
      const auto i = static_cast<StepId>(&step - s.steps.data());
      return step.peer >= 0 && simulation.reached({s.rank, i}) &&
             !simulation.reached({step.peer, partners[all.number(s.rank, i)]});
    });
    if (stuck == s.steps.end()) continue;
    at = {s.rank, static_cast<StepId>(stuck - s.steps.begin())};
    break;
  }

  std::vector<At> path;
  std::map<At, size_t> seen;
  while (seen.emplace(at, path.size()).second) {
    path.push_back(at);
    at = simulation.blocker(
        {all.step(at.rank, at.step).peer, partners[all.number(at.rank, at.step)]});
  }
  path.erase(path.begin(), path.begin() + static_cast<ptrdiff_t>(seen[at]));
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());

  constexpr size_t kMostNotes = 8;
  const auto tell = [&](const At &a) {
    const Schedule &s = all.schedule(a.rank);
    const Step &step = s.steps[a.step];
    return cat("rank ", a.rank, " waits in round ", step.round, " for rank ", step.peer, ": it ",
               describe(s, step));
  };
  const auto locOf = [&](const At &a) { return all.step(a.rank, a.step).loc; };
  findings.take(locOf(path[0]));
  findings.diag.error(locOf(path[0]), "deadlock of ", path.size(), " ranks: ", tell(path[0]));
  for (size_t i = 1; i < path.size(); ++i) {
    if (i >= kMostNotes && i + 1 < path.size()) continue;
    if (i + 1 == path.size() && i > kMostNotes)
      findings.diag.note(locOf(path[i]), "and so on, until ", tell(path[i]));
    else
      findings.diag.note(locOf(path[i]), tell(path[i]));
  }
}

template <class Simulation>
std::vector<Event> run(const Together &all, const Partners &partners, Findings &findings) {
  size_t expected = 0;
  for (const Schedule &s : all.ranks)
    for (const Step &step : s.steps) expected += !sends(step);

  std::vector<Event> events;
  events.reserve(expected);
  Simulation simulation(all, partners);
  simulation.run(events);
  if (events.size() != expected) reportCycle(all, partners, simulation, findings);
  return events;
}

}  // namespace

std::vector<Event> execute(const Together &all, const Partners &partners, Findings &findings) {
  return all.ranks[0].order == Order::rounds ? run<Rounds>(all, partners, findings)
                                             : run<Waits>(all, partners, findings);
}

}  // namespace nbcc
