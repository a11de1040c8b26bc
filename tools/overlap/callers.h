// SPDX-License-Identifier: BSD-3-Clause
// callers.h - what those could do meanwhile who call a function that ends as soon as a collective
// is complete.
//
//   double dot(...) { ...; MPI_Allreduce(&mine, &all, ...); return all; }
//
//   gamma = dot(r, z);                    nothing here can be done by a tool that changes no
//   interface; but scale(t, d, r);                       dot() in two, one that ends with the start
//   and one that begins beta = gamma / before;                with the wait, would let scale() run
//   meanwhile

#pragma once

#include "tools/overlap/windows.h"

namespace nbcc::overlap {

/// What an author can do about it, for a site whose window ends with its function. None: it does
/// not. `least`: so much that it pays.
std::vector<Remark> adviceToCallers(const Site &, const Window &, Program &, long least);

}  // namespace nbcc::overlap
