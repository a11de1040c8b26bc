// SPDX-License-Identifier: BSD-3-Clause
// uniform_order.cpp - whether an earlier collective of the same kind may shift the others.
//
//   if (rank == 0) MPI_Bcast(a);     meets the second one of the others
//   MPI_Bcast(rank ? a : b);         all ranks reach it alike
//   if (rank != 0) MPI_Bcast(b);     meets the second one of rank 0
//
// All ranks reach the second one, but not as the same one in their order. So a condition before it
// that may differ among ranks has to have as many calls of the kind on both sides, as far as these
// may be on the same communicator.
//
// A loop is taken to turn as often on all ranks, unless its condition names what MPI_Comm_rank()
// gave, or what was made of that (uniform_ranks.cpp): nothing else would make up for the turns of
// an iteration that ends when it has converged, and that it does so on all ranks alike can seldom
// be shown.

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/Builtins.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tools/overlap/changes.h"
#include "tools/overlap/communicators.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/meetings.h"
#include "tools/overlap/uniform.h"

namespace nbcc::overlap {
namespace {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

/// Whether what a type has of its own may run where a library is given a value of it.
bool bringsCode(QualType type) {
  type = type.getCanonicalType();
  while (!type->getPointeeType().isNull()) type = type->getPointeeType();
  type = QualType(type->getBaseElementTypeUnsafe(), 0);
  const CXXRecordDecl *record = type->getAsCXXRecordDecl();
  if (!record) return type->isFunctionType();
  if (!isOfSystem(*record)) return true;
  // They end what they hold, whatever that is.
  const bool holdsAny = record->getName() == "any" || record->getName().ends_with("_ptr");
  const auto *of = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (!of) return holdsAny;
  return std::ranges::any_of(of->getTemplateArgs().asArray(), [&](const TemplateArgument &a) {
    if (a.getKind() != TemplateArgument::Type) return a.getKind() != TemplateArgument::Integral;
    return (holdsAny && a.getAsType()->isVoidType()) || bringsCode(a.getAsType());
  });
}

/// Whether a method stands for one of a library's class, which the library calls.
bool overridesLibrarys(const CXXMethodDecl &m) {
  return std::ranges::any_of(m.overridden_methods(), [](const CXXMethodDecl *base) {
    return isOfSystem(*base) || overridesLibrarys(*base);
  });
}

/// Whether a function of a library may call one of the program's.
bool callsBack(const CallExpr &call, const FunctionDecl &f, const Program &program) {
  if (isMpi(f)) return program.givesFunctionsToMpi();
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

/// What stands in it, and what fills the rest of an array.
std::vector<const Stmt *> allPartsOf(const Stmt *s) {
  std::vector<const Stmt *> parts(s->child_begin(), s->child_end());
  if (const auto *first = dyn_cast<CXXDefaultInitExpr>(s)) parts.push_back(first->getExpr());
  if (const auto *list = dyn_cast<InitListExpr>(s); list && list->hasArrayFiller())
    parts.push_back(list->getArrayFiller());
  return parts;
}

/// Whether what stands in it need not run, or what is not seen there may.
bool mayNotRun(const Stmt *s) {
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

/// Whether the length of an array that is a part of a type may take a call to compute.
bool callsForLength(QualType type, const ASTContext &context) {
  while (type->isVariablyModifiedType() && !isa<TypedefType>(type)) {  // a name was made elsewhere
    if (const auto *array = dyn_cast<ArrayType>(type)) {
      const auto *variable = dyn_cast<VariableArrayType>(array);
      if (variable && variable->getSizeExpr() && variable->getSizeExpr()->HasSideEffects(context))
        return true;
      type = array->getElementType();
    } else if (isa<PointerType, ReferenceType>(type)) {
      type = type->getPointeeType();
    } else {
      const QualType inner = type.getSingleStepDesugaredType(context);
      if (isa<TypeOfExprType>(type) || inner == type) return true;
      type = inner;
    }
  }
  return false;
}

/// (int (*)[f()])p; of a variable that is such an array itself the length is seen.
bool hidesCall(const Stmt *s, const ASTContext &context) {
  const auto hides = [&](QualType type) { return callsForLength(type, context); };
  if (const auto *cast = dyn_cast<ExplicitCastExpr>(s)) return hides(cast->getTypeAsWritten());
  if (const auto *literal = dyn_cast<CompoundLiteralExpr>(s)) return hides(literal->getType());
  if (const auto *size = dyn_cast<UnaryExprOrTypeTraitExpr>(s))
    return size->isArgumentType() && hides(size->getArgumentType());
  const auto *declared = dyn_cast<DeclStmt>(s);
  return declared && std::ranges::any_of(declared->decls(), [&](const Decl *d) {
           const auto *v = dyn_cast<VarDecl>(d);
           const auto *named = dyn_cast<TypedefNameDecl>(d);
           return (v && !isa<VariableArrayType>(v->getType()) && hides(v->getType())) ||
                  (named && hides(named->getUnderlyingType()));
         });
}

/// Whether something begins there once, whoever comes again.
bool beginsOnce(const Stmt *s) {
  const auto *declared = dyn_cast<DeclStmt>(s);
  return declared && std::ranges::any_of(declared->decls(), [](const Decl *d) {
           const auto *v = dyn_cast<VarDecl>(d);
           return v && v->hasGlobalStorage();
         });
}

/// Calls of the kind: on the communicator that is asked about, and on those that may be the same
/// one, by the variable that has it as long as a function runs.
struct Calls {
  int own = 0;
  std::map<const VarDecl *, int> others;

  void add(const Calls &more) {
    own += more.own;
    for (const auto &[on, n] : more.others) others[on] += n;
  }
  bool none() const { return own == 0 && others.empty(); }
  friend bool operator==(const Calls &, const Calls &) = default;
};

/// How many calls of the kind a statement makes; none: that is not the same each time, or depends.
class Count {
 public:
  Count(Program &program, const Collective &kind, const Communicators &own)
      : program_(program), kind_(kind), own_(own) {
    std::vector<const FunctionDecl *> unseen;
    for (const FunctionDecl *f : program.unseenCollectives())
      if (const std::optional<Calls> n = ofBody(f); !n || !n->none()) unseen.push_back(f);
    known_.clear();
    unseen_ = std::move(unseen);
    overridesLibrarys_ = std::ranges::any_of(unseen_, [](const FunctionDecl *f) {
      const auto *method = dyn_cast<CXXMethodDecl>(f);
      return method && overridesLibrarys(*method);
    });
  }

  /// Functions with calls of the kind that may be called where no call is written.
  const std::vector<const FunctionDecl *> &unseen() const { return unseen_; }

  /// Whether one of these may be called here, which one being nobody's knowledge.
  bool mayCallUnseen(const CallExpr &call) const {
    const FunctionDecl *f = call.getDirectCallee();
    if (f && program_.definedOften(*f) && !program_.definition(*f)) return true;
    if (!program_.hidden().empty() && (!f || isCollectiveByOtherName(*f))) return true;
    if (unseen_.empty()) return false;
    const auto *method = f ? dyn_cast<CXXMethodDecl>(f) : nullptr;
    return !f || (method && method->isVirtual()) ||
           (!program_.definition(*f) &&
            (callsBack(call, *f, program_) || (overridesLibrarys_ && !f->isExternC())));
  }

  /// Or, where objects come and go, a constructor or destructor that is one.
  bool mayRunUnseen(const Stmt *s) const {
    if (unseen_.empty()) return false;
    if (const auto *declared = dyn_cast<DeclStmt>(s))
      return std::ranges::any_of(declared->decls(), [](const Decl *d) {
        const auto *v = dyn_cast<VarDecl>(d);
        return v && (v->getType().isDestructedType() || v->hasAttr<CleanupAttr>());
      });
    const auto *made = dyn_cast<CXXConstructExpr>(s);
    return (made && !made->getConstructor()->isTrivial()) ||
           isa<CXXInheritedCtorInitExpr, CXXNewExpr, CXXDeleteExpr, CXXBindTemporaryExpr>(s);
  }

  /// Whether there may be one before main().
  bool mayBeginWithOne() {
    beforeMain_ = true;
    const bool begins = std::ranges::any_of(program_.globals(),
                                            [&](const VarDecl *v) {
                                              return v->getASTContext().getLangOpts().CPlusPlus &&
                                                     any(v->getInit(), nullptr);
                                            }) ||
                        std::ranges::any_of(program_.bodies(), [&](const FunctionDecl *f) {
                          const std::optional<Calls> n = f->hasAttr<ConstructorAttr>()
                                                             ? ofFunction(f)
                                                             : std::optional(Calls());
                          return !n || !n->none();
                        });
    beforeMain_ = false;
    return begins;
  }

  std::optional<Calls> operator()(const Stmt *s, const FunctionDecl *in) {
    if (!s) return Calls();
    if (!beforeMain_ && mayRunUnseen(s)) return std::nullopt;
    if (in && hidesCall(s, in->getASTContext())) return std::nullopt;
    if (const auto *made = dyn_cast<CXXConstructExpr>(s))
      if (const std::optional<Calls> n = ofConstructor(*made); !n || !n->none())
        return std::nullopt;
    if (const auto *made = dyn_cast<LambdaExpr>(s))  // its body runs where it is called
      return of(made->capture_inits(), in);
    if (const auto *standing = dyn_cast<CXXDefaultArgExpr>(s))
      return (*this)(standing->getExpr(), in);
    if (const auto *call = dyn_cast<CallExpr>(s))
      if (const std::optional<Calls> n = ofCall(call, in); !n || !n->none()) return n;
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

  /// A call of the kind itself, which may be on the communicator or not.
  bool mayBeOnAnother(const CallExpr &call, const FunctionDecl *in) {
    const FunctionDecl *f = call.getDirectCallee();
    const Collective *c = f && isMpi(*f) ? findCollective(f->getNameAsString()) : nullptr;
    const std::optional<Calls> n = c ? ofCollective(call, *c, in) : Calls();
    return !n || !n->others.empty();
  }

  /// Whether there may be one.
  bool any(const Stmt *s, const FunctionDecl *in) {
    const std::optional<Calls> n = (*this)(s, in);
    return !n || !n->none();
  }

 private:
  std::optional<Calls> of(const auto &statements, const FunctionDecl *in) {
    Calls sum;
    for (const Stmt *s : statements) {
      const std::optional<Calls> n = (*this)(s, in);
      if (!n) return std::nullopt;
      sum.add(*n);
    }
    return sum;
  }

  std::optional<Calls> ofBody(const FunctionDecl *f) {
    std::vector<const Stmt *> all{f->getBody()};
    if (const auto *makes = dyn_cast<CXXConstructorDecl>(f))
      for (const CXXCtorInitializer *i : makes->inits()) all.push_back(i->getInit());
    return of(all, f);
  }

  std::optional<Calls> ofCall(const CallExpr *call, const FunctionDecl *in) {
    const FunctionDecl *f = call->getDirectCallee();
    if (mayCallUnseen(*call)) return std::nullopt;
    if (const Collective *c = f && isMpi(*f) ? findCollective(f->getNameAsString()) : nullptr)
      return ofCollective(*call, *c, in);
    const FunctionDecl *body = f ? program_.definition(*f) : nullptr;
    return body ? ofFunction(body) : Calls();
  }

  /// One that is written nowhere, or runs before main().
  std::optional<Calls> ofConstructor(const CXXConstructExpr &made) {
    const CXXConstructorDecl *by = made.getConstructor();
    if (by->isTrivial() || (by->isUserProvided() && !beforeMain_)) return Calls();
    const FunctionDecl *body = by->isUserProvided() ? program_.definition(*by) : by;
    return body ? ofFunction(body) : Calls();
  }

  std::optional<Calls> ofFunction(const FunctionDecl *body) {
    const auto at = known_.find(body);
    if (at != known_.end()) return at->second;
    // Where it calls itself, it may make as many as it likes.
    known_[body] = mayCome(*body) ? std::nullopt : std::optional(Calls());
    std::optional<Calls> n = ofBody(body);
    if (n && !n->others.empty()) n.reset();  // its own variables
    return known_[body] = n;
  }

  std::optional<Calls> ofCollective(const CallExpr &call, const Collective &c,
                                    const FunctionDecl *in) {
    if (c.name != kind_.name || c.arguments.size() != call.getNumArgs()) return Calls();
    if (!in) return std::nullopt;
    const Communicators on = communicatorsOf(call, c, in, program_);
    if (!on.mayBe(own_)) return Calls();
    if (on.areConstantOf(own_) || on.areOneWith(own_, program_)) return Calls{1, {}};
    const VarDecl *v = namedVariable(
        call.getArg(static_cast<unsigned>(c.arguments.find('c')))->IgnoreParenImpCasts());
    if (v && !v->hasGlobalStorage() && v->getDeclContext() == in && program_.changes(*in).never(*v))
      return Calls{0, {{v, 1}}};
    return std::nullopt;
  }

  /// Whether a function may come to a call of the kind, on whatever communicator.
  bool mayCome(const FunctionDecl &body) {
    std::set<const FunctionDecl *> seen{&body};
    std::vector<const FunctionDecl *> left{&body};
    while (!left.empty()) {
      const FunctionDecl *f = left.back();
      left.pop_back();
      for (const CallSite &at : program_.callsIn(*f)) {
        const FunctionDecl &callee = *at.call->getDirectCallee();
        const Collective *c = isMpi(callee) ? findCollective(callee.getNameAsString()) : nullptr;
        if (c && c->name == kind_.name) return true;
        const FunctionDecl *inner = program_.definition(callee);
        if (inner && seen.insert(inner).second) left.push_back(inner);
      }
    }
    return false;
  }

  Program &program_;
  const Collective &kind_;
  const Communicators &own_;
  std::map<const FunctionDecl *, std::optional<Calls>> known_;
  std::vector<const FunctionDecl *> unseen_;
  bool overridesLibrarys_ = false;  // one of these does
  bool beforeMain_ = false;         // what is being counted runs there
};

}  // namespace

/// `before`: what stands before it in the function, or is repeated with it; null: all of it.
bool Uniform::inOrder(const Stmt *before, const FunctionDecl *in, Ordered &seen) {
  if (!in->getBody() || !seen.insert({before, in}).second) return true;
  ASTContext &context = in->getASTContext();
  const SourceManager &files = context.getSourceManager();
  std::set<const Stmt *> around;
  const Stmt *outermost = nullptr;  // loop around it
  for (const Stmt *p = before; p; p = parentOf(p, context)) {
    around.insert(p);
    if (isLoop(p)) outermost = p;
  }
  const auto called = [&](const CallExpr &call) -> const FunctionDecl * {
    const FunctionDecl *f = call.getDirectCallee();
    return f ? program_.definition(*f) : nullptr;
  };
  // What is called in a loop comes before itself.
  const auto *itself = before ? dyn_cast<CallExpr>(before) : nullptr;
  if (const FunctionDecl *f = itself && outermost ? called(*itself) : nullptr)
    if (!inOrder(nullptr, f, seen)) return false;
  const Communicators own = communicatorsOf(call_, collective_, home_, program_);
  Count count(program_, collective_, own);

  std::vector<std::pair<const Stmt *, bool>> left{{in->getBody(), false}};  // within the loop
  if (const auto *makes = dyn_cast<CXXConstructorDecl>(in))
    for (const CXXCtorInitializer *i : makes->inits()) left.emplace_back(i->getInit(), false);
  while (!left.empty()) {
    const auto [s, repeated] = left.back();
    left.pop_back();
    if (!s) continue;
    const bool again = repeated || s == outermost;
    const bool counts = !before || again || around.contains(s) ||
                        files.isBeforeInTranslationUnit(s->getBeginLoc(), before->getBeginLoc());
    if (!counts) continue;
    for (const Stmt *child : allPartsOf(s)) left.emplace_back(child, again);
    if (around.contains(s)) continue;
    // Another question, so what was taken for granted in this one is not.
    const auto afresh = [&](auto &&ask) {
      Asked asked = std::exchange(asked_, {});
      const std::optional<Remark> why = why_;
      trustsLoops_ = true;
      const bool alike = ask();
      trustsLoops_ = false;
      asked_ = std::move(asked);
      if (alike) why_ = why;
      return alike;
    };
    if (const auto *call = dyn_cast<CallExpr>(s); call && count.mayCallUnseen(*call)) {
      why_.reset();
      return no(call, in,
                "'" + written(call, context) + "' may call functions that call " +
                    collective_.blocking() + ", and others on other ranks");
    }
    if (count.mayRunUnseen(s))
      for (const FunctionDecl *f : count.unseen())
        if (!inOrder(nullptr, f, seen)) return false;
    if (const auto *tries = dyn_cast<CXXTryStmt>(s); tries && count.any(tries->getTryBlock(), in))
      for (unsigned n = 0; n < tries->getNumHandlers(); ++n)
        if (!ends(tries->getHandler(n), in, program_)) {
          why_.reset();
          return no(tries->getHandler(n), in,
                    "an exception may lead a rank past a call of " + collective_.blocking() +
                        ", to this handler, which goes on");
        }
    if (const auto *call = dyn_cast<CallExpr>(s); call && count.mayBeOnAnother(*call, in)) {
      const Expr *on = call->getArg(static_cast<unsigned>(collective_.arguments.find('c')));
      chosen_.clear();
      if (!afresh([&] { return chosenAlike(on, in, context); })) {
        why_.reset();
        return no(call, in,
                  "'" + written(on, context) + "' may be another communicator on other ranks");
      }
    }
    if (const auto *call = dyn_cast<CallExpr>(s); call && count.any(call, in)) {
      if (!afresh([&] { return exitsAlike(call, in); })) return false;
      if (const FunctionDecl *f = called(*call); f && !inOrder(nullptr, f, seen)) return false;
    }
    const Expr *on = conditionOf(s);
    const auto *i = dyn_cast<IfStmt>(s);
    if (const auto *loop = dyn_cast<CXXForRangeStmt>(s);
        loop && !loop->getRangeInit()->getType()->isConstantArrayType())
      on = loop->getRangeInit();
    if (!on || !count.any(s, in)) continue;
    if (i && count(i->getThen(), in) && count(i->getThen(), in) == count(i->getElse(), in))
      continue;
    differs_.clear();
    const bool alike = (isLoop(s) && !turnsOnce(s, *in, program_) && !namesRank(on, in)) ||
                       afresh([&] { return same(on, in); });
    if (!alike) {
      why_.reset();
      return no(on, in,
                "'" + written(on, context) + "' may differ among ranks and decides how often " +
                    collective_.blocking() + " is called before" + becauseItDiffers());
    }
  }
  return true;
}

/// How many calls of the kind each branch of an if makes; none: that may differ, or something else
/// within makes one or leads into a branch.
std::optional<int> Uniform::callsInEach(const IfStmt &i, const FunctionDecl *in) {
  const Communicators own = communicatorsOf(call_, collective_, home_, program_);
  Count count(program_, collective_, own);
  const std::optional<Calls> yes = count(i.getThen(), in), no = count(i.getElse(), in);
  const bool more = count.any(i.getInit(), in) || count.any(i.getCond(), in) ||
                    count.any(i.getConditionVariableDeclStmt(), in);
  if (!yes || yes != no || !yes->others.empty() || holdsLabel(&i) || more) return std::nullopt;
  return yes->own;
}

/// The branch of an if that decides whether a rank comes to a call, once; null: something else
/// does.
const Stmt *Uniform::branchOf(const CallExpr &call, const FunctionDecl *in) {
  ASTContext &context = in->getASTContext();
  const Stmt *from = &call;
  for (const Stmt *p = parentOf(from, context); p; from = p, p = parentOf(p, context)) {
    const auto *i = dyn_cast<IfStmt>(p);
    const auto *op = dyn_cast<BinaryOperator>(p);
    if (i && from != i->getCond())
      return from != i->getInit() && i->getElse() && !i->getBeginLoc().isMacroID() ? from : nullptr;
    const bool once = i || isa<CompoundStmt, DeclStmt, ParenExpr, CastExpr>(p) ||
                      (op && !op->isLogicalOp()) || (isa<DoStmt>(p) && turnsOnce(p, *in, program_));
    if (!once) return nullptr;
  }
  return nullptr;
}

const CallExpr *Uniform::metInOtherBranch() {
  const FunctionDecl *in = findHome();
  const Stmt *branch = in && !program_.hasSides() ? branchOf(call_, in) : nullptr;
  const auto *i = branch ? dyn_cast<IfStmt>(parentOf(branch, in->getASTContext())) : nullptr;
  const std::optional<int> each = i ? callsInEach(*i, in) : std::nullopt;
  if (!each) return nullptr;
  std::vector<const CallExpr *> here, there;  // in their order
  for (const CallSite &other : program_.collectives()) {
    const std::string name = other.call->getDirectCallee()->getName().str();
    if (other.in != in || name != collective_.blocking()) continue;
    const Stmt *at = branchOf(*other.call, in);
    if (at == branch)
      here.push_back(other.call);
    else if (at && (at == i->getThen() || at == i->getElse()))
      there.push_back(other.call);
  }
  const auto all = static_cast<std::size_t>(*each);
  if (here.size() != all || there.size() != all) return nullptr;
  const SourceManager &files = in->getASTContext().getSourceManager();
  const auto isBefore = [&](const CallExpr *a, const CallExpr *b) {
    return files.isBeforeInTranslationUnit(a->getBeginLoc(), b->getBeginLoc());
  };
  std::ranges::sort(here, isBefore);
  std::ranges::sort(there, isBefore);
  const CallExpr *met =
      there[static_cast<std::size_t>(std::ranges::find(here, &call_) - here.begin())];
  Ordered seen;
  const bool alike = reached(i, in) && exitsAlike(&call_, in) && exitsAlike(met, in) &&
                     entered(in) && onOneCommunicator() && inOrderFrom(i, in, seen);
  return alike ? met : nullptr;
}

/// The same on the way from main().
bool Uniform::inOrderFrom(const Stmt *s, const FunctionDecl *in, Ordered &seen) {
  if (seen.contains({s, in})) return true;
  if (!inOrder(s, in, seen)) return false;
  if (in->isMain()) {
    const Communicators own = communicatorsOf(call_, collective_, home_, program_);
    return !Count(program_, collective_, own).mayBeginWithOne() ||
           no(in->getBody(), in,
              collective_.blocking() + " may be called before main(), as objects begin");
  }
  return std::ranges::all_of(program_.callers(*in), [&](const CallSite &at) {
    return !at.in || inOrderFrom(at.call, at.in, seen);
  });
}

/// Whether a collective that leaves the same on all its ranks is the same one in their order: the
/// first broadcast of some may meet the second one of others.
bool Uniform::isOneCall(const CallExpr &call, const Collective &kind, const FunctionDecl *in) {
  constexpr int kDeep = 8;
  if (!mayMeet(call, kind, in, program_)) return true;
  int depth = 0;
  for (Uniform *u = this; u; u = u->asker_, ++depth)
    if (&u->call_ == &call) {  // if it is, it is
      for (Uniform *by = this; by != u; by = by->asker_) by->assumes_ = true;
      return true;
    }
  const std::optional<bool> known = program_.isKnownInOrder(call);
  if (known) return *known;
  if (depth > kDeep) return false;
  Uniform asks(program_, call, kind);
  asks.home_ = in;
  asks.asker_ = this;
  Ordered seen;
  const bool is = asks.inOrderFrom(&call, in, seen);
  if (!is || !asks.assumes_) program_.setInOrder(call, is);
  return is;
}

}  // namespace nbcc::overlap
