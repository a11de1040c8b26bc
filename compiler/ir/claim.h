// SPDX-License-Identifier: BSD-3-Clause
// claim.h - what an algorithm says of itself, for one number of ranks.

#pragma once

#include <cstdint>

#include "dsl/ast.h"
#include "dsl/diag.h"

namespace nbcc {

/// A claim with its bound worked out.
struct ClaimValue {
  ast::Claim::What what{};
  ast::Operator op{};
  int64_t bound = 0;
  Loc loc;
};

}  // namespace nbcc
