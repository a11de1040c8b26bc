// SPDX-License-Identifier: BSD-3-Clause
// loops.cpp - what a loop's turns do to a call that is under way, and to what it is given.

#include "tools/overlap/loops.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <utility>

#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/initialized.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/known_faults.h"
#include "tools/overlap/named.h"
#include "tools/overlap/returned_code.h"
#include "tools/overlap/source_text.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

/// The loop whose body the call's block is, if it is a statement of a block, all of one
/// configuration and with one meaning of each macro; else null.
const Stmt *loopOf(const Site &site, const Program &program) {
  ASTContext &context = site.in->getASTContext();
  const Stmt *loop = site.block ? parentOf(site.block, context) : nullptr;
  const auto *turns = loop ? dyn_cast<ForStmt>(loop) : nullptr;
  const auto *while_ = loop ? dyn_cast<WhileStmt>(loop) : nullptr;
  if ((!turns && !while_) || (turns && turns->getConditionVariable()) ||
      (while_ && while_->getConditionVariable()))
    return nullptr;
  const Stmt *outer = parentOf(loop, context);
  const Stmt *around = outer ? parentOf(outer, context) : nullptr;
  if (!outer || !isa<CompoundStmt>(outer) || (around && isa<SwitchStmt>(around)) ||
      outer->getBeginLoc().isMacroID() || loop->getBeginLoc().isMacroID() ||
      isPart(*llvm::cast<CompoundStmt>(outer), *loop, context))
    return nullptr;
  const std::optional<Extent> extent = extentOf(*loop, context);
  if (!extent || directive(context, extent->begin, extent->end)) return nullptr;
  const Preprocessor &macros = program.macros(context);
  if (emptyMacro(macros, loop->getBeginLoc(), loop->getEndLoc()).isValid()) return nullptr;
  return loop;
}

/// Whether a nonblocking collective is started in a statement.
bool starts(const Stmt *s) {
  const auto *call = dyn_cast<CallExpr>(s);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  std::string name = f && isMpi(*f) ? f->getName().str() : "";
  if (name.starts_with("MPI_I") && name.size() > 5) {
    name[5] = llvm::toUpper(name[5]);
    if (findCollective(name.erase(4, 1))) return true;
  }
  return std::ranges::any_of(s->children(),
                             [](const Stmt *child) { return child && starts(child); });
}

/// Values that can be had before the loop as well: nothing is looked up in memory that may not be
/// there.
bool isPlain(const Expr *e, bool onlyAddress) {
  e = e->IgnoreParens();
  if (isa<IntegerLiteral, DeclRefExpr, UnaryExprOrTypeTraitExpr>(e)) return true;
  if (const auto *cast = dyn_cast<CastExpr>(e)) {
    const CastKind kind = cast->getCastKind();
    const bool value = kind == CK_LValueToRValue;
    return isPlain(cast->getSubExpr(), !value && (onlyAddress || kind == CK_ArrayToPointerDecay));
  }
  if (const auto *constant = dyn_cast<ConstantExpr>(e))
    return isPlain(constant->getSubExpr(), false);
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    if (op->getOpcode() == UO_AddrOf) return isPlain(op->getSubExpr(), true);
    return op->getOpcode() == UO_Minus && isPlain(op->getSubExpr(), false);
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e))
    return (op->getOpcode() == BO_Add || op->getOpcode() == BO_Sub || op->getOpcode() == BO_Mul) &&
           isPlain(op->getLHS(), false) && isPlain(op->getRHS(), false);
  if (const auto *member = dyn_cast<MemberExpr>(e))
    return !member->isArrow() && isPlain(member->getBase(), true);
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e))
    return onlyAddress && isPlain(sub->getBase(), true) && isPlain(sub->getIdx(), false);
  return false;
}

/// A constant, or where a variable is; but not every number is a rank.
bool isThereAlways(const Expr *e, bool isRoot, const ASTContext &context) {
  e = e->IgnoreParenCasts();
  if (const auto value = e->getIntegerConstantExpr(context)) return !isRoot || value->isZero();
  if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_AddrOf)
    return isa<DeclRefExpr>(op->getSubExpr()->IgnoreParens());
  return isa<DeclRefExpr>(e) && e->getType()->isArrayType();
}

/// for (v = constant; v < a greater one; ...), with no other condition.
bool turnsAtLeastOnce(const Stmt *loop, const Site &site, Program &program) {
  const auto *turns = dyn_cast<ForStmt>(loop);
  if (!turns || !turns->getCond() ||
      !isa<BinaryOperator>(turns->getCond()->IgnoreParenImpCasts()) ||
      llvm::cast<BinaryOperator>(turns->getCond()->IgnoreParenImpCasts())->isLogicalOp())
    return false;
  const std::optional<CountedLoop> counted =
      countedLoop(*turns, program.changes(*site.in), site.context());
  if (!counted) return false;
  const auto from = counted->from->getIntegerConstantExpr(site.context());
  const auto to = counted->to->getIntegerConstantExpr(site.context());
  if (!from || !to) return false;
  // -1 < 10u is false.
  const auto *compared = llvm::cast<BinaryOperator>(turns->getCond()->IgnoreParenImpCasts());
  if (compared->getLHS()->getType()->isUnsignedIntegerType() &&
      (from->isNegative() || to->isNegative()))
    return false;
  const int order = llvm::APSInt::compareValues(*from, *to);
  return counted->step > 0 ? order < 0 : order > 0;
}

/// Whether a turn may end before what stands behind a statement.
bool endsTurn(const Stmt *s, bool ofThisLoop = true, bool ofThisSwitch = true) {
  if (isa<ContinueStmt>(s)) return ofThisLoop;
  if (isa<BreakStmt>(s)) return ofThisLoop && ofThisSwitch;
  const bool loop = isLoop(s);
  return std::ranges::any_of(s->children(), [&](const Stmt *child) {
    return child && endsTurn(child, ofThisLoop && !loop, ofThisSwitch && !isa<SwitchStmt>(s));
  });
}

bool namesSomethingWithin(const Stmt *e, const Stmt *loop, const SourceManager &files) {
  return std::ranges::any_of(
      namedIn(*e), [&](const Decl *named) { return isWithin(named->getLocation(), loop, files); });
}

}  // namespace

std::optional<Carried> carriedOver(const Site &site, const Window &w, Program &program,
                                   std::optional<Remark> &inTheWayOf) {
  const Stmt *loop = loopOf(site, program);
  if (!loop || w.last + 1 != site.statements() || site.result || site.keepsCode || site.asks ||
      site.collective->isBarrier() || !extentOf(*site.statement(site.index), site.context()) ||
      endsWithBlock(site, program.memory(*site.in)) || renamesWithin(site, program))
    return std::nullopt;
  const Stmt *around = parentOf(loop, site.in->getASTContext());
  if (around && (isEnteredBlock(around, *site.in, program) ||  // past the request
                 mayBeJumpedPast(*llvm::cast<CompoundStmt>(around), *loop, site.context())))
    return std::nullopt;
  const auto why = [&](const Stmt *s) {
    return inTheWay(site, program, effectsOf(s, *site.in, program));
  };
  if (const auto *turns = dyn_cast<ForStmt>(loop)) {
    // A buffer that lives as long as the loop ends before the last wait.
    if (turns->getInit() && endsWith(site, turns->getInit(), program.memory(*site.in)))
      return std::nullopt;
    if (turns->getCond()) inTheWayOf = why(turns->getCond());
    if (turns->getInc() && !inTheWayOf) inTheWayOf = why(turns->getInc());
  } else {
    inTheWayOf = why(llvm::cast<WhileStmt>(loop)->getCond());
  }
  if (inTheWayOf) return std::nullopt;
  if (isEntered(loop, *site.in, program)) return std::nullopt;
  Carried result{loop, 0, w.workBehind, {site.call->getBeginLoc(), "the next one starts"}};
  // What this tool has moved up in an earlier run would bar the way in that one.
  for (unsigned i = 0; i < site.index; ++i)
    if (starts(site.statement(i))) return std::nullopt;
  long work = 0;
  for (unsigned i = 0; i < site.index; ++i) {
    const Stmt *s = site.statement(i);
    const Effects effects = effectsOf(s, *site.in, program);
    if (std::optional<Remark> r = inTheWay(site, program, effects, Stretch{i, loop})) {
      result.ends = *r;
      break;
    }
    if (!extentOf(*s, site.context())) return std::nullopt;
    work += effects.work;
    if (!site.endsAlone(i)) continue;
    result.until = i + 1;
    result.work += std::exchange(work, 0);
  }
  if (result.until > 0) return result;
  inTheWayOf = result.ends;
  return std::nullopt;
}

/// Whether the communicator, datatypes and operator are MPI's own, which stay what they are.
static bool handlesAreConstants(const Site &site) {
  for (unsigned i = 0; i < site.call->getNumArgs(); ++i)
    if (llvm::StringRef("tTocC").contains(site.collective->arguments[i]) &&
        !isMpiConstant(constantName(site.call->getArg(i), site.context())))
      return false;
  return true;
}

static bool endsOrBegins(llvm::StringRef what) {
  return what.contains("Finalize") || what.contains("Init") || what.contains("Session");
}

const Stmt *invariantIn(const Site &site, Program &program, Persistent names, std::string &why) {
  const Stmt *loop = loopOf(site, program);
  if (!loop) return nullptr;  // nothing to say
  const SourceManager &files = site.context().getSourceManager();
  const Memory &memory = program.memory(*site.in);
  const auto no = [&](std::string reason) {
    why = "not persistent: " + reason;
    return nullptr;
  };
  if (site.mayFail) return no("a call that fails may return, which would leave nothing to start");
  if (site.inBranch || site.isChecked())
    return no("the call is checked, or made in some turns only");
  if (!site.byAll)
    return no("a rank that does not come here would not make the request with the others");
  const bool hasTurn = turnsAtLeastOnce(loop, site, program);
  if (!hasTurn && !isInitializedAt(loop, *site.in, program))
    return no("the loop may have no turn, where MPI may not be initialised");
  if (names == Persistent::mpix && site.collective->large)
    return no("the extension has no calls for large counts");
  if (names == Persistent::mpix && !includes("mpi.h", site.context()))
    return no("there is no #include <mpi.h> that one of <mpi-ext.h> could follow");
  if (names == Persistent::mpi4 &&
      declared(site.collective->persistent().c_str(), site.context()).empty())
    return no("this MPI has no " + site.collective->persistent() + "()");
  if (names != Persistent::mpix)
    if (std::string fault = persistentFault(*site.collective, site.context(), program);
        !fault.empty())
      return no(std::move(fault));
  const std::string init =
      (names == Persistent::mpix ? "MPIX" : "MPI") + site.collective->persistent().substr(3);
  for (const std::string &name : {init, std::string("MPI_Start"), std::string("MPI_Request_free")})
    if (program.ownsName(name, site.context()))
      return no("the program has a " + name + "() of its own, which would be called");
  for (unsigned i = 0; i < site.index; ++i)
    if (endsTurn(site.statement(i)))
      return no("a turn may end before the call, and what it is given may have no good value then");
  for (unsigned i = 0; i < site.call->getNumArgs(); ++i) {
    const Expr *argument = site.call->getArg(i);
    const bool isRoot = site.collective->arguments[i] == 'R';
    const std::string text = written(argument, site.context());
    if (isMpiConstant(constantName(argument, site.context()))) continue;
    if (!isPlain(argument, false)) return no(text + " may not be there before the loop");
    if (namesSomethingWithin(argument, loop, files)) return no(text + " is declared in the loop");
    if (!hasTurn && !isThereAlways(argument, isRoot, site.context()))
      return no("the loop may have no turn, and " + text + " may have no good value then");
  }
  // What the arguments are computed from, and arrays of counts, which stay in use until the request
  // is freed.
  Objects needed;
  for (const Effect &e : site.naming.all) needed.add(e.objects);
  for (unsigned i = 0; i < site.call->getNumArgs(); ++i)
    if (site.collective->arguments[i] == 'a' || site.collective->arguments[i] == 'T')
      needed.add(memory.pointedAt(site.call->getArg(i)));
  for (const Effect &e : effectsOf(loop, *site.in, program).all) {
    const bool writes = e.kind == Effect::writes || e.kind == Effect::opaque;
    if (writes && !needed.empty() && memory.mayOverlap(e.objects, needed))
      return no(e.what + " may change what the call is given");
    if (e.kind == Effect::opaque) return no(e.what + " cannot be seen into");
    if (e.kind == Effect::stops)
      return no(e.what + " ends the program where the call may not be made");
    if (e.kind == Effect::leaves || e.kind == Effect::enters || e.kind == Effect::exits)
      return no(e.what + " passes by the end of the loop");
    if (e.kind == Effect::mpi &&
        (!needed.empty() || !handlesAreConstants(site) || endsOrBegins(e.what)))
      return no(e.what + " may change what the call is given");
  }
  return loop;
}

}  // namespace nbcc::overlap
