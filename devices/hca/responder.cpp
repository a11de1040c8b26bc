// SPDX-License-Identifier: BSD-3-Clause
// responder.cpp - carries a message out at its target.
//
// Messages of a queue pair arrive one by one, in order. One that finds no receive is tried again
// after the time the receiver asks for, and holds up all behind it; one that finds nobody is tried
// again after the acknowledgement timeout; both a number of times.

#include <algorithm>
#include <atomic>

#include "devices/hca/engine.h"

namespace hca {

/// The bytes of a message, wherever they are now.
uint8_t Engine::payload(const QueuePair &from, const Message &m, Spans &spans) {
  if (m.gatherLate) return resolve(*from.adapter, m.list.get(), m.segments, Use::Gather, spans);
  if (m.bytes) spans.add(m.payload.get(), m.bytes);
  return 0;
}

uint64_t Engine::atomically(const Message &m, uint8_t *at) {
  std::atomic_ref<uint64_t> word(*reinterpret_cast<uint64_t *>(at));
  if (m.opcode == MLX5_ATOMIC_FA) return word.fetch_add(m.operand);
  uint64_t before = m.compare;
  word.compare_exchange_strong(before, m.operand);
  return before;
}

Time rnrDelay(uint32_t code) {
  constexpr uint32_t tensOfMicroseconds[32] = {
      65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
      48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
      2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return tensOfMicroseconds[code & 31] * (10 * microsecond);
}

void Engine::deliver(QueuePair &qp) {
  if (qp.state != State::Ready) return;
  if (qp.remote) return deliverRemotely(qp);
  while (qp.delivered < qp.inFlight.size() && qp.inFlight[qp.delivered].stage == Stage::Done)
    ++qp.delivered;
  if (qp.delivered == qp.inFlight.size()) return;
  Message &m = qp.inFlight[qp.delivered];
  if (m.due > now) return postDeliver(qp);

  Response response = respond(qp, m);
  if (response == Response::Silent) return retransmit(qp, m);
  QueuePair &peer = *find(qp.peer);
  if (response == Response::NotReady) {
    if (refusedByReceiver(qp, m, peer.adapter->rank, peer.retry.minRnrTimer)) return;
    m.syndrome = MLX5_RNR_EXCEEDED;
  } else {
    record(Event::Deliver, peer, qp.adapter->rank, m.index, isRead(m.opcode) ? 0 : m.bytes);
    if (isRead(m.opcode)) record(Event::SendStart, peer, qp.adapter->rank, m.index, m.bytes);
  }

  hearAgain(qp);
  m.stage = Stage::Answered;
  bool answerCarriesData = !m.syndrome && !m.gatherLate && m.list;
  m.due = std::max(answerTime(peer, qp, answerCarriesData ? m.bytes : 0), qp.lastAnswer);
  qp.lastAnswer = m.due;
  ++qp.delivered;
  postAnswer(qp);
  if (m.syndrome) {
    qp.stopped = true;  // what is behind it is not looked at any more
    return;
  }
  if (qp.delivered < qp.inFlight.size()) postDeliver(qp);
  wake(qp);
}

/// The receiver has answered: it may take its time with the next message, too.
void Engine::hearAgain(QueuePair &qp) {
  qp.retriesLeft = static_cast<uint8_t>(qp.retry.retryCount);
  qp.rnrLeft = static_cast<uint8_t>(qp.retry.rnrRetry);
  if (!qp.receiverNotReady) return;
  qp.receiverNotReady = false;
  notReady.erase(qp.number);
}

/// No receive was posted. False: it was tried often enough.
bool Engine::refusedByReceiver(QueuePair &qp, Message &m, uint32_t rank, uint32_t timer) {
  ++counters.rnrNaks;
  record(Event::Rnr, qp, rank, m.index, m.bytes);
  if (qp.retry.rnrRetry != 7 && qp.rnrLeft == 0) return false;
  if (qp.retry.rnrRetry != 7) --qp.rnrLeft;
  receiverNotReady(qp, m, rnrDelay(timer));
  return true;
}

/// Nobody answered: again after the timeout, or give up.
void Engine::retransmit(QueuePair &qp, Message &m) {
  if (qp.retriesLeft-- == 0) {
    m.syndrome = MLX5_RETRY_EXCEEDED;
    m.stage = Stage::Done;
    qp.stopped = qp.refused = true;
    return retire(qp);
  }
  m.due = now + ackTimeout(qp.retry);
  postDeliver(qp);
}

void Engine::receiverNotReady(QueuePair &qp, Message &m, Time delay) {
  qp.receiverNotReady = true;
  notReady.insert(qp.number);
  m.due = now + delay + (simulated ? 2 * options.cost.latency : 0);
  postDeliver(qp);
}

Response Engine::respond(QueuePair &from, Message &m) {
  QueuePair *to = find(from.peer);
  if (!to || to->adapter->dead || to->state != State::Ready || to->remote ||
      to->peer != from.number)
    return Response::Silent;

  if (consumesReceive(m.opcode)) {
    uint32_t receives = posted(*to);
    if (receives == 0) return Response::NotReady;
    if (from.retry.rnrRetry == 7 && oneIn(simulated ? 64 : 256)) {
      ++counters.forcedRnr;
      return Response::NotReady;
    }
  }

  Spans source;
  if (m.opcode != MLX5_READ && (m.syndrome = payload(from, m, source))) return Response::Answered;

  if (m.opcode != MLX5_SEND && m.opcode != MLX5_SEND_IMM && m.bytes) {
    Span target;
    if ((m.syndrome = aim(*to, m, target))) {
      failResponder(*to, m.syndrome);
      return Response::Answered;
    }
    Spans place;
    if (isWrite(m.opcode)) {
      place.add(target.at, target.bytes);
      copySpans(source, place);
      changed(*to->adapter, target);
    } else if (isAtomic(m.opcode)) {
      uint64_t before = atomically(m, target.at);
      changed(*to->adapter, target);
      m.payload.reset(new uint8_t[8]);
      memcpy(m.payload.get(), &before, 8);
    } else if (m.bytes <= longestCopy) {
      m.payload.reset(new uint8_t[m.bytes]);
      memcpy(m.payload.get(), target.at, m.bytes);
    }
  }

  if (consumesReceive(m.opcode)) m.syndrome = take(*to, m, source, 0, true);
  return Response::Answered;
}

/// The memory that a message names; what is wrong with it.
uint8_t Engine::aim(const QueuePair &to, const Message &m, Span &target) {
  uint32_t access = isWrite(m.opcode)    ? NBC_HCA_REMOTE_WRITE
                    : isAtomic(m.opcode) ? NBC_HCA_REMOTE_ATOMIC
                                         : NBC_HCA_REMOTE_READ;
  if ((to.access & access) != access) return MLX5_REMOTE_INVALID;
  if (isAtomic(m.opcode) && m.remote % 8) return MLX5_REMOTE_INVALID;
  if (!check(*to.adapter, m.key, m.remote, m.bytes, access, target)) return MLX5_REMOTE_ACCESS;
  return 0;
}

/// Receives that are there and enabled, at most as many as the ring holds.
uint32_t Engine::posted(QueuePair &qp) {
  if (!qp.receive) return 0;
  for (;;) {
    uint32_t head = loadShared(&qp.doorbell[0]), room = 1u << qp.logReceive;
    uint32_t there = static_cast<uint16_t>(head - qp.received);
    if (there > room) {
      finding(qp, "posted ", there, " receives where ", room, " fit");
      there = room;
    }
    if (qp.flags & NBC_HCA_QP_MANAGED_RECEIVES)
      there = std::min<uint32_t>(there, std::max<int>(0, ahead(qp.receiveLimit, qp.received)));
    if (there == 0 || qp.dropReceives == 0) return there;
    --qp.dropReceives;
    ++qp.received;
  }
}

/// The bytes of a message from `offset` on, into the next receive, which the last of them use up;
/// what the sender is told.
uint8_t Engine::take(QueuePair &to, const Message &m, const Spans &source, uint32_t offset,
                     bool last) {
  if (m.opcode != MLX5_WRITE_IMM && m.bytes) {
    uint8_t list[mostRoom];
    memcpy(list, to.receive + (size_t(to.received & ((1u << to.logReceive) - 1)) << to.logStride),
           to.room);
    uint32_t segments = 0;
    while (segments < to.room / MLX5_SEGMENT &&
           mlx5_get32(list + segments * MLX5_SEGMENT + MLX5_DATA_LKEY) != MLX5_INVALID_LKEY)
      ++segments;
    Spans place;
    uint8_t syndrome = resolve(*to.adapter, list, segments, Use::Scatter, place);
    if (!syndrome && place.bytes < m.bytes) syndrome = MLX5_LOCAL_LENGTH;
    if (syndrome) {
      completeReceive(to, nullptr, to.received++, syndrome);
      fail(to, syndrome);
      return syndrome == MLX5_LOCAL_LENGTH ? MLX5_REMOTE_INVALID : MLX5_REMOTE_OP;
    }
    const Spans reached = part(place, offset, source.bytes);
    copySpans(source, reached);
    changed(*to.adapter, reached);
  }
  if (last) completeReceive(to, &m, to.received++, 0);
  return 0;
}

}  // namespace hca
