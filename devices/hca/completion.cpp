// SPDX-License-Identifier: BSD-3-Clause
// completion.cpp - writes CQ entries, in the order of the send queue; errors and what they flush.
//
// A queue pair that fails is only marked here; an event flushes it. So one overrun that fails many
// queue pairs, whose flushes overrun others, needs no stack.

#include <algorithm>

#include "devices/hca/engine.h"

namespace hca {

void Engine::write(CompletionQueue &cq, uint8_t entry[MLX5_CQE], uint8_t opcode, bool solicited) {
  if (cq.failed) return;
  uint32_t size = 1u << cq.log;
  if (!(cq.flags & NBC_HCA_CQ_OVERRUN_IGNORE)) {
    uint32_t held = (cq.producer - loadShared(cq.consumer)) & MLX5_CQ_INDEX_MASK;
    if (held >= size) {
      cq.failed = true;
      tell(Notice::CqOverrun, cq.number);
      for (uint32_t number : cq.attached) {
        QueuePair &qp = *find(number);
        finding(qp, "cq ", cq.number, " is full: ", held, " entries not consumed, room for ", size);
        if (qp.state == State::Error) continue;
        fail(qp, MLX5_LOCAL_QP_OP);
        tell(Notice::QpFatal, number);
      }
      return;
    }
  }
  uint8_t *at = cq.entries + size_t(cq.producer & (size - 1)) * MLX5_CQE;
  memcpy(at, entry, MLX5_CQE_OP_OWN);
  uint8_t owner = cq.producer >> cq.log & 1;
  __atomic_store_n(at + MLX5_CQE_OP_OWN, static_cast<uint8_t>(opcode << 4 | solicited << 1 | owner),
                   __ATOMIC_RELEASE);
  cq.producer = (cq.producer + 1) & MLX5_CQ_INDEX_MASK;
  ++cq.total;
  ++counters.completions;
  changed(*cq.adapter, Span{at, MLX5_CQE});

  for (size_t i = 0; i < cq.waiters.size();) {
    QueuePair &waiter = *find(cq.waiters[i]);
    if (!mlx5_wait_satisfied(cq.producer, waiter.waitIndex)) {
      ++i;
      continue;
    }
    cq.waiters.erase(cq.waiters.begin() + static_cast<ptrdiff_t>(i));
    waiter.waiting = false;
    wake(waiter);
  }

  const bool error = opcode == MLX5_CQE_REQ_ERR || opcode == MLX5_CQE_RESP_ERR;
  tell(solicited || error ? Notice::SolicitedEntry : Notice::Entry, cq.number);
  if (cq.adapter->hostQueues && !(cq.flags & NBC_HCA_CQ_HOST)) return;
  if (simulated) {
    unseen.push_back({cq.adapter->rank, cq.number, now});
    cq.adapter->written.fetch_add(1, std::memory_order_relaxed);
  } else {
    wakeHost(*cq.adapter);
  }
}

void Engine::completeSend(QueuePair &qp, const Message &m, uint8_t syndrome) {
  uint8_t entry[MLX5_CQE] = {};
  if (!syndrome) mlx5_put32(entry + MLX5_CQE_BYTES, m.list && !m.gatherLate ? m.bytes : 0);
  entry[MLX5_CQE_SYNDROME] = syndrome;
  mlx5_put32(entry + MLX5_CQE_SOP_QPN, uint32_t(m.opcode) << 24 | qp.number);
  mlx5_put16(entry + MLX5_CQE_COUNTER, m.index);
  record(Event::Completion, qp, qp.sendQueue->number, qp.sendQueue->producer);
  write(*qp.sendQueue, entry, syndrome ? MLX5_CQE_REQ_ERR : MLX5_CQE_REQ);
}

void Engine::completeReceive(QueuePair &qp, const Message *m, uint16_t index, uint8_t syndrome) {
  uint8_t entry[MLX5_CQE] = {};
  uint8_t opcode = MLX5_CQE_RESP_ERR;
  if (!syndrome) {
    opcode = m->opcode == MLX5_SEND       ? MLX5_CQE_RESP_SEND
             : m->opcode == MLX5_SEND_IMM ? MLX5_CQE_RESP_SEND_IMM
                                          : MLX5_CQE_RESP_WR_IMM;
    if (m->opcode != MLX5_SEND) memcpy(entry + MLX5_CQE_IMM, m->immediate, 4);
    mlx5_put32(entry + MLX5_CQE_BYTES, m->bytes);
  }
  entry[MLX5_CQE_SYNDROME] = syndrome;
  mlx5_put32(entry + MLX5_CQE_SOP_QPN, qp.number);
  mlx5_put16(entry + MLX5_CQE_COUNTER, index);
  record(Event::Completion, qp, qp.receiveQueue->number, qp.receiveQueue->producer);
  write(*qp.receiveQueue, entry, opcode, !syndrome && m->solicited);
}

/// Completes whatever at the front is done; takes answers in that are back.
void Engine::retire(QueuePair &qp) {
  while (qp.state == State::Ready && !qp.inFlight.empty()) {
    Message &front = qp.inFlight.front();
    if (front.stage == Stage::Sent || front.stage == Stage::Away) return;
    if (front.stage == Stage::Answered) {
      if (front.due > now) return postAnswer(qp);
      if (!front.syndrome) front.syndrome = takeAnswer(qp, front);
    }
    Message m = qp.inFlight.pop();
    if (qp.delivered) --qp.delivered;
    if (m.syndrome || m.signalled) completeSend(qp, m, m.syndrome);
    if (m.syndrome) fail(qp, m.syndrome);
    if (qp.inFlight.empty()) passFence(qp);
  }
}

/// What its entry waits for has come, or it is looked at again and waits on.
void Engine::passFence(QueuePair &qp) {
  if (!qp.fenced) return;
  qp.fenced = false;
  wake(qp);
}

uint8_t Engine::scatterAnswer(QueuePair &qp, Message &m) {
  Spans place, answer;
  if (uint8_t syndrome = resolve(*qp.adapter, m.list.get(), m.segments, Use::Scatter, place))
    return syndrome;
  if (m.payload) {
    answer.add(m.payload.get(), m.bytes);
  } else if (m.bytes) {  // too long to have been copied
    QueuePair *peer = find(qp.peer);
    Span source;
    if (!peer || !check(*peer->adapter, m.key, m.remote, m.bytes, NBC_HCA_REMOTE_READ, source))
      return MLX5_REMOTE_ACCESS;
    answer.add(source.at, source.bytes);
  }
  copySpans(answer, place);
  changed(*qp.adapter, place);
  return 0;
}

/// READ and atomics: the answer goes to memory; from another process it has gone there already.
uint8_t Engine::takeAnswer(QueuePair &qp, Message &m) {
  if (!m.list || m.gatherLate) return 0;
  uint8_t syndrome = qp.remote ? 0 : scatterAnswer(qp, m);
  if (!syndrome) record(Event::Deliver, qp, rankOfPeer(qp), m.index, m.bytes);
  if (--qp.reads == 0) passFence(qp);
  return syndrome;
}

void Engine::fail(QueuePair &qp, uint8_t syndrome) {
  if (qp.state == State::Error) return;
  if (qp.state == State::Ready) sayFarewell(qp);
  qp.state = State::Error;
  stopWaiting(qp);
  notReady.erase(qp.number);
  ++counters.errors;
  record(Event::Error, qp, 0, syndrome);
  slot(qp.number)->failed.store(syndrome, std::memory_order_release);
  postFlush(qp);
}

/// Because of what a peer has asked for. Its own completions, if there are any, say no more than
/// that they were flushed.
void Engine::failResponder(QueuePair &qp, uint8_t syndrome) {
  if (qp.state == State::Error) return;
  fail(qp, syndrome);
  tell(syndrome == MLX5_REMOTE_ACCESS ? Notice::QpAccess : Notice::QpRequest, qp.number);
}

/// One error completion for each entry that was started, is enabled, or waits to receive, unless
/// that is an SRQ's: there it waits on.
void Engine::flush(QueuePair &qp) {
  if (qp.state != State::Error) return;
  while (!qp.inFlight.empty()) completeSend(qp, qp.inFlight.pop(), MLX5_FLUSHED);
  qp.delivered = qp.reads = qp.away = 0;

  for (int left; (left = ahead(qp.limit, qp.next)) > 0;) {
    const uint8_t *entry = qp.send + (qp.next & ((1u << qp.logSend) - 1)) * size_t(MLX5_WQEBB);
    Message m;
    m.index = qp.next;
    m.opcode = entry[MLX5_CTRL_OPCODE];
    int blocks = ((entry[MLX5_CTRL_DS] & 63) + 3) / 4;
    qp.next = static_cast<uint16_t>(qp.next + std::clamp(blocks, 1, left));
    completeSend(qp, m, MLX5_FLUSHED);
  }
  if (qp.flags & NBC_HCA_QP_SHARED_RECEIVES) return;
  for (uint32_t receives = posted(qp); receives; --receives)
    completeReceive(qp, nullptr, qp.received++, MLX5_FLUSHED);
}

}  // namespace hca
