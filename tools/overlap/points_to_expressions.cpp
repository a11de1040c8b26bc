// SPDX-License-Identifier: BSD-3-Clause
// points_to_expressions.cpp - expressions, but calls (points_to_calls.cpp) and lists in braces
// (points_to_statements.cpp).
//
// What is not listed here hands all that it is made of to the unknown.

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/StmtCXX.h>

#include "tools/overlap/bindings.h"
#include "tools/overlap/memory.h"
#include "tools/overlap/points_to.h"
#include "tools/overlap/program.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;

/// Of a type's elements, the innermost, or of it; 0: none that is known.
static int64_t sizeOfOne(QualType type, const ASTContext &context) {
  const QualType one(type->getBaseElementTypeUnsafe(), 0);
  const bool sized = !one->isIncompleteType() && !one->isDependentType() &&
                     !one->isFunctionType() && !one->isSizelessType();
  return sized ? context.getTypeSizeInChars(one).getQuantity() : 0;
}

/// Whether an object of a type may lie in a field, or in one of its elements.
static bool hasRoom(const FieldDecl &f, QualType type) {
  if (type->isVoidType() || type->isFunctionType()) return true;  // to be seen as another one yet
  const int64_t wanted = sizeOfOne(type, f.getASTContext());
  return wanted > 0 && wanted <= sizeOfOne(f.getType(), f.getASTContext());
}

/// A pointer to a field that is no array, plus something, is one into the whole; also where it goes
/// by other steps than from element to element, as to the structure around it.
Places PointsTo::widened(const Places &places, QualType pointer) const {
  const QualType step = pointer.isNull() ? QualType() : pointer->getPointeeType();
  Places result;
  result.unknown = places.unknown;
  for (Place p : places.known) {
    const auto *f = static_cast<const FieldDecl *>(p.field);
    if (f && (!f->getType()->isArrayType() ||
              (!step.isNull() && (step->isVoidType() || step->isCharType()) &&
               sizeOfOne(f->getType(), f->getASTContext()) != 1)))
      p.field = nullptr;
    result.known.insert(p);
  }
  return result;
}

Places PointsTo::unseen(const Stmt *s) {
  for (const Stmt *child : s->children()) {
    if (!child) continue;
    if (const auto *e = dyn_cast<Expr>(child)) {
      const Places reached = either(e);
      escapeWhole(reached);
    } else {
      statement(child);
    }
  }
  return Places::anything();
}

/// The class of a lambda whose body this is; null: it is none.
static const CXXRecordDecl *lambdaOf(const FunctionDecl *body) {
  const auto *method = dyn_cast_or_null<CXXMethodDecl>(body);
  return method && method->getParent()->isLambda() ? method->getParent() : nullptr;
}

/// What stands in a closure for a variable, or for `this` (null); null: nothing does.
static const FieldDecl *capturedAs(const ValueDecl *what, const CXXRecordDecl &lambda) {
  llvm::DenseMap<const ValueDecl *, FieldDecl *> captured;
  FieldDecl *self = nullptr;
  lambda.getCaptureFields(captured, self);
  return what ? captured.lookup(what) : self;
}

/// Whether a name in a lambda is of a copy in it, and not of the variable itself.
static bool namesCopy(const DeclRefExpr &name, const FunctionDecl *body) {
  const CXXRecordDecl *lambda = lambdaOf(body);
  if (!lambda) return false;
  const FieldDecl *field = capturedAs(name.getDecl(), *lambda);
  return !field || !field->getType()->isReferenceType();
}

/// [*this]
static bool thisIsCopy(const FunctionDecl *body) {
  const CXXRecordDecl *lambda = lambdaOf(body);
  const FieldDecl *self = lambda ? capturedAs(nullptr, *lambda) : nullptr;
  return self && !self->getType()->isPointerType();
}

Places PointsTo::value(const Expr *e) {
  e = e->IgnoreParens();
  if (e->isGLValue()) return place(e);
  if (const auto *cast = dyn_cast<CastExpr>(e)) return castValue(cast);
  if (const auto *op = dyn_cast<UnaryOperator>(e)) return unaryValue(op);
  if (const auto *op = dyn_cast<BinaryOperator>(e)) return binaryValue(op);
  if (const auto *op = dyn_cast<ConditionalOperator>(e)) {
    value(op->getCond());
    Places both = value(op->getTrueExpr());
    both.add(value(op->getFalseExpr()));
    return both;
  }
  if (const auto *c = dyn_cast<CallExpr>(e)) return call(c);
  if (const auto *list = dyn_cast<InitListExpr>(e)) return listValue(list);
  if (const auto *literal = dyn_cast<CompoundLiteralExpr>(e))
    return value(literal->getInitializer());
  if (const auto *full = dyn_cast<FullExpr>(e)) return value(full->getSubExpr());
  if (const auto *bound = dyn_cast<CXXBindTemporaryExpr>(e)) {
    const Places self = value(bound->getSubExpr());
    if (isContainer(e->getType())) return self;
    escapeWhole(self);  // its end is nowhere to be seen
    return self;
  }
  if (const auto *standing = dyn_cast<CXXDefaultArgExpr>(e)) return value(standing->getExpr());
  if (const auto *standing = dyn_cast<CXXDefaultInitExpr>(e)) return value(standing->getExpr());
  if (const auto *put = dyn_cast<SubstNonTypeTemplateParmExpr>(e))
    return value(put->getReplacement());
  if (isa<CXXThisExpr>(e)) {
    if (thisIsCopy(returning_)) return Places::anything();
    const auto *method = in_ ? dyn_cast<CXXMethodDecl>(in_) : nullptr;
    while (method && method->getParent()->isLambda())  // that of the method around it
      method = llvm::dyn_cast_or_null<CXXMethodDecl>(method->getParent()->isLocalClass());
    return method ? load(Places::one(self(*method))) : Places::anything();
  }
  if (const auto *made = dyn_cast<CXXNewExpr>(e); made && isPlainNew(*made) && !ownsNew()) {
    const Places self = Places::one(e);
    if (made->isArray() && made->getArraySize()) value(*made->getArraySize());
    if (const Expr *init = made->getInitializer())
      initialises(made->isArray() ? init->getType() : made->getAllocatedType(), self, init);
    return self;
  }
  if (const auto *gone = dyn_cast<CXXDeleteExpr>(e)) {
    const Places object = value(gone->getArgument());
    const CXXRecordDecl *record = gone->getDestroyedType()->getAsCXXRecordDecl();
    const FunctionDecl *by = gone->getOperatorDelete();
    if ((record && record->hasDefinition() && !record->hasTrivialDestructor()) ||
        (by && by->isDefined())) {
      escapeWhole(object);
    }
    return {};
  }
  if (const auto *block = dyn_cast<StmtExpr>(e)) {
    statement(block->getSubStmt());
    const auto *last = dyn_cast_or_null<ValueStmt>(block->getSubStmt()->getStmtExprResult());
    const Expr *result = last ? last->getExprStmt() : nullptr;
    if (result) return either(result);
    return e->getType()->isVoidType() ? Places() : Places::anything();
  }
  if (const auto *made = dyn_cast<CXXConstructExpr>(e)) {
    const Places self = Places::one(e);
    constructs(self, made);
    const CXXRecordDecl *record = e->getType()->getAsCXXRecordDecl();
    if (record && !record->hasTrivialDestructor() && !isContainer(e->getType())) {
      escapeWhole(self);  // its end is nowhere to be seen
    }
    return self;
  }
  if (const auto *copied = dyn_cast<ArrayInitLoopExpr>(e))
    return either(copied->getCommonExpr()->getSourceExpr());
  if (isa<IntegerLiteral, FloatingLiteral, CharacterLiteral, ImaginaryLiteral, CXXBoolLiteralExpr,
          CXXNullPtrLiteralExpr, GNUNullExpr, UnaryExprOrTypeTraitExpr, OffsetOfExpr,
          ImplicitValueInitExpr, CXXScalarValueInitExpr, TypeTraitExpr, DeclRefExpr,
          SizeOfPackExpr>(e))
    return {};
  if (const auto *lambda = dyn_cast<LambdaExpr>(e)) {
    // Whoever it is given to calls it with what he likes; what it captures goes by its name.
    auto capture = lambda->capture_begin();
    for (const Expr *captured : lambda->capture_inits()) {
      const bool copies = (capture++)->getCaptureKind() != LCK_ByRef;
      if (!captured || isa<CXXThisExpr>(captured->IgnoreParenCasts())) continue;
      const Places reached = either(captured);
      if (copies) escapeWhole(reached);  // the copy is not followed
    }
    for (const LambdaCapture &c : lambda->captures())  // [p = a]
      if (lambda->isInitCapture(&c)) declares(*llvm::cast<VarDecl>(c.getCapturedVar()));
    const FunctionDecl *outer = returning_;
    returning_ = lambda->getCallOperator();
    for (const ParmVarDecl *p : returning_->parameters())
      store(Places::one(object(*p)), Places::anything());
    statement(lambda->getBody());
    returning_ = outer;
    return Places::one(e);
  }
  return unseen(e);
}

/// What is seen as another type: of a field that has no room for that, the whole.
Places PointsTo::seenAs(QualType type, const Places &places) const {
  const bool parts = isRecordOrArray(type) || type->isVectorType() || type->isAnyComplexType();
  Places result{{}, places.unknown};
  for (Place p : places.known) {
    const auto *f = static_cast<const FieldDecl *>(p.field);
    if (f && (parts || !hasRoom(*f, type))) p.field = nullptr;
    result.known.insert(p);
  }
  return result;
}

Places PointsTo::castValue(const CastExpr *cast) {
  const Expr *of = cast->getSubExpr();
  switch (cast->getCastKind()) {
    case CK_LValueToRValue: {
      const Places from = place(of);
      if (isRecordOrArray(of->getType())) return from;
      if (of->getType()->isPointerType() || of->getType()->isNullPtrType()) return load(from);
      return readsBytes(from) ? Places::anything() : Places();
    }
    case CK_ArrayToPointerDecay:
      return place(of);
    case CK_FunctionToPointerDecay:
      if (!isa<DeclRefExpr>(of->IgnoreParens())) either(of);
      return {};
    case CK_NullToPointer:
    case CK_PointerToBoolean:
    case CK_ToVoid:
      either(of);
      return {};
    case CK_BitCast: {
      const Places reached = either(of);
      const bool bytes =
          cast->getType()->isPointerType() && cast->getType()->getPointeeType()->isArithmeticType();
      if (bytes) pointedAtAsBytes(reached);
      // What a structure's first member is pointed at by may be taken for the structure.
      return cast->getType()->isPointerType() ? seenAs(cast->getType()->getPointeeType(), reached)
                                              : reached;
    }
    case CK_NoOp:
    case CK_DerivedToBase:
    case CK_UncheckedDerivedToBase:
    case CK_BaseToDerived:
    case CK_ConstructorConversion:
      return either(of);
    case CK_PointerToIntegral: {
      const Places reached = value(of);
      escape(reached);
      return Places::anything();  // where this number is kept there is a pointer
    }
    case CK_IntegralToPointer:
      value(of);
      return isa<IntegerLiteral>(of->IgnoreParenImpCasts()) ? Places() : Places::anything();
    default:
      if (cast->getType()->isArithmeticType() && of->getType()->isArithmeticType()) {
        either(of);
        return {};
      }
      return unseen(cast);
  }
}

Places PointsTo::unaryValue(const UnaryOperator *op) {
  const Expr *of = op->getSubExpr();
  if (op->getOpcode() == UO_AddrOf) return of->getType()->isFunctionType() ? Places() : place(of);
  if (op->isIncrementDecrementOp()) {
    const Places at = place(of);
    if (!of->getType()->isPointerType()) return {};
    const Places moved = widened(load(at), of->getType());
    store(at, moved);
    return moved;
  }
  const Places inner = either(of);
  return op->getOpcode() == UO_Extension ? inner : Places();
}

Places PointsTo::binaryValue(const BinaryOperator *op) {
  if (op->getOpcode() == BO_Assign) {
    const Places right = value(op->getRHS());
    assign(op->getLHS()->getType(), place(op->getLHS()), right);
    return right;
  }
  if (op->isCompoundAssignmentOp()) {
    value(op->getRHS());
    const Places at = place(op->getLHS());
    if (!op->getLHS()->getType()->isPointerType()) return {};
    const Places moved = widened(load(at), op->getLHS()->getType());
    store(at, moved);
    return moved;
  }
  if (op->isPtrMemOp()) return unseen(op);
  const Places left = either(op->getLHS());
  Places right = either(op->getRHS());
  if (op->getOpcode() == BO_Comma) return right;
  if (isDistance(*op)) {
    escape(left);
    escape(right);
  }
  if (!op->getType()->isPointerType()) return {};
  right.add(left);
  return widened(right, op->getType());
}

Places PointsTo::member(const MemberExpr *m) {
  if (const auto *v = dyn_cast<VarDecl>(m->getMemberDecl())) return named(*v);
  const auto *f = dyn_cast<FieldDecl>(m->getMemberDecl());
  if (!f) return unseen(m);
  const Places base = either(m->getBase());
  Places result;
  result.unknown = base.unknown;
  const bool overlaid = f->getParent()->isUnion();
  for (const Place &p : base.known) result.known.insert({p.object, overlaid ? p.field : field(*f)});
  return f->getType()->isReferenceType() ? load(result) : result;
}

Places PointsTo::place(const Expr *e) {
  e = e->IgnoreParens();
  if (!e->isGLValue()) return value(e);
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
    if (isa<FunctionDecl>(ref->getDecl())) return {};
    if (ref->refersToEnclosingVariableOrCapture() && namesCopy(*ref, returning_))
      return Places::anything();
    const VarDecl *bound = boundVariable(*ref->getDecl());
    const auto *v = bound ? bound : dyn_cast<VarDecl>(ref->getDecl());
    if (!v || (bound && !bindsParts(*llvm::cast<DecompositionDecl>(bound))))
      return Places::anything();
    const Places self = named(*v);
    return v->getType()->isReferenceType() ? load(self) : self;
  }
  if (const auto *m = dyn_cast<MemberExpr>(e)) return member(m);
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e)) {
    either(sub->getIdx());
    return widened(value(sub->getBase()), sub->getBase()->getType());
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    if (op->getOpcode() == UO_Deref) return value(op->getSubExpr());
    if (op->isIncrementDecrementOp()) unaryValue(op);
    return place(op->getSubExpr());
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e)) {
    binaryValue(op);
    if (op->isAssignmentOp()) return place(op->getLHS());
    return op->getOpcode() == BO_Comma ? place(op->getRHS()) : Places::anything();
  }
  if (const auto *op = dyn_cast<ConditionalOperator>(e)) {
    value(op->getCond());
    Places both = place(op->getTrueExpr());
    both.add(place(op->getFalseExpr()));
    return both;
  }
  if (const auto *c = dyn_cast<CallExpr>(e)) return call(c);
  if (const auto *cast = dyn_cast<CastExpr>(e)) {
    const CastKind kind = cast->getCastKind();
    if (kind == CK_NoOp || kind == CK_LValueBitCast || kind == CK_DerivedToBase ||
        kind == CK_UncheckedDerivedToBase || kind == CK_BaseToDerived) {
      const Places reached = place(cast->getSubExpr());
      return kind == CK_LValueBitCast ? seenAs(cast->getType(), reached) : reached;
    }
    return unseen(e);
  }
  if (isa<StringLiteral, PredefinedExpr>(e)) return {};
  if (const auto *literal = dyn_cast<CompoundLiteralExpr>(e)) {
    const Places self = Places::one(e);
    initialises(e->getType(), self, literal->getInitializer());
    return self;
  }
  if (const auto *kept = dyn_cast<MaterializeTemporaryExpr>(e)) {
    const Places self = Places::one(e);
    initialises(e->getType(), self, kept->getSubExpr());
    return self;
  }
  if (const auto *full = dyn_cast<FullExpr>(e)) return place(full->getSubExpr());
  if (const auto *standing = dyn_cast<CXXDefaultArgExpr>(e)) return place(standing->getExpr());
  if (const auto *standing = dyn_cast<CXXDefaultInitExpr>(e)) return place(standing->getExpr());
  return unseen(e);
}

}  // namespace nbcc::overlap
