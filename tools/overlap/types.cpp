// SPDX-License-Identifier: BSD-3-Clause
// types.cpp - what objects of a type hold.

#include "tools/overlap/types.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <set>

#include "tools/overlap/known_calls.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

bool mayPoint(QualType type) {
  if (const auto *atomic = type->getAs<AtomicType>()) type = atomic->getValueType();
  return !type->isArithmeticType() && !type->isEnumeralType() && !type->isVoidType();
}

/// A class of std; but a program may have made one of its templates another class for its own
/// types.
static bool isOfLibrary(const CXXRecordDecl &record) {
  return record.isInStdNamespace() && record.getIdentifier() && isOfSystem(record);
}

/// One of the program's own may hand out memory that it knows by another name.
static bool isOfStandardAllocator(const ClassTemplateSpecializationDecl &of) {
  const TemplateArgumentList &all = of.getTemplateArgs();
  const CXXRecordDecl *from = all[all.size() - 1].getAsType()->getAsCXXRecordDecl();
  return from && isOfLibrary(*from) && from->getName() == "allocator";
}

bool isContainer(QualType type) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !isOfLibrary(*record)) return false;
  const llvm::StringRef name = record->getName();
  const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (of && (name == "vector" || name == "basic_string") && !isOfStandardAllocator(*of))
    return false;
  if (name == "vector" && of)  // of bools: no memory that one could point at
    return !of->getTemplateArgs()[0].getAsType()->isBooleanType();
  return name == "array" || name == "basic_string" || name == "valarray";
}

bool holdsElements(QualType type) {
  const CXXRecordDecl *record =
      type.getNonReferenceType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  return record && record->hasDefinition() && !record->hasTrivialDestructor();
}

bool anyTypeArgument(const ClassTemplateSpecializationDecl &of,
                     const std::function<bool(QualType)> &is) {
  const auto one = [&is](const TemplateArgument &a) {
    return a.getKind() == TemplateArgument::Type && is(a.getAsType());
  };
  return std::ranges::any_of(of.getTemplateArgs().asArray(), [&](const TemplateArgument &a) {
    return a.getKind() == TemplateArgument::Pack ? std::ranges::any_of(a.pack_elements(), one)
                                                 : one(a);
  });
}

bool holdsPointers(QualType type) {
  type = QualType(type->getBaseElementTypeUnsafe(), 0);
  const RecordDecl *record = type->getAsRecordDecl();
  if (!record) return mayPoint(type) && !type->isVectorType();
  const auto *c = dyn_cast<CXXRecordDecl>(record);
  return !record->getDefinition() || (c && c->getNumBases() > 0) ||
         std::ranges::any_of(record->fields(),
                             [](const FieldDecl *f) { return holdsPointers(f->getType()); });
}

/// `seen`: a tree's node holds a vector of nodes.
static bool mayKnowItself(QualType type, std::set<const CXXRecordDecl *> &seen) {
  const CXXRecordDecl *record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || !seen.insert(record).second) return false;
  const auto may = [&seen](QualType t) { return mayKnowItself(t, seen); };
  if (isOfLibrary(*record)) {
    const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(record);
    return of && anyTypeArgument(*of, may);
  }
  return record->hasUserDeclaredConstructor() || record->hasInClassInitializer() ||
         std::ranges::any_of(record->bases(),
                             [&](const CXXBaseSpecifier &b) { return may(b.getType()); }) ||
         std::ranges::any_of(record->fields(),
                             [&](const FieldDecl *f) { return may(f->getType()); });
}

bool mayKnowItself(QualType type) {
  std::set<const CXXRecordDecl *> seen;
  return mayKnowItself(type, seen);
}

/// A class template of std; null: the type is none of these.
static const ClassTemplateSpecializationDecl *ofStandard(QualType type, llvm::StringRef name) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const auto *of = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record);
  return of && isOfLibrary(*of) && of->getName() == name ? of : nullptr;
}

bool isComplex(QualType type) {
  const auto *of = ofStandard(type, "complex");
  return of && of->getTemplateArgs()[0].getAsType()->isFloatingType();
}

bool isString(QualType type) {
  const auto *of = isContainer(type) ? ofStandard(type, "basic_string") : nullptr;
  return of && ofStandard(of->getTemplateArgs()[1].getAsType(), "char_traits");
}

bool isException(QualType type) {
  const CXXRecordDecl *record = type->getAsCXXRecordDecl();
  if (!record || !record->isInStdNamespace() || !record->getIdentifier() || !isOfSystem(*record))
    return false;
  for (const char *name :
       {"exception", "runtime_error", "logic_error", "domain_error", "invalid_argument",
        "length_error", "out_of_range", "range_error", "overflow_error", "underflow_error"})
    if (record->getName() == name) return true;
  return false;
}

QualType elementOf(QualType type) {
  const auto *of = isContainer(type) ? ofStandard(type, "vector") : nullptr;
  return of ? of->getTemplateArgs()[0].getAsType() : QualType();
}

bool isContainerOfNumbers(QualType type) {
  const QualType element = elementOf(type);
  return !element.isNull() && (element->isArithmeticType() || isComplex(element));
}

bool isArrayOfNumbers(QualType type) {
  const auto *of = ofStandard(type, "array");
  return of && of->getTemplateArgs()[0].getAsType()->isArithmeticType();
}

bool isUniquePointer(QualType type) {
  const auto *of = ofStandard(type, "unique_ptr");
  return of && of->getTemplateArgs().size() == 2 &&
         ofStandard(of->getTemplateArgs()[1].getAsType(), "default_delete");
}

QualType ownedByStandard(QualType type) {
  const ClassTemplateSpecializationDecl *of =
      isUniquePointer(type) ? ofStandard(type, "unique_ptr") : nullptr;
  for (const char *name : {"shared_ptr", "__shared_ptr", "__shared_ptr_access", "default_delete"})
    if (!of) of = ofStandard(type, name);
  return of ? of->getTemplateArgs()[0].getAsType() : QualType();
}

/// Whether a class leaves it to the language how its objects are copied and end.
static bool isLeftToLanguage(const CXXRecordDecl &record) {
  const auto plain = [](const FunctionDecl *f) { return !f || !f->isUserProvided(); };
  return !record.isDynamicClass() && plain(record.getDestructor()) &&
         llvm::all_of(record.ctors(),
                      [&](const CXXConstructorDecl *by) {
                        return !by->isCopyOrMoveConstructor() || plain(by);
                      }) &&
         llvm::all_of(record.methods(), [&](const CXXMethodDecl *by) {
           return by->getOverloadedOperator() != OO_Equal || plain(by);
         });
}

/// `seen`: a tree's node holds a vector of nodes.
static bool isCopiedByParts(QualType type, std::set<const CXXRecordDecl *> &seen) {
  if (type.isVolatileQualified() || type->isAtomicType()) return false;
  type = QualType(type->getBaseElementTypeUnsafe(), 0);
  const CXXRecordDecl *record = type->getAsCXXRecordDecl();
  if (!record)
    return type->isArithmeticType() || type->isEnumeralType() || type->isPointerType() ||
           type->isAnyComplexType();
  if (!record->hasDefinition()) return false;
  if (!seen.insert(record).second || isComplex(type) || isString(type)) return true;
  for (const char *holder : {"vector", "array"})
    if (const auto *of = ofStandard(type, holder))
      return isContainer(type) && isCopiedByParts(of->getTemplateArgs()[0].getAsType(), seen);
  const auto part = [&seen](QualType t) { return isCopiedByParts(t, seen); };
  return !record->isInStdNamespace() && isLeftToLanguage(*record) &&
         llvm::all_of(record->bases(),
                      [&](const CXXBaseSpecifier &b) { return part(b.getType()); }) &&
         llvm::all_of(record->fields(), [&](const FieldDecl *f) { return part(f->getType()); });
}

bool isCopiedByParts(QualType type) {
  std::set<const CXXRecordDecl *> seen;
  return isCopiedByParts(type, seen);
}

bool assignsByParts(const CXXOperatorCallExpr &call) {
  const auto *by = dyn_cast_or_null<CXXMethodDecl>(call.getDirectCallee());
  if (call.getOperator() != OO_Equal || !by || call.getNumArgs() != 2) return false;
  const QualType type = call.getArg(0)->getType();
  const bool copies = by->isCopyAssignmentOperator();
  const bool takes = by->isMoveAssignmentOperator() &&
                     (by->isTrivial() || isa<MaterializeTemporaryExpr>(call.getArg(1)));
  return (copies || takes) && (!by->isUserProvided() || isContainer(type)) && isCopiedByParts(type);
}

/// `seen`: as above.
static const CXXRecordDecl *endOf(QualType type, std::set<const CXXRecordDecl *> &seen) {
  const QualType one(type->getBaseElementTypeUnsafe(), 0);
  const CXXRecordDecl *record = one->getAsCXXRecordDecl();
  if (type->isReferenceType() || !record || !record->hasDefinition() ||
      record->hasTrivialDestructor() || !seen.insert(record).second)
    return nullptr;
  const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (of && isContainer(one)) return endOf(of->getTemplateArgs()[0].getAsType(), seen);
  const CXXDestructorDecl *last = record->getDestructor();
  if (record->isInStdNamespace() || !last || last->isUserProvided()) return record;
  for (const CXXBaseSpecifier &b : record->bases())
    if (const CXXRecordDecl *by = endOf(b.getType(), seen)) return by;
  for (const FieldDecl *f : record->fields())
    if (const CXXRecordDecl *by = endOf(f->getType(), seen)) return by;
  return nullptr;
}

const CXXRecordDecl *endOf(QualType type) {
  std::set<const CXXRecordDecl *> seen;
  return endOf(type, seen);
}

std::vector<const Expr *> lengthsOf(QualType type) {
  std::vector<const Expr *> lengths;
  while (type->isVariablyModifiedType() && !isa<TypedefType, DecltypeType, AutoType>(type)) {
    if (const auto *array = dyn_cast<ArrayType>(type)) {
      const auto *variable = dyn_cast<VariableArrayType>(array);
      if (variable && variable->getSizeExpr()) lengths.push_back(variable->getSizeExpr());
      type = array->getElementType();
    } else if (const auto *function = dyn_cast<FunctionType>(type)) {
      type = function->getReturnType();
    } else if (const auto *same = dyn_cast<TypeOfExprType>(type)) {
      lengths.push_back(same->getUnderlyingExpr());
      break;
    } else if (isa<PointerType, ReferenceType, BlockPointerType, MemberPointerType>(type)) {
      type = type->getPointeeType();
    } else if (const auto *atomic = dyn_cast<AtomicType>(type)) {
      type = atomic->getValueType();
    } else {
      const QualType inner = type->getLocallyUnqualifiedSingleStepDesugaredType();
      if (inner == type.getLocalUnqualifiedType()) break;
      type = inner;
    }
  }
  return lengths;
}

bool changesContainer(llvm::StringRef method) {
  return method == "resize" || method == "assign" || method == "push_back" || method == "reserve" ||
         method == "clear" || method == "pop_back";
}

bool pointsIntoContainer(llvm::StringRef method) {
  return method == "data" || method == "at" || method == "front" || method == "back";
}

bool readsShapeOfContainer(llvm::StringRef method) {
  return method == "size" || method == "empty" || method == "capacity" || method == "length";
}

}  // namespace nbcc::overlap
