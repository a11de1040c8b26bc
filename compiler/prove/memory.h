// SPDX-License-Identifier: BSD-3-Clause
// memory.h - the bytes of all ranks, as cells: the pieces that no extent divides.
//
//   data[0 +: 3 of 4], data[1 of 3]  =>  cells at 0, 1/3, 2/3, 3/4 of a block
//
// A cell is as small as any schedule of the call cuts a block, and no smaller:
// whole blocks for most collectives. So a step moves whole cells, whatever the
// length of a message, and a row of numbers, one per cell, stands for a buffer.
//
// A scratch block that is like a part of a block has the cells of that part; a
// cell moves only to a cell that lies at the same place of its block, else the
// two would not be equally long for every length.
//
// Each rank's cells are numbered from 0.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/schedule.h"

namespace nbcc {

class OwnLengths;

/// Refused above: a cell costs 4 bytes, those of one rank 16 more while it is looked
/// at, and a moved cell a few nanoseconds.
inline constexpr int64_t kMostCells = int64_t{1} << 27;
inline constexpr int64_t kMostCellsOfRank = int64_t{1} << 25;
inline constexpr int64_t kMostMovedCells = int64_t{1} << 33;

class Together;

struct Cells {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// One block of one buffer.
struct BlockCells {
  Cells cells;
  int32_t cut = 0;     // where in a whole block it begins: the how-manieth cell
  int64_t length = 0;  // blocks of equal number are equally long, also in v-variants
};

class Memory {
 public:
  /// Finds the cells; false where they are too many, which was reported.
  bool layOut(const Together &, Diag &);

  int64_t cellsOf(int64_t rank) const { return firstCell_[rank + 1] - firstCell_[rank]; }
  /// Where a rank's cells begin in a row of the cells of all ranks.
  int64_t firstCell(int64_t rank) const { return firstCell_[rank]; }
  int64_t allCells() const { return firstCell_.back(); }

  Cells cells(int64_t rank, const Extent &) const;
  BlockCells block(int64_t rank, BufferId, int64_t block) const;
  /// Whether all blocks of the buffer are like whole blocks of the caller's.
  bool whole(int64_t rank, BufferId buffer) const { return place(rank, buffer).parts < 0; }
  /// The extent that a cell is, to name it.
  Extent extent(int64_t rank, int64_t cell) const;

 private:
  /// Where in the coordinates of a caller's block a scratch block lies: it is
  /// part `part` of `parts`. And its cells.
  struct Part {
    int32_t part = 0, parts = 1;
    int32_t cut = 0;
    int64_t cell = 0;
  };
  struct Place {
    int64_t cell = 0;  // of block 0
    int64_t blocks = 0;
    int64_t parts = -1;    // in parts_, blocks + 1 of them; -1: all blocks are whole
    int64_t lengths = -1;  // in lengths_; -1: length + block * lengthStep
    int64_t length = 0, lengthStep = 0;
  };

  const Place &place(int64_t rank, BufferId buffer) const {
    return places_[firstPlace_[rank] + buffer];
  }
  Part partOf(const Place &, int64_t block) const;
  int64_t lengthOf(const Place &, int64_t block) const;
  int64_t cellAt(const Place &, int64_t position, int32_t parts) const;
  int32_t cutAt(int64_t part, int64_t parts) const;

  bool placeBuffers(const Together &, const Schedule &, const OwnLengths *, Diag &);
  void placeCaller(const Together &, const Schedule &, const Buffer &, Place &);
  void placeSources(const Together &, const Schedule &, Place &);
  bool placeScratch(const Schedule &, const Buffer &, Place &, Diag &);
  bool findCuts(std::span<const Schedule> ranks, Diag &);
  bool numberCells(std::span<const Schedule> ranks, Diag &);
  bool boundWork(std::span<const Schedule> ranks, Diag &) const;

  struct Cut {
    int32_t part, parts;  // in lowest terms
  };
  std::vector<Cut> cuts_;  // 0, ..., 1, in order
  int64_t perBlock_ = 1;   // cells of a whole block
  bool even_ = true;       // cut i is i / perBlock_
  std::vector<Place> places_;
  std::vector<int64_t> firstPlace_, firstCell_;
  std::vector<Part> parts_;
  std::vector<int64_t> lengths_;
};

/// The runs of cells of a section, one after the other.
template <class Each>
void eachRun(const Memory &memory, int64_t rank, Section section, Each each) {
  for (const Extent &e : section)
    if (e.count > 0) each(memory.cells(rank, e));
}

}  // namespace nbcc
