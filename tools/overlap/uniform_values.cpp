// SPDX-License-Identifier: BSD-3-Clause
// uniform_values.cpp - whether an expression has the same value on all ranks.
//
// A variable has if all that is ever assigned to it has, and if all ranks reach each assignment
// alike.

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

bool Uniform::same(const Expr *e, const FunctionDecl *in) {
  e = e->IgnoreParens();
  if (isa<IntegerLiteral, FloatingLiteral, CharacterLiteral, StringLiteral, CXXBoolLiteralExpr,
          UnaryExprOrTypeTraitExpr, CXXNullPtrLiteralExpr, GNUNullExpr, OffsetOfExpr>(e))
    return true;
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
    if (isa<EnumConstantDecl>(ref->getDecl())) return true;
    const auto *v = dyn_cast<VarDecl>(ref->getDecl());
    return v && sameValue(v);
  }
  if (const auto *cast = dyn_cast<CastExpr>(e)) return same(cast->getSubExpr(), in);
  if (const auto *constant = dyn_cast<ConstantExpr>(e)) return same(constant->getSubExpr(), in);
  if (const auto *op = dyn_cast<UnaryOperator>(e))
    return op->getOpcode() != UO_AddrOf && same(op->getSubExpr(), in);
  if (const auto *op = dyn_cast<BinaryOperator>(e))
    return same(op->getLHS(), in) && same(op->getRHS(), in);
  if (const auto *op = dyn_cast<ConditionalOperator>(e))
    return same(op->getCond(), in) && same(op->getTrueExpr(), in) && same(op->getFalseExpr(), in);
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e))
    return same(sub->getBase(), in) && same(sub->getIdx(), in);
  if (const auto *call = dyn_cast<CallExpr>(e)) {
    const FunctionDecl *f = call->getDirectCallee();
    const KnownCall *known = f ? findKnownCall(*f) : nullptr;
    if (f && returnsCode(*f)) return true;
    const bool reads = known && known->kind == CallKind::plain && call->getNumArgs() > 0 &&
                       known->arguments.find_first_not_of("r-") == std::string_view::npos &&
                       known->arguments.find('r') != std::string_view::npos;  // not rand()
    if (!f || (!reads && !isMathematics(*f))) return false;
    for (const Expr *argument : call->arguments())
      if (!same(argument, in)) return false;
    return true;
  }
  return false;
}

bool Uniform::sameParameter(const ParmVarDecl *p) {
  const auto *f = dyn_cast<FunctionDecl>(p->getDeclContext());
  if (!f || p->getType()->isReferenceType()) return false;
  if (f->isMain()) return true;  // the command line
  const std::vector<CallSite> &callers = program_.callers(*f);
  if (callers.empty() || program_.addressTaken(*f)) return false;
  for (const CallSite &at : callers) {
    const unsigned i = p->getFunctionScopeIndex();
    if (!at.in || i >= at.call->getNumArgs() || isa<CXXOperatorCallExpr>(at.call)) return false;
    if (!same(at.call->getArg(i), at.in) || !reached(at.call, at.in)) return false;
  }
  return true;
}

bool Uniform::sameValue(const VarDecl *v) {
  if (!asked_.insert(v).second) return true;
  const bool seenWhole = !v->hasGlobalStorage() || !v->isExternallyVisible();
  if (!seenWhole && !(v->getType().isConstQualified() && v->hasInit())) return false;
  if (v->getType()->isReferenceType() || v->getType().isVolatileQualified()) return false;
  const auto *p = dyn_cast<ParmVarDecl>(v);
  if (p && !sameParameter(p)) return false;
  // What a pointer points at is anyone's, but for the command line.
  const bool commandLine = p && llvm::cast<FunctionDecl>(p->getDeclContext())->isMain();
  if (v->getType()->isPointerType() && !commandLine) return false;
  const auto *in = dyn_cast<FunctionDecl>(v->getDeclContext());
  if (v->getInit() && in && !same(v->getInit(), in)) return false;
  if (v->getInit() && !in && !v->getInit()->isEvaluatable(v->getASTContext())) return false;
  const bool uninitialised = !v->getInit() && !p && !v->hasGlobalStorage();
  const std::vector<Use> &uses = program_.uses(*v);
  if (uninitialised && uses.empty()) return false;
  for (const Use &use : uses)
    if (!sameUse(use)) return false;
  return true;
}

/// One use of a variable: it reads it, or writes what is the same everywhere.
bool Uniform::sameUse(const Use &use) {
  if (!use.in) return false;
  ASTContext &context = use.in->getASTContext();
  const Expr *at = use.ref;
  for (;;) {
    const auto parents = context.getParents(*at);
    if (parents.empty()) return false;
    const Expr *parent = parents[0].get<Expr>();
    if (!parent) return !at->getType()->isPointerType() && !at->isGLValue();
    if (const auto *cast = dyn_cast<CastExpr>(parent)) {
      if (cast->getCastKind() == CK_LValueToRValue) {
        // Of a pointer: it is looked at through, or copied to where it may be written through.
        if (!cast->getType()->isPointerType()) return true;
      }
    } else if (const auto *op = dyn_cast<BinaryOperator>(parent)) {
      if (op->isAssignmentOp() && op->getLHS()->IgnoreParens() == at->IgnoreParens())
        return same(op->getRHS(), use.in) && reached(op, use.in);
      if (op->isComparisonOp()) return true;
      if (op->isAssignmentOp()) return false;  // a pointer is kept
    } else if (const auto *unary = dyn_cast<UnaryOperator>(parent)) {
      if (unary->isIncrementDecrementOp()) return reached(unary, use.in);
      if (unary->getOpcode() == UO_LNot) return true;
    } else if (const auto *call = dyn_cast<CallExpr>(parent)) {
      for (unsigned i = 0; i < call->getNumArgs(); ++i)
        if (call->getArg(i) == at) return fillsAlike(call, i) && reached(call, use.in);
      return false;
    } else if (isa<UnaryExprOrTypeTraitExpr>(parent)) {
      return true;
    } else if (const auto *sub = dyn_cast<ArraySubscriptExpr>(parent)) {
      if (sub->getIdx() == at) return true;
    } else if (!isa<ParenExpr>(parent)) {
      return false;
    }
    at = parent;
  }
}

/// A call that is given a variable's address leaves it alone, or the same on all ranks.
bool Uniform::fillsAlike(const CallExpr *call, unsigned i) {
  const FunctionDecl *f = call->getDirectCallee();
  if (!f) return false;
  if (!call->getArg(i)->isGLValue() && !call->getArg(i)->getType()->isPointerType()) return true;
  if (const KnownCall *known = findKnownCall(*f); known && known->argument(i) == 'r') return true;
  if (!isMpi(*f)) return false;
  const ASTContext &context = f->getASTContext();
  const auto ours = [&](const Expr *communicator) {
    if (constantName(communicator, context) == "MPI_COMM_WORLD") return true;
    const size_t at = collective_.arguments.find('c');
    const auto *theirs = dyn_cast<DeclRefExpr>(communicator->IgnoreParenImpCasts());
    const auto *own =
        dyn_cast<DeclRefExpr>(call_.getArg(static_cast<unsigned>(at))->IgnoreParenImpCasts());
    return theirs && own && theirs->getDecl() == own->getDecl();
  };
  const std::string name = f->getNameAsString();
  if (name == "MPI_Init" || name == "MPI_Init_thread")
    return true;  // the command line, less MPI's own
  if (name == "MPI_Comm_size") return ours(call->getArg(0));
  const Collective *c = findCollective(name);
  if (!c || i >= c->arguments.size()) return false;
  const char what = c->arguments[i];
  if (what != 'r' && what != 'b') return true;
  return c->sameOnAll && ours(call->getArg(static_cast<unsigned>(c->arguments.find('c'))));
}

}  // namespace nbcc::overlap
