// SPDX-License-Identifier: BSD-3-Clause
// count.cpp - calls that are written, and those that are written nowhere.

#include "tools/overlap/count.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/Builtins.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tools/overlap/bindings.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/parts.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

void Calls::add(const Calls &more) {
  own += more.own;
  for (const auto &[on, n] : more.others) others[on] += n;
}

/// What pointers, references and rows lead to.
static QualType leadsTo(QualType type) {
  type = type.getCanonicalType();
  while (!type->getPointeeType().isNull()) type = type->getPointeeType();
  return QualType(type->getBaseElementTypeUnsafe(), 0);
}

/// Whether what a type has of its own may run where a library is given a value of it.
static bool bringsCode(QualType type) {
  type = leadsTo(type);
  const CXXRecordDecl *record = type->getAsCXXRecordDecl();
  if (!record) return type->isFunctionType();
  if (!isOfSystem(*record)) return true;
  // They end what they hold, whatever that is, and however they were told to.
  const llvm::StringRef name = record->getIdentifier() ? record->getName() : "";
  if (name.contains("shared_ptr") || name.contains("weak_ptr")) return true;
  const bool holdsAny = name == "any" || name.ends_with("_ptr");
  const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (!of) return holdsAny;
  return std::ranges::any_of(of->getTemplateArgs().asArray(), [&](const TemplateArgument &a) {
    if (a.getKind() != TemplateArgument::Type) return a.getKind() != TemplateArgument::Integral;
    return (holdsAny && a.getAsType()->isVoidType()) || bringsCode(a.getAsType());
  });
}

/// Whether a method stands for one of a library's class, which the library calls.
static bool overridesLibrarys(const CXXMethodDecl &m) {
  return std::ranges::any_of(m.overridden_methods(), [](const CXXMethodDecl *base) {
    return isOfSystem(*base) || overridesLibrarys(*base);
  });
}

/// Whether a function of a library may call one of the program's.
static bool callsBack(const CallExpr &call, const FunctionDecl &f, const Program &program) {
  if (isMpi(f)) return program.givesFunctionsToMpi();
  if (f.isExternC() && isOfSystem(f) && program.handles(Handles::prints)) return true;
  if (findKnownCall(f) || isMathematics(f) || isChoice(f) || program.isLocal(f)) return false;
  if (!isOfSystem(f)) return true;
  if (const TemplateArgumentList *types = f.getTemplateSpecializationArgs())
    for (const TemplateArgument &a : types->asArray())
      if (a.getKind() == TemplateArgument::Pack ||
          (a.getKind() == TemplateArgument::Type && bringsCode(a.getAsType())))
        return true;
  const auto *method = dyn_cast<CXXMemberCallExpr>(&call);
  return (method && bringsCode(method->getObjectType())) ||
         std::ranges::any_of(call.arguments(),
                             [](const Expr *argument) { return bringsCode(argument->getType()); });
}

/// What runs a handler that was given before, or is one more way to give one.
static bool isOfSignals(const FunctionDecl &f) {
  static const std::set<llvm::StringRef> names = {"raise",    "kill",         "killpg",
                                                  "sigqueue", "pthread_kill", "sigaction"};
  return f.getIdentifier() && isOfSystem(f) && names.contains(f.getName());
}

static bool isComparison(const FunctionDecl &f) {
  switch (f.getOverloadedOperator()) {
    case OO_EqualEqual:
    case OO_ExclaimEqual:
    case OO_Less:
    case OO_LessEqual:
    case OO_Greater:
    case OO_GreaterEqual:
    case OO_Spaceship:
      return true;
    default:
      return false;
  }
}

/// Whether what stands in it need not run, or what is not seen there may.
static bool mayNotRun(const Stmt *s) {
  const auto *call = dyn_cast<CallExpr>(s);
  if (call && call->getBuiltinCallee()) {
    const unsigned id = call->getBuiltinCallee();
    if (id == Builtin::BI__builtin_constant_p || id == Builtin::BI__builtin_classify_type ||
        id == Builtin::BI__builtin_object_size || id == Builtin::BI__builtin_dynamic_object_size)
      return true;
  }
  return isa<UnaryExprOrTypeTraitExpr, CXXNoexceptExpr, CXXTypeidExpr, GenericSelectionExpr,
             ChooseExpr>(s);
}

/// Whether something begins there once, whoever comes again.
static bool beginsOnce(const Stmt *s) {
  const auto *declared = dyn_cast<DeclStmt>(s);
  return declared && std::ranges::any_of(declared->decls(), [](const Decl *d) {
           const auto *v = dyn_cast<VarDecl>(d);
           return v && v->hasGlobalStorage();
         });
}

Count::Count(Program &program, const Collective &kind, Communicators own)
    : program_(program), kind_(kind), own_(std::move(own)) {
  const UnseenCalls *on = program.knownUnseen(kind);
  if (!on) {
    UnseenCalls all;
    for (const FunctionDecl *f : program.unseenCollectives())
      (comesTo(*f, program, &kind) ? all.directly : all.otherwise).push_back(f);
    onAny_ = true;
    findUnseen(all);
    std::erase_if(all.otherwise, [&](const FunctionDecl *f) {
      return std::ranges::find(unseen_, f) == unseen_.end();
    });
    on = &program.setUnseen(kind, std::move(all));
    unseen_.clear();
    overridesLibrarys_ = onAny_ = false;
  }
  findUnseen(*on);
}

// With each one that is found, what makes or ends objects may come to it, or calls by a pointer.
void Count::findUnseen(UnseenCalls among) {
  const auto find = [&](std::vector<const FunctionDecl *> &left) {
    std::vector<const FunctionDecl *> more;
    std::erase_if(left, [&](const FunctionDecl *f) {
      const std::optional<Calls> n = ofBody(f);
      const bool makes = !n || !n->none();
      if (makes) more.push_back(f);
      return makes;
    });
    known_.clear();
    unseen_.insert(unseen_.end(), more.begin(), more.end());
    overridesLibrarys_ = std::ranges::any_of(unseen_, [](const FunctionDecl *f) {
      const auto *method = dyn_cast<CXXMethodDecl>(f);
      return method && overridesLibrarys(*method);
    });
    return !more.empty();
  };
  for (bool more = find(among.directly); more;) {
    more = find(among.directly);
    more = find(among.otherwise) || more;
  }
}

bool Count::mayCallUnseen(const CallExpr &call) const {
  const FunctionDecl *f = call.getDirectCallee();
  if (f && program_.definedOften(*f) && !program_.definition(*f)) return true;
  if (!program_.hidden().empty() && (!f || isCollectiveByOtherName(*f))) return true;
  if (unseen_.empty()) return false;
  // Member by member, as far as the first that differs.
  if (f && f->isDefaulted() && isComparison(*f) &&
      std::ranges::any_of(unseen_, [](const FunctionDecl *u) { return isComparison(*u); }))
    return true;
  const auto *method = f ? dyn_cast<CXXMethodDecl>(f) : nullptr;
  return !f || (method && method->isVirtual()) || isOfSignals(*f) ||
         (!program_.definition(*f) &&
          (callsBack(call, *f, program_) ||
           ((overridesLibrarys_ || program_.ownsNew()) && !f->isExternC())));
}

bool Count::mayRunUnseen(const Stmt *s) const {
  if (unseen_.empty()) return false;
  if (const auto *declared = dyn_cast<DeclStmt>(s))
    return std::ranges::any_of(declared->decls(), [](const Decl *d) {
      const auto *v = dyn_cast<VarDecl>(d);
      const auto *bound = dyn_cast<DecompositionDecl>(d);
      return (v && (v->getType().isDestructedType() || v->hasAttr<CleanupAttr>())) ||
             (bound && bindsByCalls(*bound));
    });
  const auto *made = dyn_cast<CXXConstructExpr>(s);
  const auto *kept = dyn_cast<CXXBindTemporaryExpr>(s);
  const bool any = (made && !made->getConstructor()->isTrivial()) || kept;
  if (any)
    return program_.ownsNew() || bringsCode(llvm::cast<Expr>(s)->getType()) ||
           (made && isOfSystem(*made->getConstructor()) && mayCallBack(*made));
  return isa<CXXInheritedCtorInitExpr, CXXNewExpr, CXXDeleteExpr>(s);
}

bool Count::mayRunUnseenOften(const Stmt *s, const ASTContext &context) const {
  if (!mayRunUnseen(s)) return false;
  if (const auto *row = dyn_cast<CXXNewExpr>(s))
    return row->isArray() && !(*row->getArraySize())->getIntegerConstantExpr(context);
  const auto *made = dyn_cast<CXXConstructExpr>(s);
  if (!made) return false;
  const bool row = made->getType()->isVariableArrayType();
  std::set<const CXXRecordDecl *> seen;
  return row || (isOfSystem(*made->getConstructor()) &&
                 (holdsUnseen(made->getType(), seen) || mayCallBack(*made)));
}

/// Whether an object of a library's, made so, may call a function that it does not name.
bool Count::mayCallBack(const CXXConstructExpr &made) const {
  return overridesLibrarys_ || holdsFunction(made.getType()) ||
         std::ranges::any_of(made.arguments(),
                             [&](const Expr *e) { return holdsFunction(e->getType()); });
}

bool Count::holdsFunction(QualType type) const {
  type = leadsTo(type);
  if (type->isFunctionType()) return true;
  const CXXRecordDecl *record = type->getAsCXXRecordDecl();
  if (!record) return false;
  const auto isCalledAs = [&](const FunctionDecl *f) {
    const auto *method = dyn_cast<CXXMethodDecl>(f);
    return method && method->getOverloadedOperator() == OO_Call &&
           method->getParent()->getCanonicalDecl() == record->getCanonicalDecl();
  };
  if (!isOfSystem(*record)) return std::ranges::any_of(unseen_, isCalledAs);
  static const std::set<llvm::StringRef> any = {"any",           "function",   "move_only_function",
                                                "packaged_task", "shared_ptr", "weak_ptr",
                                                "thread",        "jthread",    "coroutine_handle"};
  if (record->getIdentifier() && any.contains(record->getName())) return true;
  const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(record);
  return of && std::ranges::any_of(of->getTemplateArgs().asArray(), [&](const TemplateArgument &a) {
           return a.getKind() == TemplateArgument::Type && holdsFunction(a.getAsType());
         });
}

/// What a container calls of the objects that it makes, and of what gives it memory for them.
static bool isForContainers(const CXXMethodDecl &m) {
  if (isa<CXXConstructorDecl, CXXDestructorDecl>(m) || m.isOverloadedOperator()) return true;
  const llvm::StringRef name = m.getIdentifier() ? m.getName() : "";
  return name.contains("allocate") || name == "construct" || name == "destroy";
}

bool Count::holdsUnseen(QualType type, std::set<const CXXRecordDecl *> &seen) const {
  const CXXRecordDecl *record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || !seen.insert(record).second) return false;
  record = record->getDefinition();
  const auto isOf = [&](const FunctionDecl *f) {
    const auto *method = dyn_cast<CXXMethodDecl>(f);
    return method && method->getParent()->getDefinition() == record && isForContainers(*method);
  };
  if (std::ranges::any_of(unseen_, isOf)) return true;
  if (const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(record))
    for (const TemplateArgument &a : of->getTemplateArgs().asArray())
      if (a.getKind() == TemplateArgument::Type && holdsUnseen(a.getAsType(), seen)) return true;
  for (const CXXBaseSpecifier &base : record->bases())
    if (holdsUnseen(base.getType(), seen)) return true;
  return std::ranges::any_of(record->fields(),
                             [&](const FieldDecl *f) { return holdsUnseen(f->getType(), seen); });
}

bool Count::mayStandIn() {
  return std::ranges::any_of(program_.standing(), [&](const Expr *e) { return any(e, nullptr); });
}

bool Count::mayBeginWithOne() {
  beforeMain_ = true;
  const bool begins = std::ranges::any_of(program_.globals(),
                                          [&](const VarDecl *v) {
                                            return v->getASTContext().getLangOpts().CPlusPlus &&
                                                   any(v->getInit(), nullptr);
                                          }) ||
                      std::ranges::any_of(program_.bodies(), [&](const FunctionDecl *f) {
                        const std::optional<Calls> n =
                            f->hasAttr<ConstructorAttr>() ? ofFunction(f) : std::optional(Calls());
                        return !n || !n->none();
                      });
  beforeMain_ = false;
  return begins;
}

std::optional<Calls> Count::operator()(const Stmt *s, const FunctionDecl *in) {
  if (!s) return Calls();
  if (!beforeMain_ && mayRunUnseen(s)) return std::nullopt;
  if (const auto *made = dyn_cast<CXXConstructExpr>(s))
    if (const std::optional<Calls> n = ofConstructor(*made); !n || !n->none()) return std::nullopt;
  if (const auto *made = dyn_cast<LambdaExpr>(s))  // its body runs where it is called
    return of(made->capture_inits(), in);
  if (const auto *standing = dyn_cast<CXXDefaultArgExpr>(s))
    return (*this)(standing->getExpr(), in);
  if (const auto *call = dyn_cast<CallExpr>(s))
    if (const std::optional<Calls> n = ofCall(*call, in); !n || !n->none()) return n;
  const auto *i = dyn_cast<IfStmt>(s);
  std::vector<const Stmt *> always = allPartsOf(s);
  std::erase_if(always, [&](const Stmt *child) {
    return i && (child == i->getThen() || child == i->getElse());
  });
  std::optional<Calls> sum = of(always, in);
  if (!sum) return std::nullopt;
  if (i) {
    const std::optional<Calls> yes = (*this)(i->getThen(), in), no = (*this)(i->getElse(), in);
    if (!yes || yes != no) return std::nullopt;
    sum->add(*yes);
    return sum;
  }
  const auto *op = dyn_cast<BinaryOperator>(s);
  const bool depends = isa<ForStmt, WhileStmt, CXXForRangeStmt, DoStmt, SwitchStmt,
                           AbstractConditionalOperator, CXXTryStmt>(s) ||
                       (op && op->isLogicalOp()) || mayNotRun(s) || beginsOnce(s);
  return depends && !sum->none() ? std::nullopt : sum;
}

bool Count::mayBeOnAnother(const CallExpr &call, const FunctionDecl *in) {
  const FunctionDecl *f = call.getDirectCallee();
  const Collective *c = findOrdered(f);
  const std::optional<Calls> n = c ? ofCollective(call, *c, in) : Calls();
  return !n || !n->others.empty();
}

bool Count::any(const Stmt *s, const FunctionDecl *in) {
  const std::optional<Calls> n = (*this)(s, in);
  return !n || !n->none();
}

std::optional<Calls> Count::of(const auto &statements, const FunctionDecl *in) {
  Calls sum;
  for (const Stmt *s : statements) {
    const std::optional<Calls> n = (*this)(s, in);
    if (!n) return std::nullopt;
    sum.add(*n);
  }
  return sum;
}

std::optional<Calls> Count::ofBody(const FunctionDecl *f) {
  return of(bodyOf(*f), f);
}

std::optional<Calls> Count::ofCall(const CallExpr &call, const FunctionDecl *in) {
  const FunctionDecl *f = call.getDirectCallee();
  if (mayCallUnseen(call)) return std::nullopt;
  if (const Collective *c = findOrdered(f)) return ofCollective(call, *c, in);
  const FunctionDecl *body = f ? program_.definition(*f) : nullptr;
  return body ? ofFunction(body) : Calls();
}

/// One that is written nowhere, or runs before main().
std::optional<Calls> Count::ofConstructor(const CXXConstructExpr &made) {
  const CXXConstructorDecl *by = made.getConstructor();
  if (by->isTrivial() || (by->isUserProvided() && !beforeMain_)) return Calls();
  const FunctionDecl *body = constructorBody(made, program_);
  return body ? ofFunction(body) : Calls();
}

std::optional<Calls> Count::ofFunction(const FunctionDecl *body) {
  const auto at = known_.find(body);
  if (at != known_.end()) return at->second;
  // Where it calls itself, it may make as many as it likes.
  known_[body] = comesTo(*body, program_, &kind_) ? std::nullopt : std::optional(Calls());
  std::optional<Calls> n = ofBody(body);
  if (n && !n->others.empty()) n.reset();  // its own variables
  return known_[body] = n;
}

std::optional<Calls> Count::ofCollective(const CallExpr &call, const Collective &c,
                                         const FunctionDecl *in) {
  if (c.name != kind_.name || c.arguments.size() != call.getNumArgs()) return Calls();
  if (!in || onAny_) return std::nullopt;
  const Communicators on = communicatorsOf(call, c, in, program_);
  if (!on.mayBe(own_)) return Calls();
  if (on.areConstantOf(own_) || on.areOneWith(own_, program_)) return Calls{1, {}};
  const VarDecl *v = namedVariable(
      call.getArg(static_cast<unsigned>(c.arguments.find('c')))->IgnoreParenImpCasts());
  if (v && !v->hasGlobalStorage() && v->getDeclContext() == in && program_.changes(*in).never(*v))
    return Calls{0, {{v, 1}}};
  return std::nullopt;
}

}  // namespace nbcc::overlap
