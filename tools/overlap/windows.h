// SPDX-License-Identifier: BSD-3-Clause
// windows.h - what can run while a collective is under way.
//
//   fill(send);                       the call can start here: its inputs are ready
//   smooth(other);
//   MPI_Allreduce(send, recv, ...);   as it is written
//   smooth(more);
//   norm = recv[0];                   it must be complete here
//
// Statements of the call's own block are looked at in turn, each as a whole, until one gets in the
// way.

#pragma once

#include "tools/overlap/regions.h"

namespace nbcc::overlap {

struct Window {
  unsigned first = 0,
           last = 0;    // statements of the block: start before the one, wait behind the other
  Remark begins, ends;  // what got in the way
  long workBefore = 0, workBehind = 0;

  bool movesUp(const Site &site) const { return first < site.index; }
  bool reachesDown(const Site &site) const { return last >= site.behind; }
};

/// For a site in a block.
/// `from`: the call does not move above this statement.
Window findWindow(const Site &, Program &, unsigned from);

/// Why a call that is under way must be complete before something happens. None: it may go on.
/// `where`: none, if no part of a buffer is to be told from another.
std::optional<Remark> inTheWay(const Site &, Program &, const Effects &,
                               std::optional<Stretch> where = std::nullopt);

}  // namespace nbcc::overlap
