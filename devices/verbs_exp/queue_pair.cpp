// SPDX-License-Identifier: BSD-3-Clause
// queue_pair.cpp - queue pairs are made, asked and destroyed.

#include <algorithm>
#include <bit>

#include "devices/verbs_exp/engine.h"

namespace verbs_exp {

uint32_t blocksOfSend(uint32_t gather, uint32_t inlineBytes) {
  constexpr uint32_t header = 3;  // control, remote address, operands of an atomic
  uint32_t inlined = inlineBytes ? (4 + inlineBytes + MLX5_SEGMENT - 1) / MLX5_SEGMENT : 0;
  uint32_t segments = header + std::max(gather, inlined);
  return (segments * MLX5_SEGMENT + MLX5_WQEBB - 1) / MLX5_WQEBB;
}

ibv_qp_state stateOf(Qp &qp) {
  Context &context = self(qp.context);
  if (qp.state != IBV_QPS_RESET && context.hca->ops->failed(context.hca, qp.qp_num))
    qp.state = IBV_QPS_ERR;
  return qp.state;
}

namespace {

struct Wish {
  void *context;
  ibv_pd *pd;
  ibv_cq *sendQueue, *receiveQueue;
  ibv_srq *srq;
  ibv_qp_cap cap;
  uint32_t type;  // ibv_qp_type
  bool signalAll;
  uint32_t flags;
};

/// 0, or why not.
int possible(const Context &context, const Wish &w) {
  if (!w.pd || !w.sendQueue || !w.receiveQueue) return EINVAL;
  if (w.pd->context != &context || w.sendQueue->context != &context ||
      w.receiveQueue->context != &context)
    return EINVAL;
  if (w.type != IBV_QPT_RC || w.srq || w.flags & ~knownCreateFlags) return EOPNOTSUPP;
  if (w.flags & crossChannelFlags && !crosses(context)) return EOPNOTSUPP;
  const nbc_hca_facts &facts = context.facts;
  const ibv_qp_cap &cap = w.cap;
  if (cap.max_send_sge > facts.max_gather || cap.max_recv_sge > facts.max_scatter ||
      cap.max_inline_data > mostInline || cap.max_recv_wr > 1u << facts.max_log_rq)
    return EINVAL;
  uint32_t blocks = blocksOfSend(cap.max_send_sge, cap.max_inline_data);
  return cap.max_send_wr > mostRequests(context, blocks) ? EINVAL : 0;
}

/// Null, and errno. `granted`: as much as there came to be, which is what was asked for or more.
ibv_qp *create(Context &context, const Wish &w, ibv_qp_cap &granted) {
  if (int error = possible(context, w)) return refuse(error);
  uint32_t blocks = blocksOfSend(w.cap.max_send_sge, w.cap.max_inline_data);
  uint32_t stride = std::bit_ceil(std::max(1u, w.cap.max_recv_sge) * MLX5_SEGMENT);
  bool receives = w.cap.max_recv_wr != 0;
  const nbc_hca_qp_request request = {
      .log_sq = log2Up(std::max(1u, w.cap.max_send_wr) * blocks),
      .log_rq = receives ? log2Up(w.cap.max_recv_wr) : UINT32_MAX,
      .log_stride = log2Up(stride),
      .send_cq = self(w.sendQueue).ring.number,
      .recv_cq = self(w.receiveQueue).ring.number,
      .flags =
          (w.flags & IBV_EXP_QP_CREATE_CROSS_CHANNEL ? uint32_t{NBC_HCA_QP_CROSS_CHANNEL} : 0) |
          (w.flags & IBV_EXP_QP_CREATE_MANAGED_SEND ? uint32_t{NBC_HCA_QP_MANAGED_SEND} : 0) |
          (w.flags & IBV_EXP_QP_CREATE_MANAGED_RECV ? uint32_t{NBC_HCA_QP_MANAGED_RECEIVES} : 0)};

  auto owned = std::make_unique<Qp>();
  Qp &qp = *owned;
  std::lock_guard guard(context.lock);
  if (int status = context.hca->ops->create_qp(context.hca, &request, &qp.ring))
    return refuse(errorOf(status));
  qp.context = &context;
  qp.qp_context = w.context;
  qp.pd = w.pd;
  qp.send_cq = w.sendQueue;
  qp.recv_cq = w.receiveQueue;
  qp.handle = qp.qp_num = qp.ring.number;
  qp.state = IBV_QPS_RESET;
  qp.qp_type = IBV_QPT_RC;
  pthread_mutex_init(&qp.mutex, nullptr);
  pthread_cond_init(&qp.cond, nullptr);
  qp.cap = w.cap;
  qp.cap.max_send_wr = (1u << request.log_sq) / blocks;
  if (receives) qp.cap.max_recv_wr = 1u << request.log_rq;
  granted = qp.cap;
  qp.createFlags = w.flags;
  qp.signalAll = w.signalAll;
  qp.sends.most = qp.cap.max_send_wr;
  qp.sends.ignoreOverflow = w.flags & IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW;
  qp.sends.at.resize(size_t{1} << request.log_sq);
  qp.ends.resize(qp.sends.at.size());
  qp.receives.most = qp.cap.max_recv_wr;
  qp.receives.ignoreOverflow = w.flags & IBV_EXP_QP_CREATE_IGNORE_RQ_OVERFLOW;
  if (receives) qp.receives.at.resize(size_t{1} << request.log_rq);
  self(w.sendQueue).queues[qp.qp_num] = &qp;
  self(w.receiveQueue).queues[qp.qp_num] = &qp;
  context.queuePairs.push_back(std::move(owned));
  Process &p = process();
  std::lock_guard looking(p.told);
  p.queuePairs[qp.qp_num] = &qp;
  return &qp;
}

}  // namespace
}  // namespace verbs_exp

using namespace verbs_exp;

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a) {
  if (!pd) return refuse(EINVAL);
  return create(self(pd->context),
                {a->qp_context, pd, a->send_cq, a->recv_cq, a->srq, a->cap, raw(a->qp_type),
                 a->sq_sig_all != 0, 0},
                a->cap);
}

struct ibv_qp *ibv_exp_create_qp(struct ibv_context *c, struct ibv_exp_qp_init_attr *a) {
  if (a->comp_mask & ~uint32_t{IBV_EXP_QP_INIT_ATTR_RESERVED - 1}) return refuse(EINVAL);
  if (!(a->comp_mask & IBV_EXP_QP_INIT_ATTR_PD)) return refuse(EINVAL);
  if (a->comp_mask & IBV_EXP_QP_INIT_ATTR_XRCD) return refuse(EOPNOTSUPP);
  uint32_t flags = a->comp_mask & IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS ? a->exp_create_flags : 0;
  return create(self(c),
                {a->qp_context, a->pd, a->send_cq, a->recv_cq, a->srq, a->cap, raw(a->qp_type),
                 a->sq_sig_all != 0, flags},
                a->cap);
}

int ibv_query_qp(struct ibv_qp *q, struct ibv_qp_attr *a, int, struct ibv_qp_init_attr *init) {
  Qp &qp = self(q);
  std::lock_guard guard(self(qp.context).lock);
  *a = qp.attributes;
  a->qp_state = a->cur_qp_state = stateOf(qp);
  a->cap = qp.cap;
  if (init)
    *init = {.qp_context = qp.qp_context,
             .send_cq = qp.send_cq,
             .recv_cq = qp.recv_cq,
             .srq = nullptr,
             .cap = qp.cap,
             .qp_type = qp.qp_type,
             .sq_sig_all = qp.signalAll};
  return 0;
}

int ibv_destroy_qp(struct ibv_qp *q) {
  Qp &qp = self(q);
  Context &context = self(qp.context);
  {
    std::lock_guard guard(context.lock);
    context.hca->ops->destroy_qp(context.hca, qp.qp_num);
    self(qp.send_cq).queues.erase(qp.qp_num);
    self(qp.recv_cq).queues.erase(qp.qp_num);
  }
  forget(qp);
  std::lock_guard guard(context.lock);
  takeOut(context.queuePairs, &qp);
  return 0;
}
