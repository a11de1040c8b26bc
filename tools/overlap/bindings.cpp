// SPDX-License-Identifier: BSD-3-Clause
// bindings.cpp - what clang and the standard library make of a structured binding.

#include "tools/overlap/bindings.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>

#include <algorithm>

#include "tools/overlap/memory.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;

namespace {

const CXXRecordDecl *recordOf(const VarDecl &bound) {
  return bound.getType().getNonReferenceType()->getAsCXXRecordDecl();
}

/// std::pair, tuple or array, whose get() gives what they hold.
bool holdsParts(const CXXRecordDecl *record) {
  const auto *of = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record);
  if (!of || !of->isInStdNamespace() || !of->getIdentifier()) return false;
  const llvm::StringRef name = of->getName();
  return (name == "pair" || name == "tuple" || name == "array") &&
         !anyTypeArgument(*of, [](QualType t) { return t->isReferenceType(); });
}

}  // namespace

const VarDecl *boundVariable(const Decl &d) {
  const auto *name = dyn_cast<BindingDecl>(&d);
  return name ? dyn_cast_or_null<VarDecl>(name->getDecomposedDecl()) : nullptr;
}

const FieldDecl *boundField(const BindingDecl &name) {
  if (!name.getBinding()) return nullptr;  // in a template
  if (const auto *member = dyn_cast<MemberExpr>(name.getBinding()->IgnoreParenCasts()))
    return dyn_cast<FieldDecl>(member->getMemberDecl());
  const auto *bound = dyn_cast_or_null<DecompositionDecl>(name.getDecomposedDecl());
  const CXXRecordDecl *record = bound ? recordOf(*bound) : nullptr;
  if (!name.getHoldingVar() || !holdsParts(record) || record->getName() != "pair") return nullptr;
  auto field = record->field_begin();
  for (const BindingDecl *b : bound->bindings()) {
    if (field == record->field_end() || b == &name) break;
    ++field;
  }
  return field == record->field_end() ? nullptr : *field;
}

bool bindsParts(const DecompositionDecl &bound) {
  if (bindsByCalls(bound)) return false;
  return std::ranges::all_of(bound.bindings(), [](const BindingDecl *name) {
    const FieldDecl *field = boundField(*name);
    return name->getBinding() && (!field || !field->getType()->isReferenceType());
  });
}

bool bindsByCalls(const DecompositionDecl &bound) {
  return !holdsParts(recordOf(bound)) &&
         std::ranges::any_of(bound.bindings(),
                             [](const BindingDecl *name) { return name->getHoldingVar(); });
}

}  // namespace nbcc::overlap
