// SPDX-License-Identifier: BSD-3-Clause
// communicators.cpp - follows a communicator through parameters, variables and fields to constants
// and to what MPI makes.
//
//   MPI_Comm comm = MPI_COMM_WORLD;   solver->comm = comm;   MPI_Comm_dup(comm, &solver->comm);
//   Solver::Solver(MPI_Comm comm) : comm_(comm) {}
//
// A field stands for those of all structures of its type. What may change it otherwise, through a
// pointer, a reference, or a structure that is looked at as something else, makes it unknown.

#include "tools/overlap/communicators.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>
#include <ranges>

#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/site.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

bool Communicators::mayBe(const Communicators &other) const {
  const auto share = [](const auto &a, const auto &b) {
    return std::ranges::any_of(a, [&](const auto &x) { return b.contains(x); });
  };
  return unknown || other.unknown || share(constants, other.constants) ||
         share(std::views::keys(made), other.made);
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

/// By its own name alone.
static bool hasOnlyName(const ValueDecl &d, const Program &program) {
  return !d.getType()->isReferenceType() && !d.getType().isVolatileQualified() &&
         !program.hasNames(d);
}

bool isFollowed(const VarDecl &v, const Program &program) {
  return hasOnlyName(v, program) && !v.isExceptionVariable() &&
         (!v.hasGlobalStorage() || !program.knownElsewhere(v));
}

namespace {

class Search {
 public:
  explicit Search(Program &program) : program_(program) {}
  Communicators found;

  /// `in`: null where it stands in no function.
  void add(const Expr *e, const FunctionDecl *in, const ASTContext &context) {
    if (const auto *standard = dyn_cast<CXXDefaultArgExpr>(e->IgnoreImpCasts()))
      e = standard->getExpr();
    const std::string name = constantName(e, context);
    e = e->IgnoreParenImpCasts();
    const auto *ref = dyn_cast<DeclRefExpr>(e);
    const auto *member = dyn_cast<MemberExpr>(e);
    const ValueDecl *d = ref ? ref->getDecl() : member ? member->getMemberDecl() : nullptr;
    const auto *p = d ? dyn_cast<ParmVarDecl>(d) : nullptr;
    if (name == "MPI_COMM_WORLD" || name == "MPI_COMM_SELF") {
      addConstant(name);
    } else if (name == "MPI_COMM_NULL") {
      return;  // of no collective
    } else if (p && in) {
      addParameter(*p, *in);
    } else if (d && !p) {
      addGiven(*d);
    } else if (const auto *call = dyn_cast<CallExpr>(e)) {
      addResult(*call);
    } else if (const auto *chosen = dyn_cast<ConditionalOperator>(e)) {
      add(chosen->getTrueExpr(), in, context);
      add(chosen->getFalseExpr(), in, context);
    } else {
      addUnknown();
    }
  }

 private:
  /// Which communicators, or which ranks they have.
  enum Asked { which, ranks };

  void addConstant(const std::string &name) {
    if (asked_ == which) found.constants.insert(name);
    if (name != "MPI_COMM_WORLD") found.ofPart = true;
  }
  void addUnknown() {
    if (asked_ == which) found.unknown = true;
    found.ofPart = true;
  }
  bool isDone() const { return asked_ == which ? found.unknown : found.ofPart; }

  /// One that nobody calls gets nothing, but templates, and methods of what a library knows, have
  /// calls that are not written.
  bool allCallsAreWritten(const FunctionDecl &f) const {
    const auto *method = dyn_cast<CXXMethodDecl>(&f);
    return !program_.addressTaken(f) && !program_.mayBeCalledUnseen(f) &&
           !(method && program_.mayBeMadeUnseen(*method->getParent())) &&
           !(program_.callers(f).empty() && (f.isTemplated() || f.isTemplateInstantiation()));
  }

  void addParameter(const ParmVarDecl &p, const FunctionDecl &in) {
    if (!seen_[asked_].insert(&p).second) return;
    if (p.getDeclContext() != &in || !program_.changes(in).never(p) ||
        (in.isExternallyVisible() && !program_.missing().empty()))
      addUnknown();
    if (const auto *constructor = dyn_cast<CXXConstructorDecl>(&in))
      return addParameterOf(*constructor, p);
    if (!allCallsAreWritten(in)) addUnknown();
    for (const CallSite &at : program_.callers(in)) {
      const unsigned i = p.getFunctionScopeIndex();
      if (at.in && i < at.call->getNumArgs() && !isa<CXXOperatorCallExpr>(at.call))
        add(at.call->getArg(i), at.in, at.in->getASTContext());
      else
        addUnknown();
    }
  }

  /// Where no call is written, a constructor's parameters are what they are without.
  void addParameterOf(const CXXConstructorDecl &constructor, const ParmVarDecl &p) {
    if (program_.addressTaken(constructor) || program_.mayBeMadeUnseen(*constructor.getParent()) ||
        !program_.given(p).empty() || p.hasUninstantiatedDefaultArg() || p.hasUnparsedDefaultArg())
      return addUnknown();
    const std::vector<Construction> &all = program_.constructions(constructor);
    if (p.hasDefaultArg())
      add(p.getDefaultArg(), nullptr, p.getASTContext());
    else if (all.empty())
      addUnknown();
    for (const Construction &at : all) {
      const unsigned i = p.getFunctionScopeIndex();
      if (i < at.arguments.size())
        add(at.arguments[i], at.in, *at.source);
      else
        addUnknown();
    }
  }

  void addResult(const CallExpr &call) {
    const FunctionDecl *callee = call.getDirectCallee();
    const FunctionDecl *f = callee ? program_.bodyAnywhere(*callee) : nullptr;
    if (!f || f->getReturnType()->isReferenceType() || isa<CoroutineBodyStmt>(f->getBody()))
      return addUnknown();
    if (seen_[asked_].insert(f).second) addReturned(*f->getBody(), *f);
  }
  void addReturned(const Stmt &in, const FunctionDecl &f) {
    if (const auto *s = dyn_cast<ReturnStmt>(&in); s && s->getRetValue())
      add(s->getRetValue(), &f, f.getASTContext());
    for (const Stmt *child : in.children())
      if (child && !isa<LambdaExpr>(child)) addReturned(*child, f);
  }

  /// Whether all that may ever give it a value is seen.
  bool isFollowed(const ValueDecl &d) const {
    if (const auto *v = dyn_cast<VarDecl>(&d)) return overlap::isFollowed(*v, program_);
    if (!hasOnlyName(d, program_)) return false;
    const auto *field = dyn_cast<FieldDecl>(&d);
    const RecordDecl *record = field ? field->getParent() : nullptr;
    // Who is given the whole structure may set any of its fields.
    return record && !record->isUnion() && !program_.inUnion(*record) && !isOfSystem(*record) &&
           hasOneName(*record) && program_.missing().empty() && program_.promises().local.empty();
  }

  /// Each source may have its own declaration of a structure without a name; and of one within
  /// another, or in a function, languages and sources have different names.
  bool hasOneName(const RecordDecl &record) const {
    if (program_.mayBeOtherElsewhere(record)) return false;
    const bool named = record.getIdentifier() || record.getTypedefNameForAnonDecl();
    return program_.sources().size() == 1 ||
           (named && record.getDeclContext()->isFileContext() &&
            record.getLexicalDeclContext()->getRedeclContext()->isFileContext() &&
            !program_.hasNameInside(record));
  }

  void addGiven(const ValueDecl &d) {
    if (!seen_[asked_].insert(&d).second) return;
    if (!isFollowed(d)) addUnknown();
    if (const auto *v = dyn_cast<VarDecl>(&d)) addInitial(*v);
    for (const Given &g : program_.given(d)) {
      if (isDone()) return;
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
      addMade(g, d);
    else if (g.in && set && set->getOpcode() == BO_Assign)
      add(set->getRHS(), g.in, g.in->getASTContext());
    else if (g.source && value)
      add(value, g.in, *g.source);
    else
      addUnknown();
  }

  /// A duplicate has the ranks of what it is one of.
  void addMade(const Given &g, const ValueDecl &d) {
    if (asked_ == which) found.made.emplace(nameInAll(d), &d);
    const auto *call = cast<CallExpr>(parentOf(g.at, g.in->getASTContext()));
    const llvm::StringRef maker = call->getDirectCallee()->getName();
    if (maker != "MPI_Comm_dup" && maker != "MPI_Comm_dup_with_info") {
      found.ofPart = true;
      return;
    }
    const llvm::SaveAndRestore asked(asked_, ranks);
    add(call->getArg(0), g.in, g.in->getASTContext());
  }

  Program &program_;
  Asked asked_ = which;
  std::set<const Decl *> seen_[2];  // by what is asked
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
