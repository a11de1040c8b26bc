// SPDX-License-Identifier: BSD-3-Clause
/// shipped.h - the library of compiled algorithms of this process.
///
/// $NBC_LIBRARY, or libnbc-colls.so near libnbc-mpi.so: in its folder, or in one of the two above.
/// Opened when it is needed first, and never closed: plans are made of it to the end.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/selection/table.h"
#include "nbc/build.h"

namespace nbcc::dropin {

/// Null: there is none, and why_not_shipped() says why.
const nbc_library *shipped();
const char *why_not_shipped();

/// Parameters by their places: what was chosen, else the library's own. False, and why: no such
/// algorithm or parameter. May throw std::bad_alloc.
bool find_parameters(const nbc_library &, const Choice &, std::vector<std::int64_t> &,
                     std::string &why);

}  // namespace nbcc::dropin
