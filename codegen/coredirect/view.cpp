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
    if (e.opcode == MLX5_WAIT || e.opcode == MLX5_SEND_EN) {
      e.limit = mlx5_get32(wqe + MLX5_SEGMENT + MLX5_CD_INDEX);
      e.number = mlx5_get32(wqe + MLX5_SEGMENT + MLX5_CD_NUMBER);
    }
    result.push_back(e);
    at += e.blocks * MLX5_WQEBB;
  }
  return result;
}

std::string View::queueName(uint32_t queue) const {
  static const char *const names[] = {"mq",   "loopback", "eager", "cts",
                                      "data", "messages", "direct"};
  if (queue >= queues.size()) return cat("queue ", queue, "?");
  const nbc_queue &q = queues[queue];
  if (q.peer >= peers.size()) return names[q.kind % std::size(names)];
  static const char *const ways[] = {" ", " to ", " from "};
  return cat(names[q.kind % std::size(names)], ways[q.direction % std::size(ways)], peers[q.peer]);
}

}  // namespace nbcc::crosschannel
