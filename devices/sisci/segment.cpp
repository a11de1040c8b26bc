// SPDX-License-Identifier: BSD-3-Clause
// segment.cpp - memory of this node: created, prepared, made available, and taken away again.

#include <algorithm>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

constexpr uint32_t secret = SCI_FLAG_PRIVATE | SCI_FLAG_DMA_SOURCE_ONLY;

LocalSegment::Prepared *preparedFor(LocalSegment &segment, const Adapter *adapter) {
  for (LocalSegment::Prepared &p : segment.prepared)
    if (p.adapter == adapter) return &p;
  return nullptr;
}

/// Of this process's: with one adapter, whose id it is to be is known before it is prepared.
bool isUsed(const Library &lib, uint32_t id) {
  if (lib.adapters.size() != 1) return false;
  const Adapter &only = *lib.adapters.begin()->second;
  bool used = false;
  lib.handles.each<LocalSegment>(
      [&](const LocalSegment &s) { used |= !(s.flags & secret) && s.id == id; });
  DomainLock guard(only.network->domain);
  return used || segmentWithId(only.network->domain, only.node, id) != none;
}

bool dmaUses(const LocalSegment *segment) {
  bool uses = false;
  library().handles.each<DmaQueue>([&](const DmaQueue &q) {
    uses |= q.transfer && q.transfer->local == segment &&
            (q.state == SCI_DMAQUEUE_POSTED || q.state == SCI_DMAQUEUE_GATHER);
  });
  return uses;
}

}  // namespace

/// Nobody may find it from here on; who is connected keeps the memory, and hears that it has gone.
LocalSegment::~LocalSegment() {
  for (const Prepared &p : prepared) {
    Network &n = *p.adapter->network;
    DomainLock guard(n.domain);
    if (!n.domain.segments.at(p.place)) continue;
    for (ConnectionSlot &c : n.domain.connections) {
      if (!c.used || c.segment.slot != p.place.slot || c.segment.generation != p.place.generation)
        continue;
      c.ownerGone = 1;
      if (c.used != Connected) c.used = Unused;
      n.wakeOwner(c.process);
    }
    n.domain.segments[p.place.slot].used = 0;
  }
}

bool LocalSegment::isOn(const Network &network) const {
  return std::ranges::any_of(prepared,
                             [&](const Prepared &p) { return p.adapter->network == &network; });
}

}  // namespace sisci

using namespace sisci;

void SCICreateSegment(sci_desc_t sd, sci_local_segment_t *segment, unsigned id, size_t size,
                      sci_cb_local_segment_t callback, void *argument, unsigned flags,
                      sci_error_t *error) {
  Call call(error, flags,
            SCI_FLAG_USE_CALLBACK | SCI_FLAG_PRIVATE | SCI_FLAG_DMA_SOURCE_ONLY | SCI_FLAG_AUTO_ID,
            SCI_FLAG_EMPTY | SCI_FLAG_PHYSICAL | SCI_FLAG_CUDA_BUFFER | SCI_FLAG_BROADCAST);
  auto *descriptor = call.object<Descriptor>(sd);
  if (!call.given(segment)) return;
  Library &lib = library();
  const bool listens = flags & SCI_FLAG_USE_CALLBACK;
  if (size == 0 || (listens && !callback)) return call.fail(SCI_ERR_ILLEGAL_PARAMETER);
  if (flags & SCI_FLAG_AUTO_ID)
    for (id = 1; isUsed(lib, id);) ++id;
  else if (!(flags & secret) && isUsed(lib, id))
    return call.fail(SCI_ERR_SEGMENTID_USED);

  auto made = std::make_unique<LocalSegment>(descriptor);
  made->memory = Memory::make(size, lib.environment && !(flags & secret));
  if (!made->memory) return call.fail(SCI_ERR_NOSPC);
  made->id = id;
  made->flags = flags;
  made->bytes = size;
  if (listens) made->callback = callback;
  made->argument = argument;
  *segment = handleOf<sci_local_segment_t>(lib.handles.add(std::move(made)));
}

void SCIPrepareSegment(sci_local_segment_t handle, unsigned adapterNo, unsigned flags,
                       sci_error_t *error) {
  Call call(error, flags, 0, SCI_FLAG_DMA_GLOBAL);
  auto *segment = call.object<LocalSegment>(handle);
  Adapter *adapter = call.adapter(adapterNo);
  if (!call.ok()) return;
  if (preparedFor(*segment, adapter)) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  Place place;
  if (!(segment->flags & secret)) {
    Domain &domain = adapter->network->domain;
    DomainLock guard(domain);
    if (segment->flags & SCI_FLAG_AUTO_ID && segment->prepared.empty())
      while (segmentWithId(domain, adapter->node, segment->id) != none) ++segment->id;
    if (segmentWithId(domain, adapter->node, segment->id) != none)
      return call.fail(SCI_ERR_SEGMENTID_USED);
    place.slot = domain.segments.take();
    if (place.slot == none) return call.fail(SCI_ERR_NOSPC);
    SegmentSlot &slot = domain.segments[place.slot];
    place.generation = slot.generation;
    slot.node = adapter->node;
    slot.process = adapter->network->process;
    slot.id = segment->id;
    slot.listens = segment->callback != nullptr;
    slot.file = segment->memory->file;
    slot.bytes = segment->bytes;
    slot.device = segment->memory->device;
    slot.inode = segment->memory->inode;
    slot.used = 1;
  }
  segment->prepared.push_back({adapter, place});
}

void SCISetSegmentAvailable(sci_local_segment_t handle, unsigned adapterNo, unsigned flags,
                            sci_error_t *error) {
  Call call(error, flags, 0);
  auto *segment = call.object<LocalSegment>(handle);
  Adapter *adapter = call.adapter(adapterNo);
  if (!call.ok()) return;
  auto *prepared = preparedFor(*segment, adapter);
  if (segment->flags & secret) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  if (!prepared) return call.fail(SCI_ERR_SEGMENT_NOT_PREPARED);
  if (prepared->available) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  DomainLock guard(adapter->network->domain);
  adapter->network->domain.segments[prepared->place.slot].available = 1;
  prepared->available = true;
}

void SCISetSegmentUnavailable(sci_local_segment_t handle, unsigned adapterNo, unsigned flags,
                              sci_error_t *error) {
  Call call(error, flags, 0);
  auto *segment = call.object<LocalSegment>(handle);
  Adapter *adapter = call.adapter(adapterNo);
  if (!call.ok()) return;
  auto *prepared = preparedFor(*segment, adapter);
  if (!prepared || !prepared->available) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  DomainLock guard(adapter->network->domain);
  adapter->network->domain.segments[prepared->place.slot].available = 0;
  prepared->available = false;
}

void SCIRemoveSegment(sci_local_segment_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *segment = call.object<LocalSegment>(handle);
  if (!segment) return;
  if (segment->maps || segment->calling || dmaUses(segment)) return call.fail(SCI_ERR_BUSY);
  for (const auto &p : segment->prepared) {
    if (p.adapter->network->file) p.adapter->network->file->buryDead();
    DomainLock guard(p.adapter->network->domain);
    if (isConnected(p.adapter->network->domain, p.place)) return call.fail(SCI_ERR_BUSY);
  }
  library().handles.remove(segment);
}
