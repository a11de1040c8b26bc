// SPDX-License-Identifier: BSD-3-Clause
// uniform_command_line.cpp - what is computed from the command line, which is the same on all
// ranks, by main() itself or by getopt().

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

bool isOfCommandLine(const ParmVarDecl &p) {
  const auto *f = dyn_cast<FunctionDecl>(p.getDeclContext());
  return f && f->isMain() && p.getFunctionScopeIndex() < 2;
}

/// *argc, where a function is given &argc of main().
bool Uniform::isCommandLine(const Expr *e, const FunctionDecl *in) {
  const llvm::SaveAndRestore time(atAnyTime_, true);  // wherever it is, here it has another name
  const Places places = program_.memory(*in).designated(e).whole;
  if (places.unknown || places.known.size() != 1) return false;
  for (const FunctionDecl *f : program_.bodies())
    if (f->isMain())
      for (const ParmVarDecl *p : f->parameters())
        if (places.known.begin()->object == p->getCanonicalDecl())
          return isOfCommandLine(*p) && sameValue(p);
  return false;
}

static constexpr const char *parsers[] = {"getopt", "getopt_long", "getopt_long_only"};

static bool isAmong(const NamedDecl &d, const auto &names) {
  return d.getIdentifier() && isOfSystem(d) &&
         std::ranges::any_of(names, [&](const char *name) { return d.getName() == name; });
}

bool Uniform::parsesOptions(const FunctionDecl &f) const {
  return isAmong(f, parsers) && f.isExternC() && !program_.definition(f);
}

static constexpr const char *whereItGoesOn[] = {"optarg", "optind", "opterr", "optopt"};

bool Uniform::isOfParser(const VarDecl &v) {
  return v.hasExternalStorage() && isAmong(v, whereItGoesOn);
}

/// The long options: constants, and looked at by nothing but these functions.
static bool isConstantTable(const Expr *table, const Program &program, const ASTContext &context) {
  const auto *ref = dyn_cast<DeclRefExpr>(table->IgnoreParenImpCasts());
  const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  const Expr *init = v && !program.hasNames(*v) ? v->getInit() : nullptr;
  if (!init || program.knownElsewhere(*v) ||
      !init->isConstantInitializer(const_cast<ASTContext &>(context), false))
    return false;
  return std::ranges::all_of(program.uses(*v), [&](const Use &use) {
    if (!use.in) return false;
    ASTContext &of = use.in->getASTContext();
    const Stmt *at = use.ref;
    while (isa_and_nonnull<CastExpr, ParenExpr, DeclRefExpr>(at)) at = parentOf(at, of);
    const auto *call = dyn_cast_or_null<CallExpr>(at);
    return call && call->getDirectCallee() && isAmong(*call->getDirectCallee(), parsers);
  });
}

/// Whether getopt() is called alike on all ranks throughout, so that what it returns, and what it
/// leaves behind, is the same.
bool Uniform::optionsAreSame(const ASTContext &context) {
  const llvm::SaveAndRestore time(atAnyTime_, true);  // it looks at its variables in each call
  if (!ask(parsers)) return true;
  for (const char *name : parsers)
    for (const NamedDecl *d : declared(name, context)) {
      const auto *f = dyn_cast<FunctionDecl>(d);
      if (!f) continue;
      if (program_.addressTaken(*f))
        return differs(f->getNameAsString() + "() may be called through a pointer");
      for (const CallSite &at : program_.callers(*f)) {
        if (!at.in || at.call->getNumArgs() < 3) return false;
        for (unsigned i = 0; i < 3; ++i)
          if (!same(at.call->getArg(i), at.in)) return false;
        if (at.call->getNumArgs() > 3 &&
            !isConstantTable(at.call->getArg(3), program_, at.in->getASTContext()))
          return differs("the long options that getopt_long() is given may change");
        const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
        if (!reached(at.call, at.in) || !entered(at.in)) return false;
      }
    }
  for (const char *name : {"setenv", "unsetenv", "putenv", "clearenv"})  // POSIXLY_CORRECT
    for (const NamedDecl *d : declared(name, context))
      if (const auto *f = dyn_cast<FunctionDecl>(d);
          f && (program_.addressTaken(*f) || !program_.callers(*f).empty()))
        return differs(f->getNameAsString() + "() may change how options are looked for");
  for (const char *name : whereItGoesOn)
    for (const NamedDecl *d : declared(name, context))
      if (const auto *v = dyn_cast<VarDecl>(d))
        for (const Use &use : program_.uses(*v))
          if (!sameUse(use, *v)) return differsBy(use, "'" + v->getNameAsString() + "'", *v);
  return true;
}

}  // namespace nbcc::overlap
