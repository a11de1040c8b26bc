// SPDX-License-Identifier: BSD-3-Clause
// uniform_communicators.cpp - whether ranks that reach a call alike are on one communicator there.
//
//   MPI_Comm comm = MPI_COMM_WORLD;
//   if (rank == 0) comm = MPI_COMM_SELF;
//   MPI_Bcast(data, n, MPI_INT, 0, comm);   rank 0 is alone, and the others wait for its next one
//
// What MPI makes at one place all ranks have from there, whatever group they are in, if all come to
// that place as the same one in their order:
//
//   if (rank == 0) MPI_Comm_dup(MPI_COMM_WORLD, &a);
//   MPI_Comm_dup(MPI_COMM_WORLD, &b);                  what rank 0 has in a the others have in b
//   if (rank != 0) MPI_Comm_dup(MPI_COMM_WORLD, &c);
//
// Of several, all have to have chosen alike.

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>

#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/communicators.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/meetings.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

bool Uniform::onOneCommunicator() {
  const Expr *on = call_.getArg(static_cast<unsigned>(collective_.arguments.find('c')));
  chosen_.clear();
  const std::optional<Remark> before = why_;
  if (chosenAlike(on, home_, home_->getASTContext())) return true;
  why_ = before;
  return no(
      &call_, home_,
      "'" + written(on, home_->getASTContext()) + "' may be another communicator on other ranks");
}

/// `in`: null where it stands in no function.
bool Uniform::chosenAlike(const Expr *e, const FunctionDecl *in, const ASTContext &context) {
  if (const auto *standard = dyn_cast<CXXDefaultArgExpr>(e->IgnoreImpCasts()))
    e = standard->getExpr();
  if (constantName(e, context).starts_with("MPI_COMM_")) return true;
  e = e->IgnoreParenImpCasts();
  if (in) {
    const Communicators those = communicatorsOf(*e, *in, program_);
    const bool one = those.constants.size() + those.made.size() <= 1;
    // What is made more than once is several, by one name.
    const std::optional<CallSite> made =
        those.made.size() == 1 ? program_.madeAt(*those.made.begin()->second) : std::nullopt;
    if (!those.unknown && one &&
        (those.made.empty() || (made && isMadeAsOne(*made->call, made->in))))
      return true;
  }
  if (const auto *chosen = dyn_cast<ConditionalOperator>(e))
    return in && same(chosen->getCond(), in) && chosenAlike(chosen->getTrueExpr(), in, context) &&
           chosenAlike(chosen->getFalseExpr(), in, context);
  if (const auto *call = dyn_cast<CallExpr>(e)) return returnsAlike(*call);
  if (const auto *list = dyn_cast<InitListExpr>(e))
    return std::ranges::all_of(list->inits(), [&](const Expr *value) {
      return isa<ImplicitValueInitExpr>(value) || chosenAlike(value, in, context);
    });
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e)) {
    const auto *array = dyn_cast<DeclRefExpr>(sub->getBase()->IgnoreParenImpCasts());
    const auto *v = array ? dyn_cast<VarDecl>(array->getDecl()) : nullptr;
    return in && v && same(sub->getIdx(), in) && elementsAlike(*v);
  }
  const auto *ref = dyn_cast<DeclRefExpr>(e);
  if (const auto *p = ref ? dyn_cast<ParmVarDecl>(ref->getDecl()) : nullptr)
    return in && passedAlike(*p, *in);
  if (const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr)
    return isFollowed(*v, program_) && givenAlike(*v);
  const auto *member = dyn_cast<MemberExpr>(e);
  const auto *field = member ? dyn_cast<FieldDecl>(member->getMemberDecl()) : nullptr;
  if (field && program_.promises().library && givenAlike(*field)) return true;
  // Of several structures each may have another one, so it has to be a variable's own.
  const auto *whole = field ? dyn_cast<DeclRefExpr>(member->getBase()->IgnoreParens()) : nullptr;
  const auto *v = whole ? dyn_cast<VarDecl>(whole->getDecl()) : nullptr;
  const auto *made = v ? dyn_cast_or_null<CXXConstructExpr>(v->getInit()) : nullptr;
  const bool empty =
      v &&
      (!v->getInit() || (made && made->getConstructor()->isTrivial() && made->getNumArgs() == 0));
  return empty && v->getType()->isRecordType() && isFollowed(*v, program_) && partsAlike(*v, field);
}

/// Whether all ranks have a call that makes a communicator as the same one: two that are made at
/// two places may be each other on another rank.
bool Uniform::isMadeAsOne(const CallExpr &call, const FunctionDecl *in) {
  const Collective *kind = findMaker(call.getDirectCallee()->getName().str());
  if (!kind || call.getNumArgs() != kind->arguments.size()) return false;
  if (const std::optional<bool> known = program_.isKnownInOrder(call)) return *known;
  program_.setInOrder(call, false);  // while it is asked
  const bool alike =
      !mayMeet(call, *kind, in, program_) || !Uniform(program_, call, *kind).whyNot();
  program_.setInOrder(call, alike);
  return alike;
}

/// With what it is declared.
bool Uniform::declaredAlike(const VarDecl &v) {
  return std::ranges::all_of(program_.declarations(v), [&](const VarDecl *one) {
    const auto *in = dyn_cast<FunctionDecl>(one->getDeclContext());
    return !one->getInit() || chosenAlike(one->getInit(), in, one->getASTContext());
  });
}

/// An array of them, whose elements are read, set one by one, and made by MPI.
bool Uniform::elementsAlike(const VarDecl &v) {
  return declaredAlike(v) && v.getType()->isConstantArrayType() && isFollowed(v, program_) &&
         partsAlike(v, nullptr);
}

/// The same of one field of a structure, if there is one.
bool Uniform::partsAlike(const VarDecl &v, const FieldDecl *field) {
  if (!chosen_.emplace(&v, field).second) return true;
  return std::ranges::all_of(program_.uses(v), [&](const Use &use) {
    if (!use.in) return false;
    ASTContext &context = use.in->getASTContext();
    const Stmt *at = parentOf(use.ref, context);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(at)) at = parentOf(at, context);
    const auto *sub = dyn_cast_or_null<ArraySubscriptExpr>(at);
    const auto *member = dyn_cast_or_null<MemberExpr>(at);
    if (field ? !member : !sub) return false;
    const Stmt *by = parentOf(at, context);
    const auto *read = dyn_cast_or_null<CastExpr>(by);
    if (read && read->getCastKind() == CK_LValueToRValue) return true;
    const auto *set = dyn_cast_or_null<BinaryOperator>(by);
    if (set && (set->getOpcode() != BO_Assign || set->getLHS()->IgnoreParens() != at)) return false;
    const auto *address = dyn_cast_or_null<UnaryOperator>(by);
    const auto *call = address && address->getOpcode() == UO_AddrOf
                           ? dyn_cast_or_null<CallExpr>(parentOf(by, context))
                           : nullptr;
    if (!set && !(call && call->getDirectCallee() && isMpi(*call->getDirectCallee()) &&
                  isMadeAsOne(*call, use.in)))
      return false;
    if (member && member->getMemberDecl()->getCanonicalDecl() != field->getCanonicalDecl())
      return !field->getParent()->isUnion();
    return (!sub || same(sub->getIdx(), use.in)) && reached(at, use.in) &&
           (!v.hasGlobalStorage() || entered(use.in)) &&
           (!set || chosenAlike(set->getRHS(), use.in, context));
  });
}

/// comm_of(matrix)
bool Uniform::returnsAlike(const CallExpr &call) {
  const FunctionDecl *callee = call.getDirectCallee();
  const FunctionDecl *f = callee ? program_.bodyAnywhere(*callee) : nullptr;
  if (!f || isa<CoroutineBodyStmt>(f->getBody())) return false;
  if (!chosen_.emplace(f, nullptr).second) return true;
  const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
  return allReturns(*f,
                    [&](const Expr *value) { return chosenAlike(value, f, f->getASTContext()); });
}

bool Uniform::passedAlike(const ParmVarDecl &p, const FunctionDecl &in) {
  if (p.getDeclContext() != &in || !program_.changes(in).never(p)) return false;
  if (!chosen_.emplace(&p, nullptr).second) return true;
  const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
  const unsigned i = p.getFunctionScopeIndex();
  if (const auto *constructor = dyn_cast<CXXConstructorDecl>(&in))
    return std::ranges::all_of(program_.constructions(*constructor), [&](const Construction &at) {
      return i < at.arguments.size() && (!at.in || reached(at.made, at.in)) &&
             chosenAlike(at.arguments[i], at.in, *at.source);
    });
  return std::ranges::all_of(program_.callers(in), [&](const CallSite &at) {
    return at.in && i < at.call->getNumArgs() && !isa<CXXOperatorCallExpr>(at.call) &&
           reached(at.call, at.in) &&
           chosenAlike(at.call->getArg(i), at.in, at.in->getASTContext());
  });
}

/// Of a field: in whatever structure, as far as what gives it one is seen.
bool Uniform::givenAlike(const ValueDecl &d) {
  if (!chosen_.emplace(&d, nullptr).second) return true;
  const auto *v = dyn_cast<VarDecl>(&d);
  if (v && !declaredAlike(*v)) return false;
  return std::ranges::all_of(program_.given(d), [&](const Given &g) {
    const auto *set = dyn_cast_or_null<BinaryOperator>(g.at);
    const auto *value = dyn_cast_or_null<Expr>(g.at);
    if (g.at && g.in && !reached(g.at, g.in)) return false;
    if (g.in && (!v || v->hasGlobalStorage()) && !entered(g.in)) return false;
    if (isMadeByMpi(g))
      return isMadeAsOne(*cast<CallExpr>(parentOf(g.at, g.in->getASTContext())), g.in);
    if (g.in && set && set->getOpcode() == BO_Assign)
      return chosenAlike(set->getRHS(), g.in, g.in->getASTContext());
    return g.source && value && chosenAlike(value, g.in, *g.source);
  });
}

}  // namespace nbcc::overlap
