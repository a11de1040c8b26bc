// SPDX-License-Identifier: BSD-3-Clause
// loops.h - calls that are the same in each turn of a loop, or that may be under way into the next
// one.
//
//   MPI_Request r = MPI_REQUEST_NULL;         MPI_Request r;
//   for (...) {                               MPI_Allreduce_init(..., &r);
//     produce(next);                          for (...) {
//     if (r != MPI_REQUEST_NULL) MPI_Wait...    MPI_Start(&r);
//     consume(all);                             compute();
//     MPI_Iallreduce(mine, all, ..., &r);       MPI_Wait(&r, MPI_STATUS_IGNORE);
//   }                                         }
//   if (r != MPI_REQUEST_NULL) MPI_Wait...    MPI_Request_free(&r);
//
// On the left the wait of one turn stands in the next, before the first statement that the call is
// in the way of. No buffer is doubled: what the next turn does until then touches none. The request
// is null where nothing was started: there MPI may not be initialised.

#pragma once

#include "tools/overlap/rewrite.h"

namespace nbcc::overlap {

enum class Persistent { none, mpi4, mpix };  // what its calls are named

/// A call that may be under way when its loop's body ends.
struct Carried {
  const clang::Stmt *loop;
  unsigned until;  // the statement of the body before which it must be complete
  long work;       // of those before, and of what follows the call
  Remark ends;
};

/// None: it must be complete in its own turn; `why`: by what, if it is in a loop of that kind.
std::optional<Carried> carriedOver(const Site &, const Window &, Program &,
                                   std::optional<Remark> &why);
Fix overlapTurns(const Site &, const Carried &, Names &);

/// The loop before which the call can be made persistent, of which it is a statement; null, and
/// `why` says why not.
const clang::Stmt *invariantIn(const Site &, Program &, Persistent, std::string &why);
Fix persistInLoop(const Site &, const Window &, const clang::Stmt *loop, Persistent, Names &);

}  // namespace nbcc::overlap
