// SPDX-License-Identifier: BSD-3-Clause
// call_effects.cpp - what a call does: from the table, from MPI's, or from the body that it runs.

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>

#include <algorithm>
#include <utility>

#include "tools/overlap/algorithms.h"
#include "tools/overlap/argument_lists.h"
#include "tools/overlap/buffers.h"
#include "tools/overlap/collectives.h"
#include "tools/overlap/messages.h"
#include "tools/overlap/streams.h"
#include "tools/overlap/types.h"
#include "tools/overlap/walk.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// What is named by the way comes first: the object of a method, static or not, or a pointer.
void Walk::arguments(const CallExpr *call) {
  const Expr *callee = call->getCallee();
  if (!isa<DeclRefExpr>(callee->IgnoreParenImpCasts())) value(callee);
  for (const Expr *argument : call->arguments())
    argument->isGLValue() ? address(argument) : value(argument);
}

/// What a callee can reach through an argument.
Objects Walk::given(const Expr *argument) const {
  Objects all;
  if (argument->isGLValue())
    all = memory_.designated(argument);
  else if (argument->getType()->isPointerType())
    all = memory_.pointedAt(argument);
  all.whole = all.whole.wholes();
  return all;
}

/// Whether a call prints to stdout or stderr: it is given none of these only where it needs none.
static bool toTerminal(const CallExpr &call) {
  const FunctionDecl *f = call.getDirectCallee();
  for (unsigned i = 0; i < f->getNumParams() && i < call.getNumArgs(); ++i) {
    const QualType type = f->getParamDecl(i)->getType();
    const bool stream = type->isPointerType() && type->getPointeeType()->isRecordType() &&
                        !isArgumentList(type, f->getASTContext());
    const auto *ref = dyn_cast<DeclRefExpr>(call.getArg(i)->IgnoreParenCasts());
    const llvm::StringRef name =
        ref && ref->getDecl()->getIdentifier() ? ref->getDecl()->getName() : "";
    const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    const bool terminal =
        v && v->isExternC() && v->hasExternalStorage() &&
        (name == "stdout" || name == "stderr" || name == "__stdoutp" || name == "__stderrp");
    if (stream && !terminal) return false;
  }
  return true;
}

void Walk::known(const CallExpr *call, const KnownCall &k) {
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const Expr *argument = call->getArg(i);
    if (!argument->getType()->isPointerType()) continue;
    const char how = argumentOf(*call, k, i);
    const Objects objects = given(argument);
    const bool ofLength = k.name == "memcpy" || k.name == "memmove" || k.name == "memset";
    const Access here =
        from(argument, ofLength && call->getNumArgs() == 3 ? call->getArg(2) : nullptr);
    touches(argument, how, objects, here);
  }
  const std::string name(k.name);
  if (const std::optional<Handles> what = mayBeHandled(k); what && program_.handles(*what))
    add(Effect::opaque, call, "a handler of the program's that " + name + " may run",
        Objects::anything());
  if (formatMayHold(*call, k, 'm')) add(Effect::orders, call, "errno, by %m,");
  const bool mayFail = k.kind == CallKind::makes || name.starts_with("strto") ||
                       name.starts_with("ato") || name == "sscanf";
  if (mayFail) setsErrno(call, name);
  const bool keepsMemory =
      k.kind == CallKind::prints || name == "rand" || name == "srand" || name == "random";
  if (keepsMemory && program_.lendsMemory())
    add(Effect::writes, call, "what " + name + " was lent", Objects::anything());
  if (k.kind == CallKind::prints)
    add(toTerminal(*call) && !program_.redirects() ? Effect::prints : Effect::files, call, name);
  const bool onlyItself =
      name == "MPI_Abort" && constantName(call->getArg(0), context_) == "MPI_COMM_SELF";
  if (k.kind == CallKind::stops) add(onlyItself ? Effect::exits : Effect::stops, call, name);
  if (k.kind == CallKind::times) add(Effect::times, call, name);
}

void Walk::setsErrno(const CallExpr *call, const std::string &name) {
  const std::string &by = program_.asksForErrno();
  if (!by.empty())
    add(Effect::orders, call, "errno, by " + name + "(), which " + by + " asks for,");
}

void Walk::touches(const Expr *e, char how, const Objects &objects, const Access &here) {
  if (how == 'r' || how == 'u') add(Effect::reads, e, text(e), objects, here);
  if (how == 'w' || how == 'u' || how == 'f') add(Effect::writes, e, text(e), objects, here);
}

void Walk::algorithm(const CallExpr *call, const KnownCall &k) {
  constexpr long kLoop = 1000;
  out_.addWork(kLoop);
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const Expr *argument = call->getArg(i);
    const std::vector<const Expr *> parts = partsOf(argument);
    const Expr *of = parts.front();
    for (const Expr *part : parts) part->isGLValue() ? address(part) : value(part);
    if (k.arguments[i] == '-' && of->isGLValue() && !isa<MaterializeTemporaryExpr>(of))
      access(of, true, false);
    if (k.arguments[i] != '-' && k.arguments[i] != 'e')
      touches(argument, k.arguments[i], given(of), of == argument ? from(argument) : Access());
  }
}

/// qsort() with a function that is seen, and does no more than to read the two that it is given,
/// and the program's variables.
bool Walk::sorts(const CallExpr *call, const FunctionDecl &f) {
  const bool isSort = f.getIdentifier() && f.getName() == "qsort" && f.isExternC() && isOfSystem(f);
  if (!isSort || call->getNumArgs() != 4 || program_.bodyAnywhere(f)) return false;
  const Expr *by = call->getArg(3)->IgnoreParenImpCasts();
  if (const auto *op = dyn_cast<UnaryOperator>(by); op && op->getOpcode() == UO_AddrOf)
    by = op->getSubExpr()->IgnoreParens();
  const auto *ref = dyn_cast<DeclRefExpr>(by);
  const auto *named = ref ? dyn_cast<FunctionDecl>(ref->getDecl()) : nullptr;
  const FunctionDecl *body = named ? program_.bodyAnywhere(*named) : nullptr;
  if (!body || &body->getASTContext() != &context_ || callees_.contains(body)) return false;
  const Memory &memory = program_.memory(*body);
  if (!memory.notUnderstood().empty() || program_.isLong(*body) || program_.holdsEmptyMacro(*body))
    return false;
  std::vector<Effect> elsewhere;
  for (const Effect &e : inside(*body).all) {
    if ((e.kind != Effect::reads && e.kind != Effect::writes) || e.objects.unknown) return false;
    Objects others;
    others.whole = e.objects.whole;
    for (const Object &o : e.objects.known) {
      const bool local = o.kind == Object::variable && !o.decl()->hasGlobalStorage();
      const bool element = o.kind == Object::pointee;
      if (o.kind == Object::allocation || (e.kind == Effect::writes && !local)) return false;
      if (!local && !element) others.known.insert(o);
    }
    if (!others.empty())
      elsewhere.push_back({Effect::reads, std::move(others), call->getBeginLoc(), e.what});
  }
  constexpr long kLoop = 1000;
  out_.addWork(kLoop);
  touches(call->getArg(0), 'u', given(call->getArg(0)), from(call->getArg(0)));
  out_.all.insert(out_.all.end(), elsewhere.begin(), elsewhere.end());
  setsErrno(call, "qsort");
  return true;
}

/// Whether what an argument is or points at may lead to other memory: rows, a structure of
/// pointers, whatever void * is.
static bool leadsOn(const Expr &argument) {
  const auto holds = [](QualType type) {
    return !type->isFunctionType() && !isContainerOfNumbers(type) &&
           (type->isVoidType() || type->isIncompleteType() || holdsPointers(type));
  };
  const QualType type = argument.getType();
  if (argument.isGLValue() || type->isRecordType()) return holds(type);
  if (!type->isPointerType()) return false;
  const QualType written = argument.IgnoreParenImpCasts()->getType();
  return holds(type->getPointeeType()) &&
         (!type->isVoidPointerType() || !written->isPointerType() ||
          holds(written->getPointeeType()));
}

constexpr long kMessages = 1000;  // the work that a call is which takes its time, too

bool Walk::collective(const CallExpr *call, const FunctionDecl &f) {
  const Collective *c = isMpi(f) ? findCollective(f.getName().str()) : nullptr;
  if (!c || call->getNumArgs() != c->arguments.size()) return false;
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const Expr *argument = call->getArg(i);
    const char what = c->arguments[i];
    if (what == 'o' && !isMpiOperator(constantName(argument, context_)))
      add(Effect::opaque, argument, "the operator " + text(argument), Objects::anything());
    if (!argument->getType()->isPointerType() || what == 't' || what == 'o' || what == 'c')
      continue;
    const Objects objects = bufferOf(*call, *c, i, memory_, program_);
    Access here = accessOf(*call, *c, i, context_);
    here.in = memory_.function();
    add(Effect::reads, argument, text(argument), objects, here);
    if (what == 'r' || what == 'b') add(Effect::writes, argument, text(argument), objects, here);
  }
  out_.addWork(kMessages);
  add(Effect::collective, call, c->blocking(), {},
      {Access::anywhere, call, memory_.function(), nullptr, 1, {}});
  return true;
}

/// What a message reads and writes until somebody has waited for it is taken to be touched at once:
/// until then that memory is nobody else's.
bool Walk::message(const CallExpr *call, const FunctionDecl &f) {
  const Signature *m = isMpi(f) ? findMessage(f.getName()) : nullptr;
  if (!m || call->getNumArgs() != m->arguments.size()) return false;
  add(Effect::mpi, call, f.getNameAsString());
  const std::size_t itself = out_.all.size() - 1;
  bool plain = !program_.handles(Handles::mpi), onlyWaits = true;
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const Expr *argument = call->getArg(i);
    const char what = m->arguments[i];
    const std::string constant = constantName(argument, context_);
    plain = plain && constant != "MPI_BOTTOM";
    onlyWaits = onlyWaits && what != 'd';
    const bool buffer = what == 's' || what == 'r' || what == 'b';
    if ((!buffer && what != 'q' && what != 'Q' && what != 'S') || isMpiConstant(constant)) continue;
    const Objects objects = buffer ? bufferOf(*call, *m, i, memory_, program_) : given(argument);
    Access here = buffer ? accessOf(*call, *m, i, context_) : from(argument);
    here.in = memory_.function();
    if (what != 'r' && what != 'q' && what != 'S')
      add(Effect::reads, argument, text(argument), objects, here);
    if (what != 's') add(Effect::writes, argument, text(argument), objects, here);
  }
  out_.all[itself].message = plain;
  if (!onlyWaits) out_.addWork(kMessages);
  return true;
}

void Walk::prints(const CallExpr *call, const Printed &p) {
  if (p.text && !isa<MaterializeTemporaryExpr>(p.text))
    touches(p.text, 'r', given(p.text), from(p.text));
  if (program_.lendsMemory())
    add(Effect::writes, call, "what a stream was lent", Objects::anything());
  add(program_.redirects() ? Effect::files : Effect::prints, call, "a stream");
}

/// p of p[i], *p, p->x, p.get() and bool(p), which only look at it; null: the call is none of
/// these.
static const Expr *namedUniquePointer(const CallExpr &call) {
  const FunctionDecl *f = call.getDirectCallee();
  if (const auto *op = dyn_cast<CXXOperatorCallExpr>(&call)) {
    const OverloadedOperatorKind kind = op->getOperator();
    const bool looks = kind == OO_Subscript || kind == OO_Star || kind == OO_Arrow;
    return looks && isUniquePointer(op->getArg(0)->getType()) ? op->getArg(0) : nullptr;
  }
  const auto *method = dyn_cast<CXXMemberCallExpr>(&call);
  if (!method || !isUniquePointer(method->getObjectType())) return nullptr;
  const bool looks = isa<CXXConversionDecl>(f) || (f->getIdentifier() && f->getName() == "get");
  const Expr *object = method->getImplicitObjectArgument();
  return looks && object->isGLValue() ? object : nullptr;
}

/// Of the numbers that it is given, an operator that assigns changes the first.
void Walk::complex(const CallExpr *call, const FunctionDecl &f) {
  const auto *method = dyn_cast<CXXMethodDecl>(&f);
  const auto *member = dyn_cast<CXXMemberCallExpr>(call);
  const bool changes = method && !method->isConst();
  if (member) access(member->getImplicitObjectArgument(), true, changes);
  for (unsigned i = 0; i < call->getNumArgs(); ++i)
    if (call->getArg(i)->isGLValue() && !isa<MaterializeTemporaryExpr>(call->getArg(i)))
      access(call->getArg(i), true, changes && !member && i == 0);
  if (f.getIdentifier() && !method) setsErrno(call, f.getNameAsString());
}

void Walk::call(const CallExpr *call) {
  constexpr long kCost = 10;
  out_.addWork(kCost);
  if (const KnownCall *k = findAlgorithm(*call)) return algorithm(call, *k);
  if (const auto *m = dyn_cast<CXXMemberCallExpr>(call); m && isContainer(m->getObjectType()))
    return method(m);
  const FunctionDecl *f = call->getDirectCallee();
  if (const auto *op = dyn_cast<CXXOperatorCallExpr>(call))
    if (op->getOperator() == OO_Subscript && isContainer(op->getArg(0)->getType()))
      return address(call);
  arguments(call);
  if (!f) return add(Effect::opaque, call, text(call->getCallee()));
  if (isOfComplex(*f)) return complex(call, *f);
  if (isManipulator(*f)) return;
  if (const Printed p = printed(*call); p.isPrint && !program_.changesStreams())
    return prints(call, p);
  if (const auto *op = dyn_cast<CXXOperatorCallExpr>(call);
      op && assignsByParts(*op) && program_.allocatesPlainly()) {
    touches(call->getArg(0), 'w', given(call->getArg(0)), Access());
    if (!isa<MaterializeTemporaryExpr>(call->getArg(1)))
      touches(call->getArg(1), 'r', given(call->getArg(1)), Access());
    return;
  }
  if (const Expr *pointer = namedUniquePointer(*call))
    return touches(pointer, 'r', given(pointer), Access());
  if (const KnownCall *k = findKnownCall(*f)) return known(call, *k);
  // Any call of a library may set it in between, MPI_Wait for one.
  if (isErrno(*f)) return add(Effect::orders, call, "errno");
  if (isMathematics(*f)) {
    // exp() and such; what is declared const, as fabs() is, sets nothing.
    if (!f->hasAttr<ConstAttr>() && f->getReturnType()->isFloatingType())
      setsErrno(call, f->getNameAsString());
    return;
  }
  if (isChoice(*f)) {
    for (const Expr *argument : call->arguments())
      if (!isa<MaterializeTemporaryExpr>(argument)) access(argument, true, false);
    return;
  }
  if (collective(call, *f) || message(call, *f) || sorts(call, *f)) return;
  const std::string name = f->getNameAsString();
  if (isMpi(*f)) return add(Effect::mpi, call, name);
  if (isExit(*f)) return add(Effect::exits, call, name);
  if (const auto *m = dyn_cast<CXXMethodDecl>(f); m && takesObjectOtherwise(*m))
    return add(Effect::opaque, call, name, Objects::anything());
  if (f->hasAttr<PureAttr>() && !program_.bodyAnywhere(*f)) {
    for (const Expr *argument : call->arguments())
      add(Effect::reads, argument, text(argument), given(argument));
    return add(Effect::reads, call, name, Objects::anything());
  }
  if (isOfArgumentLists(*f) && inCallee_ && onlyPrintsArguments(*memory_.function())) {
    if (const KnownCall *k = findPrinterOfLists(*f)) return known(call, *k);
    const Expr *list = call->getArg(0)->IgnoreParenImpCasts();
    return add(Effect::writes, call, name, memory_.designated(list));
  }
  const FunctionDecl *definition = program_.bodyAnywhere(*f);
  if (definition && !callees_.contains(definition)) return body(call, *definition);
  if (definition && isGivenTheSame(*call, *definition)) {
    out_.again = true;
    return;
  }
  if (program_.isLocal(*f)) {
    std::vector<const Expr *> all(call->arg_begin(), call->arg_end());
    if (const auto *m = dyn_cast<CXXMemberCallExpr>(call))
      all.push_back(m->getImplicitObjectArgument());
    for (const Expr *argument : all) {
      const Access here = argument->getType()->isPointerType() ? from(argument) : Access();
      Objects reached = given(argument);
      if (leadsOn(*argument)) reached.add(Objects::anything());
      add(Effect::reads, argument, text(argument), reached, here);
      add(Effect::writes, argument, text(argument), reached, here);
    }
    constexpr long kCompute = 1000;  // why else would it be named
    out_.addWork(kCompute);
    return;
  }
  Objects touched = Objects::anything();
  for (const Expr *argument : call->arguments()) touched.add(given(argument));
  add(Effect::opaque, call, name, touched);
  out_.all.back().promisable = !program_.definition(*f) && !program_.definedOften(*f) &&
                               !isOfSystem(*f) && !f->getBuiltinID();
}

// Memory of the callee's own is nobody else's business; what its parameters point at is what it was
// given. A variable of another source has no name here, or another one.
Objects Walk::asCallerSees(const Objects &objects, const CallExpr *call, const FunctionDecl &f,
                           const Memory &callee) const {
  Objects seen;
  seen.unknown = objects.unknown;
  bool allGiven = !objects.unknown;
  for (const Object &o : objects.known) {
    if (o.kind == Object::allocation) {
      seen.unknown = seen.unknown || callee.escaped(o);
    } else if (o.kind == Object::variable) {
      if (!o.decl()->hasGlobalStorage()) continue;
      if (&f.getASTContext() == &context_)
        seen.known.insert(o);
      else
        seen.unknown = true;
      allGiven = false;
    } else {
      unsigned i = 0;
      while (i < f.getNumParams() && f.getParamDecl(i) != o.decl()) ++i;
      const bool method = isa<CXXMemberCallExpr>(call) || !isa<CXXMethodDecl>(f);
      if (i < call->getNumArgs() && method)
        seen.add(given(call->getArg(i)));
      else
        seen.unknown = true;
    }
  }
  // Who looks at the whole program sees the same from everywhere; but a function has many callers,
  // and this is one of them.
  const Places here = std::exchange(seen.whole, objects.whole);
  if (!allGiven || seen.unknown || here.unknown || here.empty()) return seen;
  const auto isHere = [&](const Place &p) {
    return std::ranges::any_of(here.known, [&](const Place &h) { return h.object == p.object; });
  };
  std::erase_if(seen.whole.known, [&](const Place &p) { return !isHere(p); });
  seen.whole.unknown = false;
  if (seen.whole.empty()) seen.whole = here;
  return seen;
}

/// Whether a function that calls itself gives each parameter a place in what it has been given, or
/// memory of its own.
bool Walk::isGivenTheSame(const CallExpr &call, const FunctionDecl &f) const {
  if (&f != memory_.function() || !inCallee_ || f.isVariadic() || isa<CXXMethodDecl>(f) ||
      call.getNumArgs() != f.getNumParams())
    return false;
  for (unsigned i = 0; i < call.getNumArgs(); ++i) {
    const Objects objects = given(call.getArg(i));
    if (objects.unknown) return false;
    for (const Object &o : objects.known) {
      const bool own = o.kind == Object::variable && !o.decl()->hasGlobalStorage();
      if (!own && !(o.kind == Object::pointee && o.decl() == f.getParamDecl(i))) return false;
    }
  }
  return true;
}

/// As the callee sees it.
Effects Walk::inside(const FunctionDecl &callee) const {
  Effects inner;
  Callees callees = callees_;
  callees.insert(&callee);
  Walk within(program_, program_.memory(callee), callee.getASTContext(), inner, callees);
  within.readsShapes = readsShapes;
  for (const ParmVarDecl *p : callee.parameters()) within.lengths(p->getOriginalType());
  within.statement(callee.getBody());
  return inner;
}

/// What a function of the program's is given to print, behind its parameters.
void Walk::printsGiven(const CallExpr *call, const FunctionDecl &f) {
  const Expr *format = call->getArg(f.getNumParams() - 1);
  const char how = formatMayHold(format, 'n') ? 'u' : 'r';
  for (unsigned i = f.getNumParams(); i < call->getNumArgs(); ++i)
    if (const Expr *argument = call->getArg(i); argument->getType()->isPointerType())
      touches(argument, how, given(argument), from(argument));
  if (formatMayHold(format, 'm')) add(Effect::orders, call, "errno, by %m,");
  if (program_.handles(Handles::prints))
    add(Effect::opaque, call, "a handler of the program's that " + f.getNameAsString() + " may run",
        Objects::anything());
}

void Walk::body(const CallExpr *call, const FunctionDecl &f) {
  const Memory &callee = program_.memory(f);
  const auto *method = dyn_cast<CXXMethodDecl>(&f);
  const bool isLambda = method && method->getParent()->isLambda();
  const std::string name = isLambda ? "a lambda" : f.getNameAsString() + "()";
  if (!callee.notUnderstood().empty())
    return add(Effect::opaque, call, name + ", which has " + callee.notUnderstood() + ",",
               Objects::anything());
  const auto tooLong = [&] {
    add(Effect::opaque, call, name + ", which does too much to go through,", Objects::anything());
  };
  if (program_.isLong(f)) return tooLong();
  if (program_.holdsEmptyMacro(f)) add(Effect::vanishes, call, "a macro in " + name);
  if (onlyPrintsArguments(f) && call->getNumArgs() >= f.getNumParams()) printsGiven(call, f);
  const Effects inner = inside(f);
  constexpr long kTimes = 100;
  out_.addWork(inner.again ? kTimes * inner.work : inner.work);
  // Each way to a function is gone anew, and there may be as many as there are subsets of
  // functions.
  constexpr std::size_t kMost = 1 << 14;
  if (inner.all.size() > kMost) {
    program_.setLong(f);
    return tooLong();
  }
  for (const Effect &e : inner.all) {
    if (e.kind == Effect::enters || (e.kind == Effect::leaves && e.what == "goto")) continue;
    const bool access = e.kind == Effect::reads || e.kind == Effect::writes;
    Objects seen = asCallerSees(e.objects, call, f, callee);
    if (access && seen.empty()) continue;
    std::string what = e.what.find(" in ") == std::string::npos ? e.what + " in " + name : e.what;
    Access place = inner.again ? Access() : e.access;  // other elements each time
    place.through.insert(place.through.begin(), call);
    out_.all.push_back({e.kind, std::move(seen), call->getBeginLoc(), std::move(what),
                        std::move(place), e.promisable, e.message});
  }
  // What a structure passed by value points at, or `this`, is unknown to the callee and so unknown
  // here; the object that a method is called for has escaped.
}

void Walk::method(const CXXMemberCallExpr *call) {
  const CXXMethodDecl *m = call->getMethodDecl();
  const Expr *container = call->getImplicitObjectArgument();
  arguments(call);
  if (!m || !m->getIdentifier()) return add(Effect::opaque, call, text(call));
  if (m->getName() == "at") add(Effect::leaves, call, "throw, by at(),");
  const Objects objects =
      container->isGLValue() ? memory_.designated(container) : memory_.pointedAt(container);
  if (readsShapeOfContainer(m->getName()) && readsShapes)
    add(Effect::reads, call, text(container), objects);
  if (pointsIntoContainer(m->getName()) || readsShapeOfContainer(m->getName())) return;
  // Whatever else it is, it may move the elements, and may throw, which nobody may catch.
  add(Effect::writes, call, text(container), objects);
  if (changesContainer(m->getName()) && isContainerOfNumbers(call->getObjectType()) &&
      program_.allocatesPlainly()) {
    for (const Expr *argument : call->arguments()) copies(argument, call->getObjectType());
    return;
  }
  Objects touched = Objects::anything();
  touched.add(objects);
  add(Effect::opaque, call, m->getNameAsString(), touched);
}

/// What a string, or a vector whose elements are copied by parts, may be given, so that no code of
/// the program's runs: numbers, and what it takes elements from, pointers to numbers, an element,
/// another one, a list.
void Walk::copies(const Expr *argument, QualType vector) {
  if (isa<CXXDefaultArgExpr>(argument)) return;
  const QualType type = argument->getType();
  const auto is = [&](QualType t) { return context_.hasSameUnqualifiedType(type, t); };
  const bool leads = type->isPointerType() && type->getPointeeType()->isArithmeticType();
  const bool listed = isa<CXXStdInitializerListExpr, InitListExpr>(argument->IgnoreImplicit());
  if (!type->isArithmeticType() && !leads && !isContainerOfNumbers(type) && !listed &&
      !is(vector) && (isString(vector) || !is(elementOf(vector))))
    return add(Effect::opaque, argument, text(argument), Objects::anything());
  if (isa<MaterializeTemporaryExpr>(argument)) return;
  if (argument->isGLValue() || type->isPointerType())
    add(Effect::reads, argument, text(argument), given(argument));
}

void Walk::constructs(const CXXConstructExpr *made) {
  const CXXConstructorDecl *by = made->getConstructor();
  for (const Expr *argument : made->arguments()) {
    if (isa<CXXDefaultArgExpr>(argument)) continue;  // of a class that is opaque below
    argument->isGLValue() ? address(argument) : value(argument);
    if (argument->isGLValue() && !isa<MaterializeTemporaryExpr>(argument))
      access(argument, true, false);
  }
  if (by->isTrivial() || isOfComplex(*by)) return;
  const QualType type = made->getType(), element = elementOf(type);
  const bool byParts =
      isCopiedByParts(type) && !by->isMoveConstructor() && program_.allocatesPlainly();
  // (n): as many as begin as their class has it.
  const bool begins = made->getNumArgs() > 0 && made->getArg(0)->getType()->isIntegerType() &&
                      (made->getNumArgs() == 1 || isa<CXXDefaultArgExpr>(made->getArg(1)));
  if (byParts && (isString(type) || (!element.isNull() && (!begins || beginsByParts(element))))) {
    for (const Expr *argument : made->arguments()) copies(argument, type);
    return;
  }
  if (byParts && by->isCopyConstructor())
    return touches(made->getArg(0), 'r', given(made->getArg(0)), Access());
  if (byParts && beginsByParts(*by)) return;
  add(Effect::opaque, made, by->getNameAsString(), Objects::anything());
}

/// Whether an object of a type that is copied by parts begins without code of its class.
bool Walk::beginsByParts(QualType type) const {
  const CXXRecordDecl *record = type->getAsCXXRecordDecl();
  return !record || isComplex(type) || record->hasTrivialDefaultConstructor() ||
         llvm::any_of(record->ctors(),
                      [&](const CXXConstructorDecl *by) { return beginsByParts(*by); });
}

/// Whether a constructor gives constants to numbers, and makes vectors empty.
bool Walk::beginsByParts(const CXXConstructorDecl &by) const {
  if (!by.isDefaultConstructor()) return false;
  const QualType type = context_.getRecordType(by.getParent());
  if (isString(type) || !elementOf(type).isNull()) return true;
  return !by.isUserProvided() && by.isDefined() &&
         llvm::all_of(by.inits(), [&](const CXXCtorInitializer *init) {
           const Expr *e = init->getInit()->IgnoreImplicit();
           if (const auto *first = dyn_cast<CXXDefaultInitExpr>(e)) e = first->getExpr();
           const auto *made = dyn_cast<CXXConstructExpr>(e->IgnoreImplicit());
           return made ? made->getConstructor()->isTrivial() ||
                             beginsByParts(*made->getConstructor())
                       : isConstant(*e, context_);
         });
}

}  // namespace nbcc::overlap
