// SPDX-License-Identifier: BSD-3-Clause
// outline.cpp - whether a call can be taken over.
//
// There are two reasons not to. MPI objects to it: then this rank hands it on, and MPI says so;
// that other ranks may not see the mistake is no worse than without us. Or we cannot: that must
// come out alike on all ranks, so it may depend only on what MPI wants to be alike (kind, root,
// operator, type signature, the bytes of a block), never on how a type is laid out. Any layout
// works.

#include <algorithm>

#include "dropin/data.h"
#include "dropin/operators.h"
#include "dropin/shapes.h"
#include "dropin/types.h"

namespace nbcc::dropin {

namespace {

constexpr const char *null_type = "a null datatype";
constexpr const char *uncommitted = "a datatype that is not committed";
constexpr const char *negative_count = "a negative count";
constexpr const char *no_row = "no array where there are blocks";
constexpr const char *no_root = "a root that is no rank";
constexpr const char *no_buffer = "no buffer where there is data";
constexpr const char *misplaced = "MPI_IN_PLACE where it may not be";
constexpr const char *no_operator = "an operator that is not for reductions";
constexpr const char *other_type = "an operator that is not for the type";
constexpr const char *too_many = "more bytes than there can be";
constexpr const char *two_lengths = "a rank's block of two lengths";
constexpr const char *no_kind = "a collective that is not MPI's";
constexpr const char *aliased = "one buffer for both sides";

Outline refused(const char *why) {
  return {.refusal = why, .objection = why != other_type};
}

// What is to be known of one side.
struct Seen {
  const char *refusal = nullptr;
  std::int64_t block = 0;  // bytes, of equal blocks
  std::int64_t own = 0;    // bytes of this rank's, in a row of blocks with lengths of their own
  bool any = false;        // bytes at all
  std::uint64_t mean = 0;  // bytes of a block on average, in such a row
};

bool times(std::int64_t a, std::int64_t b, std::int64_t &result) {
  return !__builtin_mul_overflow(a, b, &result);
}

// A single block or a row of equal ones; `blocks` is -1 where it is not known.
Seen see_equal(const Side &s, int blocks) {
  if (s.type == MPI_DATATYPE_NULL) return {null_type};
  if (s.count < 0) return {negative_count};
  Type t = type_of(s.type);
  std::int64_t block, all;
  if (!times(s.count, t.size, block) || !times(block, blocks < 0 ? 1 : blocks, all))
    return {too_many};
  if (all && !t.committed) return {uncommitted};
  if (!s.buffer && t.dense && all && blocks >= 0) return {no_buffer};
  return {nullptr, block, block, all != 0};
}

// Blocks with lengths of their own. MPI_BOTTOM is null, and a buffer where displacements or the
// types hold addresses.
Seen see_each(const Side &s, int blocks, int rank) {
  if (blocks < 0) return {};
  if (!s.types && s.type == MPI_DATATYPE_NULL) return {null_type};
  if (blocks && !(s.counts && s.displacements)) return {no_row};
  Type t;
  if (!s.types) t = type_of(s.type);
  Seen seen;
  for (int i = 0; i < blocks; ++i) {
    std::int64_t count = s.counts[i], bytes;
    if (count < 0) return {negative_count};
    if (count == 0) continue;
    if (s.types) {
      if (s.types[i] == MPI_DATATYPE_NULL) return {null_type};
      t = type_of(s.types[i]);
    }
    if (!times(count, t.size, bytes)) return {too_many};
    if (bytes && !t.committed) return {uncommitted};
    seen.any |= bytes != 0;
    seen.mean += static_cast<std::uint64_t>(bytes);
    if (i == rank) seen.own = bytes;
  }
  if (blocks) seen.mean /= static_cast<unsigned>(blocks);
  if (!s.buffer && seen.any && !s.types && t.dense) return {no_buffer};
  return seen;
}

Seen see(const Operation &o, const Side &s, Shape shape, int rank, int blocks) {
  return o.each && is_row(shape) ? see_each(s, blocks, rank)
                                 : see_equal(s, is_row(shape) ? blocks : 1);
}

// MPI_IN_PLACE stands only where it may.
bool is_misplaced(const Operation &o, int rank) {
  return (sends(o, rank) && o.send.buffer == MPI_IN_PLACE && !sends_in_place(o, rank)) ||
         (receives(o, rank) && o.receive.buffer == MPI_IN_PLACE && !receives_in_place(o, rank));
}

// What a library finds of buffers that serve both sides, it finds at once, and says so.
#ifdef MPICH
bool objects_to_alias(const Operation &o, int rank) {
  const Shapes &s = shapes_of(o.kind);
  if (is_aliased(o, rank)) return true;
  bool one_and_row = !s.reduces && (s.send == Shape::ranks) != (s.receive == Shape::ranks);
  if (!one_and_row || !sends(o, rank) || !receives(o, rank) || o.send.type != o.receive.type)
    return false;
  const Side &row = s.send == Shape::ranks ? o.send : o.receive;
  const Side &one = s.send == Shape::ranks ? o.receive : o.send;
  return one.count && one.buffer == static_cast<const char *>(row.buffer) + own_offset(row, rank);
}
#else
bool objects_to_alias(const Operation &o, int rank) {
  bool vector = o.kind == NBC_REDUCE || (o.kind == NBC_ALLREDUCE && o.receive.count > 1);
  return vector && is_aliased(o, rank);
}
#endif

// Of a call whose blocks have lengths of their own. Whose one block stands in its row, too, may
// have sent or received it in place.
std::uint64_t mean_block(const Shapes &s, bool sent, const Seen &in, bool received,
                         const Seen &out) {
  if (is_row(s.send) && is_row(s.receive)) return (sent ? in : out).mean;
  if (sent && !is_row(s.send)) return static_cast<std::uint64_t>(in.block);
  if (received && !is_row(s.receive)) return static_cast<std::uint64_t>(out.block);
  return static_cast<std::uint64_t>((sent ? in : out).own);
}

Outline moved(const Operation &o, int rank, int blocks_in, int blocks_out) {
  const Shapes &s = shapes_of(o.kind);
  bool sent = sends(o, rank) && !sends_in_place(o, rank);
  bool received = receives(o, rank) && !receives_in_place(o, rank);
  Seen in, out;
  if (sent) in = see(o, o.send, s.send, rank, blocks_in);
  if (in.refusal) return refused(in.refusal);
  if (received) out = see(o, o.receive, s.receive, rank, blocks_out);
  if (out.refusal) return refused(out.refusal);
  if (out.any && objects_to_alias(o, rank)) return refused(aliased);
  bool own_twice = s.send != Shape::neighbors && s.receive != Shape::neighbors;
  if (o.each && sent && received && own_twice && in.own != out.own) return refused(two_lengths);
  if (o.each) return {.mean = mean_block(s, sent, in, received, out)};
  // Who has no neighbors on a side often says that there is nothing.
  if (has_neighbors(o.kind)) out.block = std::max(out.block, in.block);
  return {.bytes = static_cast<std::uint64_t>(received ? out.block : in.block),
          .truncates = sent && received && own_twice && in.block > out.block};
}

// Elements of a reduction's sides; why they cannot be counted, or null.
const char *count_elements(const Operation &o, int rank, int ranks, std::int64_t &sent,
                           std::int64_t &received) {
  sent = received = o.receive.count;
  if (o.kind == NBC_REDUCE_SCATTER) {
    if (!o.send.counts) return no_row;
    sent = 0;
    for (int i = 0; i < ranks; ++i) {
      if (o.send.counts[i] < 0) return negative_count;
      if (__builtin_add_overflow(sent, o.send.counts[i], &sent)) return too_many;
    }
    received = o.send.counts[rank];
  }
  if (received < 0) return negative_count;
  bool blocks = o.kind == NBC_REDUCE_SCATTER_BLOCK;
  return blocks && !times(received, ranks, sent) ? too_many : nullptr;
}

const char *wrong_operator(MPI_Op op, const Type &type) {
  nbc_op known = op_of(op);
  if (known == NBC_OPS) return no_operator;
  if (known == NBC_USER) return nullptr;
  bool fits = type.operators >> known & 1 && nbc_reduction(type.element, known);
  return fits ? nullptr : other_type;
}

Outline reduced(const Operation &o, int rank, int ranks) {
  const Side &side = o.receive;
  if (side.type == MPI_DATATYPE_NULL) return refused(null_type);
  std::int64_t sent, received, bytes;
  if (const char *why = count_elements(o, rank, ranks, sent, received)) return refused(why);
  Type t = type_of(side.type);
  if (const char *why = wrong_operator(o.op, t)) return refused(why);
  if (!times(sent, t.size, bytes)) return refused(too_many);
  if (sent && !t.committed) return refused(uncommitted);
  if (sent && objects_to_alias(o, rank)) return refused(aliased);

  bool in_place = sends_in_place(o, rank);
  // Of the first rank of an exscan nothing is received.
  bool receiving = receives(o, rank) && !(o.kind == NBC_EXSCAN && rank == 0 && !in_place);
  if (t.dense && t.size) {
    if (!in_place && !o.send.buffer && sent) return refused(no_buffer);
    if (receiving && !side.buffer && (in_place ? sent : received)) return refused(no_buffer);
  }
  const auto block = static_cast<std::uint64_t>(received * t.size);
  return {.bytes = o.each ? 0 : block, .mean = o.each ? block : 0, .commutes = commutes(o.op)};
}

}  // namespace

std::int64_t own_offset(const Side &row, int rank) {
  std::int64_t elements = row.displacements ? row.displacements[rank] : rank * row.count;
  return elements * type_of(row.type).extent;
}

Outline outline(const Operation &o, int rank, int ranks, int blocks_in, int blocks_out) {
  const Shapes &s = shapes_of(o.kind);
  if (o.kind == NBC_BARRIER) return {};
  if (o.kind == NBC_OWN) return refused(no_kind);
  if (s.rooted && (o.root < 0 || o.root >= ranks)) return refused(no_root);
  if (is_misplaced(o, rank)) return refused(misplaced);
  if (s.reduces) return reduced(o, rank, ranks);
  return moved(o, rank, s.send == Shape::ranks ? ranks : blocks_in,
               s.receive == Shape::ranks ? ranks : blocks_out);
}

}  // namespace nbcc::dropin
