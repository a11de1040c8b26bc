// SPDX-License-Identifier: BSD-3-Clause
/// communicator.h - what there is of ours for one of MPI's communicators: devices and plans.
///
/// Kept as an attribute of it, which is not copied, so each communicator has its own, however it
/// was made, and it ends with MPI_Comm_free, MPI_Comm_disconnect or MPI_Finalize.
///
/// MPI_Iallgather must return whatever other ranks do. So nothing here waits: making a communicator
/// of ours, and each plan, is a row of steps with nonblocking calls of the MPI below between them,
/// moved on by advance(). The calls that need it stand in a queue meanwhile. Since ranks make the
/// same collective calls in the same order, they make the same plans in the same order, too.
///
///   duplicate   MPI_Comm_idup: a context for our messages
///   meet        what devices want to know of other ranks, by MPI_Iallgather; then they are opened
///   plan        templates, memory; addresses by MPI_Iallgatherv; connected; a barrier
///
/// A rank that cannot says so in the next of these, and then all do without: calls are passed
/// through.

#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "dropin/operation.h"
#include "nbc.h"

namespace nbcc {
struct Choice;  // compiler/selection
}

namespace nbcc::dropin {

/// One algorithm on one communicator.
struct Plan {
  enum State { making, ready, failed };
  State state = making;
  nbc_plan *plan = nullptr;
  std::string algorithm, target;       // "allgather.bruck:k=3", "shm"
  std::uint64_t calls = 0, bytes = 0;  // for the report
};

class Communicator {
 public:
  /// That of an MPI communicator, made if there is none. Null: it cannot have one (an
  /// intercommunicator; no memory). Begins to make it, and waits for nobody. Collective calls only
  /// may ask. `may_wait`: this one may wait for other ranks, if that has advantages.
  static Communicator *of(MPI_Comm, bool may_wait);
  /// Ends all that are left, before MPI_Finalize. Calls that are still under way are abandoned.
  static void end_all();
  /// Moves on what has been freed while it was being made.
  static void advance_all();

  int rank() const;
  int ranks() const;
  /// Blocks of neighbourhood collectives: how many neighbours this rank has.
  int indegree() const;
  int outdegree() const;

  /// Moves on what is being made. True: there is nothing being made.
  bool advance();
  /// How far the communicator itself is; ready: nodes() is known, and plans may be asked for.
  Plan::State state() const;
  int nodes() const;
  bool has(const char *target) const;  // "shm"

  /// The plan for calls of this kind; begins to make it where there is none. All ranks ask for the
  /// same ones in the same order. `bytes`: of the longest block or vector, or 0 where ranks know
  /// different ones: then any length must do. Failed: why() says it, and calls are passed through.
  Plan *plan(const Operation &, const Choice &, std::uint64_t bytes);
  const char *why() const;

  /// Calls that use it; freed by the user, it ends with the last of them.
  void hold();
  void release();

  std::shared_ptr<struct Calls> calls;  // queue.h
};

}  // namespace nbcc::dropin
