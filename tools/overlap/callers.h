// SPDX-License-Identifier: BSD-3-Clause
// callers.h - what those could do meanwhile who call a function that ends as soon as a collective
// is complete.
//
//   double dot(...) { ...; MPI_Allreduce(&mine, &all, ...); return all; }
//
//   gamma = dot(r, z);
//   scale(t, d, r);
//   beta = gamma / before;
//
// A tool that changes no interface can do nothing here. But dot() in two, one that ends with the
// start and one that begins with the wait, would let scale() run meanwhile.

#pragma once

#include "tools/overlap/windows.h"

namespace nbcc::overlap {

/// What an author can do about it, for a site whose window ends with its function. None: it does
/// not. `least`: so much that it pays.
std::vector<Remark> adviceToCallers(const Site &, const Window &, Program &, long least);

}  // namespace nbcc::overlap
