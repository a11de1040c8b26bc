// SPDX-License-Identifier: BSD-3-Clause
/// shapes.h - which side of a collective has how many blocks, and on which rank MPI looks at it.

#pragma once

#include "dropin/operation.h"
#include "dsl/ast.h"

namespace nbcc::dropin {

enum class Shape : std::uint8_t { none, one, ranks, neighbors };
enum class InPlace : std::uint8_t { never, send, send_at_root, receive_at_root };

struct Shapes {
  Shape send, receive;  // bcast's buffer is received; what reduce_scatter sends are its rows
  bool reduces, rooted, send_at_root, receive_at_root;
  InPlace in_place;
};

constexpr Shape shape_of(nbcc::Shape s) {
  switch (s) {
    case nbcc::Shape::none:
      return Shape::none;
    case nbcc::Shape::block:
    case nbcc::Shape::vector:
      return Shape::one;
    case nbcc::Shape::blocks:
      return Shape::ranks;
    case nbcc::Shape::sources:
    case nbcc::Shape::destinations:
      return Shape::neighbors;
  }
  return Shape::none;
}

/// A line of dsl/collectives.def, as MPI calls see it.
constexpr Shapes shapes_as(nbcc::Shape in, nbcc::Shape out, nbcc::Shape data, Where where,
                           bool reduces) {
  const bool in_at_root = where == Where::in_at_root, out_at_root = where == Where::out_at_root;
  const Shape receive = shape_of(out == nbcc::Shape::none ? data : out);
  InPlace in_place = in_at_root    ? InPlace::receive_at_root
                     : out_at_root ? InPlace::send_at_root
                                   : InPlace::send;
  if (in == nbcc::Shape::none || receive == Shape::neighbors) in_place = InPlace::never;
  return {shape_of(in), receive,     reduces, where != Where::everywhere,
          in_at_root,   out_at_root, in_place};
}

inline const Shapes &shapes_of(nbc_kind kind) {
  constexpr bool yes = true, no = false;
  using S = nbcc::Shape;
  static constexpr Shapes shapes[NBC_KINDS] = {
#define COLLECTIVE(name, in, out, data, where, reduces) \
  shapes_as(S::in, S::out, S::data, Where::where, reduces),
#include "dsl/collectives.def"
  };
  return shapes[kind];  // that of a declared collective has no buffers
}

inline bool has_root(nbc_kind kind) {
  return shapes_of(kind).rooted;
}

inline bool has_neighbors(nbc_kind kind) {
  return shapes_of(kind).receive == Shape::neighbors;
}

inline bool sends(const Operation &o, int rank) {
  const Shapes &s = shapes_of(o.kind);
  return s.send != Shape::none && (!s.send_at_root || rank == o.root);
}

inline bool receives(const Operation &o, int rank) {
  const Shapes &s = shapes_of(o.kind);
  return s.receive != Shape::none && (!s.receive_at_root || rank == o.root);
}

/// One buffer for both sides, of which one replaces the other: a mistake. What the MPI lets pass is
/// taken for MPI_IN_PLACE.
inline bool is_aliased(const Operation &o, int rank) {
  bool may = shapes_of(o.kind).reduces || o.kind == NBC_ALLTOALL;
  return may && o.send.buffer && o.send.buffer == o.receive.buffer && receives(o, rank);
}

/// Whether the sent side is MPI_IN_PLACE where it may be, or the received one.
inline bool sends_in_place(const Operation &o, int rank) {
  InPlace may = shapes_of(o.kind).in_place;
  return (o.send.buffer == MPI_IN_PLACE || is_aliased(o, rank)) &&
         (may == InPlace::send || (may == InPlace::send_at_root && rank == o.root));
}

inline bool receives_in_place(const Operation &o, int rank) {
  return o.receive.buffer == MPI_IN_PLACE && rank == o.root &&
         shapes_of(o.kind).in_place == InPlace::receive_at_root;
}

/// Whether this rank can only wait for others that do not wait for it. Of trees to a root, some
/// more do.
inline bool follows(const Operation &o, int rank) {
  if (has_root(o.kind)) return shapes_of(o.kind).receive_at_root == (rank == o.root);
  return rank > 0 && (o.kind == NBC_SCAN || o.kind == NBC_EXSCAN);
}

/// Whether there is one rank, which receives what it sends, one block.
inline bool is_alone(const Operation &o, int ranks) {
  return ranks == 1 && !o.each && !has_neighbors(o.kind);
}

inline bool is_row(Shape s) {
  return s == Shape::ranks || s == Shape::neighbors;
}

}  // namespace nbcc::dropin
