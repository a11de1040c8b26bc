// SPDX-License-Identifier: BSD-3-Clause
// streams.cpp - the streams' operators and methods, by their names.

#include "tools/overlap/streams.h"

#include <clang/AST/ASTContext.h>
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

bool isStandardStream(const Expr *e) {
  const auto *ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  return v && v->hasGlobalStorage() && v->isExternC() &&
         isOneOf(nameOf(*v), {"stdout", "stderr", "stdin"});
}

bool isPrintedText(QualType type) {
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
    if (isPrintedText(operand->getType())) return {true, operand};
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

bool changesStandardStream(const Stmt *s) {
  const auto *set = dyn_cast<BinaryOperator>(s);
  const auto *op = dyn_cast<UnaryOperator>(s);
  const bool sets = set && set->isAssignmentOp();
  return (sets && isStandardStream(set->getLHS())) ||
         (op && op->getOpcode() == UO_AddrOf && isStandardStream(op->getSubExpr()));
}

bool closesStandardStream(const Stmt *s) {
  const auto *call = dyn_cast<CallExpr>(s);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  if (!f || call->getNumArgs() != 1) return false;
  const Expr *what = call->getArg(0);
  if (nameOf(*f) == "fclose") return isStandardStream(what);
  if (nameOf(*f) != "close" || what->isValueDependent()) return false;
  const std::optional<llvm::APSInt> number = what->getIntegerConstantExpr(f->getASTContext());
  return number ? *number <= 2 : isa<CallExpr>(what->IgnoreParenImpCasts());
}

bool keepsMemory(llvm::StringRef function) {
  return isOneOf(
      function, {"setvbuf", "setbuf", "setbuffer", "fmemopen", "open_memstream", "fopencookie",
                 "initstate", "setstate", "register_printf_function", "register_printf_specifier"});
}

bool lendsMemory(const CallExpr &call, const FunctionDecl &called) {
  const llvm::StringRef name = nameOf(called);
  return keepsMemory(name) && !(name.starts_with("set") && call.getNumArgs() >= 2 &&
                                call.getArg(1)->isNullPointerConstant(
                                    called.getASTContext(), Expr::NPC_ValueDependentIsNotNull));
}

}  // namespace nbcc::overlap
