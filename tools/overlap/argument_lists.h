// SPDX-License-Identifier: BSD-3-Clause
// argument_lists.h - va_start() and its like, and functions that do no more than to print what they
// are given behind a format.

#pragma once

#include <clang/AST/Decl.h>

#include "tools/overlap/known_calls.h"

namespace nbcc::overlap {

/// va_start() and its like, and what prints such a list: vfprintf().
bool isOfArgumentLists(const clang::FunctionDecl &);

/// Whether a function with a body does no more with the arguments behind its parameters than to
/// print them by its last parameter, the format: what it is given is read, or, by %n, written.
bool onlyPrintsArguments(const clang::FunctionDecl &);

/// What vfprintf() and its like do beside reading their list; null: it is none of these.
const KnownCall *findPrinterOfLists(const clang::FunctionDecl &);

/// Whether an expression's type is that of a list of arguments, or leads to one.
bool isArgumentList(clang::QualType, const clang::ASTContext &);

}  // namespace nbcc::overlap
