// SPDX-License-Identifier: BSD-3-Clause
// resolve.cpp - from sections of scratch to the caller's blocks they are as long as.
//
//   scratch tmp[8] like out[3 +: 5], out[0 +: 3]
//   tmp[4 +: 2]  ->  out[7], out[0]
//
// A run of blocks that one extent of `like` covers maps as a whole: position x of
// the buffer is position (x + k) / n there, for integers k and n. So an extent of
// `count` units stays one of `count` units, only with other `first` and `parts`,
// through as many levels of `like` as there are; it is cut where a run ends.
// Finding the run is a binary search in Buffer::likeEnds.

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

#include "compiler/ir/schedule.h"
#include "compiler/ir/wide.h"

namespace nbcc {
namespace {

const std::vector<int64_t> &likeEnds(const Buffer &buffer) {
  if (buffer.likeEnds.size() != buffer.like.size()) {
    buffer.likeEnds.resize(buffer.like.size());
    int64_t end = 0;
    for (size_t i = 0; i < buffer.like.size(); ++i)
      buffer.likeEnds[i] = end += buffer.like[i].count;
  }
  return buffer.likeEnds;
}

/// first/parts of `base` may leave 32 bits in a schedule that verify() has not
/// seen; parts 0 says so.
struct Base {
  BufferId buffer;
  Wide first, parts;
  int64_t count;  // how many of the extent's units lie in one piece
};

/// lengthOnly: blocks that are all like one unit need not be told apart, so the
/// piece goes on; then only `parts` of the answer means anything.
Base follow(const Schedule &s, const Extent &extent, bool lengthOnly) {
  Base at{extent.buffer, extent.first, extent.parts, extent.count};
  bool oneBlock = false;  // the rest of the way is inside a single block
  for (;;) {
    const Buffer &buffer = s.buffers[at.buffer];
    if (buffer.like.empty()) return at;
    // 128-bit division is slow, and whole blocks are the usual case.
    const int64_t block = static_cast<int64_t>(at.parts == 1 ? at.first : at.first / at.parts);
    Wide run = block;      // where the run that holds `block` begins
    Wide end = block + 1;  // and ends
    const Extent *unit = &buffer.like[0];
    if (!buffer.uniform()) {
      const std::vector<int64_t> &ends = likeEnds(buffer);
      if (block >= ends.back()) return {at.buffer, at.first, 0, at.count};
      // As many extents as blocks are one unit each: no need to search.
      const bool single = ends.back() == static_cast<int64_t>(ends.size());
      const size_t found =
          single ? block : std::upper_bound(ends.begin(), ends.end(), block) - ends.begin();
      unit = &buffer.like[found];
      end = ends[found];
      run = end - unit->count;
    } else if (lengthOnly) {
      oneBlock = true;
    }
    if (!oneBlock)
      at.count = static_cast<int64_t>(std::min<Wide>(at.count, end * at.parts - at.first));
    at = {unit->buffer, (unit->first - run) * at.parts + at.first, at.parts * unit->parts,
          at.count};
    if (at.parts > std::numeric_limits<int64_t>::max()) return {at.buffer, at.first, 0, at.count};
  }
}

Wide greatestCommonDivisor(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace

Piece firstPiece(const Schedule &s, const Extent &extent) {
  const Base base = follow(s, extent, false);
  assert(base.parts > 0 && base.parts <= kMaxParts && "verify() comes before resolve()");
  Piece piece{extent, extent};
  piece.raw.count = base.count;
  piece.base = {base.buffer, static_cast<int32_t>(base.parts), static_cast<int64_t>(base.first),
                base.count};
  return piece;
}

std::vector<Extent> resolve(const Schedule &s, Section section) {
  std::vector<Extent> result;
  for (Extent rest : section) {
    while (rest.count > 0) {
      const Piece piece = firstPiece(s, rest);
      append(result, normalize(piece.base));
      rest.first += piece.raw.count;
      rest.count -= piece.raw.count;
    }
  }
  return result;
}

Amount amount(const Schedule &s, Section section) {
  Wide count = 0, parts = 1;
  for (Extent rest : section) {
    while (rest.count > 0) {
      const Base piece = follow(s, rest, true);
      if (piece.parts == 0 || piece.parts > kMaxParts) return {0, 0};
      if (piece.parts == parts) {
        count += piece.count;
      } else {
        const Wide shared = greatestCommonDivisor(parts, piece.parts);
        count = count * (piece.parts / shared) + piece.count * (parts / shared);
        parts *= piece.parts / shared;
        const Wide both = greatestCommonDivisor(count, parts);
        count /= both;
        parts /= both;
        if (parts > std::numeric_limits<int64_t>::max()) return {0, 0};
      }
      if (count > std::numeric_limits<int64_t>::max()) return {0, 0};
      rest.first += piece.count;
      rest.count -= piece.count;
    }
  }
  if (parts == 1) return {static_cast<int64_t>(count), 1};
  const Wide both = greatestCommonDivisor(count, parts);
  return {static_cast<int64_t>(count / both), static_cast<int64_t>(parts / both)};
}

Lengths::Lengths(const Schedule &s) : s_(s) {
  parts_.reserve(s.buffers.size());
  for (const Buffer &buffer : s.buffers) {
    int64_t parts = buffer.like.empty() ? 1 : 0;
    for (const Extent &unit : buffer.like) {
      const int64_t ofUnit = int64_t{unit.parts} * parts_[unit.buffer];
      if (&unit != &buffer.like.front() && ofUnit != parts)
        parts = 0;
      else
        parts = ofUnit;
      if (parts == 0) break;
    }
    parts_.push_back(parts <= kMaxParts ? static_cast<int32_t>(parts) : 0);
  }
}

Amount Lengths::operator()(Section section) const {
  int64_t count = 0, parts = 1;
  for (const Extent &e : section) {
    if (e.count == 0) continue;
    const int64_t ofExtent = int64_t{e.parts} * parts_[e.buffer];
    if (count == 0) parts = ofExtent;
    const bool alike = ofExtent == parts && parts > 0 && parts <= kMaxParts;
    if (!alike || __builtin_add_overflow(count, e.count, &count)) return amount(s_, section);
  }
  if (parts == 1 || count == 1) return {count, parts};  // in lowest terms, without dividing
  const int64_t shared = std::gcd(count, parts);
  return {count / shared, parts / shared};
}

}  // namespace nbcc
