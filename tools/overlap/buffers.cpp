// SPDX-License-Identifier: BSD-3-Clause
// buffers.cpp - lengths of buffers, as far as they are constants.

#include "tools/overlap/buffers.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <set>

#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

bool comesWithMpi(FileID file, const SourceManager &files) {
  for (; file.isValid() && file != files.getMainFileID();
       file = files.getFileID(files.getIncludeLoc(file))) {
    const OptionalFileEntryRef entry = files.getFileEntryRefForID(file);
    if (entry && llvm::sys::path::filename(entry->getName()) == "mpi.h") return true;
  }
  return false;
}

/// Not in the program's own sources, which may define a macro anew.
static bool isOfMpi(SourceLocation at, const SourceManager &files) {
  return files.isInSystemHeader(at) || comesWithMpi(files.getFileID(at), files);
}

std::string constantName(const Expr *e, const ASTContext &context) {
  const SourceManager &files = context.getSourceManager();
  std::set<FileID> ends;  // expansions that it ends in
  for (SourceLocation at = e->getEndLoc(); at.isMacroID();
       at = files.getImmediateMacroCallerLoc(at))
    ends.insert(files.getFileID(at));
  for (SourceLocation at = e->getBeginLoc(); at.isMacroID();
       at = files.getImmediateMacroCallerLoc(at)) {
    const llvm::StringRef name = Lexer::getImmediateMacroName(at, files, context.getLangOpts());
    if (isMpiConstant(name.str()))  // of several macros below each other
      return ends.contains(files.getFileID(at)) && isOfMpi(files.getSpellingLoc(at), files)
                 ? name.str()
                 : "";
  }
  const auto *ref = dyn_cast<DeclRefExpr>(e->IgnoreParenCasts());
  const std::string name = ref ? ref->getDecl()->getNameAsString() : "";
  const bool own = ref && isa<VarDecl, BindingDecl>(ref->getDecl());
  return own && isMpiConstant(name) ? "" : name;
}

bool isMpiConstant(std::string_view name) {
  return name.starts_with("MPI_") &&
         std::ranges::all_of(name, [](char c) { return c < 'a' || c > 'z'; });
}

bool isMpiOperator(std::string_view name) {
  static constexpr std::string_view operators[] = {
      "MPI_SUM", "MPI_PROD", "MPI_MAX",  "MPI_MIN", "MPI_MAXLOC", "MPI_MINLOC",  "MPI_LAND",
      "MPI_LOR", "MPI_LXOR", "MPI_BAND", "MPI_BOR", "MPI_BXOR",   "MPI_REPLACE", "MPI_NO_OP",
  };
  return std::ranges::find(operators, name) != std::end(operators);
}

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

namespace {

/// Whether a count says how much there is at the argument, rather than how much for each rank.
bool countsAll(const Signature &c, char what) {
  if (c.arguments.find('d') != std::string_view::npos) return true;  // a message
  const std::string_view name = c.name;
  if (name == "Bcast" || name == "Reduce" || name == "Allreduce" || name == "Scan" ||
      name == "Exscan")
    return true;
  if (name.starts_with("Gather") || name.starts_with("Allgather") ||
      name.starts_with("Neighbor_allgather"))
    return what == 's';
  return name.starts_with("Scatter") && what == 'r';
}

bool fits(const CallExpr &call, const Signature &c, unsigned i, const ASTContext &context) {
  const size_t count = c.arguments.find('n', i), type = c.arguments.find('t', i);
  if (!countsAll(c, c.arguments[i]) || count == std::string_view::npos) return false;
  const auto *op = dyn_cast<UnaryOperator>(call.getArg(i)->IgnoreParenCasts());
  const Expr *named =
      op && op->getOpcode() == UO_AddrOf ? op->getSubExpr() : call.getArg(i)->IgnoreParenCasts();
  const auto *member = dyn_cast<MemberExpr>(named->IgnoreParens());
  if (!member || (!op && !member->getType()->isArrayType()) || member->getType()->isDependentType())
    return false;
  if (member->getMemberDecl()->hasAttr<NoUniqueAddressAttr>()) return false;  // others are in it
  const std::optional<llvm::APSInt> length =
      call.getArg(static_cast<unsigned>(count))->getIntegerConstantExpr(context);
  const unsigned each = sizeOfType(constantName(call.getArg(static_cast<unsigned>(type)), context));
  const auto room = context.getTypeSizeInChars(member->getType()).getQuantity();
  return length && each > 0 && !length->isNegative() &&
         length->getExtValue() <= static_cast<int64_t>(room / each);
}

/// Whether it points at elements of a vector, which lie in memory of their own, wherever the vector
/// is.
bool isOfVector(const Expr *e) {
  e = e->IgnoreParenCasts();
  if (const auto *op = dyn_cast<BinaryOperator>(e); op && op->isAdditiveOp())
    return isOfVector(op->getLHS()->getType()->isPointerType() ? op->getLHS() : op->getRHS());
  if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_AddrOf) {
    const auto *at = dyn_cast<CXXOperatorCallExpr>(op->getSubExpr()->IgnoreParens());
    return at && at->getOperator() == OO_Subscript &&
           isContainerOfNumbers(at->getArg(0)->getType());
  }
  const auto *call = dyn_cast<CXXMemberCallExpr>(e);
  return call && call->getMethodDecl() && call->getMethodDecl()->getIdentifier() &&
         call->getMethodDecl()->getName() == "data" && isContainerOfNumbers(call->getObjectType());
}

}  // namespace

Objects bufferOf(const CallExpr &call, const Signature &c, unsigned i, const Memory &memory,
                 const Program &program) {
  const ASTContext &context = memory.function()->getASTContext();
  Objects all = memory.pointedAt(call.getArg(i));
  const size_t type = c.arguments.find_first_of("tT", i);
  const bool isBuffer = c.arguments[i] != 'a' && c.arguments[i] != 'T';
  if (program.takesAddresses() && isBuffer && type != std::string_view::npos &&
      !isMpiConstant(constantName(call.getArg(static_cast<unsigned>(type)), context)))
    all.add(Objects::anything());
  if (!isOfVector(call.getArg(i)) && !fits(call, c, i, context)) all.whole = all.whole.wholes();
  return all;
}

// With counts for each rank, or places given by displacements, no end is known, or not even the
// begin.
Access accessOf(const CallExpr &call, const Signature &c, unsigned i, const ASTContext &context) {
  const char what = c.arguments[i];
  Access result{Access::anywhere, call.getArg(i), nullptr, nullptr, 1, {}};
  if (what == 'a' || what == 'T') result.extent = Access::upwards;
  const size_t next = i + 1;
  if ((what != 's' && what != 'r' && what != 'b') || next >= c.arguments.size() ||
      c.arguments[next] == 'a')
    return result;
  const size_t count = c.arguments.find('n', i), type = c.arguments.find('t', i);
  if (type == std::string_view::npos) return result;
  const unsigned each = sizeOfType(constantName(call.getArg(static_cast<unsigned>(type)), context));
  if (each == 0) return result;
  result.extent = Access::upwards;
  if (!countsAll(c, what) || count == std::string_view::npos) return result;
  result.extent = Access::counted;
  result.count = call.getArg(static_cast<unsigned>(count));
  result.each = each;
  return result;
}

}  // namespace nbcc::overlap
