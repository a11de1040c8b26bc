// SPDX-License-Identifier: BSD-3-Clause
// uniform.cpp - the way to a call; uniform_values.cpp asks the same of values.

#include "tools/overlap/uniform.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>
#include <utility>

#include "tools/overlap/argument_lists.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/known_calls.h"

namespace nbcc::overlap {
namespace {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

const Stmt *parentIn(const Stmt *s, const FunctionDecl *in) {
  return parentOf(s, in->getASTContext());
}

/// Ways out of a function, or out of what encloses them.
class Exits : public RecursiveASTVisitor<Exits> {
 public:
  explicit Exits(Program &program) : program_(program) {}
  std::vector<const Stmt *> found;
  bool VisitReturnStmt(ReturnStmt *s) { return add(s); }
  bool VisitCoreturnStmt(CoreturnStmt *s) { return add(s); }
  bool VisitCoroutineSuspendExpr(CoroutineSuspendExpr *s) { return add(s); }  // it may stay away
  bool VisitBreakStmt(BreakStmt *s) { return add(s); }
  bool VisitContinueStmt(ContinueStmt *s) { return add(s); }
  bool VisitGotoStmt(GotoStmt *s) { return add(s); }
  bool VisitIndirectGotoStmt(IndirectGotoStmt *s) { return add(s); }
  bool VisitGCCAsmStmt(GCCAsmStmt *s) { return s->isAsmGoto() ? add(s) : true; }
  bool VisitCXXThrowExpr(CXXThrowExpr *s) { return add(s); }
  bool VisitCallExpr(CallExpr *call) {
    const FunctionDecl *f = call->getDirectCallee();
    if (f && program_.mayEndRank(*f)) add(call);
    return true;
  }

 private:
  bool add(const Stmt *s) {
    found.push_back(s);
    return true;
  }

  Program &program_;
};

/// Whether some call below, or in what it calls, may be a collective, or hide one.
class MayCommunicate : public RecursiveASTVisitor<MayCommunicate> {
 public:
  explicit MayCommunicate(Program &program) : program_(program) {}
  bool found = false;
  bool VisitCallExpr(CallExpr *call) {
    const FunctionDecl *f = call->getDirectCallee();
    const FunctionDecl *body = f ? program_.definition(*f) : nullptr;
    if (body && !body->isWeak() && !isa<CXXMethodDecl>(body)) return enter(body);
    const bool harmless = f && (findKnownCall(*f) || isMathematics(*f) || isChoice(*f) ||
                                isExit(*f) || f->getNameAsString() == "MPI_Finalize" || says(*f) ||
                                isOfFiles(*f) || isOfArgumentLists(*f));
    found = found || !harmless;
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *made) {
    return made->getConstructor()->isUserProvided() ? entersUnlessLibrary(*made->getConstructor())
                                                    : true;
  }
  bool VisitVarDecl(VarDecl *v) {
    const CXXRecordDecl *type = v->getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    const CXXDestructorDecl *end = type && type->hasDefinition() ? type->getDestructor() : nullptr;
    return end && end->isUserProvided() ? entersUnlessLibrary(*end) : true;
  }

 private:
  bool enter(const FunctionDecl *body) {
    if (seen_.insert(body).second) TraverseStmt(body->getBody());
    return true;
  }

  bool entersUnlessLibrary(const FunctionDecl &f) {
    if (const FunctionDecl *body = program_.definition(f)) return enter(body);
    found = found || !isOfSystem(f);
    return true;
  }

  /// std::cerr << error.what(), without which hardly a handler does.
  static bool says(const FunctionDecl &f) {
    return isOfSystem(f) &&
           (f.getOverloadedOperator() == OO_LessLess || f.getNameAsString() == "what");
  }

  Program &program_;
  std::set<const FunctionDecl *> seen_;
};

/// In itself, or in what runs where a rank ends: destructors, what atexit() was given.
bool mayCommunicate(const Stmt *s, Program &program) {
  if (!program.unseenCollectives().empty()) return true;
  MayCommunicate look(program);
  look.TraverseStmt(const_cast<Stmt *>(s));
  return look.found;
}

/// The largest statement around the end of a rank that holds no collective, and nothing of
/// `around`: a rank that goes into it ends without another one, and leaves the others waiting, in
/// any form of the program. Null: the end itself may be a collective.
const Stmt *lastWithout(const Stmt *end, const FunctionDecl *in,
                        const std::set<const Stmt *> &around, Program &program) {
  const Stmt *largest = nullptr;
  for (const Stmt *at = end; at && !around.contains(at) && !mayCommunicate(at, program);
       at = parentIn(at, in))
    largest = at;
  return largest;
}

/// Whether a jump leads forwards, to its own block or one around it.
bool goesOn(const GotoStmt &jump, const FunctionDecl *in) {
  const LabelStmt *label = jump.getLabel()->getStmt();
  const Stmt *block = parentIn(label, in);
  const Stmt *around = &jump;
  while (around && around != block) around = parentIn(around, in);
  const SourceManager &files = in->getASTContext().getSourceManager();
  return around && isa<CompoundStmt>(block) &&
         files.isBeforeInTranslationUnit(jump.getBeginLoc(), label->getBeginLoc());
}

/// Whether a return leaves a lambda that a statement does not stand in.
bool leavesLambda(const Stmt *exit, const std::set<const Stmt *> &around, const FunctionDecl *in) {
  const Stmt *p = isa<ReturnStmt>(exit) ? exit : nullptr;
  while (p && !isa<LambdaExpr>(p)) p = parentIn(p, in);
  return p && !around.contains(p);
}

}  // namespace

const Expr *conditionOf(const Stmt *s) {
  if (const auto *i = dyn_cast<IfStmt>(s)) return i->getCond();
  if (const auto *loop = dyn_cast<ForStmt>(s)) return loop->getCond();
  if (const auto *loop = dyn_cast<WhileStmt>(s)) return loop->getCond();
  if (const auto *loop = dyn_cast<DoStmt>(s)) return loop->getCond();
  if (const auto *choice = dyn_cast<SwitchStmt>(s)) return choice->getCond();
  if (const auto *choice = dyn_cast<AbstractConditionalOperator>(s)) return choice->getCond();
  const auto *op = dyn_cast<BinaryOperator>(s);
  return op && op->isLogicalOp() ? op->getLHS() : nullptr;
}

/// Whether whoever comes to the end of a statement leaves the loop there.
static bool leavesAtEnd(const Stmt *s, const ASTContext &context) {
  if (const auto *block = dyn_cast_or_null<CompoundStmt>(s))
    return !block->body_empty() && leavesAtEnd(block->body_back(), context);
  if (const auto *label = dyn_cast_or_null<LabelStmt>(s))
    return leavesAtEnd(label->getSubStmt(), context);
  if (const auto *i = dyn_cast_or_null<IfStmt>(s)) {
    const std::optional<bool> is = known(i->getCond(), context);
    return (is == false || leavesAtEnd(i->getThen(), context)) &&
           (is == true || leavesAtEnd(i->getElse(), context));
  }
  return isa_and_nonnull<BreakStmt, ReturnStmt, GotoStmt>(s);
}

/// for (once = 1; once; once = 0): v = 0, where the condition is v.
static bool clears(const Stmt *s, const Expr *condition, const ASTContext &context) {
  const auto *e = dyn_cast_or_null<Expr>(s);
  const auto *set = e ? dyn_cast<BinaryOperator>(e->IgnoreParenImpCasts()) : nullptr;
  const VarDecl *v = condition ? namedVariable(condition->IgnoreParenImpCasts()) : nullptr;
  return v && set && set->getOpcode() == BO_Assign && namedVariable(set->getLHS()) == v &&
         known(set->getRHS(), context) == false;
}

bool turnsOnce(const Stmt *loop, const FunctionDecl &in, Program &program) {
  const ASTContext &context = in.getASTContext();
  const Stmt *body = nullptr;
  const Expr *condition = conditionOf(loop);
  if (const auto *f = dyn_cast<ForStmt>(loop)) {
    body = f->getBody();
    if (clears(f->getInc(), condition, context)) return true;
    if (const auto counted = countedLoop(*f, program.changes(in), context)) {
      const auto from = counted->from->getIntegerConstantExpr(context);
      const auto to = counted->to->getIntegerConstantExpr(context);
      if (from && to && from->getSignificantBits() < 60 && to->getSignificantBits() < 60) {
        const int64_t first = from->getExtValue() + counted->step, last = to->getExtValue();
        const bool up = counted->step > 0;
        if (counted->including ? (up ? first > last : first < last)
                               : (up ? first >= last : first <= last))
          return true;
      }
    }
  }
  if (const auto *w = dyn_cast<WhileStmt>(loop)) body = w->getBody();
  if (const auto *r = dyn_cast<CXXForRangeStmt>(loop)) body = r->getBody();
  if (const auto *d = dyn_cast<DoStmt>(loop)) {
    body = d->getBody();
    if (known(condition, context) == false) return true;
    const VarDecl *v = namedVariable(condition->IgnoreParenImpCasts());
    if (v && !v->hasGlobalStorage() && v->getInit() && program.changes(in).never(*v) &&
        known(v->getInit(), context) == false)
      return true;
  }
  const auto *block = dyn_cast_or_null<CompoundStmt>(body);
  return leavesAtEnd(body, context) ||
         (block && std::ranges::any_of(block->body(), [&](const Stmt *s) {
            return clears(s, condition, context);
          }));
}

bool ends(const CXXCatchStmt *handler, const FunctionDecl *in, Program &program) {
  const auto *block = dyn_cast<CompoundStmt>(handler->getHandlerBlock());
  if (!block || mayCommunicate(block, program)) return false;
  for (const Stmt *s : block->body()) {
    const auto *e = dyn_cast<Expr>(s);
    const Stmt *bare = e ? e->IgnoreParenCasts() : s;
    if (const auto *cleaned = dyn_cast<ExprWithCleanups>(bare)) bare = cleaned->getSubExpr();
    if (isa<CXXThrowExpr>(bare) || (isa<ReturnStmt>(bare) && in->isMain())) return true;
    const auto *call = dyn_cast<CallExpr>(bare);
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    const KnownCall *known = f ? findKnownCall(*f) : nullptr;
    if (f && (known ? known->kind == CallKind::stops : isExit(*f))) return true;
    Exits exits(program);  // those of the rank lead to no handler either
    exits.TraverseStmt(const_cast<Stmt *>(s));
    if (!std::ranges::all_of(exits.found, [](const Stmt *exit) { return isa<CallExpr>(exit); }))
      return false;
  }
  return false;
}

Uniform::Uniform(Program &program, const CallExpr &call, const Collective &collective)
    : program_(program), call_(call), collective_(collective) {}

bool Uniform::no(const Stmt *at, const FunctionDecl *in, std::string why) {
  if (!why_) why_ = Remark{at->getBeginLoc(), std::move(why), &in->getASTContext()};
  return false;
}

const FunctionDecl *Uniform::findHome() {
  for (const CallSite &site : program_.callers(*call_.getDirectCallee()))
    if (site.call == &call_) home_ = site.in;
  return home_;
}

std::optional<Remark> Uniform::whyNot() {
  const FunctionDecl *in = findHome();
  if (!in) return Remark{call_.getBeginLoc(), "it stands in no function"};
  Ordered seen;
  if (reached(&call_, in) && entered(in) && onOneCommunicator() && inOrderFrom(&call_, in, seen))
    return std::nullopt;
  return why_;
}

bool Uniform::differs(const std::string &why, const ValueDecl *promisable) {
  if (!differs_.empty()) return false;
  differs_ = why;
  if (!promisable || !promisable->getIdentifier()) return false;
  const std::string name = promisable->getNameAsString();
  const auto *f = dyn_cast<FunctionDecl>(promisable);
  const QualType type = f ? f->getReturnType() : promisable->getType();
  const bool mayBeNull = f && type->isPointerType() && !looksThere_;
  if (mayBeNull || type->getBaseElementTypeUnsafe()->isArithmeticType())
    differs_ += " (--alike " + (f ? "'" + name + "()'" : name) + ", if it is " +
                (mayBeNull ? "null on all ranks or on none)" : "the same on all ranks)");
  return false;
}

bool Uniform::askOnce(const void *what, const std::function<bool()> &alike) {
  const Question question{what, elsewhere_ > 0, looksThere_, atAnyTime_, onlyReads_};
  if (const auto known = refused_.find(question); known != refused_.end()) {
    if (!why_) why_ = known->second.why;
    if (differs_.empty()) differs_ = known->second.differs;
    return false;
  }
  if (!ask(what)) return true;
  std::optional<Remark> why = std::exchange(why_, std::nullopt);
  std::string differs = std::exchange(differs_, std::string());
  const bool is = alike();
  if (!is) refused_.emplace(question, Reasons{why_, differs_});
  if (why) why_ = std::move(why);
  if (!differs.empty()) differs_ = std::move(differs);
  return is;
}

bool Uniform::condition(const Expr *e, const FunctionDecl *in) {
  // What is asked of on the way is a part of this question.
  const std::optional<Remark> before = why_;
  std::string outer = std::exchange(differs_, std::string());
  const bool alike = !e || sameItself(e, in) || asksWhoTakesPart(e, in);
  const std::string because = becauseItDiffers();
  differs_ = std::move(outer);
  if (alike) why_ = before;
  return alike || no(e, in,
                     "whether a rank comes here depends on '" + written(e, in->getASTContext()) +
                         "', which may differ among ranks" + because);
}

bool Uniform::reached(const Stmt *s, const FunctionDecl *in) {
  const llvm::SaveAndRestore decides(looksThere_, false);
  return askOnce(s, [&] { return isReached(s, in); });
}

bool Uniform::isReached(const Stmt *s, const FunctionDecl *in) {
  bool alike = true;
  const Stmt *from = s;
  for (const Stmt *p = parentIn(s, in); p && alike; from = p, p = parentIn(p, in)) {
    if (const auto *i = dyn_cast<IfStmt>(p)) {
      if (from != i->getCond() && from != i->getInit()) alike = condition(i->getCond(), in);
    } else if (const auto *f = dyn_cast<ForStmt>(p)) {
      if (from != f->getInit()) alike = condition(f->getCond(), in);
    } else if (const auto *w = dyn_cast<WhileStmt>(p)) {
      alike = condition(w->getCond(), in);
    } else if (const auto *d = dyn_cast<DoStmt>(p)) {
      alike = condition(d->getCond(), in);
    } else if (const auto *chosen = dyn_cast<SwitchStmt>(p)) {
      if (from != chosen->getCond()) alike = condition(chosen->getCond(), in);
    } else if (const auto *c = dyn_cast<ConditionalOperator>(p)) {
      if (from != c->getCond()) alike = condition(c->getCond(), in);
    } else if (const auto *o = dyn_cast<BinaryConditionalOperator>(p)) {
      if (from != o->getCommon()) alike = condition(o->getCommon(), in);
    } else if (const auto *b = dyn_cast<BinaryOperator>(p); b && b->isLogicalOp()) {
      if (from != b->getLHS()) alike = condition(b->getLHS(), in);
    } else if (const auto *tries = dyn_cast<CXXTryStmt>(p)) {
      for (unsigned n = 0; n < tries->getNumHandlers() && from == tries->getTryBlock(); ++n)
        if (alike && !ends(tries->getHandler(n), in, program_))
          alike = no(tries->getHandler(n), in,
                     "an exception may lead a rank past it, to this handler, which goes on");
    } else if (const auto *range = dyn_cast<CXXForRangeStmt>(p); range && sameTurns(*range, in)) {
      continue;
    } else if (isa<CXXForRangeStmt, CXXCatchStmt, LambdaExpr, LabelStmt, CoroutineBodyStmt>(p)) {
      alike = no(p, in, "how often a rank comes here is not followed");
    }
  }
  if (alike && from != in->getBody()) alike = no(s, in, "how a rank comes here is not followed");
  return alike && exitsAlike(s, in);
}

// A way out before the statement, or round the loop that it is in, decides as much as a condition
// around it.
bool Uniform::exitsAlike(const Stmt *s, const FunctionDecl *in) {
  const SourceManager &files = in->getASTContext().getSourceManager();
  std::set<const Stmt *> loops, around;
  for (const Stmt *p = parentIn(s, in); p; p = parentIn(p, in)) {
    around.insert(p);
    if (isLoop(p)) loops.insert(p);
  }
  const auto [known, fresh] = exits_.try_emplace(in->getBody());
  if (fresh) {
    Exits exits(program_);
    exits.TraverseStmt(in->getBody());
    known->second = std::move(exits.found);
  }
  for (const Stmt *exit : known->second) {
    if (leavesLambda(exit, around, in)) continue;
    if (isa<IndirectGotoStmt, GCCAsmStmt>(exit)) return no(exit, in, "goto is not followed");
    if (const auto *jump = dyn_cast<GotoStmt>(exit)) {
      if (!goesOn(*jump, in)) return no(exit, in, "goto is not followed");
      // To what comes before it, so all the same to it.
      if (files.isBeforeInTranslationUnit(jump->getLabel()->getLocation(), s->getBeginLoc()))
        continue;
    }
    bool sharesLoop = false;
    const Stmt *target = nullptr;
    for (const Stmt *p = parentIn(exit, in); p; p = parentIn(p, in)) {
      if (!target && isa<StmtExpr>(p) && isa<BreakStmt, ContinueStmt>(exit))
        return no(exit, in, "a jump out of an expression is not followed");
      sharesLoop = sharesLoop || loops.contains(p);
      const bool stops = isLoop(p) || (isa<SwitchStmt>(p) && isa<BreakStmt>(exit));
      if (!target && stops) target = p;
    }
    const bool before = files.isBeforeInTranslationUnit(exit->getBeginLoc(), s->getBeginLoc());
    if (isa<BreakStmt, ContinueStmt>(exit)) {
      if (!target || !around.contains(target)) continue;  // out of something else
      if (isa<ContinueStmt>(exit) && !before) continue;   // the next turn comes here all the same
    } else if (!before && !sharesLoop) {
      continue;
    }
    const bool ends = isa<CallExpr>(exit) || (isa<ReturnStmt>(exit) && in->isMain());
    if (const Stmt *last = ends ? lastWithout(exit, in, around, program_) : nullptr) {
      if (!reached(last, in)) return false;
      continue;
    }
    if (!reached(exit, in)) return false;
    if (const auto *call = dyn_cast<CallExpr>(exit); call && !endsAlike(*call->getDirectCallee()))
      return false;
  }
  return true;
}

// The same for the ends of a rank that lie in a function.
bool Uniform::endsAlike(const FunctionDecl &f) {
  const FunctionDecl *body = program_.definition(f);
  if (program_.definedOften(f) && !body)
    return no(&call_, &f, f.getNameAsString() + "() is defined by several of the sources");
  // Another question than what it returns, or who enters it, so it is asked by another name.
  if (!body || !ask(reinterpret_cast<const char *>(body) + 1)) return true;
  for (const CallSite &inner : program_.callsIn(*body)) {
    const FunctionDecl &callee = *inner.call->getDirectCallee();
    if (!program_.mayEndRank(callee)) continue;
    if (const Stmt *last = lastWithout(inner.call, body, {}, program_)) {
      if (last != body->getBody() && !reached(last, body)) return false;
      continue;
    }
    if (!reached(inner.call, body) || !endsAlike(callee)) return false;
  }
  return true;
}

bool Uniform::entered(const FunctionDecl *f) {
  if (f->isMain() && program_.callers(*f).empty()) return true;
  if (!ask(f)) return true;
  const std::string name = f->getNameAsString() + "()";
  if (f->isMain())
    return no(program_.callers(*f).front().call, f, "main() is called by the program, too");
  if (program_.calledUnseen(*f))
    return no(&call_, f, name + " is called by a library, nobody knows when");
  if (program_.addressTaken(*f))
    return no(&call_, f, name + " is called through a pointer, nobody knows when");
  if (calledByLanguage(*f))
    return no(&call_, f, name + " may be called where no call is written, nobody knows when");
  const std::vector<CallSite> &callers = program_.callers(*f);
  if (callers.empty() && !program_.promises().library)
    return no(&call_, f,
              "nothing here calls " + name +
                  ": name all sources of the program, or say --library if all ranks call it alike");
  const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
  for (const CallSite &at : callers) {
    if (!at.in) return no(at.call, f, name + " is called outside of any function");
    if (!reached(at.call, at.in) || !entered(at.in)) return false;
  }
  return true;
}

}  // namespace nbcc::overlap
