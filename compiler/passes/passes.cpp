// SPDX-License-Identifier: BSD-3-Clause
// passes.cpp - the table of passes, and running them one after the other.

#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

constexpr bool yes = true, no = false;

}  // namespace

const std::vector<Pass> &passes() {
  static const std::vector<Pass> table = {
#define PASS(function, name, byDefault, holds) {function, name, byDefault, holds},
#include "compiler/passes/passes.def"
  };
  return table;
}

const Pass *findPass(std::string_view name) {
  for (const Pass &pass : passes())
    if (pass.name == name) return &pass;
  return nullptr;
}

void runPasses(Schedule &s, const PassOptions &options, const PassContext &context, Diag &diag) {
  for (const Pass &pass : passes()) {
    bool wanted = pass.byDefault;
    if (pass.run == substituteInPlace) wanted = options.inPlace;
    if (pass.run == inferWaits) wanted = !options.strictRounds;
    if (pass.run == keepRounds) wanted = options.strictRounds;
    if (!wanted) continue;
    pass.run(s, context);
    const int before = diag.errors();
    verify(s, diag);
    if (diag.errors() == before) continue;
    diag.error({}, "internal: ", pass.name, " broke the schedule of rank ", s.rank, " of ", s.ranks,
               "; this is a mistake in nbcc, not in ", s.algorithm);
    return;
  }
}

}  // namespace nbcc
