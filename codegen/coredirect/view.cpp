// SPDX-License-Identifier: BSD-3-Clause
// view.cpp - decodes work queue entries, by the layout in mlx5_wqe.h alone.

#include "codegen/coredirect/view.h"

#include <algorithm>

#include "nbc/mlx5_wqe.h"

namespace nbcc::crosschannel {

std::vector<Entry> View::entries(const nbc_segment &segment) const {
  std::vector<Entry> result;
  for (uint32_t at = 0; at < segment.bytes;) {
    const unsigned char *wqe = code + segment.offset + at;
    Entry e;
    e.offset = segment.offset + at;
    e.index = at / MLX5_WQEBB;
    e.opmod = wqe[MLX5_CTRL_OPMOD];
    e.wqeIndex = mlx5_get16(wqe + MLX5_CTRL_INDEX);
    e.opcode = wqe[MLX5_CTRL_OPCODE];
    e.queuePair = mlx5_get32(wqe + MLX5_CTRL_QPN) >> 8;
    e.segments = wqe[MLX5_CTRL_DS] & 0x3f;
    e.signalled = (wqe[MLX5_CTRL_FLAGS] & MLX5_CE_MASK) == MLX5_CE_ALWAYS;
    e.blocks = std::max<uint32_t>(1, (e.segments + 3u) / 4);
    const bool counts = e.opcode == MLX5_WAIT && e.opmod == MLX5_WAIT_CQ;
    if (counts || e.opcode == MLX5_SEND_EN) {
      e.limit = mlx5_get32(wqe + MLX5_SEGMENT + MLX5_CD_INDEX);
      e.number = mlx5_get32(wqe + MLX5_SEGMENT + MLX5_CD_NUMBER);
    }
    result.push_back(e);
    at += e.blocks * MLX5_WQEBB;
  }
  return result;
}

WordEntry View::word(const Entry &e) const {
  const unsigned char *at = code + e.offset + MLX5_SEGMENT;
  const bool inlined = e.opcode == MLX5_WRITE && e.segments == 3 &&
                       (mlx5_get32(at + MLX5_SEGMENT) & MLX5_INLINE) != 0;
  WordEntry w;
  if (e.opcode == MLX5_WAIT && e.opmod == MLX5_WAIT_DATA) {
    w.kind = WordEntry::Kind::wait;
    w.queue = mlx5_get32(at + MLX5_WORD_LKEY);
    w.word = static_cast<uint32_t>(mlx5_get64(at + MLX5_WORD_ADDR) / 8);
    w.proper = e.segments == 3 && mlx5_get32(at + MLX5_WORD_CONDITION) == MLX5_CONDITION_EQUAL &&
               mlx5_get64(at + MLX5_WORD_ADDR) == 8 * uint64_t{w.word} &&
               mlx5_get64(at + MLX5_WORD_VALUE) == 1 &&
               mlx5_get64(at + MLX5_WORD_MASK) == UINT64_MAX;
  } else if (e.opcode == MLX5_READ || inlined) {
    w.kind = inlined ? WordEntry::Kind::tell : WordEntry::Kind::ask;
    w.queue = mlx5_get32(at + MLX5_RADDR_RKEY);
    w.word = static_cast<uint32_t>(mlx5_get64(at + MLX5_RADDR_ADDR) / 8);
    w.proper = e.segments == 3 && mlx5_get64(at + MLX5_RADDR_ADDR) == 8 * uint64_t{w.word};
    at += MLX5_SEGMENT;
    if (inlined) {
      w.proper = w.proper && mlx5_get32(at) == (MLX5_INLINE | 8) && mlx5_get64(at + 4) == 1;
      return w;
    }
    w.into = static_cast<uint32_t>(mlx5_get64(at + MLX5_DATA_ADDR) / 8);
    w.proper = w.proper && mlx5_get32(at + MLX5_DATA_COUNT) == 8 &&
               mlx5_get32(at + MLX5_DATA_LKEY) == w.queue &&
               mlx5_get64(at + MLX5_DATA_ADDR) == 8 * uint64_t{w.into};
  }
  return w;
}

std::string View::queueName(uint32_t queue) const {
  static const char *const names[] = {"mq",   "loopback", "eager",  "cts",
                                      "data", "messages", "direct", "chain"};
  if (queue >= queues.size()) return cat("queue ", queue, "?");
  const nbc_queue &q = queues[queue];
  if (q.peer >= peers.size()) return names[q.kind % std::size(names)];
  static const char *const ways[] = {" ", " to ", " from "};
  return cat(names[q.kind % std::size(names)], ways[q.direction % std::size(ways)], peers[q.peer]);
}

}  // namespace nbcc::crosschannel
