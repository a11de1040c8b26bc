// SPDX-License-Identifier: BSD-3-Clause
// algorithms.cpp - the table, and what its functions may be given.

#include "tools/overlap/algorithms.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include "tools/overlap/memory.h"
#include "tools/overlap/site.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

// With as many arguments as letters, so without an execution policy or a function of the program's.
constexpr KnownCall algorithms[] = {
    {"fill", CallKind::plain, "we-"},           {"fill_n", CallKind::plain, "w--"},
    {"iota", CallKind::plain, "we-"},           {"copy", CallKind::plain, "rew"},
    {"copy_n", CallKind::plain, "r-w"},         {"copy_backward", CallKind::plain, "rew"},
    {"swap_ranges", CallKind::plain, "ueu"},    {"replace", CallKind::plain, "ue--"},
    {"reverse", CallKind::plain, "ue"},         {"sort", CallKind::plain, "ue"},
    {"is_sorted", CallKind::plain, "re"},       {"count", CallKind::plain, "re-"},
    {"equal", CallKind::plain, "rer"},          {"accumulate", CallKind::plain, "re-"},
    {"reduce", CallKind::plain, "re-"},         {"inner_product", CallKind::plain, "rer-"},
    {"partial_sum", CallKind::plain, "rew"},    {"adjacent_difference", CallKind::plain, "rew"},
    {"inclusive_scan", CallKind::plain, "rew"}, {"exclusive_scan", CallKind::plain, "rew-"},
};

bool isNumber(QualType type) {
  return type.getNonReferenceType()->isArithmeticType();
}

bool isBeginOrEnd(const FunctionDecl &f) {
  if (!f.getIdentifier()) return false;
  const llvm::StringRef name = f.getName();
  return name == "begin" || name == "end" || name == "cbegin" || name == "cend";
}

/// As partsOf(); empty: it is no iterator.
std::vector<const Expr *> iteratorParts(const Expr *e) {
  e = e->IgnoreImplicit()->IgnoreParens();
  if (const auto *made = dyn_cast<CXXConstructExpr>(e); made && made->isElidable())
    return iteratorParts(made->getArg(0));
  const auto *call = dyn_cast<CallExpr>(e);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  if (!f) return {};
  if (const auto *op = dyn_cast<CXXOperatorCallExpr>(call)) {
    const bool moves = op->getOperator() == OO_Plus || op->getOperator() == OO_Minus;
    if (!moves || op->getNumArgs() != 2 || !op->getArg(1)->getType()->isIntegerType()) return {};
    std::vector<const Expr *> parts = iteratorParts(op->getArg(0));
    if (!parts.empty()) parts.push_back(op->getArg(1));
    return parts;
  }
  if (!isBeginOrEnd(*f)) return {};
  if (const auto *method = dyn_cast<CXXMemberCallExpr>(call)) {
    if (!isContainerOfNumbers(method->getObjectType())) return {};
    return {method->getImplicitObjectArgument()};
  }
  const bool ofContainer = f->isInStdNamespace() && call->getNumArgs() == 1 &&
                           isContainerOfNumbers(call->getArg(0)->getType());
  if (!ofContainer) return {};
  return {call->getArg(0)};
}

bool fits(const Expr *argument, char letter) {
  const QualType type = argument->getType();
  if (letter == '-') return isNumber(type);
  if (type->isPointerType())
    return isNumber(type->getPointeeType()) && !type->getPointeeType().isVolatileQualified();
  return !iteratorParts(argument).empty();
}

/// What is returned points nowhere, or is let go at once.
bool keepsNothing(const CallExpr &call, ASTContext &context) {
  if (call.getType()->isVoidType() || call.getType()->isArithmeticType()) return true;
  const Stmt *parent = parentOf(&call, context);
  while (parent && isa<FullExpr, ParenExpr, CXXBindTemporaryExpr>(parent))
    parent = parentOf(parent, context);
  return parent && isa<CompoundStmt>(parent);
}

}  // namespace

const KnownCall *findAlgorithm(const CallExpr &call) {
  const FunctionDecl *f = call.getDirectCallee();
  if (!f || !f->getIdentifier() || !f->isInStdNamespace() || isa<CXXMethodDecl>(f)) return nullptr;
  for (const KnownCall &k : algorithms) {
    if (f->getName() != llvm::StringRef(k.name) || call.getNumArgs() != k.arguments.size())
      continue;
    for (unsigned i = 0; i < call.getNumArgs(); ++i)
      if (!fits(call.getArg(i), k.arguments[i])) return nullptr;
    return keepsNothing(call, f->getASTContext()) ? &k : nullptr;
  }
  return nullptr;
}

std::vector<const Expr *> partsOf(const Expr *argument) {
  std::vector<const Expr *> parts = iteratorParts(argument);
  return parts.empty() ? std::vector<const Expr *>{argument} : parts;
}

}  // namespace nbcc::overlap
