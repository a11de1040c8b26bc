// SPDX-License-Identifier: BSD-3-Clause
// places.h - where the extents of a legal schedule are, as pieces of a template.
//
// All scratch of a variant is one STAGING buffer, all slots are one SLOTS buffer. A
// schedule's buffer is a room there: blocks [room, ...), its contents packed.
// Contents are a run of pieces, made when a room is first named; an extent that
// begins and ends with them is a range of that run, any other gets pieces of its
// own. Callers' buffers are where the caller has them. Where blocks have lengths of their own,
// a piece is at most one block.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/target.h"
#include "compiler/ir/schedule.h"
#include "nbc/template.h"

namespace nbcc::codegen {

/// Memory one behind the other: pieces [first, first + count) of the table.
struct Span {
  uint32_t first = 0, count = 0;
};

/// Of a caller's buffer: enum nbc_role.
uint32_t roleOf(const Buffer &);

/// Blocks of room that are enough for a schedule's buffer, whatever the lengths.
uint64_t blocksFor(const Schedule &, BufferId);

class Places {
 public:
  /// `callers`: the template's buffer of each caller's role. `staging`: of scratch.
  /// Pieces are put behind those that there are.
  Places(const Schedule &, Blocks, std::span<const uint32_t, 3> callers, uint32_t staging,
         std::vector<nbc_piece> &pieces);

  /// This buffer of the schedule lies there, in SLOTS.
  void give(BufferId, uint32_t slots, uint64_t room);

  /// Where an extent is.
  Span place(const Extent &);
  /// The pieces of a section, one behind the other in the table.
  nbc_range section(Section);

  /// Blocks of STAGING that were taken so far.
  uint64_t stagingBlocks() const { return stagingBlocks_; }

 private:
  struct Room {
    uint32_t buffer = UINT32_MAX;
    uint64_t room = 0;
    Span content;
    std::vector<int64_t> begins;  // of the content's pieces, in blocks; where there are several
    bool ready = false;
  };
  uint32_t shapeOf(BufferId b) const { return callers_[roleOf(s_.buffers[b])]; }
  void open(BufferId, Room &);
  nbc_piece part(const Extent &, const Room &) const;

  const Schedule &s_;
  const Blocks lengths_;
  std::span<const uint32_t, 3> callers_;
  uint32_t staging_;
  std::vector<nbc_piece> &pieces_;
  std::vector<Room> rooms_;
  uint64_t stagingBlocks_ = 0;
};

}  // namespace nbcc::codegen
