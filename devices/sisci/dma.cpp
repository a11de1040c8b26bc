// SPDX-License-Identifier: BSD-3-Clause
// dma.cpp - transfers under way: copied, failed, aborted and done.
//
// Real time: by the network's thread, or by a thread of the program's that asks how far they are,
// so that nobody waits for a thread to wake up. Simulated time: by events. Elements of an
// adversary's go in any order, and their bytes are read no earlier than they are written.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

void copyPart(const Transfer &t, const Transfer::Part &part) {
  uint8_t *here = t.localBase + part.local, *there = t.remoteMemory->base + part.remote;
  std::memcpy(t.read ? here : there, t.read ? there : here, part.bytes);
}

std::vector<size_t> orderOf(Network &n, const Transfer &t) {
  std::vector<size_t> order(t.parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (n.options.adversarial) std::ranges::shuffle(order, n.generator);
  return order;
}

uint64_t bytesOf(const Transfer &t) {
  uint64_t bytes = 0;
  for (const auto &part : t.parts) bytes += part.bytes;
  return bytes;
}

}  // namespace

bool DmaQueue::isOn(const Network &network) const {
  return adapter->network == &network;
}

void Network::finish(DmaQueue &queue, const std::shared_ptr<Transfer> &t, bool failed) {
  const sci_error_t status = t->aborted ? SCI_ERR_CANCELLED
                             : failed   ? SCI_ERR_TRANSFER_FAILED
                                        : SCI_ERR_OK;
  counters.failed += failed;
  queue.state = t->aborted ? SCI_DMAQUEUE_ABORTED : failed ? SCI_DMAQUEUE_ERROR : SCI_DMAQUEUE_DONE;
  if (t->callback)
    notice(queue, [callback = t->callback, argument = t->argument, status,
                   handle = handleOf<sci_dma_queue_t>(&queue)] {
      return callback(argument, handle, status);
    });
  if (!simulated) return wakeUp();
  changed.push_back(queue.adapter->rank);
  const Adapter *to = adapterOf(t->remote->node);
  if (!to || failed || t->aborted) return;
  changed.push_back(to->rank);
  const uint32_t from = queue.adapter->rank;
  if (options.trace)
    moved.push_back(
        {t->read ? to->rank : from, t->read ? from : to->rank, t->started, now, bytesOf(*t), true});
}

void Network::post(DmaQueue &queue) {
  std::shared_ptr<Transfer> t = queue.transfer;
  const uint64_t bytes = bytesOf(*t);
  ++counters.transfers;
  counters.transferBytes += bytes;
  queue.state = SCI_DMAQUEUE_POSTED;
  if (misfortune()) t->failsBefore = below(t->parts.size() + 1);
  if (!simulated) {
    posted.push_back(queue.handle);
    return wakeUp();
  }
  Adapter &a = *queue.adapter;
  busy(a, options.cost.store);
  t->started = now;
  const Time begin = std::max(a.hostFree + options.cost.dmaStart, a.dmaFree);
  const Time end = begin + static_cast<Time>(bytes) * options.cost.dmaByte;
  a.dmaFree = end;
  Time last = end;
  std::vector<size_t> order = orderOf(*this, *t);
  for (size_t i = 0; i < order.size() && i < t->failsBefore; ++i) {
    const Time at =
        options.adversarial
            ? begin + static_cast<Time>(below(static_cast<uint64_t>(end - begin) + 1)) + late()
            : end;
    last = std::max(last, at);
    schedule(at, [this, t, part = t->parts[order[i]], node = t->remote->node] {
      if (!t->aborted && !isDead(node)) copyPart(*t, part);
    });
  }
  schedule(last + late(), [this, t, handle = queue.handle, node = t->remote->node, self = a.node] {
    auto *q = static_cast<DmaQueue *>(library().handles.find(handle));
    if (!q || q->transfer != t || t->aborted) return;
    finish(*q, t, t->failsBefore != SIZE_MAX || isDead(node) || isDead(self));
  });
}

/// Real time. The queue may be removed by nobody while it is posted.
bool Network::carryOutOne(std::unique_lock<std::mutex> &lock, uintptr_t handle) {
  auto *queue = static_cast<DmaQueue *>(library().handles.find(handle));
  if (!queue || queue->state != SCI_DMAQUEUE_POSTED) return false;
  std::shared_ptr<Transfer> t = queue->transfer;
  const std::vector<size_t> order = orderOf(*this, *t);
  bool failed = t->failsBefore != SIZE_MAX || isLost(*t->remote);
  const int depth = std::exchange(inLibrary, 0);
  lock.unlock();
  for (size_t i = 0; i < order.size() && i < t->failsBefore && !t->aborted; ++i)
    copyPart(*t, t->parts[order[i]]);
  lock.lock();
  inLibrary = depth;
  if (library().handles.find(handle) != queue) return false;  // the program has ended meanwhile
  failed |= isLost(*t->remote);
  finish(*queue, t, failed);
  return true;
}

}  // namespace sisci
