// SPDX-License-Identifier: BSD-3-Clause
// named.cpp - walks through statements and the types that they spell.

#include "tools/overlap/named.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>

namespace nbcc::overlap {
namespace {

using namespace clang;

class Named : public RecursiveASTVisitor<Named> {
 public:
  std::set<const Decl *> found;
  bool definesType = false;

  bool VisitDeclRefExpr(DeclRefExpr *ref) {
    found.insert(ref->getDecl());
    return true;
  }
  bool VisitTagTypeLoc(TagTypeLoc t) {
    definesType = definesType || t.isDefinition();
    found.insert(t.getDecl());
    return true;
  }
  bool VisitTypedefTypeLoc(TypedefTypeLoc t) {
    found.insert(t.getTypedefNameDecl());
    return true;
  }
};

}  // namespace

std::set<const Decl *> namedIn(const Stmt &s) {
  Named named;
  named.TraverseStmt(const_cast<Stmt *>(&s));
  return named.found;
}

DeclaredNames declaredBy(const DeclStmt &s) {
  DeclaredNames all;
  const auto add = [&](const NamedDecl *d) {
    if (d->getIdentifier()) all.names.insert(d->getName().str());
  };
  for (const Decl *d : s.decls()) {
    all.any = all.any || llvm::isa<UsingDirectiveDecl>(d);
    if (const auto *named = llvm::dyn_cast<NamedDecl>(d)) add(named);
    if (const auto *bound = llvm::dyn_cast<DecompositionDecl>(d))
      for (const BindingDecl *b : bound->bindings()) add(b);
    if (const auto *values = llvm::dyn_cast<EnumDecl>(d))
      for (const EnumConstantDecl *e : values->enumerators()) add(e);
    if (const auto *record = llvm::dyn_cast<RecordDecl>(d); record && !record->getIdentifier())
      for (const FieldDecl *f : record->fields()) add(f);
    if (const auto *v = llvm::dyn_cast<VarDecl>(d); v && v->getInit()) {
      Named within;
      within.TraverseStmt(const_cast<Expr *>(v->getInit()));
      all.any = all.any || within.definesType;
    }
  }
  return all;
}

}  // namespace nbcc::overlap
