// SPDX-License-Identifier: BSD-3-Clause
// site.h - a place where a blocking collective is called: its buffers, and whether it may be
// changed at all.

#pragma once

#include <clang/AST/Stmt.h>

#include <string>
#include <vector>

#include "tools/overlap/collectives.h"
#include "tools/overlap/effects.h"

namespace nbcc::overlap {

struct Remark {
  clang::SourceLocation at;
  std::string text;
};

struct Site {
  const Collective *collective;
  const clang::CallExpr *call;
  const clang::FunctionDecl *in;

  const clang::CompoundStmt *block = nullptr;  // null: the call is no statement of a block
  unsigned index = 0;                          // of its statement there
  std::string checkedBy;                       // CHECK of CHECK(MPI_...); empty: it stands alone

  Objects reads, writes;        // until the call completes
  Effects naming;               // what the arguments themselves do when they are evaluated
  std::vector<Remark> against;  // why it is not to be changed; none: it may be

  const clang::ASTContext &context() const { return in->getASTContext(); }
  const clang::Stmt *statement(unsigned i) const;
  unsigned statements() const { return block->size(); }
};

/// What a statement or expression is part of; null: a function.
const clang::Stmt *parentOf(const clang::Stmt *, clang::ASTContext &);

/// All places, in the order of the sources.
std::vector<Site> findSites(Program &);

/// The name of the macro that an expression is, as MPI's constants are in some libraries; else the
/// name of the variable; else empty.
std::string constantName(const clang::Expr *, const clang::ASTContext &);

/// Whether a name is one of MPI's own constants: MPI_SUM, MPI_DOUBLE, MPI_COMM_WORLD.
bool isMpiConstant(std::string_view name);

}  // namespace nbcc::overlap
