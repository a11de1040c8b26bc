// SPDX-License-Identifier: BSD-3-Clause
// uniform_ranks.cpp - whether an expression names the rank, or a number that was made of it.
//
//   MPI_Comm_rank(comm, &g->rank);   in_turn(g->rank + 1)   for (i = 0; i < me; ++i)
//
// Looked for backwards, from the name to whatever gives it a value in any of the sources. Only
// whole numbers are followed, and single floating ones: what a loop of a solver waits for is
// computed from the rank's part of the data, and then made one of all ranks in ways that are hard
// to tell. A whole number that comes from where nothing is seen may be the rank: of a function
// without a body, of a variable that no source defines, of a call through a pointer, of MPI.

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <functional>

#include "tools/overlap/buffers.h"
#include "tools/overlap/filling.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/memory.h"
#include "tools/overlap/types.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// Also arrays of them, and what points at them.
static bool isWholeNumber(QualType type) {
  type = type.getNonReferenceType();
  while (type->isPointerType()) type = type->getPointeeType();
  return type->getBaseElementTypeUnsafe()->isIntegralOrEnumerationType();
}

/// std::array<int, 2>, std::pair<int, double>, std::vector<int>: what its parts are is not
/// followed.
static bool holdsWholeNumbers(QualType type) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const auto *of = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record);
  return of && of->isInStdNamespace() &&
         anyTypeArgument(*of, [](QualType t) { return isWholeNumber(t) || holdsWholeNumbers(t); });
}

/// How many arguments stand before the parameters' ones: the object of an operator.
static unsigned objectsOf(const CallExpr &call, const FunctionDecl &f) {
  const auto *method = dyn_cast<CXXMethodDecl>(&f);
  return isa<CXXOperatorCallExpr>(call) && method && !method->isExplicitObjectMemberFunction();
}

/// Whether a statement may be left for what does not stand behind it, by whoever comes to a
/// condition that `is` so. The end of main() is none.
static bool jumpsBy(const Stmt *s, const FunctionDecl &in,
                    const std::function<bool(const Expr *)> &is, bool chosen = false,
                    bool within = false) {
  if (!s || isa<LambdaExpr>(s)) return false;
  if (isa<GotoStmt, IndirectGotoStmt>(s) || (isa<ReturnStmt>(s) && !in.isMain())) return chosen;
  if (isa<BreakStmt, ContinueStmt>(s)) return chosen && !within;
  const auto *i = dyn_cast<IfStmt>(s);
  within = within || isLoop(s) || isa<SwitchStmt>(s);
  if (!i || chosen)
    return std::ranges::any_of(
        s->children(), [&](const Stmt *child) { return jumpsBy(child, in, is, chosen, within); });
  const auto jumps = [&](bool if_) {
    return jumpsBy(i->getThen(), in, is, if_, within) || jumpsBy(i->getElse(), in, is, if_, within);
  };
  return jumps(false) || (jumps(true) && is(i->getCond()));
}

static bool holdsReturn(const Stmt *s) {
  return s && (isa<ReturnStmt>(s) || std::ranges::any_of(s->children(), holdsReturn));
}

bool Uniform::namesRank(const Expr *e, const FunctionDecl *in) const {
  Seen seen;
  namedAt_ = {e, in};
  return namesRank(e, &seen);
}

/// `seen`: what has been asked of; null: only variables that MPI_Comm_rank() itself fills count.
bool Uniform::namesRank(const Stmt *e, Seen *seen) const {
  if (!e) return false;
  const auto inParts = [&](Seen *asked) {
    return std::ranges::any_of(e->children(),
                               [&](const Stmt *child) { return namesRank(child, asked); });
  };
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) return tellsRank(*ref->getDecl(), seen);
  if (const auto *member = dyn_cast<MemberExpr>(e))
    return tellsRank(*member->getMemberDecl(), seen) || inParts(seen);
  if (const auto *size = dyn_cast<UnaryExprOrTypeTraitExpr>(e);
      size && size->getTypeOfArgument()->isVariablyModifiedType())
    return seen;
  const auto *call = dyn_cast<CallExpr>(e);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  if (f && returnsCode(*f)) return false;
  const auto *op = dyn_cast<BinaryOperator>(e);
  if (op && seen && op->isEqualityOp())  // who takes part
    for (const Expr *side : {op->getLHS(), op->getRHS()})
      if (constantName(side, namedAt_.second->getASTContext()) == "MPI_COMM_NULL") return true;
  if (op && op->isPtrMemOp() && seen && isWholeNumber(op->getType())) return true;
  if (call && seen && mayGiveRank(*call)) return true;
  const FunctionDecl *body = f ? program_.definition(*f) : nullptr;
  if (!body || !seen) return inParts(seen);
  const bool returns = isWholeNumber(body->getReturnType()) &&
                       seen->insert(nameInAll(*body)).second && returnsRank(body->getBody(), seen);
  return returns || inParts(nullptr);
}

/// A whole number out of a function that is not seen, or not known to be the one that runs. The
/// system's own know nothing of ranks, but what is given to them to be called, and the environment.
bool Uniform::mayGiveRank(const CallExpr &call) const {
  const FunctionDecl *f = call.getDirectCallee();
  if (!isWholeNumber(call.getType())) return false;
  if (!f) return true;
  const auto *method = dyn_cast<CXXMethodDecl>(f);
  if (method && method->isVirtual()) return true;
  const std::string name = f->getNameAsString();
  if (program_.definition(*f) || isMpi(*f) || findKnownCall(*f) || f->getBuiltinID() != 0 ||
      program_.isLocal(*f))
    return false;
  if (!isOfSystem(*f)) return true;
  return name.ends_with("getenv") || name == "system" || name == "getpid" || name == "gettid" ||
         (method && (f->getOverloadedOperator() == OO_Call || readsShapeOfContainer(name))) ||
         (f->isInStdNamespace() && (name == "invoke" || name == "apply"));
}

bool Uniform::returnsRank(const Stmt *s, Seen *seen) const {
  if (!s) return false;
  if (isa<ReturnStmt>(s)) return namesRank(s, seen);
  const Expr *on = nullptr;
  if (const auto *i = dyn_cast<IfStmt>(s)) on = i->getCond();
  if (const auto *chosen = dyn_cast<SwitchStmt>(s)) on = chosen->getCond();
  return (on && holdsReturn(s) && namesRank(on, seen)) ||
         std::ranges::any_of(s->children(),
                             [&](const Stmt *child) { return returnsRank(child, seen); });
}

bool Uniform::tellsRank(const ValueDecl &d, Seen *seen) const {
  if (promised(d)) return false;
  if (isa<BindingDecl>(d)) return isWholeNumber(d.getType());  // a part of anything
  if (!isa<VarDecl, FieldDecl>(d)) return false;
  if (holdsWholeNumbers(d.getType())) return true;
  const bool whole = isWholeNumber(d.getType());
  if (!whole && !(seen && d.getType().getNonReferenceType()->isFloatingType())) {
    const auto *v = dyn_cast<VarDecl>(&d);
    const Stmt *init = v ? v->getAnyInitializer() : nullptr;  // p = rank == 0 ? &a : NULL
    return seen && namesRank(init, static_cast<Seen *>(nullptr));
  }
  // What is written where a field leads is not followed.
  if (whole && seen && isa<FieldDecl>(d) && d.getType()->isPointerType() && !madeAlike(d))
    return true;
  if (seen && !seen->insert(nameInAll(d)).second) return false;
  if (!whole && madeAlike(d)) return false;
  if (filledByRank(d, seen) || (whole && seen && comesFromElsewhere(d))) return true;
  const auto *v = dyn_cast<VarDecl>(&d);
  if (!v || !seen) return false;
  const auto *p = dyn_cast<ParmVarDecl>(v);
  const auto *f = p ? dyn_cast<FunctionDecl>(p->getDeclContext()) : nullptr;
  if (!f) return namesRank(v->getAnyInitializer(), seen);
  if (isa<CXXConstructorDecl>(f)) return true;  // who constructs what is not followed
  const unsigned i = p->getFunctionScopeIndex();
  return std::ranges::any_of(program_.callers(*f), [&](const CallSite &at) {
    const unsigned place = i + objectsOf(*at.call, *f);
    return place < at.call->getNumArgs() && namesRank(at.call->getArg(place), seen);
  });
}

/// What no source gives a value: a variable that is defined elsewhere, a field that is filled
/// there, as MPI_SOURCE is.
bool Uniform::comesFromElsewhere(const ValueDecl &d) const {
  if (const auto *f = dyn_cast<FieldDecl>(&d))
    return isOfSystem(*f) ? f->getName() == "MPI_SOURCE" || f->getName() == "MPI_TAG"
                          : program_.given(*f).empty() && !madeAlike(*f);
  const auto *v = dyn_cast<VarDecl>(&d);
  if (!v || !v->hasGlobalStorage() || isOfSystem(*v) || v->isStaticLocal()) return false;
  return std::ranges::none_of(program_.globals(), [&](const VarDecl *other) {
    return other->getIdentifier() == v->getIdentifier()
               ? other->isThisDeclarationADefinition() != VarDecl::DeclarationOnly
               : other->getName() == v->getName() && nameInAll(*other) == nameInAll(*v) &&
                     other->isThisDeclarationADefinition() != VarDecl::DeclarationOnly;
  });
}

static bool isOnSelf(const CallExpr &call, const Collective &c, const ASTContext &context) {
  return constantName(call.getArg(static_cast<unsigned>(c.arguments.find('c'))), context) ==
         "MPI_COMM_SELF";
}

/// What collectives that leave the same on all ranks ever fill, by name; "": some structure.
static std::map<std::string, std::vector<CallSite>> filledAlike(const Program &program) {
  std::map<std::string, std::vector<CallSite>> fills;
  for (const CallSite &at : program.collectives()) {
    const std::optional<Fill> fill = fillOf(*at.call);
    if (!fill || !at.in || isOnSelf(*at.call, *fill->kind, at.in->getASTContext())) continue;
    const Expr *to = at.call->getArg(fill->argument)->IgnoreParenCasts();
    const QualType type = to->getType();
    if ((type->isPointerType() ? type->getPointeeType() : type)->isRecordType())
      fills[""].push_back(at);
    const auto *op = dyn_cast<UnaryOperator>(to);
    if (op && op->getOpcode() == UO_AddrOf) to = op->getSubExpr()->IgnoreParens();
    while (const auto *sub = dyn_cast<ArraySubscriptExpr>(to))
      to = sub->getBase()->IgnoreParenCasts();
    if (const auto *ref = dyn_cast<DeclRefExpr>(to))
      fills[nameInAll(*ref->getDecl())].push_back(at);
    if (const auto *m = dyn_cast<MemberExpr>(to))
      fills[nameInAll(*m->getMemberDecl())].push_back(at);
  }
  return fills;
}

/// Whether such a collective ever fills it, or the structure that it is in: what one rank has read,
/// by a condition on the rank, all have then. Not one that comes behind the condition that is asked
/// about.
bool Uniform::madeAlike(const ValueDecl &d) const {
  if (!alike_) alike_ = filledAlike(program_);
  const auto inTime = [&](const CallSite &fill) {
    if (fill.in != namedAt_.second) return true;
    ASTContext &context = fill.in->getASTContext();
    if (context.getSourceManager().isBeforeInTranslationUnit(fill.call->getBeginLoc(),
                                                             namedAt_.first->getBeginLoc()))
      return true;
    std::set<const Stmt *> loops;
    for (const Stmt *p = fill.call; p; p = parentOf(p, context))
      if (isLoop(p)) loops.insert(p);
    const Stmt *p = namedAt_.first;
    while (p && !loops.contains(p)) p = parentOf(p, context);
    return p != nullptr;
  };
  const auto filled = [&](const std::string &name) {
    const auto at = alike_->find(name);
    return at != alike_->end() && std::ranges::any_of(at->second, inTime);
  };
  return filled(nameInAll(d)) || (isa<FieldDecl>(d) && filled(""));
}

/// Whether it is up to the rank if a value is given at all. `stays`: to what outlives the function.
bool Uniform::chosenByRank(const Stmt *at, const FunctionDecl *in, bool stays, Seen *seen) const {
  ASTContext &context = in->getASTContext();
  const auto byRank = [&](const Stmt *on) { return on && namesRank(on, seen); };
  const Stmt *from = at;
  for (const Stmt *p = parentOf(at, context); p; from = p, p = parentOf(p, context)) {
    const Expr *on = conditionOf(p);
    const auto *loop = dyn_cast<ForStmt>(p);
    if (from != on && !(loop && from == loop->getInit()) && byRank(on)) return true;
    if (const auto *block = dyn_cast<CompoundStmt>(p))
      for (const Stmt *before : block->body()) {
        if (before == from) break;
        if (jumpsBy(before, *in, byRank)) return true;
      }
  }
  if (!stays || in->isMain() || !seen->insert("into " + nameInAll(*in)).second) return false;
  return std::ranges::any_of(program_.callers(*in), [&](const CallSite &caller) {
    return caller.in && chosenByRank(caller.call, caller.in, true, seen);
  });
}

/// Whether it, or what it points at, is given the rank after its declaration.
bool Uniform::filledByRank(const ValueDecl &d, Seen *seen) const {
  const bool choice = seen && d.getType()->isIntegralOrEnumerationType() && !madeAlike(d);
  const auto *v = dyn_cast<VarDecl>(&d);
  const bool stays = !v || v->hasGlobalStorage();
  for (const Given &given : program_.given(d)) {
    const auto *e = dyn_cast_or_null<Expr>(given.at);
    const auto *op = dyn_cast_or_null<BinaryOperator>(e);
    const bool assigns = op && op->isAssignmentOp();
    if (assigns && seen && namesRank(op->getRHS(), seen)) return true;
    const Stmt *step = e && given.in ? parentOf(e, given.in->getASTContext()) : nullptr;
    const auto *unary = dyn_cast_or_null<UnaryOperator>(step);
    const bool steps = unary && unary->isIncrementDecrementOp();
    if ((assigns || steps) && choice && given.in && chosenByRank(e, given.in, stays, seen))
      return true;
    // Of a list of values, or a constructor's.
    const bool value = isa<FieldDecl>(d) && e && e->getType()->isIntegralOrEnumerationType();
    if (!assigns && value && seen && namesRank(e, seen)) return true;
    if (!assigns && e && given.in && getsRank(e, given.in, seen)) return true;
  }
  return v && std::ranges::any_of(program_.uses(d), [&](const Use &use) {
           return use.in && getsRank(use.ref, use.in, seen);
         });
}

/// Whether a call that is not seen into may put it where an argument points: MPI, but what is the
/// same on all ranks, a library's function, or a copy of it.
bool Uniform::mayPutRank(const CallExpr &call, const FunctionDecl *in, unsigned i,
                         Seen *seen) const {
  const FunctionDecl &f = *call.getDirectCallee();
  const QualType type = i < f.getNumParams() ? f.getParamDecl(i)->getType() : QualType();
  const QualType to = type.isNull() ? type : type->getPointeeType();
  if (!to.isNull() && to.isConstQualified()) return false;
  if (isMpi(f)) {
    const llvm::StringRef name = f.getName();
    if (const Collective *c = findCollective(name.str()))
      return i < c->arguments.size() && (c->arguments[i] == 'r' || c->arguments[i] == 'b') &&
             (!c->sameOnAll || isOnSelf(call, *c, in->getASTContext()));
    if (name == "MPI_Comm_size") return !ourCommunicator(call.getArg(0), in, inFunction);
    if (name == "MPI_Group_size") return true;
    if (name.starts_with("MPI_Type_size") || name.starts_with("MPI_Type_get") ||
        name.starts_with("MPI_Pack_size"))
      return std::ranges::none_of(call.arguments(), [&](const Expr *e) {
        const std::string given = constantName(e, in->getASTContext());
        return isMpiConstant(given) && given != "MPI_COMM_WORLD";
      });
    if (name.ends_with("Dims_create"))
      return namesRank(call.getArg(0), seen) || namesRank(call.getArg(1), seen);
    if (name.ends_with("Cart_get")) return i + 1 == f.getNumParams();
    for (const char *part :
         {"_size", "Init", "Query_thread", "Get_version", "Topo_test", "dim_get", "Type_",
          "Finalized", "compare", "processor_name", "Error_", "Bcast", "Allre", "Allga"})
      if (name.contains_insensitive(part)) return false;
    return isWholeNumber(to) || to->isVoidType();
  }
  if (program_.isLocal(f)) return false;
  if (!findKnownCall(f) && f.getBuiltinID() == 0 && !isOfSystem(f)) return true;
  return std::ranges::any_of(
      call.arguments(), [&](const Expr *e) { return e != call.getArg(i) && namesRank(e, seen); });
}

/// The same where its name, or its address, stands.
bool Uniform::getsRank(const Expr *at, const FunctionDecl *in, Seen *seen) const {
  ASTContext &context = in->getASTContext();
  for (const Stmt *parent = parentOf(at, context); parent; parent = parentOf(parent, context)) {
    if (const auto *call = dyn_cast<CallExpr>(parent)) {
      const FunctionDecl *f = call->getDirectCallee();
      const auto argument = std::find(call->arg_begin(), call->arg_end(), at);
      if (argument == call->arg_end()) return false;
      const bool lends = at->isGLValue() || at->getType()->isPointerType();
      if (!f) return seen && lends;  // MPI_Comm_rank() by a pointer
      const unsigned objects = objectsOf(*call, *f);
      const auto i = static_cast<unsigned>(argument - call->arg_begin()) - objects;
      if (objects && argument == call->arg_begin()) return false;
      const llvm::StringRef name = f->getIdentifier() ? f->getName() : "";
      if (isMpi(*f) && (name.ends_with("Comm_rank") || name.ends_with("Group_rank"))) return i == 1;
      if (!seen || !lends) return false;
      const FunctionDecl *body = program_.definition(*f);
      if (!body) return mayPutRank(*call, in, i, seen);
      if (i >= body->getNumParams()) return false;
      const ParmVarDecl &p = *body->getParamDecl(i);
      return seen->insert("to " + nameInAll(p)).second && filledByRank(p, seen);
    }
    if (const auto *declared = dyn_cast<DeclStmt>(parent)) {  // int &other = at, *another = &at;
      const VarDecl *v = nullptr;
      for (const Decl *d : declared->decls())
        if (const auto *one = dyn_cast<VarDecl>(d);
            one && one->getInit() &&
            one->getInit()->IgnoreParenImpCasts() == at->IgnoreParenImpCasts())
          v = one;
      const bool leads = v && (v->getType()->isReferenceType() || v->getType()->isPointerType());
      return leads && seen && seen->insert("to " + nameInAll(*v)).second && filledByRank(*v, seen);
    }
    const auto *op = dyn_cast<BinaryOperator>(parent);
    if (op && op->isAssignmentOp())
      return seen && op->getLHS() == at && namesRank(op->getRHS(), seen);
    const auto *chosen = dyn_cast<AbstractConditionalOperator>(parent);
    if (chosen && seen && at != chosen->getCond() && namesRank(chosen->getCond(), seen))
      return true;
    const auto *sub = dyn_cast<ArraySubscriptExpr>(parent);
    const auto *unary = dyn_cast<UnaryOperator>(parent);
    const bool moves = op && op->isAdditiveOp() && op->getType()->isPointerType();
    const bool same =
        isa<CastExpr, ParenExpr>(parent) || (moves && at->getType()->isPointerType()) ||
        (sub && sub->getBase() == at) || (chosen && at != chosen->getCond()) ||
        (unary && (unary->getOpcode() == UO_AddrOf || unary->getOpcode() == UO_Deref));
    if (!same) return false;
    at = llvm::cast<Expr>(parent);
  }
  return false;
}

}  // namespace nbcc::overlap
