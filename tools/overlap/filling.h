// SPDX-License-Identifier: BSD-3-Clause
// filling.h - calls that leave the same in a variable on all ranks.

#pragma once

#include <clang/AST/Expr.h>

#include <optional>

#include "tools/overlap/collectives.h"

namespace nbcc::overlap {

/// A collective that leaves the same on all of its ranks, and the argument that says where.
struct Fill {
  const Collective *kind;
  unsigned argument;
};
/// None: the call is another one.
std::optional<Fill> fillOf(const clang::CallExpr &);

/// Whether the data that it writes are no fewer than what the argument points at.
bool fillsAll(const clang::CallExpr &, const Fill &, clang::QualType pointee,
              const clang::ASTContext &);

/// Whether it writes nothing behind one object of that type, which the argument points at.
bool fillsNoMore(const clang::CallExpr &, unsigned argument, clang::QualType pointee,
                 const clang::ASTContext &);

/// The call in MPI_X(...) != MPI_SUCCESS, rc = MPI_X(...) and such; also as the condition of an if,
/// or what a variable is declared with. Null: it is something else.
const clang::CallExpr *checkedCall(const clang::Stmt *);

/// Whether a function of MPI is known to be done with memory that it is given where it returns.
bool isDoneWith(const clang::FunctionDecl &);

}  // namespace nbcc::overlap
