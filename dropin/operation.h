// SPDX-License-Identifier: BSD-3-Clause
/// operation.h - a collective call as MPI was asked for it, whatever the form.
///
/// MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init and their large-count twins all become one of
/// these. Nothing is looked at or copied here: handles, counts and buffers are the caller's.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "nbc/template.h"

namespace nbcc::dropin {

/// Counts or displacements of each block, as the caller has them: int, or MPI_Count and MPI_Aint in
/// the calls that end in _c.
struct Row {
  const void *values = nullptr; // null: none
  bool wide = false;            // 8 bytes each
  std::int64_t operator[](int i) const {
    return wide ? static_cast<const std::int64_t *>(values)[i] : static_cast<const int *>(values)[i];
  }
  explicit operator bool() const { return values != nullptr; }
};

/// One side's buffer: what is sent, or what is received.
struct Side {
  const void *buffer = nullptr; // may be MPI_IN_PLACE
  std::int64_t count = 0;       // of a block, or of the vector; not looked at where there is a row
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Row counts, displacements;              // v- and w-variants; displacements of w in bytes
  const MPI_Datatype *types = nullptr;    // w-variants
};

/// A collective call. `kind` is MPI's name without v or w: MPI_Allgatherv is NBC_ALLGATHER with rows.
/// Reductions have their count and type in both sides; bcast has its buffer in `receive` alone, as has
/// alltoall in place; reduce_scatter its recvcounts in send.counts.
struct Operation {
  nbc_kind kind = NBC_BARRIER;
  bool each = false; // a v- or w-variant: blocks have lengths of their own
  MPI_Comm comm = MPI_COMM_NULL;
  Side send, receive;
  MPI_Op op = MPI_OP_NULL; // reductions
  int root = 0;            // where there is one
};

} // namespace nbcc::dropin
