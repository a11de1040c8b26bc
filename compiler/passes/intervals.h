// SPDX-License-Identifier: BSD-3-Clause
// intervals.h - what is known of each byte, kept per run of bytes of which the same is known.
//
// A schedule of 64 Ki blocks may touch them all in three extents or in 64 Ki, so
// nothing here is per block. Coordinates numbers the positions at which extents
// begin or end; between two of them all bytes fare alike. IntervalMap holds a
// value for each run of such numbers. All its operations take a few steps plus
// what they remove; a schedule's whole walk is near-linear in its extents.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/schedule.h"

namespace nbcc {

/// Positions of all buffers as small integers, in order within each buffer.
class Coordinates {
 public:
  /// Of every extent of the steps' sections, and of `more`.
  explicit Coordinates(const Schedule &, std::span<const Extent> more = {});

  struct Range {
    int32_t low, high;
  };
  /// Of an extent that the constructor has seen.
  Range operator()(const Extent &) const;
  int32_t size() const { return size_; }

 private:
  struct Position {
    int64_t first;
    int32_t parts;
  };
  struct Row {
    int32_t begin = 0;  // its first number
    int64_t parts = 1;  // 0: look in `positions`. Else numbers are positions in 1/parts
    int64_t extents = 0;
    std::vector<Position> positions;  // sorted, single
  };
  static int32_t find(const Row &, int64_t first, int32_t parts);

  std::vector<Row> rows_;  // by buffer
  int32_t size_ = 0;
};

/// A set of integers in 0 ..< size, as a tree of 64 children per node.
class IntegerSet {
 public:
  explicit IntegerSet(int32_t size);
  void insert(int32_t);
  void erase(int32_t);
  bool contains(int32_t i) const { return levels_[0][i >> 6] >> (i & 63) & 1; }
  int32_t atOrBefore(int32_t) const;  // -1: none
  int32_t atOrAfter(int32_t) const;   // size: none

 private:
  std::vector<std::vector<uint64_t>> levels_;  // [0]: the integers; [k]: words of [k - 1] not 0
  int32_t size_;
};

template <class Value>
class IntervalMap {
 public:
  IntervalMap(int32_t size, Value initial) : starts_(size + 1), values_(size + 1, initial) {
    starts_.insert(0);
  }

  void assign(Coordinates::Range r, const Value &value) {
    if (r.low >= r.high) return;
    split(r.low);
    split(r.high);
    for (int32_t at = starts_.atOrAfter(r.low + 1); at < r.high; at = starts_.atOrAfter(at + 1))
      starts_.erase(at);
    values_[r.low] = value;
  }

  /// change(Value &) for each run of the range; runs are cut at its ends.
  template <class Change>
  void change(Coordinates::Range r, Change change) {
    if (r.low >= r.high) return;
    split(r.low);
    split(r.high);
    for (int32_t at = r.low; at < r.high; at = starts_.atOrAfter(at + 1)) change(values_[at]);
  }

  /// look(const Value &) for each run that reaches into the range.
  template <class Look>
  void look(Coordinates::Range r, Look look) const {
    if (r.low >= r.high) return;
    for (int32_t at = starts_.atOrBefore(r.low); at < r.high; at = starts_.atOrAfter(at + 1))
      look(values_[at]);
  }

 private:
  void split(int32_t at) {
    if (starts_.contains(at)) return;
    values_[at] = values_[starts_.atOrBefore(at)];
    starts_.insert(at);
  }

  IntegerSet starts_;
  std::vector<Value> values_;  // at each start: of the run from there to the next start
};

}  // namespace nbcc
