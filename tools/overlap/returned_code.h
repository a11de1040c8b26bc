// SPDX-License-Identifier: BSD-3-Clause
// returned_code.h - what a program does with the error code that a call returns.
//
//   CHECK(MPI_Allreduce(...));          a macro
//   rc = MPI_Allreduce(...);            a variable, and what stops at an error: an if, a macro or
//   if (rc != MPI_SUCCESS) return rc;   a function
//   if (MPI_Allreduce(...) != MPI_SUCCESS) return 1;    both in one
//
// A start and a wait return a code each, and the program has to do the same with both.

#pragma once

#include "tools/overlap/site.h"

namespace nbcc::overlap {

/// The local variable that a statement, or an assignment, leaves in what the call returns; null: it
/// does something else with it.
const clang::VarDecl *resultTakenBy(const clang::Stmt *, const clang::CallExpr *);

/// The if whose condition asks whether the call failed, and no more; null: there is none, or it has
/// an else.
const clang::IfStmt *askedBy(const clang::CallExpr *, clang::ASTContext &);

/// CHECK() itself must do nothing but look at what the call returned, and stop.
void readCheckingMacro(Site &, Program &);

/// Whether a statement declares something by a name that the wait's check says, so that the check
/// means something else behind it than where the call stands.
bool renames(const clang::Stmt &, const Site &, const Program &);

/// The same of any statement of the call's block.
bool renamesWithin(const Site &, const Program &);

/// Whether the call or its check says __COUNTER__, which is another number each time.
bool countsExpansions(const Site &, const Program &);

/// Finds the check behind the call, and takes it into the site.
void readCheck(Site &, Program &);

/// The if that the call stands in must do nothing but stop.
void readCondition(Site &, Program &);

}  // namespace nbcc::overlap
