// SPDX-License-Identifier: BSD-3-Clause
// reference.h - what a collective must give, worked out from its definition alone.
//
// Shares no code with the compiler, the runtime or the device: blocks are found
// by arithmetic on (rank, block, element), reductions are loops over ranks. What a user's own
// collective must give is taken from the promises that `ensures` made of each rank.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/driver/block_lengths.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/schedule.h"
#include "dsl/ast.h"
#include "nbc.h"

namespace nbcc {

/// One call: contributions are pseudo-random in (call, rank, block, element), small
/// enough that floating point sums are exact in any order. Buffers are given with their blocks
/// one behind the other.
class Reference {
 public:
  /// A vector is as long as the longest block. `neighbors`: of each rank, where the kind has any.
  /// Of a user's own collective, whose blocks are all as long, only the promises in the schedules
  /// of all ranks are looked at. Both outlive this. `user`: what NBC_USER is, if not affine.
  Reference(ast::Kind kind, int64_t ranks, int64_t root, BlockLengths, nbc_type type, nbc_op op,
            bool inPlace = false, std::span<const Neighbors> neighbors = {},
            std::span<const Schedule> own = {}, nbc_reduce_function *user = nullptr);

  /// Elements of each block: of `in`, and of `out` (bcast: `data`). None where there is no such
  /// buffer, or it is not significant.
  std::vector<uint64_t> inBlocks(int64_t rank) const;
  std::vector<uint64_t> outBlocks(int64_t rank) const;
  std::vector<std::byte> in(int64_t rank, int call) const;
  /// What `out` (bcast: `data`) holds before the call: garbage; bcast at the root: the data.
  std::vector<std::byte> before(int64_t rank, int call) const;
  /// Whether a block of `out` (`data`) may hold anything after the call.
  bool mayHoldAnything(int64_t rank, int64_t block) const;
  /// What it begins with after the call; the rest may be anything. What comes from nobody is as
  /// before.
  std::vector<std::byte> after(int64_t rank, int call) const;

 private:
  uint64_t elements(int64_t from, int64_t index) const;
  std::vector<uint64_t> row(int64_t rank, bool received) const;
  std::vector<uint64_t> sources(int64_t rank) const;
  const Neighbors &neighbors(int64_t rank) const { return neighbors_[static_cast<size_t>(rank)]; }
  std::vector<std::byte> block(int64_t from, int64_t index, int call) const;
  std::vector<uint64_t> ownBlocks(int64_t rank, bool result) const;
  const Promise *promiseOf(int64_t rank, int64_t block) const;
  std::vector<std::byte> promised(int64_t rank, int64_t block, int call) const;
  void fold(std::vector<std::byte> &, int64_t from, int64_t index, int call) const;
  std::vector<std::byte> reduced(int64_t ranks, int64_t index, int call) const;
  void append(std::vector<std::byte> &, const std::vector<std::byte> &) const;

  ast::Kind kind_;
  int64_t ranks_, root_;
  BlockLengths lengths_;
  nbc_type type_;
  nbc_op op_;
  bool inPlace_;
  std::span<const Neighbors> neighbors_;
  std::vector<int64_t> firstSlot_;  // of each rank: where its destinations begin, of all ranks'
  std::span<const Schedule> own_;
  nbc_reduce_function *user_;
  struct Reduced {
    int64_t ranks = 0, index = 0;
    int call = -1;
    bool operator==(const Reduced &) const = default;
  };
  mutable Reduced reducedWhat_;
  mutable std::vector<std::byte> reduced_;
};

}  // namespace nbcc
