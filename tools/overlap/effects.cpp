// SPDX-License-Identifier: BSD-3-Clause
// effects.cpp - statements and expressions; call_effects.cpp has calls.

#include "tools/overlap/effects.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <utility>

#include "tools/overlap/points_to.h"
#include "tools/overlap/types.h"
#include "tools/overlap/walk.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

std::string written(const Stmt *s, const ASTContext &context) {
  const SourceManager &files = context.getSourceManager();
  const CharSourceRange range =
      files.getExpansionRange(CharSourceRange::getTokenRange(s->getSourceRange()));
  std::string text = Lexer::getSourceText(range, files, context.getLangOpts()).str();
  if (text == ":") return "what the loop goes through";  // for (x : container), by its iterator
  if (const size_t end = text.find('\n'); end != std::string::npos)
    text = text.substr(0, end) + "...";
  constexpr size_t most = 60;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

std::optional<bool> known(const Expr *condition, const ASTContext &context) {
  bool is = false;
  if (!condition || condition->isValueDependent() ||
      !condition->EvaluateAsBooleanCondition(is, context))
    return std::nullopt;
  return is;
}

bool isConstant(const Expr &init, const ASTContext &context) {
  return !init.isValueDependent() &&
         init.isConstantInitializer(const_cast<ASTContext &>(context), init.isGLValue());
}

void Walk::add(Effect::Kind kind, const Stmt *at, std::string what, Objects objects,
               Access access) {
  out_.all.push_back(
      {kind, std::move(objects), at->getBeginLoc(), std::move(what), std::move(access)});
}

Access Walk::from(const Expr *pointer, const Expr *bytes) const {
  const Access::Extent extent = bytes ? Access::counted : Access::anywhere;
  return {extent, pointer, memory_.function(), bytes, 1, {}};
}

void Walk::access(const Expr *e, bool read, bool write) {
  const Objects objects = memory_.designated(e);
  const QualType type = e->getType();
  if (type.isVolatileQualified() || type->isAtomicType()) add(Effect::orders, e, text(e));
  const Access here{Access::exactly, e, memory_.function(), nullptr, 1, {}};
  if (read) add(Effect::reads, e, text(e), objects, here);
  if (write) add(Effect::writes, e, text(e), objects, here);
}

bool holdsLabel(const Stmt *s) {
  return isa<LabelStmt, SwitchCase>(s) ||
         llvm::any_of(s->children(), [](const Stmt *child) { return child && holdsLabel(child); });
}

static bool isStop(const Stmt *s) {
  const auto *call = dyn_cast<CallExpr>(s);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  const KnownCall *known = f ? findKnownCall(*f) : nullptr;
  return known && known->kind == CallKind::stops;
}

void Walk::statements(const Stmt *parent) {
  bool over = false;  // MPI_Abort(); exit(1);
  for (const Stmt *child : parent->children()) {
    if (!child) continue;
    over = over && !holdsLabel(child);
    if (over) continue;
    isa<Expr>(parent) ? statement(child) : whole(child, parent);
    over = isa<CompoundStmt>(parent) && isStop(child) && !out_.all.empty() &&
           out_.all.back().kind == Effect::stops;  // not of MPI_COMM_SELF alone
  }
}

/// The macro that a statement is: with nothing in it, or with what does nothing, as assert() where
/// NDEBUG is.
static std::string vanished(const Stmt *s, const ASTContext &context) {
  const auto *nothing = dyn_cast<NullStmt>(s);
  if (nothing && nothing->hasLeadingEmptyMacro()) return "a macro in front of ;";
  const auto *e = dyn_cast<Expr>(s);
  const auto *cast = e ? dyn_cast<ExplicitCastExpr>(e->IgnoreParens()) : nullptr;
  const SourceLocation at = s->getBeginLoc();
  if (!cast || !at.isMacroID() || !cast->getType()->isVoidType() ||
      !isa<IntegerLiteral>(cast->getSubExpr()->IgnoreParenImpCasts()))
    return {};
  return Lexer::getImmediateMacroName(at, context.getSourceManager(), context.getLangOpts()).str();
}

/// Whether a child stands for itself, and nobody asks for its value.
static bool isStatementOf(const Stmt *s, const Stmt *parent) {
  const auto *branch = dyn_cast_or_null<IfStmt>(parent);
  const auto *label = dyn_cast_or_null<SwitchCase>(parent);
  return !parent || isa<CompoundStmt, LabelStmt, AttributedStmt>(parent) ||
         (branch && s != branch->getCond()) || (label && s == label->getSubStmt());
}

/// Whether a statement is what a macro stands for, and no part of that.
static bool isMacro(const Stmt *s, const Stmt *parent, const SourceManager &files) {
  const SourceLocation at = s->getBeginLoc();
  const auto *e = dyn_cast<Expr>(s);
  const bool block = isa<CompoundStmt, DoStmt, WhileStmt, ForStmt, IfStmt, NullStmt>(s);
  const bool valueless = e && (e->getType()->isVoidType() || isStatementOf(s, parent));
  if (!at.isMacroID() || !(block || valueless)) return false;
  const SourceLocation around = parent ? parent->getBeginLoc() : SourceLocation();
  return !around.isMacroID() || files.getImmediateExpansionRange(at).getBegin() !=
                                    files.getImmediateExpansionRange(around).getBegin();
}

void Walk::whole(const Stmt *s, const Stmt *parent) {
  if (const std::string name = vanished(s, context_); !name.empty())
    return add(Effect::vanishes, s, name);
  const size_t before = out_.all.size();
  statement(s);
  const SourceManager &files = context_.getSourceManager();
  if (out_.all.size() == before && isMacro(s, parent, files))
    add(Effect::vanishes, s,
        Lexer::getImmediateMacroName(s->getBeginLoc(), files, context_.getLangOpts()).str());
}

/// `broken`: a break within leads out.
static bool hasWayOut(const Stmt *s, bool broken) {
  if (isa<ReturnStmt, GotoStmt, IndirectGotoStmt, CXXThrowExpr>(s)) return true;
  if (isa<BreakStmt>(s)) return broken;
  const bool within = broken && !isLoop(s) && !isa<SwitchStmt>(s);
  return std::ranges::any_of(s->children(),
                             [&](const Stmt *child) { return child && hasWayOut(child, within); });
}

/// A loop whose condition is always true, and that has no other way out.
static bool neverEnds(const Stmt *loop, const ASTContext &context) {
  const Expr *condition = nullptr;
  if (const auto *f = dyn_cast<ForStmt>(loop)) condition = f->getCond();
  if (const auto *w = dyn_cast<WhileStmt>(loop)) condition = w->getCond();
  if (const auto *d = dyn_cast<DoStmt>(loop)) condition = d->getCond();
  const bool always = condition ? known(condition, context) == true : isa<ForStmt>(loop);
  return always && std::ranges::none_of(loop->children(), [](const Stmt *child) {
           return child && hasWayOut(child, true);
         });
}

void Walk::statement(const Stmt *s) {
  if (const auto *e = dyn_cast<Expr>(s)) return value(e);
  if (const auto *declared = dyn_cast<DeclStmt>(s)) {
    for (const Decl *d : declared->decls()) {
      if (const auto *v = dyn_cast<VarDecl>(d)) declares(v);
      if (const auto *type = dyn_cast<TypedefNameDecl>(d)) lengths(type->getUnderlyingType());
    }
    return;
  }
  if (isLoop(s)) {
    if (neverEnds(s, context_)) add(Effect::opaque, s, "a loop that does not end");
    const long before = out_.work;
    ++loops_;
    if (const auto *each = dyn_cast<CXXForRangeStmt>(s); each && isPlainRange(*each)) {
      address(each->getRangeInit());
      access(each->getRangeInit(), true, false);
      statement(each->getBody());
    } else {
      statements(s);
    }
    --loops_;
    constexpr long kTurns = 100;
    out_.addWork((out_.work - before + 1) * kTurns);
    return;
  }
  if (isa<SwitchStmt>(s)) {
    ++loops_, ++switches_;  // break leaves it, too
    statements(s);
    --loops_, --switches_;
    return;
  }
  if (isa<CaseStmt, DefaultStmt>(s) && switches_ == 0) add(Effect::enters, s, "case");
  if (const auto *label = dyn_cast<LabelStmt>(s)) add(Effect::enters, s, label->getName());
  if (isa<BreakStmt>(s) && loops_ == 0) add(Effect::leaves, s, "break");
  if (isa<ContinueStmt>(s)) {
    if (loops_ == switches_) add(Effect::leaves, s, "continue");
    return;
  }
  if (isa<GotoStmt, IndirectGotoStmt>(s)) add(Effect::leaves, s, "goto");
  if (const auto *r = dyn_cast<ReturnStmt>(s)) {  // behind what it returns, which may tell more
    const VarDecl *own = r->getNRVOCandidate();   // its parts become those of the result
    if (!own || !isCopiedByParts(own->getType()) || !program_.allocatesPlainly()) statements(s);
    if (!inCallee_) add(Effect::leaves, s, "return");
    return;
  }
  if (isa<AsmStmt>(s)) add(Effect::opaque, s, "a construct that is not followed");
  if (isa<CXXTryStmt, CXXCatchStmt>(s)) add(Effect::opaque, s, "what throws and what catches");
  if (const auto *omp = dyn_cast<OMPExecutableDirective>(s)) return directive(omp);
  statements(s);
}

/// Whether all that a clause names is so.
static bool areAll(const auto &clause, bool (*is)(QualType)) {
  return std::ranges::all_of(clause.varlists(), [&](const Expr *e) {
    return is(QualType(e->getType().getNonReferenceType()->getBaseElementTypeUnsafe(), 0));
  });
}

static bool isSummed(QualType type) {
  return type->isArithmeticType();
}

/// No constructor, assignment or destructor of the program's runs where it is copied.
static bool isTrivial(QualType type) {
  const CXXRecordDecl *record = type->getAsCXXRecordDecl();
  return !record || (record->hasDefinition() && record->isTrivial());
}

/// Whether what a clause computes is what its operands are, or stands before the directive.
static bool isClauseFollowed(const OMPClause *clause) {
  if (const auto *reduction = dyn_cast<OMPReductionClause>(clause)) {
    const DeclarationName by = reduction->getNameInfo().getName();
    return areAll(*reduction, isSummed) && (by.getNameKind() == DeclarationName::CXXOperatorName ||
                                            by.getAsString() == "min" || by.getAsString() == "max");
  }
  if (const auto *own = dyn_cast<OMPPrivateClause>(clause)) return areAll(*own, isTrivial);
  if (const auto *own = dyn_cast<OMPFirstprivateClause>(clause)) return areAll(*own, isTrivial);
  if (const auto *own = dyn_cast<OMPLastprivateClause>(clause)) return areAll(*own, isTrivial);
  return isa<OMPSharedClause, OMPDefaultClause, OMPCollapseClause, OMPNumThreadsClause, OMPIfClause,
             OMPScheduleClause, OMPProcBindClause, OMPSafelenClause, OMPSimdlenClause>(clause);
}

// Threads that end where the directive does share the loop's work among them.
void Walk::directive(const OMPExecutableDirective *omp) {
  const bool plain =
      isa<OMPParallelForDirective, OMPParallelForSimdDirective, OMPSimdDirective>(omp);
  const auto *loop = dyn_cast<OMPLoopDirective>(omp);
  const bool counts = loop && std::ranges::all_of(loop->counters(), [](const Expr *counter) {
                        return counter->getType()->isScalarType();
                      });
  if (!plain || !counts || !omp->hasAssociatedStmt() ||
      !std::ranges::all_of(omp->clauses(), isClauseFollowed))
    add(Effect::opaque, omp, "a directive of OpenMP that is not followed");
  for (const OMPClause *clause : omp->clauses()) {
    const auto *before = OMPClauseWithPreInit::get(clause);  // a chunk, for one
    if (before && before->getPreInitStmt()) statement(before->getPreInitStmt());
    for (const Stmt *child : clause->children())
      if (const auto *e = child ? dyn_cast<Expr>(child) : nullptr) {
        e->isGLValue() ? address(e) : value(e);
        if (e->isGLValue()) access(e, true, true);
      }
  }
  if (omp->hasAssociatedStmt()) statement(omp->getRawStmt());
}

void Walk::lengths(QualType type) {
  for (const Expr *length : lengthsOf(type)) value(length);
}

void Walk::declares(const VarDecl *v) {
  const Expr *init = v->getInit();
  const QualType type = v->getType();
  lengths(type);
  if (const CXXRecordDecl *last = endOf(type)) {
    Effect e{Effect::opaque, Objects::anything(), v->getLocation(), "~" + last->getNameAsString()};
    out_.all.push_back(std::move(e));
  }
  if (v->hasAttr<CleanupAttr>())
    out_.all.push_back({Effect::opaque, Objects::anything(), v->getLocation(), "its cleanup"});
  if (!init) return;
  if (type->isReferenceType()) {
    address(init);
    return;
  }
  value(init);
}

/// A thread's own variable may be given its first value where it is named.
void Walk::begins(const DeclRefExpr &ref) {
  const auto *v = dyn_cast<VarDecl>(ref.getDecl());
  if (v && v->getTLSKind() == VarDecl::TLS_Dynamic && !v->isStaticLocal() &&
      !(v->getInit() && v->hasConstantInitialization()))
    out_.all.push_back({Effect::opaque, Objects::anything(), ref.getLocation(), "its first value"});
}

/// What an expression costs to name memory, without touching that memory.
void Walk::address(const Expr *e) {
  e = e->IgnoreParens();
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) return begins(*ref);
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e)) {
    value(sub->getBase());
    value(sub->getIdx());
  } else if (const auto *member = dyn_cast<MemberExpr>(e)) {
    member->isArrow() ? value(member->getBase()) : address(member->getBase());
  } else if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_Deref) {
    value(op->getSubExpr());
  } else if (const auto *conversion = dyn_cast<CastExpr>(e);
             conversion && conversion->getSubExpr()->isGLValue() &&
             conversion->getCastKind() != CK_Dynamic) {
    address(conversion->getSubExpr());
  } else if (const auto *at = dyn_cast<CXXOperatorCallExpr>(e);
             at && at->getOperator() == OO_Subscript && isContainer(at->getArg(0)->getType())) {
    address(at->getArg(0));
    value(at->getArg(1));
  } else {
    value(e);
  }
}

void Walk::allocates(const CXXNewExpr *made) {
  const CXXConstructExpr *by = made->getConstructExpr();
  if (!isPlainNew(*made) || !program_.allocatesPlainly() ||
      (by && !by->getConstructor()->isTrivial()))
    add(Effect::opaque, made, "'" + text(made) + "'");
  statements(made);
}

/// Whether a text, an exception of the library's or a number is made of such, and of what the
/// program has of them, by no code of its own.
bool Walk::throwsPlainly(const Expr *e) {
  const auto areMadePlainly = [this](const auto &parts) {
    return std::ranges::all_of(parts, [this](const Expr *part) { return throwsPlainly(part); });
  };
  e = e->IgnoreParens();
  const QualType type = e->getType();
  if (type->isArithmeticType() && !e->isGLValue() && !e->HasSideEffects(context_)) {
    value(e);
    return true;
  }
  if (isa<StringLiteral, PredefinedExpr, CXXDefaultArgExpr>(e)) return true;
  if (const auto *made = dyn_cast<CXXConstructExpr>(e))
    return (isString(type) || isException(type)) && areMadePlainly(made->arguments());
  if (const auto *bound = dyn_cast<CXXBindTemporaryExpr>(e))
    return throwsPlainly(bound->getSubExpr());
  if (const auto *kept = dyn_cast<MaterializeTemporaryExpr>(e))
    return throwsPlainly(kept->getSubExpr());
  const auto *cast = dyn_cast<CastExpr>(e);
  const bool isText =
      isString(type) || (type->isPointerType() && type->getPointeeType()->isCharType());
  if (isText && (isa<DeclRefExpr>(e) || (cast && cast->getCastKind() == CK_LValueToRValue))) {
    if (cast) value(e);
    const Objects text = e->isGLValue() ? memory_.designated(e) : memory_.pointedAt(e);
    add(Effect::reads, e, this->text(e), text);
    return true;
  }
  if (cast && cast->getCastKind() != CK_UserDefinedConversion)
    return throwsPlainly(cast->getSubExpr());
  const auto *call = dyn_cast<CallExpr>(e);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  if (!f || !f->isInStdNamespace() || !isOfSystem(*f) || isa<CXXMethodDecl>(f)) return false;
  const bool joins = f->getOverloadedOperator() == OO_Plus && isString(type);
  return (joins || (f->getIdentifier() && f->getName() == "to_string")) &&
         areMadePlainly(call->arguments());
}

void Walk::value(const Expr *e) {
  e = e->IgnoreParens();
  if (e == but_) return;
  ++out_.work;
  if (const auto *type = dyn_cast<ExplicitCastExpr>(e)) lengths(type->getTypeAsWritten());
  if (const auto *literal = dyn_cast<CompoundLiteralExpr>(e)) lengths(literal->getType());
  if (const auto *cast = dyn_cast<CastExpr>(e)) {
    const Expr *of = cast->getSubExpr();
    if (cast->getCastKind() == CK_Dynamic && e->isGLValue())
      add(Effect::leaves, e, "throw, by dynamic_cast,");
    if (cast->getCastKind() == CK_LValueToRValue ||
        cast->getCastKind() == CK_LValueToRValueBitCast) {
      address(of);
      access(of, true, false);
    } else if (cast->getCastKind() == CK_AtomicToNonAtomic ||
               cast->getCastKind() == CK_NonAtomicToAtomic) {
      add(Effect::orders, e, text(e));
      value(of);
    } else if (of->isGLValue()) {
      address(of);
    } else {
      value(of);
    }
    return;
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e); op && op->isAssignmentOp()) {
    value(op->getRHS());
    address(op->getLHS());
    return access(op->getLHS(), op->isCompoundAssignmentOp(), true);
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    if (op->isIncrementDecrementOp()) {
      address(op->getSubExpr());
      return access(op->getSubExpr(), true, true);
    }
    if (op->getOpcode() == UO_AddrOf) return address(op->getSubExpr());
    if (op->getOpcode() == UO_Deref) return value(op->getSubExpr());
  }
  if (const auto *size = dyn_cast<UnaryExprOrTypeTraitExpr>(e)) {
    if (size->isArgumentType()) return lengths(size->getArgumentType());
    // An array of a length that is not constant is computed to be measured.
    if (size->getTypeOfArgument()->isVariableArrayType()) value(size->getArgumentExpr());
    return;
  }
  if (const auto *offset = dyn_cast<OffsetOfExpr>(e)) {
    for (unsigned i = 0; i < offset->getNumExpressions(); ++i) value(offset->getIndexExpr(i));
    return;
  }
  if (isa<DeclRefExpr, IntegerLiteral, FloatingLiteral, StringLiteral, CharacterLiteral,
          ImaginaryLiteral, CXXBoolLiteralExpr, CXXNullPtrLiteralExpr, GNUNullExpr, CXXThisExpr,
          ImplicitValueInitExpr, PredefinedExpr, CXXScalarValueInitExpr, TypeTraitExpr>(e))
    return;
  if (const auto *standing = dyn_cast<CXXDefaultArgExpr>(e)) {
    const Expr *argument = standing->getExpr();
    return argument->isGLValue() ? address(argument) : value(argument);
  }
  if (isa<ArraySubscriptExpr, MemberExpr>(e)) return address(e);
  if (isa<CXXBindTemporaryExpr>(e) && !endOf(e->getType())) return statements(e);
  if (const auto *call = dyn_cast<CallExpr>(e)) return this->call(call);
  if (const auto *block = dyn_cast<StmtExpr>(e)) {
    // A break in a loop's condition is one of the loop around it for gcc, of itself for clang.
    const auto loops = std::exchange(loops_, 0), switches = std::exchange(switches_, 0);
    statement(block->getSubStmt());
    loops_ = loops, switches_ = switches;
    return;
  }
  if (const auto *list = dyn_cast<InitListExpr>(e); list && list->hasArrayFiller())
    value(list->getArrayFiller());
  if (isa<BinaryOperator, UnaryOperator, ConditionalOperator, InitListExpr, CompoundLiteralExpr,
          MaterializeTemporaryExpr, ExprWithCleanups, ConstantExpr, DesignatedInitExpr,
          ArrayInitLoopExpr>(e))
    return statements(e);
  if (const auto *made = dyn_cast<CXXConstructExpr>(e)) return constructs(made);
  if (const auto *gone = dyn_cast<CXXDeleteExpr>(e)) {
    value(gone->getArgument());
    const CXXRecordDecl *record = gone->getDestroyedType()->getAsCXXRecordDecl();
    const FunctionDecl *by = gone->getOperatorDelete();
    const bool own = by && (isa<CXXMethodDecl>(by) || by->isDefined());
    if (own || (record && !record->hasTrivialDestructor())) add(Effect::opaque, e, text(e));
    return add(Effect::writes, e, text(gone->getArgument()),
               memory_.pointedAt(gone->getArgument()));
  }
  if (const auto *made = dyn_cast<CXXNewExpr>(e)) return allocates(made);
  if (const auto *first = dyn_cast<CXXDefaultInitExpr>(e)) {  // its text is that of what it fills
    if (isConstant(*first->getExpr(), context_)) return;
    return add(Effect::opaque, e, "the first value of " + first->getField()->getNameAsString());
  }
  if (const auto *leaves = dyn_cast<CXXThrowExpr>(e)) {
    add(Effect::leaves, e, "throw");
    if (leaves->getSubExpr() && program_.newIsPlain() && throwsPlainly(leaves->getSubExpr()))
      return;
  }
  // Lambdas, temporaries with destructors and whatever else there is.
  add(Effect::opaque, e, "'" + text(e) + "'");
  statements(e);
}

Effects effectsOf(const Stmt *s, const FunctionDecl &inside, Program &program,
                  const CallExpr *but) {
  Effects result;
  Walk walk(program, program.memory(inside), inside.getASTContext(), result, but);
  walk.readsShapes = false;
  walk.whole(s);
  return result;
}

std::string placeOf(const Stmt &s, const FunctionDecl &in) {
  const SourceManager &files = in.getASTContext().getSourceManager();
  const PresumedLoc at = files.getPresumedLoc(files.getExpansionLoc(s.getBeginLoc()));
  return std::string(at.getFilename()) + ":" + std::to_string(at.getLine());
}

bool isEntered(const Stmt *s, const FunctionDecl &inside, Program &program) {
  return std::ranges::any_of(effectsOf(s, inside, program).all,
                             [](const Effect &e) { return e.kind == Effect::enters; });
}

bool isEnteredBlock(const Stmt *block, const FunctionDecl &inside, Program &program) {
  return block != inside.getBody() && isEntered(block, inside, program);
}

}  // namespace nbcc::overlap
