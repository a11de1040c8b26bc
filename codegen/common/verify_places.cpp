// SPDX-License-Identifier: BSD-3-Clause
// verify_places.cpp - pieces against extents, place by place.
//
// Shares nothing with places.cpp, which made the pieces, but firstPiece().

#include "codegen/common/verify_places.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "compiler/ir/wide.h"

namespace nbcc::codegen {

PlaceVerifier::PlaceVerifier(const TemplateView &view, const Schedule &s, uint32_t variant,
                             std::vector<uint32_t> &owners)
    : view_(view),
      s_(s),
      variant_(variant),
      owners_(owners),
      rooms_(s.buffers.size()),
      prefixOf_(view.pieces.size(), UINT32_MAX) {}

bool PlaceVerifier::fail(std::string reason) {
  why = std::move(reason);
  return false;
}

/// UINT32_MAX: the template has none of this role, name and length. In place it may be longer.
uint32_t PlaceVerifier::callersBuffer(BufferId b) const {
  const Buffer &buffer = s_.buffers[b];
  const uint32_t role = buffer.role == Role::in    ? NBC_ROLE_IN
                        : buffer.role == Role::out ? NBC_ROLE_OUT
                                                   : NBC_ROLE_DATA;
  for (uint32_t k = 0; k < view_.buffers.size(); ++k) {
    const nbc_buffer &found = view_.buffers[k];
    const std::string_view name(found.name, strnlen(found.name, sizeof found.name));
    if (found.role == role && found.blocks >= static_cast<uint64_t>(buffer.blocks) &&
        name == std::string_view(buffer.name).substr(0, sizeof found.name - 1))
      return k;
  }
  return UINT32_MAX;
}

PlaceVerifier::Room &PlaceVerifier::open(BufferId b) {
  Room &room = rooms_[b];
  if (room.open) return room;
  room.open = true;
  if (s_.buffers[b].ofCaller()) {
    room.buffer = callersBuffer(b);
    room.begin = static_cast<uint32_t>(stretches_.size());
    room.count = 1;
    stretches_.push_back({0, room.buffer, 0, 1, s_.buffers[b].blocks});
    return room;
  }
  std::vector<Stretch> all;  // open() adds stretches as well
  Extent rest{b, 1, 0, s_.buffers[b].blocks};
  BufferId last = -1;
  uint32_t shape = UINT32_MAX;
  while (rest.count > 0) {
    const Piece piece = firstPiece(s_, rest);
    if (piece.base.buffer != last) shape = open(last = piece.base.buffer).buffer;
    all.push_back({rest.first, shape, piece.base.first, piece.base.parts, piece.base.count});
    rest.first += piece.raw.count;
    rest.count -= piece.raw.count;
  }
  room.begin = static_cast<uint32_t>(stretches_.size());
  room.count = static_cast<uint32_t>(all.size());
  stretches_.insert(stretches_.end(), all.begin(), all.end());
  return room;
}

/// The first time that a room of STAGING is named says where it is.
bool PlaceVerifier::bind(BufferId b, uint32_t buffer, uint64_t at) {
  Room &room = rooms_[b];
  if (room.buffer == UINT32_MAX) {
    if (s_.buffers[b].role == Role::slots || view_.buffers[buffer].role != NBC_ROLE_STAGING)
      return false;
    if (owners_[buffer] != UINT32_MAX && owners_[buffer] != variant_) return false;
    owners_[buffer] = variant_;
    room.buffer = buffer;
    room.room = at;
  }
  return room.buffer == buffer && room.room == at;
}

bool PlaceVerifier::slot(Section to, const nbc_reloc &r) {
  if (to.size() != 1 || s_.buffers[to[0].buffer].role != Role::slots)
    return fail("it is not received into one slot");
  Room &room = open(to[0].buffer);
  if (room.buffer != UINT32_MAX) return fail("another receive is into the same slot");
  if (r.what >= view_.buffers.size() || view_.buffers[r.what].role != NBC_ROLE_SLOTS)
    return fail(cat("its room is in buffer ", r.what, ", which has no slots"));
  room.buffer = r.what;
  room.room = r.addend;
  room.given = r.extra;
  return room.given >= blocksOf(room) ||
         fail(cat("its room has ", r.extra, " blocks where ", blocksOf(room), " are received"));
}

/// Enough for any length of them, as template.h says.
uint64_t PlaceVerifier::blocksOf(const Room &room) const {
  uint64_t blocks = 0;
  for (uint32_t k = 0; k < room.count; ++k) {
    const Stretch &s = stretch(room, k);
    blocks += static_cast<uint64_t>((s.count + s.parts - 1) / s.parts);
  }
  return blocks;
}

// --- Positions -------------------------------------------------------------------

PlaceVerifier::Position PlaceVerifier::start(const Room &room, uint32_t index) const {
  if (index >= room.count) return {room.count, 0, 1};
  const Stretch &s = stretch(room, index);
  return {index, s.first, s.parts};
}

/// Of first/parts of a buffer of the schedule. A block of it is a unit of its stretch.
PlaceVerifier::Position PlaceVerifier::positionOf(const Room &room, int64_t first,
                                                  int64_t parts) const {
  const auto begin = stretches_.begin() + room.begin, end = begin + room.count;
  const auto behind = std::upper_bound(begin, end, first / parts,
                                       [](int64_t x, const Stretch &s) { return x < s.room; });
  const Stretch &s = behind[-1];
  if (first == (s.room + s.count) * parts)
    return start(room, static_cast<uint32_t>(behind - begin));
  return {static_cast<uint32_t>(behind - begin) - 1, (s.first - s.room) * parts + first,
          s.parts * parts};
}

int PlaceVerifier::compare(const Position &a, const Position &b) {
  if (a.index != b.index) return a.index < b.index ? -1 : 1;
  if (a.parts == b.parts) return a.first < b.first ? -1 : a.first > b.first;
  const Wide x = Wide{a.first} * b.parts, y = Wide{b.first} * a.parts;
  return x < y ? -1 : x > y;
}

/// To behind a piece that begins there; the caller's lengths, not the place.
bool PlaceVerifier::advance(const Room &room, Position &at, const nbc_piece &piece) const {
  if (at.index >= room.count) return false;
  const Stretch &s = stretch(room, at.index);
  const auto first = static_cast<int64_t>(piece.first), count = static_cast<int64_t>(piece.count);
  const Position begin{at.index, first, piece.parts}, end{at.index, first + count, piece.parts};
  if (piece.shape != s.shape || compare(begin, at) != 0) return false;
  const int past = compare(end, {at.index, s.first + s.count, s.parts});
  if (past > 0) return false;
  at = past == 0 ? start(room, at.index + 1) : end;
  return true;
}

/// The place in a room behind these pieces, of which only the lengths count.
bool PlaceVerifier::behind(BufferId b, const nbc_range &before, Position &result) {
  const Room &room = rooms_[b];
  result = start(room, 0);
  if (before.count == 0) return true;
  uint32_t &known = prefixOf_[before.begin];
  if (known == UINT32_MAX) {
    known = static_cast<uint32_t>(prefixes_.size());
    prefixes_.push_back({b, {}});
  }
  Prefix &prefix = prefixes_[known];
  if (prefix.room != b) prefix = {b, {}};
  std::vector<Position> &ends = prefix.ends;
  if (!ends.empty()) result = ends[std::min<size_t>(ends.size(), before.count) - 1];
  while (ends.size() < before.count) {
    if (!advance(room, result, view_.pieces[before.begin + ends.size()])) return false;
    ends.push_back(result);
  }
  return true;
}

// --- Comparing -------------------------------------------------------------------

void PlaceVerifier::want(Section section) {
  want(section, {});
}

void PlaceVerifier::want(Section section, Section behind) {
  wanted_[0] = section;
  wanted_[1] = behind;
  section_ = extent_ = 0;
  inside_ = false;
}

/// The extent that the next piece has to be of; false: there is none.
bool PlaceVerifier::nextExtent() {
  if (inside_) return true;
  for (; section_ < 2; ++section_, extent_ = 0)
    for (; extent_ < wanted_[section_].size(); ++extent_) {
      const Extent &e = wanted_[section_][extent_];
      if (e.count == 0) continue;
      const Room &room = open(e.buffer);
      at_ = positionOf(room, e.first, e.parts);
      end_ = positionOf(room, e.first + e.count, e.parts);
      return inside_ = true;
    }
  return false;
}

bool PlaceVerifier::take(uint32_t number) {
  const nbc_piece &piece = view_.pieces[number];
  if (!nextExtent()) return fail(cat(say(number), " is more than it should name"));
  const Extent &e = wanted_[section_][extent_];
  const Room &room = rooms_[e.buffer];
  if (view_.header.lengths == NBC_LENGTHS_EACH &&
      piece.first / piece.parts != (piece.first + piece.count - 1) / piece.parts)
    return fail(cat(say(number), " names two blocks, which need not be neighbours"));
  Position place;
  bool right;
  if (s_.buffers[e.buffer].ofCaller())
    right = piece.buffer == room.buffer && piece.shape == room.buffer;
  else
    right = bind(e.buffer, piece.buffer, piece.room) && behind(e.buffer, piece.before, place) &&
            compare(place, at_) == 0;
  if (!right || !advance(room, at_, piece) || compare(at_, end_) > 0) {
    std::string is = cat(say(number), " is not in its place in ", toString(s_, Section(&e, 1)));
    if (!s_.buffers[e.buffer].ofCaller() && room.buffer != UINT32_MAX)
      is += cat(", which is in the room at block ", room.room, " of ",
                view_.buffers[room.buffer].name);
    return fail(std::move(is));
  }
  if (compare(at_, end_) == 0) {
    inside_ = false;
    ++extent_;
  }
  return true;
}

bool PlaceVerifier::found(uint32_t first, uint32_t count, bool oneExtent) {
  if (first > view_.pieces.size() || count > view_.pieces.size() - first)
    return fail(cat("there is no piece ", first, " with ", count - 1, " behind it"));
  bool ended = false;
  for (uint32_t k = first; k < first + count; ++k) {
    if (view_.pieces[k].count == 0) continue;
    if (oneExtent && ended) return fail(cat(say(k), " is not behind the one before it"));
    if (!take(k)) return false;
    ended = !inside_;
  }
  return !oneExtent || !inside_ || fail(cat(say(first), " and those behind it are too few"));
}

bool PlaceVerifier::foundTarget(uint32_t piece) {
  if (piece >= view_.pieces.size()) return fail(cat("there is no piece ", piece));
  return take(piece);
}

bool PlaceVerifier::complete() {
  if (!nextExtent()) return true;
  return fail(cat("nothing names ", toString(s_, Section(&wanted_[section_][extent_], 1)),
                  inside_ ? " or what is left of it" : ""));
}

bool PlaceVerifier::separate() {
  struct Taken {
    uint32_t buffer;
    uint64_t begin, end;
    size_t room;
  };
  std::vector<Taken> all;
  for (size_t b = 0; b < rooms_.size(); ++b) {
    const Room &room = rooms_[b];
    if (s_.buffers[b].ofCaller() || room.buffer == UINT32_MAX) continue;
    const uint64_t blocks = std::max(room.given, blocksOf(room));
    all.push_back({room.buffer, room.room, room.room + blocks, b});
    if (blocks > view_.buffers[room.buffer].blocks ||
        room.room > view_.buffers[room.buffer].blocks - blocks)
      return fail(cat("the room of ", s_.buffers[b].name, ", ", blocks, " blocks from ", room.room,
                      ", is not inside ", view_.buffers[room.buffer].name));
  }
  std::sort(all.begin(), all.end(), [](const Taken &a, const Taken &b) {
    return a.buffer != b.buffer ? a.buffer < b.buffer : a.begin < b.begin;
  });
  for (size_t k = 1; k < all.size(); ++k)
    if (all[k].buffer == all[k - 1].buffer && all[k].begin < all[k - 1].end)
      return fail(cat("the rooms of ", s_.buffers[all[k - 1].room].name, " and ",
                      s_.buffers[all[k].room].name, " share block ", all[k].begin, " of ",
                      view_.buffers[all[k].buffer].name));
  return true;
}

std::string PlaceVerifier::say(uint32_t number) const {
  const nbc_piece &p = view_.pieces[number];
  std::string text =
      cat("piece ", number, ", ", view_.buffers[p.shape].name, "[", p.first, " +: ", p.count);
  if (p.parts != 1) text += cat(" of ", p.parts);
  text += "]";
  if (p.buffer != p.shape)
    text += cat(" at block ", p.room, " of ", view_.buffers[p.buffer].name, " behind ",
                p.before.count, " others,");
  return text;
}

}  // namespace nbcc::codegen
