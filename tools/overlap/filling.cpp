// SPDX-License-Identifier: BSD-3-Clause

#include "tools/overlap/filling.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Stmt.h>

#include "tools/overlap/buffers.h"
#include "tools/overlap/known_calls.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

std::optional<Fill> fillOf(const CallExpr &call) {
  const FunctionDecl *f = call.getDirectCallee();
  const Collective *c = f && isMpi(*f) ? findCollective(f->getNameAsString()) : nullptr;
  const size_t to = c ? c->arguments.find_first_of("rb") : std::string_view::npos;
  if (to == std::string_view::npos || !c->sameOnAll || call.getNumArgs() != c->arguments.size())
    return std::nullopt;
  return Fill{c, static_cast<unsigned>(to)};
}

/// How many data it writes, and the bytes of each; none: that is not known, or none.
static std::optional<std::pair<llvm::APSInt, unsigned>> filledBy(const CallExpr &call,
                                                                 const Fill &fill,
                                                                 const ASTContext &context) {
  const std::string_view arguments = fill.kind->arguments;
  const size_t count = arguments.find('n', fill.argument),
               type = arguments.find('t', fill.argument);
  if (count == std::string_view::npos || type == std::string_view::npos) return std::nullopt;
  const auto length = call.getArg(static_cast<unsigned>(count))->getIntegerConstantExpr(context);
  const unsigned each = sizeOfType(constantName(call.getArg(static_cast<unsigned>(type)), context));
  if (!length || each == 0 || !length->isStrictlyPositive()) return std::nullopt;
  return std::pair(*length, each);
}

bool fillsAll(const CallExpr &call, const Fill &fill, QualType pointee, const ASTContext &context) {
  const auto filled = filledBy(call, fill, context);
  const auto bytes = context.getTypeSizeInChars(pointee).getQuantity();
  return filled && filled->first.sge((bytes + filled->second - 1) / filled->second);
}

bool fillsNoMore(const CallExpr &call, unsigned argument, QualType pointee,
                 const ASTContext &context) {
  const FunctionDecl *f = call.getDirectCallee();
  if (f && isMpi(*f) && (f->getName() == "MPI_Comm_rank" || f->getName() == "MPI_Comm_size"))
    return argument == 1 && context.hasSameUnqualifiedType(pointee, context.IntTy);
  const std::optional<Fill> fill = fillOf(call);
  const bool asLong = fill && (fill->kind->name == "Bcast" || fill->kind->name == "Allreduce");
  if (!asLong || fill->argument != argument) return false;
  const auto filled = filledBy(call, *fill, context);
  const auto bytes = context.getTypeSizeInChars(pointee).getQuantity();
  return filled && filled->first.sle(bytes / filled->second);
}

static const CallExpr *callIn(const Expr *e) {
  e = e->IgnoreImplicit()->IgnoreParenCasts();
  if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_LNot)
    return callIn(op->getSubExpr());
  const auto *op = dyn_cast<BinaryOperator>(e);
  if (!op) return dyn_cast<CallExpr>(e);
  if (op->getOpcode() == BO_Assign) return callIn(op->getRHS());
  if (!op->isEqualityOp()) return nullptr;
  const CallExpr *call = callIn(op->getLHS());
  return call ? call : callIn(op->getRHS());
}

const CallExpr *checkedCall(const Stmt *s) {
  const auto *e = dyn_cast<Expr>(s);
  if (const auto *check = dyn_cast<IfStmt>(s))
    e = check->getInit() || check->getConditionVariable() ? nullptr : check->getCond();
  if (const auto *declared = dyn_cast<DeclStmt>(s)) {
    const auto *code =
        declared->isSingleDecl() ? dyn_cast<VarDecl>(declared->getSingleDecl()) : nullptr;
    e = code && code->hasLocalStorage() ? code->getInit() : nullptr;
  }
  return e ? callIn(e) : nullptr;
}

bool isDoneWith(const FunctionDecl &f) {
  const llvm::StringRef name = f.getName();
  return findCollective(name.str()) || name == "MPI_Recv" || name == "MPI_Send" ||
         name == "MPI_Sendrecv" || name == "MPI_Comm_rank" || name == "MPI_Comm_size" ||
         name == "MPI_Init" || name == "MPI_Init_thread";
}

}  // namespace nbcc::overlap
