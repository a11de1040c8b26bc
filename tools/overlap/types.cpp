// SPDX-License-Identifier: BSD-3-Clause
// types.cpp - what objects of a type hold.

#include "tools/overlap/types.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <set>

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

bool mayPoint(QualType type) {
  if (const auto *atomic = type->getAs<AtomicType>()) type = atomic->getValueType();
  return !type->isArithmeticType() && !type->isEnumeralType() && !type->isVoidType();
}

/// One of the program's own may hand out memory that it knows by another name.
static bool isOfStandardAllocator(const ClassTemplateSpecializationDecl &of) {
  const TemplateArgumentList &all = of.getTemplateArgs();
  const CXXRecordDecl *from = all[all.size() - 1].getAsType()->getAsCXXRecordDecl();
  return from && from->isInStdNamespace() && from->getIdentifier() &&
         from->getName() == "allocator";
}

bool isContainer(QualType type) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->isInStdNamespace() || !record->getIdentifier()) return false;
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
  return (c && c->getNumBases() > 0) ||
         std::ranges::any_of(record->fields(),
                             [](const FieldDecl *f) { return holdsPointers(f->getType()); });
}

/// `seen`: a tree's node holds a vector of nodes.
static bool mayKnowItself(QualType type, std::set<const CXXRecordDecl *> &seen) {
  const CXXRecordDecl *record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || !seen.insert(record).second) return false;
  const auto may = [&seen](QualType t) { return mayKnowItself(t, seen); };
  if (record->isInStdNamespace()) {
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

bool isContainerOfNumbers(QualType type) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const auto *of = record ? dyn_cast<ClassTemplateSpecializationDecl>(record) : nullptr;
  return of && isContainer(type) && record->getName() == "vector" &&
         of->getTemplateArgs()[0].getAsType()->isArithmeticType();
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
