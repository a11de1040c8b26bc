// SPDX-License-Identifier: BSD-3-Clause
// communicators.h - which communicators a call may be on.

#pragma once

#include <set>
#include <string>

#include "tools/overlap/collectives.h"
#include "tools/overlap/program.h"

namespace nbcc::overlap {

/// What the argument stands for, through parameters.
struct Communicators {
  std::set<std::string> constants;
  std::set<std::string> made;  // variables that calls of MPI fill, so they are no constants
  bool unknown = false;

  bool mayBe(const Communicators &other) const;
  /// Where another rank may have got the same one at another place, by another name.
  bool mayBeElsewhere(const Communicators &other) const;
};

Communicators communicatorsOf(const clang::CallExpr &, const Collective &,
                              const clang::FunctionDecl *in, Program &);

}  // namespace nbcc::overlap
