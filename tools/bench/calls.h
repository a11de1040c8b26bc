// SPDX-License-Identifier: BSD-3-Clause
// calls.h - one call of a collective, whoever carries it out; and whether its result is right.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "dsl/collectives.h"
#include "nbc.h"

namespace nbcc::bench {

/// Whether nbc-bench knows how to call it: all of MPI's but those of neighbours.
inline bool isMeasured(const Collective &c) {
  return !c.hasGraph() && c.kind != ast::Kind::own;
}

/// Who takes part: a plan, or the MPI's own function.
struct Contestant {
  std::string algorithm;     // "allgather.bruck", "MPI_Iallgather"
  std::string target;        // empty: the MPI's own
  nbc_plan *plan = nullptr;  // null: the MPI's own
  bool blocks = false;       // MPI_Allgather: nothing happens between start and wait
  nbc_transfer transfer = NBC_TRANSFER_AUTO;
};

/// "MPI_Iallgather", "MPI_Allgather".
std::string nameInMpi(const Collective &, bool blocking);

/// What a call is about. The same memory for all contestants; it begins and ends with a page.
class Arguments {
 public:
  Arguments(const Collective &, size_t largest, nbc_type, int root);

  /// Of so many bytes of a block, or of the vector.
  void setSize(size_t bytes);
  size_t size() const { return count_ * size_; }
  size_t count() const { return count_; }
  /// Bytes of an element: sizes are multiples of it.
  size_t elementSize() const { return size_; }
  const Collective &collective() const { return collective_; }

  /// Collective. Calls, and compares all that this rank has got with the definition of the
  /// collective: false if it is wrong here.
  bool isRight(const Contestant &);

 private:
  friend struct Flight;
  void store(std::byte *to, size_t element, unsigned value) const;
  unsigned wanted(size_t element) const;
  void blockingCall();
  void nonblockingCall(MPI_Request *);

  const Collective &collective_;
  nbc_type type_;
  MPI_Datatype mpiType_;
  size_t count_ = 0, size_;
  int root_, rank_, ranks_;
  std::vector<std::byte> inMemory_, outMemory_;
  std::byte *in_, *out_;  // out: the buffer of bcast, too
  nbc_call call_ = {};
};

/// A call under way. Failures end the program.
struct Flight {
  nbc_request request;
  MPI_Request mpi;

  void start(const Contestant &, Arguments &);
  bool test(const Contestant &);
  void wait(const Contestant &);
};

}  // namespace nbcc::bench
