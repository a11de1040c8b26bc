// SPDX-License-Identifier: BSD-3-Clause
// summary.h - what an algorithm takes on a target, for a few numbers of ranks.

#pragma once

#include <iosfwd>

#include "compiler/driver/compile.h"

namespace nbcc {

/// A table, a line for each number of ranks, made of the target's printResources.
void summarize(Compilation &, const Options &, std::ostream &);

}  // namespace nbcc
