// SPDX-License-Identifier: BSD-3-Clause
// run.h - carry an algorithm out on the software device, and check every byte.

#pragma once

#include <iosfwd>
#include <vector>

#include "compiler/driver/compile.h"

namespace nbcc {

/// Compiles all ranks, makes their plans, starts --calls calls on each through the
/// runtime's public functions, and compares what arrives with reference.h: `out`
/// byte for byte, `in` unchanged, nothing written beside them. Reports what is
/// wrong; prints what moved, unless --quiet.
void run(Compilation &, const Options &, std::ostream &, Diag &);

/// What the schedules of all ranks say: for the report, and who is whose neighbour.
struct Written {
  int32_t rounds = 0;
  int64_t messages = 0;                // of one call
  std::vector<Neighbors> neighbors{};  // of each rank, where the kind has any
  std::span<const Schedule> own{};     // all of them, where they promise what the collective is
};

/// The same for templates that are there, one for each rank, and one seed.
void runTemplates(Compilation &, const std::vector<Template> &, const Written &, uint64_t seed,
                  const Options &, std::ostream &, Diag &);

}  // namespace nbcc
