// SPDX-License-Identifier: BSD-3-Clause
// uniform_filled.cpp - whether a local number was given what is the same everywhere just before.
//
//   CHECK(MPI_Bcast(&n, 1, MPI_INT, 0, comm));   if (n > 96) n = 96;   for (i = 0; i < n; i++) ...
//
// From the place that is asked about the way goes back, statement by statement and block by block,
// to where all of the number was filled or set. What stands on the way may only change it alike.

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

#include "tools/overlap/changes.h"
#include "tools/overlap/effects.h"
#include "tools/overlap/filling.h"
#include "tools/overlap/types.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using llvm::isa_and_nonnull;

namespace {

/// What has a variable's address as an argument, casts aside; null: nothing.
const CallExpr *givenTo(const Use &use, ASTContext &context) {
  const Stmt *at = parentOf(use.ref, context);
  const auto *address = dyn_cast_or_null<UnaryOperator>(at);
  if (!address || address->getOpcode() != UO_AddrOf) return nullptr;
  while (isa_and_nonnull<UnaryOperator, CastExpr, ParenExpr>(at)) at = parentOf(at, context);
  return dyn_cast_or_null<CallExpr>(at);
}

bool isRead(const Use &use, ASTContext &context) {
  const auto *read = dyn_cast_or_null<CastExpr>(parentOf(use.ref, context));
  return read && read->getCastKind() == CK_LValueToRValue;
}

/// Of the loop that it is the body of.
bool hasContinue(const Stmt *s) {
  return s && !isLoop(s) && !isa<LambdaExpr>(s) &&
         (isa<ContinueStmt>(s) || std::ranges::any_of(s->children(), hasContinue));
}
bool hasBreak(const Stmt *s) {
  return s && !isLoop(s) && !isa<LambdaExpr, SwitchStmt>(s) &&
         (isa<BreakStmt>(s) || std::ranges::any_of(s->children(), hasBreak));
}

/// Whether code runs at the end of a block: that of what it declares.
bool endsWithCode(const CompoundStmt &block) {
  return std::ranges::any_of(block.body(), [](const Stmt *s) {
    const auto *declared = dyn_cast<DeclStmt>(s);
    return declared && llvm::any_of(declared->decls(), [](const Decl *d) {
             const auto *v = dyn_cast<VarDecl>(d);
             return v && (v->hasAttr<CleanupAttr>() || endOf(v->getType().getNonReferenceType()));
           });
  });
}

}  // namespace

/// Of one number in one function.
class Uniform::Filled {
 public:
  Filled(Uniform &uniform, const VarDecl &v, const FunctionDecl &in)
      : uniform_(uniform),
        v_(v),
        in_(in),
        context_(in.getASTContext()),
        memory_(uniform.program_.memory(in)),
        self_(memory_.variable(v)),
        lent_(isLent()) {}

  bool before(const Stmt *place);

 private:
  bool isV(const Expr *e) const { return namedVariable(e) == v_.getCanonicalDecl(); }
  bool isLent() const;
  bool isGiven(const Stmt *) const;
  bool changes(const Stmt *, const CallExpr *but = nullptr) const;
  bool isAlike(const Expr *);
  bool filledBy(const CallExpr *, const Stmt *in);
  bool fills(const Stmt *);
  bool endsWithIt(const CompoundStmt &);
  bool keepsAlike(const Stmt *);
  bool turnsEndWithIt(const Stmt *loop, const Stmt *place);

  Uniform &uniform_;
  const VarDecl &v_;
  const FunctionDecl &in_;
  ASTContext &context_;
  const Memory &memory_;
  const Objects self_;
  const bool lent_;
};

/// Whether MPI may write to it otherwise than in a call that is given its address there.
bool Uniform::Filled::isLent() const {
  return std::ranges::any_of(uniform_.program_.uses(v_), [&](const Use &use) {
    const Stmt *at = parentOf(use.ref, context_);
    const auto *set = dyn_cast_or_null<BinaryOperator>(at);
    const auto *step = dyn_cast_or_null<UnaryOperator>(at);
    if (isRead(use, context_) || (set && set->isAssignmentOp()) ||
        (step && step->isIncrementDecrementOp()))
      return false;
    const CallExpr *call = givenTo(use, context_);
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    return !f || !isMpi(*f) || !isDoneWith(*f);
  });
}

/// Whether a statement does more with it than to read it.
bool Uniform::Filled::isGiven(const Stmt *s) const {
  return std::ranges::any_of(uniform_.program_.uses(v_), [&](const Use &use) {
    return !isRead(use, context_) &&
           isWithin(use.ref->getBeginLoc(), s, context_.getSourceManager());
  });
}

/// `but`: a call in it that is left out, with its arguments.
bool Uniform::Filled::changes(const Stmt *s, const CallExpr *but) const {
  for (const Effect &e : effectsOf(s, in_, uniform_.program_, but).all)
    if ((e.kind == Effect::writes && memory_.mayOverlap(e.objects, self_)) ||
        e.kind == Effect::enters || (e.kind == Effect::mpi && (lent_ || isGiven(s))) ||
        (e.kind == Effect::opaque && (isGiven(s) || memory_.escaped(*self_.known.begin()))))
      return true;
  return false;
}

/// What was taken for granted on the way to a no is not, should it be asked again.
bool Uniform::Filled::isAlike(const Expr *e) {
  const Asked asked = uniform_.asked_;
  if (uniform_.same(e, &in_)) return true;
  uniform_.asked_ = asked;
  return false;
}

/// Whether it is so behind a statement because of a call in it.
bool Uniform::Filled::filledBy(const CallExpr *call, const Stmt *in) {
  const std::optional<Fill> fill = call ? fillOf(*call) : std::nullopt;
  const Expr *to = fill ? call->getArg(fill->argument)->IgnoreParenCasts() : nullptr;
  const auto *op = dyn_cast_or_null<UnaryOperator>(to);
  return op && op->getOpcode() == UO_AddrOf && isV(op->getSubExpr()) &&
         fillsAll(*call, *fill, v_.getType(), context_) && !changes(in, call) &&
         std::ranges::none_of(call->arguments(), [&](const Expr *e) { return changes(e); }) &&
         uniform_.fillsAlike(call, fill->argument, &in_, atOnce) && uniform_.reached(call, &in_);
}

bool Uniform::Filled::fills(const Stmt *s) {
  if (const auto *declared = dyn_cast<DeclStmt>(s)) {
    if (llvm::is_contained(declared->decls(), &v_))
      return v_.getInit() && isAlike(v_.getInit()) && !changes(s);
    return filledBy(checkedCall(s), s);
  }
  if (const auto *check = dyn_cast<IfStmt>(s))
    return filledBy(checkedCall(s), check->getCond()) && !changes(check->getThen()) &&
           !(check->getElse() && changes(check->getElse()));
  if (const auto *block = dyn_cast<CompoundStmt>(s)) return endsWithIt(*block);
  if (const auto *once = dyn_cast<DoStmt>(s)) {  // a macro
    const auto *body = dyn_cast<CompoundStmt>(once->getBody());
    return body && known(once->getCond(), context_) == false && !changes(once->getCond()) &&
           !hasContinue(body) && !hasBreak(body) && endsWithIt(*body);
  }
  const auto *e = dyn_cast<Expr>(s);
  if (!e) return false;
  const auto *op = dyn_cast<BinaryOperator>(e->IgnoreParens());
  if (op && op->getOpcode() == BO_Assign && isV(op->getLHS()))
    return !changes(op->getRHS()) && isAlike(op->getRHS());
  return filledBy(checkedCall(e), e);
}

bool Uniform::Filled::endsWithIt(const CompoundStmt &block) {
  if (endsWithCode(block)) return false;
  for (const Stmt *s : llvm::reverse(block.body())) {
    if (fills(s)) return true;
    if (!keepsAlike(s)) return false;
  }
  return false;
}

/// n += 2; if (n > most) n = most: where it was alike before, it is so behind that.
bool Uniform::Filled::keepsAlike(const Stmt *s) {
  if (!changes(s)) return true;
  if (const auto *block = dyn_cast<CompoundStmt>(s))
    return !endsWithCode(*block) &&
           std::ranges::all_of(block->body(), [&](const Stmt *child) { return keepsAlike(child); });
  if (const auto *branch = dyn_cast<IfStmt>(s))
    return !branch->getInit() && !branch->getConditionVariable() && !changes(branch->getCond()) &&
           isAlike(branch->getCond()) && keepsAlike(branch->getThen()) &&
           (!branch->getElse() || keepsAlike(branch->getElse()));
  const auto *e = dyn_cast<Expr>(s);
  const auto *op = e ? dyn_cast<BinaryOperator>(e->IgnoreParens()) : nullptr;
  const auto *step = e ? dyn_cast<UnaryOperator>(e->IgnoreParens()) : nullptr;
  if (step && step->isIncrementDecrementOp()) return isV(step->getSubExpr());
  return op && op->isAssignmentOp() && isV(op->getLHS()) && !changes(op->getRHS()) &&
         isAlike(op->getRHS());
}

/// Whether it is so in each turn of a loop if it is so in the first.
bool Uniform::Filled::turnsEndWithIt(const Stmt *loop, const Stmt *place) {
  const auto *f = dyn_cast<ForStmt>(loop);
  const auto *w = dyn_cast<WhileStmt>(loop);
  const auto *d = dyn_cast<DoStmt>(loop);
  if (f && (place == f->getInit() || f->getConditionVariable() ||
            (f->getInit() && changes(f->getInit())) || (f->getCond() && changes(f->getCond())) ||
            (f->getInc() && changes(f->getInc()))))
    return false;
  if (w && (w->getConditionVariable() || changes(w->getCond()))) return false;
  if (d && changes(d->getCond())) return false;
  const Stmt *body = f ? f->getBody() : w ? w->getBody() : d ? d->getBody() : nullptr;
  const auto *block = dyn_cast_or_null<CompoundStmt>(body);
  return block && !hasContinue(block) && endsWithIt(*block);
}

bool Uniform::Filled::before(const Stmt *place) {
  const Stmt *at = place;
  for (const Stmt *p = parentOf(at, context_); p; at = p, p = parentOf(p, context_)) {
    const auto *block = dyn_cast<CompoundStmt>(p);
    if (!block) {
      const bool repeats = isLoop(p);
      const bool ends = isa<Expr, DeclStmt, ReturnStmt>(p);
      if (ends && changes(p)) return false;
      if (repeats && changes(p)) {
        if (!turnsEndWithIt(p, at)) return false;
        const auto *d = dyn_cast<DoStmt>(p);
        if (d && at == d->getCond()) return true;
      }
      const auto *i = dyn_cast<IfStmt>(p);
      if (!repeats && !ends && !i) return false;
      if (i && (i->getInit() || i->getConditionVariable() || changes(i->getCond()))) return false;
      continue;
    }
    auto here = std::find(block->body_begin(), block->body_end(), at);
    if (here == block->body_end()) return false;
    while (here != block->body_begin()) {
      if (fills(*--here)) return true;
      if (!keepsAlike(*here)) return false;
    }
  }
  return false;
}

/// A local number that a broadcast, an allgather or an allreduce has just filled, or that was set
/// to what is the same everywhere, and that was changed alike since: what it was before does not
/// matter.
bool Uniform::filledBefore(const DeclRefExpr *ref, const VarDecl *v, const FunctionDecl *in) {
  if (v->hasGlobalStorage() || !v->getType()->isArithmeticType() ||
      v->getType()->isAnyComplexType() || v->getType().isVolatileQualified() ||
      !program_.memory(*in).notUnderstood().empty())
    return false;
  const Filling question(ref, elsewhere_ > 0, atAnyTime_);
  if (notFilled_.contains(question)) return false;
  // It comes back to where it was asked in an earlier turn: if it was alike there, it is.
  if (!filling_.insert(question).second) return true;
  const Answers before = answers();
  const bool filled = Filled(*this, *v, *in).before(ref);
  filling_.erase(question);
  if (filled) return true;
  takeBackTo(before);
  notFilled_.insert(question);
  return false;
}

}  // namespace nbcc::overlap
