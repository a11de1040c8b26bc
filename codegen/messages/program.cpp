// SPDX-License-Identifier: BSD-3-Clause
// program.cpp - the order of messages.h: what is posted when, and what is waited for.
//
//   %0 = copy in -> out[1] by host       stage 0   RECV %1, RECV %3
//   %1 = recv out[0] from 0        =>    stage 1   host %0; SEND %2, WAIT %1, SEND %4
//   %2 = send out[1] to 2 after %0
//   %3 = recv out[3] from 0
//   %4 = send out[0] to 2 after %1
//
// One walk over the messages. Each has a count of what is missing before it may be posted: messages
// that were not waited for, steps that the host has not done, the message before it to the same
// peer. When it is 0, the message is posted, wherever the walk is. The walk stops at a message that
// was not, and makes the first thing happen that is missing.

#include "codegen/messages/program.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <queue>

namespace nbcc::messages {
namespace {

bool isMessage(const Step &step) {
  return step.peer >= 0;
}

class Builder {
 public:
  explicit Builder(const Schedule &s)
      : s_(s), missing_(s.steps.size()), record_(s.steps.size()), done_(s.steps.size()) {}

  Program run() {
    takeTurns();
    findDependants();
    chain();
    program_.stages.emplace_back();
    for (const StepId p : order_)
      if (missing_[p] == 0) ready_.push(turn_[p]);
    post();
    for (StepId i = 0; i < count(); ++i)
      if (isMessage(s_.steps[i]) && missing_[i] > 0) prepare(i);
    while (taken_ < program_.hosts.size()) take();
    if (placed_ < taken_) work();
    program_.stages.back().enabled = recordCount();
    return std::move(program_);
  }

 private:
  StepId count() const { return static_cast<StepId>(s_.steps.size()); }
  uint32_t recordCount() const { return static_cast<uint32_t>(program_.records.size()); }

  /// Round by round, receives first.
  void takeTurns() {
    turn_.resize(s_.steps.size());
    for (StepId i = 0, end = 0; i < count(); i = end) {
      while (end < count() && s_.steps[end].round == s_.steps[i].round) ++end;
      for (const bool receiving : {true, false})
        for (StepId k = i; k < end; ++k) {
          const Step &step = s_.steps[k];
          if (!isMessage(step) || receives(step) != receiving) continue;
          turn_[k] = static_cast<int32_t>(order_.size());
          order_.push_back(k);
        }
    }
    for (StepId i = 0; i < count(); ++i)
      if (!isMessage(s_.steps[i])) program_.hosts.push_back(i);
  }

  /// The host works in order: what it needs of its own work it has done.
  bool counts(StepId d, StepId i) const { return isMessage(s_.steps[d]) || isMessage(s_.steps[i]); }

  void findDependants() {
    begin_.resize(s_.steps.size() + 1);
    for (StepId i = 0; i < count(); ++i)
      for (const StepId d : s_.after(s_.steps[i]))
        if (counts(d, i)) ++begin_[d], ++missing_[i];
    uint32_t end = 0;
    for (uint32_t &begin : begin_) begin = end += begin;
    dependants_.resize(end);
    for (StepId i = 0; i < count(); ++i)
      for (const StepId d : s_.after(s_.steps[i]))
        if (counts(d, i)) dependants_[--begin_[d]] = i;
  }

  /// Messages to one peer, or from it, are posted in the schedule's order.
  void chain() {
    next_.assign(s_.steps.size(), -1);
    std::vector<StepId> last[2];
    for (std::vector<StepId> &of : last) of.assign(static_cast<size_t>(s_.ranks), -1);
    for (StepId i = 0; i < count(); ++i) {
      const Step &step = s_.steps[i];
      if (!isMessage(step)) continue;
      StepId &before = last[receives(step)][static_cast<size_t>(step.peer)];
      if (before >= 0) next_[before] = i, ++missing_[i];
      before = i;
    }
  }

  void loosen(StepId i) {
    if (--missing_[i] == 0 && isMessage(s_.steps[i])) ready_.push(turn_[i]);
  }

  /// From here on it is known that step d is done.
  void settle(StepId d) {
    done_[d] = true;
    for (uint32_t k = begin_[d]; k < begin_[d + 1]; ++k) loosen(dependants_[k]);
  }

  /// Posts whatever may be.
  void post() {
    while (!ready_.empty()) {
      const StepId p = order_[static_cast<size_t>(ready_.top())];
      ready_.pop();
      record_[p] = recordCount();
      program_.records.push_back({receives(s_.steps[p]) ? NBC_MESSAGE_RECV : NBC_MESSAGE_SEND, p});
      if (next_[p] >= 0) loosen(next_[p]);
    }
  }

  /// Makes all happen that message p, the first that was not posted, needs.
  void prepare(StepId p) {
    StepId last = -1;  // of the host
    for (const StepId d : s_.after(s_.steps[p]))
      if (!isMessage(s_.steps[d]) && !done_[d]) last = d;
    while (taken_ < program_.hosts.size() && program_.hosts[taken_] <= last) take();
    for (const StepId d : s_.after(s_.steps[p]))
      if (isMessage(s_.steps[d]) && !done_[d]) wait(d);
    if (placed_ < taken_ && missing_[p] > 0) work();
    assert(missing_[p] == 0);
  }

  /// The host's next step is to be done; work() does it.
  void take() {
    for (const StepId d : s_.after(s_.steps[program_.hosts[taken_]]))
      if (isMessage(s_.steps[d]) && !done_[d]) wait(d);
    ++taken_;
  }

  /// Before it waits, the host does what it can.
  void wait(StepId d) {
    while (taken_ < program_.hosts.size() && missing_[program_.hosts[taken_]] == 0) ++taken_;
    if (placed_ < taken_) work();
    program_.records.push_back({NBC_MESSAGE_WAIT, d, record_[d]});
    settle(d);
    post();
  }

  /// A stage begins with what was taken; the one before ends, if anything is in it.
  void work() {
    std::vector<Stage> &stages = program_.stages;
    const uint32_t begin = stages.size() < 2 ? 0 : stages[stages.size() - 2].enabled;
    if (recordCount() > begin) {
      stages.back().enabled = recordCount();
      stages.emplace_back();
    }
    stages.back().hosts += static_cast<uint32_t>(taken_ - placed_);
    for (; placed_ < taken_; ++placed_) settle(program_.hosts[placed_]);
    post();
  }

  const Schedule &s_;
  Program program_;
  std::vector<StepId> order_;  // messages, in the order in which they would best be posted
  std::vector<int32_t> turn_;  // message -> its place there
  std::vector<uint32_t> missing_;
  std::vector<uint32_t> begin_;  // step -> where its dependants begin; one more than there are
  std::vector<StepId> dependants_;
  std::vector<StepId> next_;      // message -> the next to, or from, the same peer; -1: none
  std::vector<uint32_t> record_;  // of messages that were posted
  std::vector<bool> done_;        // of messages: waited for
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready_;  // by turn
  size_t taken_ = 0, placed_ = 0;  // of the host's steps: to be done, in a stage
};

}  // namespace

Program programOf(const Schedule &s) {
  return Builder(s).run();
}

}  // namespace nbcc::messages
