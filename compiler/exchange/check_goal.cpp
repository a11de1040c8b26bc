// SPDX-License-Identifier: BSD-3-Clause
// check_goal.cpp - do the messages of a GOAL program meet, and does everything end?
//
// Per sender, receiver and tag the k-th send meets the k-th receive, in the order of
// the text. Where lengths differ that order must be enforced, else the simulator may
// match otherwise.
//
// Then all ranks run with nothing buffered: a send ends when its receive has started.
// Each step only makes more possible, so one run decides. A program that ends only
// if sends end at once is told so: the simulator buffers short messages, MPI may.
//
// n log n in the operations; where lengths differ under one tag, a search through
// the rank's waits for each such pair of neighbours.

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/exchange/goal.h"

namespace nbcc {
namespace {

using Kind = GoalOperation::Kind;

class Checker {
 public:
  Checker(const Goal &goal, Diag &diag) : goal_(goal), diag_(diag) {
    const size_t n = goal.operations.size();
    rankOf_.resize(n);
    for (int64_t r = 0; r < goal.ranks(); ++r)
      for (int32_t i = goal.firstOperation[r]; i < goal.firstOperation[r + 1]; ++i)
        rankOf_[i] = static_cast<int32_t>(r);
    partner_.assign(n, -1);
    index(firstWait_, waits_, [](const GoalWait &w) { return w.operation; });
    index(firstWaiter_, waiters_, [](const GoalWait &w) { return w.before; });
  }

  void check() {
    match();
    if (!diag_.ok()) return;
    run(false);
    if (everythingEnded()) return;
    reportCycle();
    run(true);
    if (everythingEnded())
      diag_.note({}, "it ends only where messages are buffered, as the simulator does with short ",
                 "ones and MPI may do");
  }

 private:
  // ----------------------------------------------------------- matching

  struct End {
    int32_t from, to;
    uint32_t tag;
    int32_t operation;
    auto channel() const { return std::tuple(from, to, tag); }
  };

  void match() {
    std::vector<End> sends, receives;
    for (size_t i = 0; i < goal_.operations.size(); ++i) {
      const GoalOperation &o = goal_.operations[i];
      const auto id = static_cast<int32_t>(i);
      if (o.kind == Kind::send) sends.push_back({rankOf_[i], o.peer, o.tag, id});
      if (o.kind == Kind::recv) receives.push_back({o.peer, rankOf_[i], o.tag, id});
    }
    const auto less = [](const End &a, const End &b) { return a.channel() < b.channel(); };
    const auto inText = [&](const End &a, const End &b) {
      return std::tuple(a.channel(), a.operation) < std::tuple(b.channel(), b.operation);
    };
    std::sort(sends.begin(), sends.end(), inText);
    std::sort(receives.begin(), receives.end(), inText);

    size_t s = 0, r = 0;
    while (s < sends.size() || r < receives.size()) {
      const bool alone = s == sends.size() || r == receives.size();
      if (alone ? r == receives.size() : less(sends[s], receives[r])) {
        reportUnmet(sends[s++].operation, "receives");
      } else if (alone || less(receives[r], sends[s])) {
        reportUnmet(receives[r++].operation, "sends");
      } else {
        meet(sends[s++].operation, receives[r++].operation);
      }
    }
    checkOrder(sends);
    checkOrder(receives);
  }

  void reportUnmet(int32_t i, const char *does) {
    const GoalOperation &o = goal_.operations[i];
    diag_.error(o.loc, describe(i), ", but rank ", o.peer, " ", does,
                " fewer messages of this tag there");
  }

  void meet(int32_t send, int32_t recv) {
    partner_[send] = recv;
    partner_[recv] = send;
    const GoalOperation &from = goal_.operations[send], &to = goal_.operations[recv];
    if (from.amount == to.amount) return;
    diag_.error(to.loc, describe(recv), ", but ", from.amount, " bytes are sent");
    diag_.note(from.loc, describe(send));
  }

  /// Of one channel, in the order of the text: different lengths must start in order.
  void checkOrder(const std::vector<End> &ends) {
    for (size_t i = 1; i < ends.size(); ++i) {
      const int32_t a = ends[i - 1].operation, b = ends[i].operation;
      if (ends[i - 1].channel() != ends[i].channel() ||
          goal_.operations[a].amount == goal_.operations[b].amount || startsBefore(a, b))
        continue;
      diag_.error(goal_.operations[b].loc, describe(b),
                  ", and nothing orders it behind another one of this tag and another length");
      diag_.note(goal_.operations[a].loc, describe(a));
    }
  }

  bool startsBefore(int32_t before, int32_t operation) {
    seen_.resize(goal_.operations.size(), 0);
    ++mark_;
    std::vector<int32_t> stack{operation};
    while (!stack.empty()) {
      const int32_t at = stack.back();
      stack.pop_back();
      for (int64_t w = firstWait_[at]; w < firstWait_[at + 1]; ++w) {
        const int32_t next = goal_.waits[waits_[w]].before;
        if (next == before) return true;
        if (seen_[next] == mark_) continue;
        seen_[next] = mark_;
        stack.push_back(next);
      }
    }
    return false;
  }

  // ------------------------------------------------------------ running

  void run(bool buffered) {
    const auto n = static_cast<int32_t>(goal_.operations.size());
    started_.assign(n, false);
    ended_.assign(n, false);
    missing_.assign(n, 0);
    left_ = n;
    for (const GoalWait &w : goal_.waits) ++missing_[w.operation];
    std::vector<int32_t> ready;
    for (int32_t i = 0; i < n; ++i)
      if (missing_[i] == 0) ready.push_back(i);
    while (!ready.empty()) {
      const int32_t i = ready.back();
      ready.pop_back();
      started_[i] = true;
      release(i, true, ready);
      const Kind kind = goal_.operations[i].kind;
      if (kind == Kind::calc) {
        end(i, ready);
      } else if (buffered && kind == Kind::send) {
        end(i, ready);
        if (started_[partner_[i]]) end(partner_[i], ready);
      } else if (started_[partner_[i]]) {
        end(i, ready);
        if (!ended_[partner_[i]]) end(partner_[i], ready);
      }
    }
  }

  void end(int32_t i, std::vector<int32_t> &ready) {
    ended_[i] = true;
    --left_;
    release(i, false, ready);
  }

  void release(int32_t i, bool starts, std::vector<int32_t> &ready) {
    for (int64_t w = firstWaiter_[i]; w < firstWaiter_[i + 1]; ++w) {
      const GoalWait &wait = goal_.waits[waiters_[w]];
      if (wait.untilStart == starts && --missing_[wait.operation] == 0)
        ready.push_back(wait.operation);
    }
  }

  bool everythingEnded() const { return left_ == 0; }

  /// Who waits for whom, from one that never ends until that closes.
  void reportCycle() {
    auto at = static_cast<int32_t>(std::find(ended_.begin(), ended_.end(), false) - ended_.begin());
    std::vector<int32_t> path;
    std::map<int32_t, size_t> seen;
    while (seen.emplace(at, path.size()).second) {
      path.push_back(at);
      at = started_[at] ? partner_[at] : goal_.waits[blocking(at)].before;
    }
    path.erase(path.begin(), path.begin() + static_cast<ptrdiff_t>(seen[at]));
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());

    const std::string who = path.size() == 1
                                ? std::string("an operation waits for itself")
                                : cat("these ", path.size(), " operations wait for each other");
    diag_.error(placeOf(path[0]), who, ": ", reason(path[0]));
    constexpr size_t kMostNotes = 12;
    for (size_t i = 1; i < path.size() && i <= kMostNotes; ++i)
      diag_.note(placeOf(path[i]), i == kMostNotes && i + 1 < path.size() ? "and so on: " : "",
                 reason(path[i]));
  }

  /// The wait that keeps an operation from starting.
  int32_t blocking(int32_t i) const {
    int64_t w = firstWait_[i];
    const auto holds = [&](const GoalWait &wait) {
      return wait.untilStart ? started_[wait.before] : ended_[wait.before];
    };
    while (holds(goal_.waits[waits_[w]])) ++w;
    return waits_[w];
  }

  Loc placeOf(int32_t i) const {
    return started_[i] ? goal_.operations[i].loc : goal_.waits[blocking(i)].loc;
  }

  std::string reason(int32_t i) const {
    if (started_[i])
      return cat(describe(i), ", which rank ", goal_.operations[i].peer, " never comes to");
    const GoalWait &wait = goal_.waits[blocking(i)];
    return cat("rank ", rankOf_[i], ": ", labelOf(i),
               wait.untilStart ? " irequires " : " requires ", labelOf(wait.before),
               ", which never ", wait.untilStart ? "starts" : "ends");
  }

  // -------------------------------------------------------------- words

  std::string_view labelOf(int32_t i) const {
    const GoalOperation &o = goal_.operations[i];
    return std::string_view(goal_.text).substr(o.label, o.labelSize);
  }

  std::string describe(int32_t i) const {
    const GoalOperation &o = goal_.operations[i];
    const bool sends = o.kind == Kind::send;
    return cat("rank ", rankOf_[i], sends ? " sends " : " receives ", o.amount, " bytes ",
               sends ? "to" : "from", " rank ", o.peer, " with tag ", o.tag);
  }

  /// rows[first[i] .. first[i + 1]]: the waits whose key is operation i.
  template <class Key>
  void index(std::vector<int64_t> &first, std::vector<int32_t> &rows, Key key) const {
    first.assign(goal_.operations.size() + 1, 0);
    for (const GoalWait &w : goal_.waits) ++first[key(w) + 1];
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    rows.resize(goal_.waits.size());
    std::vector<int64_t> at(first.begin(), first.end() - 1);
    for (size_t w = 0; w < goal_.waits.size(); ++w)
      rows[at[key(goal_.waits[w])]++] = static_cast<int32_t>(w);
  }

  const Goal &goal_;
  Diag &diag_;
  std::vector<int32_t> rankOf_, partner_, missing_, waits_, waiters_;
  std::vector<int64_t> firstWait_, firstWaiter_;
  std::vector<bool> started_, ended_;
  std::vector<uint32_t> seen_;
  uint32_t mark_ = 0;
  int64_t left_ = 0;
};

}  // namespace

void checkGoal(const Goal &goal, Diag &diag) {
  Checker(goal, diag).check();
}

}  // namespace nbcc
