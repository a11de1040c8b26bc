// SPDX-License-Identifier: BSD-3-Clause
// site.h - a place where a blocking collective is called: its buffers, and whether it may be
// changed at all.

#pragma once

#include <clang/AST/Stmt.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/overlap/collectives.h"
#include "tools/overlap/effects.h"

namespace nbcc::overlap {

struct Remark {
  clang::SourceLocation at;
  std::string text;
  const clang::ASTContext *context =
      nullptr;  // null: that of the site; a caller may be in another source
};

struct Site {
  const Collective *collective;
  const clang::CallExpr *call;
  const clang::FunctionDecl *in;

  const clang::CompoundStmt *block = nullptr;  // null: the call is no statement of a block
  unsigned index = 0;                          // of its statement there
  bool inBranch = false;  // the call is in a branch of the statement, which is an if
  std::string checkedBy;  // CHECK of CHECK(MPI_...); empty: it stands alone
  // rc of rc = MPI_..., or of its declaration; null: what the call returns goes nowhere.
  const clang::VarDecl *result = nullptr;
  bool keepsCode = false;              // CHECK() does, in a variable that is there behind it, too
  bool mayFail = false;                // and what it does then goes on behind the start
  const clang::Stmt *check = nullptr;  // stops where rc is an error, and stands next to the call
  std::string notRepeated;  // what a check that stands there does beside; empty: it is none
  const clang::IfStmt *asks = nullptr;  // if (MPI_... != MPI_SUCCESS), which stops at an error
  unsigned behind = 0;                  // the first statement that may be in the way
  Objects handled;  // what a check, which is repeated with the wait, reads or changes at an error

  /// Memory that is the call's until it completes.
  struct Buffer {
    Objects objects;
    bool written;
    Access access;  // of nothing: any part of it
  };
  std::vector<Buffer> buffers;
  Objects reads, writes;  // all of them
  Effects naming;         // what the arguments themselves do when they are evaluated
  bool byAll = true;      // all ranks reach it alike
  bool ofAll = true;      // and take part in it, wherever it is
  const clang::CallExpr *with = nullptr;  // the others reach this one, which has to change with it
  std::optional<Remark> uneven;           // why not, where there is one
  std::vector<Remark> against;            // why it is not to be changed; none: it may be

  const clang::ASTContext &context() const { return in->getASTContext(); }
  const clang::Stmt *statement(unsigned i) const;
  unsigned statements() const { return block->size(); }
  /// Whether its code is looked at: the wait's has to be, too.
  bool isChecked() const { return !checkedBy.empty() || result || asks; }
  /// Whether its request is null where no call is under way.
  bool beginsNull() const { return inBranch || mayFail; }
  /// Whether something can be put behind a statement: the next is not of the same macro.
  bool endsAlone(unsigned i) const;
};

/// The same call, as a part of the if whose branch it stands in: a statement of the block outside.
/// None: the block is no branch of an if, or what the call needs ends with it.
std::optional<Site> outside(const Site &, Program &);

/// Whether the call needs what a statement declares, or its end does something.
bool endsWith(const Site &, const clang::Stmt *, const Memory &);

/// Whether something that the call needs lives in its block only, or the block's end does
/// something.
bool endsWithBlock(const Site &, const Memory &);

/// What a statement or expression is part of; null: a function.
const clang::Stmt *parentOf(const clang::Stmt *, clang::ASTContext &);

/// All places, in the order of the sources.
std::vector<Site> findSites(Program &);

}  // namespace nbcc::overlap
