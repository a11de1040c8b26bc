// SPDX-License-Identifier: BSD-3-Clause
// changes.cpp - one walk over a function; and the shape of a loop that counts.

#include "tools/overlap/changes.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <set>

#include "tools/overlap/collectives.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/site.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

bool isWithin(SourceLocation at, const Stmt *s, const SourceManager &files) {
  // In a macro, too, where several loops may begin at one place of the source.
  return !files.isBeforeInTranslationUnit(at, s->getBeginLoc()) &&
         !files.isBeforeInTranslationUnit(s->getEndLoc(), at);
}

const VarDecl *namedVariable(const Expr *e) {
  const auto *ref = dyn_cast<DeclRefExpr>(e->IgnoreParens());
  const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  return v ? v->getCanonicalDecl() : nullptr;
}

bool isDropped(const Stmt *where, ASTContext &context) {
  if (!where || !isa<CompoundStmt, IfStmt, ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, CaseStmt,
                     DefaultStmt, LabelStmt>(where))
    return false;
  while (isa<CaseStmt, DefaultStmt, LabelStmt>(where)) {
    where = parentOf(where, context);
    if (!where) return false;
  }
  const Stmt *around = isa<CompoundStmt>(where) ? parentOf(where, context) : nullptr;
  return !around || !isa<StmtExpr>(around);  // whose value its last statement may be
}

bool isLookedAtMost(const CallExpr &call, ASTContext &context) {
  const Stmt *above = parentOf(&call, context);
  while (isa_and_nonnull<ParenExpr>(above)) above = parentOf(above, context);
  const auto *op = dyn_cast_or_null<BinaryOperator>(above);
  const auto *unary = dyn_cast_or_null<UnaryOperator>(above);
  const auto *cast = dyn_cast_or_null<CastExpr>(above);
  return isDropped(above, context) || (op && (op->isComparisonOp() || op->isLogicalOp())) ||
         (unary && unary->getOpcode() == UO_LNot) ||
         (cast && (cast->getCastKind() == CK_PointerToBoolean || cast->getCastKind() == CK_ToVoid));
}

bool isReadAtMost(const Expr *at, ASTContext &context, bool andPointers) {
  for (;;) {
    if (!(andPointers && at->getType()->isPointerType()) && !at->isGLValue()) return true;
    const auto parents = context.getParents(*at);
    if (parents.empty()) return false;
    const Expr *parent = parents[0].get<Expr>();
    const Stmt *where = parents[0].get<Stmt>();
    if (!parent) return isDropped(where, context);
    const auto *op = dyn_cast<BinaryOperator>(parent);
    const auto *unary = dyn_cast<UnaryOperator>(parent);
    const auto *sub = dyn_cast<ArraySubscriptExpr>(parent);
    if (op && (op->isComparisonOp() || (op->isCommaOp() && op->getLHS() == at))) return true;
    const bool reads =
        (unary && (unary->getOpcode() == UO_Deref || unary->getOpcode() == UO_LNot)) ||
        (sub && sub->getBase() == at) || (op && op->isCommaOp());
    const auto *cast = dyn_cast<CastExpr>(parent);
    const bool plain =
        cast && (cast->getCastKind() == CK_LValueToRValue || cast->getCastKind() == CK_NoOp ||
                 cast->getCastKind() == CK_ToVoid || cast->getCastKind() == CK_PointerToBoolean);
    if (!reads && !plain && !isa<ParenExpr, FullExpr>(parent)) return false;
    at = parent;
  }
}

namespace {

/// Fills what it is given when it is called, and forgets where that is.
bool fillsAtOnce(const FunctionDecl *f) {
  if (!f || !f->getIdentifier()) return false;
  return findKnownCall(*f) || (isMpi(*f) && findCollective(f->getName().str()));
}

}  // namespace

class CollectChanges : public RecursiveASTVisitor<CollectChanges> {
 public:
  CollectChanges(VariableChanges &changes, ASTContext &context)
      : changes_(changes), context_(context) {}

  bool shouldVisitImplicitCode() const { return true; }

  bool VisitBinaryOperator(BinaryOperator *op) {
    if (op->isAssignmentOp()) changed(op->getLHS(), op);
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *op) {
    if (op->isIncrementDecrementOp()) changed(op->getSubExpr(), op);
    return true;
  }
  bool VisitCallExpr(CallExpr *call) {
    if (!fillsAtOnce(call->getDirectCallee())) return true;
    for (const Expr *argument : call->arguments())
      if (const auto *op = dyn_cast<UnaryOperator>(argument->IgnoreParenCasts());
          op && op->getOpcode() == UO_AddrOf)
        changed(op->getSubExpr(), call);
    return true;
  }
  bool VisitCastExpr(CastExpr *cast) {
    if (cast->getCastKind() == CK_LValueToRValue) understood(cast->getSubExpr());
    return true;
  }
  bool VisitUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *e) {
    if (!e->isArgumentType()) understood(e->getArgumentExpr());
    return true;
  }
  // A parent is visited before what it holds, so what is left is nothing that is known.
  bool VisitDeclRefExpr(DeclRefExpr *ref) {
    const auto *v = dyn_cast<VarDecl>(ref->getDecl());
    if (v && !understood_.contains(ref)) changes_.changes_[v->getCanonicalDecl()].unseen = true;
    return true;
  }

 private:
  void understood(const Expr *e) {
    if (const auto *ref = dyn_cast<DeclRefExpr>(e->IgnoreParens())) understood_.insert(ref);
  }
  void changed(const Expr *what, const Expr *by) {
    understood(what);
    const VarDecl *v = namedVariable(what);
    if (!v) return;
    changes_.changes_[v].at.push_back(by);
    // In C++ an assignment is the variable once more, which a reference may stand for.
    if (!isReadAtMost(by, context_, false)) changes_.changes_[v].unseen = true;
  }

  VariableChanges &changes_;
  ASTContext &context_;
  std::set<const DeclRefExpr *> understood_;
};

VariableChanges::VariableChanges(const FunctionDecl &f)
    : files_(f.getASTContext().getSourceManager()) {
  CollectChanges(*this, f.getASTContext()).TraverseStmt(f.getBody());
}

const Changes &VariableChanges::of(const VarDecl &v) const {
  static const Changes none;
  const auto found = changes_.find(v.getCanonicalDecl());
  return found == changes_.end() ? none : found->second;
}

bool VariableChanges::notWithin(const VarDecl &v, const Stmt *s) const {
  const Changes &changes = of(v);
  return !changes.unseen && std::ranges::none_of(changes.at, [&](const Expr *e) {
    return isWithin(e->getExprLoc(), s, files_);
  });
}

namespace {

bool reads(const Expr *e, const VarDecl *v) {
  return namedVariable(e->IgnoreParenImpCasts()) == v;
}

/// What v is compared with, in one of the conditions that must all hold.
bool limit(const Expr *condition, const VarDecl *v, CountedLoop &loop) {
  const auto *op = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
  if (!op) return false;
  if (op->getOpcode() == BO_LAnd)
    return limit(op->getLHS(), v, loop) || limit(op->getRHS(), v, loop);
  if (!op->isRelationalOp()) return false;
  const bool turned = reads(op->getRHS(), v);
  if (!turned && !reads(op->getLHS(), v)) return false;
  const BinaryOperatorKind kind =
      turned ? BinaryOperator::reverseComparisonOp(op->getOpcode()) : op->getOpcode();
  const bool upwards = kind == BO_LT || kind == BO_LE;
  if (upwards != (loop.step > 0)) return false;
  loop.to = turned ? op->getLHS() : op->getRHS();
  loop.including = kind == BO_LE || kind == BO_GE;
  return true;
}

std::optional<std::int64_t> stepOf(const Expr *e, const VarDecl *v, const ASTContext &context) {
  if (const auto *op = dyn_cast<UnaryOperator>(e->IgnoreParens());
      op && op->isIncrementDecrementOp() && namedVariable(op->getSubExpr()) == v)
    return op->isIncrementOp() ? 1 : -1;
  const auto *op = dyn_cast<CompoundAssignOperator>(e->IgnoreParens());
  if (!op || namedVariable(op->getLHS()) != v) return std::nullopt;
  const std::optional<llvm::APSInt> by = op->getRHS()->getIntegerConstantExpr(context);
  if (!by || !by->isStrictlyPositive() || by->getSignificantBits() > 31) return std::nullopt;
  if (op->getOpcode() == BO_AddAssign) return by->getExtValue();
  if (op->getOpcode() == BO_SubAssign) return -by->getExtValue();
  return std::nullopt;
}

/// Whether the step past the last turn, too, is a value of the counter's type: what is narrower
/// than an int, or unsigned, would begin again at the other end.
bool mayWrap(const CountedLoop &loop, const ASTContext &context) {
  const QualType type = loop.variable->getType();
  const unsigned bits = context.getIntWidth(type);
  const bool hasSign = type->isSignedIntegerOrEnumerationType();
  if (type->isBooleanType()) return true;
  if (hasSign ? bits >= context.getIntWidth(context.IntTy) : bits >= 64) return false;
  if (const std::optional<llvm::APSInt> to = loop.to->getIntegerConstantExpr(context)) {
    if (to->getSignificantBits() > 48) return true;
    const std::int64_t past =
        to->getExtValue() + loop.step - (loop.including ? 0 : (loop.step > 0 ? 1 : -1));
    const std::int64_t most = (std::int64_t{1} << (hasSign ? bits - 1 : bits)) - 1;
    return past > most || past < (hasSign ? -most - 1 : 0);
  }
  // By one it comes to the limit, which is of the same type, or becomes it to be compared.
  const QualType as = loop.to->getType(), written = loop.to->IgnoreParenImpCasts()->getType();
  const auto fits = [&](QualType t) {
    return context.getIntWidth(t) < bits ||
           (context.getIntWidth(t) == bits && hasSign == t->isSignedIntegerOrEnumerationType());
  };
  const bool sameType = as->isIntegerType() && fits(as);
  const bool narrow = written->isIntegralOrEnumerationType() && fits(written) &&
                      (hasSign || !written->isSignedIntegerOrEnumerationType());
  return loop.including || (loop.step != 1 && loop.step != -1) || !(sameType || narrow);
}

}  // namespace

std::optional<CountedLoop> countedLoop(const ForStmt &loop, const VariableChanges &changes,
                                       const ASTContext &context) {
  if (!loop.getInit() || !loop.getCond() || !loop.getInc() || loop.getConditionVariable())
    return std::nullopt;
  // Several may be counted by one loop; the one that is compared is what matters.
  std::vector<std::pair<const VarDecl *, const Expr *>> begin;
  if (const auto *declared = dyn_cast<DeclStmt>(loop.getInit())) {
    for (const Decl *d : declared->decls())
      if (const auto *v = dyn_cast<VarDecl>(d); v && v->getInit())
        begin.emplace_back(v->getCanonicalDecl(), v->getInit());
  } else if (const auto *op = dyn_cast<BinaryOperator>(loop.getInit());
             op && op->getOpcode() == BO_Assign && namedVariable(op->getLHS())) {
    begin.emplace_back(namedVariable(op->getLHS()), op->getRHS());
  }
  for (const auto &[v, from] : begin) {
    const std::optional<std::int64_t> step = stepOf(loop.getInc(), v, context);
    if (!step || !v->getType()->isIntegerType() || v->hasGlobalStorage()) continue;
    CountedLoop found{&loop, v, from, nullptr, false, *step};
    if (!limit(loop.getCond(), v, found) || changes.of(*v).unseen ||
        !changes.notWithin(*v, loop.getCond()) || !changes.notWithin(*v, loop.getBody()) ||
        mayWrap(found, context))
      continue;
    return found;
  }
  return std::nullopt;
}

}  // namespace nbcc::overlap
