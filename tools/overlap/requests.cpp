// SPDX-License-Identifier: BSD-3-Clause
// requests.cpp - requests by the names of what holds them.

#include "tools/overlap/requests.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include <algorithm>

#include "tools/overlap/buffers.h"
#include "tools/overlap/program.h"
#include "tools/overlap/site.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

/// The variable or field that a pointer to a request leads to, or into; of a pointer that itself.
static const ValueDecl *holderOf(const Expr *request) {
  request = request->IgnoreParenCasts();
  if (request->isTypeDependent()) return nullptr;
  if (const auto *op = dyn_cast<UnaryOperator>(request); op && op->getOpcode() == UO_AddrOf)
    return holderOf(op->getSubExpr());
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(request)) return holderOf(sub->getBase());
  if (const auto *sum = dyn_cast<BinaryOperator>(request); sum && sum->isAdditiveOp())
    return holderOf(sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS());
  if (const auto *member = dyn_cast<MemberExpr>(request)) return member->getMemberDecl();
  const auto *ref = dyn_cast<DeclRefExpr>(request);
  return ref ? ref->getDecl() : nullptr;
}

static bool isRequest(QualType type) {
  if (type.isNull()) return false;  // in a template
  for (const auto *named = type->getAs<TypedefType>(); named;
       named = named->desugar()->getAs<TypedefType>())
    if (named->getDecl()->getName() == "MPI_Request") return true;
  return false;
}

/// Also arrays of them, and what points at one.
static bool holdsRequest(QualType type) {
  for (;;) {
    if (isRequest(type)) return true;
    type = type.getNonReferenceType();
    if (type->isPointerType())
      type = type->getPointeeType();
    else if (const ArrayType *array = type->getAsArrayTypeUnsafe())
      type = array->getElementType();
    else
      return false;
  }
}

static bool frees(const FunctionDecl &f) {
  return f.getName().ends_with("MPI_Request_free");
}

static bool begins(const FunctionDecl &f) {
  llvm::StringRef name = f.getName();
  name.consume_front("P");
  name.consume_front("MPI_");
  const bool message = name.contains("end") || name.contains("ecv");  // Isend, Recv_init
  return message && (name.starts_with("I") || name.contains("_init"));
}

void Requests::named(const FunctionDecl &f) {
  if (frees(f)) freed_.insert("");
  if (begins(f)) lent_.insert("");
  unknown_ = unknown_ || frees(f);
  passedOn_ = passedOn_ || begins(f);
}

/// Where it is none of a call of MPI, it may be had by another name there.
void Requests::used(const Expr &name, const FunctionDecl *in) {
  if (passedOn_ || name.getType().isNull() || !holdsRequest(name.getType())) return;
  const auto *member = dyn_cast<MemberExpr>(&name);
  const auto *field = member ? dyn_cast<FieldDecl>(member->getMemberDecl()) : nullptr;
  if (field && field->getParent()->isUnion()) passedOn_ = true;
  const Stmt *at = &name, *p = nullptr;
  for (; in && (p = parentOf(at, in->getASTContext())); at = p) {
    if (const auto *call = dyn_cast<CallExpr>(p)) {
      const FunctionDecl *f = call->getDirectCallee();
      passedOn_ = passedOn_ || !f || !isMpi(*f);
      return;
    }
    const auto *op = dyn_cast<BinaryOperator>(p);
    if (op && (op->isComparisonOp() || (op->getOpcode() == BO_Assign && op->getLHS() == at)))
      return;
    const auto *cast = dyn_cast<CastExpr>(p);
    if (cast && cast->getCastKind() == CK_ToVoid) return;
    const auto *to = dyn_cast<UnaryOperator>(p);
    const bool goesOn = cast || llvm::isa<ParenExpr, ArraySubscriptExpr>(p) ||
                        (op && op->isAdditiveOp()) || (to && to->getOpcode() == UO_AddrOf) ||
                        (to && to->getOpcode() == UO_Deref);
    if (!goesOn) break;
  }
  passedOn_ = true;
}

void Requests::called(const CallExpr &call, const FunctionDecl &of) {
  const bool frees = overlap::frees(of), begins = overlap::begins(of);
  if ((!frees && !begins) || call.getNumArgs() == 0) return;
  const ValueDecl *in = holderOf(call.getArg(call.getNumArgs() - 1));
  const bool pointer = !in || (in->getType()->isPointerType() && !isRequest(in->getType()));
  (frees ? freed_ : lent_).insert(in ? nameInAll(*in) : "");
  unknown_ = unknown_ || (frees && pointer);
  passedOn_ = passedOn_ || (begins && (!in || (pointer && llvm::isa<ParmVarDecl>(in))));
}

void Requests::given(const Expr &value, const ASTContext &context) {
  const Expr *e = value.IgnoreParenImpCasts();
  const auto *op = dyn_cast<UnaryOperator>(e);
  const bool copy = isRequest(e->getType()) && constantName(e, context) != "MPI_REQUEST_NULL";
  const bool place = op && op->getOpcode() == UO_AddrOf && isRequest(op->getSubExpr()->getType());
  passedOn_ = passedOn_ || copy || place;
}

bool Requests::mayBeFreed() const {
  if (freed_.empty() || lent_.empty()) return false;
  return unknown_ || passedOn_ ||
         std::ranges::any_of(freed_, [&](const std::string &r) { return lent_.contains(r); });
}

}  // namespace nbcc::overlap
