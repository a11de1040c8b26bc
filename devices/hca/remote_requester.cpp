// SPDX-License-Identifier: BSD-3-Clause
// remote_requester.cpp - messages to another process go out in pieces, and answers come back.
//
// Messages of a queue pair go in order, some ahead of the answers to those before. One that finds
// no receive is refused, and so are, in silence, those behind it that are on their way already: all
// go again from there (go-back-N). Each attempt has an epoch, so that a refusal is taken for the
// attempt that it was for. What was carried out is told once and never goes again.

#include <sys/epoll.h>

#include <algorithm>

#include "devices/hca/engine.h"

namespace hca {

namespace {

constexpr uint32_t window = 16;  // messages of a queue pair on their way

/// What a peer may tell of a message that failed there.
bool isRemote(uint8_t syndrome) {
  return syndrome == MLX5_REMOTE_INVALID || syndrome == MLX5_REMOTE_ACCESS ||
         syndrome == MLX5_REMOTE_OP;
}

}  // namespace

Spans part(const Spans &whole, uint64_t offset, uint64_t bytes) {
  Spans some;
  for (int i = 0; i < whole.count && bytes; ++i) {
    const Span &s = whole.span[i];
    if (offset >= s.bytes) {
      offset -= s.bytes;
      continue;
    }
    uint64_t n = std::min(bytes, s.bytes - offset);
    some.add(s.at + offset, n);
    bytes -= n;
    offset = 0;
  }
  return some;
}

void Engine::deliverRemotely(QueuePair &qp) {
  while (qp.delivered < qp.inFlight.size() && qp.inFlight[qp.delivered].stage != Stage::Sent)
    ++qp.delivered;
  if (qp.delivered == qp.inFlight.size() || qp.refused) return;
  Message &m = qp.inFlight[qp.delivered];
  if (m.due > now) return postDeliver(qp);
  if (qp.remote->lost) return retransmit(qp, m);
  if (!qp.wanting) {
    qp.wanting = true;
    qp.remote->wanting.push(qp.number);
  }
  pump(*qp.remote);
}

void Engine::sendFarewells(Peer &peer) {
  while (!peer.doomed && !peer.full && !peer.farewells.empty()) {
    const Farewell &f = peer.farewells.front();
    Packet p = {};
    p.kind = PacketKind::Farewell;
    p.from = f.from;
    p.to = f.to;
    switch (Wire::send(peer.requests, p, {})) {
      case Sent::Whole:
        peer.farewells.pop();
        break;
      case Sent::Full:
        waitForRoom(peer);
        break;
      case Sent::Gone:
        doom(peer, "");
        break;
    }
  }
}

void Engine::waitForRoom(Peer &peer) {
  peer.full = true;
  wire->watch(peer.requests, EPOLLIN | EPOLLOUT);
}

/// As many pieces as there is room for.
void Engine::pump(Peer &peer) {
  sendFarewells(peer);
  while (!peer.doomed && !peer.full && !peer.wanting.empty()) {
    QueuePair *qp = find(peer.wanting.front());
    bool able = qp && qp->state == State::Ready && !qp->adapter->dead;
    switch (able ? transmit(*qp) : Transmit::Idle) {
      case Transmit::More:
        peer.wanting.push(peer.wanting.pop());
        break;
      case Transmit::Idle:
        if (qp) qp->wanting = false;
        peer.wanting.pop();
        break;
      case Transmit::Full:
        waitForRoom(peer);
        break;
      case Transmit::Gone:
        doom(peer, "");
        break;
    }
  }
}

/// One piece of the next message.
Transmit Engine::transmit(QueuePair &qp) {
  while (qp.delivered < qp.inFlight.size() && qp.inFlight[qp.delivered].stage != Stage::Sent)
    ++qp.delivered;
  if (qp.delivered == qp.inFlight.size() || qp.refused || qp.away >= window) return Transmit::Idle;
  Message &m = qp.inFlight[qp.delivered];
  if (m.due > now) {
    postDeliver(qp);
    return Transmit::Idle;
  }
  Spans source;
  if (!isRead(m.opcode))
    if (uint8_t syndrome = payload(qp, m, source)) {
      m.syndrome = syndrome;
      m.stage = Stage::Done;
      qp.stopped = qp.refused = true;
      retire(qp);
      return Transmit::Idle;
    }

  if (m.moved == 0) m.epoch = qp.epoch;
  uint32_t bytes = isRead(m.opcode) ? 0 : std::min(pieceBytes, m.bytes - m.moved);
  Packet p = {.kind = PacketKind::Request,
              .opcode = m.opcode,
              .syndrome = 0,
              .flags = static_cast<uint8_t>((qp.retry.rnrRetry == 7 ? packetPatient : 0) |
                                            (m.solicited ? packetSolicited : 0)),
              .from = qp.number,
              .to = qp.peer,
              .sequence = m.sequence,
              .epoch = m.epoch,
              .bytes = m.bytes,
              .offset = m.moved,
              .key = m.key,
              .remote = m.remote,
              .operand = m.operand,
              .compare = m.compare,
              .immediate = {},
              .timer = 0};
  memcpy(p.immediate, m.immediate, sizeof p.immediate);
  Sent sent = Wire::send(qp.remote->requests, p, part(source, m.moved, bytes));
  if (sent != Sent::Whole) return sent == Sent::Full ? Transmit::Full : Transmit::Gone;
  m.moved += bytes;
  if (isRead(m.opcode) || m.moved == m.bytes) {
    m.stage = Stage::Away;
    m.moved = 0;  // of a READ: what has arrived
    ++qp.delivered;
    ++qp.away;
  }
  return Transmit::More;
}

/// Whatever has gone from message i on goes again.
void Engine::goBack(QueuePair &qp, uint32_t i) {
  ++qp.epoch;
  qp.delivered = i;
  for (; i < qp.inFlight.size(); ++i) {
    Message &m = qp.inFlight[i];
    if (m.stage == Stage::Away) {
      m.stage = Stage::Sent;
      --qp.away;
    }
    if (m.stage == Stage::Sent) m.moved = 0;
  }
}

/// Message i was carried out, or failed.
void Engine::answered(QueuePair &qp, uint32_t i, uint8_t syndrome) {
  Message &m = qp.inFlight[i];
  if (m.stage == Stage::Away) --qp.away;
  m.stage = Stage::Answered;
  m.syndrome = syndrome;
  m.due = qp.lastAnswer = std::max(now + holdBack(), qp.lastAnswer);
  hearAgain(qp);
  postAnswer(qp);
  if (syndrome) {
    qp.stopped = qp.refused = true;  // what is behind it is not looked at any more
    return;
  }
  postDeliver(qp);
  wake(qp);
}

/// False: no adapter would send this.
bool Engine::takeReply(Peer &peer, const Packet &p, const uint8_t *bytes, uint32_t count) {
  QueuePair *qp = find(p.to);
  if (!qp || qp->remote != &peer || qp->peer != p.from || qp->state != State::Ready ||
      qp->adapter->dead)
    return true;  // was destroyed or has failed meanwhile
  uint32_t i = 0, end = std::min(qp->delivered + 1, qp->inFlight.size());
  auto asked = [&](const Message &m) {
    return m.sequence == p.sequence &&
           (m.stage == Stage::Away || (m.stage == Stage::Sent && m.moved));
  };
  while (i < end && !asked(qp->inFlight[i])) ++i;
  if (i == end) return true;
  Message &m = qp->inFlight[i];
  bool whole = m.stage == Stage::Away;

  switch (p.kind) {
    case PacketKind::Data: {
      if (!isRead(m.opcode) || count == 0 || p.offset != m.moved || count > m.bytes - m.moved)
        return false;
      Spans place, source;
      uint8_t syndrome = resolve(*qp->adapter, m.list.get(), m.segments, Use::Scatter, place);
      if (!syndrome) {
        source.add(const_cast<uint8_t *>(bytes), count);
        const Spans reached = part(place, m.moved, count);
        copySpans(source, reached);
        changed(*qp->adapter, reached);
        m.moved += count;
      }
      if (syndrome || m.moved == m.bytes) answered(*qp, i, syndrome);
      return true;
    }
    case PacketKind::Done:
      if (p.syndrome ? !isRemote(p.syndrome) : !whole || (isRead(m.opcode) && m.bytes))
        return false;
      answered(*qp, i, p.syndrome);
      return true;
    case PacketKind::NotReady:
    case PacketKind::Silent:
      if (p.epoch != m.epoch || qp->refused) return true;
      goBack(*qp, i);
      if (p.kind == PacketKind::Silent)
        retransmit(*qp, m);
      else if (!refusedByReceiver(*qp, m, qp->peerRank, p.timer))
        answered(*qp, i, MLX5_RNR_EXCEEDED);
      return true;
    case PacketKind::Hello:
    case PacketKind::Request:
    case PacketKind::Farewell:
      break;
  }
  return false;
}

}  // namespace hca
