// SPDX-License-Identifier: BSD-3-Clause
// parts.cpp - where clang's lists of children end, and what stands there all the same.

#include "tools/overlap/parts.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/program.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

std::vector<const Stmt *> allPartsOf(const Stmt *s) {
  std::vector<const Stmt *> parts;
  const auto addLengths = [&](QualType type) {
    const std::vector<const Expr *> lengths = lengthsOf(type);
    parts.insert(parts.end(), lengths.begin(), lengths.end());
  };
  if (const auto *declared = dyn_cast<DeclStmt>(s)) {
    for (const Decl *d : declared->decls()) {
      if (const auto *named = dyn_cast<TypedefNameDecl>(d)) addLengths(named->getUnderlyingType());
      if (const auto *v = dyn_cast<VarDecl>(d)) {
        addLengths(v->getType());
        parts.push_back(v->getInit());
      }
    }
    return parts;
  }
  if (const auto *size = dyn_cast<UnaryExprOrTypeTraitExpr>(s); size && size->isArgumentType()) {
    addLengths(size->getArgumentType());
    return parts;
  }
  parts.assign(s->child_begin(), s->child_end());
  if (const auto *cast = dyn_cast<ExplicitCastExpr>(s)) addLengths(cast->getTypeAsWritten());
  if (isa<CompoundLiteralExpr, VAArgExpr>(s)) addLengths(llvm::cast<Expr>(s)->getType());
  if (const auto *first = dyn_cast<CXXDefaultInitExpr>(s)) parts.push_back(first->getExpr());
  if (const auto *standing = dyn_cast<CXXDefaultArgExpr>(s)) parts.push_back(standing->getExpr());
  if (const auto *list = dyn_cast<InitListExpr>(s); list && list->hasArrayFiller())
    parts.push_back(list->getArrayFiller());
  return parts;
}

std::vector<const Stmt *> bodyOf(const FunctionDecl &f) {
  std::vector<const Stmt *> all{f.getBody()};
  for (const ParmVarDecl *p : f.parameters())
    for (const Expr *length : lengthsOf(p->getOriginalType())) all.push_back(length);
  if (const auto *makes = dyn_cast<CXXConstructorDecl>(&f))
    for (const CXXCtorInitializer *i : makes->inits()) all.push_back(i->getInit());
  return all;
}

const FunctionDecl *constructorBody(const CXXConstructExpr &made, const Program &program) {
  const CXXConstructorDecl *by = made.getConstructor();
  return by->isUserProvided() ? program.definition(*by) : by;
}

const Collective *findOrdered(const FunctionDecl *f) {
  return f && isMpi(*f) ? findOrdered(f->getName().str()) : nullptr;
}

Calling callingOf(const FunctionDecl &withBody, const Program &program) {
  Calling found;
  std::vector<const Stmt *> left = bodyOf(withBody);
  while (!left.empty()) {
    const Stmt *s = left.back();
    left.pop_back();
    if (!s) continue;
    const auto *call = dyn_cast<CallExpr>(s);
    const auto *made = dyn_cast<CXXConstructExpr>(s);
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    if (const Collective *c = findOrdered(f)) found.ordered.insert(c->name);
    const FunctionDecl *body = f      ? program.definition(*f)
                               : made ? constructorBody(*made, program)
                                      : nullptr;
    if (body) found.bodies.insert(body);
    const std::vector<const Stmt *> parts = allPartsOf(s);
    left.insert(left.end(), parts.begin(), parts.end());
  }
  return found;
}

bool comesTo(const FunctionDecl &withBody, const Program &program, const Collective *kind) {
  std::set<const FunctionDecl *> seen{&withBody};
  std::vector<const FunctionDecl *> left{&withBody};
  while (!left.empty()) {
    const Calling &calls = program.calling(*left.back());
    left.pop_back();
    if (kind ? calls.ordered.contains(kind->name) : !calls.ordered.empty()) return true;
    for (const FunctionDecl *body : calls.bodies)
      if (seen.insert(body).second) left.push_back(body);
  }
  return false;
}

}  // namespace nbcc::overlap
