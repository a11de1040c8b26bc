// SPDX-License-Identifier: BSD-3-Clause
/// types.h - what is to be known of an MPI datatype.
///
///   MPI_INT                            =>   4 bytes, dense, NBC_I32
///   3 MPI_INT in a row                 =>  12 bytes, dense, nothing that is reduced
///   MPI_DOUBLE_INT                     =>  12 bytes in 16, NBC_F64_I32
///
/// Named types are found in a table within a few nanoseconds. Of others the MPI is asked, once a
/// call: a handle that was freed may come again as that of another type.

#pragma once

#include <mpi.h>

#include <cstdint>

#include "nbc.h"

namespace nbcc::dropin {

/// How the bytes of one element lie, if that is in blocks without gaps at equal distances, in the
/// order of its type map.
struct Blocks {
  std::int64_t count = 0;  // 0: they lie in another way
  std::int64_t bytes = 0;  // of one
  std::int64_t stride = 0;
  std::int64_t first = 0;  // bytes from the element's address to where they begin
};

struct Type {
  std::int64_t size = 0;          // bytes of data
  std::int64_t extent = 0;        // from an element to the next
  nbc_type element = NBC_OPAQUE;  // what reductions take it for; NBC_OPAQUE: for nothing
  std::uint16_t operators = 0;    // MPI's own that are for it, a bit each: 1 << NBC_SUM
  // The bytes of a vector are those of memory from its address on, in the order of the type map.
  bool dense = false;
  bool named = false;     // never freed
  bool committed = true;  // as far as can be known (ask_types_by())
  Blocks blocks;          // not of what is dense
};

/// Whether a pair has bytes between its members or behind them.
inline bool has_gaps(const Type &t) {
  return t.element != NBC_OPAQUE && t.size != t.extent;
}

/// From a program's call to its return: a type that it was given is the same until then.
class OneCall {
 public:
  OneCall();
  ~OneCall();
  OneCall(const OneCall &) = delete;
  OneCall &operator=(const OneCall &) = delete;
};

/// Of any type but MPI_DATATYPE_NULL; it need not be committed.
Type type_of(MPI_Datatype);

/// Whether types are committed is asked by this communicator, whose errors are returned: only sends
/// say so, and one goes to nobody. MPI_COMM_NULL: it is not asked any more.
void ask_types_by(MPI_Comm);

}  // namespace nbcc::dropin
