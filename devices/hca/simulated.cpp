// SPDX-License-Identifier: BSD-3-Clause
// simulated.cpp - executes events in the order of their time until none is left that matters.

#include <algorithm>

#include "devices/hca/engine.h"

namespace hca {

Run Engine::run(const std::function<bool(const Completion &)> &seen, const RunLimits &limits) {
  std::vector<Completion> told;
  lookAtWords();
  for (uint64_t events = 0;;) {
    if (!unseen.empty()) {
      told.swap(unseen);
      bool goOn = true;
      for (const Completion &c : told) goOn &= !seen || seen(c);
      lookAtWords();
      told.clear();
      if (!goOn) return Run::Stopped;
      continue;
    }
    if (timed.empty() || retriesInVain()) return Run::Quiet;
    if (timed.front().at > limits.until) {
      now = std::max(now, limits.until);
      return Run::Limit;
    }
    if (events++ == limits.events) return Run::Limit;
    Pending next = popTimed();
    now = std::max(now, next.at);
    handle(next);
  }
}

/// Only queue pairs are left that will try for ever to send to one without a receive.
bool Engine::retriesInVain() {
  if (notReady.size() != timed.size()) return false;
  return std::all_of(notReady.begin(), notReady.end(), [&](uint32_t number) {
    QueuePair &qp = *find(number);
    QueuePair *peer = find(qp.peer);
    return qp.retry.rnrRetry == 7 && peer && peer->state == State::Ready && !peer->adapter->dead &&
           posted(*peer) == 0;
  });
}

}  // namespace hca
