// SPDX-License-Identifier: BSD-3-Clause
// memory.cpp - what pointers may point at, and which objects overlap. collect_memory.cpp reads the
// function.

#include "tools/overlap/memory.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include <algorithm>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/points_to.h"

namespace nbcc::overlap {
namespace {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// v of v.data(), v[i]; null: the call is none of a container's that point into it.
const Expr *containerOf(const CallExpr *call) {
  if (const auto *method = dyn_cast<CXXMemberCallExpr>(call)) {
    const CXXMethodDecl *m = method->getMethodDecl();
    if (m && m->getIdentifier() && pointsIntoContainer(m->getName()) &&
        isContainer(method->getObjectType()))
      return method->getImplicitObjectArgument();
  }
  if (const auto *op = dyn_cast<CXXOperatorCallExpr>(call))
    if (op->getOperator() == OO_Subscript && isContainer(op->getArg(0)->getType()))
      return op->getArg(0);
  return nullptr;
}

bool isRestrict(const VarDecl *p) {
  return p->getType().isRestrictQualified();
}

}  // namespace

bool isContainer(QualType type) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->isInStdNamespace() || !record->getIdentifier()) return false;
  const llvm::StringRef name = record->getName();
  if (name == "vector")  // of bools: no memory that one could point at
    if (const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(record))
      return !of->getTemplateArgs()[0].getAsType()->isBooleanType();
  return name == "array" || name == "basic_string" || name == "valarray";
}

bool holdsElements(QualType type) {
  const CXXRecordDecl *record =
      type.getNonReferenceType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  return record && record->hasDefinition() && !record->hasTrivialDestructor();
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

bool isContainerOfNumbers(QualType type) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const auto *of = record ? dyn_cast<ClassTemplateSpecializationDecl>(record) : nullptr;
  if (!isContainer(type) || !of || record->getName() != "vector") return false;
  // An allocator of the program's own may do anything.
  const CXXRecordDecl *from = of->getTemplateArgs()[1].getAsType()->getAsCXXRecordDecl();
  return from && from->isInStdNamespace() && from->getName() == "allocator" &&
         of->getTemplateArgs()[0].getAsType()->isArithmeticType();
}

bool isPlainRange(const CXXForRangeStmt &loop) {
  const Expr *over = loop.getRangeInit() ? loop.getRangeInit()->IgnoreParens() : nullptr;
  const VarDecl *each = loop.getLoopVariable();
  if (!over || !each || loop.getInit() || !isa<DeclRefExpr, MemberExpr>(over)) return false;
  const QualType type = over->getType();
  const bool numbers = type->isArrayType()
                           ? type->getArrayElementTypeNoTypeQual()->isArithmeticType()
                           : isContainerOfNumbers(type);
  return numbers && (each->getType()->isArithmeticType() ||
                     (each->getType()->isReferenceType() &&
                      each->getType()->getPointeeType()->isArithmeticType()));
}

bool changesContainer(llvm::StringRef method) {
  return method == "resize" || method == "assign" || method == "push_back" || method == "reserve" ||
         method == "clear" || method == "pop_back";
}

bool pointsIntoContainer(llvm::StringRef method) {
  return method == "data" || method == "at" || method == "front" || method == "back";
}

bool readsShapeOfContainer(llvm::StringRef method) {
  return method == "size" || method == "empty" || method == "capacity" || method == "length";
}

Objects Memory::variablePointsAt(const VarDecl *v) const {
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
    if (o.kind == Object::variable && escaped_.contains(o) && holdsElements(o.decl()->getType()))
      all.unknown = true;
  return all;
}

Objects Memory::named(const Expr *e) const {
  e = e->IgnoreParens();
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
    const auto *v = dyn_cast<VarDecl>(ref->getDecl());
    if (!v) return isa<FunctionDecl>(ref->getDecl()) ? Objects() : Objects::anything();
    if (v->getType()->isReferenceType()) return variablePointsAt(v);
    return Objects::one(Object::variable, v->getCanonicalDecl());
  }
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e)) return reached(sub->getBase());
  if (const auto *member = dyn_cast<MemberExpr>(e)) {
    if (isa<VarDecl>(member->getMemberDecl()))  // static
      return Objects::one(Object::variable, member->getMemberDecl()->getCanonicalDecl());
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
  }
  if (const auto *op = dyn_cast<ConditionalOperator>(e)) {
    Objects both = named(op->getTrueExpr());
    both.add(named(op->getFalseExpr()));
    return both;
  }
  if (const auto *cast = dyn_cast<CastExpr>(e)) {
    if (cast->getCastKind() == CK_NoOp || cast->getCastKind() == CK_LValueBitCast ||
        cast->getCastKind() == CK_DerivedToBase || cast->getCastKind() == CK_UncheckedDerivedToBase)
      return named(cast->getSubExpr());
    return Objects::anything();
  }
  if (const auto *call = dyn_cast<CallExpr>(e)) {
    if (const Expr *container = containerOf(call))
      return container->isGLValue() ? named(container) : reached(container);
    if (call->getDirectCallee() && isChoice(*call->getDirectCallee())) {
      Objects either;
      for (const Expr *argument : call->arguments())
        if (!isa<MaterializeTemporaryExpr>(argument)) either.add(named(argument));
      return either;
    }
  }
  // Memory that nothing else here can name.
  if (isa<StringLiteral, PredefinedExpr>(e)) return {};
  return Objects::anything();
}

Objects Memory::reached(const Expr *e) const {
  e = e->IgnoreParens();
  if (const auto *cast = dyn_cast<CastExpr>(e)) {
    const Expr *of = cast->getSubExpr();
    switch (cast->getCastKind()) {
      case CK_ArrayToPointerDecay:
        return named(of);
      case CK_LValueToRValue:
        if (const auto *ref = dyn_cast<DeclRefExpr>(of->IgnoreParens()))
          if (const auto *v = dyn_cast<VarDecl>(ref->getDecl()))
            if (!v->getType()->isReferenceType()) return variablePointsAt(v);
        return Objects::anything();
      case CK_NullToPointer:
      case CK_FunctionToPointerDecay:
        return {};
      case CK_BitCast:
      case CK_NoOp:
      case CK_DerivedToBase:
      case CK_UncheckedDerivedToBase:
        return reached(of);
      case CK_IntegralToPointer:
        if (isa<IntegerLiteral>(of->IgnoreParenImpCasts())) return {};
        return Objects::anything();
      default:
        return Objects::anything();
    }
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    if (op->getOpcode() == UO_AddrOf) return named(op->getSubExpr());
    if (op->isIncrementDecrementOp())
      if (const auto *ref = dyn_cast<DeclRefExpr>(op->getSubExpr()->IgnoreParens()))
        if (const auto *v = dyn_cast<VarDecl>(ref->getDecl()))
          if (!v->getType()->isReferenceType()) return variablePointsAt(v);
    return Objects::anything();
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e)) {
    if (op->getOpcode() == BO_Comma || op->getOpcode() == BO_Assign) return reached(op->getRHS());
    if (op->getOpcode() == BO_Add || op->getOpcode() == BO_Sub)  // stays within its object
      return reached(op->getLHS()->getType()->isPointerType() ? op->getLHS() : op->getRHS());
    return Objects::anything();
  }
  if (const auto *op = dyn_cast<ConditionalOperator>(e)) {
    Objects both = reached(op->getTrueExpr());
    both.add(reached(op->getFalseExpr()));
    return both;
  }
  if (const auto *call = dyn_cast<CallExpr>(e)) {
    if (const Expr *container = containerOf(call))
      return container->isGLValue() ? named(container) : reached(container);
    const FunctionDecl *f = call->getDirectCallee();
    const KnownCall *known = f ? findKnownCall(*f) : nullptr;
    if ((known && known->kind == CallKind::makes) || (f && !known && others_.makes(*f)))
      return Objects::one(Object::allocation, call);
    if (known && known->kind == CallKind::returns) {
      Objects all;
      for (const Expr *argument : call->arguments())
        if (argument->getType()->isPointerType()) all.add(reached(argument));
      return all;
    }
    return Objects::anything();
  }
  if (const auto *made = dyn_cast<CXXNewExpr>(e))
    if (made->getNumPlacementArgs() == 0) return Objects::one(Object::allocation, made);
  if (isa<CXXNullPtrLiteralExpr, GNUNullExpr, IntegerLiteral>(e)) return {};
  return Objects::anything();
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
  Objects self = Objects::one(Object::variable, v.getCanonicalDecl());
  if (PointsTo *pointsTo = others_.pointsTo()) self.whole = pointsTo->variable(v);
  return self;
}

void Memory::escapes(const Expr *e, bool byReturn) {
  Objects gone;
  if (e->isGLValue())
    gone = named(e);
  else if (e->getType()->isPointerType() || e->getType()->isArrayType())
    gone = reached(e);
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
