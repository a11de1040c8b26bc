// SPDX-License-Identifier: BSD-3-Clause
// library.h - several sources as one library.

#pragma once

#include <iosfwd>

#include "compiler/driver/options.h"

namespace nbcc {

/// Reads, proves and compiles all FILEs, makes the templates of --ranks, and writes -o. Prints a
/// line for each algorithm.
void compileLibrary(const Options &, std::ostream &, Diag &);

/// --emit=header: says in C what would be in it.
void declareLibrary(const Options &, std::ostream &, Diag &);

}  // namespace nbcc
