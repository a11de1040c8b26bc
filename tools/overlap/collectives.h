// SPDX-License-Identifier: BSD-3-Clause
// collectives.h - which call is a blocking collective, and what its other forms are called.

#pragma once

#include <string>
#include <string_view>

namespace nbcc::overlap {

/// What each argument of a function of MPI is.
struct Signature {
  std::string_view name;       // "Allreduce"
  std::string_view arguments;  // a letter for each: collectives.def, messages.def
};

/// Of whom a rank knows that they have come to a collective, once it is complete there.
enum class Knows { all, alike, root, apart };

struct Collective : Signature {
  bool sameOnAll;  // what it writes is the same on all ranks of the communicator
  Knows knows = Knows::apart;
  bool large = false;  // MPI_Allreduce_c

  bool isBarrier() const { return name == "Barrier"; }
  std::string blocking() const;     // "MPI_Allreduce"
  std::string nonblocking() const;  // "MPI_Iallreduce"
  std::string persistent() const;   // "MPI_Allreduce_init"
  std::string request() const;      // "allreduce_request", a variable
};

/// By the name of the function; null: it is none.
const Collective *findCollective(std::string_view function);

/// Likewise, of those that make a communicator, by the one that they are given. All its ranks call
/// them, in one order, as they call collectives.
const Collective *findMaker(std::string_view function);

/// Either.
const Collective *findOrdered(std::string_view function);

}  // namespace nbcc::overlap
