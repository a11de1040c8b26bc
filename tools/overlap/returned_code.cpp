// SPDX-License-Identifier: BSD-3-Clause
// returned_code.cpp - checks that can be repeated behind the wait.

#include "tools/overlap/returned_code.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/Builtins.h>
#include <llvm/ADT/SmallPtrSet.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tools/overlap/changes.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/named.h"
#include "tools/overlap/source_text.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;

const VarDecl *resultTakenBy(const Stmt *parent, const CallExpr *call) {
  const VarDecl *v = nullptr;
  if (const auto *declared = dyn_cast<DeclStmt>(parent)) {
    v = declared->isSingleDecl() ? dyn_cast<VarDecl>(declared->getSingleDecl()) : nullptr;
    if (v && (!v->getInit() || v->getInit()->IgnoreParens() != call)) v = nullptr;
  } else if (const auto *op = dyn_cast<BinaryOperator>(parent);
             op && op->getOpcode() == BO_Assign) {
    const auto *ref = dyn_cast<DeclRefExpr>(op->getLHS()->IgnoreParens());
    v = ref && op->getRHS()->IgnoreParens() == call ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  }
  if (!v || v->hasGlobalStorage()) return nullptr;
  const QualType type = v->getType().getCanonicalType();
  return type->isSpecificBuiltinType(BuiltinType::Int) && !type.hasQualifiers() ? v : nullptr;
}

namespace {

/// Whether each goto within a statement leads to what stands behind the call. Where the call would
/// be under way there is no label.
bool leadsOn(const Stmt *s, const Site &site) {
  const SourceManager &files = site.context().getSourceManager();
  const auto *jump = dyn_cast<GotoStmt>(s);
  if (isa<IndirectGotoStmt>(s) ||
      (jump &&
       !files.isBeforeInTranslationUnit(site.call->getEndLoc(), jump->getLabel()->getLocation())))
    return false;
  return std::ranges::all_of(s->children(),
                             [&](const Stmt *child) { return !child || leadsOn(child, site); });
}

bool isWayOut(const Effect &e) {
  return e.kind == Effect::leaves && (e.what == "return" || e.what == "goto" || e.what == "throw" ||
                                      e.what.starts_with("throw in "));
}

/// Nothing but to look at the code, to say so, and to go. `mayReturn`: nothing is under way where
/// it does, nor where it goes on behind.
const Effect *moreThanStop(const Site &site, const Effects &effects, const Memory &memory,
                           bool mayReturn) {
  for (const Effect &e : effects.all) {
    const bool touches = (e.kind == Effect::reads && memory.mayOverlap(e.objects, site.writes)) ||
                         (e.kind == Effect::writes && (memory.mayOverlap(e.objects, site.writes) ||
                                                       memory.mayOverlap(e.objects, site.reads)));
    const bool harmless = e.kind == Effect::reads || e.kind == Effect::writes ||
                          e.kind == Effect::prints || e.kind == Effect::files ||
                          e.kind == Effect::exits || e.kind == Effect::stops ||
                          (mayReturn && isWayOut(e)) ||
                          (mayReturn && e.kind == Effect::mpi && e.what == "MPI_Finalize");
    if (touches || !harmless) return &e;
  }
  return nullptr;
}

std::string whatOf(const Effect &e) {
  const char *how = e.kind == Effect::reads    ? " is read"
                    : e.kind == Effect::writes ? " is written"
                    : e.promisable             ? ", unless --local names it"
                                               : "";
  return e.what + how;
}

/// Whether it may lead out of a block; by return, where that is no end.
bool mayLeave(const Stmt *s, bool mayReturn) {
  return s && (isa<BreakStmt, ContinueStmt>(s) || (!mayReturn && isa<ReturnStmt, GotoStmt>(s)) ||
               std::ranges::any_of(s->children(),
                                   [&](const Stmt *inner) { return mayLeave(inner, mayReturn); }));
}

bool neverPassed(const Stmt *s, Program &program, bool mayReturn, int depth = 0);

/// The same of several, one after the other.
bool neverPassed(llvm::ArrayRef<const Stmt *> all, Program &program, bool mayReturn, int depth) {
  for (const Stmt *s : all) {
    if (neverPassed(s, program, mayReturn, depth)) return true;
    if (mayLeave(s, mayReturn)) return false;
  }
  return false;
}

/// Whether nothing runs behind a statement: it returns or goes elsewhere, if that is asked for,
/// throws, or ends the rank.
bool neverPassed(const Stmt *s, Program &program, bool mayReturn, int depth) {
  constexpr int deep = 8;
  if (!s || depth > deep) return false;
  const auto never = [&](const Stmt *inner) {
    return neverPassed(inner, program, mayReturn, depth + 1);
  };
  if (isa<ReturnStmt, GotoStmt>(s)) return mayReturn;
  if (isa<CXXThrowExpr>(s)) return true;
  if (const auto *full = dyn_cast<FullExpr>(s)) return never(full->getSubExpr());
  if (const auto *within = dyn_cast<StmtExpr>(s)) return never(within->getSubStmt());
  if (const auto *block = dyn_cast<CompoundStmt>(s))
    return neverPassed({block->body_begin(), block->body_end()}, program, mayReturn, depth + 1);
  if (const auto *i = dyn_cast<IfStmt>(s)) return never(i->getThen()) && never(i->getElse());
  if (const auto *turns = dyn_cast<DoStmt>(s)) return never(turns->getBody());
  const auto *e = dyn_cast<Expr>(s);
  if (e && e != e->IgnoreParenCasts()) return never(e->IgnoreParenCasts());
  if (const auto *both = dyn_cast<BinaryOperator>(s); both && both->getOpcode() == BO_Comma)
    return never(both->getLHS()) || never(both->getRHS());
  const auto *call = dyn_cast<CallExpr>(s);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  if (!f) return false;
  if (const KnownCall *known = findKnownCall(*f)) return known->kind == CallKind::stops;
  if (f->isNoReturn() || isExit(*f)) return true;
  const FunctionDecl *body = program.bodyAnywhere(*f);
  return body && neverPassed(body->getBody(), program, false, depth + 1);
}

/// A change to a variable of the checking macro's own.
bool staysWithin(const Effect &e, const Site &site) {
  const Stmt *all = site.statement(site.index);
  const SourceManager &files = site.context().getSourceManager();
  return !e.objects.unknown && std::ranges::all_of(e.objects.known, [&](const Object &o) {
    return o.kind == Object::variable && !o.decl()->hasGlobalStorage() &&
           isWithin(o.decl()->getLocation(), all, files);
  });
}

/// rc = the call.
bool keepsCode(const Effect &e, const Site &site) {
  const auto *op =
      e.kind == Effect::writes && e.access.where && e.access.through.empty()
          ? dyn_cast_or_null<BinaryOperator>(parentOf(e.access.where, site.in->getASTContext()))
          : nullptr;
  return op && op->getOpcode() == BO_Assign && op->getRHS()->IgnoreParenCasts() == site.call;
}

/// What a checking macro does that it would do twice, around the start and around the wait: all but
/// to look, to keep the code, and what is done once at the most, since the program ends there.
std::optional<std::string> doneTwice(const Stmt *s, const Site &site, Program &program,
                                     bool mayReturn) {
  if (isa<CompoundStmt, DoStmt>(s)) {
    for (const Stmt *child : s->children())
      if (std::optional<std::string> what = doneTwice(child, site, program, mayReturn)) return what;
    return std::nullopt;
  }
  if (const auto *i = dyn_cast<IfStmt>(s); i && !i->getInit() && !i->getConditionVariable()) {
    if (std::optional<std::string> what = doneTwice(i->getCond(), site, program, mayReturn))
      return what;
    for (const Stmt *branch : {i->getThen(), i->getElse()}) {
      if (!branch || neverPassed(branch, program, mayReturn)) continue;
      if (std::optional<std::string> what = doneTwice(branch, site, program, mayReturn))
        return what;
    }
    return std::nullopt;
  }
  for (const Effect &e : effectsOf(s, *site.in, program, site.call).all) {
    const bool writes = e.kind == Effect::writes && !staysWithin(e, site) && !keepsCode(e, site);
    if (writes || e.kind == Effect::prints || e.kind == Effect::files) {
      const Objects &to = e.objects;  // a name says more than the text of the macro
      const VarDecl *v = to.known.size() == 1 ? to.known.begin()->decl() : nullptr;
      return v ? "a change to " + v->getNameAsString() : e.what;
    }
  }
  return std::nullopt;
}

/// What a condition asks of a code, which is what `isResult` says: true, rc, rc != 0, MPI_SUCCESS
/// != rc: whether it is an error; false, !rc, rc == 0: whether it is none. None: something else.
template <class Is>
std::optional<bool> asksForError(const Expr *e, const Is &isResult, const ASTContext &context) {
  const auto isSuccess = [&](const Expr *side) {
    const std::optional<llvm::APSInt> value = side->getIntegerConstantExpr(context);
    return value && value->isZero();
  };
  if (isResult(e)) return true;
  e = e->IgnoreParenImpCasts();
  if (const auto *cast = dyn_cast<ExplicitCastExpr>(e); cast && cast->getType()->isBooleanType())
    return asksForError(cast->getSubExpr(), isResult, context);
  if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_LNot) {
    const std::optional<bool> asked = asksForError(op->getSubExpr(), isResult, context);
    return asked ? std::optional(!*asked) : std::nullopt;
  }
  if (const auto *call = dyn_cast<CallExpr>(e);
      call && call->getBuiltinCallee() == Builtin::BI__builtin_expect)
    return asksForError(call->getArg(0), isResult, context);
  const auto *op = dyn_cast<BinaryOperator>(e);
  const bool first = op && isResult(op->getLHS()) && isSuccess(op->getRHS());
  const bool second = op && isSuccess(op->getLHS()) && isResult(op->getRHS());
  if (op && op->isEqualityOp() && (first || second)) return op->getOpcode() == BO_NE;
  if (op && op->getOpcode() == BO_GT && first) return true;  // codes are not negative
  return std::nullopt;
}

/// do ... while (0)
bool isOneTurn(const DoStmt &s) {
  const auto *again = dyn_cast<IntegerLiteral>(s.getCond()->IgnoreParenImpCasts());
  return again && again->getValue() == 0;
}

/// if (c), and no more between its brackets.
bool isPlainIf(const IfStmt &i) {
  return !i.getInit() && !i.getConditionVariable() &&
         i.getStatementKind() == IfStatementKind::Ordinary;
}

/// Whether the statement that the call is part of runs it whenever it runs itself.
bool runsOnce(const Site &site) {
  const Stmt *at = site.call;
  for (const Stmt *p; at != site.statement(site.index); at = p) {
    p = parentOf(at, site.in->getASTContext());
    const auto *i = dyn_cast<IfStmt>(p);
    const auto *turns = dyn_cast<DoStmt>(p);
    const auto *choice = dyn_cast<AbstractConditionalOperator>(p);
    const auto *both = dyn_cast<BinaryOperator>(p);
    if ((i && at != i->getCond()) || (choice && at != choice->getCond()) ||
        (both && both->isLogicalOp() && at != both->getLHS()) ||
        isa<ForStmt, WhileStmt, SwitchStmt>(p))
      return false;
    if (turns && !isOneTurn(*turns)) return false;
  }
  return true;
}

/// A check that is repeated behind the wait is to find there what it would have found before.
void takeHandled(Site &site, const Effects &check) {
  for (const Effect &e : check.all)
    if (e.kind == Effect::reads || e.kind == Effect::writes) site.handled.add(e.objects);
}

/// Whether a statement does nothing that the wait's check may not do as well, and nothing runs
/// behind it. Else what it does, or nothing, if it goes on.
bool onlyStops(const Stmt *s, Site &site, Program &program, std::string &does) {
  const Effects effects = effectsOf(s, *site.in, program);
  if (const Effect *e = moreThanStop(site, effects, program.memory(*site.in), true)) {
    does = ": " + whatOf(*e);
    return false;
  }
  takeHandled(site, effects);
  return neverPassed(s, program, true) && leadsOn(s, site);
}

/// Reads what stands behind `rc = MPI_...;`, an if, a macro or a function of the program, or around
/// a call, CHECK(MPI_...): whether that does nothing where the call succeeded, and lets nothing run
/// behind it where it failed.
class Check {
 public:
  enum What { nothing, stops, more };

  Check(const Site &site, Program &program)
      : call_(site.call), context_(&site.in->getASTContext()), program_(program) {
    if (site.result) codes_.insert(site.result);
  }

  /// `mayReturn`: that is an end, too.
  What of(const Stmt *s, bool mayReturn) {
    if (!s || isa<NullStmt>(s)) return nothing;
    if (const auto *i = dyn_cast<IfStmt>(s))
      return isPlainIf(*i) ? choice(i->getCond(), i->getThen(), i->getElse(), mayReturn) : more;
    if (const auto *turns = dyn_cast<DoStmt>(s))
      return isOneTurn(*turns) ? of(turns->getBody(), mayReturn) : more;
    if (const auto *declared = dyn_cast<DeclStmt>(s)) return declares(*declared) ? nothing : more;
    if (const auto *block = dyn_cast<CompoundStmt>(s))
      return all({block->body_begin(), block->body_end()}, mayReturn);
    const auto *e = dyn_cast<Expr>(s);
    return e ? value(e->IgnoreParenCasts(), mayReturn) : more;
  }

 private:
  bool isCode(const Expr *e) const {
    e = e->IgnoreParenImpCasts();
    const auto *ref = dyn_cast<DeclRefExpr>(e);
    return e == call_ || keptBy(e) || (ref && codes_.contains(dyn_cast<VarDecl>(ref->getDecl())));
  }

  /// true: an error, false: none; none: it asks for something else.
  std::optional<bool> asked(const Expr *condition) const {
    return asksForError(condition, [this](const Expr *side) { return isCode(side); }, *context_);
  }

  What all(llvm::ArrayRef<const Stmt *> parts, bool mayReturn) {
    What what = nothing;
    for (; !parts.empty(); parts = parts.drop_front()) {
      if (!mayReturn && isReturnOfSuccess(parts.front()))
        return neverPassed(parts.drop_front(), program_, false, 0) ? stops : more;
      // Behind a function's return nothing more is done.
      if (!mayReturn && isPlainReturn(parts.front())) return what;
      const What next = of(parts.front(), mayReturn);
      if (next == more) return more;
      if (next == stops) what = stops;
    }
    return what;
  }

  /// if (rc == MPI_SUCCESS) return;
  bool isReturnOfSuccess(const Stmt *s) const {
    const auto *i = dyn_cast<IfStmt>(s);
    if (!i || i->getElse() || !isPlainIf(*i)) return false;
    const Stmt *then = i->getThen();
    if (const auto *block = dyn_cast<CompoundStmt>(then); block && block->size() == 1)
      then = block->body_front();
    return isPlainReturn(then) && asked(i->getCond()) == false;
  }
  bool isPlainReturn(const Stmt *s) const {
    const auto *back = dyn_cast<ReturnStmt>(s);
    return back && (!back->getRetValue() || !back->getRetValue()->HasSideEffects(*context_));
  }

  What choice(const Expr *condition, const Stmt *yes, const Stmt *no, bool mayReturn) {
    const std::optional<bool> failed = asked(condition);
    if (!failed) return more;
    if (!*failed) std::swap(yes, no);
    return neverPassed(yes, program_, mayReturn) && of(no, mayReturn) == nothing ? stops : more;
  }

  What value(const Expr *e, bool mayReturn) {
    if (const auto *either = dyn_cast<ConditionalOperator>(e))
      return choice(either->getCond(), either->getTrueExpr(), either->getFalseExpr(), mayReturn);
    const auto *op = dyn_cast<BinaryOperator>(e);
    if (const VarDecl *code = keptBy(e)) {
      codes_.insert(code);
      return nothing;
    }
    if (op && op->getOpcode() == BO_LAnd)
      return choice(op->getLHS(), op->getRHS(), nullptr, mayReturn);
    if (op && op->getOpcode() == BO_LOr)
      return choice(op->getLHS(), nullptr, op->getRHS(), mayReturn);
    if (op && op->getOpcode() == BO_Comma) return all({op->getLHS(), op->getRHS()}, mayReturn);
    if (const auto *within = dyn_cast<StmtExpr>(e)) return of(within->getSubStmt(), mayReturn);
    if (isa<IntegerLiteral, UnaryExprOrTypeTraitExpr>(e)) return nothing;
    const auto *call = dyn_cast<CallExpr>(e);
    return call ? function(*call) : more;
  }

  /// int failed = (rc); char text[80]; which nobody sees.
  bool declares(const DeclStmt &s) {
    return std::ranges::all_of(s.decls(), [this](const Decl *d) {
      const auto *v = dyn_cast<VarDecl>(d);
      const bool isResult = v && v->getInit() && v->getInit()->IgnoreParenImpCasts() == call_;
      if (!v || v->hasGlobalStorage() || v->getType().isDestructedType() ||
          v->hasAttr<CleanupAttr>() ||
          (v->getInit() && !isResult && v->getInit()->HasSideEffects(*context_)))
        return false;
      if (v->getInit() && isCopy(*v) && isCode(v->getInit())) codes_.insert(v);
      return true;
    });
  }

  /// rc of rc = MPI_...
  const VarDecl *keptBy(const Expr *e) const {
    const auto *op = dyn_cast<BinaryOperator>(e);
    if (!op || op->getOpcode() != BO_Assign || op->getRHS()->IgnoreParenImpCasts() != call_)
      return nullptr;
    const auto *ref = dyn_cast<DeclRefExpr>(op->getLHS()->IgnoreParens());
    const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    return v && isCopy(*v) ? v : nullptr;
  }

  static bool isCopy(const VarDecl &v) {
    return v.getType()->isIntegerType() && !v.getType().isVolatileQualified();
  }

  /// check(rc, "where");
  What function(const CallExpr &call) {
    const FunctionDecl *named = call.getDirectCallee();
    const FunctionDecl *f = named ? program_.bodyAnywhere(*named) : nullptr;
    if (!f || isa<CXXMethodDecl>(f) || f->getNumParams() > call.getNumArgs() ||
        !entered_.insert(f).second)
      return more;
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
      const Expr *given = call.getArg(i);
      if (given->HasSideEffects(*context_)) return more;
      if (i < f->getNumParams() && isCode(given) && isCopy(*f->getParamDecl(i)))
        codes_.insert(f->getParamDecl(i));
    }
    const ASTContext *caller = std::exchange(context_, &f->getASTContext());
    const What what = of(f->getBody(), false);
    context_ = caller;
    return what;
  }

  const CallExpr *call_;
  llvm::SmallPtrSet<const VarDecl *, 4> codes_;
  const ASTContext *context_;
  llvm::SmallPtrSet<const FunctionDecl *, 4> entered_;
  Program &program_;
};

}  // namespace

const IfStmt *askedBy(const CallExpr *call, ASTContext &context) {
  const Stmt *at = call, *parent = parentOf(at, context);
  for (; parent && isa<Expr>(parent); parent = parentOf(at, context)) at = parent;
  const auto *i = dyn_cast_or_null<IfStmt>(parent);
  if (!i || at != i->getCond() || i->getElse() || !isPlainIf(*i) || i->getBeginLoc().isMacroID())
    return nullptr;
  const auto isResult = [&](const Expr *side) {
    side = side->IgnoreParenImpCasts();
    return side == call || (isa<BinaryOperator>(side) && resultTakenBy(side, call));
  };
  return asksForError(i->getCond(), isResult, context) == true ? i : nullptr;
}

void readCondition(Site &site, Program &program) {
  std::string does;
  const ASTContext &context = site.context();
  if (!onlyStops(site.asks->getThen(), site, program, does) ||
      emptyMacro(program.macros(context), site.asks->getBeginLoc(), site.asks->getEndLoc())
          .isValid())
    site.against.push_back({site.call->getBeginLoc(),
                            "the if that it stands in does more than stop at an error" + does});
  const Stmt *taken = parentOf(site.call, site.in->getASTContext());
  while (isa<ParenExpr>(taken)) taken = parentOf(taken, site.in->getASTContext());
  if (const VarDecl *rc =
          resultTakenBy(taken, site.call)) {  // whoever looks at it wants the wait's
    const Objects code = program.memory(*site.in).variable(*rc);
    site.keepsCode = true;
    site.writes.add(code);
    site.buffers.push_back({code, true, {}});
  }
}

void readCheckingMacro(Site &site, Program &program) {
  if (!runsOnce(site))
    site.against.push_back(
        {site.call->getBeginLoc(), site.checkedBy + "() may run the call more than once, or not"});
  const Stmt *all = site.statement(site.index);
  const Effects effects = effectsOf(all, *site.in, program, site.call);
  const bool stops = Check(site, program).of(all, true) == Check::stops;
  const bool mayReturn = stops && leadsOn(all, site);
  if (const Effect *e = moreThanStop(site, effects, program.memory(*site.in), mayReturn))
    site.against.push_back({site.call->getBeginLoc(),
                            site.checkedBy + "() does more than stop at an error: " + whatOf(*e)});
  if (const std::optional<std::string> what = doneTwice(all, site, program, mayReturn))
    site.against.push_back({site.call->getBeginLoc(), site.checkedBy + "() would do " + *what +
                                                          " twice, for the start and the wait"});
  takeHandled(site, effects);
  for (const Effect &e : effects.all) {  // who looks at the code wants that of the wait
    if (!keepsCode(e, site) || staysWithin(e, site)) continue;
    if (site.mayFail && !stops)
      site.against.push_back(
          {site.call->getBeginLoc(),
           site.checkedBy + "() keeps the code of a start that has failed for the wait's alone"});
    site.keepsCode = true;
    site.writes.add(e.objects);
    site.buffers.push_back({e.objects, true, {}});
  }
}

static std::string textOf(const Stmt &s, const ASTContext &context) {
  const std::optional<Extent> at = extentOf(s, context);
  return at ? mainFile(context).slice(at->begin, at->end).str() : "";
}

bool renames(const Stmt &s, const Site &site, const Program &program) {
  if (!site.isChecked()) return false;
  const DeclaredNames anew = declaredBy(s, *site.in);
  if (anew.empty()) return false;
  std::string said = site.checkedBy;
  if (site.result) said += " " + site.result->getNameAsString();
  const Stmt *repeated = site.asks ? site.asks : site.check;
  if (repeated) said += " " + textOf(*repeated, site.context());
  const Preprocessor &macros = program.macros(site.context());
  return anew.any || makesNames(macros, said) ||
         std::ranges::any_of(anew.names,
                             [&](const std::string &name) { return mentions(macros, said, name); });
}

bool countsExpansions(const Site &site, const Program &program) {
  const ASTContext &context = site.context();
  std::string said = textOf(*site.statement(site.index), context);
  if (site.check) said += " " + textOf(*site.check, context);
  return mentions(program.macros(context), said, "__COUNTER__");
}

bool renamesWithin(const Site &site, const Program &program) {
  return std::ranges::any_of(site.block->body(),
                             [&](const Stmt *s) { return renames(*s, site, program); });
}

void readCheck(Site &site, Program &program) {
  // Whoever looks at the code wants that of the wait.
  const Objects code = program.memory(*site.in).variable(*site.result);
  const Stmt *next = site.index + 1 < site.statements() ? site.statement(site.index + 1) : nullptr;
  const ASTContext &context = site.context();
  const std::optional<Extent> call = extentOf(*site.statement(site.index), context);
  const std::optional<Extent> text = next ? extentOf(*next, context) : std::nullopt;
  if (call && text && call->end <= text->begin && !directive(context, call->begin, text->end)) {
    const Effects effects = effectsOf(next, *site.in, program);
    const Effect *more = moreThanStop(site, effects, program.memory(*site.in), true);
    const bool reads = std::ranges::any_of(effects.all, [&](const Effect &e) {
      return e.kind == Effect::reads && program.memory(*site.in).mayOverlap(e.objects, code);
    });
    if (more) {
      if (reads) site.notRepeated = whatOf(*more);
    } else if (Check(site, program).of(next, true) == Check::stops && leadsOn(next, site)) {
      takeHandled(site, effects);
      site.check = next;
      site.behind = site.index + 2;
    }
  }
  site.writes.add(code);
  site.buffers.push_back({code, true, {}});
}

}  // namespace nbcc::overlap
