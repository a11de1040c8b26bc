// SPDX-License-Identifier: BSD-3-Clause
// ticks.h - one yardstick for all buffers of a schedule.
//
// A tick is the same part of a caller's block in every buffer, and so fine that
// every section begins and ends on one: an allgather of whole blocks has one tick
// a block, a ring allreduce of P chunks has P a vector. A scratch buffer whose
// blocks are like chunks then has one tick a block. So sections can be cut,
// compared and mapped to each other in integers.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/schedule.h"

namespace nbcc::codegen {

class Ticks {
 public:
  /// More than this many, all buffers together: fits() is false.
  static constexpr int64_t kMost = int64_t{1} << 26;

  /// From the extents of all steps.
  explicit Ticks(const Schedule &);

  bool fits() const { return perBlock_ != 0; }
  int64_t perBlock() const { return perBlock_; }  // of a caller's block
  int64_t size(BufferId b) const { return spans_[b].empty() ? 0 : spans_[b].back().end; }

  /// Ticks [begin, end) of the extent's buffer.
  struct Range {
    int64_t begin, end;
  };
  Range range(const Extent &) const;
  int64_t length(Section) const;

  /// How many ticks one of its units (1/parts of a block) takes. All units of
  /// an extent that begins at `e.first` and lies in one span take as many.
  int64_t unit(const Extent &e) const;

  /// The extents that ticks [begin, end) of a section are.
  std::vector<Extent> cut(Section, int64_t begin, int64_t end) const;

 private:
  /// Blocks [firstBlock, ...) of a buffer that take `perBlock` ticks each.
  struct Span {
    int64_t firstBlock, blocks, begin, end, perBlock;
    int64_t parts;  // of a caller's block, that one block is
  };
  const Span &spanOf(BufferId, int64_t block) const;
  const Span &spanAt(BufferId, int64_t tick) const;

  int64_t perBlock_ = 0;
  std::vector<std::vector<Span>> spans_;
};

}  // namespace nbcc::codegen
