// SPDX-License-Identifier: BSD-3-Clause
// collect_memory.cpp - one walk over a function: what is assigned to its pointers, and what
// escapes.

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include "tools/overlap/algorithms.h"
#include "tools/overlap/bindings.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/memory.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// Pointers are followed through assignments to local variables alone; any other way, they escape.
/// Assignments are collected in a first walk, since what a pointer may be decides what escapes with
/// it.
class Collect : public RecursiveASTVisitor<Collect> {
 public:
  Collect(Memory &memory, bool assignments) : memory_(memory), assignments_(assignments) {}

  bool shouldVisitImplicitCode() const { return true; }
  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitVarDecl(VarDecl *v) {
    if (const auto *bound = dyn_cast<DecompositionDecl>(v); bound && !bindsParts(*bound))
      refuse("a structured binding of what may be elsewhere", v->getLocation());
    if (assignments_) {
      auto &values = memory_.assigned_[v];
      if (v->hasAttr<CleanupAttr>())  // whose function is given its address
        memory_.escaped_.insert({Object::variable, v->getCanonicalDecl()});
      if (v->getInit() && isFollowed(v)) values.push_back(v->getInit());
      if (v->getInit() && mayTakeOver(v->getType(), v->getInit()))
        memory_.escaped_.insert({Object::variable, v});
      if (knowsItself(v->getType(), v->getInit()))
        memory_.escaped_.insert({Object::variable, v->getCanonicalDecl()});
    } else if (v->getInit() && v->getType()->isReferenceType() &&
               isPointer(v->getType()->getPointeeType())) {
      memory_.escapes(v->getInit(), false);
    } else if (v->getInit() && !isFollowed(v)) {
      memory_.escapes(v->getInit(), false);  // of a static variable
    }
    return true;
  }

  // What a reference names that runs over a container is the container.
  bool TraverseCXXForRangeStmt(CXXForRangeStmt *loop) {
    if (!isPlainRange(*loop)) return RecursiveASTVisitor::TraverseCXXForRangeStmt(loop);
    if (assignments_) memory_.assigned_[loop->getLoopVariable()].push_back(loop->getRangeInit());
    return TraverseStmt(loop->getRangeInit()) && TraverseStmt(loop->getBody());
  }

  bool VisitBinaryOperator(BinaryOperator *op) {
    if (isDistance(*op)) {
      memory_.escapes(op->getLHS(), false);
      memory_.escapes(op->getRHS(), false);
    }
    if (op->getOpcode() != BO_Assign) return true;
    const auto *ref = dyn_cast<DeclRefExpr>(op->getLHS()->IgnoreParens());
    const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    const bool followed = v && isFollowed(v) && !v->getType()->isReferenceType();
    if (assignments_ && followed) memory_.assigned_[v].push_back(op->getRHS());
    if (assignments_ || followed) return true;
    memory_.escapes(op->getRHS(), false);
    // (c ? p : q) = ...: one of them is given it.
    const Expr *to = op->getLHS()->IgnoreParens();
    if (!isa<DeclRefExpr, MemberExpr, ArraySubscriptExpr>(to)) memory_.escapes(to, false);
    return true;
  }

  /// A pointer that may be written through a pointer to it is no longer followed.
  bool VisitUnaryOperator(UnaryOperator *op) {
    if (op->getOpcode() == UO_AddrOf && isPointer(op->getSubExpr()->getType()))
      gone(op->getSubExpr());
    return true;
  }

  bool VisitReturnStmt(ReturnStmt *s) {
    if (!s->getRetValue() || assignments_) return true;
    memory_.escapes(s->getRetValue(), true);
    memory_.returned_.push_back(s->getRetValue());
    return true;
  }
  bool VisitCastExpr(CastExpr *cast) {
    const CastKind kind = cast->getCastKind();
    const bool reads = kind == CK_LValueToRValue || kind == CK_ArrayToPointerDecay ||
                       kind == CK_PointerToBoolean || kind == CK_ToVoid;
    const bool asBytes = kind == CK_LValueBitCast && isPointer(cast->getSubExpr()->getType());
    if (asBytes || (!reads && !staysInObject(kind))) gone(cast->getSubExpr());
    return true;
  }
  /// What is none of these may keep whatever it is given: new, throw, lists, constructors.
  bool VisitExpr(Expr *e) {
    if (isa<ParenExpr, UnaryOperator, BinaryOperator, AbstractConditionalOperator, CastExpr,
            ArraySubscriptExpr, MemberExpr, CallExpr, FullExpr, CXXBindTemporaryExpr,
            MaterializeTemporaryExpr, CompoundLiteralExpr, GenericSelectionExpr, ChooseExpr,
            UnaryExprOrTypeTraitExpr, CXXDeleteExpr>(e))
      return true;
    for (const Stmt *child : e->children())
      if (const auto *operand = llvm::dyn_cast_or_null<Expr>(child)) gone(operand);
    return true;
  }
  bool VisitCallExpr(CallExpr *call) {
    if (!assignments_) passed(call);
    return true;
  }

  // Its iterators are gone when it returns.
  bool TraverseCallExpr(CallExpr *call) {
    if (!findAlgorithm(*call)) return RecursiveASTVisitor::TraverseCallExpr(call);
    for (const Expr *argument : call->arguments())
      for (const Expr *part : partsOf(argument))
        if (!TraverseStmt(const_cast<Expr *>(part))) return false;
    return true;
  }

  bool VisitCXXNewExpr(CXXNewExpr *made) {
    const Expr *init = made->getInitializer();
    const bool takesOver = init && mayTakeOver(made->getAllocatedType(), init);
    if (!takesOver && !knowsItself(made->getAllocatedType(), init)) return true;
    memory_.escaped_.insert({Object::allocation, made});
    memory_.kept_.insert({Object::allocation, made});
    return true;
  }

  // What it captures has escaped, by VisitExpr(); what it is given is not followed.
  bool VisitLambdaExpr(LambdaExpr *e) {
    if (e->isGenericLambda()) return refuse("a lambda with auto", e->getBeginLoc());
    for (const LambdaCapture &c : e->captures())
      if (c.getCaptureKind() != LCK_ByRef && c.getCaptureKind() != LCK_This)
        return refuse("a lambda with copies in it", e->getBeginLoc());
    for (const ParmVarDecl *p : e->getCallOperator()->parameters())
      memory_.escaped_.insert({Object::variable, p});
    return true;
  }
  bool VisitBlockExpr(BlockExpr *e) { return refuse("a block", e->getBeginLoc()); }
  // As of assert(): what it gives is no pointer, so only what its statements do matters.
  bool VisitStmtExpr(StmtExpr *e) {
    const QualType type = e->getType();
    if (type->isVoidType() || type->isArithmeticType()) return true;
    return refuse("a pointer out of a statement in an expression", e->getBeginLoc());
  }
  bool VisitAsmStmt(AsmStmt *s) { return refuse("assembly", s->getBeginLoc()); }
  bool VisitIndirectGotoStmt(IndirectGotoStmt *s) {
    return refuse("a computed goto", s->getBeginLoc());
  }
  bool VisitCoroutineBodyStmt(CoroutineBodyStmt *s) {
    return refuse("a coroutine", s->getBeginLoc());
  }
  // It may have been thrown anywhere.
  bool VisitCXXCatchStmt(CXXCatchStmt *s) {
    if (const VarDecl *caught = s->getExceptionDecl())
      memory_.escaped_.insert({Object::variable, caught});
    return true;
  }
  bool VisitSEHTryStmt(SEHTryStmt *s) { return refuse("__try", s->getBeginLoc()); }

 private:
  bool refuse(const char *what, SourceLocation at) {
    if (!memory_.notUnderstood_.empty()) return true;
    memory_.notUnderstood_ = what;
    memory_.notUnderstoodAt_ = at;
    return true;
  }

  void gone(const Expr *e) {
    if (!assignments_) memory_.escapes(e, false);
  }

  static bool isPointer(QualType type) {
    const auto *atomic = type->getAs<AtomicType>();
    return (atomic ? atomic->getValueType() : type)->isPointerType();
  }

  /// What a call returns is made in place, so that whatever the function keeps may point at it.
  static bool knowsItself(QualType type, const Expr *init) {
    const bool made = init && !init->getType().isNull() && init->getType()->isRecordType() &&
                      isa<CallExpr>(init->IgnoreUnlessSpelledInSource());
    return mayKnowItself(type) || (made && type->getAsCXXRecordDecl());
  }

  /// A local variable, of which all assignments are seen as long as it does not escape.
  static bool isFollowed(const VarDecl *v) {
    return !v->hasGlobalStorage() && !v->hasAttr<CleanupAttr>() &&
           (v->getType()->isPointerType() || v->getType()->isReferenceType() ||
            !v->getType()->isRecordType());
  }

  void passed(const CallExpr *call) {
    const FunctionDecl *f = call->getDirectCallee();
    if (f && f->getIdentifier() &&
        (f->getName().contains("setjmp") || f->getName() == "vfork" || f->getName() == "longjmp"))
      refuse("setjmp, longjmp or vfork", call->getBeginLoc());
    if (const auto *method = dyn_cast<CXXMemberCallExpr>(call)) {
      const CXXMethodDecl *m = method->getMethodDecl();
      const bool ofContainer =
          m && m->getIdentifier() && isContainer(method->getObjectType()) &&
          (pointsIntoContainer(m->getName()) || readsShapeOfContainer(m->getName()) ||
           (isContainerOfNumbers(method->getObjectType()) &&
            (m->getName() == "resize" || m->getName() == "assign" || m->getName() == "push_back")));
      if (!ofContainer && !(m && isOfComplex(*m))) {
        const Expr *object = method->getImplicitObjectArgument();
        memory_.escapes(object, false);
      }
    }
    const auto *op = dyn_cast<CXXOperatorCallExpr>(call);
    if (op && isContainer(op->getArg(0)->getType()) && op->getOperator() == OO_Subscript) return;
    if (op && assignsByParts(*op) && !op->getArg(1)->isXValue() &&
        (isContainerOfNumbers(op->getType()) || !holdsPointers(op->getType())))
      return;
    for (unsigned i = 0; i < call->getNumArgs(); ++i)
      if (keeps(call, f, i)) memory_.escapes(call->getArg(i), false);
  }

  bool keeps(const CallExpr *call, const FunctionDecl *f, unsigned i) const {
    const QualType type = call->getArg(i)->getType();
    if (!call->getArg(i)->isGLValue() && !isPointer(type)) return false;
    if (!f || (call->getArg(i)->isGLValue() && isPointer(type))) return true;
    if (const KnownCall *known = findKnownCall(*f))
      return leavesPointer(call, *known) || tellsAddress(*call, *known, i);
    if (isChoice(*f) || isOfComplex(*f)) return false;
    if (isMathematics(*f) || f->hasAttr<PureAttr>())  // into what it is given: std::move()
      return mayPoint(f->getReturnType());
    if (i < f->getNumParams() && f->getParamDecl(i)->hasAttr<NoEscapeAttr>()) return false;
    if (isMpi(*f)) return mpiKeeps(f->getName().str());
    return memory_.others_.keeps(*f,
                                 isa<CXXOperatorCallExpr>(call) && isa<CXXMethodDecl>(f) ? ~0u : i);
  }

  /// strtol() writes where it stopped: a pointer into what it is given.
  static bool leavesPointer(const CallExpr *call, const KnownCall &known) {
    const FunctionDecl *f = call->getDirectCallee();
    for (unsigned i = 0; i < f->getNumParams() && i < call->getNumArgs(); ++i) {
      const QualType type = f->getParamDecl(i)->getType();
      const bool writes = known.argument(i) == 'w' && type->isPointerType() &&
                          type->getPointeeType()->isPointerType();
      if (writes && !call->getArg(i)->isNullPointerConstant(f->getASTContext(),
                                                            Expr::NPC_ValueDependentIsNotNull))
        return true;
    }
    return false;
  }

  Memory &memory_;
  const bool assignments_;
};

Memory::Memory(const FunctionDecl &f, Others others) : in_(f), others_(std::move(others)) {
  Stmt *body = f.getBody();
  // They belong to another function, and copies of them go by the same names.
  if (const auto *m = dyn_cast<CXXMethodDecl>(&f);
      m && m->getParent()->isLambda() && m->getParent()->capture_size() > 0) {
    notUnderstood_ = "captures";
    notUnderstoodAt_ = f.getLocation();
  }
  for (const bool assignments : {true, false}) {
    Collect collect(*this, assignments);
    if (const auto *made = dyn_cast<CXXConstructorDecl>(&f))
      for (const CXXCtorInitializer *init : made->inits()) {
        collect.TraverseStmt(init->getInit());
        if (!assignments) escapes(init->getInit(), false);  // into a field
      }
    collect.TraverseStmt(body);
    for (const ParmVarDecl *p : f.parameters())
      if (p->getType()->isRecordType() && !p->getType()->isDependentType()) {
        escaped_.insert({Object::pointee, p});  // whatever pointers it holds
        if (f.getLangOpts().CPlusPlus) escaped_.insert({Object::variable, p});
      }
    close(escaped_);
    close(kept_);
  }
}

}  // namespace nbcc::overlap
