// SPDX-License-Identifier: BSD-3-Clause
// side_by_side.h - two sections of equal length, piece by piece: which byte goes where; and so all
// copies of a schedule.
//
//   tmp[4 +: 2] -> out[7], out[0]     tmp[4] | tmp[5]
//                                     out[7] | out[0]

#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "compiler/ir/schedule.h"

namespace nbcc {

class SideBySide {
 public:
  SideBySide(const Schedule &s, Section a, Section b) : s_(s), left_{a}, right_{b} {}

  /// The next two pieces, equally long: base.parts and base.count agree. False at the
  /// end, or where they would have to be cut finer than kMaxParts: then failed().
  bool next(Piece &left, Piece &right) {
    if (failed_ || !fill(left_) || !fill(right_)) return false;
    if (left_.piece.base.parts != right_.piece.base.parts) {
      const int64_t parts = std::lcm<int64_t>(left_.piece.base.parts, right_.piece.base.parts);
      if (parts > kMaxParts) {
        failed_ = true;
        return false;
      }
      refine(left_.piece, static_cast<int32_t>(parts / left_.piece.base.parts));
      refine(right_.piece, static_cast<int32_t>(parts / right_.piece.base.parts));
    }
    const int64_t count = std::min(left_.piece.base.count, right_.piece.base.count);
    left = cut(left_.piece, count);
    right = cut(right_.piece, count);
    return true;
  }

  bool failed() const { return failed_; }

 private:
  struct Side {
    Section section;
    Extent rest{};  // of the section's current extent
    Piece piece{};  // of it, the part not yet given out
  };

  bool fill(Side &side) {
    if (side.piece.base.count > 0) return true;
    while (side.rest.count == 0) {
      if (side.section.empty()) return false;
      side.rest = side.section.front();
      side.section = side.section.subspan(1);
    }
    side.piece = firstPiece(s_, side.rest);
    side.rest.first += side.piece.raw.count;
    side.rest.count -= side.piece.raw.count;
    return true;
  }

  static void refine(Piece &piece, int32_t times) {
    for (Extent *e : {&piece.raw, &piece.base}) {
      e->first *= times;
      e->count *= times;
      e->parts *= times;
    }
  }

  static Piece cut(Piece &piece, int64_t count) {
    Piece result = piece;
    for (Extent *e : {&result.raw, &result.base}) e->count = count;
    for (Extent *e : {&piece.raw, &piece.base}) {
      e->first += count;
      e->count -= count;
    }
    return result;
  }

  const Schedule &s_;
  Side left_, right_;
  bool failed_ = false;
};

/// Calls each(from, to) for the pieces of all copies, copy by copy. Returns where each copy's
/// pieces begin among all, and behind them their number. Empty: they cannot be cut as finely as
/// needed.
template <class Each>
std::vector<size_t> walkCopies(const Schedule &s, Each each) {
  std::vector<size_t> begins{0};
  for (const Step &step : s.steps) {
    if (step.op != Op::copy) continue;
    size_t pieces = begins.back();
    SideBySide walk(s, s.from(step), s.to(step));
    for (Piece from, to; walk.next(from, to); ++pieces) each(from, to);
    if (walk.failed()) return {};
    begins.push_back(pieces);
  }
  return begins;
}

}  // namespace nbcc
