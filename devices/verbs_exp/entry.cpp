// SPDX-License-Identifier: BSD-3-Clause
// entry.cpp - one work request becomes one work queue entry.
//
//   SEND, WRITE        control [, remote address] [, data segments | the bytes, inline]
//   READ, atomics      control, remote address [, operands], data segments
//   WAIT, enables      control, cross-channel segment
//   NOP                control
//
// Counts of waits and enables are relative: to the end of the group before, which the request that
// says WAIT_EN_LAST closes. Within a group all are measured from there, so several may wait for the
// same entry; the group is as long as the longest count in it. A CQ's first entry is number 0, and
// hardware passes a wait once the entry that it names is there.

#include <algorithm>
#include <bit>
#include <cstring>

#include "devices/verbs_exp/engine.h"

namespace verbs_exp {

namespace {

enum class Form : uint8_t { Message, Read, Atomic, Wait, Enable, Nothing };

constexpr struct Operation {
  uint32_t asked;  // ibv_exp_wr_opcode
  mlx5_opcode entry;
  Form form;
  bool addressed, immediate;
} operations[] = {
    {IBV_EXP_WR_SEND, MLX5_SEND, Form::Message, false, false},
    {IBV_EXP_WR_SEND_WITH_IMM, MLX5_SEND_IMM, Form::Message, false, true},
    {IBV_EXP_WR_RDMA_WRITE, MLX5_WRITE, Form::Message, true, false},
    {IBV_EXP_WR_RDMA_WRITE_WITH_IMM, MLX5_WRITE_IMM, Form::Message, true, true},
    {IBV_EXP_WR_RDMA_READ, MLX5_READ, Form::Read, true, false},
    {IBV_EXP_WR_ATOMIC_CMP_AND_SWP, MLX5_ATOMIC_CS, Form::Atomic, true, false},
    {IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, MLX5_ATOMIC_FA, Form::Atomic, true, false},
    {IBV_EXP_WR_CQE_WAIT, MLX5_WAIT, Form::Wait, false, false},
    {IBV_EXP_WR_SEND_ENABLE, MLX5_SEND_EN, Form::Enable, false, false},
    {IBV_EXP_WR_RECV_ENABLE, MLX5_RECV_EN, Form::Enable, false, false},
    {IBV_EXP_WR_NOP, MLX5_NOP, Form::Nothing, false, false},
};

/// An entry as it grows, segment by segment.
struct Entry {
  uint8_t bytes[64 * MLX5_SEGMENT];
  uint32_t segments = 0;

  uint8_t *segment() {
    uint8_t *s = bytes + MLX5_SEGMENT * segments++;
    memset(s, 0, MLX5_SEGMENT);
    return s;
  }
  void data(const ibv_sge &s) {
    uint8_t *d = segment();
    mlx5_put32(d + MLX5_DATA_COUNT, s.length);
    mlx5_put32(d + MLX5_DATA_LKEY, s.lkey);
    mlx5_put64(d + MLX5_DATA_ADDR, s.addr);
  }
  void inlined(const ibv_exp_send_wr &wr, uint32_t length) {
    if (length == 0) return;
    uint8_t *to = bytes + MLX5_SEGMENT * segments;
    segments += (4 + length + MLX5_SEGMENT - 1) / MLX5_SEGMENT;
    mlx5_put32(to, length | MLX5_INLINE);
    to += 4;
    for (int i = 0; i < wr.num_sge; ++i) {
      if (wr.sg_list[i].length == 0) continue;
      memcpy(to, reinterpret_cast<const void *>(wr.sg_list[i].addr), wr.sg_list[i].length);
      to += wr.sg_list[i].length;
    }
  }
};

/// Bytes of a request that carries data; false: this queue pair cannot.
bool measure(const Qp &qp, const ibv_exp_send_wr &wr, const Operation &operation, uint32_t &bytes) {
  uint64_t sum = 0;
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > qp.cap.max_send_sge) return false;
  for (int i = 0; i < wr.num_sge; ++i) sum += wr.sg_list[i].length;
  if (sum > longestMessage) return false;
  bytes = static_cast<uint32_t>(sum);
  if (operation.form == Form::Atomic && bytes != 8) return false;
  if (!(wr.exp_send_flags & IBV_EXP_SEND_INLINE)) return true;
  return operation.form == Form::Message && bytes <= qp.cap.max_inline_data;
}

/// The control segment's opmod; -1: no such reduction here.
int opmodOf(const Qp &qp, const ibv_exp_send_wr &wr, const Operation &operation) {
  if (!(wr.exp_send_flags & IBV_EXP_SEND_WITH_CALC)) return MLX5_CALC_NONE;
  uint32_t bit =
      calcOf(raw(wr.op.calc.calc_op), raw(wr.op.calc.data_type), raw(wr.op.calc.data_size));
  if (!qp.crossChannel() || operation.form != Form::Message || !wr.num_sge ||
      wr.exp_send_flags & IBV_EXP_SEND_INLINE || !(bit & self(qp.context).facts.calc))
    return -1;
  return std::countr_zero(bit);
}

struct Aim {
  uint32_t index, number;
};

/// False: it cannot be counted.
bool wait(const Qp &qp, const ibv_exp_send_wr &wr, Aim &aim) {
  const auto &w = wr.task.cqe_wait;
  constexpr uint32_t window = 1u << 23;
  if (!qp.crossChannel() || !w.cq || w.cq->context != qp.context || w.cq_count < 0 ||
      static_cast<uint32_t>(w.cq_count) >= window)
    return false;
  Cq &cq = self(w.cq);
  auto count = static_cast<uint32_t>(w.cq_count);
  aim = {(cq.waited + count) & MLX5_CQ_INDEX_MASK, cq.ring.number};
  cq.group = std::max(cq.group, count);
  if (wr.exp_send_flags & IBV_EXP_SEND_WAIT_EN_LAST) {
    cq.waited += cq.group;
    cq.group = 0;
  }
  return true;
}

/// Where request `before + count` of a managed send queue begins. Entries are told by the blocks
/// they end with; of one that later ones have overwritten, by what its place in the ring holds now,
/// which is what the adapter will execute.
uint16_t endOf(const Qp &qp, uint32_t count) {
  if (count == 0) return qp.enabledSends.begin;
  uint32_t last = qp.enabledSends.before + count - 1;
  if (qp.sends.posted - last <= qp.ends.size()) return qp.ends[last % qp.ends.size()];
  uint32_t ring = 1u << qp.ring.log_sq;
  uint16_t at = qp.enabledSends.begin;
  for (; count; --count) {
    const uint8_t *entry = qp.ring.sq + size_t(at & (ring - 1)) * MLX5_WQEBB;
    at = static_cast<uint16_t>(at + std::max(1, ((entry[MLX5_CTRL_DS] & 63) + 3) / 4));
  }
  return at;
}

/// Sends are counted in requests and enabled in blocks, receives are both in receives.
bool enable(const Qp &qp, const ibv_exp_send_wr &wr, bool receives, Aim &aim) {
  const auto &w = wr.task.wqe_enable;
  if (!qp.crossChannel() || !w.qp || w.qp->context != qp.context || w.wqe_count < 0) return false;
  Qp &target = self(w.qp);
  uint32_t flag = receives ? IBV_EXP_QP_CREATE_MANAGED_RECV : IBV_EXP_QP_CREATE_MANAGED_SEND;
  if (!(target.createFlags & flag)) return false;
  Enables &enables = receives ? target.enabledReceives : target.enabledSends;
  uint32_t posted = (receives ? target.receives : target.sends).posted - enables.before;
  uint32_t count = w.wqe_count ? static_cast<uint32_t>(w.wqe_count) : posted;
  if (count > posted) return false;
  auto limit = [&](uint32_t n) {
    return receives ? static_cast<uint16_t>(enables.before + n) : endOf(target, n);
  };
  aim = {limit(count), target.qp_num};
  enables.group = std::max(enables.group, count);
  if (wr.exp_send_flags & IBV_EXP_SEND_WAIT_EN_LAST)
    enables = {enables.before + enables.group, 0, limit(enables.group)};
  return true;
}

void writeEntry(Qp &qp, const Entry &entry) {
  uint32_t ring = 1u << qp.ring.log_sq;
  for (uint32_t at = 0; at < entry.segments * MLX5_SEGMENT; at += MLX5_WQEBB)
    memcpy(qp.ring.sq + size_t(qp.blocks++ & (ring - 1)) * MLX5_WQEBB, entry.bytes + at,
           MLX5_WQEBB);
}

}  // namespace

int append(Qp &qp, const ibv_exp_send_wr &wr) {
  const Operation *operation = std::ranges::find(operations, raw(wr.exp_opcode), &Operation::asked);
  constexpr uint64_t known = IBV_EXP_SEND_SIGNALED | IBV_EXP_SEND_FENCE | IBV_EXP_SEND_SOLICITED |
                             IBV_EXP_SEND_INLINE | IBV_EXP_SEND_WITH_CALC |
                             IBV_EXP_SEND_WAIT_EN_LAST;
  if (operation == std::end(operations) || wr.exp_send_flags & ~known) return EINVAL;
  if (qp.state != IBV_QPS_RTS && stateOf(qp) != IBV_QPS_ERR) return EINVAL;
  bool carries = operation->form <= Form::Atomic;
  uint32_t bytes = 0;
  int opmod = opmodOf(qp, wr, *operation);
  if (opmod < 0 || (carries && !measure(qp, wr, *operation, bytes))) return EINVAL;
  if (qp.sends.full()) return ENOMEM;
  Aim aim = {};
  if (operation->form == Form::Wait && !wait(qp, wr, aim)) return EINVAL;
  bool receives = operation->entry == MLX5_RECV_EN;
  if (operation->form == Form::Enable && !enable(qp, wr, receives, aim)) return EINVAL;

  Entry entry;
  uint8_t *control = entry.segment();
  control[MLX5_CTRL_OPMOD] = static_cast<uint8_t>(opmod);
  control[MLX5_CTRL_OPCODE] = operation->entry;
  mlx5_put16(control + MLX5_CTRL_INDEX, qp.blocks);
  uint8_t flags = MLX5_CE_ON_ERROR;
  if (qp.signalAll || wr.exp_send_flags & IBV_EXP_SEND_SIGNALED) flags |= MLX5_CE_ALWAYS;
  if (wr.exp_send_flags & IBV_EXP_SEND_FENCE) flags |= MLX5_FENCE_SMALL;
  if (wr.exp_send_flags & IBV_EXP_SEND_SOLICITED) flags |= MLX5_SOLICITED;
  control[MLX5_CTRL_FLAGS] = flags;
  if (operation->immediate) memcpy(control + MLX5_CTRL_IMM, &wr.ex.imm_data, 4);

  bool atomic = operation->form == Form::Atomic;
  if (operation->addressed) {
    uint8_t *remote = entry.segment();
    mlx5_put64(remote + MLX5_RADDR_ADDR,
               atomic ? wr.wr.atomic.remote_addr : wr.wr.rdma.remote_addr);
    mlx5_put32(remote + MLX5_RADDR_RKEY, atomic ? wr.wr.atomic.rkey : wr.wr.rdma.rkey);
  }
  if (atomic) {
    bool swaps = operation->entry == MLX5_ATOMIC_CS;
    uint8_t *operands = entry.segment();
    mlx5_put64(operands, swaps ? wr.wr.atomic.swap : wr.wr.atomic.compare_add);
    mlx5_put64(operands + 8, swaps ? wr.wr.atomic.compare_add : 0);
  }
  if (operation->form == Form::Wait || operation->form == Form::Enable) {
    uint8_t *segment = entry.segment();
    mlx5_put32(segment + MLX5_CD_INDEX, aim.index);
    mlx5_put32(segment + MLX5_CD_NUMBER, aim.number);
  }
  if (wr.exp_send_flags & IBV_EXP_SEND_INLINE)
    entry.inlined(wr, bytes);
  else if (carries)
    for (int i = 0; i < wr.num_sge; ++i)
      if (wr.sg_list[i].length) entry.data(wr.sg_list[i]);
  mlx5_put32(control + MLX5_CTRL_QPN, qp.qp_num << 8 | entry.segments);

  uint32_t request = qp.sends.posted;
  qp.sends.put(qp.blocks, wr.wr_id, operation->entry);
  writeEntry(qp, entry);
  qp.ends[request % qp.ends.size()] = qp.blocks;
  return 0;
}

}  // namespace verbs_exp
