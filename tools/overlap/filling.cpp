// SPDX-License-Identifier: BSD-3-Clause

#include "tools/overlap/filling.h"

#include <clang/AST/ASTContext.h>

#include "tools/overlap/buffers.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

bool fillsAll(const CallExpr &call, const Collective &c, unsigned i, QualType pointee,
              const ASTContext &context) {
  const size_t count = c.arguments.find('n', i), type = c.arguments.find('t', i);
  if (count == std::string_view::npos || type == std::string_view::npos) return false;
  const auto length = call.getArg(static_cast<unsigned>(count))->getIntegerConstantExpr(context);
  const unsigned each = sizeOfType(constantName(call.getArg(static_cast<unsigned>(type)), context));
  const auto bytes = context.getTypeSizeInChars(pointee).getQuantity();
  return length && each > 0 && length->isStrictlyPositive() &&
         length->sge((bytes + each - 1) / each);
}

const CallExpr *checkedCall(const Expr *e) {
  e = e->IgnoreImplicit()->IgnoreParenCasts();
  if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_LNot)
    return checkedCall(op->getSubExpr());
  const auto *op = dyn_cast<BinaryOperator>(e);
  if (!op) return dyn_cast<CallExpr>(e);
  if (op->getOpcode() == BO_Assign) return checkedCall(op->getRHS());
  if (!op->isEqualityOp()) return nullptr;
  const CallExpr *call = checkedCall(op->getLHS());
  return call ? call : checkedCall(op->getRHS());
}

bool isDoneWith(const FunctionDecl &f) {
  const llvm::StringRef name = f.getName();
  return findCollective(name.str()) || name == "MPI_Recv" || name == "MPI_Send" ||
         name == "MPI_Sendrecv" || name == "MPI_Comm_rank" || name == "MPI_Comm_size" ||
         name == "MPI_Init" || name == "MPI_Init_thread";
}

}  // namespace nbcc::overlap
