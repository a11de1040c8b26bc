// SPDX-License-Identifier: BSD-3-Clause
// memory.cpp - what pointers may point at, and which objects overlap. collect_memory.cpp reads the
// function.

#include "tools/overlap/memory.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include <algorithm>

#include "tools/overlap/bindings.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/points_to.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {
namespace {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// v of v.data(), v[i], v = w and z += 1; null: what the call returns is not there.
const Expr *containerOf(const CallExpr *call) {
  if (const auto *method = dyn_cast<CXXMemberCallExpr>(call)) {
    const CXXMethodDecl *m = method->getMethodDecl();
    if (m && m->getIdentifier() && pointsIntoContainer(m->getName()) &&
        isContainer(method->getObjectType()))
      return method->getImplicitObjectArgument();
  }
  if (const auto *op = dyn_cast<CXXOperatorCallExpr>(call))
    if ((op->getOperator() == OO_Subscript && isContainer(op->getArg(0)->getType())) ||
        assignsByParts(*op) || changesComplex(*op))
      return op->getArg(0);
  return nullptr;
}

bool isRestrict(const VarDecl *p) {
  return p->getType().isRestrictQualified();
}

/// Without what computes nothing: parentheses, the end of temporaries, the name for a in a ?: b.
const Expr *plain(const Expr *e) {
  for (;;) {
    e = e->IgnoreParens();
    const auto *opaque = dyn_cast<OpaqueValueExpr>(e);
    if (const auto *full = dyn_cast<FullExpr>(e))
      e = full->getSubExpr();
    else if (opaque && opaque->getSourceExpr())
      e = opaque->getSourceExpr();
    else
      return e;
  }
}

/// `all`: the whole program; null: it is not looked at yet, and other sources may give it a name.
Objects ofVariable(const VarDecl &v, const PointsTo *all) {
  Objects self = Objects::one(Object::variable, v.getCanonicalDecl());
  self.unknown = hasOtherName(v) || (v.hasGlobalStorage() && (!all || all->hasNames(v)));
  return self;
}

}  // namespace

bool staysInObject(CastKind kind) {
  switch (kind) {
    case CK_NoOp:
    case CK_BitCast:
    case CK_LValueBitCast:
    case CK_DerivedToBase:
    case CK_UncheckedDerivedToBase:
    case CK_BaseToDerived:
    case CK_Dynamic:
    case CK_AtomicToNonAtomic:
    case CK_NonAtomicToAtomic:
      return true;
    default:
      return false;
  }
}

bool isDistance(const BinaryOperator &op) {
  const auto asBytes = [](const Expr *e) {
    const auto *cast = dyn_cast<ExplicitCastExpr>(e->IgnoreParenImpCasts());
    return cast && cast->getType()->isPointerType() &&
           (cast->getType()->getPointeeType()->isCharType() ||
            cast->getType()->isVoidPointerType());
  };
  return op.getOpcode() == BO_Sub && op.getLHS()->getType()->isPointerType() &&
         op.getRHS()->getType()->isPointerType() && (asBytes(op.getLHS()) || asBytes(op.getRHS()));
}

bool hasOtherName(const NamedDecl &d) {
  const llvm::StringRef name = d.getIdentifier() ? d.getName() : "";
  if (name.starts_with("__start_") || name.starts_with("__stop_")) return true;  // of a section
  return llvm::any_of(d.redecls(), [](const Decl *one) {  // the later ones need not say so
    return one->hasAttr<SectionAttr>() || one->hasAttr<AliasAttr>() ||
           one->hasAttr<AsmLabelAttr>() || one->hasAttr<IFuncAttr>() || one->hasAttr<WeakRefAttr>();
  });
}

bool mayTakeOver(QualType type, const Expr *init) {
  if (type->isReferenceType() || !holdsElements(type)) return false;
  const Expr *plain = init->IgnoreParenImpCasts();
  if (const auto *whole = dyn_cast<FullExpr>(plain))
    plain = whole->getSubExpr()->IgnoreParenImpCasts();
  while (const auto *inner = dyn_cast<CXXFunctionalCastExpr>(plain))
    plain = inner->getSubExpr()->IgnoreParenImpCasts();
  if (const auto *bound = dyn_cast<CXXBindTemporaryExpr>(plain)) plain = bound->getSubExpr();
  const auto *made = dyn_cast<CXXConstructExpr>(plain);
  return !made || std::ranges::any_of(made->arguments(), [](const Expr *e) {
    return e->isXValue() && e->getType()->isRecordType();
  });
}

bool isPlainRange(const CXXForRangeStmt &loop) {
  const Expr *over = loop.getRangeInit() ? loop.getRangeInit()->IgnoreParens() : nullptr;
  const VarDecl *each = loop.getLoopVariable();
  if (!over || !each || loop.getInit() || !isa<DeclRefExpr, MemberExpr>(over)) return false;
  const auto isNumber = [](QualType t) { return t->isArithmeticType() || isComplex(t); };
  const QualType type = over->getType(), of = each->getType();
  const QualType element =
      type->isArrayType() ? QualType(type->getArrayElementTypeNoTypeQual(), 0) : elementOf(type);
  if (element.isNull()) return false;
  if (isNumber(element)) return isNumber(of.getNonReferenceType());
  return !isa<DecompositionDecl>(each) && of->isLValueReferenceType() && element->isRecordType() &&
         each->getASTContext().hasSameUnqualifiedType(element, of.getNonReferenceType());
}

/// Null: of memory without one.
static QualType typeOf(const Object &o) {
  if (const VarDecl *of = o.decl())
    return o.kind == Object::pointee ? of->getType()->getPointeeType() : of->getType();
  const auto *made = dyn_cast<CXXNewExpr>(static_cast<const Expr *>(o.what));
  return made ? made->getAllocatedType() : QualType();
}

Objects Memory::variablePointsAt(const VarDecl *v) const {
  if (!mayPoint(v->getType())) return Objects::anything();
  Objects all;
  // What another call left in it, or what may be written through a pointer to it.
  if (v->hasGlobalStorage() || escaped_.contains({Object::variable, v})) all.unknown = true;
  if (isa<ParmVarDecl>(v)) all.add(Objects::one(Object::pointee, v));
  const auto found = assigned_.find(v);
  if (found == assigned_.end() && !isa<ParmVarDecl>(v)) all.unknown = true;  // not of this function
  if (found == assigned_.end() || !asked_.insert(v).second) return all;
  for (const Expr *e : found->second)
    all.add(v->getType()->isReferenceType() ? named(e) : reached(e));
  asked_.erase(v);
  for (const Object &o : all.known)
    if (escaped_.contains(o)) {
      const QualType type = typeOf(o);
      all.unknown = all.unknown || (!type.isNull() && holdsElements(type));
    }
  return all;
}

/// What is not followed may be anything, and all that it is made of.
Objects Memory::unfollowed(const Expr *e) const {
  Objects all = Objects::anything();
  for (const Stmt *child : e->children())
    if (const auto *operand = llvm::dyn_cast_or_null<Expr>(child)) all.add(either(operand));
  return all;
}

Objects Memory::either(const Expr *e) const {
  if (e->getType().isNull()) return Objects::anything();  // in a template
  if (e->isGLValue()) return named(e);
  return mayPoint(e->getType()) ? reached(e) : Objects();
}

Objects Memory::named(const Expr *e) const {
  e = plain(e);
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
    if (const VarDecl *bound = boundVariable(*ref->getDecl()))
      return bound->getType()->isReferenceType() ? variablePointsAt(bound)
                                                 : ofVariable(*bound, others_.pointsTo());
    const auto *v = dyn_cast<VarDecl>(ref->getDecl());
    if (!v) return isa<FunctionDecl>(ref->getDecl()) ? Objects() : Objects::anything();
    if (v->getType()->isReferenceType()) return variablePointsAt(v);
    return ofVariable(*v, others_.pointsTo());
  }
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e)) return either(sub->getBase());
  if (const auto *member = dyn_cast<MemberExpr>(e)) {
    if (const auto *v = dyn_cast<VarDecl>(member->getMemberDecl()))
      return ofVariable(*v, others_.pointsTo());
    if (member->getMemberDecl()->getType()->isReferenceType()) return Objects::anything();
    return member->isArrow() ? reached(member->getBase()) : named(member->getBase());
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    if (op->getOpcode() == UO_Deref) return reached(op->getSubExpr());
    return named(op->getSubExpr());  // ++x, __real x
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e)) {
    if (op->isAssignmentOp()) return named(op->getLHS());
    if (op->getOpcode() == BO_Comma) return named(op->getRHS());
    if (op->isPtrMemOp()) return either(op->getLHS());
  }
  if (const auto *op = dyn_cast<AbstractConditionalOperator>(e)) {
    Objects both = named(op->getTrueExpr());
    both.add(named(op->getFalseExpr()));
    return both;
  }
  if (const auto *cast = dyn_cast<CastExpr>(e))
    return staysInObject(cast->getCastKind()) ? either(cast->getSubExpr()) : unfollowed(e);
  if (const auto *call = dyn_cast<CallExpr>(e)) {
    if (const Expr *container = containerOf(call)) return either(container);
    if (call->getDirectCallee() && isChoice(*call->getDirectCallee())) {
      Objects either;
      for (const Expr *argument : call->arguments())
        if (!isa<MaterializeTemporaryExpr>(argument)) either.add(named(argument));
      return either;
    }
    return Objects::anything();  // what it is given has escaped, if it may be that
  }
  // Memory that nothing else here can name.
  if (isa<StringLiteral, PredefinedExpr>(e)) return {};
  return unfollowed(e);
}

/// What the value of an lvalue points at.
Objects Memory::loaded(const Expr *e) const {
  e = plain(e);
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
    const auto *v = dyn_cast<VarDecl>(ref->getDecl());
    const QualType type = ref->getDecl()->getType();
    const bool followed =
        v && !type->isReferenceType() && !type->isRecordType() && !type->isArrayType();
    return followed ? variablePointsAt(v) : Objects::anything();
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->isIncrementDecrementOp())
    return loaded(op->getSubExpr());
  if (const auto *op = dyn_cast<BinaryOperator>(e)) {
    if (op->isAssignmentOp()) return loaded(op->getLHS());
    if (op->getOpcode() == BO_Comma) return loaded(op->getRHS());
  }
  if (const auto *op = dyn_cast<AbstractConditionalOperator>(e)) {
    Objects both = loaded(op->getTrueExpr());
    both.add(loaded(op->getFalseExpr()));
    return both;
  }
  if (const auto *cast = dyn_cast<CastExpr>(e))
    if (staysInObject(cast->getCastKind()) && cast->getSubExpr()->isGLValue())
      return loaded(cast->getSubExpr());
  // What is stored in memory has escaped, or the variable that was stored to has.
  if (isa<ArraySubscriptExpr, MemberExpr, UnaryOperator, CallExpr>(e)) return Objects::anything();
  return unfollowed(e);
}

Objects Memory::reached(const Expr *e) const {
  e = plain(e);
  if (e->isGLValue()) return unfollowed(e);
  if (const auto *cast = dyn_cast<CastExpr>(e)) {
    const Expr *of = cast->getSubExpr();
    switch (cast->getCastKind()) {
      case CK_ArrayToPointerDecay:
        return named(of);
      case CK_LValueToRValue:
        return loaded(of);
      case CK_NullToPointer:
      case CK_FunctionToPointerDecay:
        return {};
      case CK_IntegralToPointer:
        if (isa<IntegerLiteral>(of->IgnoreParenImpCasts())) return {};
        return Objects::anything();
      default:
        return staysInObject(cast->getCastKind()) ? either(of) : unfollowed(e);
    }
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    if (op->getOpcode() == UO_AddrOf) return named(op->getSubExpr());
    return op->isIncrementDecrementOp() ? loaded(op->getSubExpr()) : unfollowed(e);
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e)) {
    if (op->getOpcode() == BO_Comma || op->getOpcode() == BO_Assign) return reached(op->getRHS());
    if (op->isCompoundAssignmentOp()) return loaded(op->getLHS());
    if (op->getOpcode() == BO_Add || op->getOpcode() == BO_Sub)  // stays within its object
      return reached(op->getLHS()->getType()->isPointerType() ? op->getLHS() : op->getRHS());
    return unfollowed(e);
  }
  if (const auto *op = dyn_cast<AbstractConditionalOperator>(e)) {
    Objects both = reached(op->getTrueExpr());
    both.add(reached(op->getFalseExpr()));
    return both;
  }
  if (const auto *call = dyn_cast<CallExpr>(e)) {
    if (const Expr *container = containerOf(call)) return either(container);
    const FunctionDecl *f = call->getDirectCallee();
    const KnownCall *known = f ? findKnownCall(*f) : nullptr;
    if ((known && known->kind == CallKind::makes) || (f && !known && others_.makes(*f)))
      return Objects::one(Object::allocation, call);
    if (known && known->kind == CallKind::returns) {
      Objects all;
      for (const Expr *argument : call->arguments()) all.add(either(argument));
      return all;
    }
    return Objects::anything();  // what it is given has escaped, if it may be that
  }
  if (const auto *made = dyn_cast<CXXNewExpr>(e))
    if (isPlainNew(*made) && !(others_.pointsTo() && others_.pointsTo()->ownsNew()))
      return Objects::one(Object::allocation, made);
  if (isa<CXXNullPtrLiteralExpr, GNUNullExpr, IntegerLiteral>(e)) return {};
  return unfollowed(e);
}

bool Memory::escaped(const Object &o) const {
  if (escaped_.contains(o)) return true;
  switch (o.kind) {
    case Object::variable:
      return o.decl()->hasGlobalStorage();
    case Object::allocation:
      return false;
    case Object::pointee:
      return !isRestrict(o.decl());
  }
  return true;
}

bool Memory::mayOverlap(const Objects &a, const Objects &b) const {
  if (PointsTo *pointsTo = others_.pointsTo(); pointsTo && !pointsTo->mayOverlap(a.whole, b.whole))
    return false;
  if (a.elsewhere || b.elsewhere || (a.unknown && b.unknown)) return true;
  const auto anyEscaped = [&](const Objects &objects) {
    return std::ranges::any_of(objects.known, [&](const Object &o) { return escaped(o); });
  };
  if ((a.unknown && anyEscaped(b)) || (b.unknown && anyEscaped(a))) return true;
  for (const Object &x : a.known)
    for (const Object &y : b.known) {
      if (x == y) return true;
      // What callers pass may be one thing twice, or a global variable; never what is made in here.
      const auto passedIn = [](const Object &o) {
        return o.kind == Object::pointee ||
               (o.kind == Object::variable && o.decl()->hasGlobalStorage());
      };
      const bool bothVariables = x.kind == Object::variable && y.kind == Object::variable;
      const auto alone = [](const Object &o) {
        return o.kind == Object::pointee && isRestrict(o.decl());
      };
      if (!bothVariables && passedIn(x) && passedIn(y) && !alone(x) && !alone(y)) return true;
    }
  return false;
}

bool Memory::returnsOwn() const {
  if (!notUnderstood_.empty() || returned_.empty()) return false;
  Objects all;
  for (const Expr *e : returned_) all.add(reached(e));
  return !all.empty() && !all.unknown && std::ranges::all_of(all.known, [&](const Object &o) {
    return o.kind == Object::allocation && !kept_.contains(o);
  });
}

Objects Memory::designated(const Expr *e) const {
  Objects all = named(e);
  PointsTo *pointsTo = others_.pointsTo();
  all.whole = pointsTo ? pointsTo->designated(e, in_) : Places::anything();
  return all;
}

Objects Memory::pointedAt(const Expr *e) const {
  Objects all = reached(e);
  PointsTo *pointsTo = others_.pointsTo();
  all.whole = pointsTo ? pointsTo->pointedAt(e, in_) : Places::anything();
  return all;
}

Objects Memory::variable(const VarDecl &v) const {
  PointsTo *pointsTo = others_.pointsTo();
  Objects self = ofVariable(v, pointsTo);
  if (pointsTo) self.whole = pointsTo->variable(v);
  return self;
}

void Memory::escapes(const Expr *e, bool byReturn) {
  const Objects gone = either(e);
  escaped_.insert(gone.known.begin(), gone.known.end());
  if (!byReturn) kept_.insert(gone.known.begin(), gone.known.end());
}

// Whoever can read a pointer variable can reach what it points at.
void Memory::close(std::set<Object> &escaped) const {
  for (size_t before = escaped.size() + 1; before != escaped.size();) {
    before = escaped.size();
    const std::set<Object> now = escaped;
    for (const Object &o : now)
      if (o.kind == Object::variable &&
          (assigned_.contains(o.decl()) || isa<ParmVarDecl>(o.decl()))) {
        const Objects reached = variablePointsAt(o.decl());
        escaped.insert(reached.known.begin(), reached.known.end());
      }
  }
}

}  // namespace nbcc::overlap
