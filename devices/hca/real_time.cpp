// SPDX-License-Identifier: BSD-3-Clause
// real_time.cpp - one thread executes all queues, and sleeps when there is nothing to do.
//
// A doorbell takes no lock: it notes the record's value in the queue pair's slot and puts the slot
// into a list that the worker takes as a whole. A slot is in it at most once; the worker takes the
// mark off before it reads the value, so no ring is lost. Only a worker that says it is asleep
// costs a system call.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "devices/hca/engine.h"

namespace hca {

namespace {

void futexWait(std::atomic<uint32_t> &word, uint32_t seen, int64_t nanoseconds) {
  timespec time = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nanoseconds < 0 ? nullptr : &time, nullptr,
          0);
}

void futexWake(std::atomic<uint32_t> &word, int threads) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

}  // namespace

Time Engine::clock() const {
  if (simulated) return now;
  return (std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1) -
          epoch) *
         nanosecond;
}

/// For whoever is not the worker. Nothing to take in simulated time, which has one thread.
std::unique_lock<std::mutex> Engine::lock() {
  if (simulated) return {};
  wanted.fetch_add(1);
  std::unique_lock<std::mutex> guard(mutex);
  wanted.fetch_sub(1);
  return guard;
}

void Engine::ring(Adapter &adapter, uint32_t number) {
  Slot *s = slot(number);
  if (!s || s->owner.load(std::memory_order_relaxed) != &adapter) return;
  volatile uint32_t *record = s->doorbell.load(std::memory_order_acquire);
  if (!record) return;
  uint32_t limit = loadShared(record + 1) & 0xffff;
  if (simulated) {
    adapter.hostFree = std::max(adapter.hostFree, now) + options.cost.overhead;
    post(Kind::Doorbell, number, adapter.hostFree, static_cast<uint16_t>(limit));
    return;
  }
  s->limit.store(limit, std::memory_order_release);
  if (s->rung.exchange(1) == 0) {
    uint32_t head = rung.load(std::memory_order_relaxed);
    do s->nextRung.store(head, std::memory_order_relaxed);
    while (!rung.compare_exchange_weak(head, number));
    wakeWorker();
  }
}

void Engine::takeDoorbells() {
  for (uint32_t number = rung.exchange(0); number;) {
    Slot *s = slot(number);
    uint32_t following = s->nextRung.load(std::memory_order_relaxed);
    s->rung.exchange(0);
    QueuePair *qp = s->queuePair.load(std::memory_order_acquire);
    if (qp && !qp->adapter->dead)
      doorbell(*qp, static_cast<uint16_t>(s->limit.load(std::memory_order_acquire)));
    number = following;
  }
}

void Engine::wakeWorker() {
  if (simulated) return;
  wakes.fetch_add(1);
  if (!asleep.load()) return;
  if (wire)
    wire->ring();
  else
    futexWake(wakes, 1);
}

/// Until the worker is woken, unless it was since `seen`.
void Engine::rest(uint32_t seen, int64_t nanoseconds) {
  asleep.store(true);
  if (wakes.load() == seen) {
    if (wire)
      wire->sleep(nanoseconds);
    else
      futexWait(wakes, seen, nanoseconds);
  }
  asleep.store(false);
}

bool Engine::runReady(uint32_t most) {
  while (!timed.empty() && timed.front().at <= now) ready.push(popTimed());
  if (ready.empty()) return false;
  while (most-- && !ready.empty()) {
    if (options.adversarial) std::swap(ready[0], ready[random() % ready.size()]);
    handle(ready.pop());
  }
  return true;
}

void Engine::work() {
  std::unique_lock<std::mutex> guard(mutex);
  for (;;) {
    uint32_t seen = wakes.load();  // before all that a wake may tell of, the end included
    if (ending.load()) break;
    takeDoorbells();
    now = clock();
    bool worked = wire && takePackets();
    if (!(runReady(256) || worked)) {
      int64_t time = timed.empty() ? -1 : (timed.front().at - now) / nanosecond + 1;
      if (watching && (time < 0 || time > 1'000'000)) time = 1'000'000;
      guard.unlock();
      rest(seen, time);
      guard.lock();
      lookAtWords();
    } else if (wanted.load()) {
      // std::mutex is not fair: step back until whoever wants it has it.
      guard.unlock();
      while (wanted.load()) std::this_thread::yield();
      guard.lock();
    }
  }
}

void Engine::wakeHost(Adapter &adapter) {
  adapter.written.fetch_add(1);
  if (adapter.sleepers.load()) futexWake(adapter.written, INT32_MAX);
}

/// Entries written between a thread's last look at its CQs and this call must not be slept through;
/// so it compares with what it saw when it last woke up, and at first sight returns at once.
void Engine::sleep(Adapter &adapter, int64_t nanoseconds) {
  if (nanoseconds <= 0) return;
  uint32_t written = adapter.written.load();
  if (simulated) {
    Time until = now + nanoseconds * nanosecond;
    auto mine = [&](const Completion &c) { return c.rank != adapter.rank; };
    if (run(mine, {.until = until}) == Run::Quiet) now = std::max(now, until);
    return;
  }
  thread_local uint64_t knownFabric = 0;
  thread_local uint32_t knownRank = 0, known = 0;
  if (knownFabric == fabric && knownRank == adapter.rank && known == written) {
    adapter.sleepers.fetch_add(1);
    futexWait(adapter.written, written, nanoseconds);
    adapter.sleepers.fetch_sub(1);
  }
  knownFabric = fabric;
  knownRank = adapter.rank;
  known = adapter.written.load();
}

}  // namespace hca
