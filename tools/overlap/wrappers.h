// SPDX-License-Identifier: BSD-3-Clause
// wrappers.h - mpicc and its like, which know where MPI's headers are.

#pragma once

#include <clang/Tooling/ArgumentsAdjusters.h>

namespace nbcc::overlap {

/// Where the compiler of a command is an MPI wrapper, adds what it would add: asks it, once for
/// each, by -show and -showme. A wrapper that cannot be asked leaves the command as it is, and says
/// so.
clang::tooling::ArgumentsAdjuster askWrappers();

}  // namespace nbcc::overlap
