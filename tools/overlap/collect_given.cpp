// SPDX-License-Identifier: BSD-3-Clause
// collect_given.cpp - where values are given, seen or unseen.

#include "tools/overlap/collect_given.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

#include "tools/overlap/bindings.h"
#include "tools/overlap/buffers.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

/// Whether it may be one of MPI's, and is looked at as a whole.
static bool isHandle(QualType type) {
  type = type.getNonReferenceType();
  return !type->isRecordType() && !type->isArrayType() && !type->isFunctionType();
}

/// What pointers, references and arrays lead to.
static QualType behind(QualType type) {
  for (QualType next = type; !next.isNull();) {
    type = next;
    const auto *atomic = type->getAs<AtomicType>();
    next = atomic                ? atomic->getValueType()
           : type->isArrayType() ? QualType(type->getBaseElementTypeUnsafe(), 0)
                                 : type->getPointeeType();
  }
  return type;
}

void GivenValues::gives(const Expr *to, const Stmt *at, const FunctionDecl *in) {
  const ValueDecl *d = nullptr;
  to = to->IgnoreParenCasts();
  understood_.insert(to);
  if (const auto *ref = dyn_cast<DeclRefExpr>(to)) d = ref->getDecl();
  if (const auto *name = dyn_cast_or_null<BindingDecl>(d)) d = boundField(*name);
  if (const auto *member = dyn_cast<MemberExpr>(to)) d = member->getMemberDecl();
  if (d && isHandle(d->getType())) program_.given_[nameInAll(*d)].push_back({at, in});
}

/// comm{MPI_COMM_WORLD}
static const Expr *onlyValue(const Expr &value) {
  const auto *list = dyn_cast<InitListExpr>(&value);
  return list && list->getNumInits() == 1 ? list->getInit(0) : &value;
}

void GivenValues::givesUnless(const ValueDecl &d, const Expr &value, const FunctionDecl *in) {
  const bool none = isa<ImplicitValueInitExpr>(value) ||
                    isa<CXXDefaultInitExpr>(value) ||  // which its declaration gives
                    constantName(&value, d.getASTContext()) == "MPI_COMM_NULL";
  if (isHandle(d.getType()) && !none)
    program_.given_[nameInAll(d)].push_back({onlyValue(value), in, &d.getASTContext()});
}

void GivenValues::givesFields(const InitListExpr &list, const FunctionDecl *in) {
  if (!understood_.insert(&list).second) return;
  for (const Expr *e : list.inits())
    if (const auto *inner = dyn_cast_or_null<InitListExpr>(e))
      givesFields(*inner, in);
    else if (isa_and_nonnull<DesignatedInitUpdateExpr>(e))
      givesAll(e->getType());
  const RecordDecl *record = list.getType()->getAsRecordDecl();
  if (!record || record->isUnion()) return;
  const auto *of = dyn_cast<CXXRecordDecl>(record);
  unsigned i = of ? of->getNumBases() : 0;
  for (const FieldDecl *f : record->fields()) {
    if (f->isUnnamedBitField()) continue;
    if (i < list.getNumInits() && list.getInit(i)) givesUnless(*f, *list.getInit(i), in);
    ++i;
  }
}

void GivenValues::givesAll(QualType type) {
  if (type.isNull()) return;  // in a template
  const RecordDecl *record = behind(type)->getAsRecordDecl();
  if (!record || !record->getDefinition() || isOfSystem(*record) ||
      !program_.seenAsOther_.insert(nameInAll(*record)).second)
    return;
  if (const auto *of = dyn_cast<CXXRecordDecl>(record->getDefinition()))
    for (const CXXBaseSpecifier &base : of->bases()) givesAll(base.getType());
  for (const FieldDecl *f : record->getDefinition()->fields()) {
    givesAll(f->getType());
    if (isHandle(f->getType())) program_.given_[nameInAll(*f)].push_back({nullptr, nullptr});
  }
}

void GivenValues::givesArgument(const TemplateArgument &a) {
  if (a.getKind() == TemplateArgument::Pack)
    for (const TemplateArgument &one : a.pack_elements()) givesArgument(one);
  if (a.getKind() != TemplateArgument::Type) return;
  const QualType of = behind(a.getAsType());
  if (const auto *function = of->getAs<FunctionProtoType>()) {
    for (const QualType parameter : function->param_types()) givesAll(parameter);
    return givesAll(function->getReturnType());
  }
  if (const CXXRecordDecl *record = of->getAsCXXRecordDecl()) {
    program_.givenToLibrary_.insert(record->getCanonicalDecl());
    givesArguments(*record);
  }
  givesAll(of);
}

/// The class that std's own pointers lead to, or what ends objects for them; null: it is neither.
static const CXXRecordDecl *ownedBy(QualType type) {
  const QualType owned = ownedByStandard(type);
  return owned.isNull() ? nullptr : owned->getAsCXXRecordDecl();
}

/// Those which a function of std gets or gives pointers of std's to, or is a method of.
static std::vector<const CXXRecordDecl *> ownedIn(const FunctionDecl &f) {
  std::vector<const CXXRecordDecl *> all;
  const auto add = [&](QualType type) {
    if (const CXXRecordDecl *owned = ownedBy(type.getNonReferenceType())) all.push_back(owned);
  };
  if (const auto *m = dyn_cast<CXXMethodDecl>(&f))
    add(f.getASTContext().getRecordType(m->getParent()));
  else if (f.isOverloadedOperator())
    for (const ParmVarDecl *p : f.parameters()) add(p->getType());
  return all;
}

static bool areRelated(const CXXRecordDecl &a, const CXXRecordDecl &b) {
  const auto isOne = [](const CXXRecordDecl &one, const CXXRecordDecl &other) {
    return one.hasDefinition() && one.isDerivedFrom(&other);
  };
  return a.getCanonicalDecl() == b.getCanonicalDecl() || isOne(a, b) || isOne(b, a);
}

/// The first new that stands in a statement; null: none does.
static const CXXNewExpr *findNew(const Stmt &s) {
  if (const auto *made = dyn_cast<CXXNewExpr>(&s)) return made;
  for (const Stmt *child : s.children())
    if (const CXXNewExpr *made = child ? findNew(*child) : nullptr) return made;
  return nullptr;
}

const CXXConstructExpr *madeBy(const FunctionDecl &f) {
  const bool makes = f.isInStdNamespace() && f.getIdentifier() && f.getName() == "make_unique";
  const FunctionDecl *body = makes && isOfSystem(f) ? f.getDefinition() : nullptr;
  const CXXNewExpr *made = body && body->getBody() ? findNew(*body->getBody()) : nullptr;
  return made && !made->isArray() ? made->getConstructExpr() : nullptr;
}

std::vector<const Expr *> handedOn(const CallExpr &call, const CXXConstructExpr &made) {
  std::vector<const Expr *> all;
  for (const Expr *e : made.arguments()) {
    const auto *forwards = dyn_cast<CallExpr>(e->IgnoreParenImpCasts());  // std::forward<T>(p)
    const auto *ref = forwards && forwards->getNumArgs() == 1
                          ? dyn_cast<DeclRefExpr>(forwards->getArg(0)->IgnoreParenImpCasts())
                          : nullptr;
    const auto *p = ref ? dyn_cast<ParmVarDecl>(ref->getDecl()) : nullptr;
    const unsigned i = p ? p->getFunctionScopeIndex() : call.getNumArgs();
    if (i < call.getNumArgs()) {
      e = call.getArg(i);
      if (const auto *temporary = dyn_cast<MaterializeTemporaryExpr>(e))
        e = temporary->getSubExpr();
    }
    all.push_back(e);
  }
  return all;
}

void GivenValues::givesArguments(const FunctionDecl &f, bool called) {
  if (!isOfSystem(f) || (called && madeBy(f))) return;
  const std::vector<const CXXRecordDecl *> owned = ownedIn(f);
  if (const TemplateArgumentList *all = f.getTemplateSpecializationArgs())
    for (const TemplateArgument &a : all->asArray()) {
      const CXXRecordDecl *of =
          a.getKind() == TemplateArgument::Type ? a.getAsType()->getAsCXXRecordDecl() : nullptr;
      const bool ends =
          of && !isOfSystem(*of) &&
          llvm::any_of(owned, [&](const CXXRecordDecl *one) { return areRelated(*one, *of); });
      if (!ends) givesArgument(a);
    }
  if (const auto *m = dyn_cast<CXXMethodDecl>(&f)) givesArguments(*m->getParent());
}
void GivenValues::givesArguments(const CXXRecordDecl &record) {
  const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(&record);
  if (!of || !isOfSystem(*of) || !seenTemplates_.insert(of).second) return;
  const CXXRecordDecl *owned = ownedBy(record.getASTContext().getRecordType(of));
  for (const TemplateArgument &a : of->getTemplateArgs().asArray())
    if (!owned || isOfSystem(*owned) || &a != &of->getTemplateArgs()[0]) givesArgument(a);
}

void GivenValues::underUnion(const RecordDecl *record) {
  if (!record || !program_.inUnion_.insert(nameInAll(*record)).second) return;
  const auto *of = dyn_cast_or_null<CXXRecordDecl>(record->getDefinition());
  if (of)
    for (const CXXBaseSpecifier &base : of->bases()) underUnion(base.getType()->getAsRecordDecl());
  for (const FieldDecl *f : record->fields()) {
    underUnion(f->getType()->getBaseElementTypeUnsafe()->getAsRecordDecl());
    if (f->getType()->getBaseElementTypeUnsafe()->isPointerType()) givesAll(f->getType());
  }
}

}  // namespace nbcc::overlap
