// SPDX-License-Identifier: BSD-3-Clause
// known_faults.h - where an MPI's other form of a collective is known to do something else.

#pragma once

#include <string>

#include "tools/overlap/collectives.h"
#include "tools/overlap/program.h"

namespace nbcc::overlap {

/// Of the nonblocking one, in the MPI whose header the source includes; empty: nothing is known.
std::string nonblockingFault(const Collective &, const clang::ASTContext &, Program &);

/// Of the persistent one, by its name in MPI 4.
std::string persistentFault(const Collective &, const clang::ASTContext &, const Program &);

}  // namespace nbcc::overlap
