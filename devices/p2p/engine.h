// SPDX-License-Identifier: BSD-3-Clause
// engine.h - ends of messages, and where they meet.
//
//   send    -> the peer's unmatched sends     |  of one rank and tag,
//   receive -> its own unmatched receives     |  first with first: meet()
//
// Real time: one mutex for all; what meets is moved on the spot. Simulated time: no lock;
// departures and arrivals are events.

#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <queue>
#include <random>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "devices/p2p/p2p.h"

namespace p2p {

/// One end of a message, from its posting until the runtime has seen it done and the engine needs
/// it no more.
struct Post {
  uint32_t rank, peer, tag;
  bool isSend;
  uint8_t *memory;
  uint64_t bytes, number;           // of all posts, for people
  std::unique_ptr<uint8_t[]> copy;  // a buffered send's bytes
  bool buffered = false, arrived = false;
  bool held = true;           // by the runtime
  uint32_t uses = 0;          // by queues and events
  Post *match = nullptr;      // the other end; null: not met, or gone
  Time sent = 0;              // simulated time: when it left
  uint32_t unseen = 0;        // real time: so many tests do not see that it is done
  std::atomic<int> state{0};  // 0: under way, 1: done, or negative
};

/// Of one peer and tag: ends that have not met.
struct Unmatched {
  std::deque<Post *> sends, receives;
};

struct Endpoint : nbc_p2p {
  Engine *engine;
  uint32_t rank;
  bool dead = false;
  std::unordered_map<uint64_t, Unmatched> unmatched;  // by (peer, tag); sends are the peer's
  std::unordered_set<Post *> posts;                   // its own
  Time hostFree = 0, sendPortFree = 0, receivePortFree = 0;
  std::atomic<uint32_t> changes{0};  // real time: ends that were done
  std::condition_variable changed;
};

struct Event {
  Time at;
  uint64_t number;  // of all: the earlier first
  bool arrives;     // at the receiver; else the send is done
  Post *send;
  bool operator>(const Event &e) const { return at != e.at ? at > e.at : number > e.number; }
};

struct Engine {
  explicit Engine(const Options &);
  ~Engine();

  const Options options;
  const bool simulated;
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::mt19937_64 generator;
  std::vector<std::string> findings;
  std::vector<Transfer> transfers;
  Counters counters;
  uint64_t posts = 0;
  Time now = 0, epoch;
  const uint64_t identity;  // no other fabric's of this process

  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  uint64_t scheduled = 0;
  std::vector<uint32_t> ended;  // ranks, of the event at hand

  // messages.cpp
  int post(Endpoint &, bool isSend, uint8_t *memory, uint64_t bytes, uint32_t peer, uint32_t tag,
           union nbc_p2p_message *);
  int test(Post &);
  void forget(Post &);
  void kill(Endpoint &);

  // simulated.cpp
  void depart(Post &send, Time earliest);
  void schedule(Post &send, bool arrives, Time at);
  Run run(const std::function<bool(uint32_t)> &seen, const RunLimits &);
  void sleep(Endpoint &, int64_t nanoseconds);

  std::unique_lock<std::mutex> lock() const;
  Time clock() const;
  uint64_t below(uint64_t n) { return generator() % n; }
  Time late();  // of the adversary

  /// The bytes are at the receiver: into its memory, if it has been posted.
  void arrive(Post &send);
  void end(Post &, int state);
  template <class... Part>
  void found(const Part &...parts) {
    if (findings.size() >= 1000) return;
    std::ostringstream text;
    (text << ... << parts);
    findings.push_back(text.str());
  }

 private:
  void meet(Post &send, Post &receive);
  void lookAtMemory(const Endpoint &, const Post &);
  void dropIfUnused(Post &);
  void release(Post &);  // one of its uses
  friend class Fabric;
};

}  // namespace p2p
