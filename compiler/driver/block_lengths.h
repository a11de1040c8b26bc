// SPDX-License-Identifier: BSD-3-Clause
// block_lengths.h - how many elements each block of a call has, and where a rank's blocks lie.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dsl/ast.h"
#include "nbc.h"

namespace nbcc {

/// 64 bits of which each depends on each of x.
uint64_t mix(uint64_t x);

/// Of one call. Blocks are numbered: by rank, and for alltoall P times the sender plus the
/// receiver, which in place is as many as the other way.
class BlockLengths {
 public:
  /// All alike.
  explicit BlockLengths(uint64_t count = 0) : longest_(count) {}
  /// Drawn: 0, 1, `longest` and odd ones among them.
  static BlockLengths drawn(uint64_t longest, uint64_t key);
  /// These, over and over. At least one.
  static BlockLengths given(std::vector<uint64_t> counts);

  bool each() const { return each_; }
  uint64_t longest() const { return longest_; }
  uint64_t of(int64_t block) const;

 private:
  bool each_ = false;
  uint64_t longest_ = 0, key_ = 0;
  std::vector<uint64_t> given_;
};

/// A buffer in a call with lengths of its own: blocks one behind the other, or in any order with
/// gaps between them.
struct Layout {
  std::vector<size_t> at, bytes;  // of each block, in the caller's memory
  size_t size = 0;                // of all, with the gaps

  // As nbc_call has them. Empty: null.
  std::vector<size_t> counts;
  std::vector<ptrdiff_t> displacements;
  std::vector<nbc_type> types;

  /// The caller's memory: `packed`, which are the blocks one behind the other, put where they
  /// belong; what is beside them stays as in `memory`.
  void spread(const std::vector<std::byte> &packed, std::vector<std::byte> &memory) const;
};

/// One block behind the other, as without arrays.
Layout packedLayout(const std::vector<uint64_t> &elements, nbc_type type);

/// For blocks of so many elements; what is free is drawn from `key`. Types too where they
/// may differ: some blocks are then said to be bytes, those for which `isBytes` says so.
Layout layoutOf(const std::vector<uint64_t> &elements, nbc_type type,
                const std::vector<bool> &isBytes, uint64_t key);

}  // namespace nbcc
