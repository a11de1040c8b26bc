// SPDX-License-Identifier: BSD-3-Clause
// network.cpp - one network, as this process has it: who is there, and waiting for something.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {
/// Not for ever even where nobody wakes: a process may have died.
constexpr std::chrono::milliseconds glance{20};

void sleepOn(std::atomic<uint32_t> &word, uint32_t seen, std::chrono::nanoseconds most) {
  if (most <= std::chrono::nanoseconds(0)) return;
  timespec time = {most.count() / 1'000'000'000, most.count() % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &time, nullptr, 0);
}
}  // namespace

Network::Network(const Options &o)
    : options(o),
      simulated(o.mode == Mode::Simulated),
      shadowed(simulated || o.adversarial),
      own(privateDomain()),
      domain(*own),
      process(0),
      generator(o.seed) {
  if (shadowed) watchFaults();
}

Network::Network(const Options &o, std::unique_ptr<DomainFile> f)
    : options(o),
      simulated(false),
      shadowed(o.adversarial),
      file(std::move(f)),
      domain(file->domain()),
      process(file->process()),
      generator(o.seed) {
  if (shadowed) watchFaults();
}

Network::~Network() {
  stopService();
}

Adapter *Network::adapterOf(uint32_t node) {
  for (Adapter &a : adapters)
    if (a.node == node) return &a;
  return nullptr;
}

bool Network::isLost(const RemoteSegment &segment) {
  if (isDead(segment.adapter->node)) return true;
  {
    DomainLock guard(domain);
    ConnectionSlot *c = domain.connections.at(segment.connection);
    if (!c || c->ownerGone) return true;
    SegmentSlot *s = domain.segments.at(c->segment);
    if (!s) return true;
    if (!file || file->isAlive(s->process)) return false;
  }
  file->buryDead();
  return true;
}

bool Network::wait(std::unique_lock<std::mutex> &lock, unsigned milliseconds,
                   const std::function<bool()> &ready) {
  const bool forEver = milliseconds == SCI_INFINITE_TIMEOUT;
  if (simulated) {
    const Time until = forEver ? INT64_MAX : now + milliseconds * millisecond;
    while (!ready()) {
      if (events.empty() || events.top().at > until) {
        if (!forEver) now = std::max(now, until);
        return false;
      }
      step(lock);
    }
    return true;
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  std::atomic<uint32_t> &word = domain.processes[process].wake;
  for (;;) {
    const uint32_t seen = word.load();
    if (ready()) return true;
    std::chrono::nanoseconds most = glance;
    if (!forEver)
      most = std::min(most, std::chrono::nanoseconds(until - std::chrono::steady_clock::now()));
    if (most <= std::chrono::nanoseconds(0)) return false;
    lock.unlock();
    sleepOn(word, seen, most);
    lock.lock();
  }
}

}  // namespace sisci
