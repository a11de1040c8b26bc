// SPDX-License-Identifier: BSD-3-Clause
// filling.h - calls that leave the same in a variable on all ranks.

#pragma once

#include <clang/AST/Expr.h>

#include "tools/overlap/collectives.h"

namespace nbcc::overlap {

/// Whether the data that a collective writes by argument i are no fewer than what it points at.
bool fillsAll(const clang::CallExpr &, const Collective &, unsigned i, clang::QualType pointee,
              const clang::ASTContext &);

/// The call in MPI_X(...) != MPI_SUCCESS, rc = MPI_X(...) and such; null: it is something else.
const clang::CallExpr *checkedCall(const clang::Expr *);

/// Whether a function of MPI is known to be done with memory that it is given where it returns.
bool isDoneWith(const clang::FunctionDecl &);

}  // namespace nbcc::overlap
