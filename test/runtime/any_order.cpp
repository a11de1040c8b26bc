// SPDX-License-Identifier: BSD-3-Clause
// any_order.cpp - how long queues must be, found by going through every order there is.
//
// A model of the protocol of codegen/coredirect/coredirect.h between two ranks, of which one sends
// and one receives; so small that all its states can be looked at. In each any of these may happen:
// a host puts its next call into the rings, eager or rendezvous, or sees that one is over and posts
// again what it has used; a management queue executes its next entry; a message arrives. More
// ranks, or messages both ways, only add things to wait for.
//
// The most that is ever in use is compared with what runtime/src/coredirect_needs.c counts.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <unordered_set>
#include <vector>

namespace {

/// Calls that a host has put into the rings, that its management queue is through with, and that
/// the host has seen to be over; and entries executed of the one that it is at.
struct Side {
  int admitted = 0, executed = 0, over = 0, entry = 0;
};

struct State {
  unsigned eager = 0;  // bit n: call n is
  Side sender, receiver;
  int clears = 0, data = 0;  // messages that have arrived: clear-to-sends and credits; data
};

/// The most that was in use.
struct Most {
  int receives = 0;  // for eager data: used and not posted again
  int clears = 0;    // likewise, for clear-to-sends and credits
  int early = 0;     // of these posted again, before they were used
  int ring = 0;      // clear-to-sends and credits: put into the ring, and not arrived
  bool operator==(const Most &) const = default;
};
std::ostream &operator<<(std::ostream &out, const Most &m) {
  return out << m.receives << " receives, " << m.clears << " clears, " << m.early << " early, "
             << m.ring << " in the ring";
}

class Explorer {
 public:
  /// `messages`: those of a call. `calls`: how many there are, of `mixed` protocols or all eager.
  Explorer(int depth, int messages, int calls, bool mixed)
      : depth_(depth), messages_(messages), calls_(calls), mixed_(mixed) {
    reach({});
    while (!todo_.empty()) {
      const State s = todo_.back();
      todo_.pop_back();
      go(s);
    }
  }

  Most most;
  bool stuck = false;
  size_t states() const { return seen_.size(); }

 private:
  static bool isEager(const State &s, int call) { return s.eager >> call & 1; }
  /// Eager calls before this one.
  static int eagerBefore(const State &s, int call) {
    return __builtin_popcount(s.eager & ((1u << call) - 1));
  }
  bool opens(const State &s, int call) const {
    return isEager(s, call) && eagerBefore(s, call) % depth_ == 0;
  }
  /// Messages that the receiver sends in a call: leave for each, or a credit.
  int clearsOf(const State &s, int call) const {
    return isEager(s, call) ? opens(s, call) : messages_;
  }
  int clearsBefore(const State &s, int call) const {
    int sum = 0;
    for (int c = 0; c < call; ++c) sum += clearsOf(s, c);
    return sum;
  }
  int eagerData(const State &s) const {
    const int call = s.data / messages_;
    return messages_ * eagerBefore(s, call) + (isEager(s, call) ? s.data % messages_ : 0);
  }

  void reach(const State &s) {
    const Side &a = s.sender, &b = s.receiver;
    uint64_t key = s.eager;
    for (const int part : {a.admitted, a.executed, a.over, a.entry, b.admitted, b.executed, b.over,
                           b.entry, s.clears, s.data})
      key = key << 5 | static_cast<uint64_t>(part);
    if (!seen_.insert(key).second) return;
    todo_.push_back(s);
    const int clears = s.clears - clearsBefore(s, a.over);
    most.receives = std::max(most.receives, eagerData(s) - messages_ * eagerBefore(s, b.over));
    most.clears = std::max(most.clears, clears);
    most.early = std::max(most.early, -clears);
    most.ring = std::max(most.ring, clearsBefore(s, b.admitted) - s.clears);
  }

  /// Everything that may happen next.
  void go(const State &s) {
    happened_ = false;
    admit(s, &State::sender);
    admit(s, &State::receiver);
    see(s, &State::sender);
    see(s, &State::receiver);
    if (s.sender.executed < s.sender.admitted) send(s);
    if (s.receiver.executed < s.receiver.admitted) receive(s);
    const int clears = clearsBefore(s, s.receiver.executed) +
                       (s.receiver.entry ? clearsOf(s, s.receiver.executed) : 0);
    const int data = messages_ * s.sender.executed + std::min(s.sender.entry, messages_);
    if (s.clears < clears) then(s, [](State &t) { ++t.clears; });
    if (s.data < data) then(s, [](State &t) { ++t.data; });
    stuck |= !happened_ && s.sender.over < calls_;
  }

  template <class Change>
  void then(State s, Change change) {
    happened_ = true;
    change(s);
    reach(s);
  }

  void admit(const State &s, Side State::*who) {
    const int call = (s.*who).admitted;
    if (call == calls_ || call - (s.*who).over == depth_) return;
    const bool isNew = call == std::max(s.sender.admitted, s.receiver.admitted);
    if (mixed_ || !isNew) then(s, [&](State &t) { ++(t.*who).admitted; });
    if (isNew) then(s, [&](State &t) { ++(t.*who).admitted, t.eager |= 1u << call; });
  }

  void see(const State &s, Side State::*who) {
    if ((s.*who).over < (s.*who).executed) then(s, [&](State &t) { ++(t.*who).over; });
  }

  /// Eager: WAIT for the credit of the window before, SEND_EN of all. Rendezvous: WAIT for leave
  /// and SEND_EN of each. At the end WAIT for the completions of all.
  void send(const State &s) {
    const int call = s.sender.executed, entry = s.sender.entry;
    if (entry == messages_) {
      if (s.data >= messages_ * (call + 1))
        then(s, [](State &t) { ++t.sender.executed, t.sender.entry = 0; });
    } else if (!isEager(s, call)) {
      if (s.clears > clearsBefore(s, call) + entry) then(s, [](State &t) { ++t.sender.entry; });
    } else if (!opens(s, call) || creditsArrived(s) >= eagerBefore(s, call) / depth_) {
      then(s, [&](State &t) { t.sender.entry = messages_; });
    }
  }

  int creditsArrived(const State &s) const {
    int credits = 0, sum = 0;
    for (int call = 0; sum < s.clears; sum += clearsOf(s, call++)) credits += opens(s, call);
    return credits;
  }

  /// SEND_EN of leave for each, or of a credit; WAIT for all data.
  void receive(const State &s) {
    if (s.receiver.entry == 0)
      then(s, [](State &t) { t.receiver.entry = 1; });
    else if (s.data >= messages_ * (s.receiver.executed + 1))
      then(s, [](State &t) { ++t.receiver.executed, t.receiver.entry = 0; });
  }

  int depth_, messages_, calls_;
  bool mixed_;
  bool happened_ = false;
  std::unordered_set<uint64_t> seen_;
  std::vector<State> todo_;
};

/// What is spare: one set of slots of three; of the receives for three credits one, or, where calls
/// that send clear-to-sends come between, all; of the ring's room for three credits one or two.
TEST(AnyOrder, needsNoMoreThanTheRuntimeCounts) {
  for (const auto &[depth, messages, calls] :
       {std::array{1, 1, 7}, {1, 2, 6}, {1, 3, 6}, {2, 1, 9}, {2, 2, 8}}) {
    const Explorer e(depth, messages, calls, true);
    EXPECT_FALSE(e.stuck);
    EXPECT_GT(e.states(), 5000u);
    EXPECT_EQ(e.most, Most({.receives = (3 * depth - 1) * messages,
                            .clears = (depth + 1) * messages,
                            .early = 1,
                            .ring = depth * messages + 1}))
        << depth << ", " << messages;
  }
}

TEST(AnyOrder, needsTwoCreditsWhereAllIsEager) {
  for (const int depth : {1, 2, 3}) {
    const Explorer e(depth, 1, 4 * depth + 1, false);
    EXPECT_FALSE(e.stuck);
    EXPECT_EQ(e.most, Most({.receives = 3 * depth - 1, .clears = 2, .early = 1, .ring = 2}))
        << depth;
  }
}

}  // namespace
