// SPDX-License-Identifier: BSD-3-Clause
// communicators.cpp - follows a communicator through parameters, variables and fields to constants
// and to what MPI makes.
//
//   MPI_Comm comm = MPI_COMM_WORLD;   solver->comm = comm;   MPI_Comm_dup(comm, &solver->comm);
//
// A field stands for those of all structures of its type. What may change it otherwise, through a
// pointer, a reference, or a structure that is looked at as something else, makes it unknown.

#include "tools/overlap/communicators.h"

#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <ranges>

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
  return unknown || other.unknown || share(constants, other.constants) ||
         share(std::views::keys(made), other.made);
}

bool Communicators::areWorld() const {
  return !unknown && made.empty() && constants.size() == 1 && constants.contains("MPI_COMM_WORLD");
}

bool Communicators::areOneWith(const Communicators &other, const Program &program) const {
  if (unknown || other.unknown || !constants.empty() || !other.constants.empty()) return false;
  if (made.size() != 1 || other.made.size() != 1) return false;
  const auto &[name, variable] = *made.begin();
  return other.made.contains(name) && program.givenOnce(*variable, true);
}

bool Communicators::mayBeElsewhere(const Communicators &other) const {
  return mayBe(other) || (!made.empty() && !other.made.empty());
}

namespace {

class Search {
 public:
  explicit Search(Program &program) : program_(program) {}
  Communicators found;

  /// `in`: null where it stands in no function.
  void add(const Expr *e, const FunctionDecl *in, const ASTContext &context) {
    const std::string name = constantName(e, context);
    e = e->IgnoreParenImpCasts();
    const auto *ref = dyn_cast<DeclRefExpr>(e);
    const auto *member = dyn_cast<MemberExpr>(e);
    const ValueDecl *d = ref ? ref->getDecl() : member ? member->getMemberDecl() : nullptr;
    const auto *p = d ? dyn_cast<ParmVarDecl>(d) : nullptr;
    if (name == "MPI_COMM_WORLD" || name == "MPI_COMM_SELF")
      found.constants.insert(name);
    else if (name == "MPI_COMM_NULL")
      return;  // of no collective
    else if (p && in)
      addParameter(*p, *in);
    else if (d && !p)
      addGiven(*d);
    else
      found.unknown = true;
  }

 private:
  /// A plain function that nobody calls gets nothing; of others there are calls that are not
  /// written.
  static bool isPlain(const FunctionDecl &f) {
    return !isa<CXXMethodDecl>(f) && !f.isTemplated() && !f.isTemplateInstantiation();
  }

  void addParameter(const ParmVarDecl &p, const FunctionDecl &in) {
    if (!seen_.insert(&p).second) return;
    const std::vector<CallSite> &callers = program_.callers(in);
    if (program_.addressTaken(in) || p.getDeclContext() != &in || !program_.changes(in).never(p) ||
        program_.mayBeCalledUnseen(in) || (callers.empty() && !isPlain(in)) ||
        (in.isExternallyVisible() && !program_.missing().empty()))
      found.unknown = true;
    for (const CallSite &at : callers) {
      const unsigned i = p.getFunctionScopeIndex();
      if (at.in && i < at.call->getNumArgs() && !isa<CXXOperatorCallExpr>(at.call))
        add(at.call->getArg(i), at.in, at.in->getASTContext());
      else
        found.unknown = true;
    }
  }

  /// Whether all that may ever give it a value is seen.
  bool isFollowed(const ValueDecl &d) const {
    if (d.getType()->isReferenceType() || d.getType().isVolatileQualified() || program_.hasNames(d))
      return false;
    if (const auto *v = dyn_cast<VarDecl>(&d))
      return !v->isExceptionVariable() && (!v->hasGlobalStorage() || !program_.knownElsewhere(*v));
    const auto *field = dyn_cast<FieldDecl>(&d);
    const RecordDecl *record = field ? field->getParent() : nullptr;
    // Who is given the whole structure may set any of its fields.
    return record && !record->isUnion() && !program_.inUnion(*record) && !isOfSystem(*record) &&
           hasOneName(*record) && program_.missing().empty() && program_.promises().local.empty();
  }

  /// Each source may have its own declaration of a structure without a name; and of one within
  /// another, or in a function, languages and sources have different names.
  bool hasOneName(const RecordDecl &record) const {
    const bool named = record.getIdentifier() || record.getTypedefNameForAnonDecl();
    return program_.sources().size() == 1 ||
           (named && record.getDeclContext()->isFileContext() &&
            record.getLexicalDeclContext()->getRedeclContext()->isFileContext() &&
            !program_.hasNameInside(record));
  }

  void addGiven(const ValueDecl &d) {
    if (!seen_.insert(&d).second) return;
    if (!isFollowed(d)) found.unknown = true;
    if (const auto *v = dyn_cast<VarDecl>(&d)) addInitial(*v);
    for (const Given &g : program_.given(d)) {
      if (found.unknown) return;
      addGiven(g, d);
    }
  }

  void addInitial(const VarDecl &d) {
    for (const VarDecl *one : program_.declarations(d)) {
      const auto *in = dyn_cast<FunctionDecl>(one->getDeclContext());
      if (one->getInit()) add(one->getInit(), in, one->getASTContext());
    }
  }

  void addGiven(const Given &g, const ValueDecl &d) {
    const auto *set = dyn_cast_or_null<BinaryOperator>(g.at);
    const auto *value = dyn_cast_or_null<Expr>(g.at);
    if (isMadeByMpi(g))
      found.made.emplace(nameInAll(d), &d);
    else if (g.in && set && set->getOpcode() == BO_Assign)
      add(set->getRHS(), g.in, g.in->getASTContext());
    else if (g.in && value && isa<CastExpr, ParenExpr>(value))
      add(value, g.in, g.in->getASTContext());  // in a list
    else
      found.unknown = true;
  }

  Program &program_;
  std::set<const ValueDecl *> seen_;
};

}  // namespace

Communicators communicatorsOf(const Expr &communicator, const FunctionDecl &in, Program &program) {
  Search search(program);
  search.add(&communicator, &in, in.getASTContext());
  return std::move(search.found);
}

Communicators communicatorsOf(const CallExpr &call, const Collective &c, const FunctionDecl *in,
                              Program &program) {
  const Expr *communicator = call.getArg(static_cast<unsigned>(c.arguments.find('c')));
  return communicatorsOf(*communicator, *in, program);
}

}  // namespace nbcc::overlap
