// SPDX-License-Identifier: BSD-3-Clause
// changes.h - where a function gives its variables another value, and loops that count.

#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <map>
#include <optional>
#include <vector>

namespace nbcc::overlap {

/// A variable's value: numbers and pointers, not what is in a structure or an array.
struct Changes {
  std::vector<const clang::Expr *> at;  // beside its declaration
  bool unseen = false;                  // its address or a reference goes elsewhere
};

/// All of a function's local variables and parameters. Whatever is not plainly a read counts as a
/// change.
class VariableChanges {
 public:
  explicit VariableChanges(const clang::FunctionDecl &);

  const Changes &of(const clang::VarDecl &) const;
  bool never(const clang::VarDecl &v) const { return of(v).at.empty() && !of(v).unseen; }
  /// Nor is any of it within a statement or expression.
  bool notWithin(const clang::VarDecl &, const clang::Stmt *) const;

 private:
  friend class CollectChanges;

  const clang::SourceManager &files_;
  std::map<const clang::VarDecl *, Changes> changes_;
};

/// for (v = from; v < below; v += step): in its body v is at least `from`, and less than `below`.
/// Downwards likewise.
struct CountedLoop {
  const clang::ForStmt *loop;
  const clang::VarDecl *variable;
  const clang::Expr *from;  // the first value
  const clang::Expr *to;    // what it is compared with
  bool including = false;   // v <= to
  std::int64_t step;        // less than 0: it counts down
};

/// None: it is no such loop, or something else changes the variable within it.
std::optional<CountedLoop> countedLoop(const clang::ForStmt &, const VariableChanges &,
                                       const clang::ASTContext &);

/// Whether nobody gets the value of an expression that stands there.
bool isDropped(const clang::Stmt *where, clang::ASTContext &);

/// Whether nobody keeps the pointer that a call gives: it is null or not, if anybody asks.
bool isLookedAtMost(const clang::CallExpr &, clang::ASTContext &);

/// Whether what an increment or an assignment gives is read at most: in C++ it is the variable once
/// more. `andPointers`: or a pointer, that may be written through.
bool isReadAtMost(const clang::Expr *, clang::ASTContext &, bool andPointers = true);

/// The variable whose name this is; null: it is more than a name.
const clang::VarDecl *namedVariable(const clang::Expr *);

bool isWithin(clang::SourceLocation, const clang::Stmt *, const clang::SourceManager &);

}  // namespace nbcc::overlap
