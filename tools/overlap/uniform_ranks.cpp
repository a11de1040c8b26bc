// SPDX-License-Identifier: BSD-3-Clause
// uniform_ranks.cpp - whether an expression names the rank, or a number that was made of it.
//
//   MPI_Comm_rank(comm, &g->rank);   in_turn(g->rank + 1)   for (i = 0; i < me; ++i)
//
// Looked for backwards, from the name to whatever gives it a value in any of the sources. Only
// whole numbers are followed, and no conditions: what a loop of a solver waits for is computed from
// the rank's part of the data, and then made one of all ranks in ways that are hard to tell.

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

#include <algorithm>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/memory.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// Also arrays of them, and what points at them.
static bool isWholeNumber(QualType type) {
  type = type.getNonReferenceType();
  if (type->isPointerType()) type = type->getPointeeType();
  return type->getBaseElementTypeUnsafe()->isIntegralOrEnumerationType();
}

/// std::array<int, 2>, std::pair<int, double>, std::vector<int>: what its parts are is not
/// followed.
static bool holdsWholeNumbers(QualType type) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const auto *of = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record);
  return of && of->isInStdNamespace() &&
         anyTypeArgument(*of, [](QualType t) { return isWholeNumber(t) || holdsWholeNumbers(t); });
}

/// How many arguments stand before the parameters' ones: the object of an operator.
static unsigned objectsOf(const CallExpr &call, const FunctionDecl &f) {
  const auto *method = dyn_cast<CXXMethodDecl>(&f);
  return isa<CXXOperatorCallExpr>(call) && method && !method->isExplicitObjectMemberFunction();
}

static bool holdsReturn(const Stmt *s) {
  return s && (isa<ReturnStmt>(s) || std::ranges::any_of(s->children(), holdsReturn));
}

bool Uniform::namesRank(const Stmt *e) const {
  Seen seen;
  return namesRank(e, &seen);
}

/// `seen`: what has been asked of; null: only variables that MPI_Comm_rank() itself fills count.
bool Uniform::namesRank(const Stmt *e, Seen *seen) const {
  if (!e) return false;
  const auto inParts = [&](Seen *asked) {
    return std::ranges::any_of(e->children(),
                               [&](const Stmt *child) { return namesRank(child, asked); });
  };
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) return tellsRank(*ref->getDecl(), seen);
  if (const auto *member = dyn_cast<MemberExpr>(e))
    return tellsRank(*member->getMemberDecl(), seen) || inParts(seen);
  const auto *call = dyn_cast<CallExpr>(e);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  if (f && returnsCode(*f)) return false;
  const FunctionDecl *body = f ? program_.definition(*f) : nullptr;
  if (!body || !seen) return inParts(seen);
  const bool returns = isWholeNumber(body->getReturnType()) &&
                       seen->insert(nameInAll(*body)).second && returnsRank(body->getBody(), seen);
  return returns || inParts(nullptr);
}

bool Uniform::returnsRank(const Stmt *s, Seen *seen) const {
  if (!s) return false;
  if (isa<ReturnStmt>(s)) return namesRank(s, seen);
  const Expr *on = nullptr;
  if (const auto *i = dyn_cast<IfStmt>(s)) on = i->getCond();
  if (const auto *chosen = dyn_cast<SwitchStmt>(s)) on = chosen->getCond();
  return (on && holdsReturn(s) && namesRank(on, seen)) ||
         std::ranges::any_of(s->children(),
                             [&](const Stmt *child) { return returnsRank(child, seen); });
}

bool Uniform::tellsRank(const ValueDecl &d, Seen *seen) const {
  if (isa<BindingDecl>(d)) return isWholeNumber(d.getType());  // a part of anything
  if (!isa<VarDecl, FieldDecl>(d)) return false;
  if (holdsWholeNumbers(d.getType())) return true;
  if (!isWholeNumber(d.getType())) return false;
  if (seen && !seen->insert(nameInAll(d)).second) return false;
  if (filledByRank(d, seen)) return true;
  const auto *v = dyn_cast<VarDecl>(&d);
  if (!v || !seen) return false;
  const auto *p = dyn_cast<ParmVarDecl>(v);
  const auto *f = p ? dyn_cast<FunctionDecl>(p->getDeclContext()) : nullptr;
  if (!f) return namesRank(v->getAnyInitializer(), seen);
  if (isa<CXXConstructorDecl>(f)) return true;  // who constructs what is not followed
  const unsigned i = p->getFunctionScopeIndex();
  return std::ranges::any_of(program_.callers(*f), [&](const CallSite &at) {
    const unsigned place = i + objectsOf(*at.call, *f);
    return place < at.call->getNumArgs() && namesRank(at.call->getArg(place), seen);
  });
}

/// Whether it, or what it points at, is given the rank after its declaration.
bool Uniform::filledByRank(const ValueDecl &d, Seen *seen) const {
  for (const Given &given : program_.given(d)) {
    const auto *e = dyn_cast<Expr>(given.at);
    const auto *op = dyn_cast_or_null<BinaryOperator>(e);
    const bool assigns = op && op->isAssignmentOp();
    if (assigns && seen && namesRank(op->getRHS(), seen)) return true;
    // Of a list of values, or a constructor's.
    const bool value = isa<FieldDecl>(d) && e && e->getType()->isIntegralOrEnumerationType();
    if (!assigns && value && seen && namesRank(e, seen)) return true;
    if (!assigns && e && given.in && getsRank(e, given.in, seen)) return true;
  }
  return isa<VarDecl>(d) && std::ranges::any_of(program_.uses(d), [&](const Use &use) {
           return use.in && getsRank(use.ref, use.in, seen);
         });
}

/// The same where its name, or its address, stands.
bool Uniform::getsRank(const Expr *at, const FunctionDecl *in, Seen *seen) const {
  ASTContext &context = in->getASTContext();
  for (const Stmt *parent = parentOf(at, context); parent; parent = parentOf(parent, context)) {
    if (const auto *call = dyn_cast<CallExpr>(parent)) {
      const FunctionDecl *f = call->getDirectCallee();
      const auto argument = std::find(call->arg_begin(), call->arg_end(), at);
      if (!f || argument == call->arg_end()) return false;
      const unsigned objects = objectsOf(*call, *f);
      const auto i = static_cast<unsigned>(argument - call->arg_begin()) - objects;
      if (objects && argument == call->arg_begin()) return false;
      const llvm::StringRef name = f->getIdentifier() ? f->getName() : "";
      if (isMpi(*f) && (name.ends_with("Comm_rank") || name.ends_with("Group_rank"))) return i == 1;
      const FunctionDecl *body = program_.definition(*f);
      const bool lends = at->isGLValue() || at->getType()->isPointerType();
      if (!body || !seen || !lends || i >= body->getNumParams()) return false;
      const ParmVarDecl &p = *body->getParamDecl(i);
      return seen->insert("to " + nameInAll(p)).second && filledByRank(p, seen);
    }
    if (const auto *declared = dyn_cast<DeclStmt>(parent)) {  // int &other = at, *another = &at;
      const VarDecl *v = nullptr;
      for (const Decl *d : declared->decls())
        if (const auto *one = dyn_cast<VarDecl>(d);
            one && one->getInit() &&
            one->getInit()->IgnoreParenImpCasts() == at->IgnoreParenImpCasts())
          v = one;
      const bool leads = v && (v->getType()->isReferenceType() || v->getType()->isPointerType());
      return leads && seen && seen->insert("to " + nameInAll(*v)).second && filledByRank(*v, seen);
    }
    const auto *op = dyn_cast<BinaryOperator>(parent);
    if (op && op->isAssignmentOp())
      return seen && op->getLHS() == at && namesRank(op->getRHS(), seen);
    const auto *sub = dyn_cast<ArraySubscriptExpr>(parent);
    const auto *unary = dyn_cast<UnaryOperator>(parent);
    const bool same =
        isa<CastExpr, ParenExpr>(parent) || (sub && sub->getBase() == at) ||
        (unary && (unary->getOpcode() == UO_AddrOf || unary->getOpcode() == UO_Deref));
    if (!same) return false;
    at = llvm::cast<Expr>(parent);
  }
  return false;
}

}  // namespace nbcc::overlap
