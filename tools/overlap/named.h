// SPDX-License-Identifier: BSD-3-Clause
// named.h - what a statement names, and what it declares: variables, functions, types, enumerators.

#pragma once

#include <set>
#include <string>

namespace clang {
class Decl;
class FunctionDecl;
class Stmt;
}  // namespace clang

namespace nbcc::overlap {

/// Whether it names one of these: in an expression or in a type, sizeof(struct pair) for one.
std::set<const clang::Decl *> namedIn(const clang::Stmt &);

/// Names that mean something else behind a statement.
struct DeclaredNames {
  std::set<std::string> names;
  bool any = false;    // nobody knows which: a using-directive, or a type within an expression
  bool types = false;  // types of C are among them

  bool empty() const { return names.empty() && !any; }
};
/// In C also by a type within an expression, sizeof(enum { first }) for one.
DeclaredNames declaredBy(const clang::Stmt &, const clang::FunctionDecl &in);

}  // namespace nbcc::overlap
