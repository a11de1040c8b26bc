// SPDX-License-Identifier: BSD-3-Clause
// verify_places.h - do the pieces of a template name the memory that a legal schedule names?
//
// An extent of the schedule is a stretch of a buffer of the caller, or of a room. What
// lies in a room, packed, is a row of runs of the caller's blocks, which `like` says; a
// place in it is a run and a position there. A piece is at that place if the lengths of
// those in its `before` are what lies in the room up to there. Where a room lies in
// STAGING is not for the schedule to say: the first piece tells, all others have to
// agree, and in the end no two rooms of a variant may touch (separate()).
//
// Linear in pieces, extents and what lies in the rooms that are named; a `before` is
// walked once for all pieces whose `before` begins with it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/common/template_view.h"
#include "compiler/ir/schedule.h"

namespace nbcc::codegen {

/// For one variant. What returns false has put the reason into `why`.
class PlaceVerifier {
 public:
  /// `owners`: of each buffer of the template, the variant whose rooms are there;
  /// UINT32_MAX: none yet. It is the same for all variants of a template.
  PlaceVerifier(const TemplateView &, const Schedule &, uint32_t variant,
                std::vector<uint32_t> &owners);

  /// A receive ahead of the call: the room that its slot lies in.
  bool slot(Section to, const nbc_reloc &room);

  /// What is wanted from here on.
  void want(Section);
  void want(Section, Section behind);
  /// The next pieces; oneExtent: they have to be one behind the other in memory.
  bool found(uint32_t first, uint32_t count, bool oneExtent);
  /// The first piece of a place that is long enough for all that is wanted.
  bool foundTarget(uint32_t piece);
  /// That was all.
  bool complete();

  /// Rooms lie inside their buffers and do not touch.
  bool separate();

  std::string why;

 private:
  /// Blocks [room, ...) of a room, or of a caller's buffer, that come from one place.
  struct Stretch {
    int64_t room;
    uint32_t shape;
    int64_t first, parts, count;  // of the shape
  };
  /// Position first/parts of the caller's blocks that stretch `index` is of.
  struct Position {
    uint32_t index = 0;
    int64_t first = 0, parts = 1;
  };
  struct Room {
    uint32_t buffer = UINT32_MAX;  // of the template
    uint64_t room = 0;
    uint64_t given = 0;             // blocks, of slots
    uint32_t begin = 0, count = 0;  // stretches
    bool open = false;
  };
  /// Where the first pieces of the run that begins there end, if they are a room's.
  struct Prefix {
    BufferId room;
    std::vector<Position> ends;
  };

  uint32_t callersBuffer(BufferId b) const;
  Room &open(BufferId);
  bool bind(BufferId, uint32_t buffer, uint64_t room);
  uint64_t blocksOf(const Room &) const;
  const Stretch &stretch(const Room &r, uint32_t k) const { return stretches_[r.begin + k]; }
  Position start(const Room &, uint32_t index) const;
  Position positionOf(const Room &, int64_t first, int64_t parts) const;
  static int compare(const Position &, const Position &);
  bool advance(const Room &, Position &, const nbc_piece &) const;
  bool behind(BufferId, const nbc_range &before, Position &);
  bool nextExtent();
  bool take(uint32_t number);
  std::string say(uint32_t number) const;
  bool fail(std::string reason);

  const TemplateView &view_;
  const Schedule &s_;
  const uint32_t variant_;
  std::vector<uint32_t> &owners_;
  std::vector<Room> rooms_;  // as the schedule's buffers
  std::vector<Stretch> stretches_;
  std::vector<uint32_t> prefixOf_;  // piece -> its prefix; UINT32_MAX: none
  std::vector<Prefix> prefixes_;

  Section wanted_[2];
  size_t section_ = 0, extent_ = 0;  // the next extent, or the one that `at_` is in
  bool inside_ = false;
  Position at_, end_;
};

}  // namespace nbcc::codegen
