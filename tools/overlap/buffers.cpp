// SPDX-License-Identifier: BSD-3-Clause
// buffers.cpp - lengths of buffers, as far as they are constants.

#include "tools/overlap/buffers.h"

#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

std::string constantName(const Expr *e, const ASTContext &context) {
  const SourceManager &files = context.getSourceManager();
  for (SourceLocation at = e->getBeginLoc(); at.isMacroID();
       at = files.getImmediateMacroCallerLoc(at)) {
    const llvm::StringRef name = Lexer::getImmediateMacroName(at, files, context.getLangOpts());
    if (isMpiConstant(name.str())) return name.str();  // of several macros below each other
  }
  const auto *ref = dyn_cast<DeclRefExpr>(e->IgnoreParenCasts());
  return ref ? ref->getDecl()->getNameAsString() : "";
}

bool isMpiConstant(std::string_view name) {
  return name.starts_with("MPI_") &&
         std::ranges::all_of(name, [](char c) { return c < 'a' || c > 'z'; });
}

namespace {

/// Bytes of a datatype that has the same size everywhere here; 0: it is not known.
unsigned sizeOfType(std::string_view name) {
  struct Type {
    std::string_view name;
    unsigned bytes;
  };
  static constexpr Type types[] = {
      {"MPI_BYTE", 1},      {"MPI_CHAR", 1},    {"MPI_INT", 4},     {"MPI_UNSIGNED", 4},
      {"MPI_FLOAT", 4},     {"MPI_DOUBLE", 8},  {"MPI_LONG", 8},    {"MPI_UNSIGNED_LONG", 8},
      {"MPI_LONG_LONG", 8}, {"MPI_INT32_T", 4}, {"MPI_INT64_T", 8}, {"MPI_UINT64_T", 8},
  };
  const auto found = std::ranges::find(types, name, &Type::name);
  return found == std::end(types) ? 0 : found->bytes;
}

/// Whether a count says how much there is at the argument, rather than how much for each rank.
bool countsAll(const Collective &c, char what) {
  const std::string_view name = c.name;
  if (name == "Bcast" || name == "Reduce" || name == "Allreduce" || name == "Scan" ||
      name == "Exscan")
    return true;
  if (name == "Gather" || name == "Allgather") return what == 's';
  return name == "Scatter" && what == 'r';
}

bool fits(const CallExpr &call, const Collective &c, unsigned i, const ASTContext &context) {
  const size_t count = c.arguments.find('n', i), type = c.arguments.find('t', i);
  if (!countsAll(c, c.arguments[i]) || count == std::string_view::npos) return false;
  const auto *op = dyn_cast<UnaryOperator>(call.getArg(i)->IgnoreParenCasts());
  const Expr *named =
      op && op->getOpcode() == UO_AddrOf ? op->getSubExpr() : call.getArg(i)->IgnoreParenCasts();
  const auto *member = dyn_cast<MemberExpr>(named->IgnoreParens());
  if (!member || (!op && !member->getType()->isArrayType()) || member->getType()->isDependentType())
    return false;
  const std::optional<llvm::APSInt> length =
      call.getArg(static_cast<unsigned>(count))->getIntegerConstantExpr(context);
  const unsigned each = sizeOfType(constantName(call.getArg(static_cast<unsigned>(type)), context));
  const auto room = context.getTypeSizeInChars(member->getType()).getQuantity();
  return length && each > 0 && !length->isNegative() &&
         length->getExtValue() <= static_cast<int64_t>(room / each);
}

}  // namespace

Objects bufferOf(const CallExpr &call, const Collective &c, unsigned i, const Memory &memory,
                 const ASTContext &context) {
  Objects all = memory.pointedAt(call.getArg(i));
  if (!fits(call, c, i, context)) all.whole = all.whole.wholes();
  return all;
}

}  // namespace nbcc::overlap
