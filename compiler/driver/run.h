// SPDX-License-Identifier: BSD-3-Clause
// run.h - carry an algorithm out on the software device, and check every byte.

#pragma once

#include <iosfwd>

#include "compiler/driver/compile.h"

namespace nbcc {

/// Compiles all ranks, makes their plans, starts --calls calls on each through the
/// runtime's public functions, and compares what arrives with reference.h: `out`
/// byte for byte, `in` unchanged, nothing written beside them. Reports what is
/// wrong; prints what moved, unless --quiet.
void run(Compilation &, const Options &, std::ostream &, Diag &);

/// The same for templates that are there, one for each rank, and one seed.
/// `rounds` is for the report.
void runTemplates(Compilation &, const std::vector<Template> &, int32_t rounds, uint64_t seed,
                  const Options &, std::ostream &, Diag &);

}  // namespace nbcc
