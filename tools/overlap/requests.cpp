// SPDX-License-Identifier: BSD-3-Clause
// requests.cpp - whether what is freed may be a message's: not if the variable that it is in is
// only ever given to MPI, and to none of its calls that begin a message.

#include "tools/overlap/requests.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include <algorithm>

#include "tools/overlap/buffers.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/program.h"
#include "tools/overlap/site.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;

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
  unknown_ = unknown_ || frees(f);
  begun_ = begun_ || begins(f);
}

void Requests::called(const CallExpr &call, const FunctionDecl &of) {
  begun_ = begun_ || begins(of);
  if (!frees(of) || call.getNumArgs() == 0) return;
  const auto *op = dyn_cast<UnaryOperator>(call.getArg(0)->IgnoreParenCasts());
  const bool address = op && op->getOpcode() == UO_AddrOf;
  const auto *ref = address ? dyn_cast<DeclRefExpr>(op->getSubExpr()->IgnoreParens()) : nullptr;
  const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  if (v && !llvm::isa<ParmVarDecl>(v) && !v->isExceptionVariable() &&
      !v->getType()->isReferenceType())
    freed_.push_back(v);
  else
    unknown_ = true;
}

/// &request, given to a call of MPI that begins no message.
static bool isOfNoMessage(const Use &use) {
  ASTContext *context = use.in ? &use.in->getASTContext() : nullptr;
  const auto *op = dyn_cast_or_null<UnaryOperator>(context ? parentOf(use.ref, *context) : nullptr);
  const bool address = op && op->getOpcode() == UO_AddrOf;
  const auto *call = dyn_cast_or_null<CallExpr>(address ? parentOf(op, *context) : nullptr);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  return f && isMpi(*f) && !begins(*f);
}

bool Requests::mayBeFreed(const Program &program) const {
  const auto mayBeMessages = [&](const VarDecl *v) {
    const Expr *init = v->getAnyInitializer();
    return (init && constantName(init, v->getASTContext()) != "MPI_REQUEST_NULL") ||
           !std::ranges::all_of(program.uses(*v), isOfNoMessage);
  };
  return begun_ && (unknown_ || std::ranges::any_of(freed_, mayBeMessages));
}

}  // namespace nbcc::overlap
