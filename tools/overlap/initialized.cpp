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

bool isFinalize(const FunctionDecl &f) {
  return isMpi(f) && (f.getName() == "MPI_Finalize" || f.getName() == "PMPI_Finalize");
}

bool isRepeated(const CallSite &call) {
  ASTContext &context = call.in->getASTContext();
  for (const Stmt *p = parentOf(call.call, context); p; p = parentOf(p, context))
    if (isLoop(p)) return true;
  return false;
}

/// Whether MPI may be finalised where no call of main()'s leads: by a pointer, or where an object
/// ends.
bool mayEndUnseen(const ASTContext &context, const Program &program) {
  const auto mayBeUnseen = [&](const CallSite &at) {
    return !at.in || isa<CXXMethodDecl>(at.in) || program.addressTaken(*at.in);
  };
  for (const char *name : {"MPI_Finalize", "PMPI_Finalize"})
    for (const NamedDecl *d : declared(name, context))
      if (const auto *f = dyn_cast<FunctionDecl>(d);
          f && (program.addressTaken(*f) || std::ranges::any_of(program.callers(*f), mayBeUnseen)))
        return true;
  return false;
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

  /// As far as the calls of one main() say.
  bool isUp(const Stmt *at, const FunctionDecl &in, const FunctionDecl &main) {
    const std::vector<CallSite> &calls = program_.callsIn(main);
    const auto init =
        std::ranges::find_if(calls, [&](const CallSite &call) { return initializes(call); });
    if (init == calls.end()) return false;
    const auto ends = [&](const CallSite &call) { return leadsTo(call, isFinalize); };
    const auto end = std::ranges::find_if(calls, ends);
    if (std::ranges::any_of(calls,
                            [&](const CallSite &call) { return isRepeated(call) && ends(call); }))
      return false;
    const auto isOutside = [&](const Stmt *s) {
      return isBefore(s, init->call, main) || (end != calls.end() && isBefore(end->call, s, main));
    };
    if (&in == &main) return !isOutside(at);
    const auto isIt = [&](const FunctionDecl &f) { return nameInAll(f) == nameInAll(in); };
    return std::ranges::none_of(calls, [&](const CallSite &call) {
      return (isOutside(call.call) || ends(call)) && leadsTo(call, isIt);
    });
  }

 private:
  template <class Is>
  bool leadsTo(const CallSite &call, const Is &is) {
    seen_.clear();
    return leadsOn(call, is);
  }
  template <class Is>
  bool leadsOn(const CallSite &call, const Is &is) {
    const FunctionDecl &to = *call.call->getDirectCallee();
    if (is(to)) return true;
    const FunctionDecl *body = program_.bodyAnywhere(to);
    return body && seen_.insert(body).second &&
           std::ranges::any_of(program_.callsIn(*body),
                               [&](const CallSite &inner) { return leadsOn(inner, is); });
  }

  Program &program_;
  std::set<const FunctionDecl *> seen_;
};

}  // namespace

bool isInitializedAt(const Stmt *at, const FunctionDecl &in, Program &program) {
  if (program.addressTaken(in) || isa<CXXConstructorDecl, CXXDestructorDecl>(in) ||
      mayEndUnseen(in.getASTContext(), program))
    return false;
  bool any = false;
  for (const FunctionDecl *f : program.bodies()) {
    if (!f->isMain()) continue;
    any = true;
    if (!program.callers(*f).empty() || !Ways(program).isUp(at, in, *f)) return false;
  }
  return any || program.promises().library;
}

}  // namespace nbcc::overlap
