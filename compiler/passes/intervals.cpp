// SPDX-License-Identifier: BSD-3-Clause
// intervals.cpp - numbering positions, and sets of such numbers.

#include "compiler/passes/intervals.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

namespace nbcc {
namespace {

template <class Look>
void forEachExtent(const Schedule &s, std::span<const Extent> more, Look look) {
  for (const Step &step : s.steps)
    for (const Section section : {s.from(step), s.with(step), s.to(step)})
      for (const Extent &extent : section) look(extent);
  for (const Extent &extent : more) look(extent);
}

/// Beyond this, positions are looked up instead of counted.
constexpr int64_t kMostParts = 1 << 20;

}  // namespace

Coordinates::Coordinates(const Schedule &s, std::span<const Extent> more)
    : rows_(s.buffers.size()) {
  forEachExtent(s, more, [&](const Extent &e) {
    Row &row = rows_[e.buffer];
    ++row.extents;
    if (row.parts != 0 && row.parts % e.parts != 0) {
      row.parts = std::lcm(row.parts, int64_t{e.parts});
      if (row.parts > kMostParts) row.parts = 0;
    }
  });

  // Counting costs memory by the buffer, looking up time by the extent: counting
  // pays where most positions are used.
  bool lookUp = false;
  for (size_t b = 0; b < rows_.size(); ++b) {
    Row &row = rows_[b];
    if (row.parts != 0 && s.buffers[b].blocks * row.parts > 4 * row.extents + 64) row.parts = 0;
    if (row.parts == 0) {
      row.positions.reserve(2 * row.extents);
      lookUp = true;
    }
  }
  if (lookUp)
    forEachExtent(s, more, [&](const Extent &e) {
      Row &row = rows_[e.buffer];
      if (row.parts != 0) return;
      row.positions.push_back({e.first, e.parts});
      row.positions.push_back({e.first + e.count, e.parts});
    });

  int64_t size = 0;
  for (size_t b = 0; b < rows_.size(); ++b) {
    Row &row = rows_[b];
    row.begin = static_cast<int32_t>(size);
    const auto compare = [](const Position &p, const Position &q) {
      return comparePositions(p.first, p.parts, q.first, q.parts);
    };
    std::sort(row.positions.begin(), row.positions.end(),
              [&](const auto &p, const auto &q) { return compare(p, q) < 0; });
    row.positions.erase(
        std::unique(row.positions.begin(), row.positions.end(),
                    [&](const auto &p, const auto &q) { return compare(p, q) == 0; }),
        row.positions.end());
    size += row.parts != 0 ? s.buffers[b].blocks * row.parts + 1
                           : static_cast<int64_t>(row.positions.size());
    assert(size < INT32_MAX);
  }
  size_ = static_cast<int32_t>(size);
}

int32_t Coordinates::find(const Row &row, int64_t first, int32_t parts) {
  if (row.parts != 0) return row.begin + static_cast<int32_t>(first * (row.parts / parts));
  const auto at = std::lower_bound(row.positions.begin(), row.positions.end(), first,
                                   [&](const Position &p, int64_t) {
                                     return comparePositions(p.first, p.parts, first, parts) < 0;
                                   });
  return row.begin + static_cast<int32_t>(at - row.positions.begin());
}

Coordinates::Range Coordinates::operator()(const Extent &e) const {
  const Row &row = rows_[e.buffer];
  return {find(row, e.first, e.parts), find(row, e.first + e.count, e.parts)};
}

IntegerSet::IntegerSet(int32_t size) : size_(size) {
  size_t words = size;
  do {
    words = (words + 63) / 64;
    levels_.emplace_back(std::max<size_t>(words, 1));
  } while (words > 1);
}

void IntegerSet::insert(int32_t i) {
  for (std::vector<uint64_t> &level : levels_) {
    level[i >> 6] |= uint64_t{1} << (i & 63);
    i >>= 6;
  }
}

void IntegerSet::erase(int32_t i) {
  for (std::vector<uint64_t> &level : levels_) {
    level[i >> 6] &= ~(uint64_t{1} << (i & 63));
    if (level[i >> 6] != 0) return;
    i >>= 6;
  }
}

int32_t IntegerSet::atOrBefore(int32_t i) const {
  for (size_t level = 0; level < levels_.size(); ++level) {
    const uint64_t word = levels_[level][i >> 6] << (63 - (i & 63));  // bits up to i, i on top
    if (word != 0) {
      i -= std::countl_zero(word);
      while (level-- > 0) i = (i << 6) + 63 - std::countl_zero(levels_[level][i]);
      return i;
    }
    if (i >> 6 == 0) return -1;
    i = (i >> 6) - 1;
  }
  return -1;
}

int32_t IntegerSet::atOrAfter(int32_t i) const {
  if (i >= size_) return size_;
  for (size_t level = 0; level < levels_.size(); ++level) {
    if (static_cast<size_t>(i >> 6) >= levels_[level].size()) return size_;
    const uint64_t word = levels_[level][i >> 6] >> (i & 63);
    if (word != 0) {
      i += std::countr_zero(word);
      while (level-- > 0) i = (i << 6) + std::countr_zero(levels_[level][i]);
      return i;
    }
    i = (i >> 6) + 1;
  }
  return size_;
}

}  // namespace nbcc
