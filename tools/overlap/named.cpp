// SPDX-License-Identifier: BSD-3-Clause
// named.cpp - walks through statements and the types that they spell.

#include "tools/overlap/named.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include "tools/overlap/changes.h"

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

namespace {

class Declared {
 public:
  Declared(const Stmt &s, const FunctionDecl &in)
      : s_(s), files_(in.getASTContext().getSourceManager()) {
    if (const auto *declared = llvm::dyn_cast<DeclStmt>(&s)) by(*declared);
    if (!in.getASTContext().getLangOpts().CPlusPlus) typesIn(in);
  }
  DeclaredNames all;

 private:
  void add(const NamedDecl *d) {
    if (d->getIdentifier()) all.names.insert(d->getName().str());
    if (const auto *values = llvm::dyn_cast<EnumDecl>(d))
      for (const EnumConstantDecl *e : values->enumerators()) add(e);
  }

  void by(const DeclStmt &declared) {
    for (const Decl *d : declared.decls()) {
      all.any = all.any || llvm::isa<UsingDirectiveDecl, UsingEnumDecl>(d);
      if (const auto *named = llvm::dyn_cast<NamedDecl>(d)) add(named);
      if (const auto *bound = llvm::dyn_cast<DecompositionDecl>(d))
        for (const BindingDecl *b : bound->bindings()) add(b);
      if (const auto *record = llvm::dyn_cast<RecordDecl>(d); record && !record->getIdentifier())
        for (const FieldDecl *f : record->fields()) add(f);
      if (const auto *v = llvm::dyn_cast<VarDecl>(d); v && v->getInit()) {
        Named within;
        within.TraverseStmt(const_cast<Expr *>(v->getInit()));
        all.any = all.any || within.definesType;
      }
    }
  }

  /// Those of C stand where their function's are, or in another type, wherever they are spelled.
  void typesIn(const DeclContext &context) {
    for (const Decl *d : context.decls()) {
      const auto *type = llvm::dyn_cast<TagDecl>(d);
      if (!type) continue;
      if (llvm::isa<RecordDecl>(type)) typesIn(*type);
      if (!isWithin(type->getLocation(), &s_, files_)) continue;
      all.types = true;
      add(type);
    }
  }

  const Stmt &s_;
  const SourceManager &files_;
};

}  // namespace

DeclaredNames declaredBy(const Stmt &s, const FunctionDecl &in) {
  return Declared(s, in).all;
}

}  // namespace nbcc::overlap
