// SPDX-License-Identifier: BSD-3-Clause
// vary.cpp - --vary: the shape of a run from its seed.

#include "compiler/driver/vary.h"

#include <algorithm>
#include <sstream>

#include "compiler/driver/elements.h"
#include "nbc.h"

namespace nbcc {
namespace {

constexpr uint32_t kWrap = 1u << 24;  // of CQ indices; those of queues wrap at 2^16, with it

/// Mostly little: parts of a block that are empty, or one longer than their neighbours.
uint64_t drawCount(Variation &v) {
  switch (v.below(8)) {
    case 0:
      return 0;
    case 1:
    case 2:
      return 1;
    case 3:
    case 4:
      return v.below(8);
    case 5:
    case 6:
      return v.below(40);
    default:
      return v.below(200);
  }
}

}  // namespace

std::string Variation::text() const {
  std::ostringstream s;
  s << "depth " << depth << ", indices from " << firstIndex << ", ";
  if (eagerBytes) s << "eager up to " << eagerBytes << " bytes, ";
  s << "calls of ";
  for (size_t i = 0; i < calls.size(); ++i)
    s << (i ? ", " : "") << calls[i].count << (calls[i].inPlace ? " in place" : "");
  s << " elements";
  return s.str();
}

Variation variationOf(const Options &o, uint64_t seed) {
  Variation v;
  v.depth = o.targetOptions.depth;
  v.eagerBytes = o.eagerBytes;
  v.firstIndex = o.firstIndex;
  v.calls.assign(static_cast<size_t>(o.calls), {o.count, o.inPlace});
  v.longest = o.count;
  const bool each = o.targetOptions.lengths == Blocks::each;
  if (!o.vary) {
    for (size_t n = 0; n < v.calls.size(); ++n) {
      Variation::Call &call = v.calls[n];
      call.lengths = !each              ? BlockLengths(call.count)
                     : o.counts.empty() ? BlockLengths::drawn(call.count, mix(seed) + n)
                                        : BlockLengths::given(o.counts);
      v.longest = call.count = call.lengths.longest();
    }
    return v;
  }

  v.random.seed(seed);
  v.late = v.below(2) == 0;
  v.depth = 1 + static_cast<int>(v.below(3));
  if (v.below(3) == 0) v.firstIndex = kWrap - 1 - static_cast<uint32_t>(v.below(48));
  v.calls.resize(1 + v.below(3 * static_cast<uint64_t>(v.depth) + 2));
  bool placed = v.below(2) == 0;
  v.longest = 1;
  for (Variation::Call &call : v.calls) {
    call.count = drawCount(v);
    call.lengths = each ? BlockLengths::drawn(call.count, v.random()) : BlockLengths(call.count);
    call.inPlace = placed && v.below(2) == 0;
    v.longest = std::max(v.longest, call.count);
  }
  size_t size = nbc_type_size(*typeNamed(o.type));
  v.eagerBytes = size * (o.targetOptions.protocol == Protocol::eager ? v.longest : 1 + v.below(20));
  return v;
}

}  // namespace nbcc
