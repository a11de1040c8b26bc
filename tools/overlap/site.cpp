// SPDX-License-Identifier: BSD-3-Clause
// site.cpp - finds the calls, and what speaks against touching one.

#include "tools/overlap/site.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/StmtOpenMP.h>

#include <algorithm>

#include "tools/overlap/buffers.h"
#include "tools/overlap/communicators.h"
#include "tools/overlap/known_faults.h"
#include "tools/overlap/meetings.h"
#include "tools/overlap/returned_code.h"
#include "tools/overlap/source_text.h"
#include "tools/overlap/types.h"
#include "tools/overlap/uniform.h"
#include "tools/overlap/walk.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

const Stmt *parentOf(const Stmt *s, ASTContext &context) {
  for (const DynTypedNode &parent : context.getParents(*s)) {
    if (const Stmt *p = parent.get<Stmt>()) return p;
    // An initialiser, whose declaration is a statement, or what a directive of OpenMP runs.
    const Decl *within = parent.get<VarDecl>();
    if (!within) within = parent.get<CapturedDecl>();
    const auto *method = parent.get<CXXMethodDecl>();
    if (method && method->getParent()->isLambda()) within = method->getParent();
    if (!within) continue;
    for (const DynTypedNode &outer : context.getParents(*within))
      if (const Stmt *p = outer.get<Stmt>()) return p;
  }
  return nullptr;
}

const Stmt *Site::statement(unsigned i) const {
  return *(block->body_begin() + i);
}

bool Site::endsAlone(unsigned i) const {
  return i + 1 >= statements() || !shareText(*statement(i), *statement(i + 1), context());
}

namespace {

bool isBranch(const Stmt *s, const Stmt *parent) {
  const auto *i = dyn_cast<IfStmt>(parent);
  return i && (s == i->getThen() || s == i->getElse()) && !i->getInit() &&
         !i->getConditionVariable();
}

/// Then a case may jump past the request's declaration.
bool isOfSwitch(const Stmt *block, ASTContext &context) {
  const Stmt *parent = parentOf(block, context);
  return parent && isa<SwitchStmt>(parent);
}

/// Whether what an argument points at may be a part of a temporary object.
bool isOfTemporary(const Expr *e) {
  if (isa<MaterializeTemporaryExpr>(e)) return true;
  const auto *cast = dyn_cast<CastExpr>(e);
  if (cast && cast->getCastKind() == CK_LValueToRValue) return false;
  if (cast && cast->getCastKind() == CK_ArrayToPointerDecay && cast->getSubExpr()->isPRValue())
    return true;
  return std::ranges::any_of(e->children(), [](const Stmt *child) {
    const auto *operand = child ? dyn_cast<Expr>(child) : nullptr;
    return operand && (operand->isGLValue() || mayPoint(operand->getType())) &&
           isOfTemporary(operand);
  });
}

bool hasCompoundLiteral(const Stmt *s) {
  return isa<CompoundLiteralExpr>(s) || std::ranges::any_of(s->children(), [](const Stmt *child) {
           return child && hasCompoundLiteral(child);
         });
}

/// In C++ a jump must not pass by the declaration of a request that has a value.
bool isJumpedOver(const CallExpr &call, const Stmt *s, const SourceManager &files) {
  const auto *jump = dyn_cast<GotoStmt>(s);
  if (jump && files.isBeforeInTranslationUnit(jump->getBeginLoc(), call.getBeginLoc()) &&
      files.isBeforeInTranslationUnit(call.getBeginLoc(), jump->getLabel()->getLocation()))
    return true;
  return std::ranges::any_of(
      s->children(), [&](const Stmt *child) { return child && isJumpedOver(call, child, files); });
}

bool isOfThisProgram(const Collective &c, const CallExpr &call, const FunctionDecl &in) {
  const Expr *on = call.getArg(static_cast<unsigned>(c.arguments.find('c')));
  const std::string name = constantName(on, in.getASTContext());
  return name == "MPI_COMM_WORLD" || name == "MPI_COMM_SELF";
}

/// The function's buffers, and reasons that lie in the arguments.
void readArguments(Site &site, Program &program) {
  const Memory &memory = program.memory(*site.in);
  const ASTContext &context = site.context();
  const auto refuse = [&](const Expr *at, std::string why) {
    site.against.push_back({at->getBeginLoc(), std::move(why)});
  };
  bool derived = false, nowhere = false;
  for (unsigned i = 0; i < site.call->getNumArgs(); ++i) {
    const Expr *argument = site.call->getArg(i);
    const std::string name = constantName(argument, context);
    if (site.inBranch && hasCompoundLiteral(argument))
      refuse(argument, "a literal in memory lives no longer than the branch");
    const char what = site.collective->arguments[i];
    Walk(program, memory, context, site.naming, nullptr).statement(argument);
    if (what == 't' && !isMpiConstant(name)) derived = true;
    if (what == 'T') derived = true;
    if (what == 'o' && !isMpiOperator(name))
      refuse(argument,
             "the operator " + written(argument, context) +
                 " may be the program's own, and runs at any time until the call completes");
    if (std::string_view("srbaT").find(what) == std::string_view::npos) continue;
    if (isOfTemporary(argument)) refuse(argument, "a temporary object lives as long as the call");
    if (name == "MPI_BOTTOM") refuse(argument, "MPI_BOTTOM: the datatype says which memory it is");
    if (name == "MPI_IN_PLACE" || name == "MPI_BOTTOM") continue;
    const Objects objects = bufferOf(*site.call, *site.collective, i, memory, program);
    nowhere = nowhere || (objects.empty() && what != 'a' && what != 'T');
    const bool written = what == 'r' || what == 'b';
    (written ? site.writes : site.reads).add(objects);
    Access access = accessOf(*site.call, *site.collective, i, context);
    access.in = site.in;
    site.buffers.push_back({objects, written, access});
  }
  if (derived && nowhere)
    refuse(site.call,
           "a buffer is a constant and the datatype is derived: it may say which memory it is");
}

/// Reasons that lie in what stands around the call.
void findAround(Site &site, Program &program) {
  ASTContext &context = site.in->getASTContext();
  const auto refuse = [&](const Stmt *at, std::string why) {
    site.against.push_back({at->getBeginLoc(), std::move(why)});
  };
  const Stmt *from = site.call;
  for (const Stmt *s = parentOf(from, context); s; from = s, s = parentOf(s, context)) {
    if (isa<OMPExecutableDirective>(s))
      refuse(site.call, "threads may be at the call together: it stands in a directive of OpenMP");
    if (isa<LambdaExpr>(s)) refuse(s, "it stands in a lambda, which may be called anywhere");
    if (isa<CXXCatchStmt>(s)) refuse(s, "it stands in a handler, whenever that is come to");
    const auto *tries = dyn_cast<CXXTryStmt>(s);
    for (unsigned n = 0; tries && from == tries->getTryBlock() && n < tries->getNumHandlers(); ++n)
      if (!ends(tries->getHandler(n), site.in, program))
        refuse(tries->getHandler(n),
               "an exception would lead past the wait, to this handler, which goes on");
  }
}

/// How the call stands in its function: a statement of a block, alone or checked by a macro.
void findBlock(Site &site, Program &program) {
  ASTContext &context = site.in->getASTContext();
  const SourceManager &files = context.getSourceManager();
  const auto refuse = [&](std::string why) {
    site.against.push_back({site.call->getBeginLoc(), std::move(why)});
  };
  const SourceLocation begin = site.call->getBeginLoc();
  const Stmt *at = site.call, *parent = parentOf(at, context), *user = nullptr;
  if (const IfStmt *asks = begin.isMacroID() ? nullptr : askedBy(site.call, context)) {
    site.asks = asks;
    at = asks;
    parent = parentOf(at, context);
    if (!parent || !isa<CompoundStmt>(parent))
      return refuse("the if that the call stands in is no statement of a block");
  }
  for (; parent && !isa<CompoundStmt>(parent); at = parent, parent = parentOf(at, context)) {
    const auto *cast = dyn_cast<CStyleCastExpr>(parent);
    const bool discards = cast && cast->getType()->isVoidType();
    if (isa<ExprWithCleanups>(parent)) refuse("a temporary object lives as long as the call");
    if (user || discards || isa<ParenExpr>(parent)) continue;
    if (!begin.isMacroID() && isBranch(at, parent) && !site.result)
      site.inBranch = true;
    else if (!begin.isMacroID() && !site.inBranch && resultTakenBy(parent, site.call))
      site.result = resultTakenBy(parent, site.call);
    else
      user = parent;
  }
  if (begin.isMacroID()) {
    // CHECK(MPI_...);  whose expansion is one statement, or a block of its own.
    const CharSourceRange whole = files.getExpansionRange(begin);
    while (parent && (at->getBeginLoc().isMacroID() || isa<CompoundStmt>(at)) &&
           !(isa<CompoundStmt>(parent) && !parent->getBeginLoc().isMacroID())) {
      at = parent;
      parent = parentOf(at, context);
    }
    const std::string macro = parent ? checkingMacro(*site.call, context) : "";
    const bool same = parent && isa<CompoundStmt>(parent) &&
                      files.getExpansionLoc(at->getBeginLoc()) == whole.getBegin();
    // Nor is it the first or the last of several statements.
    const bool alone =
        same && std::ranges::none_of(parent->children(), [&](const Stmt *s) {
          return s != at && files.getExpansionLoc(s->getBeginLoc()) == whole.getBegin();
        });
    if (macro.empty() || !alone) return refuse("the call is part of a macro's expansion");
    site.checkedBy = macro;
  } else if (user) {
    const bool returned = isa<Expr, DeclStmt, ReturnStmt>(user);
    return refuse(returned ? "what the call returns is used"
                           : "the call is no statement of a block");
  }
  if (!parent) return refuse("the call is no statement of a block");
  if (const Stmt *around = parentOf(parent, context); around && isa<StmtExpr>(around))
    refuse("its block is part of an expression");
  findAround(site, program);
  site.block = llvm::cast<CompoundStmt>(parent);
  const auto found = std::find(site.block->body_begin(), site.block->body_end(), at);
  site.index = static_cast<unsigned>(found - site.block->body_begin());
  site.behind = site.index + 1;
  if (found == site.block->body_end()) site.block = nullptr;
  site.mayFail = program.handlesErrors() && !site.result && !site.asks;
  if (site.beginsNull() && site.block && isOfSwitch(site.block, context))
    refuse("a case may jump past the request");
}

Site makeSite(const Collective &collective, const CallExpr *call, const FunctionDecl *in,
              Program &program) {
  Site site{&collective, call, in};
  const SourceManager &files = in->getASTContext().getSourceManager();
  const auto refuse = [&](std::string why) {
    site.against.push_back({call->getBeginLoc(), std::move(why)});
  };
  const Memory &memory = program.memory(*in);
  findBlock(site, program);
  readArguments(site, program);
  if (site.beginsNull() && site.block &&
      mayBeJumpedPast(*site.block, *site.statement(site.index), in->getASTContext()))
    refuse(
        "a goto of another configuration may lead past it, in front of which its request is null");
  if (site.beginsNull() && site.block && isEnteredBlock(site.block, *in, program))
    refuse("a jump may lead into the block, past the request");
  if (program.joinsOthers() && !isOfThisProgram(collective, *call, *in))
    refuse("ranks of another program may take part in it");
  if (std::string fault = nonblockingFault(collective, in->getASTContext(), program);
      !fault.empty())
    refuse(std::move(fault));
  if (!memory.notUnderstood().empty())
    site.against.push_back(
        {memory.notUnderstoodAt(),
         in->getNameAsString() + "() has " + memory.notUnderstood() + ", which is not followed"});
  if (in->isTemplated() || in->isTemplateInstantiation()) refuse("it stands in a template");
  if (!files.isInMainFile(files.getExpansionLoc(call->getBeginLoc())))
    refuse("it stands in a header");
  else if (site.block && !extentOf(*site.statement(site.index), site.context()))
    refuse("where its statement ends is hidden in a macro");
  if (program.isIncluded(site.context()))
    refuse("another source includes this one, and may come to it there on its own");
  if (site.block && site.block->getBeginLoc().isMacroID())
    refuse("its block is part of a macro's expansion");
  if (site.block && isPart(*site.block, *site.statement(site.index), in->getASTContext()))
    refuse("a pragma, or an #if, stands before it");
  if (site.block && !isSpelled(*call, collective.blocking(), in->getASTContext()))
    refuse("the source spells it in another way");
  if (site.block && !site.checkedBy.empty()) readCheckingMacro(site, program);
  if (site.block && site.result) readCheck(site, program);
  if (site.block && site.asks) readCondition(site, program);
  if (site.block && countsExpansions(site, program))
    refuse("the call, or its check, says __COUNTER__, which is another number each time");
  if (site.block &&
      ((site.index > 0 && !site.endsAlone(site.index - 1)) || !site.endsAlone(site.behind - 1)))
    refuse("a macro holds more than one statement here");
  if (in->getASTContext().getLangOpts().CPlusPlus && isJumpedOver(*call, in->getBody(), files))
    refuse("a goto jumps past it, and may not jump past its request");
  if (program.definition(*call->getDirectCallee()))
    refuse("the program has a " + collective.blocking() +
           "() of its own, which would no longer be called");
  for (const std::string &name : {collective.nonblocking(), std::string("MPI_Wait")})
    if (program.ownsName(name, in->getASTContext()))
      refuse("the program has a " + name + "() of its own, which would be called");
  site.ofAll = communicatorsOf(*call, collective, in, program).areOfAllRanks();
  std::optional<Remark> uneven = Uniform(program, *call, collective).whyNot();
  site.byAll = !uneven;
  if (uneven)
    if (const std::optional<std::string> other = mayMeet(*call, collective, in, program)) {
      site.with = Uniform(program, *call, collective).metInOtherBranch();
      if (site.with) {
        site.uneven = std::move(uneven);
        return site;
      }
      uneven->text += "; so it may meet " + *other + ", which need not change with it";
      site.against.push_back(*uneven);
    }
  return site;
}

/// Whether something that has no name ends with a variable: const Sums &mine = sums();
bool keepsTemporary(const VarDecl &v, const Stmt *init) {
  const auto *temporary = dyn_cast_or_null<MaterializeTemporaryExpr>(init);
  return init && ((temporary && temporary->getExtendingDecl() == &v) ||
                  std::ranges::any_of(init->children(),
                                      [&](const Stmt *child) { return keepsTemporary(v, child); }));
}

}  // namespace

bool endsWith(const Site &site, const Stmt *statement, const Memory &memory) {
  Objects used = site.reads;
  used.add(site.writes);
  if (used.unknown && hasCompoundLiteral(statement)) return true;
  const auto *declared = dyn_cast<DeclStmt>(statement);
  if (!declared) return false;
  for (const Decl *d : declared->decls()) {
    const auto *v = dyn_cast<VarDecl>(d);
    if (!v || v->hasGlobalStorage()) continue;
    const Object variable{Object::variable, v->getCanonicalDecl()};
    if (used.known.contains(variable) || (used.unknown && memory.escaped(variable)) ||
        (used.unknown && keepsTemporary(*v, v->getInit())) || v->getType().isDestructedType() ||
        v->hasAttr<CleanupAttr>())
      return true;
  }
  return false;
}

bool endsWithBlock(const Site &site, const Memory &memory) {
  return std::ranges::any_of(site.block->body(),
                             [&](const Stmt *s) { return endsWith(site, s, memory); });
}

std::optional<Site> outside(const Site &site, Program &program) {
  ASTContext &context = site.in->getASTContext();
  const Stmt *at = site.block, *parent = parentOf(at, context);
  if (!parent || !isBranch(at, parent) || site.result || site.keepsCode || site.asks)
    return std::nullopt;
  while (parent && isBranch(at, parent)) {
    at = parent;
    parent = parentOf(at, context);
  }
  const auto *block = parent ? dyn_cast<CompoundStmt>(parent) : nullptr;
  if (!block || isOfSwitch(block, context) || block->getBeginLoc().isMacroID() ||
      isPart(*block, *at, context) || mayBeJumpedPast(*block, *at, context) ||
      endsWithBlock(site, program.memory(*site.in)) || renamesWithin(site, program) ||
      isEnteredBlock(block, *site.in, program) || isEntered(at, *site.in, program))
    return std::nullopt;
  Site result = site;
  result.block = block;
  result.index = static_cast<unsigned>(std::find(block->body_begin(), block->body_end(), at) -
                                       block->body_begin());
  result.behind = result.index + 1;
  result.inBranch = true;
  return result;
}

std::vector<Site> findSites(Program &program) {
  std::vector<Site> sites;
  std::set<const FunctionDecl *> seen;
  for (const FunctionDecl *in : program.functions()) {
    if (in->isDependentContext() || !seen.insert(in).second) continue;
    for (const CallSite &at : program.callsIn(*in)) {
      const FunctionDecl *f = at.call->getDirectCallee();
      if (!isMpi(*f)) continue;
      const Collective *c = findCollective(f->getName().str());
      if (c && c->arguments.size() == at.call->getNumArgs())
        sites.push_back(makeSite(*c, at.call, in, program));
    }
  }
  return sites;
}

}  // namespace nbcc::overlap
