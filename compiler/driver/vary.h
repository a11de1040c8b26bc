// SPDX-License-Identifier: BSD-3-Clause
// vary.h - what a run is made of beside the algorithm: as the options say, or drawn from the seed.
//
// With --vary every seed is a run of another shape: several calls in flight, of lengths
// around those where something changes (none, one element, eager, rendezvous), some in
// place; depths; indices about to wrap; ranks that start calls late and hosts that look late.

#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/driver/block_lengths.h"
#include "compiler/driver/options.h"

namespace nbcc {

struct Variation {
  struct Call {
    uint64_t count = 0;  // of the longest block
    bool inPlace = false;
    BlockLengths lengths = BlockLengths(0);
  };
  std::vector<Call> calls;
  uint64_t longest = 0;     // the largest count
  uint64_t eagerBytes = 0;  // blocks up to this long go eager; 0: as run.cpp has it
  int depth = 2;
  uint32_t firstIndex = 0;  // of all queues
  bool late = false;        // ranks start calls, and look at their completions, when they like
  std::mt19937_64 random;

  /// In 0 ..< n.
  uint64_t below(uint64_t n) { return random() % n; }
  /// "depth 2, indices from 0, eager up to 24 bytes, calls of 3, 0 in place, 17 elements".
  std::string text() const;
};

Variation variationOf(const Options &, uint64_t seed);

}  // namespace nbcc
