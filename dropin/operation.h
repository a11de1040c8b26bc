// SPDX-License-Identifier: BSD-3-Clause
/// operation.h - a collective call as MPI was asked for it, whatever the form.
///
/// MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init and their large-count twins all become one
/// of these. Nothing is looked at or copied here: handles, counts and buffers are the caller's.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nbc/template.h"

namespace nbcc::dropin {

/// Counts or displacements of each block, as the caller has them: int, or MPI_Count and MPI_Aint in
/// the calls that end in _c.
struct Row {
  const void *values = nullptr;  // null: none
  bool wide = false;             // 8 bytes each
  std::int64_t operator[](int i) const {
    return wide ? static_cast<const std::int64_t *>(values)[i]
                : static_cast<const int *>(values)[i];
  }
  explicit operator bool() const { return values != nullptr; }
};

/// One side's buffer: what is sent, or what is received.
struct Side {
  const void *buffer = nullptr;  // may be MPI_IN_PLACE
  std::int64_t count = 0;        // of a block, or of the vector; not looked at where there is a row
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Row counts, displacements;            // v- and w-variants; displacements of w in bytes
  const MPI_Datatype *types = nullptr;  // w-variants
};

/// A side of which each block has a length of its own; counts are null where MPI does not look at
/// them.
struct SideOfRows : Side {};

/// A collective call. `kind` is MPI's name without v or w: MPI_Allgatherv is NBC_ALLGATHER with
/// rows. Reductions have their count and type in both sides; bcast has its buffer in `receive`
/// alone, and reduce_scatter its recvcounts in send.counts.
struct Operation {
  nbc_kind kind = NBC_BARRIER;
  bool each = false;  // a v- or w-variant: blocks have lengths of their own
  MPI_Comm comm = MPI_COMM_NULL;
  Side send, receive;
  MPI_Op op = MPI_OP_NULL;  // reductions
  int root = 0;             // where there is one
};

// --- what collectives.def is written in ---

inline constexpr struct Nothing {
} nothing;

inline Side side(const void *buffer, std::int64_t count, MPI_Datatype type) {
  Side s;
  s.buffer = buffer;
  s.count = count;
  s.type = type;
  return s;
}

template <class Number>
Row numbers(const Number *values) {
  static_assert(sizeof *values == 4 || sizeof *values == 8);
  return {values, sizeof *values == 8};
}

template <class Count, class Displacement>
SideOfRows row(const void *buffer, const Count *counts, const Displacement *displacements,
               MPI_Datatype type) {
  SideOfRows b{side(buffer, 0, type)};
  b.counts = numbers(counts);
  b.displacements = numbers(displacements);
  return b;
}

template <class Count, class Displacement>
SideOfRows row(const void *buffer, const Count *counts, const Displacement *displacements,
               const MPI_Datatype *types) {
  SideOfRows b = row(buffer, counts, displacements, MPI_DATATYPE_NULL);
  b.types = types;
  return b;
}

inline Side of_side(const Side &s) {
  return s;
}
inline Side of_side(Nothing) {
  return {};
}

template <class Send, class Receive>
Operation blocks(nbc_kind kind, MPI_Comm comm, const Send &send, const Receive &receive,
                 int root = 0) {
  Operation o;
  o.kind = kind;
  o.each = std::is_same_v<Send, SideOfRows> || std::is_same_v<Receive, SideOfRows>;
  o.comm = comm;
  o.send = of_side(send);
  o.receive = of_side(receive);
  o.root = root;
  return o;
}

template <class Send>
Operation reduction(nbc_kind kind, MPI_Comm comm, const Send &send, const Side &receive, MPI_Op op,
                    int root = 0) {
  Operation o = blocks(kind, comm, send, receive, root);
  o.op = op;
  return o;
}

}  // namespace nbcc::dropin
