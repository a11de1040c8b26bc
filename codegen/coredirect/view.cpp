// SPDX-License-Identifier: BSD-3-Clause
// view.cpp - decodes work queue entries, by the layout in mlx5_wqe.h alone.

#include "codegen/coredirect/view.h"

#include <algorithm>

#include "nbc/mlx5_wqe.h"

namespace nbcc::crosschannel {
namespace {

template <class T>
std::span<const T> table(const Template &t, const nbc_table &entry) {
  const auto *base = static_cast<const unsigned char *>(t.data());
  return {reinterpret_cast<const T *>(base + entry.offset), entry.count};
}

}  // namespace

View::View(const Template &t)
    : header(*static_cast<const nbc_template *>(t.data())),
      buffers(table<nbc_buffer>(t, header.buffers)),
      peers(table<uint32_t>(t, header.peers)),
      queues(table<nbc_queue>(t, header.queues)),
      variants(table<nbc_variant>(t, header.variants)),
      pieces(table<nbc_piece>(t, header.pieces)),
      hosts(table<nbc_host>(t, header.hosts)),
      stages(table<nbc_stage>(t, header.stages)),
      segments(table<nbc_segment>(t, header.segments)),
      relocs(table<nbc_reloc>(t, header.relocs)),
      code(table<unsigned char>(t, header.code).data()) {}

std::span<const nbc_reloc> View::relocsAt(const nbc_range &run, uint32_t offset,
                                          uint32_t bytes) const {
  const auto all = relocs.subspan(run.begin, run.count);
  const auto before = [](const nbc_reloc &r, uint32_t at) { return r.at < at; };
  const auto begin = std::lower_bound(all.begin(), all.end(), offset, before);
  const auto end = std::lower_bound(begin, all.end(), offset + bytes, before);
  return {begin, end};
}

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

const nbc_segment *View::segment(const nbc_range &run, uint32_t queue, uint32_t ring) const {
  for (const nbc_segment &s : segmentsOf(run))
    if (s.queue == queue && s.ring == ring) return &s;
  return nullptr;
}

std::string View::queueName(uint32_t queue) const {
  static const char *const names[] = {"mq", "loopback", "eager", "cts", "data"};
  if (queue >= queues.size()) return cat("queue ", queue, "?");
  const nbc_queue &q = queues[queue];
  if (q.peer >= peers.size()) return names[q.kind];
  static const char *const ways[] = {" ", " to ", " from "};
  return cat(names[q.kind], ways[q.direction % std::size(ways)], peers[q.peer]);
}

std::string View::variantName(const nbc_variant &v) const {
  if (v.flags & NBC_VARIANT_CREDIT) return "credit";
  std::string name = v.protocol == NBC_EAGER ? "eager" : "rendezvous";
  if (v.flags & NBC_VARIANT_CALC) name = "calc";
  if (v.flags & NBC_VARIANT_IN_PLACE) name += " in-place";
  return name;
}

}  // namespace nbcc::crosschannel
