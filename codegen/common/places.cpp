// SPDX-License-Identifier: BSD-3-Clause
// places.cpp - pieces of a template for the extents of a schedule.

#include "codegen/common/places.h"

#include <algorithm>
#include <cassert>

namespace nbcc::codegen {
namespace {

/// Blocks of room that are enough for any length of them.
uint64_t blocksFor(const Extent &base) {
  const int64_t parts = base.parts, end = base.first + base.count;
  return static_cast<uint64_t>((end + parts - 1) / parts - base.first / parts);
}

nbc_piece pieceOf(const Extent &lengths, uint32_t shape) {
  const Extent e = normalize(lengths);
  nbc_piece piece{};
  piece.shape = shape;
  piece.parts = static_cast<uint32_t>(e.parts);
  piece.first = static_cast<uint64_t>(e.first);
  piece.count = static_cast<uint64_t>(e.count);
  return piece;
}

}  // namespace

uint32_t roleOf(const Buffer &buffer) {
  return buffer.role == Role::in    ? NBC_ROLE_IN
         : buffer.role == Role::out ? NBC_ROLE_OUT
                                    : NBC_ROLE_DATA;
}

uint64_t blocksFor(const Schedule &s, BufferId room) {
  const Buffer &buffer = s.buffers[room];
  uint64_t blocks = 0;
  Extent rest{room, 1, 0, buffer.uniform() ? std::min<int64_t>(buffer.blocks, 1) : buffer.blocks};
  while (rest.count > 0) {
    const Piece piece = firstPiece(s, rest);
    blocks += blocksFor(piece.base);
    rest.first += piece.raw.count;
    rest.count -= piece.raw.count;
  }
  return buffer.uniform() ? blocks * static_cast<uint64_t>(buffer.blocks) : blocks;
}

Places::Places(const Schedule &s, Blocks lengths, std::span<const uint32_t, 3> callers,
               uint32_t staging, std::vector<nbc_piece> &pieces)
    : s_(s),
      lengths_(lengths),
      callers_(callers),
      staging_(staging),
      pieces_(pieces),
      rooms_(s.buffers.size()) {
  for (size_t b = 0; b < rooms_.size(); ++b)
    if (s.buffers[b].ofCaller()) rooms_[b].buffer = callers[roleOf(s.buffers[b])];
}

void Places::give(BufferId b, uint32_t slots, uint64_t room) {
  rooms_[b].buffer = slots;
  rooms_[b].room = room;
}

/// The pieces of a section, one behind the other in the table.
nbc_range Places::section(Section section) {
  if (section.size() == 1) {
    const Span span = place(section[0]);
    return {span.first, span.count};
  }
  std::vector<nbc_piece> all;
  for (const Extent &e : section) {
    const Span span = place(e);
    all.insert(all.end(), pieces_.begin() + span.first, pieces_.begin() + span.first + span.count);
  }
  const nbc_range range{static_cast<uint32_t>(pieces_.size()), static_cast<uint32_t>(all.size())};
  pieces_.insert(pieces_.end(), all.begin(), all.end());
  return range;
}

/// What lies in a room, piece by piece.
void Places::open(BufferId b, Room &room) {
  room.ready = true;
  if (room.buffer == UINT32_MAX) {
    room.buffer = staging_;
    room.room = stagingBlocks_;
    stagingBlocks_ += blocksFor(s_, b);
  }
  room.content.first = static_cast<uint32_t>(pieces_.size());
  Extent rest{b, 1, 0, s_.buffers[b].blocks};
  while (rest.count > 0) {
    Piece found = firstPiece(s_, rest);
    if (lengths_ == Blocks::each) {
      const int64_t inBlock = found.base.parts - found.base.first % found.base.parts;
      found.raw.count = found.base.count = std::min(found.base.count, inBlock);
    }
    nbc_piece piece = pieceOf(found.base, shapeOf(found.base.buffer));
    piece.buffer = room.buffer;
    piece.room = room.room;
    if (room.content.count > 0) piece.before = {room.content.first, room.content.count};
    pieces_.push_back(piece);
    ++room.content.count;
    if (found.raw.count < rest.count || !room.begins.empty()) room.begins.push_back(rest.first);
    rest.first += found.raw.count;
    rest.count -= found.raw.count;
  }
}

/// Where an extent is: its pieces lie one behind the other in memory.
Span Places::place(const Extent &e) {
  Room &room = rooms_[e.buffer];
  if (s_.buffers[e.buffer].ofCaller()) {
    nbc_piece piece = pieceOf(e, room.buffer);
    piece.buffer = room.buffer;
    pieces_.push_back(piece);
    return {static_cast<uint32_t>(pieces_.size() - 1), 1};
  }
  if (!room.ready) open(e.buffer, room);
  const int64_t blocks = s_.buffers[e.buffer].blocks;
  const auto begin = [&](size_t k) {  // of content piece k, in units of the extent
    if (k == room.content.count) return blocks * e.parts;
    return room.begins.empty() ? 0 : room.begins[k] * e.parts;
  };
  const auto pieceAt = [&](int64_t unit) {
    if (room.begins.empty()) return size_t{0};
    const auto after = std::upper_bound(room.begins.begin(), room.begins.end(), unit / e.parts);
    return static_cast<size_t>(after - room.begins.begin()) - 1;
  };
  const size_t first = pieceAt(e.first), last = pieceAt(e.first + e.count - 1);
  const bool wholeFirst = begin(first) == e.first;
  const bool wholeLast = begin(last + 1) == e.first + e.count;
  if (wholeFirst && wholeLast)
    return {room.content.first + static_cast<uint32_t>(first),
            static_cast<uint32_t>(last - first + 1)};

  // Several pieces lie behind one another in the table as well, with all that is before them: so
  // the runtime sees that they are one run of memory.
  nbc_range before{room.content.first, static_cast<uint32_t>(first)};
  if (!wholeFirst || first < last) {
    before.begin = static_cast<uint32_t>(pieces_.size());
    for (uint32_t k = 0; k < first; ++k) {
      const nbc_piece copy = pieces_[room.content.first + k];
      pieces_.push_back(copy);
    }
  }
  if (!wholeFirst) {  // behind a part of a piece
    pieces_.push_back(part({e.buffer, e.parts, begin(first), e.first - begin(first)}, room));
    ++before.count;
  }
  const Span span{static_cast<uint32_t>(pieces_.size()), static_cast<uint32_t>(last - first + 1)};
  for (size_t k = first; k <= last; ++k, ++before.count) {
    const int64_t from = std::max(e.first, begin(k));
    const int64_t to = std::min(e.first + e.count, begin(k + 1));
    nbc_piece piece = part({e.buffer, e.parts, from, to - from}, room);
    if (before.count > 0) piece.before = before;
    pieces_.push_back(piece);
  }
  return span;
}

/// A part of one piece of a room's content.
nbc_piece Places::part(const Extent &e, const Room &room) const {
  const Piece found = firstPiece(s_, e);
  assert(found.raw.count == e.count);
  nbc_piece piece = pieceOf(found.base, shapeOf(found.base.buffer));
  piece.buffer = room.buffer;
  piece.room = room.room;
  return piece;
}

}  // namespace nbcc::codegen
