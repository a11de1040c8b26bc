// SPDX-License-Identifier: BSD-3-Clause
/// data.h - what MPI says of buffers, types and operators, in nbc_start's words.
///
///   MPI_Allreduce(a, b, 3, MPI_DOUBLE, MPI_SUM)   =>   {in a, out b, count 3, NBC_F64, NBC_SUM}
///   MPI_Bcast(a, 2, MPI_INT)                      =>   {data a, count 8, NBC_BYTE}
///   MPI_Gather(a, 1, column, ...)                 =>   a packed into memory of ours; bytes
///
/// What is only moved is bytes, so that two ranks may describe one signature by different types.
/// What is not dense in memory, in the order of its type map, is packed before and unpacked behind
/// (PMPI_Pack). A user's operator is called through PMPI_Reduce_local, as whoever made it wants to
/// be called; so are its Fortran ones.

#pragma once

#include <memory>

#include "dropin/operation.h"
#include "nbc.h"

namespace nbcc::dropin {

/// What is known of a call without any rank's help, and the same on all of them.
struct Outline {
  const char *refusal = nullptr;  // not for us; in words, static: "an intercommunicator"
  std::uint64_t bytes = 0;        // of a block, or of the vector; 0 where ranks know different ones
  bool commutes = true;           // the operator
};

/// Looks at a call: whether it can be taken over, and what an algorithm is chosen by. What MPI
/// would object to (a null type, a negative count, a root that is none, an operator that is not for
/// the type, no buffer for bytes that there are) is refused: MPI then says it in its own way. What
/// is refused for another reason is so on all ranks alike.
Outline outline(const Operation &, int rank, int ranks);

/// The arguments of one call under way, and the memory that it needs. A persistent one is filled
/// and emptied once a start.
class Arguments {
 public:
  Arguments();
  ~Arguments();
  /// Takes handles that must live (types, by a duplicate) and converts rows. `blocks_in`,
  /// `blocks_out`: how many blocks there are on each side (ranks, or neighbours). False: no memory.
  bool set(const Operation &, int rank, int ranks, int blocks_in, int blocks_out);
  /// What to start with; packs first. False: no memory, or MPI could not pack.
  bool fill();
  const nbc_call &call() const { return call_; }
  /// Unpacks what has come. Once after each fill.
  bool empty();
  /// Gives memory and handles back; set() may be called again.
  void clear();

 private:
  nbc_call call_ = {};
  struct More;  // what all but simple calls need
  std::unique_ptr<More> more_;
};

}  // namespace nbcc::dropin
