// SPDX-License-Identifier: BSD-3-Clause
// program.cpp - one walk over all sources: calls, uses, functions.

#include "tools/overlap/program.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Index/USRGeneration.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/collect_given.h"
#include "tools/overlap/collectives.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/points_to.h"
#include "tools/overlap/site.h"
#include "tools/overlap/source_text.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

DeclContextLookupResult declared(const char *name, const ASTContext &context) {
  return context.getTranslationUnitDecl()->lookup(&context.Idents.get(name));
}

bool isLoop(const Stmt *s) {
  return isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(s);
}

std::string nameInAll(const NamedDecl &d) {
  // extern "C" in a namespace is what another source has without one.
  const auto *v = dyn_cast<VarDecl>(&d);
  if (v && v->isExternC() && v->getIdentifier()) return "c:@" + v->getName().str();
  const auto *f = dyn_cast<FunctionDecl>(&d);
  if (f && f->isExternC() && f->isExternallyVisible() && f->getIdentifier())
    return "c:@F@" + f->getName().str();
  llvm::SmallString<64> usr;
  index::generateUSRForDecl(&d, usr);
  // Of a path the name has the last part only, and a source may be compiled in two ways.
  const bool own = isa<FunctionDecl, VarDecl>(d) && !d.isExternallyVisible();
  if (own) usr += std::to_string(reinterpret_cast<std::uintptr_t>(&d.getASTContext()));
  return usr.str().str();
}

/// Names by which the language calls functions, those of coroutines among them, and by which the
/// standard library calls a program's own for its classes.
static bool isNameOfLanguage(llvm::StringRef name, bool ofClass) {
  static constexpr std::string_view any[] = {"begin", "end"};
  static constexpr std::string_view methods[] = {
      "await_ready",     "await_suspend",       "await_resume",
      "await_transform", "get_return_object",   "initial_suspend",
      "final_suspend",   "return_void",         "return_value",
      "yield_value",     "unhandled_exception", "get_return_object_on_allocation_failure"};
  static constexpr std::string_view functions[] = {
      "swap", "iter_swap", "iter_move", "rbegin", "rend", "size", "ssize", "empty", "data", "get"};
  const auto among = [name](const auto &names) {
    return std::ranges::find(names, std::string_view(name)) != std::end(names);
  };
  return among(any) || (ofClass ? among(methods) : among(functions));
}

bool calledByLanguage(const FunctionDecl &f) {
  const auto *method = dyn_cast<CXXMethodDecl>(&f);
  const bool named = f.getIdentifier() && !(f.getASTContext().getLangOpts().CPlusPlus &&
                                            isNameOfLanguage(f.getName(), method));
  return (method && method->isVirtual()) || !named || f.hasAttr<ConstructorAttr>() ||
         f.hasAttr<DestructorAttr>() || isa_and_nonnull<CoroutineBodyStmt>(f.getBody());
}

Program::~Program() = default;

const std::vector<CallSite> &Program::callers(const FunctionDecl &f) const {
  static const std::vector<CallSite> none;
  const auto found = callers_.find(nameInAll(f));
  return found == callers_.end() ? none : found->second;
}

bool Program::addressTaken(const FunctionDecl &f) const {
  return addressTaken_.contains(nameInAll(f)) || calledUnseen(f);
}

bool Program::calledUnseen(const FunctionDecl &f) const {
  return calledUnseen_.contains(nameInAll(f));
}

const std::vector<Construction> &Program::constructions(const CXXConstructorDecl &c) const {
  static const std::vector<Construction> none;
  const auto found = constructions_.find(nameInAll(c));
  return found == constructions_.end() ? none : found->second;
}

bool Program::mayBeMadeUnseen(const CXXRecordDecl &record) const {
  return givenToLibrary_.contains(record.getCanonicalDecl()) ||
         seenAsOther_.contains(nameInAll(record));
}

bool Program::hasNames(const NamedDecl &d) const {
  if (hasOtherName(d)) return true;
  const llvm::StringRef name = d.getIdentifier() ? d.getName() : "";
  return std::ranges::any_of(otherNames_, [&](const std::string &text) {
    const bool mangled = llvm::StringRef(text).contains("_Z");
    return mangled ? llvm::StringRef(text).contains(name) : hasWord(text, name);
  });
}

const Decl *Program::inAll(const ValueDecl &d) const {
  const Decl *canonical = d.getCanonicalDecl();
  const auto *v = dyn_cast<VarDecl>(&d);
  if (!v || !v->hasGlobalStorage() || !v->isExternallyVisible()) return canonical;
  const auto [at, fresh] = inAll_.try_emplace(canonical, canonical);
  if (fresh) at->second = byName_.try_emplace(nameInAll(*v), canonical).first->second;
  return at->second;
}

const std::vector<Use> &Program::uses(const ValueDecl &d) const {
  static const std::vector<Use> none;
  const auto found = uses_.find(inAll(d));
  return found == uses_.end() ? none : found->second;
}

std::vector<const VarDecl *> Program::declarations(const VarDecl &v) const {
  const auto found = declarations_.find(inAll(v));
  if (found != declarations_.end()) return found->second;
  return {v.redecls_begin(), v.redecls_end()};
}

const std::vector<CallSite> &Program::callsIn(const FunctionDecl &f) const {
  static const std::vector<CallSite> none;
  const auto found = calls_.find(&f);
  return found == calls_.end() ? none : found->second;
}

/// C's inline functions may have another body in another source, and either may run.
bool Program::isOtherElsewhere(const FunctionDecl &withBody) const {
  return !withBody.getASTContext().getLangOpts().CPlusPlus && withBody.isInlined() &&
         withBody.isExternallyVisible() && !withBody.isInlineDefinitionExternallyVisible() &&
         definedOften(withBody);
}

const FunctionDecl *Program::body(const FunctionDecl &f) const {
  const FunctionDecl *definition = nullptr;
  if (!f.hasBody(definition) || isOtherElsewhere(*definition) || definition->isWeak() ||
      definition->isDependentContext() || definition->isMultiVersion())
    return nullptr;
  const auto *method = dyn_cast<CXXMethodDecl>(definition);
  if (method && method->isVirtual()) return nullptr;
  if (isOfSystem(*definition)) return nullptr;
  return definition;
}

const FunctionDecl *Program::bodyAnywhere(const FunctionDecl &f) const {
  if (f.hasBody()) return body(f);
  const FunctionDecl *there = definition(f);
  if (!there || there->isWeak() || there->isDependentContext() || there->isMultiVersion() ||
      hasNames(f) || hasNames(*there))
    return nullptr;
  const auto *method = dyn_cast<CXXMethodDecl>(there);
  return method && method->isVirtual() ? nullptr : there;
}

bool Program::mayEndRank(const FunctionDecl &f) {
  const std::string name = f.getNameAsString();
  if (const KnownCall *known = findKnownCall(f))
    return known->kind != CallKind::stops && f.isNoReturn();
  if (f.isNoReturn() || isExit(f) || name == "pthread_exit") return true;
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
  if (f.hasBody(here)) return isOfSystem(*here) || isOtherElsewhere(*here) ? nullptr : here;
  const auto found = definitions_.find(nameInAll(f));
  return found == definitions_.end() ? nullptr : found->second;
}

bool Program::definedOften(const FunctionDecl &f) const {
  const auto found = definitions_.find(nameInAll(f));
  return found != definitions_.end() && !found->second;
}

const Calling &Program::calling(const FunctionDecl &f) const {
  const auto [at, fresh] = calling_.try_emplace(&f);
  if (fresh) at->second = callingOf(f, *this);
  return at->second;
}

const std::vector<const FunctionDecl *> &Program::unseenCollectives() {
  if (unseenCollectives_) return *unseenCollectives_;
  unseenCollectives_.emplace();
  bool any = false;
  const auto add = [&](const FunctionDecl *f) {
    const auto *method = dyn_cast<CXXMethodDecl>(f);  // a library may have a class's name
    const bool given = method && givenToLibrary_.contains(method->getParent()->getCanonicalDecl());
    if (!given && !calledByLanguage(*f) && !addressTaken(*f)) return;
    unseenCollectives_->push_back(f);
    any = any || comesTo(*f, *this, nullptr);
  };
  if (!collectives_.empty()) {
    std::ranges::for_each(bodies_, add);
    std::ranges::for_each(lambdas_, add);
  }
  if (!any) unseenCollectives_->clear();
  return *unseenCollectives_;
}

const UnseenCalls *Program::knownUnseen(const Collective &kind) const {
  const auto at = unseen_.find(&kind);
  return at == unseen_.end() ? nullptr : &at->second;
}

bool Program::mayFreeMessages() const {
  return requests_.mayBeFreed(*this);
}

bool Program::actsOutside() const {
  return writesStreams_ || sharesMemory_ ||
         std::ranges::any_of(outside_, [&](const FunctionDecl *f) { return !definition(*f); });
}

// A header may have functions that nothing here calls.
std::string Program::seesMessagesEarlier() const {
  for (const auto &[what, in] : looks_)
    if (!in || in->isExternallyVisible() || isa<CXXMethodDecl>(in) || addressTaken(*in) ||
        in->hasAttr<ConstructorAttr>() || in->hasAttr<DestructorAttr>() || !callers(*in).empty())
      return what;
  return {};
}

bool Program::isIncluded(const ASTContext &context) const {
  const SourceManager &files = context.getSourceManager();
  const OptionalFileEntryRef main = files.getFileEntryRefForID(files.getMainFileID());
  return main && included_.contains(main->getUniqueID());
}

bool Program::ownsName(const std::string &name, const ASTContext &source) const {
  const auto known = source.Idents.find(name);
  if (known != source.Idents.end() && known->second->hadMacroDefinition()) return true;
  return std::ranges::any_of(
      bodies_, [&](const FunctionDecl *f) { return f->getIdentifier() && f->getName() == name; });
}

const Preprocessor &Program::macros(const ASTContext &of) const {
  const auto found = std::ranges::find_if(
      sources_, [&](const auto &source) { return &source->getASTContext() == &of; });
  return (*found)->getPreprocessor();
}

bool Program::holdsEmptyMacro(const FunctionDecl &f) {
  const auto [at, fresh] = emptyMacros_.try_emplace(&f, false);
  if (fresh)
    at->second =
        emptyMacro(macros(f.getASTContext()), f.getBody()->getBeginLoc(), f.getBody()->getEndLoc())
            .isValid();
  return at->second;
}

bool Program::inUnion(const RecordDecl &record) const {
  return !inUnion_.empty() && inUnion_.contains(nameInAll(record));
}

bool Program::mayBeCalledUnseen(const FunctionDecl &f) const {
  const auto *m = dyn_cast<CXXMethodDecl>(&f);
  return calledByLanguage(f) ||
         (m && (m->isVirtual() || givenToLibrary_.contains(m->getParent()->getCanonicalDecl())));
}

bool Program::hasNameInside(const RecordDecl &record) const {
  return record.getIdentifier() && namesInside_.contains(record.getName().str());
}

bool Program::mayBeOtherElsewhere(const RecordDecl &record) const {
  if (record.getIdentifier()) return false;
  const std::string name = nameInAll(record);
  const auto here = membersOfUnnamed_.find(name);
  return here != membersOfUnnamed_.end() &&
         std::ranges::any_of(membersOfUnnamed_, [&](const auto &other) {
           return other.first != name && other.second == here->second;
         });
}

/// A base, or what lies first, stands for the whole where functions are handed it.
void Program::spreadSeenAsOther() {
  const auto isOther = [&](const RecordDecl *of) {
    return of && seenAsOther_.contains(nameInAll(*of));
  };
  for (bool more = true; std::exchange(more, false);)
    for (const RecordDecl *record : records_) {
      if (isOther(record)) continue;
      const auto *of = dyn_cast<CXXRecordDecl>(record);
      bool other =
          !record->field_empty() &&
          isOther(
              (*record->field_begin())->getType()->getBaseElementTypeUnsafe()->getAsRecordDecl());
      if (of)
        for (const CXXBaseSpecifier &base : of->bases())
          other = other || isOther(base.getType()->getAsRecordDecl());
      if (!other) continue;
      GivenValues(*this).givesAll(record->getASTContext().getRecordType(record));
      more = more || isOther(record);
    }
}

bool Program::givenOnce(const ValueDecl &d, bool ever) const {
  if (const auto *p = dyn_cast<ParmVarDecl>(&d); p && p->getType()->isReferenceType()) return false;
  if (isa<BindingDecl>(d)) return false;  // whatever was bound
  if (hasNames(d)) return false;
  const auto found = given_.find(nameInAll(d));
  const auto *v = dyn_cast<VarDecl>(&d);
  const bool initial = v && (v->getInit() || isa<ParmVarDecl>(v));
  if (found == given_.end()) return initial && (!ever || v->hasGlobalStorage());
  constexpr int deep = 50;
  return found->second.size() == 1 && !initial &&
         once(found->second.front().at, found->second.front().in, deep);
}

const std::vector<Given> &Program::given(const ValueDecl &d) const {
  static const std::vector<Given> none;
  const auto found = given_.find(nameInAll(d));
  return found == given_.end() ? none : found->second;
}

const CXXConstructorDecl &constructorOf(const CXXConstructExpr &made) {
  const CXXConstructorDecl *constructor = made.getConstructor();
  while (const auto inherited = constructor->getInheritedConstructor())
    constructor = inherited.getConstructor();
  return *constructor;
}

bool isMadeByMpi(const Given &g) {
  if (!g.in || !isa<UnaryOperator>(g.at)) return false;
  const Stmt *parent = parentOf(g.at, g.in->getASTContext());
  const auto *call = dyn_cast_or_null<CallExpr>(parent);
  const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
  return f && isMpi(*f) && !isOwn(*f) && call->getArg(call->getNumArgs() - 1) == g.at;
}

bool Program::madeByMpi(const ValueDecl &d) const {
  const auto *v = dyn_cast<VarDecl>(&d);
  if (hasNames(d) || isa<BindingDecl>(d)) return false;
  if (v && v->getInit() && constantName(v->getInit(), v->getASTContext()) != "MPI_COMM_NULL")
    return false;
  const auto found = given_.find(nameInAll(d));
  return found != given_.end() && std::ranges::all_of(found->second, isMadeByMpi);
}

std::optional<CallSite> Program::madeAt(const ValueDecl &d) const {
  if (!givenOnce(d, true) || !madeByMpi(d)) return std::nullopt;
  const Given &given = given_.find(nameInAll(d))->second.front();
  return CallSite{llvm::cast<CallExpr>(parentOf(given.at, given.in->getASTContext())), given.in};
}

/// Whether it has a label in front of something, to which a goto may lead back.
static bool hasLabelBefore(const Stmt *s, SourceLocation at, const SourceManager &files) {
  return (isa<LabelStmt>(s) && files.isBeforeInTranslationUnit(s->getBeginLoc(), at)) ||
         std::ranges::any_of(s->children(), [&](const Stmt *child) {
           return child && hasLabelBefore(child, at, files);
         });
}

bool Program::once(const Stmt *s, const FunctionDecl *in, int depth) const {
  if (!in || depth == 0 || addressTaken(*in) || mayBeCalledUnseen(*in)) return false;
  ASTContext &context = in->getASTContext();
  for (const Stmt *at = s; at;) {
    if (isLoop(at) || isa<LambdaExpr, OMPExecutableDirective>(at)) return false;
    at = parentOf(at, context);
  }
  if (hasLabelBefore(in->getBody(), s->getEndLoc(), context.getSourceManager())) return false;
  if (const auto *constructor = dyn_cast<CXXConstructorDecl>(in)) {
    const std::vector<Construction> &all = constructions(*constructor);
    return all.size() == 1 && all.front().in && !addressTaken(*in) &&
           !mayBeMadeUnseen(*constructor->getParent()) &&
           once(all.front().made, all.front().in, depth - 1);
  }
  const std::vector<CallSite> &by = callers(*in);
  if (in->isMain()) return by.empty() && !goesBack_;
  return by.size() == 1 && once(by.front().call, by.front().in, depth - 1);
}

bool Program::makes(const FunctionDecl &f) {
  if (!f.getReturnType()->isPointerType() || ownsNew_) return false;
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
  const FunctionDecl *f = bodyAnywhere(callee);
  if (!f && isLocal(callee)) return mayPoint(callee.getReturnType());  // into what it is given
  if (!f || argument >= f->getNumParams()) return true;
  const auto [at, fresh] = memories_.try_emplace(f);
  if (!fresh && !at->second) return true;  // it is being looked at: it calls itself
  const Memory &memory = this->memory(*f);
  // An escaping reference parameter is one that the caller lent.
  return !memory.notUnderstood().empty() || memory.keepsParameter(f->getParamDecl(argument));
}

}  // namespace nbcc::overlap
