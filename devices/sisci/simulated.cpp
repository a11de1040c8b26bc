// SPDX-License-Identifier: BSD-3-Clause
// simulated.cpp - what happens next: events in the order of their time.

#include <algorithm>

#include "devices/sisci/engine.h"

namespace sisci {

/// Mostly a little, sometimes long enough for much else to happen.
Time Network::late() {
  if (!options.adversarial) return 0;
  return static_cast<Time>(below(below(4) ? 2 * microsecond : 50 * microsecond));
}

void Network::schedule(Time at, std::function<void()> happen) {
  events.push({std::max(at, now), scheduled++, std::move(happen)});
}

/// The event that is next, and the callbacks it gives rise to. False: there is none.
bool Network::step(std::unique_lock<std::mutex> &lock) {
  if (events.empty()) return deliverNotices(lock);
  Event event = events.top();
  events.pop();
  now = std::max(now, event.at);
  ++counters.events;
  event.happen();
  lookAround();
  deliverNotices(lock);
  return true;
}

}  // namespace sisci
