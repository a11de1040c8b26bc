// SPDX-License-Identifier: BSD-3-Clause
// domain.cpp - the tables of a network: locked, looked up, and cleared of what has died.

#include "devices/sisci/domain.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <new>

namespace sisci {

void DomainCloser::operator()(Domain *domain) const {
  munmap(static_cast<void *>(domain), sizeof(Domain));
}

/// The memory is zero, which is what free slots are.
void prepareDomain(Domain &domain) {
  pthread_mutexattr_t how;
  pthread_mutexattr_init(&how);
  pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&domain.mutex, &how);
  pthread_mutexattr_destroy(&how);
  domain.version = domainVersion;
}

DomainMemory privateDomain() {
  void *memory =
      mmap(nullptr, sizeof(Domain), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  DomainMemory domain(static_cast<Domain *>(memory));
  prepareDomain(*domain);
  domain->processes[0].used = 1;
  domain->processes[0].pid = getpid();
  return domain;
}

DomainLock::DomainLock(Domain &domain) : domain_(domain) {
  if (pthread_mutex_lock(&domain.mutex) == EOWNERDEAD) pthread_mutex_consistent(&domain.mutex);
}

DomainLock::~DomainLock() {
  pthread_mutex_unlock(&domain_.mutex);
}

template <class T, uint32_t N>
uint32_t Table<T, N>::take() {
  uint32_t n = top.load(std::memory_order_relaxed), i = 0;
  while (i < n && slots[i].used) ++i;
  if (i == N) return none;
  if (i == n) top.store(n + 1, std::memory_order_release);
  uint32_t generation = slots[i].generation + 1;
  slots[i] = T{};
  slots[i].generation = generation;
  return i;
}
template uint32_t Table<SegmentSlot, 16384>::take();
template uint32_t Table<ConnectionSlot, 65536>::take();
template uint32_t Table<InterruptSlot, 1024>::take();

uint32_t nodeWithId(Domain &domain, uint32_t id) {
  for (uint32_t i = 0; i < mostNodes; ++i)
    if (domain.nodes[i].used && domain.nodes[i].id == id) return i;
  return none;
}

/// Ids are multiples of 4, as those of nodes behind switches are.
uint32_t takeNode(Domain &domain, uint32_t process, uint32_t id) {
  if (id && nodeWithId(domain, id) != none) return none;
  uint32_t slot = 0;
  while (slot < mostNodes && domain.nodes[slot].used) ++slot;
  if (slot == mostNodes) return none;
  for (uint32_t next = 4; !id; next += 4)
    if (next != SCI_BROADCAST_NODEID_ALL && nodeWithId(domain, next) == none) id = next;
  domain.nodes[slot] = {1, id, process, 0};
  return slot;
}

uint32_t segmentWithId(Domain &domain, uint32_t node, uint32_t id) {
  for (SegmentSlot &s : domain.segments)
    if (s.used && s.node == node && s.id == id)
      return static_cast<uint32_t>(&s - domain.segments.begin());
  return none;
}

uint32_t interruptWithNumber(Domain &domain, uint32_t node, uint32_t number, bool data) {
  for (InterruptSlot &i : domain.interrupts)
    if (i.used && i.node == node && i.number == number && (i.data != 0) == data)
      return static_cast<uint32_t>(&i - domain.interrupts.begin());
  return none;
}

bool isConnected(Domain &domain, Place segment) {
  for (ConnectionSlot &c : domain.connections)
    if (c.used == Connected && c.segment.slot == segment.slot &&
        c.segment.generation == segment.generation)
      return true;
  return false;
}

void bury(Domain &domain, uint32_t node) {
  for (ConnectionSlot &c : domain.connections) {
    if (!c.used) continue;
    SegmentSlot *segment = domain.segments.at(c.segment);
    if (segment && segment->node == node) c.ownerGone = 1;
    if (c.node == node) c.used = !segment || c.ownerGone || !segment->listens ? Unused : Lost;
    if (c.used != Connected && c.ownerGone) c.used = Unused;
  }
  for (SegmentSlot &s : domain.segments)
    if (s.used && s.node == node) s.used = 0;
  for (InterruptSlot &i : domain.interrupts)
    if (i.used && i.node == node) i.used = 0;
}

void buryProcess(Domain &domain, uint32_t process) {
  for (uint32_t n = 0; n < mostNodes; ++n)
    if (domain.nodes[n].used && domain.nodes[n].process == process) {
      bury(domain, n);
      domain.nodes[n].used = 0;
    }
  domain.processes[process].used = 0;
}

void wake(ProcessSlot &process) {
  process.wake.fetch_add(1);
  syscall(SYS_futex, &process.wake, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void wakeAll(Domain &domain) {
  for (ProcessSlot &p : domain.processes)
    if (p.used) wake(p);
}

}  // namespace sisci
