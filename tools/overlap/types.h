// SPDX-License-Identifier: BSD-3-Clause
// types.h - what objects of a type hold: pointers, elements, other objects of the same kind.

#pragma once

#include <clang/AST/Type.h>

#include <functional>

namespace clang {
class ClassTemplateSpecializationDecl;
}

namespace nbcc::overlap {

/// Whether a value of a type may be a pointer, or hold one.
bool mayPoint(clang::QualType);
/// std::vector, array, string, valarray, which hold what they contain; methods whose results point
/// there.
bool isContainer(clang::QualType);
bool holdsElements(clang::QualType);  // a container, or what may hold one
/// Whether a value of a type, or a part of it, leads to other memory.
bool holdsPointers(clang::QualType);
/// Whether a class template was given a type that is so, in a pack for one.
bool anyTypeArgument(const clang::ClassTemplateSpecializationDecl &,
                     const std::function<bool(clang::QualType)> &is);
/// Whether a constructor may leave a pointer to the object, or to one that is in it, somewhere.
bool mayKnowItself(clang::QualType);
bool isContainerOfNumbers(clang::QualType);     // whose elements are copied without more ado
bool changesContainer(llvm::StringRef method);  // and nothing else: resize() and such
bool pointsIntoContainer(llvm::StringRef method);
bool readsShapeOfContainer(llvm::StringRef method);  // size() and such, which touch no element

}  // namespace nbcc::overlap
