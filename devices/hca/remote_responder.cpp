// SPDX-License-Identifier: BSD-3-Clause
// remote_responder.cpp - messages of another process are carried out, piece by piece.
//
// A piece goes to its place when it arrives; nothing is kept. So a message that fails in its middle
// has left bytes behind, as on hardware, and its completion says that it failed. Each piece asks
// for its memory again: a registration may be gone by then.

#include <sys/epoll.h>

#include <algorithm>

#include "devices/hca/engine.h"

namespace hca {

namespace {

constexpr uint32_t mostReplies = 64;  // of a peer that wait; then its requests wait

/// What an adapter sends, whatever its queues hold.
bool makesSense(const Packet &p, uint32_t count) {
  switch (p.opcode) {
    case MLX5_ATOMIC_CS:
    case MLX5_ATOMIC_FA:
      return count == 0 && p.offset == 0 && p.bytes == 8;
    case MLX5_READ:
      return count == 0 && p.offset == 0 && p.bytes <= longestMessage;
    case MLX5_SEND:
    case MLX5_SEND_IMM:
    case MLX5_WRITE:
    case MLX5_WRITE_IMM:
      return p.bytes <= longestMessage && p.offset <= p.bytes && count <= p.bytes - p.offset &&
             (count || p.bytes == 0);
  }
  return false;
}

Message messageOf(const Packet &p) {
  Message m;
  m.opcode = p.opcode;
  m.remote = p.remote;
  m.key = p.key;
  m.bytes = p.bytes;
  m.solicited = p.flags & packetSolicited;
  m.operand = p.operand;
  m.compare = p.compare;
  memcpy(m.immediate, p.immediate, sizeof m.immediate);
  return m;
}

}  // namespace

/// False: no adapter would send this.
bool Engine::takeRequest(Peer &peer, const Packet &p, const uint8_t *bytes, uint32_t count) {
  QueuePair *to = find(p.to);
  if (to && (to->remote != &peer || to->peer != p.from)) to = nullptr;
  if (p.kind == PacketKind::Farewell && count == 0) {
    if (to) peerIsGone(*to);
    return true;
  }
  if (p.kind != PacketKind::Request || !makesSense(p, count)) return false;
  if (!to || to->adapter->dead || to->state != State::Ready) {
    if (p.offset == 0) reply(peer, p, PacketKind::Silent);
    return true;
  }
  // Behind one that was refused: it comes again.
  if (p.sequence != to->expected || p.offset != to->arrived) return true;
  if (p.offset && p.bytes != to->arriving) return false;

  if (p.offset == 0 && consumesReceive(p.opcode)) {
    uint32_t receives = posted(*to);
    if (receives && p.flags & packetPatient && oneIn(256)) {
      ++counters.forcedRnr;
      receives = 0;
    }
    if (receives == 0) {
      reply(peer, p, PacketKind::NotReady, 0, to->retry.minRnrTimer);
      return true;
    }
  }
  to->arriving = p.bytes;

  Message m = messageOf(p);
  Spans source;
  if (count) source.add(const_cast<uint8_t *>(bytes), count);
  Span target;
  uint8_t syndrome = 0;
  if (p.opcode != MLX5_SEND && p.opcode != MLX5_SEND_IMM && p.bytes) syndrome = aim(*to, m, target);
  if (syndrome) {
    failResponder(*to, syndrome);
  } else if (isWrite(p.opcode) && count) {
    memcpy(target.at + p.offset, bytes, count);
    changed(*to->adapter, Span{target.at + p.offset, count});
  }
  bool last = isRead(p.opcode) || p.offset + count == p.bytes;
  if (!syndrome && consumesReceive(p.opcode)) syndrome = take(*to, m, source, p.offset, last);
  to->arrived = last ? 0 : p.offset + count;
  if (!syndrome && !last) return true;

  ++to->expected;
  if (!syndrome) record(Event::Deliver, *to, to->peerRank, 0, isRead(p.opcode) ? 0 : p.bytes);
  if (!syndrome && isRead(p.opcode)) record(Event::SendStart, *to, to->peerRank, 0, p.bytes);
  if (syndrome || !isRead(p.opcode) || p.bytes == 0) {
    reply(peer, p, PacketKind::Done, syndrome);
  } else {
    Reply r;
    r.packet = p;
    r.packet.kind = PacketKind::Data;
    if (isAtomic(p.opcode)) {
      uint64_t before = atomically(m, target.at);
      changed(*to->adapter, target);
      memcpy(r.inlined, &before, sizeof before);
    }
    peer.replies.push(r);
    sendReplies(peer);
  }
  return true;
}

/// An answer without data.
void Engine::reply(Peer &peer, const Packet &to, PacketKind kind, uint8_t syndrome,
                   uint32_t timer) {
  Reply r;
  r.packet = to;
  r.packet.kind = kind;
  r.packet.syndrome = syndrome;
  r.packet.timer = timer;
  peer.replies.push(r);
  sendReplies(peer);
}

/// The next piece of what a READ or an atomic has asked for; without one where it has failed.
Spans Engine::dataOf(Peer &peer, Packet &p, uint8_t inlined[8]) {
  Spans spans;
  if (isAtomic(p.opcode)) {
    spans.add(inlined, 8);
    return spans;
  }
  QueuePair *qp = find(p.to);
  Span source;
  if (!qp || qp->adapter->dead || qp->state != State::Ready || qp->remote != &peer) {
    p.kind = PacketKind::Silent;
  } else if (!check(*qp->adapter, p.key, p.remote, p.bytes, NBC_HCA_REMOTE_READ, source)) {
    p.kind = PacketKind::Done;
    p.syndrome = MLX5_REMOTE_ACCESS;
    failResponder(*qp, MLX5_REMOTE_ACCESS);
  } else {
    spans.add(source.at + p.offset, std::min<uint64_t>(pieceBytes, p.bytes - p.offset));
  }
  return spans;
}

/// As many as there is room for; long ones take turns with others. Where too many wait, the peer's
/// requests are not read until it has taken some.
void Engine::sendReplies(Peer &peer) {
  while (!peer.doomed && !peer.repliesFull && !peer.replies.empty()) {
    Reply &r = peer.replies.front();
    Packet p = r.packet;
    Spans data;
    if (p.kind == PacketKind::Data) data = dataOf(peer, p, r.inlined);
    r.packet = p;
    std::swap(p.from, p.to);
    Sent sent = Wire::send(peer.served, p, data);
    if (sent == Sent::Gone) return doom(peer, "");
    if (sent == Sent::Full) {
      peer.repliesFull = true;
      break;
    }
    r.packet.offset += static_cast<uint32_t>(data.bytes);
    bool more = p.kind == PacketKind::Data && !isAtomic(p.opcode) && r.packet.offset < p.bytes;
    Reply taken = peer.replies.pop();
    if (more) peer.replies.push(taken);
  }
  peer.paused = peer.replies.size() >= mostReplies;
  uint32_t events = (peer.paused ? 0u : EPOLLIN) | (peer.repliesFull ? EPOLLOUT : 0u);
  if (events == peer.servedEvents || peer.doomed) return;
  peer.servedEvents = events;
  wire->watch(peer.served, events);
}

}  // namespace hca
