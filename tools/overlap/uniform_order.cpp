// SPDX-License-Identifier: BSD-3-Clause
// uniform_order.cpp - whether an earlier collective of the same kind may shift the others.
//
//   if (rank == 0) MPI_Bcast(a);     meets the second one of the others
//   MPI_Bcast(rank ? a : b);         all ranks reach it alike
//   if (rank != 0) MPI_Bcast(b);     meets the second one of rank 0
//
// All ranks reach the second one, but not as the same one in their order. So a condition before it
// that may differ among ranks has to have as many calls of the kind on both sides, as far as these
// may be on the same communicator.
//
// That goes for what ends a loop, too: another one may make up for what it turns less on some.

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <utility>

#include "tools/overlap/changes.h"
#include "tools/overlap/communicators.h"
#include "tools/overlap/count.h"
#include "tools/overlap/meetings.h"
#include "tools/overlap/parts.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

Count Uniform::counts() const {
  return Count(program_, collective_, communicatorsOf(call_, collective_, home_, program_));
}

/// `before`: what stands before it in the function, or is repeated with it; null: all of it.
bool Uniform::inOrder(const Stmt *before, const FunctionDecl *in, Ordered &seen) {
  if (!in->getBody() || !seen.insert({before, in}).second) return true;
  ASTContext &context = in->getASTContext();
  const SourceManager &files = context.getSourceManager();
  std::set<const Stmt *> around;
  const Stmt *outermost = nullptr;  // loop around it
  for (const Stmt *p = before; p; p = parentOf(p, context)) {
    around.insert(p);
    if (isLoop(p)) outermost = p;
  }
  const auto called = [&](const CallExpr &call) -> const FunctionDecl * {
    const FunctionDecl *f = call.getDirectCallee();
    return f ? program_.definition(*f) : nullptr;
  };
  // What is called in a loop comes before itself.
  const auto *itself = before ? dyn_cast<CallExpr>(before) : nullptr;
  if (const FunctionDecl *f = itself && outermost ? called(*itself) : nullptr)
    if (!inOrder(nullptr, f, seen)) return false;
  Count count = counts();

  std::vector<std::pair<const Stmt *, bool>> left{{in->getBody(), false}};  // within the loop
  if (const auto *makes = dyn_cast<CXXConstructorDecl>(in))
    for (const CXXCtorInitializer *i : makes->inits()) left.emplace_back(i->getInit(), false);
  while (!left.empty()) {
    const auto [s, repeated] = left.back();
    left.pop_back();
    if (!s) continue;
    const bool again = repeated || s == outermost;
    const bool counts = !before || again || around.contains(s) ||
                        files.isBeforeInTranslationUnit(s->getBeginLoc(), before->getBeginLoc());
    if (!counts) continue;
    for (const Stmt *child : allPartsOf(s)) left.emplace_back(child, again);
    if (around.contains(s)) continue;
    // Another question, so what was taken for granted in this one is not.
    const auto afresh = [&](auto &&ask) {
      Asked asked = std::exchange(asked_, {});
      const std::optional<Remark> why = why_;
      const bool alike = ask();
      asked_ = std::move(asked);
      if (alike) why_ = why;
      return alike;
    };
    if (const auto *call = dyn_cast<CallExpr>(s); call && count.mayCallUnseen(*call)) {
      why_.reset();
      return no(call, in,
                "'" + written(call, context) + "' may call functions that call " +
                    collective_.blocking() + ", and others on other ranks");
    }
    if (count.mayRunUnseenOften(s, context)) {
      why_.reset();
      return no(s, in,
                "here may be made any number of objects, whose own functions call " +
                    collective_.blocking() + ", and more on other ranks");
    }
    if (count.mayRunUnseen(s))
      for (const FunctionDecl *f : count.unseen())
        if (!inOrder(nullptr, f, seen)) return false;
    if (const auto *handles = dyn_cast<CXXCatchStmt>(s); handles && count.any(handles, in)) {
      why_.reset();
      return no(handles, in,
                "an exception may lead some ranks to this handler, where " +
                    collective_.blocking() + " may be called");
    }
    if (const auto *tries = dyn_cast<CXXTryStmt>(s); tries && count.any(tries->getTryBlock(), in))
      for (unsigned n = 0; n < tries->getNumHandlers(); ++n)
        if (!ends(tries->getHandler(n), in, program_)) {
          why_.reset();
          return no(tries->getHandler(n), in,
                    "an exception may lead a rank past a call of " + collective_.blocking() +
                        ", to this handler, which goes on");
        }
    if (const auto *call = dyn_cast<CallExpr>(s); call && count.mayBeOnAnother(*call, in)) {
      const Expr *on = call->getArg(static_cast<unsigned>(collective_.arguments.find('c')));
      chosen_.clear();
      if (!afresh([&] { return chosenAlike(on, in, context); })) {
        why_.reset();
        return no(call, in,
                  "'" + written(on, context) + "' may be another communicator on other ranks");
      }
    }
    if (const auto *call = dyn_cast<CallExpr>(s); call && count.any(call, in)) {
      if (!afresh([&] { return exitsAlike(call, in); })) return false;
      if (const FunctionDecl *f = called(*call); f && !inOrder(nullptr, f, seen)) return false;
    }
    const Expr *on = conditionOf(s);
    const auto *i = dyn_cast<IfStmt>(s);
    if (const auto *loop = dyn_cast<CXXForRangeStmt>(s);
        loop && !loop->getRangeInit()->getType()->isConstantArrayType())
      on = loop->getRangeInit();
    if (!on || !count.any(s, in)) continue;
    if (i && count(i->getThen(), in) && count(i->getThen(), in) == count(i->getElse(), in))
      continue;
    differs_.clear();
    if (!afresh([&] { return same(on, in); })) {
      why_.reset();
      return no(on, in,
                "'" + written(on, context) + "' may differ among ranks and decides how often " +
                    collective_.blocking() + " is called before" + becauseItDiffers());
    }
  }
  return true;
}

/// How many calls of the kind each branch of an if makes; none: that may differ, or something else
/// within makes one or leads into a branch.
std::optional<int> Uniform::callsInEach(const IfStmt &i, const FunctionDecl *in) {
  Count count = counts();
  const std::optional<Calls> yes = count(i.getThen(), in), no = count(i.getElse(), in);
  const bool more = count.any(i.getInit(), in) || count.any(i.getCond(), in) ||
                    count.any(i.getConditionVariableDeclStmt(), in);
  if (!yes || yes != no || !yes->others.empty() || holdsLabel(&i) || more) return std::nullopt;
  return yes->own;
}

/// The branch of an if that decides whether a rank comes to a call, once; null: something else
/// does.
const Stmt *Uniform::branchOf(const CallExpr &call, const FunctionDecl *in) {
  ASTContext &context = in->getASTContext();
  const Stmt *from = &call;
  for (const Stmt *p = parentOf(from, context); p; from = p, p = parentOf(p, context)) {
    const auto *i = dyn_cast<IfStmt>(p);
    const auto *op = dyn_cast<BinaryOperator>(p);
    if (i && from != i->getCond())
      return from != i->getInit() && i->getElse() && !i->getBeginLoc().isMacroID() ? from : nullptr;
    const bool once = i || isa<CompoundStmt, DeclStmt, ParenExpr, CastExpr>(p) ||
                      (op && !op->isLogicalOp()) || (isa<DoStmt>(p) && turnsOnce(p, *in, program_));
    if (!once) return nullptr;
  }
  return nullptr;
}

const CallExpr *Uniform::metInOtherBranch() {
  const FunctionDecl *in = findHome();
  const Stmt *branch = in && !program_.hasSides() ? branchOf(call_, in) : nullptr;
  const auto *i = branch ? dyn_cast<IfStmt>(parentOf(branch, in->getASTContext())) : nullptr;
  const std::optional<int> each = i ? callsInEach(*i, in) : std::nullopt;
  if (!each) return nullptr;
  Count count = counts();
  std::vector<const CallExpr *> here, there;  // in their order
  for (const CallSite &other : program_.collectives()) {
    const std::string name = other.call->getDirectCallee()->getName().str();
    if (other.in != in || name != collective_.blocking()) continue;
    const Stmt *at = branchOf(*other.call, in);
    if (count(other.call, in) != Calls{1, {}}) continue;  // on another communicator
    if (at == branch)
      here.push_back(other.call);
    else if (at && (at == i->getThen() || at == i->getElse()))
      there.push_back(other.call);
  }
  const auto all = static_cast<std::size_t>(*each);
  if (here.size() != all || there.size() != all) return nullptr;
  const SourceManager &files = in->getASTContext().getSourceManager();
  const auto isBefore = [&](const CallExpr *a, const CallExpr *b) {
    return files.isBeforeInTranslationUnit(a->getBeginLoc(), b->getBeginLoc());
  };
  std::ranges::sort(here, isBefore);
  std::ranges::sort(there, isBefore);
  const CallExpr *met =
      there[static_cast<std::size_t>(std::ranges::find(here, &call_) - here.begin())];
  Ordered seen;
  const bool alike = reached(i, in) && exitsAlike(&call_, in) && exitsAlike(met, in) &&
                     entered(in) && onOneCommunicator() && inOrderFrom(i, in, seen);
  return alike ? met : nullptr;
}

/// The same on the way from main().
bool Uniform::inOrderFrom(const Stmt *s, const FunctionDecl *in, Ordered &seen) {
  if (seen.contains({s, in})) return true;
  if (!inOrder(s, in, seen)) return false;
  if (in->isMain()) {
    if (counts().mayStandIn())
      return no(in->getBody(), in,
                collective_.blocking() +
                    " may be called by a default argument, or by what a field is declared with");
    return !counts().mayBeginWithOne() ||
           no(in->getBody(), in,
              collective_.blocking() + " may be called before main(), as objects begin");
  }
  return std::ranges::all_of(program_.callers(*in), [&](const CallSite &at) {
    return !at.in || inOrderFrom(at.call, at.in, seen);
  });
}

/// Whether a collective that leaves the same on all its ranks is the same one in their order: the
/// first broadcast of some may meet the second one of others.
bool Uniform::isOneCall(const CallExpr &call, const Collective &kind, const FunctionDecl *in) {
  constexpr int kDeep = 8;
  if (!mayMeet(call, kind, in, program_)) return true;
  int depth = 0;
  for (Uniform *u = this; u; u = u->asker_, ++depth)
    if (&u->call_ == &call) {  // if it is, it is
      for (Uniform *by = this; by != u; by = by->asker_) by->assumes_ = true;
      return true;
    }
  const std::optional<bool> known = program_.isKnownInOrder(call);
  if (known) return *known;
  if (depth > kDeep) return false;
  Uniform asks(program_, call, kind);
  asks.home_ = in;
  asks.asker_ = this;
  Ordered seen;
  const bool is = asks.inOrderFrom(&call, in, seen) && asks.onOneCommunicator();
  if (!is || !asks.assumes_) program_.setInOrder(call, is);
  return is;
}

}  // namespace nbcc::overlap
