// SPDX-License-Identifier: BSD-3-Clause
// collect_unseen.cpp - one look through all that a source has become, libraries' headers included.
//
//   std::for_each(all, all + n, [](const Solver &s) { ... });   makes Solvers in <algorithm>
//   for (Solver s : communicators)                              makes one for each, unwritten
//   std::scoped_lock guard(mine);                               calls mine.lock() in <mutex>

#include "tools/overlap/collect_unseen.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

#include "tools/overlap/collect_given.h"
#include "tools/overlap/known_calls.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

namespace {

class Unseen : public RecursiveASTVisitor<Unseen> {
 public:
  Unseen(const Written &written, const std::set<const FunctionDecl *> &lambdas,
         const std::function<void(const FunctionDecl &)> &called,
         const std::function<void(const char *)> &missing)
      : written_(written), lambdas_(lambdas), called_(called), missing_(missing) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitCXXConstructExpr(CXXConstructExpr *made) {
    const auto args = made->arguments();
    if (written_.contains(made) ||
        std::ranges::all_of(args, [](const Expr *e) { return isa<CXXDefaultArgExpr>(e); }))
      return true;
    return calls(constructorOf(*made));
  }
  bool VisitDeclRefExpr(DeclRefExpr *ref) { return names(ref, *ref->getDecl()); }
  bool VisitMemberExpr(MemberExpr *member) { return names(member, *member->getMemberDecl()); }
  bool VisitBindingDecl(BindingDecl *name) {
    return !name->getHoldingVar() || TraverseDecl(name->getHoldingVar());
  }

  // One that stands in a template's argument, as it is by default, is listed where that is, and
  // nowhere else.
  bool VisitDecl(Decl *d) {
    const auto *context = dyn_cast<DeclContext>(d);
    if (!context || context->isDependentContext()) return true;
    for (const Decl *inner : context->decls()) {
      const auto *record = dyn_cast<CXXRecordDecl>(inner);
      if (record && record->isLambda() && !record->isDependentContext() && !isOfSystem(*record) &&
          !lambdas_.contains(record->getLambdaCallOperator()))
        missing_("a lambda in a template's argument");
    }
    return true;
  }

 private:
  bool names(const Expr *e, const ValueDecl &d) {
    const auto *f = dyn_cast<FunctionDecl>(&d);
    if (!f || written_.contains(e)) return true;
    // What it makes for others it makes here, too.
    if (const CXXConstructExpr *made = madeBy(*f)) calls(constructorOf(*made));
    return calls(*f);
  }
  bool calls(const FunctionDecl &f) {
    if (!isOfSystem(f)) called_(f);
    return true;
  }

  const Written &written_;
  const std::set<const FunctionDecl *> &lambdas_;
  const std::function<void(const FunctionDecl &)> &called_;
  const std::function<void(const char *)> &missing_;
};

}  // namespace

void collectUnseen(ASTContext &context, const Written &written,
                   const std::set<const FunctionDecl *> &lambdas,
                   const std::function<void(const FunctionDecl &)> &called,
                   const std::function<void(const char *)> &missing) {
  Unseen(written, lambdas, called, missing).TraverseDecl(context.getTranslationUnitDecl());
}

std::vector<Decl *> ownOfLibrary(const DeclContext &in) {
  std::vector<Decl *> all;
  const auto add = [&](auto &of) {
    for (auto *made : of.specializations())
      if (!isOfSystem(*made) && !made->isExplicitSpecialization()) all.push_back(made);
  };
  for (Decl *d : in.decls()) {
    if (auto *of = dyn_cast<ClassTemplateDecl>(d); of && of->isCanonicalDecl()) add(*of);
    if (auto *of = dyn_cast<VarTemplateDecl>(d); of && of->isCanonicalDecl()) add(*of);
    if (!isa<NamespaceDecl, LinkageSpecDecl, CXXRecordDecl>(d)) continue;
    const std::vector<Decl *> inner = ownOfLibrary(*Decl::castToDeclContext(d));
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

}  // namespace nbcc::overlap
