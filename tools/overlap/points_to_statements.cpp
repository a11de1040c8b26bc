// SPDX-License-Identifier: BSD-3-Clause
// points_to_statements.cpp - statements, and what variables begin and end with.

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/StmtCXX.h>

#include "tools/overlap/memory.h"
#include "tools/overlap/points_to.h"
#include "tools/overlap/program.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// Whether the end of an object runs code that is not looked at: of its parts, or of no source
/// here.
bool PointsTo::endsUnseen(QualType type) const {
  type = QualType(type->getBaseElementTypeUnsafe(), 0);
  const CXXRecordDecl *record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || record->hasTrivialDestructor()) return false;
  if (isContainer(type)) {
    const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(record);
    const CXXRecordDecl *element =
        of ? of->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl() : nullptr;
    return element && element->hasDefinition() && !element->hasTrivialDestructor() &&
           !isContainer(of->getTemplateArgs()[0].getAsType());
  }
  if (!record->getDestructor() || !definition(*record->getDestructor()) ||
      record->getNumBases() > 0)
    return true;
  for (const FieldDecl *f : record->fields()) {
    const CXXRecordDecl *part = f->getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    if (part && part->hasDefinition() && !part->hasTrivialDestructor() &&
        (!isContainer(f->getType()) || endsUnseen(f->getType())))
      return true;
  }
  return false;
}

void PointsTo::statement(const Stmt *s) {
  if (!s) return;
  if (const auto *e = dyn_cast<Expr>(s)) {
    either(e);
    return;
  }
  if (const auto *declared = dyn_cast<DeclStmt>(s)) {
    for (const Decl *d : declared->decls())
      if (const auto *v = dyn_cast<VarDecl>(d)) declares(*v);
    return;
  }
  if (const auto *r = dyn_cast<ReturnStmt>(s)) {
    if (const Expr *e = r->getRetValue()) {
      const Places to = Places::one(returning_->getCanonicalDecl());
      // It may be made where the caller wants it: nobody knows what the constructor is at.
      if (const auto *record = returning_->getReturnType()->getAsCXXRecordDecl();
          record && record->hasDefinition() && mayKnowItself(returning_->getReturnType()))
        for (const CXXConstructorDecl *by : record->ctors())
          store(Places::one(self(*by)), Places::anything());
      const Places given = either(e);
      if (calledByOthers(*returning_)) escapeWhole(given);
      if (returning_->getReturnType()->isReferenceType())
        store(to, given);
      else
        assign(e->getType(), to, given);
    }
    return;
  }
  if (const auto *loop = dyn_cast<CXXForRangeStmt>(s)) return rangeLoop(loop);
  if (const auto *caught = dyn_cast<CXXCatchStmt>(s); caught && caught->getExceptionDecl())
    store(Places::one(object(*caught->getExceptionDecl())), Places::anything());
  if (isa<AsmStmt>(s)) {
    unseen(s);
    return;
  }
  for (const Stmt *child : s->children()) statement(child);
}

void PointsTo::rangeLoop(const CXXForRangeStmt *loop) {
  const Expr *over = loop->getRangeInit();
  const VarDecl *each = loop->getLoopVariable();
  statement(loop->getInit());
  if (isContainer(over->getType()) || over->getType()->isArrayType()) {
    const Places elements = either(over);
    const Places to = Places::one(object(*each));
    if (each->getType()->isReferenceType())
      store(to, elements);
    else if (isRecordOrArray(each->getType()))
      copy(to, elements);
    else if (each->getType()->isPointerType())
      store(to, load(elements));
    statement(loop->getBody());
    return;
  }
  for (const Stmt *child : loop->children()) statement(child);
}

void PointsTo::declares(const VarDecl &v) {
  if (v.getType()->isDependentType()) return;
  const Places self = Places::one(object(v));
  if (endsUnseen(v.getType()) || v.hasAttr<CleanupAttr>())
    escape(self);
  else if (const CXXRecordDecl *record =
               v.getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
           record && record->hasDefinition() && !isContainer(v.getType()))
    if (const CXXDestructorDecl *last = record->getDestructor(); last && !last->isTrivial())
      store(Places::one(this->self(*last)), self);
  if (isa<DecompositionDecl>(v)) {
    escape(self);
    if (v.getInit()) escape(either(v.getInit()));
  }
  if (!v.getInit()) return;
  initialises(v.getType(), self, v.getInit());
}

void PointsTo::initialises(QualType type, const Places &to, const Expr *init) {
  const Expr *plain = init->IgnoreParens();
  if (const auto *cleanups = dyn_cast<ExprWithCleanups>(plain)) plain = cleanups->getSubExpr();
  if (const auto *cast = dyn_cast<CXXFunctionalCastExpr>(plain)) plain = cast->getSubExpr();
  if (const auto *bound = dyn_cast<CXXBindTemporaryExpr>(plain);
      bound && !isContainer(type) && type->isRecordType()) {
    plain = bound->getSubExpr();
    escapeWhole(to);  // its end is nowhere to be seen
  }
  if (type->isReferenceType()) return store(to, either(init));
  if (exchanged_ && mayTakeOver(type, init)) escape(to);
  if (const auto *made = dyn_cast<CXXConstructExpr>(plain)) return constructs(to, made);
  // What fills it in its place may keep a pointer to it.
  if (mayKnowItself(type)) {
    escape(to);
    store(to, Places::anything());
  }
  if (init->isGLValue()) {  // of a string literal
    place(init);
    return;
  }
  assign(type, to, value(init));
}

/// What is in braces is an object of its own, of which the variable becomes a copy.
Places PointsTo::listValue(const InitListExpr *list) {
  if (list->isSyntacticForm() && list->getSemanticForm()) list = list->getSemanticForm();
  if (!isRecordOrArray(list->getType())) {
    Places all;
    for (const Expr *e : list->inits()) all.add(either(e));
    return all;
  }
  const Places self = Places::one(list);
  if (const auto *record = list->getType()->getAsRecordDecl()) {
    if (record->isUnion() ||
        (isa<CXXRecordDecl>(record) && llvm::cast<CXXRecordDecl>(record)->getNumBases() > 0)) {
      for (const Expr *e : list->inits()) initialises(e->getType(), self, e);
      return self;
    }
    unsigned i = 0;
    for (const FieldDecl *f : record->fields()) {
      if (f->isUnnamedBitField()) continue;
      if (i >= list->getNumInits()) break;
      initialises(f->getType(), Places::one(list, field(*f)), list->getInit(i++));
    }
    return self;
  }
  for (const Expr *e : list->inits()) initialises(e->getType(), self, e);
  if (list->hasArrayFiller())
    initialises(list->getArrayFiller()->getType(), self, list->getArrayFiller());
  return self;
}

}  // namespace nbcc::overlap
