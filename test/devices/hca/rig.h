// SPDX-License-Identifier: BSD-3-Clause
// rig.h - queues of a fabric with the host's half of the work: write entries, ring, poll.
//
//   Rig rig(2);                                     // ranks, simulated time
//   Queue &a = rig.queue(0), &b = rig.queue(1);     // CQs of their own; connect(a, b)
//   a.post(send({rig.segment(0, x, 8)}).signal());
//   a.ring();
//   rig.fabric.run();
//   std::optional<Cqe> done = a.sendCq.poll();

#pragma once

#include <cstring>
#include <deque>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <vector>

#include "devices/hca/hca.h"

namespace hca::test {

inline void demand(bool what) {
  if (!what) throw std::runtime_error("the rig could not be set up");
}

struct Cqe {
  uint8_t opcode, syndrome, sendOpcode;
  uint32_t bytes, immediate, qp;
  uint16_t counter;
};

struct Cq {
  nbc_hca_cq cq = {};
  uint32_t next = 0;
  uint32_t number() const { return cq.number; }

  std::optional<Cqe> poll(bool consume = true) {
    const uint8_t *e = const_cast<const uint8_t *>(cq.entries) +
                       size_t(next & ((1u << cq.log_entries) - 1)) * MLX5_CQE;
    uint8_t last = __atomic_load_n(e + MLX5_CQE_OP_OWN, __ATOMIC_ACQUIRE);
    if (last >> 4 == MLX5_CQE_INVALID || (last & 1) != (next >> cq.log_entries & 1)) return {};
    uint32_t sop = mlx5_get32(e + MLX5_CQE_SOP_QPN);
    Cqe out = {static_cast<uint8_t>(last >> 4), e[MLX5_CQE_SYNDROME],
               static_cast<uint8_t>(sop >> 24), mlx5_get32(e + MLX5_CQE_BYTES),
               mlx5_get32(e + MLX5_CQE_IMM),    sop & 0xffffff,
               mlx5_get16(e + MLX5_CQE_COUNTER)};
    next = (next + 1) & MLX5_CQ_INDEX_MASK;
    if (consume) __atomic_store_n(cq.consumer, __builtin_bswap32(next), __ATOMIC_RELEASE);
    return out;
  }
  int count() {
    int n = 0;
    while (poll()) ++n;
    return n;
  }
};

/// The bytes of an entry; index and queue pair are filled in when it is posted.
struct Wqe {
  std::vector<uint8_t> bytes;

  explicit Wqe(uint8_t opcode, uint8_t opmod = 0) : bytes(MLX5_SEGMENT) {
    bytes[MLX5_CTRL_OPCODE] = opcode;
    bytes[MLX5_CTRL_OPMOD] = opmod;
  }
  Wqe &signal() {
    bytes[MLX5_CTRL_FLAGS] |= MLX5_CE_ALWAYS;
    return *this;
  }
  Wqe &fence() {
    bytes[MLX5_CTRL_FLAGS] |= MLX5_FENCE_SMALL;
    return *this;
  }
  Wqe &immediate(uint32_t v) {
    mlx5_put32(&bytes[MLX5_CTRL_IMM], v);
    return *this;
  }
  uint8_t *segment() {
    bytes.resize(bytes.size() + MLX5_SEGMENT);
    return &bytes[bytes.size() - MLX5_SEGMENT];
  }
  Wqe &remote(const void *at, uint32_t key) {
    uint8_t *s = segment();
    mlx5_put64(s + MLX5_RADDR_ADDR, reinterpret_cast<uintptr_t>(at));
    mlx5_put32(s + MLX5_RADDR_RKEY, key);
    return *this;
  }
  Wqe &data(const void *at, uint32_t count, uint32_t key) {
    uint8_t *s = segment();
    mlx5_put32(s + MLX5_DATA_COUNT, count);
    mlx5_put32(s + MLX5_DATA_LKEY, key);
    mlx5_put64(s + MLX5_DATA_ADDR, reinterpret_cast<uintptr_t>(at));
    return *this;
  }
  Wqe &operands(uint64_t operand, uint64_t compare) {
    uint8_t *s = segment();
    mlx5_put64(s, operand);
    mlx5_put64(s + 8, compare);
    return *this;
  }
  Wqe &inlined(const void *at, uint32_t count) {
    size_t begin = bytes.size();
    bytes.resize(begin + (4 + count + 15) / 16 * 16);
    mlx5_put32(&bytes[begin], count | MLX5_INLINE);
    memcpy(&bytes[begin + 4], at, count);
    return *this;
  }
  Wqe &across(uint32_t index, uint32_t number) {
    uint8_t *s = segment();
    mlx5_put32(s + MLX5_CD_INDEX, index);
    mlx5_put32(s + MLX5_CD_NUMBER, number);
    return *this;
  }
};

inline Wqe nop() {
  return Wqe(MLX5_NOP);
}
inline Wqe send() {
  return Wqe(MLX5_SEND);
}
inline Wqe wait(const Cq &cq, uint32_t index) {
  return Wqe(MLX5_WAIT).across(index, cq.number());
}

struct Queue {
  nbc_hca *hca = nullptr;
  nbc_hca_qp qp = {};
  Cq *sendCq = nullptr, *receiveCq = nullptr;
  uint16_t posted = 0, receives = 0;  // WQEBBs, receives
  uint32_t number() const { return qp.number; }

  /// Writes an entry behind the last; returns its index.
  uint16_t post(Wqe wqe) {
    uint16_t index = posted;
    uint32_t segments = static_cast<uint32_t>(wqe.bytes.size() / MLX5_SEGMENT);
    mlx5_put16(&wqe.bytes[MLX5_CTRL_INDEX], index);
    mlx5_put32(&wqe.bytes[MLX5_CTRL_QPN], qp.number << 8 | segments);
    wqe.bytes.resize((wqe.bytes.size() + MLX5_WQEBB - 1) / MLX5_WQEBB * MLX5_WQEBB);
    postBytes(wqe.bytes);
    return index;
  }
  void postBytes(const std::vector<uint8_t> &bytes) {
    for (size_t i = 0; i < bytes.size(); i += MLX5_WQEBB, ++posted)
      memcpy(qp.sq + size_t(posted & ((1u << qp.log_sq) - 1)) * MLX5_WQEBB, &bytes[i], MLX5_WQEBB);
  }
  void ring() {
    __atomic_store_n(&qp.doorbell[1], __builtin_bswap32(posted), __ATOMIC_RELEASE);
    hca->ops->doorbell(hca, qp.number, 0);
  }
  struct Part {
    const void *at;
    uint32_t bytes, key;
  };
  void receive(std::initializer_list<Part> parts = {}) {
    uint8_t *r = qp.rq + (size_t(receives & ((1u << qp.log_rq) - 1)) << qp.log_stride);
    memset(r, 0, size_t(1) << qp.log_stride);
    for (const Part &p : parts) {
      mlx5_put32(r + MLX5_DATA_COUNT, p.bytes);
      mlx5_put32(r + MLX5_DATA_LKEY, p.key);
      mlx5_put64(r + MLX5_DATA_ADDR, reinterpret_cast<uintptr_t>(p.at));
      r += MLX5_SEGMENT;
    }
    if (parts.size() < (size_t(1) << qp.log_stride) / MLX5_SEGMENT)
      mlx5_put32(r + MLX5_DATA_LKEY, MLX5_INVALID_LKEY);
    ++receives;
    __atomic_store_n(&qp.doorbell[0], __builtin_bswap32(receives), __ATOMIC_RELEASE);
  }
  uint32_t failed() const { return hca->ops->failed(hca, qp.number); }
};

inline Wqe enable(const Queue &target, uint16_t limit) {
  return Wqe(MLX5_SEND_EN).across(limit, target.number());
}

constexpr uint32_t anyAccess = NBC_HCA_REMOTE_WRITE | NBC_HCA_REMOTE_READ | NBC_HCA_REMOTE_ATOMIC;

/// How a queue pair is made; the defaults serve most tests.
struct Shape {
  uint32_t flags = 0;
  uint32_t logSend = 6, logReceive = 4, logStride = 6;
  Cq *sendCq = nullptr, *receiveCq = nullptr;  // null: one of its own
};

struct Rig {
  Fabric fabric;
  std::vector<nbc_hca *> ranks;
  std::deque<Cq> cqs;
  std::deque<Queue> queues;

  static Options simulated() {
    Options o;
    o.mode = Mode::Simulated;
    return o;
  }

  explicit Rig(int count, const Options &options = simulated()) : fabric(options) {
    for (int i = 0; i < count; ++i) ranks.push_back(fabric.addAdapter());
  }

  Cq &cq(int rank, uint32_t log = 6, uint32_t flags = NBC_HCA_CQ_OVERRUN_IGNORE) {
    Cq &c = cqs.emplace_back();
    demand(ranks[rank]->ops->create_cq(ranks[rank], log, flags, &c.cq) == 0);
    return c;
  }

  Queue &queue(int rank, const Shape &shape = {}) {
    Queue &q = queues.emplace_back();
    q.hca = ranks[rank];
    q.sendCq = shape.sendCq ? shape.sendCq : &cq(rank);
    q.receiveCq = shape.receiveCq ? shape.receiveCq : &cq(rank);
    nbc_hca_qp_request want = {shape.logSend,      shape.logReceive,      shape.logStride,
                               q.sendCq->number(), q.receiveCq->number(), shape.flags};
    demand(q.hca->ops->create_qp(q.hca, &want, &q.qp) == 0);
    return q;
  }

  void connect(Queue &a, Queue &b) {
    uint8_t address[32];
    b.hca->ops->address(b.hca, address);
    demand(a.hca->ops->connect_qp(a.hca, a.number(), address, b.number()) == 0);
    if (&a == &b) return;
    a.hca->ops->address(a.hca, address);
    demand(b.hca->ops->connect_qp(b.hca, b.number(), address, a.number()) == 0);
  }

  /// A queue to oneself that may hold WAIT, SEND_EN and calc.
  Queue &management(int rank) {
    Queue &q = queue(rank, {.flags = NBC_HCA_QP_CROSS_CHANNEL});
    connect(q, q);
    return q;
  }

  uint32_t key(int rank, void *at, size_t bytes, uint32_t access = anyAccess) {
    uint32_t lkey, rkey;
    demand(ranks[rank]->ops->register_memory(ranks[rank], at, bytes, access, &lkey, &rkey) == 0);
    return lkey;
  }
};

}  // namespace hca::test
