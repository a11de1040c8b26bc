// SPDX-License-Identifier: BSD-3-Clause
// options.h - the command line.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/overlap/loops.h"
#include "tools/overlap/program.h"

namespace clang::tooling {
class CompilationDatabase;
}

namespace nbcc::overlap {

struct Options {
  std::vector<std::string> sources;
  std::unique_ptr<clang::tooling::CompilationDatabase> commands;
  std::string compiler;  // of `-- mpicc ...`; empty: that of the commands
  Promises promises;
  std::string profile, exportFixes;
  long least = 100;
  Persistent persistent = Persistent::none;
  bool fix = false, explain = false;

  Options();
  ~Options();
};

/// What to end with; none: go on.
std::optional<int> readOptions(int argc, char **argv, Options &);

}  // namespace nbcc::overlap
