// SPDX-License-Identifier: BSD-3-Clause
// evaluate.cpp - expressions as polynomials. Where a value cannot be told exactly, there is none.

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecordLayout.h>

#include "tools/overlap/regions.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

constexpr int kDeep = 12;

struct Deeper {
  int &depth;
  explicit Deeper(int &d) : depth(d) { ++depth; }
  ~Deeper() { --depth; }
  Deeper(const Deeper &) = delete;
  Deeper &operator=(const Deeper &) = delete;
};

bool isNumber(QualType type) {
  return type->isIntegralOrEnumerationType() && !type->isDependentType();
}

/// Addition and multiplication give what they would give without end: an overflow of a signed type
/// is the program's error, and one of 64 bits leaves the address the same.
bool isExact(QualType type, const ASTContext &context) {
  return type->isSignedIntegerType() || context.getTypeSize(type) == 64;
}

}  // namespace

Regions::Maybe Regions::value(const Expr *e, const Frame &frame) {
  const Deeper deeper(depth_);
  const ASTContext &context = site_.context();
  e = e->IgnoreParens();
  if (depth_ > kDeep * 4 || e->isValueDependent() || e->isGLValue()) return std::nullopt;
  if (isNumber(e->getType()))
    if (const std::optional<llvm::APSInt> constant = e->getIntegerConstantExpr(context)) {
      constexpr unsigned most = 48;
      if (constant->getSignificantBits() > most) return std::nullopt;
      return Value{std::nullopt, Polynomial(constant->getExtValue())};
    }
  if (const auto *constant = dyn_cast<ConstantExpr>(e)) return value(constant->getSubExpr(), frame);
  if (const auto *cast = dyn_cast<CastExpr>(e)) {
    const Expr *of = cast->getSubExpr();
    switch (cast->getCastKind()) {
      case CK_LValueToRValue: {
        const auto *ref = dyn_cast<DeclRefExpr>(of->IgnoreParens());
        const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
        if (v && !v->hasGlobalStorage() && !v->getType()->isReferenceType() &&
            (isNumber(v->getType()) || v->getType()->isPointerType()))
          return v->getType().isVolatileQualified() ? std::nullopt : variable(*v, ref, frame);
        return load(of, frame);
      }
      case CK_ArrayToPointerDecay:
        return location(of, frame);
      case CK_BitCast:
      case CK_NoOp:
        return cast->getType()->isPointerType() == of->getType()->isPointerType() &&
                       !of->isGLValue()
                   ? value(of, frame)
                   : std::nullopt;
      case CK_IntegralCast:
        return integerCast(cast, frame);
      default:
        return std::nullopt;
    }
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    if (op->getOpcode() == UO_AddrOf) return location(op->getSubExpr(), frame);
    if (op->getOpcode() == UO_Plus) return value(op->getSubExpr(), frame);
    if (op->getOpcode() != UO_Minus || !isExact(op->getType(), context)) return std::nullopt;
    const Maybe of = value(op->getSubExpr(), frame);
    if (!of || of->base) return std::nullopt;
    return Value{std::nullopt, Polynomial() - of->offset};
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e)) return arithmetic(op, frame);
  if (isa<CXXThisExpr>(e)) return self(frame);
  if (const auto *call = dyn_cast<CallExpr>(e)) return returned(call, frame);
  return std::nullopt;
}

Regions::Maybe Regions::integerCast(const CastExpr *cast, const Frame &frame) {
  const ASTContext &context = site_.context();
  const QualType from = cast->getSubExpr()->getType(), to = cast->getType();
  if (!isNumber(from) || !isNumber(to) || to->isBooleanType()) return std::nullopt;
  const auto narrow = context.getTypeSize(to) < context.getTypeSize(from);
  const bool sameSize = context.getTypeSize(to) == context.getTypeSize(from);
  const bool wraps =
      from->isSignedIntegerOrEnumerationType() != to->isSignedIntegerOrEnumerationType() &&
      (sameSize || from->isSignedIntegerOrEnumerationType());
  if (narrow || (wraps && context.getTypeSize(to) != 64)) return std::nullopt;
  return value(cast->getSubExpr(), frame);
}

Regions::Maybe Regions::arithmetic(const BinaryOperator *op, const Frame &frame) {
  const ASTContext &context = site_.context();
  const BinaryOperatorKind kind = op->getOpcode();
  if (op->isAssignmentOp() || op->isComparisonOp() || op->isLogicalOp() || kind == BO_Comma ||
      op->isPtrMemOp())
    return std::nullopt;
  const Maybe a = value(op->getLHS(), frame), b = a ? value(op->getRHS(), frame) : std::nullopt;
  if (!a || !b) return std::nullopt;
  if (a->base || b->base) {  // a pointer and a number
    if ((kind != BO_Add && kind != BO_Sub) || (a->base && b->base) || (b->base && kind == BO_Sub))
      return std::nullopt;
    const QualType type = op->getType();
    if (!type->isPointerType()) return std::nullopt;
    const QualType element = type->getPointeeType();
    std::int64_t size = 1;
    if (!element->isVoidType()) {
      if (element->isIncompleteType() || element->isFunctionType() ||
          !element->isConstantSizeType())
        return std::nullopt;
      size = context.getTypeSizeInChars(element).getQuantity();
    }
    const Value &pointer = a->base ? *a : *b;
    const Polynomial by = (a->base ? *b : *a).offset * Polynomial(size);
    return Value{pointer.base, kind == BO_Add ? pointer.offset + by : pointer.offset - by};
  }
  const auto number = [](Polynomial p) { return Value{std::nullopt, std::move(p)}; };
  const std::optional<std::int64_t> right = b->offset.constant(), left = a->offset.constant();
  const auto isMask = [](std::optional<std::int64_t> c) {
    return c && *c > 0 && ((*c + 1) & *c) == 0;
  };
  if (kind == BO_Rem && right && *right > 0) return remainder(*a, *right, op);
  if (kind == BO_And && isMask(right)) return remainder(*a, *right + 1, op);
  if (kind == BO_And && isMask(left)) return remainder(*b, *left + 1, op);
  if (kind == BO_Xor && right == 1) {  // x + 1 where x is even, x - 1 where it is odd
    return number(withLastBitFlipped(a->offset));
  }
  if (!isExact(op->getType(), context)) return std::nullopt;
  switch (kind) {
    case BO_Add:
      return number(a->offset + b->offset);
    case BO_Sub:
      return number(a->offset - b->offset);
    case BO_Mul:
      return number(a->offset * b->offset);
    case BO_Shl: {
      constexpr std::int64_t most = 30;
      if (!right || *right < 0 || *right > most) return std::nullopt;
      return number(a->offset * Polynomial(std::int64_t{1} << *right));
    }
    default:
      return std::nullopt;
  }
}

/// a - by q, rounded down where & asks, or % of what has wrapped around: that divides 2^64. Of a
/// signed number % rounds towards zero, which is another q.
Regions::Maybe Regions::remainder(const Value &of, std::int64_t by, const BinaryOperator *op) {
  if (of.base) return std::nullopt;
  const bool power = (by & (by - 1)) == 0;
  const bool down = op->getOpcode() == BO_And || !op->getType()->isSignedIntegerType();
  if (down && !power && !isNeverNegative(of.offset, facts_)) return std::nullopt;
  const Symbol quotient = symbols_.of({Meaning::quotient, nullptr, down ? -by : by, of.offset});
  return Value{std::nullopt, of.offset - Polynomial::of(quotient) * Polynomial(by)};
}

/// x + 1 or x - 1.
Polynomial Regions::withLastBitFlipped(const Polynomial &x) {
  const Symbol bit = symbols_.of({Meaning::quotient, nullptr, 0, x});
  return x + Polynomial(1) - Polynomial::of(bit) * Polynomial(2);
}

/// What a function returns that does nothing else.
Regions::Maybe Regions::returned(const CallExpr *call, const Frame &frame) {
  const FunctionDecl *callee = call->getDirectCallee();
  const FunctionDecl *body = callee ? program_.body(*callee) : nullptr;
  const auto *block = body ? dyn_cast<CompoundStmt>(body->getBody()) : nullptr;
  if (!block || block->size() != 1 || isa<CXXOperatorCallExpr>(call) || depth_ > kDeep ||
      body->getReturnType()->isReferenceType())
    return std::nullopt;
  const auto *result = dyn_cast<ReturnStmt>(block->body_front());
  if (!result || !result->getRetValue()) return std::nullopt;
  if (!program_.memory(*body).notUnderstood().empty()) return std::nullopt;
  return value(result->getRetValue(), {body, call, &frame});
}

Regions::Maybe Regions::self(const Frame &frame) {
  if (!frame.outer) return symbol({Meaning::self, frame.f}, true);
  const auto *call = dyn_cast<CXXMemberCallExpr>(frame.call);
  if (!call) return std::nullopt;
  const Expr *object = call->getImplicitObjectArgument();
  return object->isGLValue() ? location(object, *frame.outer) : value(object, *frame.outer);
}

Regions::Maybe Regions::location(const Expr *e, const Frame &frame) {
  const Deeper deeper(depth_);
  const ASTContext &context = site_.context();
  e = e->IgnoreParens();
  if (depth_ > kDeep * 4 || !e->isGLValue()) return std::nullopt;
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
    const auto *v = dyn_cast<VarDecl>(ref->getDecl());
    if (!v || v->getTLSKind() != VarDecl::TLS_None) return std::nullopt;
    if (!v->getType()->isReferenceType()) {
      // A called function's own variables are not among the effects of its call.
      if (frame.outer && !v->hasGlobalStorage()) return std::nullopt;
      return symbol({Meaning::address, v->getCanonicalDecl()}, true);
    }
    const auto *p = dyn_cast<ParmVarDecl>(v);
    if (!p || v->hasGlobalStorage()) return std::nullopt;
    if (!frame.outer) return symbol({Meaning::address, v->getCanonicalDecl()}, true);
    const unsigned i = p->getFunctionScopeIndex();
    if (isa<CXXOperatorCallExpr>(frame.call) || i >= frame.call->getNumArgs()) return std::nullopt;
    return location(frame.call->getArg(i), *frame.outer);
  }
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e)) {
    const QualType type = sub->getType();
    if (type->isIncompleteType() || !type->isConstantSizeType()) return std::nullopt;
    const Maybe base = value(sub->getBase(), frame), index = value(sub->getIdx(), frame);
    if (!base || !base->base || !index || index->base) return std::nullopt;
    const Polynomial size(context.getTypeSizeInChars(type).getQuantity());
    return Value{base->base, base->offset + index->offset * size};
  }
  if (const auto *member = dyn_cast<MemberExpr>(e)) {
    const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
    if (!field || field->isBitField() || field->getType()->isReferenceType() ||
        field->getParent()->isInvalidDecl() || field->getParent()->isDependentType())
      return std::nullopt;
    const Maybe base =
        member->isArrow() ? value(member->getBase(), frame) : location(member->getBase(), frame);
    if (!base || !base->base) return std::nullopt;
    const auto bits =
        context.getASTRecordLayout(field->getParent()).getFieldOffset(field->getFieldIndex());
    return Value{
        base->base,
        base->offset +
            Polynomial(context.toCharUnitsFromBits(static_cast<int64_t>(bits)).getQuantity())};
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_Deref)
    return value(op->getSubExpr(), frame);
  if (const auto *cast = dyn_cast<CastExpr>(e);
      cast && (cast->getCastKind() == CK_NoOp || cast->getCastKind() == CK_LValueBitCast))
    return location(cast->getSubExpr(), frame);
  return std::nullopt;
}

/// What is in memory, if that stays the same.
Regions::Maybe Regions::load(const Expr *e, const Frame &frame) {
  e = e->IgnoreParens();
  const QualType type = e->getType();
  if (type.isVolatileQualified() || type->isAtomicType() ||
      (!isNumber(type) && !type->isPointerType()))
    return std::nullopt;
  const Places places = program_.memory(*frame.f).designated(e).whole;
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e); sub && type->isPointerType())
    if (const ValueDecl *array = ElementUses::arrayOf(sub);
        array && program_.elementsApart(*array, places))
      if (const Maybe index = value(sub->getIdx(), frame); index && !index->base)
        return symbol({Meaning::element, array->getCanonicalDecl(), 0, index->offset}, true);
  const Maybe at = location(e, frame);
  if (!at || !at->base || !unchanged(places)) return std::nullopt;
  return symbol({Meaning::loaded, type.getCanonicalType().getUnqualifiedType().getAsOpaquePtr(),
                 *at->base, at->offset},
                type->isPointerType());
}

}  // namespace nbcc::overlap
