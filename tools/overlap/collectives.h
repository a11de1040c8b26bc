// SPDX-License-Identifier: BSD-3-Clause
// collectives.h - which call is a blocking collective, and what its other forms are called.

#pragma once

#include <string>
#include <string_view>

namespace nbcc::overlap {

struct Collective {
  std::string_view name;       // "Allreduce"
  std::string_view arguments;  // a letter for each: collectives.def
  bool sameOnAll;              // what it writes is the same on all ranks of the communicator
  bool large = false;          // MPI_Allreduce_c

  bool isBarrier() const { return name == "Barrier"; }
  std::string blocking() const;     // "MPI_Allreduce"
  std::string nonblocking() const;  // "MPI_Iallreduce"
  std::string persistent() const;   // "MPI_Allreduce_init"
  std::string request() const;      // "allreduce_request", a variable
};

/// By the name of the function; null: it is none.
const Collective *findCollective(std::string_view function);

}  // namespace nbcc::overlap
