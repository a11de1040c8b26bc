// SPDX-License-Identifier: BSD-3-Clause
// reduced.cpp - the arguments of reductions: elements, where an operator of nbc.h's is for them, or
// as many bytes as the user's operator takes for one.

#include "dropin/arguments.h"
#include "dropin/shapes.h"

namespace nbcc::dropin {

// Elements of what is given, of all blocks.
std::int64_t Arguments::Filler::given_elements(int ranks) {
  if (o_.kind == NBC_REDUCE_SCATTER_BLOCK) return o_.receive.count * ranks;
  if (o_.kind != NBC_REDUCE_SCATTER) return o_.receive.count;
  Laid &row = more().in;
  row.make_row(ranks);
  std::int64_t all = 0;
  for (int i = 0; i < ranks; ++i) {
    row.counts[i] = size(o_.send.counts[i]);
    all += o_.send.counts[i];
  }
  call_.in_counts = row.counts;
  return all;
}

// Type and operator of a type that has data.
void Arguments::Filler::element(const Type &t, std::int64_t elements) {
  call_.op = op_of(o_.op);
  call_.type = t.element;
  if (call_.op != NBC_USER) return;
  More &m = more();
  keep(o_.op);
  keep(o_.receive.type, t);
  m.user.set(o_.op, commutes(o_.op), o_.receive.type, t, elements);
  call_.type = NBC_OPAQUE;
  call_.element_bytes = size(t.size);
  call_.user = UserOperator::combine;
  call_.user_context = &m.user;
}

// Nothing, of whatever type it is that has no data.
void Arguments::Filler::reduce_nothing(int ranks) {
  call_.type = NBC_BYTE;
  call_.op = NBC_BAND;
  if (o_.kind != NBC_REDUCE_SCATTER) return;
  more().in.make_row(ranks);
  call_.in_counts = more().in.counts;
}

// The buffer, or where it has no place in the call an image of it. `before`: packs all of `count`
// elements; `behind`: unpacks so many of them.
void *Arguments::Filler::image(const Type &t, const void *buffer, std::int64_t count, Room &room,
                               bool before, std::int64_t behind, nbc_type pair) {
  More &m = more();
  std::byte *to = room.take(size(count * t.size));
  Piece piece = {bytes_at(buffer), to, count, o_.receive.type, t, pair};
  if (before) m.before.push_back(piece);
  piece.count = behind;
  if (behind) m.behind.push_back(piece);
  return to;
}

void Arguments::Filler::reduce(int ranks) {
  Type t = type_of(o_.receive.type);
  if (t.size == 0) return reduce_nothing(ranks);
  call_.count = size(o_.receive.count);
  std::int64_t all = given_elements(ranks);
  element(t, all);
  // What reductions take a pair for has its gaps, too, which are the program's where it is put.
  const bool gaps = call_.op != NBC_USER && has_gaps(t);
  if (call_.op != NBC_USER) {
    t.size = t.extent;
    t.dense = true;
  }
  std::int64_t result = o_.receive.count;
  if (o_.kind == NBC_REDUCE_SCATTER) result = o_.send.counts[rank_];
  const bool nothing_received = o_.kind == NBC_EXSCAN && rank_ == 0;
  // reduce_scatter with lengths of its own has no place for the result in the row of inputs; and
  // the first rank of an exscan keeps what it had.
  bool apart = in_place_ && (o_.kind == NBC_REDUCE_SCATTER || nothing_received);
  const void *given = in_place_ ? o_.receive.buffer : o_.send.buffer;
  void *out = bytes_at(o_.receive.buffer);
  if (in_place_ && !apart)
    call_.in = NBC_IN_PLACE;
  else if (!t.dense || (apart && !nothing_received))
    call_.in = image(t, given, all, more().in.room, true, 0);
  else
    call_.in = given;
  if (!receives(o_, rank_)) return;
  bool both = in_place_ && !apart;
  if (nothing_received)
    out = image(t, nullptr, result, more().out.room, false, 0);
  else if (!t.dense || gaps)
    out = image(t, out, both ? all : result, more().out.room, both, result,
                gaps ? t.element : NBC_OPAQUE);
  call_.out = out;
}

}  // namespace nbcc::dropin
