// SPDX-License-Identifier: BSD-3-Clause
// moved.cpp - the arguments of collectives that only move data: bytes.

#include "dropin/arguments.h"
#include "dropin/shapes.h"

namespace nbcc::dropin {

void *Arguments::Filler::equal_blocks(const Side &s, bool sent, int blocks, Prefill prefill) {
  Type t = type_of(s.type);
  call_.count = size(s.count * t.size);
  if (t.dense) return bytes_at(s.buffer);
  More &m = more();
  std::int64_t all = s.count * blocks;
  std::byte *room = (sent ? m.in : m.out).room.take(size(all * t.size)), *data = bytes_at(s.buffer);
  Piece piece = {data, room, all, s.type, t};
  if (sent || prefill == Prefill::all) m.before.push_back(piece);
  if (!sent) m.behind.push_back(piece);
  if (prefill == Prefill::own)
    m.before.push_back({bytes_at(s.buffer, rank_ * s.count * t.extent),
                        room + rank_ * s.count * t.size, s.count, s.type, t});
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
    row.counts[i] = size(s.counts[i] * t.size);
    if (row.counts[i] == 0) continue;
    std::int64_t offset = s.displacements[i] * (s.types ? 1 : t.size);
    if (!base) base = bytes_at(nullptr, offset);
    row.displacements[i] = bytes_at(s.buffer, offset) - base;
  }
  return base;
}

void *Arguments::Filler::packed_row(const Side &s, bool sent, int blocks, Prefill prefill) {
  More &m = more();
  Laid &row = sent ? m.in : m.out;
  std::vector<Piece> pieces(size(blocks));
  row.make_row(blocks);
  std::int64_t total = 0;
  for (int i = 0; i < blocks; ++i) {
    if (s.counts[i] == 0) continue;
    MPI_Datatype type = s.types ? s.types[i] : s.type;
    Type t = type_of(type);
    std::int64_t offset = s.displacements[i] * (s.types ? 1 : t.extent);
    pieces[size(i)] = {bytes_at(s.buffer, offset), nullptr, s.counts[i], type, t};
    row.counts[i] = size(s.counts[i] * t.size);
    if (__builtin_add_overflow(total, s.counts[i] * t.size, &total)) throw std::bad_alloc();
    if (s.types) keep(type, t);
  }
  if (!s.types) keep(s.type, type_of(s.type));
  std::byte *room = row.room.take(size(total)), *at = room;
  for (int i = 0; i < blocks; ++i) {
    Piece &p = pieces[size(i)];
    p.image = at;
    at += row.counts[i];
    if (p.count == 0) continue;
    if (sent || prefill == Prefill::all || (prefill == Prefill::own && i == rank_))
      m.before.push_back(p);
    if (!sent) m.behind.push_back(p);
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
  bool in_place = sends_in_place(o_, rank_);
  if (in_place)
    call_.in = NBC_IN_PLACE;
  else if (sends(o_, rank_))
    call_.in = side(o_.send, true, is_row(shapes.send), blocks_in, Prefill::none);
  if (receives_in_place(o_, rank_)) {
    call_.out = NBC_IN_PLACE;
    return;
  }
  if (!receives(o_, rank_)) return;
  Prefill prefill = Prefill::none;
  if (in_place) prefill = o_.kind == NBC_ALLTOALL ? Prefill::all : Prefill::own;
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
