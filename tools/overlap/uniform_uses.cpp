// SPDX-License-Identifier: BSD-3-Clause
// uniform_uses.cpp - whether a use of a variable leaves the same in it on all ranks.

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>

#include "tools/overlap/argument_lists.h"
#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/filling.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/types.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// a = b of structures in C++, field by field.
static bool copiesWhole(const CallExpr &call) {
  const auto *m = llvm::dyn_cast_or_null<CXXMethodDecl>(call.getDirectCallee());
  return isa<CXXOperatorCallExpr>(call) && m && m->isTrivial() &&
         (m->isCopyAssignmentOperator() || m->isMoveAssignmentOperator());
}

/// Whether a call of the C library may return a pointer into what it is given: strchr().
static bool mayReturnPart(const CallExpr &call, const Expr &argument) {
  const FunctionDecl *f = call.getDirectCallee();
  const KnownCall *known = f ? findKnownCall(*f) : nullptr;
  return known && known->kind == CallKind::returns && argument.getType()->isPointerType();
}

/// Whether the bytes of a pointer are looked at there, or given to who may: wherever they come,
/// they are the pointer again. `bytes`: a pointer to one, as a pointer to something else.
static bool maybeCopied(const CastExpr &bytes, ASTContext &context) {
  const QualType from = bytes.getSubExpr()->getType()->getPointeeType();
  const bool other = bytes.getCastKind() == CK_BitCast && !from.isNull() && holdsPointers(from);
  if (!other || holdsPointers(bytes.getType()->getPointeeType())) return false;
  const Expr *at = &bytes;
  for (const Expr *parent;; at = parent) {
    parent = dyn_cast_or_null<Expr>(parentOf(at, context));
    if (parent && isa<ParenExpr, CastExpr>(parent)) continue;
    const auto *call = dyn_cast_or_null<CallExpr>(parent);
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    const auto argument = call ? std::find(call->arg_begin(), call->arg_end(), at) : nullptr;
    if (!f || argument == call->arg_end()) return true;
    const KnownCall *known = findKnownCall(*f);
    const char how =
        known ? argumentOf(*call, *known, static_cast<unsigned>(argument - call->arg_begin())) : 0;
    return !isMpi(*f) && (!known || how == 'r' || how == 'u');
  }
}

/// Null, or another number that is taken for an address.
static bool isNumericAddress(const Expr &pointer, ASTContext &context) {
  const Expr *e = pointer.IgnoreParenCasts();
  return e->getType()->isIntegralOrEnumerationType() ||
         e->isNullPointerConstant(context, Expr::NPC_ValueDependentIsNotNull);
}

/// Whether numbers are taken for pointers, which may be stored there, and are numbers to others.
static bool takesPointers(const CastExpr &cast) {
  const QualType from = cast.getSubExpr()->getType()->getPointeeType();
  return cast.getCastKind() == CK_BitCast && !from.isNull() && !holdsPointers(from) &&
         holdsPointers(cast.getType()->getPointeeType());
}

/// sprintf(text, "%p", p): who reads it again has the pointer.
static bool tellsPointer(const CallExpr &call) {
  const FunctionDecl *f = call.getDirectCallee();
  const KnownCall *known = f ? findKnownCall(*f) : nullptr;
  return known && known->kind == CallKind::plain && formatMayHold(call, *known, 'p');
}

/// One use of a variable: it reads it, or writes what is the same everywhere, or what is not there
/// for long.
bool Uniform::sameUse(const Use &use, const VarDecl &v, const FieldDecl *only) {
  if (onlyReads_ || atAnyTime_ || !isOverwritable(v, only)) return leavesAlike(use, v, only);
  const Answers before = answers();
  if (leavesAlike(use, v, only)) return true;
  const Answers no = answers();
  takeBackTo(before);
  if (isOverwritten(use, v, only)) return true;
  takeBackTo({before.asked, no.reasons});
  return false;
}

/// A variable that outlives the function tells who was in there, too.
bool Uniform::leavesAlike(const Use &use, const VarDecl &v, const FieldDecl *only) {
  if (!use.in) return false;
  const bool stays = v.hasGlobalStorage();
  const auto alike = [&](const Stmt *s) {
    return onlyReads_ || (reached(s, use.in) && (!stays || entered(use.in)));
  };
  ASTContext &context = use.in->getASTContext();
  const Expr *at = use.ref;
  std::vector<const Expr *> places;  // which part of the variable it is
  const auto samePlace = [&] {
    return onlyReads_ ||
           std::ranges::all_of(places, [&](const Expr *e) { return sameItself(e, use.in); });
  };
  // A copy of the structure leads to the same memory, and is not followed.
  const bool leaves = only && looksThere_ && holdsPointers(only->getType());
  // What is changed is the pointer alone, in a variable of its own.
  const auto moves = [&](const Expr *e) {
    return e->getType()->isPointerType() && isa<DeclRefExpr>(e->IgnoreParens()) &&
           !v.getType()->isReferenceType();
  };
  for (;;) {
    if (at->getType()->isVariablyModifiedType())
      return false;  // how far a step is, each rank knows
    const auto parents = context.getParents(*at);
    if (parents.empty()) return false;
    const Expr *parent = parents[0].get<Expr>();
    if (!parent && !at->getType()->isPointerType() && !at->isGLValue()) return true;
    if (!parent) {
      if (const auto *to = parents[0].get<VarDecl>()) {
        const VarDecl *other = to->isImplicit() ? turnOver(*to, *use.in) : to;
        if (other && other != to && other->getType()->isArithmeticType()) return true;  // a copy
        return other && samePlace() && alike(use.ref) && changesAlike(*other, only);
      }
      const Stmt *where = parents[0].get<Stmt>();  // nobody gets it, or it is null or not
      if (where && isa<ReturnStmt>(where))         // or whoever asked for it, and is followed
        return at->getType()->isPointerType() && !stays && program_.makes(*use.in);
      return isDropped(where, context);
    }
    if (const std::optional<VectorUse> used = useOfVector(*at, use.in)) {
      if (used->how == VectorUse::reads) return true;
      if (used->how == VectorUse::changesAlike)
        return !onlyReads_ && samePlace() && alike(used->call);
      const auto arguments = used->call->arguments();
      places.insert(places.end(), arguments.begin() + isa<CXXOperatorCallExpr>(used->call),
                    arguments.end());
      parent = used->call;
    } else if (const auto *member = dyn_cast<MemberExpr>(parent)) {
      if (!only) return false;
      const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
      if (!field || nameInAll(*field) != nameInAll(*only))
        return staysInField(*member, *use.in, *only);
      only = nullptr;  // from here on it is a variable like any other
    } else if (const auto *cast = dyn_cast<CastExpr>(parent)) {
      if (maybeCopied(*cast, context) || (!only && takesPointers(*cast))) return false;
      const bool asBytes =
          cast->getCastKind() == CK_BitCast && cast->getType()->isVoidPointerType();
      if (only && !asBytes && cast->getCastKind() != CK_LValueToRValue &&
          cast->getCastKind() != CK_NoOp && cast->getCastKind() != CK_ToVoid)
        return false;                                                 // as another structure
      if (cast->getCastKind() == CK_PointerToIntegral) return false;  // and back, somewhere
      if (cast->getCastKind() == CK_LValueToRValue) {
        // Of a pointer: it is looked at through, or copied to where it may be written through.
        if (!cast->getType()->isPointerType()) return !leaves || !cast->getType()->isRecordType();
      }
    } else if (const auto *op = dyn_cast<BinaryOperator>(parent)) {
      const bool set = op->isAssignmentOp() && op->getLHS()->IgnoreParens() == at->IgnoreParens();
      if (set && !isReadAtMost(op, context)) return false;
      if (set && onlyReads_) return moves(at);
      if (set && only)
        return at->getType()->isRecordType() && samePlace() && alike(op) &&
               sameField(op->getRHS(), *only, use.in, context);
      if (set) return same(op->getRHS(), use.in) && samePlace() && alike(op);
      if (op->isComparisonOp()) return true;
      if (op->isAssignmentOp()) {  // a pointer is kept
        return op->getOpcode() == BO_Assign && samePlace() && alike(op) &&
               isKeptAlike(*op->getLHS(), only);
      }
      const Expr *other = op->getLHS() == at ? op->getRHS() : op->getLHS();
      if (at->getType()->isPointerType() && other->getType()->isPointerType() &&
          isNumericAddress(*other, context))
        return false;  // less null it is a number, and may come back as MPI_BOTTOM's displacement
      places.push_back(other);
    } else if (const auto *unary = dyn_cast<UnaryOperator>(parent)) {
      if (unary->isIncrementDecrementOp())
        return isReadAtMost(unary, context) &&
               (onlyReads_ ? moves(at) : samePlace() && alike(unary));
      if (unary->getOpcode() == UO_LNot) return true;
    } else if (const auto *call = dyn_cast<CallExpr>(parent)) {
      const auto argument = std::find(call->arg_begin(), call->arg_end(), at);
      if (argument == call->arg_end()) return false;
      const auto i = static_cast<unsigned>(argument - call->arg_begin());
      if (const FunctionDecl *f = call->getDirectCallee(); f && isChoice(*f)) {
        for (const Expr *other : call->arguments())
          if (other != at) places.push_back(other);
        at = parent;
        continue;
      }
      if (isTakenByVector(*at, *call)) return true;
      if (only && copiesWhole(*call))
        return i == 1 ? !leaves
                      : (!onlyReads_ && isReadAtMost(call, context) && alike(call) &&
                         sameField(call->getArg(1), *only, use.in, context));
      if (at->getType()->isPointerType() && tellsPointer(*call)) return false;
      const bool fine = leavesAlone(call, i) || readsWithin(call, i, only) ||
                        (!onlyReads_ &&
                         (fillsAlike(call, i, use.in, stays ? ever : inFunction) ||
                          fillsAlikeWithin(call, i, only)) &&
                         samePlace() && alike(call));
      if (!fine || !mayReturnPart(*call, *at)) return fine && endsAreKeptAlike(*call, i);
    } else if (const auto *chosen = dyn_cast<ConditionalOperator>(parent);
               chosen && chosen->getCond() != at) {
      places.push_back(chosen->getCond());
    } else if (const auto *made = dyn_cast<CXXConstructExpr>(parent)) {  // std::string(argv[1])
      const QualType pointee = at->getType()->getPointeeType();
      if (only && made->getConstructor()->isTrivial()) return !leaves;  // a copy
      if (isTakenByVector(*at, *made)) return true;
      return made->getConstructor()->isInStdNamespace() && !pointee.isNull() &&
             pointee.isConstQualified();
    } else if (isa<UnaryExprOrTypeTraitExpr, CXXDeleteExpr>(parent)) {
      return true;
    } else if (const auto *sub = dyn_cast<ArraySubscriptExpr>(parent)) {
      if (sub->getIdx() == at) return true;
      places.push_back(sub->getIdx());
    } else if (!isa<ParenExpr>(parent)) {
      return false;
    }
    at = parent;
  }
}

/// Where a number ends in a text, strtol() leaves a pointer into that.
bool Uniform::endsAreKeptAlike(const CallExpr &call, unsigned i) {
  const FunctionDecl *f = call.getDirectCallee();
  const KnownCall *known = f ? findKnownCall(*f) : nullptr;
  if (i != 0 || !known || !known->name.starts_with("strto") || call.getNumArgs() < 2) return true;
  const Expr *end = call.getArg(1)->IgnoreParenCasts();
  if (end->isNullPointerConstant(f->getASTContext(), Expr::NPC_ValueDependentIsNotNull))
    return true;
  const auto *address = dyn_cast<UnaryOperator>(end);
  return address && address->getOpcode() == UO_AddrOf &&
         isKeptAlike(*address->getSubExpr(), nullptr);
}

/// Of a variable that is given a pointer; a reference may stand for one that is not followed.
bool Uniform::isKeptAlike(const Expr &place, const FieldDecl *only) {
  const VarDecl *kept = namedVariable(&place);
  return kept && !kept->getType()->isReferenceType() && changesAlike(*kept, only);
}

/// The same of all uses of what may stand for a variable: a pointer to it, a reference.
bool Uniform::changesAlike(const VarDecl &other, const FieldDecl *only) {
  const void *what = only ? part(other, *only) : other.getCanonicalDecl();
  if (!ask(reinterpret_cast<const char *>(what) + (onlyReads_ ? 3 : 2))) return true;
  const QualType pointee = other.getType()->getPointeeType();
  if (other.isImplicit() || isa<DecompositionDecl>(other) || other.hasAttr<CleanupAttr>())
    return false;  // by what other names, or by what a function does at the end
  if (pointee.isNull() || pointee.isVolatileQualified() || program_.hasNames(other) ||
      (other.hasGlobalStorage() && program_.knownElsewhere(other)))
    return false;
  return std::ranges::all_of(program_.uses(other), [&](const Use &use) {
    if (sameUse(use, other, only)) return true;
    return only &&
           differsBy(use, "'" + other.getNameAsString() + "->" + only->getNameAsString() + "'",
                     *only);
  });
}

/// What a function of the program's own calls argument i; null: it is not known.
const ParmVarDecl *Uniform::parameter(const CallExpr &call, unsigned i) const {
  const FunctionDecl *f = call.getDirectCallee();
  if (!f || isMpi(*f) || findKnownCall(*f) || isa<CXXOperatorCallExpr>(call)) return nullptr;
  const FunctionDecl *body = program_.bodyAnywhere(*f);
  return body && i < body->getNumParams() ? body->getParamDecl(i) : nullptr;
}

/// A function that is given a variable's address, or the variable as a reference, does.
bool Uniform::fillsAlikeWithin(const CallExpr *call, unsigned i, const FieldDecl *only) {
  const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
  const ParmVarDecl *p = parameter(*call, i);
  return p && changesAlike(*p, only);
}

/// A function that is given one changes nothing, so it does not matter who comes there.
bool Uniform::readsWithin(const CallExpr *call, unsigned i, const FieldDecl *only) {
  const ParmVarDecl *p = parameter(*call, i);
  if (!p) return false;
  const Answers before = answers();
  const llvm::SaveAndRestore reads(onlyReads_, true);
  if (changesAlike(*p, only)) return true;
  takeBackTo(before);
  return false;
}

/// A function of C's library that only reads what it is given.
static bool onlyReads(const FunctionDecl &f, unsigned i) {
  const QualType pointee =
      i < f.getNumParams() ? f.getParamDecl(i)->getType()->getPointeeType() : QualType();
  const QualType result = f.getReturnType()->getPointeeType();  // strchr()
  const bool keeps = std::ranges::any_of(f.parameters(), [](const ParmVarDecl *p) {
    const QualType to = p->getType()->getPointeeType();  // strtoll()
    return !to.isNull() && to->isPointerType();
  });
  return f.isExternC() && isOfStandard(f) && !pointee.isNull() && pointee.isConstQualified() &&
         pointee->isCharType() && !keeps && (result.isNull() || result->isRecordType());
}

/// Whether argument i is one of those of a function of the program's own that only prints them.
static bool isPrinted(const CallExpr &call, unsigned i, Program &program) {
  const FunctionDecl *callee = call.getDirectCallee();
  const FunctionDecl *f = callee ? program.bodyAnywhere(*callee) : nullptr;
  if (!f || i < f->getNumParams() || program.handles(Handles::prints) || !onlyPrintsArguments(*f))
    return false;
  const Expr *format = call.getArg(f->getNumParams() - 1);
  return !formatMayHold(format, 'n') && !formatMayHold(format, 'p');
}

/// A call that is given a variable, or its address, does not change it.
bool Uniform::leavesAlone(const CallExpr *call, unsigned i) const {
  const FunctionDecl *f = call->getDirectCallee();
  if (!f) return false;
  if (!call->getArg(i)->isGLValue() && !call->getArg(i)->getType()->isPointerType()) return true;
  if (const KnownCall *known = findKnownCall(*f))
    return argumentOf(*call, *known, i) == 'r' &&
           !(known->arguments.find('F') < i && program_.handles(Handles::prints));
  if (parsesOptions(*f)) return i != 1 && i != 4;  // argv, whose words it moves
  if (isPrinted(*call, i, program_)) return true;
  if (!program_.definition(*f) && onlyReads(*f, i)) return true;
  const Collective *c = isMpi(*f) ? findCollective(f->getNameAsString()) : nullptr;
  return c && i < c->arguments.size() && c->arguments[i] != 'r' && c->arguments[i] != 'b';
}

/// snprintf(name, sizeof name, "%d", n): what C's library computes from the same is the same.
bool Uniform::copiesAlike(const CallExpr *call, unsigned i, const FunctionDecl *in) {
  const KnownCall *known = findKnownCall(*call->getDirectCallee());
  const bool computes = known && known->kind != CallKind::times && known->name != "rand_r" &&
                        (known->kind == CallKind::plain || known->kind == CallKind::returns);
  if (!computes) return false;
  for (unsigned k = 0; k < call->getNumArgs(); ++k) {
    if (k == i) continue;
    const char how = argumentOf(*call, *known, k);
    if (how == 'w' && call->getArg(k)->getType()->isPointerType()) continue;
    if (tellsAddress(*call, *known, k) || !sameThere(call->getArg(k), in)) return false;
  }
  return true;
}

/// A call that is given a variable's address leaves the same there on all ranks.
bool Uniform::fillsAlike(const CallExpr *call, unsigned i, const FunctionDecl *in, Kept kept) {
  const FunctionDecl *f = call->getDirectCallee();
  if (f && parsesOptions(*f)) return optionsAreSame(in->getASTContext());
  if (!f || !isMpi(*f)) return f && copiesAlike(call, i, in);
  const std::string name = f->getNameAsString();
  if (name == "MPI_Init" || name == "MPI_Init_thread")
    return true;                  // the command line, less MPI's own
  if (name == "MPI_Dims_create")  // of the same it makes the same (MPI 4.0, section 8.5.2)
    return i == 2 && same(call->getArg(0), in) && same(call->getArg(1), in);
  if (name == "MPI_Comm_size") return ourCommunicator(call->getArg(0), in, kept);
  const std::optional<Fill> fill = fillOf(*call);
  if (!fill) return false;
  const Collective *c = fill->kind;
  // Where it puts it is the same: by displacements, and by the datatype.
  for (unsigned k = i + 1; k < call->getNumArgs(); ++k) {
    const Expr *argument = call->getArg(k);
    if (c->arguments[k] == 'a' && !sameThere(argument, in)) return false;
    if (c->arguments[k] == 't' && !isMpiConstant(constantName(argument, in->getASTContext())))
      return false;
  }
  return ourCommunicator(call->getArg(static_cast<unsigned>(c->arguments.find('c'))), in, kept) &&
         isOneCall(*call, *c, in);
}

}  // namespace nbcc::overlap
