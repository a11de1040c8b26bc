// SPDX-License-Identifier: BSD-3-Clause
// communicators.cpp - follows a communicator through parameters to constants and variables.

#include "tools/overlap/communicators.h"

#include <clang/AST/ExprCXX.h>

#include <algorithm>

#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

bool Communicators::mayBe(const Communicators &other) const {
  const auto share = [](const auto &a, const auto &b) {
    return std::ranges::any_of(a, [&](const auto &x) { return b.contains(x); });
  };
  return unknown || other.unknown || share(constants, other.constants) || share(made, other.made);
}

bool Communicators::mayBeElsewhere(const Communicators &other) const {
  return mayBe(other) || (!made.empty() && !other.made.empty());
}

namespace {

class Search {
 public:
  explicit Search(Program &program) : program_(program) {}
  Communicators found;

  void add(const Expr *e, const FunctionDecl *in) {
    const std::string name = constantName(e, in->getASTContext());
    e = e->IgnoreParenImpCasts();
    const auto *ref = dyn_cast<DeclRefExpr>(e);
    const auto *member = dyn_cast<MemberExpr>(e);
    const ValueDecl *d = ref ? ref->getDecl() : member ? member->getMemberDecl() : nullptr;
    const auto *p = d ? dyn_cast<ParmVarDecl>(d) : nullptr;
    if (isMpiConstant(name))
      found.constants.insert(name);
    else if (p && !program_.addressTaken(*in) && p->getDeclContext() == in &&
             program_.changes(*in).never(*p))
      addParameter(p, in);
    else if (d && !p && program_.madeByMpi(*d))
      found.made.insert(nameInAll(*d));
    else
      found.unknown = true;
  }

 private:
  void addParameter(const ParmVarDecl *p, const FunctionDecl *in) {
    if (!seen_.insert(p).second) return;
    const std::vector<CallSite> &callers = program_.callers(*in);
    found.unknown = found.unknown || callers.empty();
    for (const CallSite &at : callers) {
      const unsigned i = p->getFunctionScopeIndex();
      if (at.in && i < at.call->getNumArgs() && !isa<CXXOperatorCallExpr>(at.call))
        add(at.call->getArg(i), at.in);
      else
        found.unknown = true;
    }
  }

  Program &program_;
  std::set<const ParmVarDecl *> seen_;
};

}  // namespace

Communicators communicatorsOf(const CallExpr &call, const Collective &c, const FunctionDecl *in,
                              Program &program) {
  Search search(program);
  search.add(call.getArg(static_cast<unsigned>(c.arguments.find('c'))), in);
  return std::move(search.found);
}

}  // namespace nbcc::overlap
