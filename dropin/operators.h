// SPDX-License-Identifier: BSD-3-Clause
/// operators.h - MPI's operators in nbc.h's words, and users' own, called as MPI calls them.
///
///   MPI_SUM                 =>   NBC_SUM
///   one of MPI_Op_create    =>   NBC_USER, by way of PMPI_Reduce_local, on elements as they travel
///
/// An element travels as the bytes of its data, in order: two ranks may have the same signature
/// laid out differently. A dense type is its bytes. For another the function below lays operands
/// out as the type says, in memory of its own, has them reduced, and packs what comes out: so gaps
/// never travel, and nothing is written into those of the caller.

#pragma once

#include <mpi.h>

#include "dropin/room.h"
#include "dropin/types.h"
#include "nbc.h"

namespace nbcc::dropin {

/// NBC_USER: one of a program's own. NBC_OPS: none for reductions (MPI_REPLACE, MPI_OP_NULL).
nbc_op op_of(MPI_Op);
/// Of any operator but MPI_OP_NULL.
bool commutes(MPI_Op);

/// An operator in use by a call outlives MPI_Op_free. Others than NBC_USER are not counted. retain:
/// false without memory.
bool retain(MPI_Op);
void release(MPI_Op);
/// For MPI_Op_free: true if the operator is in use. It then ends with the last call that uses it,
/// and the caller only forgets its handle.
bool defer_free(MPI_Op);

/// One user's operator for one type, during one call: nbc_call.user_context.
class UserOperator {
 public:
  /// The type has data, and stays as long as this. `elements`: of the call; more than that are
  /// never reduced at once. Throws std::bad_alloc.
  void set(MPI_Op, bool commutes, MPI_Datatype, const Type &, std::int64_t elements);
  /// nbc_call.user. Called by one thread at a time.
  static void combine(void *to, const void *left, const void *right, std::size_t n, void *self);
  /// Until the next set(), nothing is called.
  void leave() { memory_.leave(); }

 private:
  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
  Type type_;
  bool commutes_ = false;
  int at_once_ = 0;                          // elements that fit the memory; 0: there is none
  Room memory_;                              // of two operands
  char *left_ = nullptr, *right_ = nullptr;  // where MPI is to look for them in it

  void combine_dense(char *to, const char *left, const char *right, int n);
  void combine_packed(char *to, const char *left, const char *right, int n);
};

}  // namespace nbcc::dropin
