// SPDX-License-Identifier: BSD-3-Clause
// program.cpp - one walk over all sources: calls, uses, functions.

#include "tools/overlap/program.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Index/USRGeneration.h>

#include "tools/overlap/known_calls.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

std::string nameInAll(const FunctionDecl &f) {
  llvm::SmallString<64> usr;
  index::generateUSRForDecl(&f, usr);
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
      if (files_.isInMainFile(files_.getExpansionLoc(f->getLocation())))
        program_.functions_.push_back(f);
      program_.definitions_.emplace(nameInAll(*f), f);
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
    if (in_) program_.calls_[in_].push_back({call, in_});
    if (f->getIdentifier()) {
      const llvm::StringRef name = f->getName();
      if ((isMpi(*f) && name.contains("_Win_")) || name == "mmap" || name == "shmat" ||
          name == "shm_open")
        program_.sharesMemory_ = true;
    }
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr *ref) {
    program_.uses_[ref->getDecl()->getCanonicalDecl()].push_back({ref, in_});
    const auto *f = dyn_cast<FunctionDecl>(ref->getDecl());
    if (f && !called_.contains(ref)) program_.addressTaken_.insert(nameInAll(*f));
    return true;
  }

 private:
  Program &program_;
  const SourceManager &files_;
  const FunctionDecl *in_ = nullptr;
  std::set<const DeclRefExpr *> called_;  // a call is visited before what it calls
};

Program::Program(std::vector<std::unique_ptr<ASTUnit>> sources, Promises promises)
    : sources_(std::move(sources)), promises_(std::move(promises)) {
  for (const auto &source : sources_) {
    ASTContext &context = source->getASTContext();
    Collector(*this, context.getSourceManager()).TraverseDecl(context.getTranslationUnitDecl());
  }
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
  const auto [at, fresh] = mayEndRank_.emplace(nameInAll(f), false);
  const auto definition = definitions_.find(at->first);
  if (!fresh || definition == definitions_.end()) return at->second;
  for (const CallSite &inner : callsIn(*definition->second))
    if (mayEndRank(*inner.call->getDirectCallee())) return at->second = true;
  return false;
}

const Memory &Program::memory(const FunctionDecl &f) {
  std::unique_ptr<Memory> &known = memories_[&f];
  if (!known)
    known = std::make_unique<Memory>(
        f, [this](const FunctionDecl &callee, unsigned i) { return keeps(callee, i); });
  return *known;
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
