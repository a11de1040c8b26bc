// SPDX-License-Identifier: BSD-3-Clause
// parts.h - what runs with a statement or a function, wherever it is written.

#pragma once

#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>

#include <set>
#include <string_view>
#include <vector>

#include "tools/overlap/collectives.h"

namespace nbcc::overlap {

class Program;

/// What stands in a statement: also what fills the rest of an array, arguments that stand for
/// themselves, first values of members, and the lengths of types. Some may be null.
std::vector<const clang::Stmt *> allPartsOf(const clang::Stmt *);

/// What runs when a function does: also the lengths of its parameters, and what a constructor gives
/// members.
std::vector<const clang::Stmt *> bodyOf(const clang::FunctionDecl &);

/// The constructor that an object is made by, with a body; null: it has none that is seen.
const clang::FunctionDecl *constructorBody(const clang::CXXConstructExpr &, const Program &);

/// A collective, or what makes a communicator; null: it is none.
const Collective *findOrdered(const clang::FunctionDecl *);

/// What a function calls, or may: collectives and makers by their names, and bodies.
struct Calling {
  std::set<std::string_view> ordered;
  std::set<const clang::FunctionDecl *> bodies;
};
Calling callingOf(const clang::FunctionDecl &withBody, const Program &);

/// Whether a function may come to a call of the kind, on whatever communicator; null: of any.
bool comesTo(const clang::FunctionDecl &withBody, const Program &, const Collective *kind);

}  // namespace nbcc::overlap
