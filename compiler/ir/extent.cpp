// SPDX-License-Identifier: BSD-3-Clause
// extent.cpp - positions are fractions of a block; they are compared exactly.

#include <numeric>

#include "compiler/ir/schedule.h"
#include "compiler/ir/wide.h"

namespace nbcc {

Extent normalize(Extent extent) {
  // One part shares nothing with what it is one of, and is the usual case.
  if (extent.parts == 1 || extent.count == 0 || extent.count == 1) return extent;
  const int64_t shared =
      std::gcd(std::gcd(extent.count, static_cast<int64_t>(extent.parts)), extent.first);
  extent.first /= shared;
  extent.count /= shared;
  extent.parts = static_cast<int32_t>(extent.parts / shared);
  return extent;
}

bool extend(Extent &extent, const Extent &next) {
  if (extent.buffer != next.buffer ||
      comparePositions(extent.first + extent.count, extent.parts, next.first, next.parts) != 0)
    return false;
  if (extent.parts == next.parts) {
    extent.count += next.count;
  } else {
    // In common parts; if there are none in 32 bits, two extents say it as well.
    const int64_t parts = std::lcm<int64_t>(extent.parts, next.parts);
    if (parts > kMaxParts) return false;
    const int64_t a = parts / extent.parts, b = parts / next.parts;
    extent = {extent.buffer, static_cast<int32_t>(parts), extent.first * a,
              extent.count * a + next.count * b};
  }
  extent = normalize(extent);
  return true;
}

void append(std::vector<Extent> &section, const Extent &next) {
  if (section.empty() || !extend(section.back(), next)) section.push_back(next);
}

int comparePositions(int64_t a, int32_t p, int64_t b, int32_t q) {
  if (p == q) return a < b ? -1 : a > b;
  const Wide left = static_cast<Wide>(a) * q, right = static_cast<Wide>(b) * p;
  return left < right ? -1 : left > right;
}

bool overlap(const Extent &a, const Extent &b) {
  return a.buffer == b.buffer && a.count > 0 && b.count > 0 &&
         comparePositions(a.first, a.parts, b.first + b.count, b.parts) < 0 &&
         comparePositions(b.first, b.parts, a.first + a.count, a.parts) < 0;
}

}  // namespace nbcc
