// SPDX-License-Identifier: BSD-3-Clause
// initialized.cpp - which calls are surely made before, and what leads where.

#include "tools/overlap/initialized.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <set>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/program.h"
#include "tools/overlap/site.h"

namespace nbcc::overlap {
namespace {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

bool isBefore(const Stmt *a, const Stmt *b, const FunctionDecl &in) {
  const SourceManager &files = in.getASTContext().getSourceManager();
  return files.isBeforeInTranslationUnit(files.getExpansionLoc(a->getBeginLoc()),
                                         files.getExpansionLoc(b->getBeginLoc()));
}

/// Whether who comes to the end of the function's body has come by the call.
bool isOnEachWay(const CallSite &call) {
  ASTContext &context = call.in->getASTContext();
  const Stmt *from = call.call;
  for (const Stmt *p = parentOf(from, context); p && from != call.in->getBody();
       from = p, p = parentOf(p, context)) {
    const auto *op = dyn_cast<BinaryOperator>(p);
    const auto *asks = dyn_cast<IfStmt>(p);
    if ((op && op->isLogicalOp() && from != op->getLHS()) || (asks && from != asks->getCond()) ||
        isa<AbstractConditionalOperator, LambdaExpr, SwitchStmt, SwitchCase, LabelStmt, ReturnStmt>(
            p) ||
        (isLoop(p) && !isa<DoStmt>(p)))
      return false;
  }
  return from == call.in->getBody();
}

bool returnsBefore(const Stmt *s, const CallSite &call) {
  if (isa<ReturnStmt, GotoStmt, IndirectGotoStmt>(s) && isBefore(s, call.call, *call.in))
    return true;
  return std::ranges::any_of(
      s->children(), [&](const Stmt *child) { return child && returnsBefore(child, call); });
}

bool finalizes(const CallSite &call) {
  const FunctionDecl &f = *call.call->getDirectCallee();
  return isMpi(f) && f.getName() == "MPI_Finalize";
}

class Ways {
 public:
  explicit Ways(Program &program) : program_(program) {}

  /// By itself, or on each way through the function that is called.
  bool initializes(const CallSite &call, int depth = 0) {
    constexpr int kDeepest = 8;
    const FunctionDecl &f = *call.call->getDirectCallee();
    if (!isOnEachWay(call)) return false;
    if (isMpi(f)) return f.getName() == "MPI_Init" || f.getName() == "MPI_Init_thread";
    const FunctionDecl *body = program_.bodyAnywhere(f);
    return body && depth < kDeepest &&
           std::ranges::any_of(
               program_.callsIn(*body),
               [&](const CallSite &inner) {
                 return initializes(inner, depth + 1) && !returnsBefore(body->getBody(), inner);
               });
  }

  bool leadsTo(const FunctionDecl &from, const FunctionDecl &to) {
    if (nameInAll(from) == nameInAll(to)) return true;
    const FunctionDecl *body = program_.bodyAnywhere(from);
    if (!body || !seen_.insert(body).second) return false;
    return std::ranges::any_of(program_.callsIn(*body), [&](const CallSite &inner) {
      return leadsTo(*inner.call->getDirectCallee(), to);
    });
  }

  /// As far as the calls of one main() say.
  bool isUp(const Stmt *at, const FunctionDecl &in, const FunctionDecl &main) {
    const std::vector<CallSite> &calls = program_.callsIn(main);
    const auto init =
        std::ranges::find_if(calls, [&](const CallSite &call) { return initializes(call); });
    if (init == calls.end()) return false;
    const auto end = std::ranges::find_if(calls, finalizes);
    const auto isOutside = [&](const Stmt *s) {
      return isBefore(s, init->call, main) || (end != calls.end() && isBefore(end->call, s, main));
    };
    if (&in == &main) return !isOutside(at);
    return std::ranges::none_of(calls, [&](const CallSite &call) {
      seen_.clear();
      return isOutside(call.call) && leadsTo(*call.call->getDirectCallee(), in);
    });
  }

 private:
  Program &program_;
  std::set<const FunctionDecl *> seen_;
};

}  // namespace

bool isInitializedAt(const Stmt *at, const FunctionDecl &in, Program &program) {
  if (program.addressTaken(in) || isa<CXXConstructorDecl, CXXDestructorDecl>(in)) return false;
  bool any = false;
  for (const FunctionDecl *f : program.bodies()) {
    if (!f->isMain()) continue;
    any = true;
    if (!Ways(program).isUp(at, in, *f)) return false;
  }
  return any || program.promises().library;
}

}  // namespace nbcc::overlap
