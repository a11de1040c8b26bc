// SPDX-License-Identifier: BSD-3-Clause
// named.h - what a statement names, and what it declares: variables, functions, types, enumerators.

#pragma once

#include <set>
#include <string>

namespace clang {
class Decl;
class DeclStmt;
class Stmt;
}  // namespace clang

namespace nbcc::overlap {

/// Whether it names one of these: in an expression or in a type, sizeof(struct pair) for one.
std::set<const clang::Decl *> namedIn(const clang::Stmt &);

/// Names that mean something else behind the declaration.
struct DeclaredNames {
  std::set<std::string> names;
  bool any = false;  // nobody knows which: a using-directive, or a type within an expression
};
DeclaredNames declaredBy(const clang::DeclStmt &);

}  // namespace nbcc::overlap
