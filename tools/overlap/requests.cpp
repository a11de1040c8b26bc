// SPDX-License-Identifier: BSD-3-Clause
// requests.cpp - whether what is freed may be a message's.
//
// It is none where each request that is freed, or each one of a message, is in a variable of its
// own that is only ever given to calls of MPI, and to none that begins a message, or frees one. How
// else a request may get from one place to another is not followed.

#include "tools/overlap/requests.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>

#include <algorithm>

#include "tools/overlap/buffers.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/program.h"
#include "tools/overlap/site.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;

static bool frees(const FunctionDecl &f) {
  return f.getName().ends_with("MPI_Request_free");
}

static bool begins(const FunctionDecl &f) {
  const llvm::StringRef name = f.getName().split('_').second;
  const bool message = name.contains("end") || name.contains("ecv");  // Isend, Recv_init
  return message && (name.starts_with("I") || name.contains("_init"));
}

void Requests::named(const FunctionDecl &f) {
  if (frees(f)) freed_.unknown = true;
  if (begins(f)) begun_.unknown = true;
}

/// The variable that a pointer to a request leads to, or into; null: something else.
static const VarDecl *variableOf(const Expr *request) {
  request = request->IgnoreParenCasts();
  if (const auto *op = dyn_cast<UnaryOperator>(request); op && op->getOpcode() == UO_AddrOf)
    return variableOf(op->getSubExpr());
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(request))
    return sub->getBase()->IgnoreImpCasts()->getType()->isArrayType() ? variableOf(sub->getBase())
                                                                      : nullptr;
  const auto *ref = dyn_cast<DeclRefExpr>(request);
  const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  const bool own =
      v && !isa<ParmVarDecl>(v) && !v->isExceptionVariable() && !v->getType()->isReferenceType();
  return own ? v : nullptr;
}

void Requests::called(const CallExpr &call, const FunctionDecl &of) {
  if ((!frees(of) && !begins(of)) || call.getNumArgs() == 0) return;
  Held &held = frees(of) ? freed_ : begun_;
  if (const VarDecl *v = variableOf(call.getArg(call.getNumArgs() - 1)))
    held.in.insert(v);
  else
    held.unknown = true;
}

static bool isRequest(QualType type) {
  for (const auto *named = type->getAs<TypedefType>(); named;
       named = named->desugar()->getAs<TypedefType>())
    if (named->getDecl()->getName() == "MPI_Request") return true;
  return false;
}

/// Whether a variable, or what a parameter points at, is only ever given to MPI by its address, but
/// to no call that `is` so; by functions of the program's own, too.
static bool staysApart(const VarDecl &v, const Program &program, bool (*is)(const FunctionDecl &),
                       std::set<const VarDecl *> &seen) {
  if (!seen.insert(&v).second) return true;
  const Expr *init = v.getAnyInitializer();
  if (init && constantName(init, v.getASTContext()) != "MPI_REQUEST_NULL") return false;
  return std::ranges::all_of(program.uses(v), [&](const Use &use) {
    if (!use.in) return false;
    ASTContext &context = use.in->getASTContext();
    const Stmt *at = use.ref, *p = parentOf(at, context);
    for (; p && !isa<CallExpr>(p); at = p, p = parentOf(p, context)) {
      const auto *cast = dyn_cast<ImplicitCastExpr>(p);
      const auto *op = dyn_cast<UnaryOperator>(p);
      const auto *sub = dyn_cast<ArraySubscriptExpr>(p);
      const bool leads = (cast && (cast->getCastKind() == CK_ArrayToPointerDecay ||
                                   (isa<ParmVarDecl>(v) && at == use.ref))) ||
                         (op && op->getOpcode() == UO_AddrOf) || (sub && sub->getBase() == at);
      if (!leads) return false;
    }
    const auto *call = dyn_cast_or_null<CallExpr>(p);
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    if (!f || isa<CXXMethodDecl>(f)) return false;
    const auto i = static_cast<unsigned>(std::find(call->arg_begin(), call->arg_end(), at) -
                                         call->arg_begin());
    const QualType to =
        i < f->getNumParams() ? f->getParamDecl(i)->getType()->getPointeeType() : QualType();
    if (to.isNull() || !isRequest(to)) return false;
    if (isMpi(*f)) return !is(*f);
    const FunctionDecl *body = program.definition(*f);
    return body && i < body->getNumParams() &&
           staysApart(*body->getParamDecl(i), program, is, seen);
  });
}

bool Requests::mayBeFreed(const Program &program) const {
  const auto mayMeet = [&](const Held &held, bool (*is)(const FunctionDecl &)) {
    std::set<const VarDecl *> seen;
    return held.unknown || !std::ranges::all_of(held.in, [&](const VarDecl *v) {
             return staysApart(*v, program, is, seen);
           });
  };
  if (!answer_) answer_ = mayMeet(freed_, begins) && mayMeet(begun_, frees);
  return *answer_;
}

}  // namespace nbcc::overlap
