// SPDX-License-Identifier: BSD-3-Clause
// estimate.cpp - the steps of all ranks, played through in the order of their times.
//
// Cost: steps and waits, times the logarithm of what is under way.

#include "compiler/driver/estimate.h"

#include <algorithm>
#include <map>
#include <queue>

#include "compiler/exchange/goal.h"
#include "compiler/ir/wide.h"

namespace nbcc {
namespace {

class Playing {
 public:
  Playing(std::span<const Schedule> ranks, uint64_t blockBytes, const Costs &costs)
      : schedules_(ranks), block_(blockBytes), costs_(costs), ranks_(ranks.size()) {
    // By sender and receiver: the messages that sends, and receives, have got so far.
    std::map<std::pair<int64_t, int64_t>, std::pair<std::vector<size_t>, size_t>> between;
    for (const bool sending : {true, false})
      for (const Schedule &s : ranks) {
        Rank &rank = ranks_[static_cast<size_t>(s.rank)];
        rank.steps.resize(s.steps.size());
        for (size_t i = 0; i < s.steps.size(); ++i) {
          const Step &step = s.steps[i];
          if (step.peer < 0 || sends(step) != sending) continue;
          auto &[all, met] = sending ? between[{s.rank, step.peer}] : between[{step.peer, s.rank}];
          if (sending) {
            all.push_back(messages_.size());
            rank.steps[i].message = messages_.size();
            messages_.push_back({.bytes = bytes(s, s.from(step)), .to = step.peer});
          } else if (met < all.size()) {  // always, of what was proven
            rank.steps[i].message = all[met++];
            messages_[rank.steps[i].message].step = static_cast<StepId>(i);
          }
        }
      }
  }

  Estimate play() {
    Estimate result;
    for (const Schedule &s : schedules_) {
      Rank &rank = ranks_[static_cast<size_t>(s.rank)];
      int64_t messages = 0;
      uint64_t sent = 0;
      for (size_t i = 0; i < s.steps.size(); ++i) {
        for (const StepId before : s.after(s.steps[i]))
          rank.steps[static_cast<size_t>(before)].users.push_back(static_cast<StepId>(i));
        rank.steps[i].waits = static_cast<int>(s.after(s.steps[i]).size());
        if (rank.steps[i].waits == 0) happen(0, s.rank, static_cast<StepId>(i), Event::start);
        if (!sends(s.steps[i])) continue;
        ++messages;
        sent += messages_[rank.steps[i].message].bytes;
      }
      result.messages = std::max(result.messages, messages);
      result.bytesSent = std::max(result.bytesSent, sent);
    }
    while (!events_.empty()) {
      const Event e = events_.top();
      events_.pop();
      switch (e.what) {
        case Event::start:
          start(e);
          break;
        case Event::arrive:
          arrive(e);
          break;
        case Event::complete:
          finish(e.rank, e.step, busy(e.rank, e.time, costs_.overhead));
          break;
      }
    }
    result.time = end_;
    return result;
  }

 private:
  struct StepState {
    int waits = 0;
    double ready = 0;
    size_t message = 0;
    std::vector<StepId> users;
  };
  struct Rank {
    std::vector<StepState> steps;
    double free = 0, outPort = 0, inPort = 0;  // from when on
  };
  struct Message {
    uint64_t bytes = 0;
    int32_t to = 0;
    StepId step = -1;  // that receives it
    double posted = -1, there = -1;
  };
  struct Event {
    double time;
    size_t number;  // events of one time happen in the order in which they became known
    int64_t rank;
    StepId step;
    enum What { start, arrive, complete } what;
    bool operator<(const Event &o) const {
      return std::pair(o.time, o.number) < std::pair(time, number);
    }
  };

  void happen(double time, int64_t rank, StepId step, Event::What what) {
    events_.push({time, number_++, rank, step, what});
  }
  Rank &rankOf(int64_t rank) { return ranks_[static_cast<size_t>(rank)]; }
  Message &messageOf(const Event &e) {
    return messages_[rankOf(e.rank).steps[static_cast<size_t>(e.step)].message];
  }
  double width(const Message &m) const {
    return std::max(costs_.gap, static_cast<double>(m.bytes) * costs_.perByte);
  }

  /// A rank does something as soon as it can; until when.
  double busy(int64_t rank, double from, double time) {
    double &free = rankOf(rank).free;
    return free = std::max(free, from) + time;
  }

  void start(const Event &e) {
    const Schedule &s = schedules_[static_cast<size_t>(e.rank)];
    const Step &step = s.steps[static_cast<size_t>(e.step)];
    const auto working = [&](int64_t picoseconds) {
      return static_cast<double>(bytes(s, s.to(step))) * static_cast<double>(picoseconds) / 1e6;
    };
    switch (step.op) {
      case Op::send:
      case Op::signal: {
        const Message &m = messageOf(e);
        Rank &rank = rankOf(e.rank);
        const double begin = std::max(rank.outPort, busy(e.rank, e.time, costs_.overhead));
        rank.outPort = begin + width(m);
        if (m.step >= 0) happen(begin + costs_.latency, m.to, m.step, Event::arrive);
        finish(e.rank, e.step, rank.outPort);
        break;
      }
      case Op::recv:
      case Op::await: {
        Message &m = messageOf(e);
        m.posted = e.time;
        if (m.there >= 0) happen(std::max(m.there, e.time), e.rank, e.step, Event::complete);
        break;
      }
      case Op::copy:
        finish(e.rank, e.step, busy(e.rank, e.time, working(kCopyPicoseconds)));
        break;
      case Op::reduce:
        finish(e.rank, e.step, busy(e.rank, e.time, working(kReducePicoseconds)));
        break;
    }
  }

  void arrive(const Event &e) {
    Message &m = messageOf(e);
    double &port = rankOf(e.rank).inPort;
    m.there = port = std::max(port, e.time) + width(m);
    if (m.posted >= 0) happen(std::max(m.there, m.posted), e.rank, e.step, Event::complete);
  }

  void finish(int64_t rank, StepId step, double time) {
    end_ = std::max(end_, time);
    std::vector<StepState> &steps = rankOf(rank).steps;
    for (const StepId user : steps[static_cast<size_t>(step)].users) {
      StepState &u = steps[static_cast<size_t>(user)];
      u.ready = std::max(u.ready, time);
      if (--u.waits == 0) happen(u.ready, rank, user, Event::start);
    }
  }

  uint64_t bytes(const Schedule &s, Section section) const {
    Wide all = 0;
    for (const Extent &e : resolve(s, section))
      all += position(e.first + e.count, e.parts) - position(e.first, e.parts);
    return static_cast<uint64_t>(all);
  }
  Wide position(int64_t at, int32_t parts) const {
    const Wide length = block_;
    return length * (at / parts) + length * (at % parts) / parts;
  }

  std::span<const Schedule> schedules_;
  uint64_t block_;
  Costs costs_;
  std::vector<Rank> ranks_;
  std::vector<Message> messages_;
  std::priority_queue<Event> events_;
  size_t number_ = 0;
  double end_ = 0;
};

}  // namespace

Estimate estimate(std::span<const Schedule> ranks, uint64_t blockBytes, const Costs &costs) {
  return Playing(ranks, blockBytes, costs).play();
}

}  // namespace nbcc
