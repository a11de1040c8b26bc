// SPDX-License-Identifier: BSD-3-Clause
// elements.cpp - every use of every array of pointers.

#include "tools/overlap/elements.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <set>

#include "tools/overlap/bindings.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/program.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

bool isPointers(QualType type) {
  const ArrayType *array = type.getCanonicalType()->getAsArrayTypeUnsafe();
  return array && array->getElementType()->isPointerType();
}

const ValueDecl *named(const Expr *e) {
  e = e->IgnoreParens();
  const ValueDecl *d = nullptr;
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) d = ref->getDecl();
  if (const auto *name = llvm::dyn_cast_or_null<BindingDecl>(d); name && boundField(*name))
    d = boundField(*name);
  if (const auto *member = dyn_cast<MemberExpr>(e)) d = member->getMemberDecl();
  return d && isPointers(d->getType()) ? d : nullptr;
}

bool isNothing(const Expr *e) {
  e = e->IgnoreParenImpCasts();
  if (isa<ImplicitValueInitExpr, CXXNullPtrLiteralExpr, GNUNullExpr>(e)) return true;
  if (const auto *list = dyn_cast<InitListExpr>(e)) {
    const bool filler = !list->hasArrayFiller() || isNothing(list->getArrayFiller());
    return filler && std::ranges::all_of(list->inits(), isNothing);
  }
  if (const auto *cast = dyn_cast<CastExpr>(e); cast && cast->getCastKind() == CK_NullToPointer)
    return true;
  const auto *zero = dyn_cast<IntegerLiteral>(e);
  return zero && zero->getValue() == 0;
}

}  // namespace

const ValueDecl *ElementUses::arrayOf(const ArraySubscriptExpr *e) {
  const auto *decay = dyn_cast<ImplicitCastExpr>(e->getBase()->IgnoreParens());
  return decay && decay->getCastKind() == CK_ArrayToPointerDecay ? named(decay->getSubExpr())
                                                                 : nullptr;
}

/// memcpy() and its like between structures of two types, or one and bytes.
static bool movesToOther(const FunctionDecl &f, const CallExpr &call) {
  llvm::StringRef name = f.getIdentifier() ? f.getName() : "";
  name.consume_front("__builtin_");
  std::set<const RecordDecl *> sides;
  if (!name.starts_with("mem") && name != "bcopy") return false;
  for (const Expr *argument : call.arguments()) {
    const QualType type = argument->IgnoreParenCasts()->getType();
    if (!type->isPointerType() && !type->isArrayType()) continue;
    const Type *to = type->isPointerType() ? type->getPointeeType()->getBaseElementTypeUnsafe()
                                           : type->getBaseElementTypeUnsafe();
    const RecordDecl *record = to->getAsRecordDecl();
    sides.insert(record ? llvm::cast<RecordDecl>(record->getCanonicalDecl()) : nullptr);
  }
  return sides.size() > 1;
}

void ElementUses::visit(const Stmt *s) {
  const auto element = [](const Expr *e) {
    const auto *sub = dyn_cast<ArraySubscriptExpr>(e->IgnoreParens());
    return sub ? arrayOf(sub) : nullptr;
  };
  const auto *e = dyn_cast<Expr>(s);
  if (!e) return;
  if (const ValueDecl *d = isa<DeclRefExpr, MemberExpr>(e) ? named(e) : nullptr)
    ++uses_[nameInAll(*d)].all;
  if (const auto *conversion = dyn_cast<CastExpr>(e)) {
    if (conversion->getCastKind() == CK_LValueToRValue)
      if (const ValueDecl *d = element(conversion->getSubExpr())) ++uses_[nameInAll(*d)].plain;
    cast(conversion);
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e); op && op->getOpcode() == BO_Assign)
    if (const ValueDecl *d = element(op->getLHS())) {
      Uses &uses = uses_[nameInAll(*d)];
      ++uses.plain;
      uses.stored.push_back(op->getRHS());
    }
  if (const auto *call = dyn_cast<CallExpr>(e))
    if (const FunctionDecl *f = call->getDirectCallee();
        f && (findKnownCall(*f) || isMpi(*f)) && !movesToOther(*f, *call))
      fine_.insert(call->arg_begin(), call->arg_end());
  if (const auto *list = dyn_cast<InitListExpr>(e)) {
    if (!list->isSemanticForm()) list = list->getSemanticForm();
    const RecordDecl *record = list->getType()->getAsRecordDecl();
    if (!record) return;
    unsigned i = 0;
    for (const FieldDecl *f : record->fields()) {
      if (f->isUnnamedBitField()) continue;
      if (record->isUnion() || i >= list->getNumInits()) break;
      initialised(*f, list->getInit(i++));
    }
  }
}

void ElementUses::declared(const VarDecl &v) {
  if (v.getInit()) initialised(v, v.getInit());
}

void ElementUses::initialised(const ValueDecl &d, const Expr *init) {
  if (!isPointers(d.getType()) || isNothing(init)) return;
  uses_[nameInAll(d)].unclear = true;
}

// A structure as bytes, or as another one: elements could be moved there.
void ElementUses::cast(const CastExpr *e) {
  if (e->getCastKind() != CK_BitCast || fine_.contains(e)) return;
  const auto record = [](QualType type) {
    return type->isPointerType() ? type->getPointeeType()->getAsRecordDecl() : nullptr;
  };
  const RecordDecl *from = record(e->getSubExpr()->getType()), *to = record(e->getType());
  if (from) asBytes_.insert(nameInAll(*from));
  if (to && !e->getSubExpr()->getType()->isVoidPointerType()) asBytes_.insert(nameInAll(*to));
}

bool ElementUses::areApart(const ValueDecl &array, Program &program) {
  const auto found = uses_.find(nameInAll(array));
  if (found == uses_.end()) return false;
  const Uses &uses = found->second;
  if (uses.unclear || uses.all != uses.plain || uses.stored.empty()) return false;
  if (const auto *field = dyn_cast<FieldDecl>(&array)) {
    const RecordDecl *record = field->getParent();
    if (record->isUnion() || program.inUnion(*record) || asBytes_.contains(nameInAll(*record)))
      return false;
    const auto *c = dyn_cast<CXXRecordDecl>(record);
    if ((c && !c->isPOD()) || field->hasInClassInitializer()) return false;
  } else if (const auto *v = dyn_cast<VarDecl>(&array); !v || v->isExternallyVisible()) {
    return false;
  }
  return std::ranges::all_of(uses.stored, [&](const Expr *e) {
    if (isNothing(e)) return true;
    const Expr *made = e->IgnoreParenCasts();
    const auto *call = dyn_cast<CallExpr>(made);
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    if (!f) return false;
    const KnownCall *known = program.definition(*f) ? nullptr : findKnownCall(*f);
    return known ? known->kind == CallKind::makes : program.makes(*f);
  });
}

}  // namespace nbcc::overlap
