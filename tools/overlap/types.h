// SPDX-License-Identifier: BSD-3-Clause
// types.h - what objects of a type hold: pointers, elements, other objects of the same kind.

#pragma once

#include <clang/AST/Type.h>

#include <functional>
#include <vector>

namespace clang {
class ClassTemplateSpecializationDecl;
class CXXOperatorCallExpr;
class CXXRecordDecl;
}  // namespace clang

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
bool isComplex(clang::QualType);             // std::complex of floating-point numbers
bool isString(clang::QualType);              // of characters that the library compares and copies
bool isException(clang::QualType);           // std::runtime_error and its like
clang::QualType elementOf(clang::QualType);  // of a std::vector; null: it is none
bool isContainerOfNumbers(clang::QualType);  // a vector, whose elements are copied without more ado
bool isArrayOfNumbers(clang::QualType);      // std::array
/// T of a std::unique_ptr<T> or std::shared_ptr<T>, and of a std::default_delete<T>: what they do
/// with it is to end it. Null: it is another type, or of the program's own.
clang::QualType ownedByStandard(clang::QualType);
/// std::unique_ptr, which frees what it points at without code of the program's.
bool isUniquePointer(clang::QualType);
/// Whether objects are copied and end as their parts do, which are numbers, pointers, and vectors
/// and structures of such: no code of the program's runs.
bool isCopiedByParts(clang::QualType);
/// a = b, of objects that are copied by parts; b may be a temporary.
bool assignsByParts(const clang::CXXOperatorCallExpr &);
/// The class whose destructor runs where an object ends, or those that it holds; null: that does
/// nothing but to free memory.
const clang::CXXRecordDecl *endOf(clang::QualType);
/// What the lengths of a type are computed from, where it is written: double row[n], double (*)[n].
/// Nothing of a typedef's, which were computed where that was made.
std::vector<const clang::Expr *> lengthsOf(clang::QualType);
bool changesContainer(llvm::StringRef method);  // and nothing else: resize() and such
bool pointsIntoContainer(llvm::StringRef method);
bool readsShapeOfContainer(llvm::StringRef method);  // size() and such, which touch no element

}  // namespace nbcc::overlap
