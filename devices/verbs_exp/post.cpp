// SPDX-License-Identifier: BSD-3-Clause
// post.cpp - chains of work requests, and tasks, which are chains for several queue pairs.
//
// A chain ends at the first request that cannot be; those before it are posted, for one ring of the
// doorbell. A managed queue pair's doorbell is not rung: what is posted lies there until a
// SEND_ENABLE starts it.

#include <cstring>

#include "devices/verbs_exp/engine.h"

namespace verbs_exp {

namespace {

/// What the queue has told the device so far, brought up to date.
void ring(Qp &qp) {
  Context &context = self(qp.context);
  __atomic_store_n(&qp.ring.doorbell[1], __builtin_bswap32(qp.blocks), __ATOMIC_RELEASE);
  // The HCA reads the record, not what is written to the doorbell itself.
  if (!qp.managed()) context.hca->ops->doorbell(context.hca, qp.qp_num, 0);
}

/// Standard requests have the same fields in other places.
ibv_exp_send_wr experimental(const ibv_send_wr &wr) {
  ibv_exp_send_wr e = {};
  e.wr_id = wr.wr_id;
  e.sg_list = wr.sg_list;
  e.num_sge = wr.num_sge;
  memcpy(&e.exp_opcode, &wr.opcode, sizeof e.exp_opcode);
  e.exp_send_flags = wr.send_flags;
  e.ex.imm_data = wr.imm_data;
  if (uint32_t opcode = raw(wr.opcode);
      opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
    e.wr.atomic = {wr.wr.atomic.remote_addr, wr.wr.atomic.compare_add, wr.wr.atomic.swap,
                   wr.wr.atomic.rkey};
  else
    e.wr.rdma = {wr.wr.rdma.remote_addr, wr.wr.rdma.rkey};
  return e;
}

const ibv_exp_send_wr &experimental(const ibv_exp_send_wr &wr) {
  return wr;
}

template <class Request>
int post(Qp &qp, Request *wr, Request **bad) {
  std::lock_guard guard(self(qp.context).lock);
  uint16_t before = qp.blocks;
  int error = 0;
  for (; wr; wr = wr->next)
    if ((error = append(qp, experimental(*wr)))) break;
  if (error && bad) *bad = wr;
  if (qp.blocks != before) ring(qp);
  return error;
}

int append(Qp &qp, const ibv_recv_wr &wr) {
  // In any state: the vendor's library does not look, and its own programs begin with this.
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > qp.cap.max_recv_sge) return EINVAL;
  if (qp.receives.most == 0 || qp.receives.full()) return ENOMEM;
  for (int i = 0; i < wr.num_sge; ++i)
    if (wr.sg_list[i].length & MLX5_INLINE) return EINVAL;
  uint32_t entry = qp.received & ((1u << qp.ring.log_rq) - 1);
  uint8_t *segment = qp.ring.rq + (size_t(entry) << qp.ring.log_stride);
  uint8_t *end = segment + (size_t{1} << qp.ring.log_stride);
  auto put = [&](uint32_t bytes, uint32_t key, uint64_t address) {
    mlx5_put32(segment + MLX5_DATA_COUNT, bytes);
    mlx5_put32(segment + MLX5_DATA_LKEY, key);
    mlx5_put64(segment + MLX5_DATA_ADDR, address);
    segment += MLX5_SEGMENT;
  };
  for (int i = 0; i < wr.num_sge; ++i)
    if (wr.sg_list[i].length) put(wr.sg_list[i].length, wr.sg_list[i].lkey, wr.sg_list[i].addr);
  if (segment < end) put(0, MLX5_INVALID_LKEY, 0);
  qp.receives.put(qp.received++, wr.wr_id, 0);
  return 0;
}

}  // namespace

int postSend(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad) {
  return post(self(qp), wr, bad);
}

int postReceive(ibv_qp *q, ibv_recv_wr *wr, ibv_recv_wr **bad) {
  Qp &qp = self(q);
  Context &context = self(qp.context);
  std::lock_guard guard(context.lock);
  int error = 0;
  for (; wr; wr = wr->next)
    if ((error = append(qp, *wr))) break;
  if (error && bad) *bad = wr;
  __atomic_store_n(&qp.ring.doorbell[0], __builtin_bswap32(qp.received), __ATOMIC_RELEASE);
  // Receives are looked at when a message comes, and none comes any more.
  if (qp.state == IBV_QPS_ERR) process().fabric->failQueuePair(qp.qp_num);
  return error;
}

}  // namespace verbs_exp

using namespace verbs_exp;

int ibv_exp_post_send(struct ibv_qp *qp, struct ibv_exp_send_wr *wr, struct ibv_exp_send_wr **bad) {
  int error = post(self(qp), wr, bad);
  if (error) errno = error;
  return error;
}

int ibv_exp_post_task(struct ibv_context *context, struct ibv_exp_task *task,
                      struct ibv_exp_task **bad) {
  int error = 0;
  for (; task; task = task->next) {
    ibv_exp_send_wr *send;
    ibv_recv_wr *receive;
    if (task->comp_mask || !task->item.qp || task->item.qp->context != context)
      error = EINVAL;
    else if (raw(task->task_type) == IBV_EXP_TASK_SEND)
      error = ibv_exp_post_send(task->item.qp, task->item.send_wr, &send);
    else if (raw(task->task_type) == IBV_EXP_TASK_RECV)
      error = postReceive(task->item.qp, task->item.recv_wr, &receive);
    else
      error = EINVAL;
    if (error) break;
  }
  if (error && bad) *bad = task;
  return error;
}
