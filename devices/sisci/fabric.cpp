// SPDX-License-Identifier: BSD-3-Clause
// fabric.cpp - a network within one process, as its maker sees it.

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {
/// The lock of every call, for what is no call.
class Inside {
 public:
  Inside() : lock((++inLibrary, library().mutex)) {}
  ~Inside() { --inLibrary; }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;
  std::unique_lock<std::mutex> lock;
};

Time realTime() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1) *
         nanosecond;
}
}  // namespace

Fabric::Fabric(const Options &options) : network_(new Network(options)) {
  {
    Inside inside;
    library().networks.push_back(network_);
    ++library().fabrics;
  }
  if (network_->simulated) return;
  network_->now = realTime();
  network_->startService();
}

Fabric::~Fabric() {
  network_->stopService();
  {
    Inside inside;
    library().handles.clear(network_);
    std::erase(library().networks, network_);
    for (Adapter &a : network_->adapters) library().adapters.erase(a.number);
    --library().fabrics;
  }
  delete network_;
}

unsigned Fabric::addAdapter() {
  static unsigned next = firstOfFabrics;
  Inside inside;
  Network &n = *network_;
  uint32_t node;
  {
    DomainLock guard(n.domain);
    node = takeNode(n.domain, n.process, 0);
  }
  if (node == none) throw std::length_error("a network has at most 1024 nodes");
  n.adapters.push_back({&n, next++, static_cast<uint32_t>(n.adapters.size()), node});
  library().adapters[n.adapters.back().number] = &n.adapters.back();
  return n.adapters.back().number;
}

unsigned Fabric::node(unsigned adapter) const {
  Inside inside;
  return network_->domain.nodes[library().adapters.at(adapter)->node].id;
}

Run Fabric::run(const std::function<bool(uint32_t)> &seen, const RunLimits &limits) {
  Inside inside;
  Network &n = *network_;
  for (uint64_t events = 0;;) {
    n.lookAround();
    n.deliverNotices(inside.lock);
    // Also what changed while a call waited.
    for (const std::vector<uint32_t> ranks = std::exchange(n.changed, {}); uint32_t rank : ranks) {
      if (!seen) continue;
      --inLibrary;
      inside.lock.unlock();
      const bool goOn = seen(rank);
      inside.lock.lock();
      ++inLibrary;
      if (!goOn) return Run::Stopped;
    }
    if (!n.changed.empty()) continue;
    if (n.events.empty()) return Run::Quiet;
    if (n.events.top().at > limits.until || events++ == limits.events) return Run::Limit;
    n.step(inside.lock);
  }
}

Time Fabric::now() const {
  Inside inside;
  return network_->simulated ? network_->now : realTime() - network_->now;
}

void Fabric::hostBusy(uint32_t rank, Time work) {
  Inside inside;
  network_->busy(network_->adapters.at(rank), work);
}

Time Fabric::hostFree(uint32_t rank) const {
  Inside inside;
  return network_->adapters.at(rank).hostFree;
}

std::vector<Moved> Fabric::trace() const {
  Inside inside;
  return network_->moved;
}

Counters Fabric::counters() const {
  Inside inside;
  return network_->counters;
}

void Fabric::kill(uint32_t rank) {
  Inside inside;
  Network &n = *network_;
  {
    DomainLock guard(n.domain);
    const uint32_t node = n.adapters.at(rank).node;
    bury(n.domain, node);
    n.domain.nodes[node].dead = 1;
  }
  n.wakeUp();
}

}  // namespace sisci
