// SPDX-License-Identifier: BSD-3-Clause
// uniform_values.cpp - whether an expression has the same value on all ranks.
//
// A variable has if all that is ever assigned to it has, and if all ranks reach each assignment
// alike.

#include <clang/AST/APValue.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>

#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/communicators.h"
#include "tools/overlap/filling.h"
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

static bool leads(QualType type) {
  return type->isPointerType() || type->isArrayType();
}

bool Uniform::same(const Expr *e, const FunctionDecl *in) {
  e = e->IgnoreParens();
  const llvm::SaveAndRestore looks(looksThere_, looksThere_ && leads(e->getType()));
  if (const auto *whole = dyn_cast<ExprWithCleanups>(e)) return same(whole->getSubExpr(), in);
  if (isa<IntegerLiteral, FloatingLiteral, CharacterLiteral, StringLiteral, CXXBoolLiteralExpr,
          CXXNullPtrLiteralExpr, GNUNullExpr, ImplicitValueInitExpr>(e))
    return true;
  if (const auto *list = dyn_cast<InitListExpr>(e))
    return std::ranges::all_of(list->inits(), [&](const Expr *value) { return same(value, in); }) &&
           (!list->hasArrayFiller() || same(list->getArrayFiller(), in));
  if (const auto *size = dyn_cast<UnaryExprOrTypeTraitExpr>(e))
    return !size->getTypeOfArgument()->isVariablyModifiedType();
  if (const auto *offset = dyn_cast<OffsetOfExpr>(e))
    return std::ranges::all_of(
        offset->children(), [&](const Stmt *index) { return same(llvm::cast<Expr>(index), in); });
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
    if (isa<EnumConstantDecl>(ref->getDecl())) return true;
    const auto *v = dyn_cast<VarDecl>(ref->getDecl());
    if (!v) return false;
    if (promised(*v) || filledBefore(ref, v, in)) return true;
    const llvm::SaveAndRestore time(atAnyTime_, atAnyTime_ || waits(ref, *v, nullptr, in));
    const ForStmt *loop = loopThatSets(*ref, *v, *in);
    return loop ? sameWithin(*loop, *v, in) : sameValue(v);
  }
  if (const auto *member = dyn_cast<MemberExpr>(e)) {
    const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
    if (promised(*member->getMemberDecl()) ||
        (field && sameField(member->getBase(), *field, in, in->getASTContext())))
      return true;
    return differs("what is in '" + written(member, in->getASTContext()) + "' is not followed",
                   member->getMemberDecl());
  }
  if (const auto *cast = dyn_cast<CastExpr>(e))
    return !tellsAddress(*cast) && same(cast->getSubExpr(), in);
  if (const auto *constant = dyn_cast<ConstantExpr>(e)) return same(constant->getSubExpr(), in);
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    if (op->getOpcode() == UO_Deref && isCommandLine(op, in)) return true;
    if (op->getOpcode() == UO_Deref && !leads(op->getType()))
      return sameThere(op->getSubExpr(), in);
    return op->getOpcode() != UO_AddrOf && same(op->getSubExpr(), in);
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e)) {
    // Of what counts to a bound, the bound is what is worth a word.
    if (op->isComparisonOp() && !same(op->getRHS(), in)) return false;
    return !tellsAddress(*op, in->getASTContext()) && same(op->getLHS(), in) &&
           (op->isComparisonOp() || same(op->getRHS(), in));
  }
  if (const auto *op = dyn_cast<ConditionalOperator>(e))
    return sameItself(op->getCond(), in) && same(op->getTrueExpr(), in) &&
           same(op->getFalseExpr(), in);
  if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e))
    return (leads(sub->getType()) ? same(sub->getBase(), in) : sameThere(sub->getBase(), in)) &&
           same(sub->getIdx(), in);
  if (isFresh(e, in)) return true;
  if (const auto *made = dyn_cast<CXXConstructExpr>(e)) return sameVector(*made, in);
  if (const auto *temporary = dyn_cast<MaterializeTemporaryExpr>(e))
    return same(temporary->getSubExpr(), in);
  if (const auto *list = dyn_cast<CXXStdInitializerListExpr>(e))
    return same(list->getSubExpr(), in);
  if (const auto *call = dyn_cast<CallExpr>(e)) {
    if (sameOfVector(*call, in)) return true;
    const FunctionDecl *f = call->getDirectCallee();
    if (f && !looksThere_ && promised(*f)) return true;
    const KnownCall *known = f ? findKnownCall(*f) : nullptr;
    if (f && returnsCode(*f)) return true;
    const bool reads = known && known->kind == CallKind::plain && call->getNumArgs() > 0 &&
                       known->arguments.find_first_not_of("r-") == std::string_view::npos &&
                       known->arguments.find('r') != std::string_view::npos;  // not rand()
    if (f && parsesOptions(*f)) return optionsAreSame(in->getASTContext());
    if (f && !reads && !isOfNumbers(*f) && !isChoice(*f)) return sameResult(call);
    if (!f)
      return differs("what is called through '" + written(call, in->getASTContext()) +
                     "' is not known");
    return llvm::all_of(call->arguments(), [&](const Expr *argument) {
      return reads ? sameThere(argument, in) : same(argument, in);
    });
  }
  return false;
}

/// for (v = 0; ...), for (v = 0, w = 1; ...)
static bool sets(const Stmt *init, const VarDecl &v) {
  const auto *op = dyn_cast_or_null<BinaryOperator>(init);
  if (!op) return false;
  if (op->getOpcode() == BO_Comma) return sets(op->getLHS(), v) || sets(op->getRHS(), v);
  return op->getOpcode() == BO_Assign && namedVariable(op->getLHS()) == v.getCanonicalDecl();
}

/// Whether a statement may be entered in its middle. `inSwitch`: by no case, which is of one in it.
static bool hasEntry(const Stmt *s, bool inSwitch = false) {
  if (!s) return false;
  if (isa<LabelStmt>(s) || (isa<SwitchCase>(s) && !inSwitch)) return true;
  return std::ranges::any_of(s->children(), [&](const Stmt *child) {
    return hasEntry(child, inSwitch || isa<SwitchStmt>(s));
  });
}

/// The innermost loop around a local number that begins by giving it a value: what else it is used
/// for does not matter there. Null: there is none.
const ForStmt *Uniform::loopThatSets(const DeclRefExpr &ref, const VarDecl &v,
                                     const FunctionDecl &in) {
  if (v.hasGlobalStorage() || !v.getType()->isArithmeticType() ||
      v.getType().isVolatileQualified() || program_.changes(in).of(v).unseen ||
      !std::ranges::all_of(program_.uses(v), [&](const Use &use) { return use.in == &in; }))
    return nullptr;
  const Stmt *from = &ref;
  for (const Stmt *p = parentOf(from, in.getASTContext()); p;
       from = p, p = parentOf(p, in.getASTContext()))
    if (const auto *loop = dyn_cast<ForStmt>(p);
        loop && from != loop->getInit() && sets(loop->getInit(), v) && !hasEntry(loop->getBody()))
      return loop;
  return nullptr;
}

bool Uniform::sameWithin(const ForStmt &loop, const VarDecl &v, const FunctionDecl *in) {
  if (!ask(&*counters_.emplace(&loop, v.getCanonicalDecl()).first)) return true;
  const SourceManager &files = in->getASTContext().getSourceManager();
  return std::ranges::all_of(program_.uses(v), [&](const Use &use) {
    return !isWithin(use.ref->getBeginLoc(), &loop, files) || sameUse(use, v) ||
           differsBy(use, "'" + v.getNameAsString() + "'", v);
  });
}

bool Uniform::promised(const ValueDecl &d) const {
  const std::set<std::string> &alike = program_.promises().alike;
  if (alike.empty()) return false;
  const std::string name = d.getNameAsString() + (isa<FunctionDecl>(d) ? "()" : "");
  const auto *of =
      isa<FieldDecl, CXXMethodDecl>(d) ? dyn_cast<RecordDecl>(d.getDeclContext()) : nullptr;
  return alike.contains(name) || (of && alike.contains(of->getNameAsString() + "." + name));
}

/// What a function of the program returns, in whatever way it is left.
bool Uniform::sameResult(const CallExpr *call) {
  const FunctionDecl *f = program_.bodyAnywhere(*call->getDirectCallee());
  const auto *method = dyn_cast_or_null<CXXMethodDecl>(f);
  const bool follows =
      f && (f->getReturnType()->isArithmeticType() || (looksThere_ && program_.makes(*f)));
  if (!follows || (method && method->getParent()->isLambda()))
    return differs(
        "what " + call->getDirectCallee()->getNameAsString() + "() returns is not followed",
        call->getDirectCallee());
  if (!ask(f->getBody())) return true;
  const llvm::SaveAndRestore elsewhere(elsewhere_, elsewhere_ + 1);
  return allReturns(*f, [&](const Expr *value) { return same(value, f); });
}

bool Uniform::allReturns(const FunctionDecl &f, const std::function<bool(const Expr *)> &is) {
  std::vector<const Stmt *> left{f.getBody()};
  while (!left.empty()) {
    const Stmt *s = left.back();
    left.pop_back();
    if (!s) continue;
    if (isa<LambdaExpr>(s)) return false;
    if (const auto *r = dyn_cast<ReturnStmt>(s))
      if (!r->getRetValue() || !is(r->getRetValue()) || !reached(r, &f)) return false;
    left.insert(left.end(), s->child_begin(), s->child_end());
  }
  return true;
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
    const bool again = within || isLoop(s) || isa<LabelStmt, LambdaExpr>(s);
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

bool Uniform::ourCommunicator(const Expr *communicator, const FunctionDecl *in, Kept kept) const {
  const ASTContext &context = in->getASTContext();
  if (constantName(communicator, context) == "MPI_COMM_WORLD") return true;
  const Communicators those = communicatorsOf(*communicator, *in, program_);
  if (those.areOfAllRanks()) return true;
  if (program_.hasSides()) return false;
  if (those.areOneWith(communicatorsOf(call_, collective_, home_, program_), program_)) return true;
  const size_t at = collective_.arguments.find('c');
  const Expr *own = call_.getArg(static_cast<unsigned>(at))->IgnoreParenImpCasts();
  const Expr *theirs = communicator->IgnoreParenImpCasts();
  const ValueDecl *of = nullptr;
  if (const auto *a = dyn_cast<DeclRefExpr>(own)) {
    const auto *b = dyn_cast<DeclRefExpr>(theirs);
    const auto *x = dyn_cast<VarDecl>(a->getDecl());
    const auto *y = b ? dyn_cast<VarDecl>(b->getDecl()) : nullptr;
    of = x && y && program_.areSame(*x, *y) ? x : nullptr;
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
bool Uniform::asksWhoTakesPart(const Expr *condition, const FunctionDecl *in) {
  const auto *op = dyn_cast<BinaryOperator>(condition->IgnoreParens());
  if (!op || !op->isEqualityOp()) return false;
  const ASTContext &context = in->getASTContext();
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
  if (!f) return false;
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

/// Whether it is a pointer that is followed like what it points at, which it stands for: to
/// numbers, or to strings.
static bool leadsToNumbers(QualType type) {
  QualType pointee = type->getPointeeType();
  if (pointee->isPointerType() && pointee->getPointeeType()->isCharType())
    pointee = pointee->getPointeeType();
  return pointee->isArithmeticType() && !pointee.isVolatileQualified();
}

/// (intptr_t)&x is constant, too, and another number on each rank.
static bool holdsNoAddress(const APValue &value) {
  const auto all = [](unsigned n, const auto &part) {
    for (unsigned i = 0; i < n; ++i)
      if (!holdsNoAddress(part(i))) return false;
    return true;
  };
  switch (value.getKind()) {
    case APValue::LValue:
      return value.isNullPointer();
    case APValue::MemberPointer:
    case APValue::AddrLabelDiff:
      return false;
    case APValue::Struct:
      return all(value.getStructNumBases(),
                 [&](unsigned i) -> const APValue & { return value.getStructBase(i); }) &&
             all(value.getStructNumFields(),
                 [&](unsigned i) -> const APValue & { return value.getStructField(i); });
    case APValue::Union:
      return holdsNoAddress(value.getUnionValue());
    case APValue::Array:
      return all(value.getArrayInitializedElts(),
                 [&](unsigned i) -> const APValue & { return value.getArrayInitializedElt(i); }) &&
             (!value.hasArrayFiller() || holdsNoAddress(value.getArrayFiller()));
    case APValue::Vector:
      return all(value.getVectorLength(),
                 [&](unsigned i) -> const APValue & { return value.getVectorElt(i); });
    default:
      return true;  // numbers, and what has no value
  }
}

bool isPlain(const Expr &init, const ASTContext &context) {
  if (const auto *list = dyn_cast<InitListExpr>(&init))
    return std::ranges::all_of(list->inits(), [&](const Expr *e) { return isPlain(*e, context); });
  const Expr *bare = init.IgnoreParenImpCasts();
  if (isa<StringLiteral>(bare)) return true;
  if (init.getType()->isPointerType())
    return bare->isNullPointerConstant(const_cast<ASTContext &>(context),
                                       Expr::NPC_ValueDependentIsNotNull);
  Expr::EvalResult value;
  return !init.getType()->isReferenceType() && init.EvaluateAsRValue(value, context) &&
         !value.HasSideEffects && holdsNoAddress(value.Val);
}

/// constexpr int steps = 9; nothing may write to it, wherever it is named.
static bool isConstant(const VarDecl &v) {
  const VarDecl *made = v.getInitializingDeclaration();
  const QualType type(v.getType()->getBaseElementTypeUnsafe(), 0);
  const bool constant = v.getType().isConstQualified() ||
                        (v.getType()->isArrayType() &&
                         v.getASTContext().getBaseElementType(v.getType()).isConstQualified());
  return made && !isa<ParmVarDecl>(v) && made->getInit() && constant && type->isArithmeticType() &&
         !type.isVolatileQualified() && isPlain(*made->getInit(), v.getASTContext());
}

bool Uniform::sameValue(const VarDecl *v) {
  if (isConstant(*v)) return true;
  return askOnce(v->getCanonicalDecl(), [&] { return hasOneValue(v); });
}

bool Uniform::hasOneValue(const VarDecl *v) {
  const std::string name = "'" + v->getNameAsString() + "'";
  if (program_.hasNames(*v)) return differs(name + " has another name as well", v);
  if (v->hasAttr<CleanupAttr>()) return differs(name + " is given to a function where it ends", v);
  const bool ofParser = isOfParser(*v);
  if (ofParser) return optionsAreSame(v->getASTContext());
  const bool constant = v->getType().isConstQualified() && v->hasInit();
  if (v->hasGlobalStorage() && !constant && program_.knownElsewhere(*v))
    return differs(name + " may change in code that is not seen" +
                       (program_.missing().empty() ? "" : ", " + program_.missing() + " for one"),
                   v);
  const auto *p = dyn_cast<ParmVarDecl>(v);
  const bool followed = p || v->isCXXForRangeDecl();  // if it is a reference
  const QualType type = followed ? v->getType().getNonReferenceType() : v->getType();
  if (type->isReferenceType() || type.isVolatileQualified())
    return differs(name + " is a reference, or volatile", v);
  if (p && !sameParameter(p)) return differs("what is passed as " + name + " is not followed", v);
  // What a pointer points at is anyone's, but for the command line.
  const bool commandLine = p && isOfCommandLine(*p);
  const bool bytes = looksThere_ && type->isVoidPointerType();
  if (type->isPointerType() && !commandLine && !bytes && !leadsToNumbers(type))
    return differs("what " + name + " points at is not followed", v);
  for (const VarDecl *one : program_.declarations(*v)) {
    const Expr *init = one->getInit();
    const auto *in = dyn_cast<FunctionDecl>(one->getDeclContext());
    const auto alike = [&] {
      if (one->isCXXForRangeDecl()) return sameInTurns(*one, in);
      return in ? same(init, in) : isPlain(*init, one->getASTContext());
    };
    if (init && !alike())
      return differs("what " + name + " is declared with may be another value", v);
  }
  const bool uninitialised = !v->getInit() && !p && !v->hasGlobalStorage();
  const std::vector<Use> &uses = program_.uses(*v);
  if (uninitialised && uses.empty()) return false;
  return std::ranges::all_of(
      uses, [&](const Use &use) { return sameUse(use, *v) || differsBy(use, name, *v); });
}

/// Where a collective that leaves the same on all its ranks has others than the call that is asked
/// about.
std::string Uniform::overAnother(const Use &use) {
  ASTContext &context = use.in->getASTContext();
  const Stmt *at = use.ref;
  while (isa_and_nonnull<CastExpr, ParenExpr, UnaryOperator, DeclRefExpr, MemberExpr>(at))
    at = parentOf(at, context);
  const auto *call = dyn_cast_or_null<CallExpr>(at);
  const std::optional<Fill> fill = call ? fillOf(*call) : std::nullopt;
  if (!fill) return "";
  const Expr *communicator = call->getArg(static_cast<unsigned>(fill->kind->arguments.find('c')));
  if (ourCommunicator(communicator, use.in, atOnce)) return "";
  return ", over '" + written(communicator, context) + "', which may be another communicator";
}

/// Whether MPI puts the rank there: MPI_Comm_rank(comm, &rank).
static bool getsRank(const Expr *at, const FunctionDecl &in) {
  const Stmt *to = at, *by = parentOf(at, in.getASTContext());
  for (; by; to = by, by = parentOf(by, in.getASTContext())) {
    const auto *sub = dyn_cast<ArraySubscriptExpr>(by);
    const auto *op = dyn_cast<UnaryOperator>(by);
    const bool same = isa<CastExpr, ParenExpr>(by) || (sub && sub->getBase() == to) ||
                      (op && (op->getOpcode() == UO_AddrOf || op->getOpcode() == UO_Deref));
    if (!same) break;
  }
  const auto *call = dyn_cast_or_null<CallExpr>(by);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  if (!f || !isMpi(*f) || call->getNumArgs() != 2 || call->getArg(1) != to) return false;
  return f->getName().ends_with("Comm_rank") || f->getName().ends_with("Group_rank");
}

bool Uniform::differsBy(const Use &use, const std::string &name, const ValueDecl &of) {
  if (!use.in) return differs(name + " is used outside of any function", &of);
  const std::string where = placeOf(*use.ref, *use.in);
  if (getsRank(use.ref, *use.in)) return differs(name + " is the rank, by " + where);
  return differs(name + " may get another value in " + where + overAnother(use), &of);
}

}  // namespace nbcc::overlap
