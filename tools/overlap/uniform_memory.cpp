// SPDX-License-Identifier: BSD-3-Clause
// uniform_memory.cpp - whether what memory without a name holds is the same on all ranks: that of
// malloc() and new, and the elements of vectors.
//
//   double *sums = malloc(2 * sizeof *sums);   MPI_Allreduce(..., sums, 2, ...);   if (sums[0] <
//   least) ... std::vector<int> sizes(ranks);   MPI_Allgather(..., sizes.data(), ...);   n =
//   sizes[0] + sizes[1];
//
// Whoever allocates it has it alone, so only what is done by the pointer, or by those that it is
// copied to, can change it: they are followed as what they point at. Whether there was memory for
// it each rank knows for itself: that is another question. Of a vector the length is followed with
// its elements, which are where all ranks change it alike.

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>

#include "tools/overlap/changes.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/types.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;

/// What is at the end of a pointer that is not null.
bool Uniform::sameThere(const Expr *pointer, const FunctionDecl *in) {
  const llvm::SaveAndRestore looks(looksThere_, true);
  return same(pointer, in);
}

/// A value that a way is chosen by: of a pointer, whether it is null.
bool Uniform::sameItself(const Expr *e, const FunctionDecl *in) {
  const llvm::SaveAndRestore looks(looksThere_, false);
  return same(e, in);
}

/// Memory that nobody has written to, or all ranks the same.
bool Uniform::isFresh(const Expr *e, const FunctionDecl *in) {
  if (program_.ownsNew()) return false;
  if (const auto *made = dyn_cast<CXXNewExpr>(e))  // never null
    return made->getNumPlacementArgs() == 0 && made->getAllocatedType()->isArithmeticType() &&
           (!made->getInitializer() || same(made->getInitializer(), in));
  const auto *call = dyn_cast<CallExpr>(e);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  const KnownCall *known = f ? findKnownCall(*f) : nullptr;
  return looksThere_ && known && known->kind == CallKind::makes;
}

// --- std::vector and std::array of numbers ---

static bool isVector(QualType type) {
  return isContainerOfNumbers(type) || isArrayOfNumbers(type);
}

/// The vector that v.size(), v[i] and such are asked of; null: it is something else.
static const Expr *vectorOf(const CallExpr &call) {
  const Expr *vector = nullptr;
  if (const auto *by = dyn_cast<CXXMemberCallExpr>(&call)) {
    vector = by->getImplicitObjectArgument();
    if (vector && vector->getType()->isPointerType()) return nullptr;
  } else if (const auto *op = dyn_cast<CXXOperatorCallExpr>(&call)) {
    vector = op->getArg(0);
  }
  return vector && isVector(vector->getType()) ? vector : nullptr;
}

static llvm::StringRef methodOf(const CallExpr &call) {
  const auto *op = dyn_cast<CXXOperatorCallExpr>(&call);
  if (op) return op->getOperator() == OO_Subscript ? "at" : "";
  const FunctionDecl *f = call.getDirectCallee();
  return f && f->getIdentifier() ? f->getName() : "";
}

static auto indices(const CallExpr &call) {
  return llvm::drop_begin(call.arguments(), isa<CXXOperatorCallExpr>(call) ? 1 : 0);
}

bool Uniform::sameOfVector(const CallExpr &call, const FunctionDecl *in) {
  const Expr *vector = vectorOf(call);
  const llvm::StringRef method = methodOf(call);
  if (!vector || !(method == "size" || method == "empty" || pointsIntoContainer(method)) ||
      (method == "data" && !looksThere_))  // null or not, as memory was kept before
    return false;
  const bool fixed = isArrayOfNumbers(vector->getType()) && !pointsIntoContainer(method);
  return (fixed || same(vector, in)) &&
         llvm::all_of(indices(call), [&](const Expr *i) { return same(i, in); });
}

/// std::vector<double> v(n), v(n, x), v = other, v{x, y}.
bool Uniform::sameVector(const CXXConstructExpr &made, const FunctionDecl *in) {
  const CXXConstructorDecl *by = made.getConstructor();
  if (!isVector(made.getType()) || by->getPrimaryTemplate()) return false;  // iterators
  return llvm::all_of(made.arguments(),
                      [&](const Expr *e) { return isa<CXXDefaultArgExpr>(e) || same(e, in); });
}

/// Whether a number is copied into a vector, or a vector is: v.push_back(n).
bool Uniform::isTakenByVector(const Expr &e, const Expr &by) {
  const QualType type = e.getType();
  const bool number = type.isConstQualified() && type->isArithmeticType();
  if (const auto *call = dyn_cast<CallExpr>(&by)) {
    const Expr *vector = vectorOf(*call);
    return vector && vector != &e && number;
  }
  const auto *made = dyn_cast<CXXConstructExpr>(&by);
  if (!made || !isVector(made->getType())) return false;
  return isVector(type) ? made->getConstructor()->isCopyConstructor() : number;
}

/// One use of a vector in a call of it. None: it is none, or is not followed.
std::optional<Uniform::VectorUse> Uniform::useOfVector(const Expr &vector, const FunctionDecl *in) {
  if (!isVector(vector.getType())) return std::nullopt;
  ASTContext &context = in->getASTContext();
  const Stmt *parent = parentOf(&vector, context);
  if (isa_and_nonnull<MemberExpr>(parent)) parent = parentOf(parent, context);
  const auto *call = dyn_cast_or_null<CallExpr>(parent);
  const auto *op = dyn_cast_or_null<CXXOperatorCallExpr>(call);
  const Expr *asked = call ? vectorOf(*call) : nullptr;
  if (!asked) return std::nullopt;
  const llvm::StringRef method = methodOf(*call);
  const bool assigns = op && assignsByParts(*op);
  const bool given = asked->IgnoreParenImpCasts() != vector.IgnoreParenImpCasts();
  if (!given && pointsIntoContainer(method)) return VectorUse{VectorUse::leadsInto, call};
  if ((given && assigns) || (!given && (readsShapeOfContainer(method) || method == "reserve")))
    return VectorUse{VectorUse::reads, call};
  if (given || !(assigns || changesContainer(method) || method == "fill") ||
      !isReadAtMost(call, context) ||
      !llvm::all_of(indices(*call), [&](const Expr *e) { return same(e, in); }))
    return std::nullopt;
  return VectorUse{VectorUse::changesAlike, call};
}

// --- for (double x : numbers) ---

/// The loop that a variable is declared by: what it turns over, or one turn; null: it is another's.
static const CXXForRangeStmt *loopOf(const VarDecl &v, const FunctionDecl &in) {
  ASTContext &context = in.getASTContext();
  const auto parents = context.getParents(v);
  const Stmt *declared = parents.empty() ? nullptr : parents[0].get<Stmt>();
  return declared ? dyn_cast_or_null<CXXForRangeStmt>(parentOf(declared, context)) : nullptr;
}

static bool turnsOverNumbers(const CXXForRangeStmt &loop) {
  const QualType type = loop.getRangeInit()->getType();
  return isVector(type) || isa<CXXStdInitializerListExpr>(loop.getRangeInit()->IgnoreImplicit()) ||
         (type->isConstantArrayType() && type->getArrayElementTypeNoTypeQual()->isArithmeticType());
}

const VarDecl *turnOver(const VarDecl &range, const FunctionDecl &in) {
  const CXXForRangeStmt *loop = loopOf(range, in);
  return loop && turnsOverNumbers(*loop) ? loop->getLoopVariable() : nullptr;
}

/// Whether all ranks turn as often.
bool Uniform::sameTurns(const CXXForRangeStmt &loop, const FunctionDecl *in) {
  return turnsOverNumbers(loop) && (loop.getRangeInit()->getType()->isConstantArrayType() ||
                                    sameItself(loop.getRangeInit(), in));
}

/// What is in each turn's variable.
bool Uniform::sameInTurns(const VarDecl &turn, const FunctionDecl *in) {
  const CXXForRangeStmt *loop = loopOf(turn, *in);
  return loop && turnsOverNumbers(*loop) && same(loop->getRangeInit(), in);
}

}  // namespace nbcc::overlap
