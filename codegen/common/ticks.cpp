// SPDX-License-Identifier: BSD-3-Clause
// ticks.cpp - how fine the yardstick must be, and where things lie on it.

#include "codegen/common/ticks.h"

#include <algorithm>
#include <numeric>

namespace nbcc::codegen {

Ticks::Ticks(const Schedule &s) : spans_(s.buffers.size()) {
  // First with `parts` alone: how fine a block of each buffer is.
  for (size_t b = 0; b < s.buffers.size(); ++b) {
    const Buffer &buffer = s.buffers[b];
    if (buffer.like.empty()) {
      if (buffer.blocks > 0) spans_[b].push_back({0, buffer.blocks, 0, 0, 0, 1});
      continue;
    }
    Extent rest{static_cast<BufferId>(b), 1, 0, buffer.blocks};
    if (buffer.uniform() && buffer.blocks > 0) rest.count = 1;  // the others are alike
    while (rest.count > 0) {
      const Piece piece = firstPiece(s, rest);
      std::vector<Span> &spans = spans_[b];
      if (!spans.empty() && spans.back().parts == piece.base.parts)
        spans.back().blocks += piece.raw.count;
      else
        spans.push_back({rest.first, piece.raw.count, 0, 0, 0, piece.base.parts});
      rest.first += piece.raw.count;
      rest.count -= piece.raw.count;
    }
    if (buffer.uniform() && buffer.blocks > 0) spans_[b].back().blocks = buffer.blocks;
  }

  int64_t perBlock = 1;
  const auto refine = [&](Section section) {
    for (const Extent &e : section)
      for (const Span &span : spans_[e.buffer])
        if (perBlock <= kMost)
          perBlock = span.parts > kMost || e.parts > kMost / span.parts
                         ? kMost + 1
                         : std::lcm(perBlock, span.parts * e.parts);
  };
  for (const Step &step : s.steps) {
    refine(s.from(step));
    refine(s.with(step));
    refine(s.to(step));
  }

  double total = 0;
  for (size_t b = 0; b < s.buffers.size(); ++b)
    if (s.buffers[b].significant)
      for (const Span &span : spans_[b])
        total += static_cast<double>(span.blocks) * perBlock / span.parts;
  if (perBlock > kMost || total > kMost) return;

  perBlock_ = perBlock;
  for (std::vector<Span> &spans : spans_) {
    int64_t tick = 0;
    for (Span &span : spans) {
      // A scratch buffer that no step names may be finer than everything else.
      span.perBlock = perBlock / span.parts;
      span.begin = tick;
      span.end = tick += span.blocks * span.perBlock;
    }
  }
}

const Ticks::Span &Ticks::spanOf(BufferId b, int64_t block) const {
  const std::vector<Span> &spans = spans_[b];
  if (spans.size() == 1) return spans[0];
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), block,
                       [](int64_t wanted, const Span &span) { return wanted < span.firstBlock; });
  return *(after - 1);
}

const Ticks::Span &Ticks::spanAt(BufferId b, int64_t tick) const {
  const std::vector<Span> &spans = spans_[b];
  if (spans.size() == 1) return spans[0];
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), tick,
                       [](int64_t wanted, const Span &span) { return wanted < span.begin; });
  return *(after - 1);
}

Ticks::Range Ticks::range(const Extent &e) const {
  if (e.count == 0) return {0, 0};
  const auto position = [&](int64_t first) {
    const Span &span = spanOf(e.buffer, first / e.parts);
    return span.begin + (first - span.firstBlock * e.parts) * (span.perBlock / e.parts);
  };
  // The end may be that of the buffer: the position of the last unit and one more.
  const int64_t last = e.first + e.count - 1;
  return {position(e.first), position(last) + spanOf(e.buffer, last / e.parts).perBlock / e.parts};
}

int64_t Ticks::length(Section section) const {
  int64_t total = 0;
  for (const Extent &e : section) {
    const Range r = range(e);
    total += r.end - r.begin;
  }
  return total;
}

int64_t Ticks::unit(const Extent &e) const {
  return spanOf(e.buffer, e.first / e.parts).perBlock / e.parts;
}

std::vector<Extent> Ticks::cut(Section section, int64_t begin, int64_t end) const {
  std::vector<Extent> result;
  int64_t at = 0;
  for (const Extent &e : section) {
    const Range r = range(e);
    const int64_t length = r.end - r.begin;
    int64_t from = r.begin + std::clamp<int64_t>(begin - at, 0, length);
    const int64_t to = r.begin + std::clamp<int64_t>(end - at, 0, length);
    while (from < to) {
      const Span &span = spanAt(e.buffer, from);
      const int64_t stop = std::min(to, span.end);
      result.push_back(
          normalize({e.buffer, static_cast<int32_t>(span.perBlock),
                     span.firstBlock * span.perBlock + from - span.begin, stop - from}));
      from = stop;
    }
    at += length;
    if (at >= end) break;
  }
  return result;
}

}  // namespace nbcc::codegen
