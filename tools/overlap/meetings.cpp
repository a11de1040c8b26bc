// SPDX-License-Identifier: BSD-3-Clause
// meetings.cpp - compares a collective with all others of its kind.

#include "tools/overlap/meetings.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include "tools/overlap/buffers.h"
#include "tools/overlap/communicators.h"
#include "tools/overlap/effects.h"

namespace nbcc::overlap {

using namespace clang;

namespace {

const Expr *argument(const CallExpr &call, const Collective &c, char what) {
  const size_t at = c.arguments.find(what);
  return at == std::string_view::npos ? nullptr : call.getArg(static_cast<unsigned>(at));
}

/// Two constants that are not the same. Lengths and datatypes are none: who sends less than others
/// receive breaks a rule of MPI's that libraries do not enforce.
bool differs(const CallExpr &a, const FunctionDecl *inA, const CallExpr &b, const FunctionDecl *inB,
             const Collective &c) {
  if (const Expr *x = argument(a, c, 'R')) {
    const auto one = x->getIntegerConstantExpr(inA->getASTContext());
    const auto other = argument(b, c, 'R')->getIntegerConstantExpr(inB->getASTContext());
    if (one && other && llvm::APSInt::compareValues(*one, *other) != 0) return true;
  }
  const Expr *x = argument(a, c, 'o');
  if (!x) return false;
  const std::string one = constantName(x, inA->getASTContext());
  const std::string other = constantName(argument(b, c, 'o'), inB->getASTContext());
  return isMpiOperator(one) && isMpiOperator(other) && one != other;
}

}  // namespace

std::optional<std::string> mayMeet(const CallExpr &call, const Collective &c,
                                   const FunctionDecl *in, Program &program) {
  if (program.hasSides()) return "one of another group";  // of other roots, too
  const Communicators own = communicatorsOf(call, c, in, program);
  const bool makes = findMaker(c.blocking()) != nullptr;
  for (const CallSite &other : makes ? program.makers() : program.collectives()) {
    if (other.call == &call || other.call->getDirectCallee()->getName() != c.blocking()) continue;
    if (!other.in || other.call->getNumArgs() != c.arguments.size())
      return "one that is not understood";
    if (!differs(call, in, *other.call, other.in, c) &&
        communicatorsOf(*other.call, c, other.in, program).mayBeElsewhere(own))
      return "the one of " + placeOf(*other.call, *other.in);
  }
  if (!program.hidden().empty()) return "one by " + program.hidden();
  const std::string &unseen = program.missing().empty() ? program.foreign() : program.missing();
  if (program.promises().whole || unseen.empty()) return std::nullopt;
  return "one in code that is not seen, " + unseen + " for one, unless --whole";
}

}  // namespace nbcc::overlap
