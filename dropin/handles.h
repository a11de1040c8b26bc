// SPDX-License-Identifier: BSD-3-Clause
/// handles.h - the types and the operator of a call, which its program may free while it is under
/// way.

#pragma once

#include <mpi.h>

#include <vector>

#include "dropin/operation.h"
#include "dropin/types.h"

namespace nbcc::dropin {

/// What is kept outlives MPI_Type_free and MPI_Op_free, under its own handle, until this ends. To
/// keep throws std::bad_alloc.
class Handles {
 public:
  Handles() = default;
  Handles(const Handles &) = delete;
  Handles &operator=(const Handles &) = delete;
  ~Handles() { clear(); }

  void keep(MPI_Datatype, const Type &);
  /// Once.
  void keep(MPI_Op);
  /// Once: all that MPI looks at on this rank, of a call that it does not object to. `blocks_in`
  /// and `blocks_out` as in Arguments::set().
  void keep(const Operation &, int rank, int ranks, int blocks_in, int blocks_out);
  void clear();

 private:
  std::vector<MPI_Datatype> types_;        // one made of each
  MPI_Datatype last_ = MPI_DATATYPE_NULL;  // a row often has one type many times
  MPI_Op op_ = MPI_OP_NULL;

  void keep(const Side &, int blocks);
};

}  // namespace nbcc::dropin
