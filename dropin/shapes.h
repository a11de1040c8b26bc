// SPDX-License-Identifier: BSD-3-Clause
/// shapes.h - which side of a collective has how many blocks, and on which rank MPI looks at it.

#pragma once

#include "dropin/operation.h"

namespace nbcc::dropin {

enum class Shape : std::uint8_t { none, one, ranks, neighbors };
enum class InPlace : std::uint8_t { never, send, send_at_root, receive_at_root };

struct Shapes {
  Shape send, receive;  // bcast's buffer is received; what reduce_scatter sends are its rows
  bool reduces, send_at_root, receive_at_root;
  InPlace in_place;
};

inline const Shapes &shapes_of(nbc_kind kind) {
  using enum Shape;
  static constexpr Shapes shapes[NBC_KINDS] = {
      /* ALLGATHER */ {one, ranks, false, false, false, InPlace::send},
      /* ALLTOALL */ {ranks, ranks, false, false, false, InPlace::send},
      /* ALLREDUCE */ {one, one, true, false, false, InPlace::send},
      /* REDUCE */ {one, one, true, false, true, InPlace::send_at_root},
      /* BCAST */ {none, one, false, false, false, InPlace::never},
      /* GATHER */ {one, ranks, false, false, true, InPlace::send_at_root},
      /* SCATTER */ {ranks, one, false, true, false, InPlace::receive_at_root},
      /* BARRIER */ {none, none, false, false, false, InPlace::never},
      /* REDUCE_SCATTER */ {ranks, one, true, false, false, InPlace::send},
      /* REDUCE_SCATTER_BLOCK */ {ranks, one, true, false, false, InPlace::send},
      /* SCAN */ {one, one, true, false, false, InPlace::send},
      /* EXSCAN */ {one, one, true, false, false, InPlace::send},
      /* NEIGHBOR_ALLGATHER */ {one, neighbors, false, false, false, InPlace::never},
      /* NEIGHBOR_ALLTOALL */ {neighbors, neighbors, false, false, false, InPlace::never},
      /* OWN */ {none, none, false, false, false, InPlace::never},
  };
  return shapes[kind];
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

inline bool is_row(Shape s) {
  return s == Shape::ranks || s == Shape::neighbors;
}

}  // namespace nbcc::dropin
