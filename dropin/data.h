// SPDX-License-Identifier: BSD-3-Clause
/// data.h - what MPI says of buffers, types and operators, in nbc_start's words.
///
///   MPI_Allreduce(a, b, 3, MPI_DOUBLE, MPI_SUM)   =>   {in a, out b, count 3, NBC_F64, NBC_SUM}
///   MPI_Bcast(a, 2, MPI_INT)                      =>   {data a, count 8, NBC_BYTE}
///   MPI_Gather(a, 1, column, ...)                 =>   a packed into memory of ours; bytes
///
/// What is only moved is bytes, so that two ranks may describe one signature by different types.
/// What is not dense in memory, in the order of its type map, is packed before and unpacked behind
/// (packing.h). A user's operator is called through PMPI_Reduce_local, as whoever made it wants to
/// be called; so are its Fortran ones (operators.h).
///
/// Cost: of named types without rows some ten nanoseconds, and no memory. Rows are walked twice, as
/// MPI walks them. For a type that a program has made the MPI is asked some questions each time.

#pragma once

#include <memory>

#include "dropin/operation.h"
#include "nbc.h"

namespace nbcc::dropin {

/// What is known of a call without any rank's help, and the same on all of them where it is no
/// mistake.
struct Outline {
  const char *refusal = nullptr;  // not for us; in words, static: "an intercommunicator"
  bool objection = false;         // which MPI will say; other ranks may see nothing wrong
  std::uint64_t bytes = 0;        // of a block, or of the vector; 0 where ranks know different ones
  std::uint64_t mean = 0;         // then: this rank's own block, or of alltoallv a block on average
  bool truncates = false;         // its own block, sent to itself: MPI_ERR_TRUNCATE
  bool commutes = true;           // the operator
  bool blocking = false;          // MPI_Allgather, which whoever calls outline() knows

  std::uint64_t counted() const { return bytes + mean; }  // for the report
};

/// Looks at a call: whether it can be taken over, and what an algorithm is chosen by. What MPI
/// would object to (a null type, a negative count, a root that is none, an operator that is not for
/// the type, no buffer for bytes that there are) is refused: MPI then says it in its own way. What
/// is refused for another reason is so on all ranks alike: it rests on what MPI wants to be alike
/// there. `blocks_in`, `blocks_out`: as in Arguments::set(); -1: the rows of neighbours are not
/// looked at.
Outline outline(const Operation &, int rank, int ranks, int blocks_in = -1, int blocks_out = -1);

/// Where this rank's block begins in a row, in bytes from the buffer.
std::int64_t own_offset(const Side &row, int rank);

/// The arguments of one call under way, and the memory that it needs. A persistent one is filled
/// and emptied once a start.
class Arguments {
 public:
  Arguments();
  Arguments(const Arguments &) = delete;
  Arguments &operator=(const Arguments &) = delete;
  ~Arguments();
  /// Of a call that outline() does not refuse. Keeps types and operators alive, unless they stay as
  /// long as this does, and converts rows: the caller's arrays may go. `blocks_in`, `blocks_out`:
  /// how many blocks there are on each side of a neighbourhood collective (outdegree, indegree);
  /// not looked at in others. False: no memory.
  bool set(const Operation &, int rank, int ranks, int blocks_in, int blocks_out,
           bool they_stay = false);
  /// What to start with; packs first, and of an alltoallv or -w puts what a rank sends itself where
  /// it belongs, if that is not dense. `lies`: what may lie as it does is not packed; for plans
  /// that take layouts. False: no memory, or MPI could not pack.
  bool fill(bool lies);
  const nbc_call &call() const { return call_; }
  /// Whether another call with other buffers may have the same, but for an operator of the user's:
  /// there is nothing to fill or to empty.
  bool serves_again() const;
  /// What call() refers to beside the caller's buffers; null: nothing.
  std::shared_ptr<const void> held() const { return more_; }
  /// Unpacks what has come. Once after each fill.
  bool empty();
  /// Gives memory and handles back; set() may be called again.
  void clear();

 private:
  nbc_call call_;  // from set() on
  struct More;     // what all but simple calls need
  class Filler;
  bool arrange(bool lies);
  std::shared_ptr<More> more_;
  static std::shared_ptr<More> spare_;  // that the last call has left, since to make one takes long
};

}  // namespace nbcc::dropin
