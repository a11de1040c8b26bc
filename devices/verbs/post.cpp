// SPDX-License-Identifier: BSD-3-Clause
// post.cpp - work requests become work queue entries.
//
//   ibv_send_wr        -> control segment [, remote address] [, data segments | the bytes, inline]
//   ibv_recv_wr        -> data segments
//
// A chain ends at the first request that cannot be; those before it are posted, as ibv_post_send
// has it. Segments of no bytes are left out: to hardware a count of 0 may mean 2^31.

#include <algorithm>
#include <bit>
#include <cstring>

#include "devices/verbs/engine.h"

namespace verbs {
namespace {

constexpr struct Operation {
  ibv_wr_opcode verbs;
  mlx5_opcode entry;
  bool addressed, immediate;
} operations[] = {
    {IBV_WR_SEND_WITH_IMM, MLX5_SEND_IMM, false, true},
    {IBV_WR_RDMA_WRITE, MLX5_WRITE, true, false},
    {IBV_WR_RDMA_WRITE_WITH_IMM, MLX5_WRITE_IMM, true, true},
    {IBV_WR_RDMA_READ, MLX5_READ, true, false},
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
  void inlined(const ibv_send_wr &wr, uint32_t length) {
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

void putData(uint8_t *segment, const ibv_sge &s, uint32_t lkey) {
  mlx5_put32(segment + MLX5_DATA_COUNT, s.length);
  mlx5_put32(segment + MLX5_DATA_LKEY, lkey);
  mlx5_put64(segment + MLX5_DATA_ADDR, s.addr);
}

/// Whether this queue can carry the request out; `bytes` of it.
bool possible(const Queue &queue, const ibv_send_wr &wr, uint64_t &bytes) {
  bytes = 0;
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > queue.gather) return false;
  for (int i = 0; i < wr.num_sge; ++i) {
    if (wr.sg_list[i].length & MLX5_INLINE) return false;
    bytes += wr.sg_list[i].length;
  }
  if (wr.send_flags & ~(IBV_SEND_SIGNALED | IBV_SEND_INLINE | IBV_SEND_FENCE)) return false;
  return !(wr.send_flags & IBV_SEND_INLINE) ||
         (wr.opcode != IBV_WR_RDMA_READ && bytes <= queue.inlineBytes);
}

int append(Queue &queue, const ibv_send_wr &wr) {
  const Operation *operation = std::ranges::find(operations, wr.opcode, &Operation::verbs);
  uint64_t bytes;
  if (operation == std::end(operations) || !queue.connected || !possible(queue, wr, bytes))
    return NBC_ERROR_ARGUMENT;
  if (queue.sends.full()) return NBC_ERROR_RESOURCES;

  Entry entry;
  uint8_t *control = entry.segment();
  control[MLX5_CTRL_OPCODE] = operation->entry;
  mlx5_put16(control + MLX5_CTRL_INDEX, queue.blocks);
  control[MLX5_CTRL_FLAGS] = wr.send_flags & IBV_SEND_SIGNALED ? MLX5_CE_ALWAYS : MLX5_CE_ON_ERROR;
  if (wr.send_flags & IBV_SEND_FENCE) control[MLX5_CTRL_FLAGS] |= MLX5_FENCE_SMALL;
  if (operation->immediate) memcpy(control + MLX5_CTRL_IMM, &wr.imm_data, 4);
  if (operation->addressed) {
    uint8_t *remote = entry.segment();
    mlx5_put64(remote + MLX5_RADDR_ADDR, wr.wr.rdma.remote_addr);
    mlx5_put32(remote + MLX5_RADDR_RKEY, turnKey(keyOnRail(wr.wr.rdma.rkey, queue.peerRail)));
  }
  if (wr.send_flags & IBV_SEND_INLINE)
    entry.inlined(wr, static_cast<uint32_t>(bytes));
  else
    for (int i = 0; i < wr.num_sge; ++i)
      if (wr.sg_list[i].length)
        putData(entry.segment(), wr.sg_list[i], keyOnRail(wr.sg_list[i].lkey, queue.rail));
  mlx5_put32(control + MLX5_CTRL_QPN, queue.qp.number << 8 | entry.segments);

  queue.sends.put(queue.blocks, wr.wr_id);
  uint32_t ring = 1u << queue.qp.log_sq;
  for (uint32_t at = 0; at < entry.segments * MLX5_SEGMENT; at += MLX5_WQEBB)
    memcpy(queue.qp.sq + size_t(queue.blocks++ & (ring - 1)) * MLX5_WQEBB, entry.bytes + at,
           MLX5_WQEBB);
  return NBC_OK;
}

int append(Queue &queue, const ibv_recv_wr &wr) {
  if (wr.num_sge < 0 || uint32_t(wr.num_sge) > queue.scatter || queue.receives.most == 0)
    return NBC_ERROR_ARGUMENT;
  for (int i = 0; i < wr.num_sge; ++i)
    if (wr.sg_list[i].length & MLX5_INLINE) return NBC_ERROR_ARGUMENT;
  if (queue.receives.full()) return NBC_ERROR_RESOURCES;
  const uint32_t number = queue.received & ((1u << queue.qp.log_rq) - 1);
  uint8_t *entry = queue.qp.rq + (size_t(number) << queue.qp.log_stride);
  uint32_t segments = 0;
  for (int i = 0; i < wr.num_sge; ++i)
    if (wr.sg_list[i].length)
      putData(entry + MLX5_SEGMENT * segments++, wr.sg_list[i],
              keyOnRail(wr.sg_list[i].lkey, queue.rail));
  if (segments < 1u << queue.qp.log_stride >> std::countr_zero(uint32_t{MLX5_SEGMENT}))
    putData(entry + MLX5_SEGMENT * segments, {}, MLX5_INVALID_LKEY);  // what ends them
  queue.receives.put(queue.received++, wr.wr_id);
  return NBC_OK;
}

}  // namespace

int postSend(nbc_verbs *verbs, void *qp, ibv_send_wr *wr) {
  Queue &queue = *static_cast<Queue *>(qp);
  nbc_hca *hca = self(verbs).hca;
  uint16_t before = queue.blocks;
  int status = NBC_OK;
  for (; wr && status == NBC_OK; wr = wr->next) status = append(queue, *wr);
  if (queue.blocks == before) return status;
  __atomic_store_n(&queue.qp.doorbell[1], __builtin_bswap32(queue.blocks), __ATOMIC_RELEASE);
  // The HCA reads the record, not what is written to the doorbell itself.
  hca->ops->doorbell(hca, queue.qp.number, 0);
  return status;
}

int postReceive(nbc_verbs *, void *qp, ibv_recv_wr *wr) {
  Queue &queue = *static_cast<Queue *>(qp);
  int status = NBC_OK;
  for (; wr && status == NBC_OK; wr = wr->next) status = append(queue, *wr);
  __atomic_store_n(&queue.qp.doorbell[0], __builtin_bswap32(queue.received), __ATOMIC_RELEASE);
  return status;
}

}  // namespace verbs
