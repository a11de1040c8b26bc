// SPDX-License-Identifier: BSD-3-Clause
// program.cpp - one walk over all sources: calls, uses, functions.

#include "tools/overlap/program.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Index/USRGeneration.h>

#include <algorithm>
#include <cstdint>

#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/points_to.h"
#include "tools/overlap/site.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

std::string nameInAll(const NamedDecl &d) {
  llvm::SmallString<64> usr;
  index::generateUSRForDecl(&d, usr);
  // Of a path the name has the last part only, and a source may be compiled in two ways.
  const bool own = isa<FunctionDecl, VarDecl>(d) && !d.isExternallyVisible();
  if (own) usr += std::to_string(reinterpret_cast<std::uintptr_t>(&d.getASTContext()));
  return usr.str().str();
}

class Collector : public RecursiveASTVisitor<Collector> {
 public:
  Collector(Program &program, const SourceManager &files) : program_(program), files_(files) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(Decl *d) {
    auto *f = d ? d->getAsFunction() : nullptr;
    if (d && files_.isInSystemHeader(files_.getExpansionLoc(d->getLocation())) &&
        !llvm::isa<TranslationUnitDecl>(d))
      return true;
    if (const auto *names = d ? dyn_cast<NamespaceDecl>(d) : nullptr;
        names && names->getName() == "MPI")
      return true;  // the C++ bindings that Open MPI still has, which call everything
    const FunctionDecl *outer = in_;
    if (f && f->doesThisDeclarationHaveABody()) {
      in_ = f;
      // An allocator of the program's own, which may do anything where a vector is made.
      if (f->getOverloadedOperator() == OO_New || f->getOverloadedOperator() == OO_Array_New ||
          f->getOverloadedOperator() == OO_Delete || f->getOverloadedOperator() == OO_Array_Delete)
        program_.ownsNew_ = true;
      if (files_.isInMainFile(files_.getExpansionLoc(f->getLocation())))
        program_.functions_.push_back(f);
      const auto [at, fresh] = program_.definitions_.emplace(nameInAll(*f), f);
      if (!fresh && at->second && !sameText(*at->second, *f)) at->second = nullptr;
      program_.bodies_.push_back(f);
    }
    const bool result = RecursiveASTVisitor::TraverseDecl(d);
    in_ = outer;
    return result;
  }

  bool VisitCallExpr(CallExpr *call) {
    const FunctionDecl *f = call->getDirectCallee();
    if (!f) return true;
    if (const auto *ref = dyn_cast<DeclRefExpr>(call->getCallee()->IgnoreParenImpCasts()))
      called_.insert(ref);
    program_.callers_[nameInAll(*f)].push_back({call, in_});
    if (makesIntercommunicator(*f)) {
      program_.hasSides_ = true;
      program_.joinsOthers_ = program_.joinsOthers_ || !f->getName().contains("Intercomm");
    }
    if (f->getNameAsString() == "MPI_Comm_free" && call->getNumArgs() == 1)
      freed_.insert(call->getArg(0)->IgnoreParenCasts());
    if (in_) program_.calls_[in_].push_back({call, in_});
    if (isMpi(*f) && findCollective(f->getName().str()))
      program_.collectives_.push_back({call, in_});
    return true;
  }

  bool VisitVarDecl(VarDecl *v) {
    program_.elements_.declared(*v);
    if (v->hasGlobalStorage() && !v->isStaticLocal() && !v->getType()->isDependentType())
      program_.globals_.push_back(v);
    if (const auto *attribute = v->getAttr<CleanupAttr>())  // called where the variable ends
      program_.addressTaken_.insert(nameInAll(*attribute->getFunctionDecl()));
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator *op) {
    if (op->isAssignmentOp()) gives(op->getLHS(), op);
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *op) {
    if (op->getOpcode() == UO_AddrOf && !freed_.contains(op)) gives(op->getSubExpr(), op);
    return true;
  }

  bool VisitFieldDecl(FieldDecl *f) {
    if (f->getParent()->isUnion()) underUnion(f->getType());
    return true;
  }

  bool VisitStmt(Stmt *s) {
    program_.catches_ = program_.catches_ || isa<CXXTryStmt>(s);
    program_.elements_.visit(s);
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr *ref) {
    program_.uses_[ref->getDecl()->getCanonicalDecl()].push_back({ref, in_});
    const auto *f = dyn_cast<FunctionDecl>(ref->getDecl());
    if (f && f->getIdentifier()) {
      // mmap64(), mremap(), shmat(), shm_open(), memfd_create(), process_vm_writev() ...
      const llvm::StringRef name = f->getName();
      for (const char *part : {"mmap", "mremap", "shm", "memfd_", "process_vm_"})
        program_.sharesMemory_ = program_.sharesMemory_ || name.starts_with(part);
      program_.sharesMemory_ = program_.sharesMemory_ || (isMpi(*f) && name.contains("_Win_"));
    }
    if (f && isMpi(*f) && f->getName().ends_with("ddress")) program_.takesAddresses_ = true;
    if (f && !called_.contains(ref)) program_.addressTaken_.insert(nameInAll(*f));
    if (f && isMpi(*f)) {
      llvm::StringRef name = f->getName();
      if (name.consume_front("P") || !called_.contains(ref))
        if (findCollective(name.str())) program_.hidden_ = f->getName().str() + "()";
    }
    return true;
  }
  // Of a template, or a lambda with auto.
  bool VisitUnresolvedLookupExpr(UnresolvedLookupExpr *e) {
    const std::string name = e->getName().getAsString();
    if (findCollective(name)) program_.hidden_ = name + "() in a template";
    return true;
  }
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *call) {
    const CXXMethodDecl *m = call->getMethodDecl();
    const auto *names = m ? dyn_cast<NamespaceDecl>(m->getParent()->getDeclContext()) : nullptr;
    if (names && names->getName() == "MPI") program_.hidden_ = "MPI's C++ bindings";
    return true;
  }

 private:
  /// Of a header that two sources include.
  static bool sameText(const FunctionDecl &a, const FunctionDecl &b) {
    const auto place = [](const FunctionDecl &f) {
      const SourceManager &files = f.getASTContext().getSourceManager();
      const auto [file, offset] = files.getDecomposedLoc(files.getExpansionLoc(f.getLocation()));
      const OptionalFileEntryRef entry = files.getFileEntryRefForID(file);
      return std::pair(entry ? entry->getUniqueID() : llvm::sys::fs::UniqueID(), offset);
    };
    return place(a) == place(b);
  }

  void gives(const Expr *to, const Stmt *at) {
    const ValueDecl *d = nullptr;
    to = to->IgnoreParenCasts();
    if (const auto *ref = dyn_cast<DeclRefExpr>(to)) d = ref->getDecl();
    if (const auto *member = dyn_cast<MemberExpr>(to)) d = member->getMemberDecl();
    if (d && !d->getType()->isRecordType()) program_.given_[nameInAll(*d)].push_back({at, in_});
  }

  void underUnion(QualType type) {
    const RecordDecl *record = type->getBaseElementTypeUnsafe()->getAsRecordDecl();
    if (!record || !program_.inUnion_.insert(nameInAll(*record)).second) return;
    for (const FieldDecl *f : record->fields()) underUnion(f->getType());
  }

  Program &program_;
  const SourceManager &files_;
  const FunctionDecl *in_ = nullptr;
  std::set<const Expr *> freed_;          // &comm of MPI_Comm_free(&comm)
  std::set<const DeclRefExpr *> called_;  // a call is visited before what it calls
};

Program::Program(std::vector<std::unique_ptr<ASTUnit>> sources, Promises promises)
    : sources_(std::move(sources)), promises_(std::move(promises)) {
  for (const auto &source : sources_) {
    ASTContext &context = source->getASTContext();
    Collector(*this, context.getSourceManager()).TraverseDecl(context.getTranslationUnitDecl());
  }
  pointsTo_ = std::make_unique<PointsTo>(*this);
}

Program::~Program() = default;

const std::vector<CallSite> &Program::callers(const FunctionDecl &f) const {
  static const std::vector<CallSite> none;
  const auto found = callers_.find(nameInAll(f));
  return found == callers_.end() ? none : found->second;
}

bool Program::addressTaken(const FunctionDecl &f) const {
  return addressTaken_.contains(nameInAll(f));
}

const std::vector<Use> &Program::uses(const ValueDecl &d) const {
  static const std::vector<Use> none;
  const auto found = uses_.find(d.getCanonicalDecl());
  return found == uses_.end() ? none : found->second;
}

const std::vector<CallSite> &Program::callsIn(const FunctionDecl &f) const {
  static const std::vector<CallSite> none;
  const auto found = calls_.find(&f);
  return found == calls_.end() ? none : found->second;
}

const FunctionDecl *Program::body(const FunctionDecl &f) const {
  const FunctionDecl *definition = nullptr;
  if (!f.hasBody(definition) || definition->isWeak() || definition->isDependentContext())
    return nullptr;
  const auto *method = dyn_cast<CXXMethodDecl>(definition);
  if (method && method->isVirtual()) return nullptr;
  const SourceManager &files = f.getASTContext().getSourceManager();
  if (files.isInSystemHeader(files.getExpansionLoc(definition->getLocation()))) return nullptr;
  return definition;
}

bool Program::mayEndRank(const FunctionDecl &f) {
  const std::string name = f.getNameAsString();
  if (const KnownCall *known = findKnownCall(f))
    return known->kind != CallKind::stops && f.isNoReturn();
  if (f.isNoReturn() || name == "exit" || name == "_exit" || name == "pthread_exit") return true;
  if (definedOften(f) && !f.hasBody()) return true;
  const FunctionDecl *body = definition(f);
  if (!body) return false;
  const auto [at, fresh] = mayEndRank_.emplace(body, false);
  if (!fresh) return at->second;
  for (const CallSite &inner : callsIn(*body))
    if (mayEndRank(*inner.call->getDirectCallee())) return mayEndRank_[body] = true;
  return false;
}

const Memory &Program::memory(const FunctionDecl &f) {
  std::unique_ptr<Memory> &known = memories_[&f];
  if (!known)
    known = std::make_unique<Memory>(
        f, Memory::Others{
               .keeps = [this](const FunctionDecl &callee, unsigned i) { return keeps(callee, i); },
               .makes = [this](const FunctionDecl &callee) { return makes(callee); },
               .pointsTo = [this] { return pointsTo_.get(); }});
  return *known;
}

const VariableChanges &Program::changes(const FunctionDecl &f) {
  std::unique_ptr<VariableChanges> &known = changes_[&f];
  if (!known) known = std::make_unique<VariableChanges>(f);
  return *known;
}

bool Program::followsPointers() const {
  return pointsTo_->solved();
}

bool Program::mayOverlap(const Places &a, const Places &b) const {
  return pointsTo_->mayOverlap(a, b);
}

bool Program::elementsApart(const ValueDecl &array, const Places &places) {
  // Code that is not seen could move them.
  const bool seen = !places.unknown && !places.empty() &&
                    std::ranges::none_of(
                        places.known, [&](const Place &p) { return pointsTo_->escaped(p.object); });
  return seen && elements_.areApart(array, *this);
}

const FunctionDecl *Program::definition(const FunctionDecl &f) const {
  const FunctionDecl *here = nullptr;
  const SourceManager &files = f.getASTContext().getSourceManager();
  if (f.hasBody(here))
    return files.isInSystemHeader(files.getExpansionLoc(here->getLocation())) ? nullptr : here;
  const auto found = definitions_.find(nameInAll(f));
  return found == definitions_.end() ? nullptr : found->second;
}

bool Program::definedOften(const FunctionDecl &f) const {
  const auto found = definitions_.find(nameInAll(f));
  return found != definitions_.end() && !found->second;
}

bool Program::inUnion(const RecordDecl &record) const {
  return !inUnion_.empty() && inUnion_.contains(nameInAll(record));
}

bool Program::givenOnce(const ValueDecl &d, bool ever) const {
  if (const auto *p = dyn_cast<ParmVarDecl>(&d); p && p->getType()->isReferenceType()) return false;
  const auto found = given_.find(nameInAll(d));
  const auto *v = dyn_cast<VarDecl>(&d);
  const bool initial = v && (v->getInit() || isa<ParmVarDecl>(v));
  if (found == given_.end()) return initial && (!ever || v->hasGlobalStorage());
  constexpr int deep = 50;
  return found->second.size() == 1 && !initial &&
         once(found->second.front().at, found->second.front().in, deep);
}

bool Program::madeByMpi(const ValueDecl &d) const {
  const auto *v = dyn_cast<VarDecl>(&d);
  if (v && v->getInit() && constantName(v->getInit(), v->getASTContext()) != "MPI_COMM_NULL")
    return false;
  const auto found = given_.find(nameInAll(d));
  return found != given_.end() && std::ranges::all_of(found->second, [](const Given &g) {
           if (!g.in || !isa<UnaryOperator>(g.at)) return false;
           const Stmt *parent = parentOf(g.at, g.in->getASTContext());
           const auto *call = dyn_cast_or_null<CallExpr>(parent);
           const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
           return f && isMpi(*f) && call->getArg(call->getNumArgs() - 1) == g.at;
         });
}

std::optional<CallSite> Program::madeAt(const ValueDecl &d) const {
  if (!givenOnce(d, true) || !madeByMpi(d)) return std::nullopt;
  const Given &given = given_.find(nameInAll(d))->second.front();
  return CallSite{llvm::cast<CallExpr>(parentOf(given.at, given.in->getASTContext())), given.in};
}

bool Program::once(const Stmt *s, const FunctionDecl *in, int depth) const {
  if (!in || depth == 0 || addressTaken(*in)) return false;
  ASTContext &context = in->getASTContext();
  for (const Stmt *at = s; at;) {
    if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, LabelStmt, LambdaExpr>(at)) return false;
    at = parentOf(at, context);
  }
  if (in->isMain()) return true;
  const std::vector<CallSite> &by = callers(*in);
  return by.size() == 1 && once(by.front().call, by.front().in, depth - 1);
}

bool Program::makes(const FunctionDecl &f) {
  if (!f.getReturnType()->isPointerType()) return false;
  const FunctionDecl *body = definition(f);
  if (!body || body->isWeak() || body->isDependentContext()) return false;
  const auto *method = dyn_cast<CXXMethodDecl>(body);
  if (method && method->isVirtual()) return false;
  const auto [at, fresh] = makes_.emplace(body, false);
  if (!fresh) return at->second;  // false while it is being looked at: it calls itself
  const auto [known, unseen] = memories_.try_emplace(body);
  if (!unseen && !known->second) return false;
  return at->second = memory(*body).returnsOwn();
}

bool Program::keeps(const FunctionDecl &callee, unsigned argument) {
  const FunctionDecl *f = body(callee);
  if (!f && isLocal(callee)) return false;
  if (!f || argument >= f->getNumParams()) return true;
  const auto [at, fresh] = memories_.try_emplace(f);
  if (!fresh && !at->second) return true;  // it is being looked at: it calls itself
  const Memory &memory = this->memory(*f);
  // An escaping reference parameter is one that the caller lent.
  return !memory.notUnderstood().empty() || memory.keepsParameter(f->getParamDecl(argument));
}

}  // namespace nbcc::overlap
