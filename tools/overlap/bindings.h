// SPDX-License-Identifier: BSD-3-Clause
// bindings.h - structured bindings: auto [sum, count] = totals;
//
// Each name is a part of a variable without a name, which is a copy of what is bound, or refers to
// it. Which part, clang says for arrays and structures; for the pairs and tuples of the standard
// library it is what get() gives, known as well. A get() of the program's own may give anything.

#pragma once

#include <clang/AST/DeclCXX.h>

namespace nbcc::overlap {

/// The variable that a name is a part of; null: the name is none of a binding.
const clang::VarDecl *boundVariable(const clang::Decl &);

/// The field that a name stands for; null: it is an element of an array or a tuple.
const clang::FieldDecl *boundField(const clang::BindingDecl &);

/// Whether all names are parts of what is bound, and none is a reference to something else.
bool bindsParts(const clang::DecompositionDecl &);

/// Whether functions of the program's own may be called for a name: get(), or what makes a value
/// of what that returns. Of a library's tuple with references, too, which is no row of parts.
bool bindsByCalls(const clang::DecompositionDecl &);

}  // namespace nbcc::overlap
