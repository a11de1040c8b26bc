// SPDX-License-Identifier: BSD-3-Clause
// callers.cpp - windows behind the calls of a function, as if these were collectives.

#include "tools/overlap/callers.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <algorithm>

#include "tools/overlap/rewrite.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

/// Whether nothing is left of the function when the call must be complete, but to return.
bool endsWithFunction(const Site &site, const Window &w) {
  if (!site.block || site.block != site.in->getBody() || site.in->isMain()) return false;
  for (unsigned i = w.last + 1; i < site.statements(); ++i) {
    const Stmt *s = site.statement(i);
    const bool isPlain =
        isa<CallExpr, ReturnStmt>(s);  // a clock is stopped, and what is summed is returned
    if (!isPlain) return false;
  }
  return true;
}

/// v of v = f(...); or of its declaration: what is returned goes there and nowhere else.
const VarDecl *receives(const Stmt *s, const CallExpr *call) {
  if (const auto *declared = dyn_cast<DeclStmt>(s)) {
    const VarDecl *found = nullptr;
    for (const Decl *d : declared->decls()) {
      const auto *v = dyn_cast<VarDecl>(d);
      if (!v || !v->getInit()) continue;
      if (found || v->getInit()->IgnoreParenImpCasts() != call) return nullptr;
      found = v;
    }
    return found;
  }
  const auto *op = dyn_cast<BinaryOperator>(s);
  if (!op || op->getOpcode() != BO_Assign || op->getRHS()->IgnoreParenImpCasts() != call)
    return nullptr;
  const auto *ref = dyn_cast<DeclRefExpr>(op->getLHS()->IgnoreParens());
  return ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
}

/// The call of the function in the collective's place. None: what it gives is used at once.
std::optional<Site> asSite(const Site &site, const CallSite &at, Program &program) {
  ASTContext &context = at.in->getASTContext();
  const Stmt *statement = at.call, *parent = parentOf(statement, context);
  for (; parent && !isa<CompoundStmt>(parent); parent = parentOf(statement, context))
    statement = parent;
  if (!parent) return std::nullopt;
  Site result{site.collective, at.call, at.in};
  result.ofAll = site.ofAll;
  result.block = llvm::cast<CompoundStmt>(parent);
  const auto found = std::find(result.block->body_begin(), result.block->body_end(), statement);
  if (found == result.block->body_end()) return std::nullopt;
  result.index = static_cast<unsigned>(found - result.block->body_begin());
  result.behind = result.index + 1;
  const auto add = [&](const Objects &objects, bool written) {
    (written ? result.writes : result.reads).add(objects);
    result.buffers.push_back({objects, written, {}});
  };
  // Of buffers only what the whole program knows makes sense in another function.
  const Memory &callee = program.memory(*site.in);
  for (const Site::Buffer &b : site.buffers) {
    const bool own =
        !b.objects.unknown && std::ranges::all_of(b.objects.known, [&](const Object &o) {
          return o.kind == Object::variable && !callee.escaped(o);
        });
    if (!own) add({{}, true, b.objects.whole, true}, b.written);
  }
  if (const VarDecl *v = receives(statement, at.call))
    add(program.memory(*at.in).variable(*v), true);
  else if (statement != at.call)
    return std::nullopt;
  return result;
}

std::string linesOf(const Site &site, unsigned from, unsigned to) {
  const unsigned a = lineOf(site.statement(from)->getBeginLoc(), site.context());
  const unsigned b = lineOf(site.statement(to)->getEndLoc(), site.context());
  return a == b ? "line " + std::to_string(a)
                : "lines " + std::to_string(a) + " to " + std::to_string(b);
}

}  // namespace

std::vector<Remark> adviceToCallers(const Site &site, const Window &w, Program &program,
                                    long least) {
  if (!endsWithFunction(site, w) || site.collective->isBarrier() || program.addressTaken(*site.in))
    return {};
  const std::string name = site.in->getNameAsString() + "()";
  std::vector<Remark> windows;
  for (const CallSite &at : program.callers(*site.in)) {
    if (!at.in) continue;
    const std::optional<Site> there = asSite(site, at, program);
    if (!there) continue;
    const Window window = findWindow(*there, program, there->index);
    if (!window.reachesDown(*there) || window.workBehind < least) continue;
    windows.push_back({at.call->getBeginLoc(),
                       "between the two, " + linesOf(*there, there->behind, window.last) + " of " +
                           at.in->getNameAsString() + "() could run; it must be complete where " +
                           window.ends.text,
                       &there->context()});
  }
  if (windows.empty()) return {};
  windows.insert(windows.begin(),
                 {site.call->getBeginLoc(),
                  name +
                      " ends with it, so only callers have something to do meanwhile: make two "
                      "functions of it, one "
                      "that ends with " +
                      site.collective->nonblocking() + " and one that begins with MPI_Wait",
                  &site.context()});
  return windows;
}

}  // namespace nbcc::overlap
