// SPDX-License-Identifier: BSD-3-Clause
// compiled_algorithm.h - an algorithm as a run sees it: compiled functions, and what to know
// beside.
//
// Who compiled it is open: compiler/jit a moment ago in this process, or nbcc long ago into a
// library. So nothing here leads back to a tree.

#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "compiler/abi/abi.h"
#include "dsl/ast.h"

namespace nbcc {

struct CompiledAlgorithm {
  std::string name, kindName;  // "bruck", "allgather"
  Collective collective;       // its name is a view into what this was made from
  Loc loc;
  size_t parameters = 0;
  size_t views = 0;  // of memory, those of the kind first: ast::Algorithm::buffers

  Build *build = nullptr;

  struct Requirement {
    Bound *holds = nullptr;
    Loc loc;
  };
  std::vector<Requirement> requirements;

  struct Claim {
    ast::Claim::What what{};
    ast::Operator op{};
    Bound *bound = nullptr;  // null: a property that has no number
    Loc loc;
  };
  std::vector<Claim> claims;

  // Of a declared collective: what is promised, and how many blocks its buffers have.
  struct Extent {
    std::string buffer;
    Bound *blocks = nullptr;  // null: the kind says it
    Loc loc;
  };
  Build *ensures = nullptr;
  std::vector<Extent> extents;

  /// Steps of the rank before: the next will have as many. All else stays as it was made.
  mutable std::atomic<size_t> steps = 0;
};

}  // namespace nbcc
