// SPDX-License-Identifier: BSD-3-Clause
// collect_unseen.h - calls that are not written in a source: those of a library's templates that
// have been made for the program's types, and what the language adds.

#pragma once

#include <clang/AST/Expr.h>

#include <functional>
#include <set>
#include <vector>

#include "tools/overlap/program.h"

namespace nbcc::overlap {

/// What names a function, or makes an object, where it is written.
using Written = std::set<const clang::Expr *>;

/// Says what else is called, once all that is written is known; and what there is that nothing
/// leads to.
void collectUnseen(clang::ASTContext &, const Written &,
                   const std::set<const clang::FunctionDecl *> &lambdas,
                   const std::function<void(const clang::FunctionDecl &)> &called,
                   const std::function<void(const char *)> &missing);

/// Classes that have been made of the program's own forms of a library's templates, which are
/// listed with these.
std::vector<clang::Decl *> ownOfLibrary(const clang::DeclContext &);

}  // namespace nbcc::overlap
