// SPDX-License-Identifier: BSD-3-Clause
// modify.cpp - a queue pair goes from state to state, and learns its peer on the way.
//
//   RESET -> INIT   what peers may do
//         -> RTR    the peer: the software HCA connects here, and answers from here on
//         -> RTS    how patient it is; sends may be posted
//   any   -> ERR    all that is posted is flushed
//
// What a move must and may say is what the kernel asks for of reliable connections.

#include "devices/verbs_exp/engine.h"

namespace verbs_exp {

namespace {

struct Move {
  uint32_t from, to;  // ibv_qp_state
  int must, may;
};
constexpr Move moves[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
         IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
};

/// 0, or why not.
int allowed(Qp &qp, const ibv_qp_attr &a, int mask, uint32_t to) {
  uint32_t from = stateOf(qp);
  if (mask & IBV_QP_CUR_STATE && raw(a.cur_qp_state) != from) return EINVAL;
  if (to == IBV_QPS_ERR) return mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE) ? EINVAL : 0;
  if (to == IBV_QPS_RESET && from == IBV_QPS_RESET) return 0;
  if (to == IBV_QPS_RESET || to == IBV_QPS_SQD) return EOPNOTSUPP;
  for (const Move &move : moves)
    if (move.from == from && move.to == to) {
      int given = mask & ~IBV_QP_STATE;
      return (given & move.must) == move.must && !(given & ~(move.must | move.may)) ? 0 : EINVAL;
    }
  return EINVAL;
}

/// What is said, not whether it may be.
int sensible(const ibv_qp_attr &a, int mask) {
  constexpr unsigned known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  if (mask & IBV_QP_PORT && a.port_num != 1) return EINVAL;
  if (mask & IBV_QP_PKEY_INDEX && a.pkey_index != 0) return EINVAL;
  if (mask & IBV_QP_ACCESS_FLAGS && a.qp_access_flags & ~known) return EINVAL;
  if (mask & IBV_QP_PATH_MTU && (raw(a.path_mtu) < IBV_MTU_256 || raw(a.path_mtu) > IBV_MTU_4096))
    return EINVAL;
  if (mask & IBV_QP_DEST_QPN && a.dest_qp_num >> 24) return EINVAL;
  if (mask & IBV_QP_MAX_DEST_RD_ATOMIC && a.max_dest_rd_atomic > mostReads) return EINVAL;
  if (mask & IBV_QP_MAX_QP_RD_ATOMIC && a.max_rd_atomic > mostReads) return EINVAL;
  if (mask & IBV_QP_MIN_RNR_TIMER && a.min_rnr_timer > 31) return EINVAL;
  if (mask & IBV_QP_TIMEOUT && a.timeout > 31) return EINVAL;
  if (mask & IBV_QP_RETRY_CNT && a.retry_cnt > 7) return EINVAL;
  if (mask & IBV_QP_RNR_RETRY && a.rnr_retry > 7) return EINVAL;
  return 0;
}

void take(ibv_qp_attr &known, const ibv_qp_attr &a, int mask) {
  if (mask & IBV_QP_ACCESS_FLAGS) known.qp_access_flags = a.qp_access_flags;
  if (mask & IBV_QP_PKEY_INDEX) known.pkey_index = a.pkey_index;
  if (mask & IBV_QP_PORT) known.port_num = a.port_num;
  if (mask & IBV_QP_AV) known.ah_attr = a.ah_attr;
  if (mask & IBV_QP_PATH_MTU) known.path_mtu = a.path_mtu;
  if (mask & IBV_QP_DEST_QPN) known.dest_qp_num = a.dest_qp_num;
  if (mask & IBV_QP_RQ_PSN) known.rq_psn = a.rq_psn;
  if (mask & IBV_QP_SQ_PSN) known.sq_psn = a.sq_psn;
  if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) known.max_dest_rd_atomic = a.max_dest_rd_atomic;
  if (mask & IBV_QP_MAX_QP_RD_ATOMIC) known.max_rd_atomic = a.max_rd_atomic;
  if (mask & IBV_QP_MIN_RNR_TIMER) known.min_rnr_timer = a.min_rnr_timer;
  if (mask & IBV_QP_TIMEOUT) known.timeout = a.timeout;
  if (mask & IBV_QP_RETRY_CNT) known.retry_cnt = a.retry_cnt;
  if (mask & IBV_QP_RNR_RETRY) known.rnr_retry = a.rnr_retry;
}

uint32_t rightsOf(unsigned access) {
  uint32_t rights = 0;
  if (access & IBV_ACCESS_REMOTE_WRITE) rights |= NBC_HCA_REMOTE_WRITE;
  if (access & IBV_ACCESS_REMOTE_READ) rights |= NBC_HCA_REMOTE_READ;
  if (access & IBV_ACCESS_REMOTE_ATOMIC) rights |= NBC_HCA_REMOTE_ATOMIC;
  return rights;
}

/// Before RTS nothing is sent, and only what answers to others ask for matters.
hca::Retry patience(const ibv_qp_attr &a, bool sends) {
  hca::Retry retry;
  retry.minRnrTimer = a.min_rnr_timer;
  if (!sends) return retry;
  retry.rnrRetry = a.rnr_retry;
  retry.retryCount = a.retry_cnt;
  retry.ackTimeout = a.timeout ? a.timeout : 31;  // 0 is for ever: this is more than two hours
  return retry;
}

/// Where the address vector leads: 0 where that is no port of the software HCA's.
uint16_t lidOf(const ibv_ah_attr &ah) {
  if (ah.is_global && ah.dlid == 0) return lidOfGid(ah.grh.dgid);
  return ah.dlid ? ah.dlid : process().lid;
}

int connect(Context &context, Qp &qp, const ibv_qp_attr &a) {
  uint16_t lid = lidOf(a.ah_attr);
  if (lid == 0) return EHOSTUNREACH;
  uint8_t address[32];
  hca::Fabric::addressOf(lid, address);
  return errorOf(context.hca->ops->connect_qp(context.hca, qp.qp_num, address, a.dest_qp_num));
}

}  // namespace
}  // namespace verbs_exp

using namespace verbs_exp;

int ibv_modify_qp(struct ibv_qp *q, struct ibv_qp_attr *a, int mask) {
  Qp &qp = self(q);
  Context &context = self(qp.context);
  hca::Fabric &fabric = *process().fabric;
  std::lock_guard guard(context.lock);
  uint32_t from = stateOf(qp), to = mask & IBV_QP_STATE ? raw(a->qp_state) : from;
  if (int error = allowed(qp, *a, mask, to)) return errno = error;
  if (int error = sensible(*a, mask)) return errno = error;

  ibv_qp_attr known = qp.attributes;
  take(known, *a, mask);
  bool sends = to == IBV_QPS_RTS;
  if (mask & IBV_QP_ACCESS_FLAGS) fabric.setAccess(qp.qp_num, rightsOf(known.qp_access_flags));
  if (from != to || mask & IBV_QP_MIN_RNR_TIMER) fabric.setRetry(qp.qp_num, patience(known, sends));
  if (from != to && to == IBV_QPS_RTR)
    if (int error = connect(context, qp, known)) return errno = error;
  if (to == IBV_QPS_ERR) fabric.failQueuePair(qp.qp_num);
  qp.attributes = known;
  qp.state = static_cast<ibv_qp_state>(to);
  return 0;
}
