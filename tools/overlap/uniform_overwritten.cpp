// SPDX-License-Identifier: BSD-3-Clause
// uniform_overwritten.cpp - whether what some ranks leave in a variable is overwritten on all of
// them before anybody looks.
//
//   if (rank == 0) read(file, &options);
//   MPI_Bcast(&options, sizeof options, MPI_BYTE, 0, comm);
//
// From the place that writes, the way leads down to a collective that fills all of it with the
// same, in the same block or in one around: past no return and out of no loop that holds both. So
// what is written there matters to nobody but who reads it in between. That is who stands in front
// of such a collective, in its block: there a variable is asked for in all that is ever written to
// it. Functions that are called there stand there, too, if the variable is global. A local one
// they know by what they are given, if no pointer to it is kept: that is where its name stands.

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/AST/StmtOpenMP.h>

#include <algorithm>

#include "tools/overlap/changes.h"
#include "tools/overlap/effects.h"
#include "tools/overlap/filling.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/types.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using llvm::isa_and_nonnull;

/// Whether control may leave a statement otherwise than at its end, or by a handler around it, or
/// for good. `loop`, `choice`: it stands in one that it may break out of.
static bool mayLeave(const Stmt *s, const FunctionDecl &in, bool loop = false,
                     bool choice = false) {
  if (!s) return false;
  if (isa<ReturnStmt>(s) && !in.isMain()) return true;
  if (isa<GotoStmt, IndirectGotoStmt, AsmStmt, StmtExpr, OMPExecutableDirective, CoreturnStmt,
          CoroutineSuspendExpr, CoroutineBodyStmt>(s) ||
      (isa<BreakStmt>(s) && !loop && !choice) || (isa<ContinueStmt>(s) && !loop))
    return true;
  if (isa<LambdaExpr, BlockExpr>(s)) return false;
  return std::ranges::any_of(s->children(), [&](const Stmt *child) {
    return mayLeave(child, in, loop || isLoop(s), choice || isa<SwitchStmt>(s));
  });
}

/// Whether somebody else may be in a function, or it is called where no call is written.
static bool isCalledUnseen(const FunctionDecl &f, const Program &program) {
  const auto *method = dyn_cast<CXXMethodDecl>(&f);
  return isa<CXXConstructorDecl, CXXDestructorDecl, CXXConversionDecl>(f) ||
         (method && (method->isVirtual() || method->getParent()->isLambda())) ||
         program.addressTaken(f) || program.calledUnseen(f) || calledByLanguage(f) ||
         (program.promises().library && f.isExternallyVisible());
}

/// Of a variable, or of what a parameter points at; or of a field of that.
class Uniform::Overwritten {
 public:
  Overwritten(Uniform &uniform, const VarDecl &v, const FieldDecl *only)
      : uniform_(uniform),
        program_(uniform.program_),
        v_(v),
        only_(only),
        stays_(v.hasGlobalStorage()),
        points_(v.getType()->isPointerType()) {}

  /// Whether a collective that fills it stands behind something in a block around it.
  bool waits(const Stmt *at, const FunctionDecl *in);
  bool behind(const Use &use);
  bool isFilled();

 private:
  using Seen = std::set<const Decl *>;
  bool waits(const Stmt *at, const FunctionDecl *in, Seen &);
  bool behind(const Stmt *at, const FunctionDecl *in, Seen &);
  bool isV(const Expr *e) const {
    const VarDecl *named = namedVariable(e);
    return named && program_.areSame(*named, v_);
  }
  bool isTheField(const Expr *e) const;
  const CallExpr *filling(const Stmt *, const FunctionDecl &in) const;
  const CallExpr *filling(const CallExpr *) const;
  bool isFull(const CallExpr &, const Fill &, QualType) const;
  bool fillsAlike(const CallExpr *, const FunctionDecl *in);
  bool isAlone(const VarDecl &);
  bool lendsOwn(const CallSite &, const ParmVarDecl &);
  bool isNamedPlainly(const VarDecl &);
  bool isPlain(const Use &, const VarDecl &);
  bool isLentOnly(const CallExpr &, unsigned argument, const VarDecl &, ASTContext &);

  Uniform &uniform_;
  Program &program_;
  const VarDecl &v_;
  const FieldDecl *only_;
  const bool stays_, points_;
  Seen named_, alone_;  // what is being asked of already counts as such
};

/// p.n, p->n
bool Uniform::Overwritten::isTheField(const Expr *e) const {
  const auto *member = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
  return only_ && member && isV(member->getBase()->IgnoreParenImpCasts()) &&
         nameInAll(*member->getMemberDecl()) == nameInAll(*only_);
}

/// Whether the data that a collective writes are no fewer than what it is asked for.
bool Uniform::Overwritten::isFull(const CallExpr &call, const Fill &fill, QualType type) const {
  return !type->isIncompleteType() && type->isConstantSizeType() &&
         fillsAll(call, fill, type, call.getDirectCallee()->getASTContext());
}

/// Null: it is no collective that fills all of it with the same.
const CallExpr *Uniform::Overwritten::filling(const CallExpr *call) const {
  const std::optional<Fill> fill = call ? fillOf(*call) : std::nullopt;
  if (!fill) return nullptr;
  const Expr *e = call->getArg(fill->argument)->IgnoreParenCasts();
  const auto *address = dyn_cast<UnaryOperator>(e);
  const bool taken = address && address->getOpcode() == UO_AddrOf;
  if (taken) e = address->getSubExpr()->IgnoreParens();
  const bool lends = taken || e->getType()->isArrayType();
  const bool field = lends && isTheField(e);
  if (!field && !(isV(e) && (points_ ? !taken : lends))) return nullptr;
  const QualType pointee = v_.getType()->getPointeeType();  // by a reference, too
  const QualType type = field ? only_->getType() : pointee.isNull() ? v_.getType() : pointee;
  return isFull(*call, *fill, type) ? call : nullptr;
}

/// The same for a statement that holds such a call, and comes to it.
const CallExpr *Uniform::Overwritten::filling(const Stmt *s, const FunctionDecl &in) const {
  if (const CallExpr *call = checkedCall(s)) return filling(call);
  const auto *once = dyn_cast<DoStmt>(s);  // a macro
  const Stmt *inner =
      once && known(once->getCond(), in.getASTContext()) == false ? once->getBody() : s;
  const auto *block = dyn_cast<CompoundStmt>(inner);
  if (!block) return nullptr;
  for (const Stmt *child : block->body()) {
    if (const CallExpr *call = filling(child, in)) return call;
    if (mayLeave(child, in)) return nullptr;
  }
  return nullptr;
}

/// Whether there is such a call.
bool Uniform::Overwritten::isFilled() {
  const auto [known, fresh] = uniform_.filled_.try_emplace({&v_, only_});
  if (fresh)
    known->second = std::ranges::any_of(program_.uses(v_), [&](const Use &use) {
      const Stmt *at = use.in ? use.ref : nullptr;
      while (at && !isa<CallExpr>(at)) at = parentOf(at, use.in->getASTContext());
      return filling(dyn_cast_or_null<CallExpr>(at));
    });
  return known->second;
}

bool Uniform::Overwritten::waits(const Stmt *at, const FunctionDecl *in) {
  Seen seen;
  return isFilled() && waits(at, in, seen);
}

bool Uniform::Overwritten::waits(const Stmt *at, const FunctionDecl *in, Seen &seen) {
  if (!in) return true;
  ASTContext &context = in->getASTContext();
  const Stmt *from = at;
  for (const Stmt *p = parentOf(at, context); p; from = p, p = parentOf(p, context)) {
    if (isa<LambdaExpr, BlockExpr>(p)) return true;  // whoever calls it, wherever
    if (const auto *block = dyn_cast<CompoundStmt>(p)) {
      const auto here = std::find(block->body_begin(), block->body_end(), from);
      if (here == block->body_end() ||
          std::any_of(here, block->body_end(), [&](const Stmt *s) { return filling(s, *in); }))
        return true;
    }
  }
  if (from != in->getBody()) return true;
  if (!stays_ || !seen.insert(in).second) return false;
  const std::vector<CallSite> &callers = program_.callers(*in);
  if (isCalledUnseen(*in, program_) || (callers.empty() && !in->isMain())) return true;
  return std::ranges::any_of(
      callers, [&](const CallSite &caller) { return waits(caller.call, caller.in, seen); });
}

/// Whether it leaves the same on all ranks that come to what calls it.
bool Uniform::Overwritten::fillsAlike(const CallExpr *call, const FunctionDecl *in) {
  return uniform_.fillsAlike(call, fillOf(*call)->argument, in, stays_ ? ever : inFunction) &&
         uniform_.reached(call, in) && (!stays_ || uniform_.entered(in));
}

/// From a place on, down to such a call here, or behind those of the function if it stays till
/// then.
bool Uniform::Overwritten::behind(const Stmt *at, const FunctionDecl *in, Seen &seen) {
  if (!in || !program_.memory(*in).notUnderstood().empty()) return false;
  ASTContext &context = in->getASTContext();
  const CallExpr *fills = nullptr;
  bool leaves = false;
  const Stmt *from = at;
  for (const Stmt *p = parentOf(at, context); p; from = p, p = parentOf(p, context)) {
    if (isa<LambdaExpr, BlockExpr, StmtExpr, OMPExecutableDirective, CoroutineBodyStmt>(p))
      return false;
    const auto *block = dyn_cast<CompoundStmt>(p);
    if (!block || fills || leaves) continue;
    auto here = std::find(block->body_begin(), block->body_end(), from);
    leaves = here == block->body_end() || mayLeave(*here, *in);
    while (!leaves && !fills && ++here != block->body_end()) {
      fills = filling(*here, *in);
      leaves = !fills && mayLeave(*here, *in);
    }
  }
  if (from != in->getBody()) return false;
  if (fills) return fillsAlike(fills, in);
  if (!stays_ || !seen.insert(in).second) return false;
  const std::vector<CallSite> &callers = program_.callers(*in);
  return !callers.empty() && !isCalledUnseen(*in, program_) &&
         std::ranges::all_of(
             callers, [&](const CallSite &caller) { return behind(caller.call, caller.in, seen); });
}

bool Uniform::Overwritten::behind(const Use &use) {
  Seen functions;
  return isAlone(v_) && behind(use.ref, use.in, functions);
}

/// Whether nobody else can name it: of what a parameter leads to, neither can who called.
bool Uniform::Overwritten::isAlone(const VarDecl &v) {
  if (!alone_.insert(v.getCanonicalDecl()).second) return true;
  if (!isNamedPlainly(v)) return false;
  const bool leads = !v.getType()->getPointeeType().isNull();
  if (!leads || v.hasGlobalStorage()) return !leads;
  const auto *p = dyn_cast<ParmVarDecl>(&v);
  const auto *in = dyn_cast<FunctionDecl>(v.getDeclContext());
  const FunctionDecl *f = p && in ? program_.definition(*in) : nullptr;
  if (!f || isCalledUnseen(*f, program_)) return false;
  const std::vector<CallSite> &callers = program_.callers(*f);
  return !callers.empty() && (v.getType()->isReferenceType() || program_.changes(*f).never(v)) &&
         std::ranges::all_of(callers, [&](const CallSite &at) { return lendsOwn(at, *p); });
}

/// Whether a parameter stands for a variable of the caller's there, or a field of one, and no other
/// parameter does.
bool Uniform::Overwritten::lendsOwn(const CallSite &at, const ParmVarDecl &p) {
  const unsigned i = p.getFunctionScopeIndex();
  if (!at.in || i >= at.call->getNumArgs() || isa<CXXOperatorCallExpr>(at.call)) return false;
  ASTContext &context = at.in->getASTContext();
  const Expr *e = at.call->getArg(i)->IgnoreParenImpCasts();
  const auto *address = dyn_cast<UnaryOperator>(e);
  const bool taken = address && address->getOpcode() == UO_AddrOf;
  if (taken) e = address->getSubExpr()->IgnoreParens();
  const QualType type = e->getType().getCanonicalType().getUnqualifiedType();
  const ValueDecl *part = nullptr;  // of the variable
  while (const auto *member = dyn_cast<MemberExpr>(e)) {
    part = member->getMemberDecl();
    e = member->getBase()->IgnoreParenImpCasts();
  }
  const VarDecl *own = namedVariable(e);
  const bool passesOn = own && own->getType()->isPointerType();  // as it was given it
  QualType lent = p.getType()->getPointeeType().getCanonicalType().getUnqualifiedType();
  if (passesOn && !taken && p.getType()->isPointerType()) lent = context.getPointerType(lent);
  if (!own || own->hasGlobalStorage() || type != lent || !isAlone(*own)) return false;
  return std::ranges::all_of(program_.uses(*own), [&](const Use &use) {
    if (use.ref == e || !isWithin(use.ref->getBeginLoc(), at.call, context.getSourceManager()))
      return true;
    const Stmt *above = parentOf(use.ref, context);
    while (isa_and_nonnull<CastExpr, ParenExpr>(above)) above = parentOf(above, context);
    const auto *other = dyn_cast_or_null<MemberExpr>(above);
    return part && other && isa<FieldDecl>(other->getMemberDecl()) &&
           nameInAll(*other->getMemberDecl()) != nameInAll(*part);
  });
}

/// std::cin >> n, std::cout << n: numbers, and texts to be written.
static bool isOfStream(const CallExpr &call, const FunctionDecl &f, unsigned argument) {
  const OverloadedOperatorKind op = f.getOverloadedOperator();
  if ((op != OO_GreaterGreater && op != OO_LessLess) || !isOfStandard(f)) return false;
  const unsigned i = argument - isa<CXXMethodDecl>(f);
  if (i >= f.getNumParams()) return false;
  const QualType type = f.getParamDecl(i)->getType();
  const QualType given = call.getArg(argument)->IgnoreParenImpCasts()->getType();
  const QualType pointee = type->getPointeeType();
  return type.getNonReferenceType()->isArithmeticType() ||
         (op == OO_LessLess && type->isPointerType() && pointee.isConstQualified() &&
          pointee->isSpecificBuiltinType(BuiltinType::Char_S) && given->isArrayType());
}

/// Whether a call that is given its address is done with it where it returns.
bool Uniform::Overwritten::isLentOnly(const CallExpr &call, unsigned i, const VarDecl &v,
                                      ASTContext &context) {
  const FunctionDecl *f = call.getDirectCallee();
  if (!f) return false;
  if (isMpi(*f)) return isDoneWith(*f);
  if (const FunctionDecl *body = program_.bodyAnywhere(*f)) {
    const QualType result = f->getReturnType();
    return !v.hasGlobalStorage() && !isa<CXXOperatorCallExpr, CXXMemberCallExpr>(call) &&
           (result->isVoidType() || result->isArithmeticType()) && i < body->getNumParams() &&
           isNamedPlainly(*body->getParamDecl(i));
  }
  const KnownCall *known = findKnownCall(*f);
  if (known && (formatMayHold(call, *known, 'p') || known->name.starts_with("strto"))) return false;
  if (!known && !isOfFiles(*f)) return !program_.changesStreams() && isOfStream(call, *f, i);
  return !f->getReturnType()->isPointerType() || isLookedAtMost(call, context);
}

/// Whether nothing leads to it but its name, where that stands, and to functions that are given it
/// there.
bool Uniform::Overwritten::isNamedPlainly(const VarDecl &v) {
  if (!named_.insert(v.getCanonicalDecl()).second) return true;
  return !v.hasAttr<CleanupAttr>() && !program_.hasNames(v) &&
         std::ranges::all_of(program_.uses(v), [&](const Use &use) { return isPlain(use, v); });
}

/// Whether a use names it to read it or write to it there, and leads nowhere else.
bool Uniform::Overwritten::isPlain(const Use &use, const VarDecl &v) {
  if (!use.in) return false;
  ASTContext &context = use.in->getASTContext();
  const Expr *at = use.ref;
  bool address = false;                         // it is one, and no lvalue
  bool pointer = v.getType()->isPointerType();  // by its own name
  for (;;) {
    const Stmt *above = parentOf(at, context);
    const auto *parent = dyn_cast_or_null<Expr>(above);
    if (!parent) return isDropped(above, context);
    if (const auto *cast = dyn_cast<CastExpr>(parent)) {
      const bool loads = cast->getCastKind() == CK_LValueToRValue;
      if (loads && !pointer) return true;
      if (pointer && !loads) return cast->getCastKind() == CK_ToVoid;
      pointer = false;
      if (!loads && cast->getCastKind() != CK_ArrayToPointerDecay &&
          cast->getCastKind() != CK_NoOp && cast->getCastKind() != CK_BitCast)
        return cast->getCastKind() == CK_PointerToBoolean || cast->getCastKind() == CK_ToVoid;
      address = address || loads || cast->getCastKind() == CK_ArrayToPointerDecay;
    } else if (const auto *op = dyn_cast<BinaryOperator>(parent)) {
      return op->isComparisonOp() ||
             (!address && op->isAssignmentOp() && op->getLHS() == at && isReadAtMost(op, context));
    } else if (const auto *unary = dyn_cast<UnaryOperator>(parent)) {
      if (unary->isIncrementDecrementOp()) return !address && isReadAtMost(unary, context);
      if (unary->getOpcode() == UO_AddrOf) {
        if (address || pointer) return false;
        address = true;
      } else if (unary->getOpcode() == UO_Deref) {
        if (!address) return false;
        address = false;
      } else {
        return unary->getOpcode() == UO_LNot;
      }
    } else if (const auto *member = dyn_cast<MemberExpr>(parent)) {
      const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
      if (!field || address != member->isArrow()) return false;
      if (only_ && nameInAll(*field) != nameInAll(*only_) &&
          uniform_.staysInField(*member, *use.in, *only_))
        return true;
      address = false;
    } else if (const auto *sub = dyn_cast<ArraySubscriptExpr>(parent)) {
      if (sub->getBase() != at || !address) return sub->getIdx() == at;
      address = false;
    } else if (const auto *call = dyn_cast<CallExpr>(parent)) {
      const auto argument = std::find(call->arg_begin(), call->arg_end(), at);
      return !pointer && argument != call->arg_end() &&
             isLentOnly(*call, static_cast<unsigned>(argument - call->arg_begin()), v, context);
    } else if (isa<UnaryExprOrTypeTraitExpr>(parent)) {
      return true;
    } else if (const auto *made = dyn_cast<CXXConstructExpr>(parent)) {  // a copy of a structure
      return !address && made->getConstructor()->isTrivial();
    } else if (!isa<ParenExpr>(parent)) {
      return false;
    }
    at = parent;
  }
}

bool Uniform::waits(const Expr *at, const VarDecl &v, const FieldDecl *only,
                    const FunctionDecl *in) {
  return Overwritten(*this, v, only).waits(at, in);
}

bool Uniform::isOverwritable(const VarDecl &v, const FieldDecl *only) {
  const QualType pointee = v.getType()->getPointeeType();
  const QualType type = only ? only->getType() : pointee.isNull() ? v.getType() : pointee;
  // What may lie behind the end of a structure nobody sends with it.
  const bool behind = type->isIncompleteType() || !type->isConstantSizeType() ||
                      v.getASTContext().getTypeSize(type) == 0;
  const bool apart = !program_.goesBack() && !(v.hasGlobalStorage() && program_.hasDirectives());
  return apart && !behind && !holdsPointers(type) && !type.isVolatileQualified() &&
         !type->isAtomicType() && Overwritten(*this, v, only).isFilled();
}

bool Uniform::isOverwritten(const Use &use, const VarDecl &v, const FieldDecl *only) {
  return Overwritten(*this, v, only).behind(use);
}

}  // namespace nbcc::overlap
