// SPDX-License-Identifier: BSD-3-Clause
// moved.cpp - the arguments of collectives that only move data: bytes.

#include <algorithm>

#include "dropin/arguments.h"
#include "dropin/shapes.h"

namespace nbcc::dropin {

// Bytes of a side from which on it lies as it does. An image of fewer stays in the cache, and is
// read there by its receiver. Tests set less, to see all that may lie do so.
#ifdef NBC_LIES_FROM
static constexpr std::int64_t lies_from = NBC_LIES_FROM;
#else
static constexpr std::int64_t lies_from = 1 << 20;
#endif

// The block of a row, whose image there is not yet.
static Piece piece(const Side &s, int i) {
  MPI_Datatype type = s.types ? s.types[i] : s.type;
  const Type t = type_of(type);
  const std::int64_t offset = s.displacements[i] * (s.types ? 1 : t.extent);
  return {bytes_at(s.buffer, offset), nullptr, s.counts[i], type, t};
}

// It would be copied once more than others are, which leave the processor in between.
void Arguments::Filler::take_own_apart() {
  if (o_.kind != NBC_ALLTOALL || !o_.each || in_place_) return;
  if (!o_.send.counts[rank_] || !o_.receive.counts[rank_]) return;
  const Piece from = piece(o_.send, rank_), to = piece(o_.receive, rank_);
  if (from.type.dense && to.type.dense) return;
  const std::int64_t bytes = from.count * from.type.size;
  if (bytes == to.count * to.type.size) more().own = {from, to, bytes};
}

void *Arguments::Filler::equal_blocks(const Side &s, bool sent, int blocks, Prefill prefill) {
  Type t = type_of(s.type);
  if (blocks) call_.count = size(s.count * t.size);  // else any number may stand there
  if (t.dense) return bytes_at(s.buffer);
  More &m = more();
  std::byte *room = (sent ? m.in : m.out).room.take(size(s.count * blocks * t.size));
  const auto part = [&](std::int64_t first, std::int64_t n) -> Piece {
    first *= s.count;
    return {bytes_at(s.buffer, first * t.extent), room + first * t.size, n * s.count, s.type, t};
  };
  if (sent || prefill == Prefill::all) m.before.push_back(part(0, blocks));
  if (prefill == Prefill::own) m.before.push_back(part(rank_, 1));
  if (!sent && !in_place_) m.behind.push_back(part(0, blocks));
  if (!sent && in_place_) {
    m.behind.push_back(part(0, rank_));
    m.behind.push_back(part(rank_ + 1, blocks - rank_ - 1));
  }
  keep(s.type, t);
  return room;
}

// Displacements from the buffer; from a block's own address where the buffer is MPI_BOTTOM.
void *Arguments::Filler::dense_row(const Side &s, Laid &row, int blocks) {
  Type t;
  if (!s.types) t = type_of(s.type);
  std::byte *base = bytes_at(s.buffer);
  row.make_row(blocks);
  for (int i = 0; i < blocks; ++i) {
    if (s.types && s.counts[i]) t = type_of(s.types[i]);
    row.counts[i] = is_apart(i) ? 0 : size(s.counts[i] * t.size);
    if (row.counts[i] == 0) continue;
    std::int64_t offset = s.displacements[i] * (s.types ? 1 : t.size);
    if (!base) base = bytes_at(nullptr, offset);
    row.displacements[i] = bytes_at(s.buffer, offset) - base;
  }
  return base;
}

// Of blocks that are one peer's each, so that none is gathered twice.
bool Arguments::Filler::can_lie(const std::vector<Piece> &pieces, std::int64_t bytes) const {
  const bool alone = o_.kind == NBC_ALLTOALL || o_.kind == NBC_NEIGHBOR_ALLTOALL;
  return alone && !in_place_ && bytes >= lies_from &&
         std::ranges::all_of(pieces, [](const Piece &p) {
           return !p.count || (p.data && can_be_cut(p.type, p.count));
         });
}

void *Arguments::Filler::packed_row(const Side &s, bool sent, int blocks, Prefill prefill) {
  More &m = more();
  Laid &row = sent ? m.in : m.out;
  std::vector<Piece> pieces(size(blocks));
  row.make_row(blocks);
  std::int64_t total = 0;
  for (int i = 0; i < blocks; ++i) {
    if (s.counts[i] == 0) continue;
    Piece &p = pieces[size(i)];
    p = piece(s, i);
    if (s.types) keep(p.datatype, p.type);
    if (is_apart(i)) {
      p.count = 0;
      continue;
    }
    row.counts[i] = size(p.count * p.type.size);
    if (__builtin_add_overflow(total, p.count * p.type.size, &total)) throw std::bad_alloc();
  }
  if (!s.types) keep(s.type, type_of(s.type));
  if (can_lie(pieces, total)) {
    row.layout.prefilled = prefill == Prefill::all;
    for (const Piece &p : pieces) row.layout.add(p);
    return nullptr;
  }
  const bool first_own = sent && m.own.needs_image();  // which has gone when others are packed
  std::byte *room = row.room.take(size(first_own ? std::max(total, m.own.bytes) : total));
  std::byte *at = room;
  if (first_own) m.own.from.image = room;
  for (int i = 0; i < blocks; ++i) {
    Piece &p = pieces[size(i)];
    p.image = at;
    at += row.counts[i];
    if (p.count == 0) continue;
    if (sent || prefill == Prefill::all || (prefill == Prefill::own && i == rank_))
      m.before.push_back(p);
    if (!sent && !(in_place_ && i == rank_)) m.behind.push_back(p);
  }
  return room;
}

void *Arguments::Filler::own_lengths(const Side &s, bool sent, int blocks, Prefill prefill) {
  bool dense = s.types || blocks == 0 || type_of(s.type).dense;
  for (int i = 0; i < blocks && s.types && dense; ++i)
    dense = s.counts[i] == 0 || type_of(s.types[i]).dense;
  Laid &row = sent ? more().in : more().out;
  void *base = dense ? dense_row(s, row, blocks) : packed_row(s, sent, blocks, prefill);
  (sent ? call_.in_counts : call_.out_counts) = row.counts;
  if (dense)  // else one behind the other
    (sent ? call_.in_displacements : call_.out_displacements) = row.displacements;
  return base;
}

void *Arguments::Filler::side(const Side &s, bool sent, bool row, int blocks, Prefill prefill) {
  return o_.each && row ? own_lengths(s, sent, blocks, prefill)
                        : equal_blocks(s, sent, row ? blocks : 1, prefill);
}

void Arguments::Filler::move(int blocks_in, int blocks_out) {
  const Shapes &shapes = shapes_of(o_.kind);
  call_.type = NBC_BYTE;
  take_own_apart();
  if (in_place_)
    call_.in = NBC_IN_PLACE;
  else if (sends(o_, rank_))
    call_.in = side(o_.send, true, is_row(shapes.send), blocks_in, Prefill::none);
  if (receives_in_place(o_, rank_)) {
    call_.out = NBC_IN_PLACE;
    return;
  }
  if (!receives(o_, rank_)) return;
  Prefill prefill = Prefill::none;
  if (in_place_) prefill = o_.kind == NBC_ALLTOALL ? Prefill::all : Prefill::own;
  if (shapes.receive == Shape::neighbors) prefill = Prefill::all;
  if (o_.kind != NBC_BCAST) {
    call_.out = side(o_.receive, false, is_row(shapes.receive), blocks_out, prefill);
    return;
  }
  // The root's is read, and others' written.
  bool root = rank_ == o_.root;
  call_.data = side(o_.receive, root, false, 1, prefill);
}

}  // namespace nbcc::dropin
