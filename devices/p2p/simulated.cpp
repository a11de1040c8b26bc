// SPDX-License-Identifier: BSD-3-Clause
// simulated.cpp - departures and arrivals in the order of their time; and the clock.

#include <algorithm>
#include <chrono>

#include "devices/p2p/engine.h"

namespace p2p {

/// Mostly a little, sometimes long enough for much else to happen.
Time Engine::late() {
  if (!options.adversarial) return 0;
  return static_cast<Time>(below(below(4) ? 2 * microsecond : 50 * microsecond));
}

void Engine::schedule(Post &send, bool arrives, Time at) {
  ++send.uses;
  events.push({std::max(at, now) + late(), scheduled++, arrives, &send});
}

/// LogGP: the ports are taken in the order in which messages leave.
void Engine::depart(Post &send, Time earliest) {
  const LogGp &cost = options.cost;
  Endpoint &from = *endpoints[send.rank], &to = *endpoints[send.peer];
  const Time busy = std::max(cost.gap, static_cast<Time>(send.bytes) * cost.perByte);
  send.sent = std::max(earliest, from.sendPortFree);
  from.sendPortFree = send.sent + busy;
  if (send.buffered) schedule(send, false, from.sendPortFree);
  to.receivePortFree = std::max(send.sent + cost.latency, to.receivePortFree) + busy;
  schedule(send, true, to.receivePortFree);
}

Run Engine::run(const std::function<bool(uint32_t)> &seen, const RunLimits &limits) {
  for (uint64_t n = 0; !events.empty(); ++n) {
    const Event e = events.top();
    if (e.at > limits.until || n == limits.events) return Run::Limit;
    events.pop();
    now = std::max(now, e.at);
    ++counters.events;
    ended.clear();
    if (e.arrives)
      arrive(*e.send);
    else
      end(*e.send, 1);
    release(*e.send);
    const std::vector<uint32_t> ranks = std::move(ended);
    bool stop = false;
    for (uint32_t rank : ranks) stop |= seen && !seen(rank);
    if (stop) return Run::Stopped;
  }
  return Run::Quiet;
}

Time Engine::clock() const {
  if (simulated) return now;
  return (std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1)) *
             nanosecond -
         epoch;
}

/// An end that was done between a thread's last look and this call must not be slept through; so it
/// compares with what it saw when it last woke up, and at first sight returns at once.
void Engine::sleep(Endpoint &e, int64_t nanoseconds) {
  if (nanoseconds <= 0) return;
  if (simulated) {
    const Time until = now + nanoseconds * nanosecond;
    if (run([&](uint32_t rank) { return rank != e.rank; }, {.until = until}) == Run::Quiet)
      now = std::max(now, until);
    return;
  }
  thread_local uint64_t knownFabric = 0;
  thread_local uint32_t knownRank = 0, known = 0;
  std::unique_lock<std::mutex> guard(mutex);
  if (knownFabric == identity && knownRank == e.rank && known == e.changes.load())
    e.changed.wait_for(guard, std::chrono::nanoseconds(nanoseconds));
  knownFabric = identity;
  knownRank = e.rank;
  known = e.changes.load();
}

}  // namespace p2p
