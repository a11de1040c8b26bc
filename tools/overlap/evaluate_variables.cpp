// SPDX-License-Identifier: BSD-3-Clause
// evaluate_variables.cpp - what a variable's value is at the access, by what it is at the call.

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <utility>

#include "tools/overlap/regions.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// The loop around that counts it, if the variable stands in the body.
std::optional<CountedLoop> Regions::counts(const VarDecl &v, const DeclRefExpr *ref,
                                           const Frame &frame) {
  ASTContext &context = frame.f->getASTContext();
  const SourceManager &files = context.getSourceManager();
  for (const Stmt *at = parentOf(ref, context); at; at = parentOf(at, context)) {
    const auto *loop = dyn_cast<ForStmt>(at);
    if (!loop || !isWithin(ref->getExprLoc(), loop->getBody(), files)) continue;
    const std::optional<CountedLoop> found =
        countedLoop(*loop, program_.changes(*frame.f), context);
    if (found && found->variable == v.getCanonicalDecl()) return found;
  }
  return std::nullopt;
}

/// Any value that the counter has in the loop's body.
Regions::Maybe Regions::counter(const CountedLoop &loop, const Frame &frame) {
  const Symbol s = symbols_.of({Meaning::counter, loop.variable, 0, {}});
  const Value result{std::nullopt, Polynomial::of(s)};
  if (std::ranges::any_of(ranges_, [&](const Range &r) { return r.counter == s; })) return result;
  const Maybe from = value(loop.from, frame), to = value(loop.to, frame);
  if (!from || !to || from->base || to->base) return std::nullopt;
  // What an unsigned comparison takes for a large number is less than 0 here.
  const auto mayWrap = [](const Expr *e, const Polynomial &p) {
    if (e->getType()->isSignedIntegerOrEnumerationType() || p.constant())
      return p.constant() && *p.constant() < 0;
    const auto *cast = dyn_cast<CastExpr>(e->IgnoreParens());
    const bool converted = cast && cast->getCastKind() == CK_IntegralCast &&
                           cast->getSubExpr()->getType()->isSignedIntegerOrEnumerationType();
    return converted || std::ranges::any_of(p.terms(), [](const auto &t) { return t.second < 0; });
  };
  const bool isUnsigned = !loop.variable->getType()->isSignedIntegerType() ||
                          !loop.to->getType()->isSignedIntegerType();
  if (isUnsigned &&
      (loop.step < 0 || mayWrap(loop.from, from->offset) || mayWrap(loop.to, to->offset)))
    return std::nullopt;
  const Polynomial one(loop.including ? 0 : 1);
  const Range range = loop.step > 0 ? Range{s, from->offset, to->offset - one}
                                    : Range{s, to->offset + one, from->offset};
  ranges_.push_back(range);
  facts_.push_back(range.most - range.least);  // it gets there at all
  facts_.push_back(Polynomial::of(s) - range.least);
  facts_.push_back(range.most - Polynomial::of(s));
  return result;
}

/// Whether a variable of the site's function has the same value all along.
bool Regions::unchanged(const VarDecl &v) const {
  const VariableChanges &changes = program_.changes(*site_.in);
  if (stretch_.nextTurn && since_) return changes.notWithin(v, stretch_.nextTurn);
  if (!since_) return changes.never(v);
  for (unsigned i = *since_; i <= std::max(stretch_.access, site_.index); ++i)
    if (!changes.notWithin(v, site_.statement(i))) return false;
  return true;
}

bool Regions::unchanged(const Places &places) {
  if (!since_) return false;
  const auto changedBy = [&](const Stmt *s, unsigned number) {
    const auto [at, fresh] = effects_.try_emplace(number);
    if (fresh) at->second = effectsOf(s, *site_.in, program_);
    return std::ranges::any_of(at->second.all, [&](const Effect &e) {
      const bool may = e.kind == Effect::writes || e.kind == Effect::opaque;
      return e.kind == Effect::mpi || (may && program_.mayOverlap(e.objects.whole, places));
    });
  };
  constexpr unsigned ofLoop = ~0u;
  if (stretch_.nextTurn) return !changedBy(stretch_.nextTurn, ofLoop);
  for (unsigned i = *since_; i <= std::max(stretch_.access, site_.index); ++i)
    if (changedBy(site_.statement(i), i)) return false;
  return true;
}

/// cur = 1 - cur; once in each turn, as a statement of the call's block.
Regions::Maybe Regions::flipped(const VarDecl &v, const Frame &frame) {
  const Changes &changes = program_.changes(*site_.in).of(v);
  if (changes.unseen || expanding_ || !since_ || !v.getType()->isIntegerType()) return std::nullopt;
  const SourceManager &files = site_.context().getSourceManager();
  const auto inStretch = [&](const Expr *e) {
    if (stretch_.nextTurn) return isWithin(e->getExprLoc(), stretch_.nextTurn, files);
    for (unsigned i = *since_; i <= std::max(stretch_.access, site_.index); ++i)
      if (isWithin(e->getExprLoc(), site_.statement(i), files)) return true;
    return false;
  };
  const Expr *by = nullptr;
  for (const Expr *e : changes.at) {
    if (!inStretch(e)) continue;
    if (by) return std::nullopt;
    by = e;
  }
  if (!by) return std::nullopt;
  unsigned place = 0;
  while (place < site_.statements() && site_.statement(place) != by) ++place;
  const auto *op = dyn_cast<BinaryOperator>(by);
  if (place == site_.statements() || !op || place == site_.index || place == stretch_.access)
    return std::nullopt;
  const Value before{std::nullopt, Polynomial::of(symbols_.of({Meaning::value, &v}))};
  if (ofCall_) return before;
  // Is it passed on the way from the call to the access?
  const bool above = stretch_.access < site_.index;
  bool passed = place > site_.index && (stretch_.nextTurn || place < stretch_.access);
  if (stretch_.nextTurn) passed = passed || place < stretch_.access;
  if (!stretch_.nextTurn && (above || place < site_.index)) return std::nullopt;
  if (!passed) return before;
  if (flipping_) return std::nullopt;
  flipping_ = &v;
  Maybe result;
  if (op->getOpcode() == BO_Assign) {
    result = value(op->getRHS(), frame);
  } else if (op->getOpcode() == BO_XorAssign &&
             op->getRHS()->getIntegerConstantExpr(site_.context()) == llvm::APSInt::get(1)) {
    result = Value{std::nullopt, withLastBitFlipped(before.offset)};
  }
  flipping_ = nullptr;
  return result;
}

/// A variable of the site's own function.
Regions::Maybe Regions::ofSite(const VarDecl &v, const Frame &frame) {
  const bool place = v.getType()->isPointerType();
  const VariableChanges &changes = program_.changes(*site_.in);
  const SourceManager &files = site_.context().getSourceManager();
  const bool ofTurn = stretch_.nextTurn && isWithin(v.getLocation(), stretch_.nextTurn, files);
  // It stands for its initial value, if what that is made of is still the same.
  if (changes.never(v) && v.getInit() && !isa<ParmVarDecl>(v)) {
    const std::optional<unsigned> since = since_;
    std::optional<unsigned> declared;
    for (unsigned i = 0; i < site_.statements(); ++i)
      if (isWithin(v.getLocation(), site_.statement(i), files)) declared = i;
    if (since_ && stretch_.nextTurn)
      since_ = ofTurn ? since_ : std::nullopt;
    else if (since_)
      since_ = declared ? std::optional(std::min(*since_, *declared)) : std::nullopt;
    const bool outer = std::exchange(expanding_, true);
    const Maybe initial = value(v.getInit(), frame);
    expanding_ = outer;
    since_ = since;
    if (initial && initial->base.has_value() == place) return initial;
  }
  // Declared within a later statement it has a value of its own there, whatever that is.
  if (unchanged(v)) return symbol({Meaning::value, &v, ofTurn && !ofCall_}, place);
  return flipped(v, frame);
}

Regions::Maybe Regions::variable(const VarDecl &declared, const DeclRefExpr *ref,
                                 const Frame &frame) {
  const VarDecl &v = *declared.getCanonicalDecl();
  const bool place = v.getType()->isPointerType();
  const VariableChanges &changes = program_.changes(*frame.f);
  if (frame.outer && isa<ParmVarDecl>(v)) {
    const unsigned i = llvm::cast<ParmVarDecl>(v).getFunctionScopeIndex();
    if (!changes.never(v) || isa<CXXOperatorCallExpr>(frame.call) ||
        i >= frame.call->getNumArgs() || frame.f->isVariadic())
      return std::nullopt;
    return value(frame.call->getArg(i), *frame.outer);
  }
  if (flipping_ == &v) return symbol({Meaning::value, &v}, place);
  const std::optional<CountedLoop> loop = counts(v, ref, frame);
  const SourceManager &files = site_.context().getSourceManager();
  const bool around = loop && !frame.outer && isWithin(site_.call->getExprLoc(), loop->loop, files);
  if (loop && around) {
    // Nothing but the step changes it: the same in the whole turn, and one step further in the
    // next.
    const bool next = loop->loop == stretch_.nextTurn && !ofCall_;
    const Polynomial now = Polynomial::of(symbols_.of({Meaning::value, &v}));
    const auto from = loop->from->getIntegerConstantExpr(site_.context());
    if (from && from->isZero() && loop->step > 0) facts_.push_back(now);
    return Value{std::nullopt, now + Polynomial(next ? loop->step : 0)};
  }
  if (loop) return counter(*loop, frame);
  if (!frame.outer) return ofSite(v, frame);
  if (changes.never(v) && v.getInit()) return value(v.getInit(), frame);
  return std::nullopt;
}

}  // namespace nbcc::overlap
