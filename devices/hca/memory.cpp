// SPDX-License-Identifier: BSD-3-Clause
// memory.cpp - no byte is touched but through here: a key, checked, gives a span.
//
// Checked when the bytes are read or written, not only when an entry starts: a registration may be
// gone by then.

#include <algorithm>

#include "devices/hca/engine.h"

namespace hca {

bool Engine::check(const Adapter &adapter, uint32_t key, uint64_t at, uint64_t bytes,
                   uint32_t access, Span &span) {
  auto found = adapter.regions.find(key);
  if (found == adapter.regions.end()) return false;
  const Region &region = found->second;
  uint64_t begin = reinterpret_cast<uintptr_t>(region.begin);
  if ((region.access & access) != access) return false;
  if (at < begin || bytes > region.bytes || at - begin > region.bytes - bytes) return false;
  span = {region.begin + (at - begin), bytes};
  return true;
}

uint8_t Engine::resolve(const Adapter &adapter, const uint8_t *list, uint32_t segments, Use use,
                        Spans &spans) {
  for (const uint8_t *s = list; s < list + segments * MLX5_SEGMENT; s += MLX5_SEGMENT) {
    uint32_t bytes = mlx5_get32(s + MLX5_DATA_COUNT);
    Span span;
    if (bytes == 0) continue;
    uint32_t key = mlx5_get32(s + MLX5_DATA_LKEY);
    if (!check(adapter, key, mlx5_get64(s + MLX5_DATA_ADDR), bytes, 0, span) ||
        (use == Use::Scatter && adapter.regions.at(key).access & NBC_HCA_READ_ONLY))
      return MLX5_LOCAL_PROT;
    spans.add(span.at, span.bytes);
  }
  return 0;
}

void copySpans(const Spans &from, const Spans &to) {
  int target = 0;
  uint64_t filled = 0;
  for (int i = 0; i < from.count; ++i) {
    Span source = from.span[i];
    while (source.bytes) {
      const Span &room = to.span[target];
      uint64_t bytes = std::min(source.bytes, room.bytes - filled);
      memmove(room.at + filled, source.at, bytes);  // hosts may send to themselves, overlapping
      source.at += bytes;
      source.bytes -= bytes;
      filled += bytes;
      if (filled == room.bytes) ++target, filled = 0;
    }
  }
}

}  // namespace hca
