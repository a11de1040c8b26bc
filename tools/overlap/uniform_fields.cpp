// SPDX-License-Identifier: BSD-3-Clause
// uniform_fields.cpp - whether a field of a structure that has a name is the same on all ranks.
//
//   struct options o = parse(argc, argv);   o.steps   read(&o);   void solve(const struct options
//   *p)
//
// A field is as a variable of its own, as long as the whole structure goes nowhere but to functions
// that are seen. A structure that is reached in another way than by its name, or by a parameter
// that only ever gets its address, is not followed: each rank may look at another one.

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>

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

/// The structure's own ones, where they lie under no others.
static bool isPlainField(const FieldDecl &field, QualType in, const Program &program) {
  const RecordDecl *record = in->getAsRecordDecl();
  return record && !in.isVolatileQualified() && !field.getType().isVolatileQualified() &&
         !field.getType()->isReferenceType() &&  // to what may change
         !record->isUnion() && !program.inUnion(*record) &&
         nameInAll(*record) == nameInAll(*field.getParent());
}

/// Whether what fields are given where a list says nothing of them leads to the structure itself.
static bool namesItself(const Stmt &s) {
  if (isa<CXXThisExpr>(s)) return true;
  if (const auto *given = dyn_cast<CXXDefaultInitExpr>(&s)) return namesItself(*given->getExpr());
  return llvm::any_of(s.children(), [](const Stmt *child) { return child && namesItself(*child); });
}

/// Whether the constructor of a part of it runs code of the program's, which may keep where it is.
static bool hasPartsThatKnow(const RecordDecl &record) {
  return std::ranges::any_of(record.fields(),
                             [](const FieldDecl *f) { return mayKnowItself(f->getType()); });
}

/// `structure`: an lvalue of it, a pointer to it, or a value.
bool Uniform::sameField(const Expr *structure, const FieldDecl &field, const FunctionDecl *in,
                        const ASTContext &context) {
  const Expr *e = structure->IgnoreParenImpCasts();
  if (const auto *cleaned = dyn_cast<ExprWithCleanups>(e))
    e = cleaned->getSubExpr()->IgnoreParenImpCasts();
  if (const auto *made = dyn_cast<CXXConstructExpr>(e)) {
    const CXXConstructorDecl *by = made->getConstructor();
    if (by->isCopyOrMoveConstructor() && by->isTrivial())
      return sameField(made->getArg(0), field, in, context);
    const CXXRecordDecl &record = *by->getParent();  // no initialiser may point at a field
    return by->isDefaultConstructor() && !by->isUserProvided() && !record.hasInClassInitializer() &&
           record.getNumBases() == 0 && !hasPartsThatKnow(record);
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e);
      op && (op->getOpcode() == UO_Deref || op->getOpcode() == UO_AddrOf))
    return sameField(op->getSubExpr(), field, in, context);
  if (const auto *temporary = dyn_cast<MaterializeTemporaryExpr>(e))
    return sameField(temporary->getSubExpr(), field, in, context);
  if (const auto *list = dyn_cast<InitListExpr>(e)) {
    const InitListExpr *all = list->isSemanticForm() ? list : list->getSemanticForm();
    if (!all || !isPlainField(field, all->getType(), program_)) return false;
    const auto *record = dyn_cast<CXXRecordDecl>(field.getParent());
    const unsigned i = field.getFieldIndex() + (record ? record->getNumBases() : 0);
    if (i >= all->getNumInits() || namesItself(*all) || hasPartsThatKnow(*field.getParent()))
      return false;
    const Expr *value = all->getInit(i);
    return isa<ImplicitValueInitExpr>(value) || (in ? same(value, in) : isPlain(*value, context));
  }
  if (const auto *literal = dyn_cast<CompoundLiteralExpr>(e))
    return sameField(literal->getInitializer(), field, in, context);
  if (const auto *call = dyn_cast<CallExpr>(e)) return sameFieldOfResult(call, field);
  const auto *ref = dyn_cast<DeclRefExpr>(e);
  const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  if (!v) return false;
  const llvm::SaveAndRestore time(atAnyTime_, atAnyTime_ || waits(ref, *v, &field, in));
  const auto *p = dyn_cast<ParmVarDecl>(v);
  const bool leads = v->getType()->isPointerType() || v->getType()->isReferenceType();
  if (v->getType()->isReferenceType() && !p && v->getInit() && !v->isImplicit())
    return sameField(v->getInit(), field, in, context);
  if (leads) return p && sameFieldOfParameter(*p, field);
  return sameField(*v, field);
}

bool Uniform::sameField(const VarDecl &v, const FieldDecl &field) {
  if (!ask(part(v, field))) return true;
  if (!isPlainField(field, v.getType(), program_) || program_.hasNames(v) ||
      (v.hasGlobalStorage() && program_.knownElsewhere(v)))
    return false;
  if (const auto *p = dyn_cast<ParmVarDecl>(&v); p && !sameFieldOfParameter(*p, field))
    return false;
  for (const VarDecl *one : program_.declarations(v)) {
    const auto *in = dyn_cast<FunctionDecl>(one->getDeclContext());
    if (one->getInit() && !sameField(one->getInit(), field, in, one->getASTContext()))
      return differs("what '" + v.getNameAsString() + "' is declared with may be another value",
                     &field);
  }
  const std::string name = "'" + v.getNameAsString() + "." + field.getNameAsString() + "'";
  return std::ranges::all_of(program_.uses(v), [&](const Use &use) {
    return sameUse(use, v, &field) || differsBy(use, name, field);
  });
}

/// Whether it is given structures, or addresses of structures, that have the same in the field.
bool Uniform::sameFieldOfParameter(const ParmVarDecl &p, const FieldDecl &field) {
  const auto *f = dyn_cast<FunctionDecl>(p.getDeclContext());
  const QualType pointee = p.getType()->getPointeeType();
  if (!f || f->isMain() || !isPlainField(field, pointee.isNull() ? p.getType() : pointee, program_))
    return false;
  if (!ask(reinterpret_cast<const char *>(part(p, field)) + 1)) return true;
  const std::vector<CallSite> &callers = program_.callers(*f);
  const bool byOthers = program_.promises().library && f->isExternallyVisible();
  if (callers.empty() || byOthers || program_.addressTaken(*f)) return false;
  const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
  for (const CallSite &at : callers) {
    const unsigned i = p.getFunctionScopeIndex();
    if (!at.in || i >= at.call->getNumArgs() || isa<CXXOperatorCallExpr>(at.call)) return false;
    if (!sameField(at.call->getArg(i), field, at.in, at.in->getASTContext()) ||
        !reached(at.call, at.in))
      return false;
  }
  // One that is set to another structure.
  return pointee.isNull() || p.getType()->isReferenceType() || program_.changes(*f).never(p);
}

bool Uniform::sameFieldOfResult(const CallExpr *call, const FieldDecl &field) {
  const FunctionDecl *callee = call->getDirectCallee();
  const FunctionDecl *f = callee ? program_.bodyAnywhere(*callee) : nullptr;
  if (!f || isa<CXXMethodDecl>(f) || !f->getReturnType()->isRecordType()) return false;
  if (!ask(reinterpret_cast<const char *>(part(*f, field)))) return true;
  const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
  return allReturns(
      *f, [&](const Expr *value) { return sameField(value, field, f, f->getASTContext()); });
}

static bool isText(QualType type) {
  return type->isConstantArrayType() && type->getArrayElementTypeNoTypeQual()->isCharType();
}

/// Whether a function takes an argument for one, as strcpy() does and memcpy() does not, or prints
/// it.
static bool takesText(const FunctionDecl &f, const CallExpr &call, unsigned i) {
  const KnownCall *known = findKnownCall(f);
  if (i >= f.getNumParams())
    return known && argumentOf(call, *known, i) == 'r' && !formatMayHold(call, *known, 'p');
  const QualType pointee = f.getParamDecl(i)->getType()->getPointeeType();
  return !pointee.isNull() && pointee->isCharType();
}

/// By one of the program's own, and by displacements, MPI may reach backwards, too.
static bool mayReachBackwards(const CallExpr &call, const ASTContext &context) {
  const FunctionDecl *f = call.getDirectCallee();
  if (!isMpi(*f)) return false;
  if (f->getName().ends_with("v") && !f->getName().ends_with("ecv")) return true;  // displacements
  if (f->getName().ends_with("w")) return true;
  for (unsigned i = 0; i < call.getNumArgs() && i < f->getNumParams(); ++i)
    if (f->getParamDecl(i)->getType().getAsString() == "MPI_Datatype" &&
        !isMpiConstant(constantName(call.getArg(i), context)))
      return true;
  return false;
}

/// Of a call that is given the address of another field, or its array.
bool Uniform::staysInField(const CallExpr &call, const Expr &at, const FieldDecl &other,
                           const FieldDecl &asked, ASTContext &context) {
  const FunctionDecl *f = call.getDirectCallee();
  const auto argument = std::find(call.arg_begin(), call.arg_end(), &at);
  if (!f || argument == call.arg_end()) return false;
  const auto i = static_cast<unsigned>(argument - call.arg_begin());
  if (const ParmVarDecl *p = parameter(call, i)) return staysInField(*p, other, asked);
  // A library writes from there on upwards, whatever its length, but for a text.
  const bool library = !program_.definition(*f) && (isMpi(*f) || isOfStandard(*f));
  const QualType result = f->getReturnType();
  const bool leads = result->isPointerType() || result->isReferenceType() || result->isRecordType();
  const bool ofFile = isOfFiles(*f) && f->getName() == "fopen";
  if (!library || mayReachBackwards(call, context) ||
      (result->isPointerType() && !ofFile && !isLookedAtMost(call, context)))
    return false;
  if (isText(other.getType()) && takesText(*f, call, i)) return true;
  if (fillsNoMore(call, i, other.getType(), context)) return true;
  return (f->isInStdNamespace() && !leads) || asked.getFieldIndex() < other.getFieldIndex();
}

/// Of a parameter that is such an address: read(&o.n, &o.least), and who is given it in turn.
bool Uniform::staysInField(const ParmVarDecl &p, const FieldDecl &other, const FieldDecl &asked) {
  const auto key = std::make_tuple(&p, &other, &asked);
  const auto [known, fresh] = staying_.try_emplace(key, true);
  if (!fresh) return known->second;
  const bool stays = std::ranges::all_of(program_.uses(p), [&](const Use &use) {
    if (!use.in) return false;
    ASTContext &context = use.in->getASTContext();
    const auto above = [&](const Expr *e) {
      const Stmt *parent = parentOf(e, context);
      while (isa_and_nonnull<ParenExpr>(parent)) parent = parentOf(parent, context);
      return parent;
    };
    const auto *read = dyn_cast_or_null<CastExpr>(above(use.ref));
    if (!read || read->getCastKind() != CK_LValueToRValue) return false;
    const Stmt *by = above(read);
    const Expr *at = read;
    const auto *bytes = dyn_cast_or_null<CastExpr>(by);
    if (bytes && bytes->getType()->isVoidPointerType()) at = bytes, by = above(bytes);
    if (const auto *call = dyn_cast_or_null<CallExpr>(by))
      return staysInField(*call, *at, other, asked, context);
    const auto *op = dyn_cast_or_null<BinaryOperator>(by);
    const auto *unary = dyn_cast_or_null<UnaryOperator>(by);
    const auto *sub = dyn_cast_or_null<ArraySubscriptExpr>(by);
    if (op) return op->isComparisonOp();
    if ((unary && unary->getOpcode() == UO_LNot) || isDropped(by, context) ||
        (bytes && bytes->getCastKind() == CK_PointerToBoolean))
      return true;  // whether it is null
    const bool named =
        (unary && unary->getOpcode() == UO_Deref) ||
        (sub && sub->getBase()->IgnoreParens() == at && other.getType()->isConstantArrayType());
    if (!named) return false;
    const Stmt *then = above(llvm::cast<Expr>(by));  // no address of it once more
    const auto *set = dyn_cast_or_null<BinaryOperator>(then);
    const auto *loads = dyn_cast_or_null<CastExpr>(then);
    const auto *steps = dyn_cast_or_null<UnaryOperator>(then);
    return (set && set->isAssignmentOp() && isReadAtMost(set, context)) ||
           (loads && loads->getCastKind() == CK_LValueToRValue) ||
           (steps && steps->isIncrementDecrementOp() && isReadAtMost(steps, context));
  });
  if (stays) return true;
  // What was found of others may rest on this one.
  std::erase_if(staying_, [](const auto &found) { return found.second; });
  return staying_[key] = false;
}

/// Whether a use of another field stays with that: it is read, or set.
bool Uniform::staysInField(const MemberExpr &member, const FunctionDecl &in,
                           const FieldDecl &asked) {
  const auto *other = dyn_cast<FieldDecl>(member.getMemberDecl());
  if (!other) return false;  // a method, which may give away where the object is
  ASTContext &context = in.getASTContext();
  const Expr *at = &member;
  for (;;) {
    const auto *parent = dyn_cast_or_null<Expr>(parentOf(at, context));
    if (!parent) return !at->getType()->isPointerType() && !at->isGLValue();
    if (const auto *cast = dyn_cast<CastExpr>(parent)) {
      if (cast->getCastKind() == CK_LValueToRValue)
        return true;  // where a pointer leads is not here
      const bool asBytes = cast->getType()->isVoidPointerType();
      if (cast->getCastKind() == CK_LValueBitCast ||
          (cast->getCastKind() == CK_BitCast && !asBytes))
        return false;  // the whole structure begins where its first field does
    } else if (const auto *op = dyn_cast<BinaryOperator>(parent)) {
      return op->isComparisonOp() || (op->isAssignmentOp() && op->getLHS() == at);
    } else if (const auto *unary = dyn_cast<UnaryOperator>(parent)) {
      if (unary->isIncrementDecrementOp()) return true;
      if (unary->getOpcode() != UO_AddrOf) return false;
    } else if (const auto *call = dyn_cast<CallExpr>(parent)) {
      return staysInField(*call, *at, *other, asked, context);
    } else if (const auto *inner = dyn_cast<MemberExpr>(parent)) {
      // One of the program's own may know which object it is a part of.
      if (isa<CXXMethodDecl>(inner->getMemberDecl())) return isOfStandard(*inner->getMemberDecl());
    } else if (const auto *sub = dyn_cast<ArraySubscriptExpr>(parent)) {
      if (sub->getBase() != at) return true;
    } else if (!isa<ParenExpr>(parent)) {
      return false;
    }
    at = parent;
  }
}

}  // namespace nbcc::overlap
