// SPDX-License-Identifier: BSD-3-Clause
// completion.cpp - completion queues, and their entries as work completions.
//
// Whose an entry is tells the number in it; which request, the counter, which names a block of the
// send queue or a receive. Entries of a queue pair that is gone are passed over. A queue that
// overruns unpunished is read as hardware's is: after a lap nothing valid is found.

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "devices/hca/wc_status.h"
#include "devices/verbs_exp/engine.h"

namespace verbs_exp {

namespace {

/// Who polls in vain so often gives way: the thread that executes may want the processor.
constexpr uint32_t kIdlePolls = 32;

ibv_wc_opcode opcodeOfSend(uint8_t opcode) {
  switch (opcode) {
    case MLX5_SEND:
    case MLX5_SEND_IMM:
      return IBV_WC_SEND;
    case MLX5_WRITE:
    case MLX5_WRITE_IMM:
      return IBV_WC_RDMA_WRITE;
    case MLX5_READ:
      return IBV_WC_RDMA_READ;
    case MLX5_ATOMIC_CS:
      return IBV_WC_COMP_SWAP;
    case MLX5_ATOMIC_FA:
      return IBV_WC_FETCH_ADD;
    default:
      return IBV_WC_DRIVER1;  // WAIT, SEND_EN, NOP
  }
}

const uint8_t *entryAt(const Cq &cq, uint32_t index) {
  uint32_t size = 1u << cq.ring.log_entries;
  const uint8_t *entry =
      const_cast<const uint8_t *>(cq.ring.entries) + size_t(index & (size - 1)) * MLX5_CQE;
  uint8_t last = __atomic_load_n(entry + MLX5_CQE_OP_OWN, __ATOMIC_ACQUIRE);
  bool there = last >> 4 != MLX5_CQE_INVALID && (last & 1) == (index >> cq.ring.log_entries & 1);
  return there ? entry : nullptr;
}

void describe(const uint8_t *entry, Qp &qp, ibv_wc &wc) {
  uint8_t opcode = entry[MLX5_CQE_OP_OWN] >> 4;
  bool sent = opcode == MLX5_CQE_REQ || opcode == MLX5_CQE_REQ_ERR;
  const Requests::Request &request =
      (sent ? qp.sends : qp.receives).take(mlx5_get16(entry + MLX5_CQE_COUNTER));
  memset(&wc, 0, sizeof wc);
  wc.wr_id = request.id;
  wc.qp_num = qp.qp_num;
  wc.opcode = sent ? opcodeOfSend(request.opcode) : IBV_WC_RECV;
  if (opcode == MLX5_CQE_REQ_ERR || opcode == MLX5_CQE_RESP_ERR) {
    wc.status = hca::statusOf(entry[MLX5_CQE_SYNDROME]);
    wc.vendor_err = entry[MLX5_CQE_VENDOR];
    return;
  }
  wc.byte_len = mlx5_get32(entry + MLX5_CQE_BYTES);
  if (sent) return;
  if (opcode == MLX5_CQE_RESP_WR_IMM) wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  if (opcode == MLX5_CQE_RESP_SEND) return;
  wc.wc_flags = IBV_WC_WITH_IMM;
  memcpy(&wc.imm_data, entry + MLX5_CQE_IMM, 4);
}

/// Calls `out` with each completion.
template <class Out>
int take(Cq &cq, int count, Out out) {
  std::unique_lock guard(self(cq.context).lock);
  uint32_t before = cq.next;
  int found = 0;
  while (found < count) {
    const uint8_t *entry = entryAt(cq, cq.next);
    if (!entry) break;
    cq.next = (cq.next + 1) & MLX5_CQ_INDEX_MASK;
    auto queue = cq.queues.find(mlx5_get32(entry + MLX5_CQE_SOP_QPN) & 0xffffff);
    if (queue == cq.queues.end()) continue;
    ibv_wc wc;
    describe(entry, *queue->second, wc);
    out(found++, wc, *queue->second);
  }
  if (cq.next != before)
    __atomic_store_n(cq.ring.consumer, __builtin_bswap32(cq.next), __ATOMIC_RELEASE);
  bool yields = found == 0 && ++cq.idle >= kIdlePolls;
  if (found || yields) cq.idle = 0;
  guard.unlock();
  if (yields) sched_yield();
  return found;
}

}  // namespace

int poll(ibv_cq *cq, int count, ibv_wc *wc) {
  return take(self(cq), count, [wc](int i, const ibv_wc &one, Qp &) { wc[i] = one; });
}

namespace {

/// Whether there is an entry of this sort that nobody has looked at.
bool hasUnseen(const Cq &cq, bool solicitedOnly) {
  for (uint32_t next = cq.next;; next = (next + 1) & MLX5_CQ_INDEX_MASK) {
    const uint8_t *entry = entryAt(cq, next);
    if (!entry) return false;
    const uint8_t last = entry[MLX5_CQE_OP_OWN], opcode = last >> 4;
    if (!solicitedOnly || last & 2 || opcode == MLX5_CQE_REQ_ERR || opcode == MLX5_CQE_RESP_ERR)
      return true;
  }
}

}  // namespace

/// Where such an entry is there already that nobody has looked at, at once. Without a channel there
/// is nobody to tell.
int arm(ibv_cq *c, int solicitedOnly) {
  Cq &cq = self(c);
  std::lock_guard guard(self(cq.context).lock);
  std::lock_guard looking(process().told);
  cq.armed = solicitedOnly ? Armed::solicited : Armed::all;
  if (!cq.channel || !hasUnseen(cq, solicitedOnly)) return 0;
  cq.armed = Armed::no;
  static_cast<Channel *>(cq.channel)->events.put(&cq);
  return 0;
}

}  // namespace verbs_exp

using namespace verbs_exp;

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int entries, void *said,
                             struct ibv_comp_channel *channel, int vector) {
  Context &context = self(c);
  if (entries < 1 || vector != 0 || (channel && channel->context != c)) return refuse(EINVAL);
  // One more than was asked for, as the vendor's library has it.
  uint32_t log = log2Up(static_cast<uint32_t>(entries) + 1);
  if (log > context.facts.max_log_cq) return refuse(EINVAL);
  auto owned = std::make_unique<Cq>();
  Cq &cq = *owned;
  std::lock_guard guard(context.lock);
  if (int status = context.hca->ops->create_cq(context.hca, log, 0, &cq.ring))
    return refuse(errorOf(status));
  cq.context = c;
  cq.channel = channel;
  cq.cq_context = said;
  cq.handle = cq.ring.number;
  cq.cqe = (1 << log) - 1;
  pthread_mutex_init(&cq.mutex, nullptr);
  pthread_cond_init(&cq.cond, nullptr);
  if (channel) ++channel->refcnt;
  context.completionQueues.push_back(std::move(owned));
  Process &p = process();
  std::lock_guard looking(p.told);
  p.completionQueues[cq.ring.number] = &cq;
  return &cq;
}

int ibv_destroy_cq(struct ibv_cq *c) {
  Cq &cq = self(c);
  Context &context = self(cq.context);
  {
    std::lock_guard guard(context.lock);
    if (int status = context.hca->ops->destroy_cq(context.hca, cq.ring.number))
      return errno = errorOf(status);
  }
  forget(cq);
  std::lock_guard guard(context.lock);
  if (cq.channel) --cq.channel->refcnt;
  takeOut(context.completionQueues, &cq);
  return 0;
}

int ibv_exp_modify_cq(struct ibv_cq *c, struct ibv_exp_cq_attr *a, int mask) {
  if (a->comp_mask & ~uint32_t{IBV_EXP_CQ_ATTR_RESERVED - 1}) return errno = EINVAL;
  if (mask & ~IBV_EXP_CQ_CAP_FLAGS) return errno = EOPNOTSUPP;  // moderation: there is no delay
  if (!(mask & IBV_EXP_CQ_CAP_FLAGS)) return 0;
  if (!(a->comp_mask & IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS) ||
      a->cq_cap_flags & ~uint32_t{IBV_EXP_CQ_IGNORE_OVERRUN})
    return errno = EINVAL;
  Cq &cq = self(c);
  process().fabric->ignoreOverrun(cq.ring.number, a->cq_cap_flags & IBV_EXP_CQ_IGNORE_OVERRUN);
  return 0;
}

int ibv_exp_poll_cq(struct ibv_cq *cq, int count, struct ibv_exp_wc *wc, uint32_t bytes) {
  auto *to = reinterpret_cast<uint8_t *>(wc);
  return take(self(cq), count, [&](int i, const ibv_wc &one, Qp &qp) {
    ibv_exp_wc e = {};
    e.wr_id = one.wr_id;
    e.status = one.status;
    e.exp_opcode = static_cast<ibv_exp_wc_opcode>(one.opcode);
    e.vendor_err = one.vendor_err;
    e.byte_len = one.byte_len;
    e.imm_data = one.imm_data;
    e.qp_num = one.qp_num;
    e.qp = &qp;
    e.exp_wc_flags = one.wc_flags | IBV_EXP_WC_QP;
    memcpy(to + size_t(i) * bytes, &e, std::min<size_t>(bytes, sizeof e));
  });
}
