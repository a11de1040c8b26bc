// SPDX-License-Identifier: BSD-3-Clause
// streams.cpp - the streams' operators and methods, by their names.

#include "tools/overlap/streams.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/ADT/STLExtras.h>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

bool isOneOf(llvm::StringRef name, std::initializer_list<const char *> names) {
  return llvm::any_of(names, [&](const char *one) { return name == one; });
}

llvm::StringRef nameOf(const NamedDecl &d) {
  return d.getIdentifier() ? d.getName() : "";
}

/// cout, and what an operator gives that printed to it.
bool isTerminal(const Expr *stream) {
  stream = stream->IgnoreParenImpCasts();
  if (const auto *op = dyn_cast<CXXOperatorCallExpr>(stream)) return printed(*op).isPrint;
  const auto *ref = dyn_cast<DeclRefExpr>(stream);
  return ref && ref->getDecl()->isInStdNamespace() && isOfSystem(*ref->getDecl()) &&
         isOneOf(nameOf(*ref->getDecl()), {"cout", "cerr", "clog"});
}

bool isText(QualType type) {
  if (type->isPointerType()) return type->getPointeeType()->isCharType();
  return isString(type);
}

/// std::endl, std::fixed; setw(9).
bool isManipulation(const Expr *operand) {
  operand = operand->IgnoreParenImpCasts();
  const auto *ref = dyn_cast<DeclRefExpr>(operand);
  if (ref && isa<FunctionDecl>(ref->getDecl()))
    return ref->getDecl()->isInStdNamespace() && isOfSystem(*ref->getDecl());
  const CXXRecordDecl *record = operand->getType()->getAsCXXRecordDecl();
  return record && record->isInStdNamespace() &&
         isOneOf(nameOf(*record), {"_Setw", "_Setprecision", "_Setfill"});
}

}  // namespace

Printed printed(const CallExpr &call) {
  const FunctionDecl *f = call.getDirectCallee();
  if (!f || !isOfSystem(*f)) return {};
  if (const auto *op = dyn_cast<CXXOperatorCallExpr>(&call)) {
    if (op->getOperator() != OO_LessLess || op->getNumArgs() != 2 || !isTerminal(op->getArg(0)))
      return {};
    const Expr *operand = op->getArg(1);
    if (operand->getType()->isArithmeticType() || isManipulation(operand)) return {true};
    if (isText(operand->getType())) return {true, operand};
    return {};
  }
  const auto *method = dyn_cast<CXXMemberCallExpr>(&call);
  return {method && isTerminal(method->getImplicitObjectArgument()) &&
          isOneOf(nameOf(*f), {"flush", "precision", "width", "fill", "setf", "unsetf", "flags"})};
}

bool isManipulator(const FunctionDecl &f) {
  return f.isInStdNamespace() && isOfSystem(f) &&
         isOneOf(nameOf(f), {"setw", "setprecision", "setfill"});
}

bool mayChangeStreams(const NamedDecl &d) {
  const auto *method = dyn_cast<CXXMethodDecl>(&d);
  if (!method || !method->getParent()->isInStdNamespace() ||
      !isOneOf(nameOf(*method->getParent()),
               {"ios_base", "basic_ios", "basic_istream", "basic_ostream", "basic_iostream",
                "basic_streambuf", "locale"}))
    return false;
  // Some are protected, and are reached by a pointer to a member of a class that is derived.
  return isOneOf(nameOf(d), {"imbue", "global", "pubsetbuf", "setbuf", "register_callback",
                             "copyfmt", "set_rdbuf", "init", "swap", "move", "setp", "setg"}) ||
         (method->getNumParams() > 0 && isOneOf(nameOf(d), {"rdbuf", "exceptions", "tie"}));
}

}  // namespace nbcc::overlap
