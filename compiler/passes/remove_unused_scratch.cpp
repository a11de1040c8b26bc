// SPDX-License-Identifier: BSD-3-Clause
// remove_unused_scratch.cpp - see the header.

#include "compiler/passes/remove_unused_scratch.h"

#include <algorithm>

namespace nbcc {

void removeUnusedScratch(Schedule &s) {
  std::vector<char> used(s.buffers.size());
  for (size_t b = 0; b < s.buffers.size(); ++b) used[b] = s.buffers[b].ofCaller();
  for (const Step &step : s.steps)
    for (const Section section : {s.from(step), s.with(step), s.to(step)})
      for (const Extent &extent : section) used[extent.buffer] = true;
  if (std::ranges::all_of(used, [](char u) { return u; })) return;

  for (size_t b = 0; b < s.buffers.size(); ++b) {
    Buffer &buffer = s.buffers[b];
    if (!used[b] ||
        std::ranges::all_of(buffer.like, [&](const Extent &e) { return used[e.buffer]; }))
      continue;
    std::vector<Extent> like;
    for (Extent rest : buffer.like) {
      while (rest.count > 0) {
        const Piece piece = firstPiece(s, rest);  // as many units: blocks stay what they were
        like.push_back(piece.base);
        rest.first += piece.raw.count;
        rest.count -= piece.raw.count;
      }
    }
    buffer.like = std::move(like);
    buffer.likeEnds.clear();
  }

  std::vector<BufferId> to(s.buffers.size(), -1);
  std::vector<Buffer> kept;
  for (size_t b = 0; b < s.buffers.size(); ++b) {
    if (!used[b]) continue;
    to[b] = static_cast<BufferId>(kept.size());
    kept.push_back(std::move(s.buffers[b]));
  }
  s.buffers = std::move(kept);
  s.renumberBuffers(to);
}

}  // namespace nbcc
