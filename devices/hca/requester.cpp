// SPDX-License-Identifier: BSD-3-Clause
// requester.cpp - executes one entry of a send queue.
//
// An entry is copied out of its ring first: what the host does to the ring meanwhile cannot change
// what was checked. What makes no sense is answered by an error completion, in its turn behind
// those of earlier entries, and stops the queue.

#include <algorithm>

#include "devices/hca/engine.h"

namespace hca {

void Engine::step(QueuePair &qp) {
  if (qp.state != State::Ready || qp.stopped || qp.receiverNotReady || qp.waiting) return;
  int left = ahead(qp.limit, qp.next);
  if (left <= 0) return;

  alignas(16) uint8_t bytes[64 * MLX5_SEGMENT];
  uint32_t ring = 1u << qp.logSend;
  auto fetch = [&](uint32_t block) {
    memcpy(bytes + block * MLX5_WQEBB,
           qp.send + ((qp.next + block) & (ring - 1)) * size_t(MLX5_WQEBB), MLX5_WQEBB);
  };
  fetch(0);
  Entry entry = {bytes, bytes[MLX5_CTRL_DS] & 63u};
  uint32_t blocks = std::max(1u, (entry.segments + 3) / 4);
  if (blocks > ring) entry.segments = 0, blocks = 1;
  if (static_cast<int>(blocks) > left) {
    if (!qp.partial) finding(qp, "enabled ", left, " of the ", blocks, " blocks of an entry");
    qp.partial = true;
    return;
  }
  for (uint32_t i = 1; i < blocks; ++i) fetch(i);

  if ((bytes[MLX5_CTRL_FLAGS] & MLX5_FENCE_MASK) && qp.reads) {
    qp.fenced = true;
    return;
  }
  if (execute(qp, entry, blocks)) wake(qp);
}

bool Engine::execute(QueuePair &qp, const Entry &entry, uint32_t blocks) {
  uint16_t index = qp.next;
  uint8_t syndrome = MLX5_LOCAL_QP_OP;
  bool local = true;
  if (entry.segments != 0) switch (entry.opcode()) {
      case MLX5_NOP:
        syndrome = 0;
        break;
      case MLX5_WAIT:
        syndrome = wait(qp, entry);
        break;
      case MLX5_SEND_EN:
      case MLX5_RECV_EN:
        syndrome = enable(qp, entry);
        break;
      case MLX5_SEND:
      case MLX5_SEND_IMM:
      case MLX5_WRITE:
      case MLX5_WRITE_IMM:
      case MLX5_READ:
      case MLX5_ATOMIC_CS:
      case MLX5_ATOMIC_FA:
        syndrome = start(qp, entry);
        local = syndrome != 0;
        break;
    }
  if (syndrome == blocked) return false;

  uint16_t written = mlx5_get16(entry.bytes + MLX5_CTRL_INDEX);
  if (written != index) finding(qp, "wqe_index ", written, " differs from counter ", index);
  uint32_t number = mlx5_get32(entry.bytes + MLX5_CTRL_QPN) >> 8;
  if (number != qp.number) finding(qp, "entry ", index, " names queue pair ", number);

  ++counters.entries;
  qp.next = static_cast<uint16_t>(index + blocks);
  if (local) completeLocally(qp, entry, index, syndrome);
  return true;
}

void Engine::completeLocally(QueuePair &qp, const Entry &entry, uint16_t index, uint8_t syndrome) {
  bool last = qp.inFlight.empty() && syndrome == 0;
  if (last && !entry.signalled()) return;
  Message m;
  m.index = index;
  m.opcode = entry.opcode();
  m.syndrome = syndrome;
  m.stage = Stage::Done;
  m.signalled = entry.signalled();
  if (last) {
    completeSend(qp, m, 0);
    return;
  }
  if (syndrome) qp.stopped = true;
  qp.inFlight.push(std::move(m));
  retire(qp);
}

uint8_t Engine::enable(QueuePair &qp, const Entry &entry) {
  if (!(qp.flags & NBC_HCA_QP_CROSS_CHANNEL) || entry.opmod() != 0 || entry.segments != 2)
    return MLX5_LOCAL_QP_OP;
  const uint8_t *segment = entry.bytes + MLX5_SEGMENT;
  const bool receives = entry.opcode() == MLX5_RECV_EN;
  uint16_t limit = static_cast<uint16_t>(mlx5_get32(segment + MLX5_CD_INDEX));
  uint32_t number = mlx5_get32(segment + MLX5_CD_NUMBER) & 0xffffff;
  QueuePair *target = find(number);
  if (!target || target->adapter != qp.adapter) return MLX5_LOCAL_QP_OP;
  // A queue whose messages need the receives that it enables itself behind them is stuck.
  if (receives && !qp.inFlight.empty()) {
    qp.fenced = true;
    return blocked;
  }

  ++counters.enables;
  record(Event::Enable, qp, number, limit);
  if (!(target->flags & (receives ? NBC_HCA_QP_MANAGED_RECEIVES : NBC_HCA_QP_MANAGED_SEND))) {
    finding(qp, receives ? "RECV_EN" : "SEND_EN", " of queue pair ", number,
            ", which is not managed");
    return 0;
  }
  uint16_t &reached = receives ? target->receiveLimit : target->limit;
  if (ahead(limit, reached) <= 0) return 0;
  reached = limit;
  // Hosts need not write the doorbell record of managed sends; where one does, it can be held
  // against it.
  uint16_t posted = static_cast<uint16_t>(loadShared(&target->doorbell[receives ? 0 : 1]));
  if ((receives || posted != 0) && ahead(limit, posted) > 0)
    finding(*target, "enabled up to ", limit, ", beyond the posted entries, up to ", posted);
  if (!receives) target->partial = false;
  if (target->state == State::Error)
    postFlush(*target);
  else if (!receives)  // who finds no receive asks again
    wake(*target);
  return 0;
}

/// The operations that send a message. 0: it is on its way.
uint8_t Engine::start(QueuePair &qp, const Entry &entry) {
  uint8_t opcode = entry.opcode(), calc = entry.opmod();
  bool addressed = opcode != MLX5_SEND && opcode != MLX5_SEND_IMM;
  uint32_t header = 1 + addressed + isAtomic(opcode);
  if (entry.segments < header || (isAtomic(opcode) && entry.segments != 4)) return MLX5_LOCAL_QP_OP;
  if (calc && (isRead(opcode) || calc > MLX5_CALC_XOR || !(options.facts.calc & 1u << calc) ||
               !(qp.flags & NBC_HCA_QP_CROSS_CHANNEL)))
    return MLX5_LOCAL_QP_OP;

  Message m;
  m.index = qp.next;
  m.opcode = opcode;
  m.signalled = entry.signalled();
  m.solicited = entry.solicited();
  memcpy(m.immediate, entry.bytes + MLX5_CTRL_IMM, 4);
  const uint8_t *segment = entry.bytes + MLX5_SEGMENT;
  if (addressed) {
    m.remote = mlx5_get64(segment + MLX5_RADDR_ADDR);
    m.key = mlx5_get32(segment + MLX5_RADDR_RKEY);
    segment += MLX5_SEGMENT;
  }
  if (isAtomic(opcode)) {
    m.operand = mlx5_get64(segment);
    m.compare = mlx5_get64(segment + 8);
    segment += MLX5_SEGMENT;
  }

  uint32_t segments = entry.segments - header;
  if (isRead(opcode)) {
    Spans spans;
    for (uint32_t i = 0; i < segments; ++i)
      if (mlx5_get32(segment + i * MLX5_SEGMENT) & MLX5_INLINE) return MLX5_LOCAL_QP_OP;
    if (segments > options.facts.max_scatter) return MLX5_LOCAL_QP_OP;
    if (uint8_t syndrome = resolve(*qp.adapter, segment, segments, Use::Scatter, spans))
      return syndrome;
    if (spans.bytes > longestMessage || (isAtomic(opcode) && spans.bytes != 8))
      return MLX5_LOCAL_LENGTH;
    m.bytes = static_cast<uint32_t>(spans.bytes);
    m.segments = segments;
    m.list = std::make_unique<uint8_t[]>(segments * MLX5_SEGMENT);
    memcpy(m.list.get(), segment, segments * MLX5_SEGMENT);
    ++qp.reads;
  } else if (uint8_t syndrome = gather(qp, segment, segments, calc, m)) {
    return syndrome;
  }

  // Who the peer is matters here only for the time it takes; a peer that is gone answers nothing.
  QueuePair *peer = qp.remote ? nullptr : find(qp.peer);
  const QueuePair &target = peer ? *peer : qp;
  uint64_t onTheWire = isRead(opcode) ? 0 : m.bytes;
  m.due = qp.lastArrival = std::max(transit(qp, target, onTheWire) + holdBack(), qp.lastArrival);
  ++counters.messages;
  counters.bytes += m.bytes;
  record(Event::SendStart, qp, rankOfPeer(qp), m.index, onTheWire);
  m.sequence = qp.nextSequence++;
  qp.inFlight.push(std::move(m));
  postDeliver(qp);
  return 0;
}

uint8_t Engine::gather(QueuePair &qp, const uint8_t *list, uint32_t segments, uint8_t calc,
                       Message &m) {
  Spans spans;
  bool inlined = false;
  uint32_t gathered = 0;
  const uint8_t *end = list + segments * MLX5_SEGMENT;
  for (const uint8_t *s = list; s < end;) {
    uint32_t bytes = mlx5_get32(s + MLX5_DATA_COUNT);
    if (bytes & MLX5_INLINE) {
      bytes &= ~MLX5_INLINE;
      if (bytes > end - s - 4 || calc) return MLX5_LOCAL_QP_OP;
      if (bytes) spans.add(const_cast<uint8_t *>(s) + 4, bytes);
      inlined = true;
      s += (4 + bytes + MLX5_SEGMENT - 1) / MLX5_SEGMENT * MLX5_SEGMENT;
      continue;
    }
    if (++gathered > options.facts.max_gather) return MLX5_LOCAL_QP_OP;
    Span span;
    if (bytes == 0) {
      finding(qp, "entry ", qp.next,
              " gathers a segment of 0 bytes, which hardware may take for 2^31");
    } else if (!check(*qp.adapter, mlx5_get32(s + MLX5_DATA_LKEY), mlx5_get64(s + MLX5_DATA_ADDR),
                      bytes, 0, span)) {
      return MLX5_LOCAL_PROT;
    } else {
      if (calc && (bytes % 16 || reinterpret_cast<uintptr_t>(span.at) % 16))
        return MLX5_LOCAL_QP_OP;
      spans.add(span.at, bytes);
    }
    s += MLX5_SEGMENT;
  }
  if (spans.bytes > longestMessage) return MLX5_LOCAL_LENGTH;

  if (calc) {
    if (spans.bytes == 0) return MLX5_LOCAL_QP_OP;
    m.bytes = 16;
    m.payload = std::make_unique<uint8_t[]>(16);
    reduceSlots(calc, spans, m.payload.get());
    return 0;
  }

  m.bytes = static_cast<uint32_t>(spans.bytes);
  if (m.bytes == 0) return 0;
  m.gatherLate = !inlined && (spans.bytes > longestCopy || oneIn(2));
  if (m.gatherLate) {
    m.segments = segments;
    m.list = std::make_unique<uint8_t[]>(segments * MLX5_SEGMENT);
    memcpy(m.list.get(), list, segments * MLX5_SEGMENT);
    return 0;
  }
  m.payload.reset(new uint8_t[m.bytes]);
  Spans copy;
  copy.add(m.payload.get(), m.bytes);
  copySpans(spans, copy);
  return 0;
}

}  // namespace hca
