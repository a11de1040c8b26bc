// SPDX-License-Identifier: BSD-3-Clause
// communicators.cpp - follows a communicator through parameters to constants and variables.

#include "tools/overlap/communicators.h"

#include <clang/AST/ExprCXX.h>

#include <algorithm>

#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/site.h"

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
    const auto *method = dyn_cast<CXXMethodDecl>(in);
    if (name == "MPI_COMM_WORLD" || name == "MPI_COMM_SELF")
      found.constants.insert(name);
    else if (p && !program_.addressTaken(*in) && p->getDeclContext() == in &&
             program_.changes(*in).never(*p) && !(method && method->isVirtual()))
      addParameter(p, in);
    else if (d && !p && program_.madeByMpi(*d) && givenByMpiOnly(*d))
      found.made.insert(nameInAll(*d));
    else
      found.unknown = true;
  }

 private:
  /// Nothing but a call of MPI is given its address, and it is bound to no reference.
  bool givenByMpiOnly(const ValueDecl &d) const {
    const auto *v = dyn_cast<VarDecl>(&d);
    if (!v || v->getType()->isReferenceType() ||
        (v->hasGlobalStorage() && program_.knownElsewhere(*v)))
      return false;
    return std::ranges::all_of(program_.uses(*v), [](const Use &use) {
      if (!use.in) return false;
      ASTContext &context = use.in->getASTContext();
      const Stmt *by = parentOf(use.ref, context);
      const auto *cast = dyn_cast_or_null<ImplicitCastExpr>(by);
      if (cast) return cast->getCastKind() == CK_LValueToRValue;
      const auto *address = dyn_cast_or_null<UnaryOperator>(by);
      if (!address || address->getOpcode() != UO_AddrOf) return false;
      const auto *call = dyn_cast_or_null<CallExpr>(parentOf(address, context));
      return call && call->getDirectCallee() && isMpi(*call->getDirectCallee());
    });
  }

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
