// SPDX-License-Identifier: BSD-3-Clause
// uniform_values.cpp - whether an expression has the same value on all ranks.
//
// A variable has if all that is ever assigned to it has, and if all ranks reach each assignment
// alike.

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>

#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// Whether a cast makes a number of an address, or leads to addresses as if they were numbers:
/// each rank has its own ones of the command line, too.
static bool tellsAddress(const CastExpr &cast) {
  const QualType from = cast.getSubExpr()->getType(), to = cast.getType();
  const auto leadsToAddress = [](QualType type) {
    return type->isPointerType() && type->getPointeeType()->isPointerType();
  };
  if (!from->isPointerType()) return false;
  if (to->isPointerType()) return leadsToAddress(from) && !leadsToAddress(to);
  return !to->isBooleanType() && !to->isVoidType();
}

/// Likewise two of them that are compared, or subtracted.
static bool tellsAddress(const BinaryOperator &op, ASTContext &context) {
  const auto isAddress = [&](const Expr *e) {
    return e->getType()->isPointerType() &&
           !e->isNullPointerConstant(context, Expr::NPC_ValueDependentIsNotNull);
  };
  return isAddress(op.getLHS()) && isAddress(op.getRHS());
}

bool Uniform::same(const Expr *e, const FunctionDecl *in) {
  e = e->IgnoreParens();
  if (isa<IntegerLiteral, FloatingLiteral, CharacterLiteral, StringLiteral, CXXBoolLiteralExpr,
          CXXNullPtrLiteralExpr, GNUNullExpr>(e))
    return true;
  if (const auto *size = dyn_cast<UnaryExprOrTypeTraitExpr>(e))
    return !size->getTypeOfArgument()->isVariablyModifiedType();
  if (const auto *offset = dyn_cast<OffsetOfExpr>(e))
    return std::ranges::all_of(
        offset->children(), [&](const Stmt *index) { return same(llvm::cast<Expr>(index), in); });
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
    if (isa<EnumConstantDecl>(ref->getDecl())) return true;
    const auto *v = dyn_cast<VarDecl>(ref->getDecl());
    if (!v) return false;
    if (promised(*v)) return true;
    // What was taken for granted on the way to a no is granted no longer.
    const Asked asked = asked_;
    const std::optional<Remark> why = why_;
    if (filledBefore(ref, v, in)) return true;
    asked_ = asked;
    why_ = why;
    return sameValue(v);
  }
  if (const auto *member = dyn_cast<MemberExpr>(e)) return promised(*member->getMemberDecl());
  if (const auto *cast = dyn_cast<CastExpr>(e))
    return !tellsAddress(*cast) && same(cast->getSubExpr(), in);
  if (const auto *constant = dyn_cast<ConstantExpr>(e)) return same(constant->getSubExpr(), in);
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    if (op->getOpcode() == UO_Deref && isCommandLine(op, in)) return true;
    return op->getOpcode() != UO_AddrOf && same(op->getSubExpr(), in);
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e))
    return !tellsAddress(*op, in->getASTContext()) && same(op->getLHS(), in) &&
           same(op->getRHS(), in);
  if (const auto *op = dyn_cast<ConditionalOperator>(e))
    return same(op->getCond(), in) && same(op->getTrueExpr(), in) && same(op->getFalseExpr(), in);
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e))
    return same(sub->getBase(), in) && same(sub->getIdx(), in);
  if (const auto *call = dyn_cast<CallExpr>(e)) {
    const FunctionDecl *f = call->getDirectCallee();
    const KnownCall *known = f ? findKnownCall(*f) : nullptr;
    if (f && returnsCode(*f)) return true;
    const bool reads = known && known->kind == CallKind::plain && call->getNumArgs() > 0 &&
                       known->arguments.find_first_not_of("r-") == std::string_view::npos &&
                       known->arguments.find('r') != std::string_view::npos;  // not rand()
    if (f && !reads && !isOfNumbers(*f) && !isChoice(*f)) return sameResult(call);
    if (!f) return false;
    for (const Expr *argument : call->arguments())
      if (!same(argument, in)) return false;
    return true;
  }
  return false;
}

/// Its third parameter is the environment, in which launchers tell ranks apart.
static bool isOfCommandLine(const ParmVarDecl &p) {
  const auto *f = dyn_cast<FunctionDecl>(p.getDeclContext());
  return f && f->isMain() && p.getFunctionScopeIndex() < 2;
}

/// *argc, where a function is given &argc of main().
bool Uniform::isCommandLine(const Expr *e, const FunctionDecl *in) {
  const Places places = program_.memory(*in).designated(e).whole;
  if (places.unknown || places.known.size() != 1) return false;
  for (const FunctionDecl *f : program_.bodies())
    if (f->isMain())
      for (const ParmVarDecl *p : f->parameters())
        if (places.known.begin()->object == p->getCanonicalDecl()) return isOfCommandLine(*p);
  return false;
}

bool Uniform::promised(const ValueDecl &d) const {
  const std::set<std::string> &alike = program_.promises().alike;
  if (alike.empty()) return false;
  const std::string name = d.getNameAsString();
  const auto *field = dyn_cast<FieldDecl>(&d);
  return alike.contains(name) ||
         (field && alike.contains(field->getParent()->getNameAsString() + "." + name));
}

/// What a function of the program returns, in whatever way it is left.
bool Uniform::sameResult(const CallExpr *call) {
  const FunctionDecl *f = program_.body(*call->getDirectCallee());
  if (!f || isa<CXXMethodDecl>(f) || !f->getReturnType()->isArithmeticType()) return false;
  if (!ask(f->getBody())) return true;
  const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
  std::vector<const Stmt *> left{f->getBody()};
  while (!left.empty()) {
    const Stmt *s = left.back();
    left.pop_back();
    if (!s) continue;
    if (isa<LambdaExpr>(s)) return false;
    if (const auto *r = dyn_cast<ReturnStmt>(s))
      if (!r->getRetValue() || !same(r->getRetValue(), f) || !reached(r, f)) return false;
    left.insert(left.end(), s->child_begin(), s->child_end());
  }
  return true;
}

/// Whether what a collective writes is all of a number.
static bool fillsAll(const CallExpr &call, const Collective &c, unsigned i, const VarDecl &number,
                     const ASTContext &context) {
  const size_t count = c.arguments.find('n', i), type = c.arguments.find('t', i);
  if (count == std::string_view::npos || type == std::string_view::npos) return false;
  const auto length = call.getArg(static_cast<unsigned>(count))->getIntegerConstantExpr(context);
  const unsigned each = sizeOfType(constantName(call.getArg(static_cast<unsigned>(type)), context));
  const auto bytes = context.getTypeSizeInChars(number.getType()).getQuantity();
  return length && each > 0 && length->isStrictlyPositive() &&
         length->sge((bytes + each - 1) / each);
}

/// A local number that a broadcast, an allgather or an allreduce has just filled, and nothing has
/// changed since: what it was before does not matter.
bool Uniform::filledBefore(const DeclRefExpr *ref, const VarDecl *v, const FunctionDecl *in) {
  if (v->hasGlobalStorage() || !v->getType()->isArithmeticType() ||
      v->getType()->isAnyComplexType() || v->getType().isVolatileQualified())
    return false;
  ASTContext &context = in->getASTContext();
  const Memory &memory = program_.memory(*in);
  if (!memory.notUnderstood().empty()) return false;
  const Objects self = memory.variable(*v);
  const auto changes = [&](const Stmt *s) {
    for (const Effect &e : effectsOf(s, *in, program_).all)
      if ((e.kind == Effect::writes && memory.mayOverlap(e.objects, self)) ||
          e.kind == Effect::enters || e.kind == Effect::mpi ||
          (e.kind == Effect::opaque && memory.escaped(*self.known.begin())))
        return true;
    return false;
  };
  const auto fills = [&](const Stmt *s) {
    const auto *e = dyn_cast<Expr>(s);
    const auto *call = e ? dyn_cast<CallExpr>(e->IgnoreParens()) : nullptr;
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    const Collective *c = f && isMpi(*f) ? findCollective(f->getNameAsString()) : nullptr;
    if (!c || !c->sameOnAll || call->getNumArgs() != c->arguments.size()) return false;
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      if (c->arguments[i] != 'r' && c->arguments[i] != 'b') continue;
      const auto *op = dyn_cast<UnaryOperator>(call->getArg(i)->IgnoreParenCasts());
      const auto *at = op && op->getOpcode() == UO_AddrOf
                           ? dyn_cast<DeclRefExpr>(op->getSubExpr()->IgnoreParens())
                           : nullptr;
      if (!at || at->getDecl()->getCanonicalDecl() != v->getCanonicalDecl()) return false;
      return fillsAll(*call, *c, i, *v, context) && fillsAlike(call, i, in, atOnce) &&
             reached(call, in);
    }
    return false;
  };
  const Stmt *at = ref;
  for (const Stmt *p = parentOf(at, context); p; at = p, p = parentOf(p, context)) {
    const auto *block = dyn_cast<CompoundStmt>(p);
    if (!block) {
      const bool repeats = isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(p);
      const bool ends = isa<Expr, DeclStmt, ReturnStmt>(p);
      if ((repeats || ends) && changes(p)) return false;
      const auto *i = dyn_cast<IfStmt>(p);
      if (!repeats && !ends && !i) return false;
      if (i && (i->getInit() || i->getConditionVariable() || changes(i->getCond()))) return false;
      continue;
    }
    auto here = std::find(block->body_begin(), block->body_end(), at);
    if (here == block->body_end()) return false;
    while (here != block->body_begin()) {
      if (fills(*--here)) return true;
      if (changes(*here)) return false;
    }
  }
  return false;
}

/// Whether each turn of a loop has a variable of its own.
static bool isInLoop(const VarDecl &v, const FunctionDecl &in) {
  std::vector<std::pair<const Stmt *, bool>> left{{in.getBody(), false}};
  while (!left.empty()) {
    const auto [s, within] = left.back();
    left.pop_back();
    if (!s) continue;
    if (const auto *declared = dyn_cast<DeclStmt>(s); declared && within)
      for (const Decl *d : declared->decls())
        if (d == &v) return true;
    const bool again =
        within || isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, LabelStmt, LambdaExpr>(s);
    for (const Stmt *child : s->children()) left.emplace_back(child, again);
  }
  return false;
}

/// Whether a communicator's variable is the same one, and has the same one in it, as long as what
/// was learned of that is remembered: a second one would be another group of ranks.
bool Uniform::isOnlyOne(const ValueDecl &d, Kept kept) const {
  const auto *v = dyn_cast<VarDecl>(&d);
  const auto *in =
      v && !v->hasGlobalStorage() ? dyn_cast<FunctionDecl>(v->getDeclContext()) : nullptr;
  const bool another = !in || elsewhere_ > 0 || (kept == inFunction && isInLoop(*v, *in));
  return program_.givenOnce(d, kept == ever || another);
}

bool Uniform::ourCommunicator(const Expr *communicator, Kept kept) {
  const ASTContext &context = call_.getDirectCallee()->getASTContext();
  if (constantName(communicator, context) == "MPI_COMM_WORLD") return true;
  if (program_.hasSides()) return false;
  const size_t at = collective_.arguments.find('c');
  const Expr *own = call_.getArg(static_cast<unsigned>(at))->IgnoreParenImpCasts();
  const Expr *theirs = communicator->IgnoreParenImpCasts();
  const ValueDecl *of = nullptr;
  if (const auto *a = dyn_cast<DeclRefExpr>(own)) {
    const auto *b = dyn_cast<DeclRefExpr>(theirs);
    of = b && a->getDecl()->getCanonicalDecl() == b->getDecl()->getCanonicalDecl() ? a->getDecl()
                                                                                   : nullptr;
  } else if (const auto *m = dyn_cast<MemberExpr>(own)) {
    const auto *n = dyn_cast<MemberExpr>(theirs);
    const auto *x = dyn_cast<FieldDecl>(m->getMemberDecl());
    const auto *y = n ? dyn_cast<FieldDecl>(n->getMemberDecl()) : nullptr;
    of = x && y && nameInAll(*x) == nameInAll(*y) ? x : nullptr;
  }
  return of && isOnlyOne(*of, kept);
}

/// comm != MPI_COMM_NULL before a collective on comm: on all that take part in it it is not. If
/// they have all got it at the same place, none of them takes part under another name.
bool Uniform::asksWhoTakesPart(const Expr *condition) {
  const auto *op = dyn_cast<BinaryOperator>(condition->IgnoreParens());
  if (!op || !op->isEqualityOp()) return false;
  const ASTContext &context = call_.getDirectCallee()->getASTContext();
  const size_t at = collective_.arguments.find('c');
  const VarDecl *own =
      namedVariable(call_.getArg(static_cast<unsigned>(at))->IgnoreParenImpCasts());
  for (const auto &[one, other] :
       {std::pair(op->getLHS(), op->getRHS()), std::pair(op->getRHS(), op->getLHS())}) {
    if (!own || namedVariable(one->IgnoreParenImpCasts()) != own ||
        constantName(other, context) != "MPI_COMM_NULL")
      continue;
    const std::optional<CallSite> made = program_.madeAt(*own);
    return made && reached(made->call, made->in) && entered(made->in);
  }
  return false;
}

bool Uniform::sameParameter(const ParmVarDecl *p) {
  const auto *f = dyn_cast<FunctionDecl>(p->getDeclContext());
  if (!f || p->getType()->isReferenceType()) return false;
  if (f->isMain()) return isOfCommandLine(*p);
  const std::vector<CallSite> &callers = program_.callers(*f);
  const bool byOthers = program_.promises().library && f->isExternallyVisible();
  if (callers.empty() || byOthers || program_.addressTaken(*f)) return false;
  const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
  for (const CallSite &at : callers) {
    const unsigned i = p->getFunctionScopeIndex();
    if (!at.in || i >= at.call->getNumArgs() || isa<CXXOperatorCallExpr>(at.call)) return false;
    if (!same(at.call->getArg(i), at.in) || !reached(at.call, at.in)) return false;
  }
  return true;
}

bool Uniform::sameValue(const VarDecl *v) {
  if (!ask(v)) return true;
  if (program_.hasNames(*v)) return false;
  const bool seenWhole = !v->hasGlobalStorage() || !v->isExternallyVisible();
  if (!seenWhole && !(v->getType().isConstQualified() && v->hasInit())) return false;
  if (v->getType()->isReferenceType() || v->getType().isVolatileQualified()) return false;
  const auto *p = dyn_cast<ParmVarDecl>(v);
  if (p && !sameParameter(p)) return false;
  // What a pointer points at is anyone's, but for the command line.
  const bool commandLine = p && isOfCommandLine(*p);
  if (v->getType()->isPointerType() && !commandLine) return false;
  const auto *in = dyn_cast<FunctionDecl>(v->getDeclContext());
  if (v->getInit() && in && !same(v->getInit(), in)) return false;
  if (v->getInit() && !in && !v->getInit()->isEvaluatable(v->getASTContext())) return false;
  const bool uninitialised = !v->getInit() && !p && !v->hasGlobalStorage();
  const std::vector<Use> &uses = program_.uses(*v);
  if (uninitialised && uses.empty()) return false;
  for (const Use &use : uses)
    if (!sameUse(use, *v)) return false;
  return true;
}

/// One use of a variable: it reads it, or writes what is the same everywhere. A variable that
/// outlives the function tells who was in there, too.
bool Uniform::sameUse(const Use &use, const VarDecl &v) {
  if (!use.in) return false;
  const bool stays = v.hasGlobalStorage();
  const auto alike = [&](const Stmt *s) {
    return reached(s, use.in) && (!stays || entered(use.in));
  };
  ASTContext &context = use.in->getASTContext();
  const Expr *at = use.ref;
  std::vector<const Expr *> places;  // which part of the variable it is
  const auto samePlace = [&] {
    return std::ranges::all_of(places, [&](const Expr *e) { return same(e, use.in); });
  };
  for (;;) {
    const auto parents = context.getParents(*at);
    if (parents.empty()) return false;
    const Expr *parent = parents[0].get<Expr>();
    if (!parent) return !at->getType()->isPointerType() && !at->isGLValue();
    if (const auto *cast = dyn_cast<CastExpr>(parent)) {
      if (cast->getCastKind() == CK_LValueToRValue) {
        // Of a pointer: it is looked at through, or copied to where it may be written through.
        if (!cast->getType()->isPointerType()) return true;
      }
    } else if (const auto *op = dyn_cast<BinaryOperator>(parent)) {
      if (op->isAssignmentOp() && op->getLHS()->IgnoreParens() == at->IgnoreParens())
        return same(op->getRHS(), use.in) && samePlace() && alike(op);
      if (op->isComparisonOp()) return true;
      if (op->isAssignmentOp()) return false;  // a pointer is kept
      places.push_back(op->getLHS() == at ? op->getRHS() : op->getLHS());
    } else if (const auto *unary = dyn_cast<UnaryOperator>(parent)) {
      if (unary->isIncrementDecrementOp()) return samePlace() && alike(unary);
      if (unary->getOpcode() == UO_LNot) return true;
    } else if (const auto *call = dyn_cast<CallExpr>(parent)) {
      for (unsigned i = 0; i < call->getNumArgs(); ++i)
        if (call->getArg(i) == at)
          return leavesAlone(call, i) || (fillsAlike(call, i, use.in, stays ? ever : inFunction) &&
                                          samePlace() && alike(call));
      return false;
    } else if (isa<UnaryExprOrTypeTraitExpr>(parent)) {
      return true;
    } else if (const auto *sub = dyn_cast<ArraySubscriptExpr>(parent)) {
      if (sub->getIdx() == at) return true;
      places.push_back(sub->getIdx());
    } else if (!isa<ParenExpr>(parent)) {
      return false;
    }
    at = parent;
  }
}

/// A call that is given a variable, or its address, does not change it.
bool Uniform::leavesAlone(const CallExpr *call, unsigned i) const {
  const FunctionDecl *f = call->getDirectCallee();
  if (!f) return false;
  if (!call->getArg(i)->isGLValue() && !call->getArg(i)->getType()->isPointerType()) return true;
  if (const KnownCall *known = findKnownCall(*f)) return argumentOf(*call, *known, i) == 'r';
  const Collective *c = isMpi(*f) ? findCollective(f->getNameAsString()) : nullptr;
  return c && i < c->arguments.size() && c->arguments[i] != 'r' && c->arguments[i] != 'b';
}

/// A call that is given a variable's address leaves the same there on all ranks.
bool Uniform::fillsAlike(const CallExpr *call, unsigned i, const FunctionDecl *in, Kept kept) {
  const FunctionDecl *f = call->getDirectCallee();
  if (!f || !isMpi(*f)) return false;
  const std::string name = f->getNameAsString();
  if (name == "MPI_Init" || name == "MPI_Init_thread")
    return true;  // the command line, less MPI's own
  if (name == "MPI_Comm_size") return ourCommunicator(call->getArg(0), kept);
  const Collective *c = findCollective(name);
  if (!c || !c->sameOnAll || call->getNumArgs() != c->arguments.size()) return false;
  // Where it puts it is the same: by displacements, and by the datatype.
  for (unsigned k = i + 1; k < call->getNumArgs(); ++k) {
    const Expr *argument = call->getArg(k);
    if (c->arguments[k] == 'a' && !same(argument, in)) return false;
    if (c->arguments[k] == 't' && !isMpiConstant(constantName(argument, in->getASTContext())))
      return false;
  }
  return ourCommunicator(call->getArg(static_cast<unsigned>(c->arguments.find('c'))), kept);
}

}  // namespace nbcc::overlap
