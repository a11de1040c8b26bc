// SPDX-License-Identifier: BSD-3-Clause
// poll.cpp - entries of a completion queue become work completions.
//
// Whose an entry is tells the number in it; which request, the counter, which names a block of the
// send queue or a receive. Entries of a queue pair that is gone are passed over.

#include <cstring>

#include "devices/hca/wc_status.h"
#include "devices/verbs/engine.h"

namespace verbs {
namespace {

ibv_wc_opcode opcodeOfSend(uint8_t opcode) {
  if (opcode == MLX5_READ) return IBV_WC_RDMA_READ;
  return opcode == MLX5_SEND_IMM ? IBV_WC_SEND : IBV_WC_RDMA_WRITE;
}

bool isSend(uint8_t opcode) {
  return opcode == MLX5_CQE_REQ || opcode == MLX5_CQE_REQ_ERR;
}

void describe(const uint8_t *entry, uint8_t opcode, ibv_wc &wc) {
  if (opcode == MLX5_CQE_REQ_ERR || opcode == MLX5_CQE_RESP_ERR) {
    // What is not said of an error nobody should look at.
    memset(&wc, 0x7f, sizeof wc);
    wc.status = hca::statusOf(entry[MLX5_CQE_SYNDROME]);
    wc.vendor_err = entry[MLX5_CQE_VENDOR];
    return;
  }
  memset(&wc, 0, sizeof wc);
  wc.status = IBV_WC_SUCCESS;
  wc.byte_len = mlx5_get32(entry + MLX5_CQE_BYTES);
  if (isSend(opcode)) {
    wc.opcode = opcodeOfSend(entry[MLX5_CQE_SOP_QPN]);
    return;
  }
  wc.opcode = opcode == MLX5_CQE_RESP_WR_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  wc.wc_flags = IBV_WC_WITH_IMM;
  memcpy(&wc.imm_data, entry + MLX5_CQE_IMM, 4);
}

}  // namespace

int poll(nbc_verbs *, void *cq, int count, ibv_wc *wc) {
  Completions &c = *static_cast<Completions *>(cq);
  const uint8_t *entries = const_cast<const uint8_t *>(c.cq.entries);
  uint32_t size = 1u << c.cq.log_entries, before = c.next;
  int found = 0;
  while (found < count) {
    const uint8_t *entry = entries + size_t(c.next & (size - 1)) * MLX5_CQE;
    uint8_t last = __atomic_load_n(entry + MLX5_CQE_OP_OWN, __ATOMIC_ACQUIRE);
    uint8_t opcode = last >> 4;
    if (opcode == MLX5_CQE_INVALID || (last & 1) != (c.next >> c.cq.log_entries & 1)) break;
    c.next = (c.next + 1) & MLX5_CQ_INDEX_MASK;
    auto queue = c.queues.find(mlx5_get32(entry + MLX5_CQE_SOP_QPN) & 0xffffff);
    if (queue == c.queues.end()) continue;

    ibv_wc &out = wc[found++];
    describe(entry, opcode, out);
    Ring &ring = isSend(opcode) ? queue->second->sends : queue->second->receives;
    out.wr_id = ring.take(mlx5_get16(entry + MLX5_CQE_COUNTER));
    out.qp_num = queue->first;
  }
  if (c.next != before)
    __atomic_store_n(c.cq.consumer, __builtin_bswap32(c.next), __ATOMIC_RELEASE);
  return found;
}

}  // namespace verbs
