// SPDX-License-Identifier: BSD-3-Clause
// connect.cpp - memory of another node: connected to, and left.

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

bool dmaUses(const RemoteSegment *segment) {
  bool uses = false;
  library().handles.each<DmaQueue>([&](const DmaQueue &q) {
    uses |= q.transfer && q.transfer->remote == segment &&
            (q.state == SCI_DMAQUEUE_POSTED || q.state == SCI_DMAQUEUE_GATHER);
  });
  return uses;
}

/// Of this process: the owner's own. Null: there is none.
std::shared_ptr<Memory> memoryHere(const Network &network, uint32_t slot) {
  std::shared_ptr<Memory> memory;
  library().handles.each<LocalSegment>([&](const LocalSegment &s) {
    for (const auto &p : s.prepared)
      if (p.adapter->network == &network && p.place.slot == slot) memory = s.memory;
  });
  return memory;
}

}  // namespace

/// The owner hears of it, if it wants to.
RemoteSegment::~RemoteSegment() {
  Network &n = *adapter->network;
  DomainLock guard(n.domain);
  ConnectionSlot *c = n.domain.connections.at(connection);
  if (!c || c->used != Connected) return;
  SegmentSlot *segment = n.domain.segments.at(c->segment);
  c->used = segment && !c->ownerGone && segment->listens ? Left : Unused;
  if (segment) n.wakeOwner(segment->process);
}

bool RemoteSegment::isOn(const Network &network) const {
  return adapter->network == &network;
}

}  // namespace sisci

using namespace sisci;

void SCIConnectSegment(sci_desc_t sd, sci_remote_segment_t *segment, unsigned nodeId,
                       unsigned segmentId, unsigned adapterNo, sci_cb_remote_segment_t callback,
                       void *argument, unsigned, unsigned flags, sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_USE_CALLBACK, SCI_FLAG_BROADCAST | SCI_FLAG_ALLOW_UNICAST);
  auto *descriptor = call.object<Descriptor>(sd);
  Adapter *adapter = call.adapter(adapterNo);
  if (!call.given(segment)) return;
  const bool listens = flags & SCI_FLAG_USE_CALLBACK;
  if (listens && !callback) return call.fail(SCI_ERR_ILLEGAL_PARAMETER);
  if (nodeId == 0) return call.fail(SCI_ERR_ILLEGAL_NODEID);

  Network &n = *adapter->network;
  auto made = std::make_unique<RemoteSegment>(descriptor);
  made->adapter = adapter;
  if (n.file) n.file->buryDead();
  {
    DomainLock guard(n.domain);
    const uint32_t node = nodeWithId(n.domain, nodeId);
    if (node == none) return call.fail(SCI_ERR_NO_SUCH_NODEID);
    if (n.isDead(node)) return call.fail(SCI_ERR_NODE_NOT_RESPONDING);
    const uint32_t slot = segmentWithId(n.domain, node, segmentId);
    if (slot == none || !n.domain.segments[slot].available)
      return call.fail(SCI_ERR_NO_SUCH_SEGMENT);
    const SegmentSlot &s = n.domain.segments[slot];
    const bool here = s.process == n.process;
    made->memory =
        here ? memoryHere(n, slot)
             : Memory::open(n.domain.processes[s.process].pid, s.file, s.device, s.inode, s.bytes);
    if (!made->memory) return call.fail(SCI_ERR_NO_REMOTE_LINK_ACCESS);
    made->node = node;
    made->bytes = s.bytes;
    made->connection.slot = n.domain.connections.take();
    if (made->connection.slot == none) return call.fail(SCI_ERR_NOSPC);
    ConnectionSlot &c = n.domain.connections[made->connection.slot];
    made->connection.generation = c.generation;
    c.node = adapter->node;
    c.process = n.process;
    c.segment = {slot, s.generation};
    c.used = Connected;
    n.wakeOwner(s.process);
  }
  if (listens) made->callback = callback;
  made->argument = argument;
  *segment = handleOf<sci_remote_segment_t>(library().handles.add(std::move(made)));
}

size_t SCIGetRemoteSegmentSize(sci_remote_segment_t handle) {
  Call call(nullptr, 0, 0);
  auto *segment = call.object<RemoteSegment>(handle);
  return segment ? segment->bytes : 0;
}

void SCIDisconnectSegment(sci_remote_segment_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *segment = call.object<RemoteSegment>(handle);
  if (!segment) return;
  if (segment->maps || segment->calling || dmaUses(segment)) return call.fail(SCI_ERR_BUSY);
  library().handles.remove(segment);
}

int SCIProbeNode(sci_desc_t sd, unsigned adapterNo, unsigned nodeId, unsigned flags,
                 sci_error_t *error) {
  Call call(error, flags, 0);
  call.object<Descriptor>(sd);
  Adapter *adapter = call.adapter(adapterNo);
  if (!call.ok()) return 0;
  Network &n = *adapter->network;
  if (nodeId == 0) return call.fail(SCI_ERR_ILLEGAL_NODEID), 0;
  if (n.file) n.file->buryDead();
  DomainLock guard(n.domain);
  const uint32_t node = nodeWithId(n.domain, nodeId);
  if (node == none || n.isDead(node)) return call.fail(SCI_ERR_NO_REMOTE_LINK_ACCESS), 0;
  return 1;
}

void SCIGetLocalNodeId(unsigned adapterNo, unsigned *nodeId, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  Adapter *adapter = call.adapter(adapterNo);
  if (call.given(nodeId)) *nodeId = adapter->network->domain.nodes[adapter->node].id;
}
