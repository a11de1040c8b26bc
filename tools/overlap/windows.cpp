// SPDX-License-Identifier: BSD-3-Clause
// windows.cpp - which statement gets in the way, and why.

#include "tools/overlap/windows.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/overlap/bindings.h"
#include "tools/overlap/communicators.h"
#include "tools/overlap/named.h"
#include "tools/overlap/returned_code.h"
#include "tools/overlap/source_text.h"

namespace nbcc::overlap {
namespace {

using namespace clang;

/// Whether two sets overlap because they share an object, rather than because they may.
bool shareObject(const Objects &a, const Objects &b) {
  return std::ranges::any_of(a.known, [&](const Object &o) { return b.known.contains(o); });
}

class Obstacle {
 public:
  /// `where`: between the call and what is looked at; none, if parts of buffers are not told apart.
  Obstacle(const Site &site, Program &program, std::optional<Stretch> where)
      : site_(site),
        program_(program),
        memory_(program.memory(*site.in)),
        name_(site.collective->blocking()) {
    if (where) regions_.emplace(site, program, *where);
  }

  /// Behind the call: it must be complete before this. None: it may be under way.
  std::optional<Remark> below(const Effect &e) {
    if (e.message && !site_.collective->isBarrier()) {
      std::string by = whoLooks();
      if (by.empty() && program_.actsOutside() && !isKnownAlike()) by = toldEarlier();
      std::optional<Remark> why = by.empty() ? std::nullopt : otherwise(e);
      if (why) why->text += ": " + by;
      return why;
    }
    if (e.kind == Effect::reads) {
      if (meets(e, true)) return touches(e, "read", site_.writes, "writes");
      return seenByOthers(e);
    }
    if (e.kind == Effect::writes) {
      if (meets(e, true)) return touches(e, "written", site_.writes, "writes");
      if (meets(e, false)) return touches(e, "written", site_.reads, "reads");
      if (isHandled(e)) return changesCheck(e);
      return seenByOthers(e);
    }
    return otherwise(e);
  }

  /// Before the call: it must not have started before this.
  std::optional<Remark> above(const Effect &e) {
    if (e.kind == Effect::reads) {
      if (meets(e, true)) return touches(e, "read", site_.writes, "writes");
      return seenByOthers(e);
    }
    if (e.kind == Effect::writes) {
      Objects named;
      for (const Effect &n : site_.naming.all) named.add(n.objects);
      const bool names = !named.empty() && memory_.mayOverlap(e.objects, named);
      if (names || meets(e, false)) {
        named.add(site_.reads);
        return touches(e, "written", named, "reads");
      }
      if (meets(e, true)) return touches(e, "written", site_.writes, "writes");
      if (isHandled(e)) return changesCheck(e);
      return seenByOthers(e);
    }
    if (e.kind == Effect::collective)
      return Remark{e.at, e.what + " is started first, and collectives keep their order"};
    if (e.kind == Effect::stops)
      return Remark{e.at, e.what + " ends the program where the call may not be made"};
    return otherwise(e);
  }

 private:
  /// Whether it may touch a buffer that the call writes, or one that it reads.
  bool meets(const Effect &e, bool written) {
    return std::ranges::any_of(site_.buffers, [&](const Site::Buffer &b) {
      return b.written == written && memory_.mayOverlap(e.objects, b.objects) &&
             !(regions_ && regions_->apart(e.access, b));
    });
  }

  bool isHandled(const Effect &e) const {
    return !site_.handled.empty() && memory_.mayOverlap(e.objects, site_.handled);
  }

  Remark changesCheck(const Effect &e) const {
    return {e.at,
            e.what + " is written, which is looked at, or changed, where " + name_ + " has failed"};
  }

  Remark touches(const Effect &e, const char *how, const Objects &ours, const char *does) const {
    if (site_.result && !site_.check && e.kind == Effect::reads &&
        shareObject(e.objects, memory_.variable(*site_.result)))
      return {e.at,
              e.what + " is read, in which is what " + name_ +
                  " returns: only a check right behind the call that does no more than stop at an "
                  "error is repeated behind the wait" +
                  (site_.notRepeated.empty() ? "" : ", and this one does: " + site_.notRepeated)};
    if (shareObject(e.objects, ours))
      return {e.at, e.what + " is " + how + ", which " + name_ + " " + does};
    return {e.at, e.what + " is " + how + ", and may be memory that " + name_ + " " + does};
  }

  /// Whether no message can be of it: a number or pointer whose address nobody has.
  bool isUnaddressed(const Object &o) const {
    const VarDecl *v = o.kind == Object::variable ? o.decl() : nullptr;
    return v && v->hasLocalStorage() && v->getParentFunctionOrMethod() == site_.in &&
           v->getType()->isScalarType() && !program_.changes(*site_.in).of(*v).unseen;
  }

  /// Where ranks share memory, or for a barrier, which has no other purpose than to order what
  /// others see.
  std::optional<Remark> seenByOthers(const Effect &e) const {
    const bool barrier = site_.collective->isBarrier(), freed = program_.mayFreeMessages();
    if (!barrier && !freed && !program_.sharesMemory()) return std::nullopt;
    const bool seen =
        e.objects.unknown || std::ranges::any_of(e.objects.known, [&](const Object &o) {
          return memory_.escaped(o) || o.kind == Object::pointee || (freed && !isUnaddressed(o));
        });
    if (!seen) return std::nullopt;
    if (!barrier && !program_.sharesMemory())
      return Remark{e.at, e.what + " may be of a message whose request is freed, and " + name_ +
                              " tells when that is over"};
    return Remark{e.at, e.what + " may be memory that other ranks see, and " + name_ +
                            " orders who sees what"};
  }

  std::optional<Remark> otherwise(const Effect &e) const {
    const bool barrier = site_.collective->isBarrier();
    switch (e.kind) {
      case Effect::opaque:
        return Remark{
            e.at, e.what +
                      " cannot be seen into: it may touch the buffers, communicate or not return" +
                      (e.promisable ? ", unless --local names it" : "")};
      case Effect::orders:
        if (e.what.starts_with("errno"))
          return Remark{e.at, e.what + " may also be set by the call, or by its wait"};
        return Remark{e.at, e.what + " is volatile or atomic: others may see when it is touched"};
      case Effect::leaves:
        return Remark{e.at, e.what + " leaves the block, and nothing would wait"};
      case Effect::enters:
        return Remark{e.at, "something may jump to " + e.what + ", past the start"};
      case Effect::exits:
        return Remark{e.at, e.what + " ends the rank while the call would be under way"};
      case Effect::times:
        if (program_.promises().acrossClocks) return std::nullopt;
        return Remark{e.at, e.what + " takes the time, so the call's part in it is being measured"};
      case Effect::mpi:
        return Remark{
            e.at, e.what + " is another call of MPI that may depend on this one being complete"};
      case Effect::prints:
        if (barrier)
          return Remark{e.at,
                        e.what + " writes, and a barrier may be what orders who writes first"};
        return std::nullopt;
      case Effect::files:
        return Remark{e.at, e.what + " writes a file, and " + name_ +
                                " may be what orders who writes and who reads"};
      case Effect::collective:
        if (barrier) return Remark{e.at, e.what + " comes behind the barrier for a reason"};
        if (mayTell(e.access)) {
          const std::string by = program_.actsOutside() ? toldEarlier() : whoLooks();
          if (!by.empty()) return Remark{e.at, e.what + " may tell what " + name_ + " does: " + by};
        }
        return std::nullopt;
      case Effect::vanishes:
        return Remark{e.at, e.what +
                                " stands for nothing here, and in another configuration for "
                                "other code"};
      case Effect::stops:
        if (barrier || program_.actsOutside())
          return Remark{e.at, e.what + " ends all ranks, and what they did before " + name_ +
                                  " may not be done yet"};
        return std::nullopt;
      case Effect::reads:
      case Effect::writes:
        break;
    }
    return std::nullopt;
  }

  /// Whether a rank that has completed the call knows of no other one that it has come to it of
  /// which not all ranks of the program know it then.
  bool isKnownAlike() const {
    const Knows knows = site_.collective->knows;
    // Where there may be others, the ranks of MPI_COMM_WORLD are not all.
    return site_.ofAll && !program_.hasSides() && (knows == Knows::all || knows == Knows::alike);
  }

  std::string toldEarlier() const {
    return "a rank may be told by it that others have come to " + name_ +
           ", and look at what they have done before";
  }

  /// Whether a rank may be told by another collective what it does not know by the call itself.
  bool mayTell(const Access &at) const {
    if (isKnownAlike()) return false;
    if (!at.where) return true;  // in a function that calls itself
    const auto &inner = *llvm::cast<CallExpr>(at.where);
    const FunctionDecl &in = *at.in;
    const Collective *c = findCollective(inner.getDirectCallee()->getName().str());
    const Communicators on = communicatorsOf(inner, *c, &in, program_);
    if (c->knows == Knows::all && on.areOfAllRanks() && !program_.hasSides())
      return false;  // who knows it knows all
    const bool toRoots = c->knows == Knows::root && site_.collective->knows == Knows::root;
    const bool isItself = findCollective(site_.call->getDirectCallee()->getNameAsString());
    if (!toRoots || !isItself) return true;
    // To the root, which knows more anyway.
    const Communicators own = communicatorsOf(*site_.call, *site_.collective, site_.in, program_);
    const auto root = [](const CallExpr &call, const Collective &of, const ASTContext &context) {
      return call.getArg(static_cast<unsigned>(of.arguments.find('R')))
          ->getIntegerConstantExpr(context);
    };
    const std::optional<llvm::APSInt> ours = root(*site_.call, *site_.collective, site_.context());
    const std::optional<llvm::APSInt> other = root(inner, *c, in.getASTContext());
    return !on.areConstantOf(own) || !ours || !other || *ours != *other;
  }

  /// By what ranks may look at messages, or at memory, before they have waited; empty: by nothing.
  std::string whoLooks() const {
    if (program_.sharesMemory()) return "ranks share memory";
    if (program_.mayFreeMessages()) return "requests of messages are freed";
    if (program_.hasSides()) return "a communicator may have two sides";
    if (const std::string by = program_.seesMessagesEarlier(); !by.empty())
      return "messages may be seen earlier, by " + by;
    if (!program_.hidden().empty()) return "some may be received by " + program_.hidden();
    const std::string &unseen =
        program_.missing().empty() ? program_.foreign() : program_.missing();
    if (program_.promises().whole || unseen.empty()) return {};
    return "some may be received in code that is not seen, " + unseen + " for one, unless --whole";
  }

  const Site &site_;
  Program &program_;
  const Memory &memory_;
  std::string name_;
  std::optional<Regions> regions_;
};

/// A statement that cannot be told where it ends, code of another configuration, or a macro that
/// gets another meaning, ends a window too. Upwards the call goes behind what stands before it.
std::optional<Remark> textual(const Site &site, unsigned from, unsigned to, unsigned at) {
  const ASTContext &context = site.context();
  std::optional<Extent> a = extentOf(*site.statement(from), context);
  const std::optional<Extent> b = extentOf(*site.statement(to), context);
  if (a && from < site.index && from > 0) {
    const std::optional<Extent> before = extentOf(*site.statement(from - 1), context);
    a = before ? std::optional(Extent{before->end, a->end}) : std::nullopt;
  } else if (a && from < site.index) {
    const SourceManager &files = context.getSourceManager();
    a->begin = files.getFileOffset(files.getSpellingLoc(site.block->getLBracLoc()));
  }
  const SourceLocation begin = site.statement(at)->getBeginLoc();
  if (!a || !b) return Remark{begin, "where the statement ends is hidden in a macro"};
  const std::optional<unsigned> hidden = directive(context, a->begin, b->end);
  if (!hidden) return std::nullopt;
  const SourceManager &files = context.getSourceManager();
  return Remark{
      files.getLocForStartOfFile(files.getMainFileID()).getLocWithOffset(static_cast<int>(*hidden)),
      "other code may stand here in another configuration, or something means another from here "
      "on"};
}

/// A macro of nothing, in a statement or between it and those next to it.
std::optional<Remark> hasEmptyMacro(const Site &site, Program &program, unsigned i) {
  const SourceManager &files = site.context().getSourceManager();
  const auto place = [&](unsigned offset) {
    return files.getLocForStartOfFile(files.getMainFileID())
        .getLocWithOffset(static_cast<int>(offset));
  };
  const auto end = [&](unsigned of) {
    const std::optional<Extent> extent = extentOf(*site.statement(of), site.context());
    return extent ? place(extent->end) : site.statement(of)->getEndLoc();
  };
  const SourceLocation from = i > 0 ? end(i - 1) : site.block->getLBracLoc();
  const SourceLocation to = i < site.index ? site.statement(i + 1)->getBeginLoc() : end(i);
  const SourceLocation at = emptyMacro(program.macros(site.context()), from, to);
  if (at.isInvalid()) return std::nullopt;
  return Remark{at, "a macro stands for nothing here, and in another configuration for other code"};
}

/// What may be the rest of a statement in another configuration: where there could be some, between
/// it and the next, stands a directive or a macro of nothing.
std::optional<Remark> goesOn(const Site &site, Program &program, unsigned i) {
  const ASTContext &context = site.context();
  const SourceManager &files = context.getSourceManager();
  const std::optional<Extent> extent = extentOf(*site.statement(i), context);
  if (!extent || !mayGoOn(*site.statement(i))) return std::nullopt;
  const SourceLocation file = files.getLocForStartOfFile(files.getMainFileID());
  const SourceLocation next = files.getExpansionLoc(
      i + 1 < site.statements() ? site.statement(i + 1)->getBeginLoc() : site.block->getRBracLoc());
  const auto place = [&](unsigned at) { return file.getLocWithOffset(static_cast<int>(at)); };
  SourceLocation at;
  if (const auto hidden = directive(context, extent->end, files.getFileOffset(next)))
    at = place(*hidden);
  else
    at = emptyMacro(program.macros(context), place(extent->end), next);
  if (at.isInvalid()) return std::nullopt;
  return Remark{at, "in another configuration an else may stand here"};
}

/// [[fallthrough]], behind which only the next case may stand.
bool fallsThrough(const Stmt *s) {
  const auto *attributed = llvm::dyn_cast<AttributedStmt>(s);
  return attributed && hasSpecificAttr<FallThroughAttr>(attributed->getAttrs());
}

/// Whether a declaration is one of something that the call names.
bool declaresArgument(const Site &site, const Stmt &s) {
  const auto *declared = llvm::dyn_cast<DeclStmt>(&s);
  const DeclaredNames anew = declaredBy(s, *site.in);
  if (anew.any || anew.types) return true;
  if (!declared) return false;
  for (const Decl *d : declared->decls())
    if (!llvm::isa<VarDecl>(d)) return true;  // a type
  return std::ranges::any_of(namedIn(*site.call), [&](const Decl *named) {
    return llvm::any_of(declared->decls(),
                        [&](const Decl *d) { return d == named || d == boundVariable(*named); });
  });
}

}  // namespace

std::optional<Remark> inTheWay(const Site &site, Program &program, const Effects &effects,
                               std::optional<Stretch> where) {
  Obstacle obstacle(site, program, where);
  for (const Effect &e : effects.all)
    if (std::optional<Remark> why = obstacle.below(e)) return why;
  return std::nullopt;
}

Window findWindow(const Site &site, Program &program, unsigned from) {
  Window w;
  w.first = w.last = site.index;

  w.ends = {site.block->getRBracLoc(), "the block ends"};
  w.last = site.behind - 1;
  long work = 0;  // of a macro's statements up to here, which are taken all or none
  for (unsigned i = site.behind; i < site.statements(); ++i) {
    std::optional<Remark> why = textual(site, site.index, i, i);
    const Effects effects = effectsOf(site.statement(i), *site.in, program);
    if (!why) why = inTheWay(site, program, effects, Stretch{i});
    if (!why) why = hasEmptyMacro(site, program, i);
    if (!why && renames(*site.statement(i), site, program))
      why = Remark{site.statement(i)->getBeginLoc(),
                   "the check behind it would mean what is declared here"};
    if (!why && fallsThrough(site.statement(i)))
      why = Remark{site.statement(i)->getBeginLoc(), "nothing may follow it but the next case"};
    if (!why) why = goesOn(site, program, i);
    if (why) {
      w.ends = *why;
      break;
    }
    work += effects.work;
    if (!site.endsAlone(i)) continue;
    w.last = i;
    w.workBehind += std::exchange(work, 0);
  }

  w.begins = {site.block->getLBracLoc(), "the block begins"};
  const bool changes =
      std::ranges::any_of(site.naming.all, [](const Effect &e) { return e.kind != Effect::reads; });
  const Remark fixed{site.call->getBeginLoc(), changes ? "its arguments do more than name values"
                                               : site.collective->isBarrier()
                                                   ? "a barrier stays behind what it is to order"
                                               : site.inBranch ? "whether it starts is decided here"
                                                               : "it is checked where it stands"};
  if (changes || site.collective->isBarrier() || site.isChecked() || site.inBranch) {
    w.begins = fixed;
    return w;
  }
  if (from > 0)
    w.begins = {site.statement(from - 1)->getEndLoc(),
                "an earlier collective, which it may depend on, completes"};
  work = 0;
  for (unsigned i = site.index; i-- > from;) {
    std::optional<Remark> why = textual(site, i, site.index, i);
    const Effects effects = effectsOf(site.statement(i), *site.in, program);
    Obstacle obstacle(site, program, Stretch{i});
    for (const Effect &e : effects.all)
      if (!why) why = obstacle.above(e);
    if (!why) why = hasEmptyMacro(site, program, i);
    if (!why && declaresArgument(site, *site.statement(i)))
      why = Remark{site.statement(i)->getBeginLoc(), "what the call names is declared"};
    if (!why && declaresFirst(site.context()) && llvm::isa<DeclStmt>(site.statement(i)))
      why = Remark{site.statement(i)->getBeginLoc(), "declarations stand first in their block"};
    if (why) {
      w.begins = *why;
      break;
    }
    work += effects.work;
    if (i > 0 && !site.endsAlone(i - 1)) continue;
    w.first = i;
    w.workBefore += std::exchange(work, 0);
  }
  return w;
}

}  // namespace nbcc::overlap
