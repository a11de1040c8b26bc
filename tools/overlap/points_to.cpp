// SPDX-License-Identifier: BSD-3-Clause
// points_to.cpp - all sources, again and again until nothing is new; and what overlaps.

#include "tools/overlap/points_to.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Index/USRGeneration.h>

#include <algorithm>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/memory.h"
#include "tools/overlap/program.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

/// Whether an object of a type has room for a pointer, as far as C++ says what it is made of.
bool mayHoldPointers(QualType type) {
  return type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl() || holdsPointers(type);
}

/// Classes whose methods templates of a library may call, emplace_back() or a solver, and those of
/// parts of an object, which it makes and copies as the language says.
class FindMade : public RecursiveASTVisitor<FindMade> {
 public:
  explicit FindMade(std::set<std::string> &made) : made_(made) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool TraverseStmt(Stmt *) { return true; }

  bool VisitClassTemplateSpecializationDecl(ClassTemplateSpecializationDecl *d) {
    if (isOfSystem(*d)) arguments(d->getTemplateArgs().asArray(), !isStandard(*d));
    return true;
  }
  bool VisitFunctionDecl(FunctionDecl *f) {
    if (f->getTemplateSpecializationArgs() && isOfSystem(*f))
      arguments(f->getTemplateSpecializationArgs()->asArray(), !isStandard(*f));
    return true;
  }
  bool VisitCXXRecordDecl(CXXRecordDecl *record) {
    if (!record->hasDefinition() || record->isDependentContext() || isOfSystem(*record))
      return true;
    if (!record->hasUserDeclaredConstructor()) parts(*record, false);
    return true;
  }

 private:
  /// In std or one of its helpers' namespaces, __gnu_cxx for one.
  static bool isStandard(const Decl &d) {
    const auto *names = dyn_cast<NamespaceDecl>(d.getDeclContext()->getEnclosingNamespaceContext());
    while (names && names->getParent() && isa<NamespaceDecl>(names->getParent()))
      names = llvm::cast<NamespaceDecl>(names->getParent());
    return names && (names->getName() == "std" || names->getName().starts_with("__"));
  }
  void arguments(llvm::ArrayRef<TemplateArgument> all, bool byName) {
    for (const TemplateArgument &a : all) {
      if (a.getKind() == TemplateArgument::Pack) arguments(a.pack_elements(), byName);
      if (a.getKind() == TemplateArgument::Type) made(a.getAsType(), byName);
    }
  }
  void made(QualType type, bool byName) {
    type = type.getNonReferenceType();
    while (type->isPointerType()) type = type->getPointeeType();
    const CXXRecordDecl *record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    if (!record || !record->hasDefinition() || isOfSystem(*record)) return;
    const std::string name = nameInAll(*record);
    const bool fresh = made_.insert(name).second;
    if ((byName && made_.insert(name + " by name").second) || fresh) parts(*record, byName);
  }
  void parts(const CXXRecordDecl &record, bool byName) {
    const CXXRecordDecl &whole = *record.getDefinition();
    for (const CXXBaseSpecifier &base : whole.bases()) made(base.getType(), byName);
    for (const FieldDecl *f : whole.fields())
      if (f->getType()->getBaseElementTypeUnsafe()->isRecordType()) made(f->getType(), byName);
  }

  std::set<std::string> &made_;
};

}  // namespace

PointsTo::PointsTo(Program &program) : program_(program) {
  for (const auto &source : program.sources())
    FindMade(made_).TraverseDecl(source->getASTContext().getTranslationUnitDecl());
  solve();
}

bool PointsTo::hasNames(const VarDecl &v) const {
  return program_.hasNames(v);
}

bool PointsTo::ownsNew() const {
  return program_.ownsNew();
}

void PointsTo::solve() {
  // Each round passes on what the one before has found; a chain of calls takes as many as it is
  // long.
  constexpr int most = 200;
  for (int round = 0; round < most; ++round) {
    changed_ = false;
    bodies();
    if (tooMuch()) return;
    if (!changed_) {
      solved_ = true;
      return;
    }
  }
}

void PointsTo::bodies() {
  in_ = returning_ = nullptr;
  for (const VarDecl *v : program_.globals()) {
    declares(*v);
  }
  for (const FunctionDecl *f : program_.bodies()) {
    if (f->isDependentContext()) continue;
    if (tooMuch()) return;
    in_ = returning_ = f;
    enters(*f);
    statement(f->getBody());
  }
  // What code that is not seen holds, it can follow.
  for (const void *o : std::set<const void *>(escaped_)) escapeContents(Places::one(o));
}

/// Whether somebody else may call a method of a class that others make; the standard library calls
/// none by its name but an allocator's.
static bool calledByMaker(const CXXMethodDecl &m, const std::set<std::string> &made) {
  const std::string name = nameInAll(*m.getParent());
  const llvm::StringRef own = m.getIdentifier() ? m.getName() : "";
  const bool plain = calledByLanguage(m) || own.contains("allocate") || own == "construct";
  return made.contains(name + " by name") || (plain && made.contains(name));
}

/// Whether there may be calls that are not seen.
bool PointsTo::calledByOthers(const FunctionDecl &f) const {
  const auto *method = dyn_cast<CXXMethodDecl>(&f);
  const OverloadedOperatorKind op = f.getOverloadedOperator();
  const bool ofMemory =
      op == OO_New || op == OO_Array_New || op == OO_Delete || op == OO_Array_Delete;
  if (f.isMain() || program_.addressTaken(f) || ofMemory) return true;
  if (f.isExternallyVisible() && (program_.promises().library || program_.definedOften(f)))
    return true;
  if (!method) return calledByLanguage(f);
  // Objects end in more places than are looked at.
  return isa<CXXDestructorDecl>(f) || takesObjectOtherwise(*method) || method->isVirtual() ||
         method->getParent()->isLambda() || calledByMaker(*method, made_);
}

/// Parameters that somebody else may have given, and what a constructor does before its body.
void PointsTo::enters(const FunctionDecl &f) {
  const auto *method = dyn_cast<CXXMethodDecl>(&f);
  if (calledByOthers(f)) {
    for (const ParmVarDecl *p : f.parameters()) store(Places::one(object(*p)), Places::anything());
    if (method) store(Places::one(self(*method)), Places::anything());
  }
  const auto *made = dyn_cast<CXXConstructorDecl>(&f);
  if (!made) return;
  const Places self = load(Places::one(this->self(*made)));
  for (const CXXCtorInitializer *init : made->inits()) {
    Places to = self;
    if (const FieldDecl *member = init->getAnyMember()) {
      to.known.clear();
      for (const Place &p : self.known) to.known.insert({p.object, field(*member)});
      initialises(member->getType(), to, init->getInit());
    } else {
      initialises(init->getInit()->getType(), to, init->getInit());
    }
  }
}

const FunctionDecl *PointsTo::definition(const FunctionDecl &f) const {
  const FunctionDecl *found = program_.definition(f);
  if (!found || found->isWeak()) return nullptr;
  const auto *method = dyn_cast<CXXMethodDecl>(found);
  return method && method->isVirtual() ? nullptr : found;
}

const void *PointsTo::object(const VarDecl &v) {
  const VarDecl *canonical = v.getCanonicalDecl();
  if (mayHoldPointers(v.getType())) pointerVariables_.insert(canonical);
  if (program_.hasNames(v)) escaped_.insert(canonical);
  if (!v.isExternallyVisible()) return canonical;
  const auto [at, fresh] = ids_.try_emplace(canonical, canonical);
  if (fresh) {
    at->second = names_.try_emplace(nameInAll(*canonical), canonical).first->second;
    if (program_.knownElsewhere(*canonical)) escaped_.insert(at->second);
  }
  return at->second;
}

/// What has another name may be any variable, or any variable it.
Places PointsTo::named(const VarDecl &v) {
  Places self = Places::one(object(v));
  self.unknown = program_.hasNames(v);
  return self;
}

const void *PointsTo::field(const FieldDecl &f) {
  // Another field may lie in the padding of such a one.
  if (std::ranges::any_of(f.getParent()->fields(), [](const FieldDecl *other) {
        return other->hasAttr<NoUniqueAddressAttr>();
      }))
    return nullptr;
  const FieldDecl *canonical = f.getCanonicalDecl();
  const auto [at, fresh] = ids_.try_emplace(canonical, canonical);
  if (fresh) {
    llvm::SmallString<64> name;
    if (!index::generateUSRForDecl(canonical, name))
      at->second = names_.try_emplace(name.str().str(), canonical).first->second;
  }
  return at->second;
}

/// A number that is read where a pointer lies, if one does: whoever has it may make the pointer of
/// it again.
bool PointsTo::readsBytes(const Places &from) {
  Places held;
  for (const Place &p : from.known) held.add(load(Places::one(p.object, p.field)));
  escape(held);
  return !held.empty();
}

/// Its pointers may be moved byte by byte, which is not followed.
void PointsTo::pointedAtAsBytes(const Places &places) {
  for (const Place &p : places.known) {
    const bool field =
        p.field && !mayHoldPointers(static_cast<const FieldDecl *>(p.field)->getType());
    if (field || (!pointerVariables_.contains(p.object) && load(Places::one(p.object)).empty()))
      continue;
    escape(Places::one(p.object));
    escapeContents(Places::one(p.object));
  }
}

bool PointsTo::apart(const void *a, const void *b) const {
  if (!a || !b || a == b) return false;
  const RecordDecl *x = static_cast<const FieldDecl *>(a)->getParent();
  const RecordDecl *y = static_cast<const FieldDecl *>(b)->getParent();
  return x->getCanonicalDecl() == y->getCanonicalDecl() && !x->isUnion() && !program_.inUnion(*x);
}

/// What an iterator leads to is anything, and nothing but numbers is kept there.
bool PointsTo::isIterated(const Place &p) const {
  return std::ranges::any_of(iterated_, [&](const Place &vector) {
    return vector.object == p.object && !apart(vector.field, p.field);
  });
}

Places PointsTo::load(const Places &from) const {
  Places result;
  result.unknown = from.unknown;
  for (const Place &p : from.known) {
    result.unknown = result.unknown || escaped_.contains(p.object);
    const auto fields = content_.find(p.object);
    if (fields == content_.end()) continue;
    for (const auto &[field, held] : fields->second)
      if (!apart(p.field, field)) result.add(held);
  }
  work_ += 1 + result.known.size();
  if (exchanged_ && std::ranges::any_of(result.known, [&](const Place &p) {
        return escaped_.contains(p.object) && hold_.contains(p);
      }))
    result.unknown = true;
  return result;
}

/// Containers give their elements to others.
void PointsTo::exchanges(const Places &places) {
  note(!exchanged_);
  exchanged_ = true;
  escape(places);
  escapeContents(places);
}

void PointsTo::store(const Places &to, const Places &value) {
  if (value.empty()) return;
  if (to.unknown) escape(value);
  for (const Place &p : to.known) {
    if (escaped_.contains(p.object)) escape(value);
    note(content_[p.object][p.field].add(value));
  }
}

/// A structure's fields, or an array's elements.
void PointsTo::copy(const Places &to, const Places &from) {
  if (from.unknown) store(to, Places::anything());
  if (to.unknown) escapeContents(from);
  for (const Place &source : from.known) {
    if (escaped_.contains(source.object)) store(to, Places::anything());
    const auto fields = content_.find(source.object);
    if (fields == content_.end()) continue;
    const std::map<const void *, Places> now = fields->second;
    for (const auto &[field, held] : now) {
      if (apart(source.field, field)) continue;
      for (const Place &target : to.known)
        store(Places::one(target.object, field ? field : target.field), held);
    }
  }
}

void PointsTo::assign(QualType type, const Places &to, const Places &value) {
  type = type.getCanonicalType();
  if (type->isRecordType() || type->isArrayType() || type->isAnyComplexType())
    copy(to, value);
  else
    store(to, value);
}

void PointsTo::escape(const Places &places) {
  for (const Place &p : places.known) note(escaped_.insert(p.object).second);
}

void PointsTo::escapeWhole(const Places &places) {
  escape(places);
  escapeContents(places);
}

void PointsTo::escapeContents(const Places &places) {
  for (const Place &p : places.known) {
    const auto fields = content_.find(p.object);
    if (fields == content_.end()) continue;
    for (const auto &[field, held] : fields->second)
      if (!apart(p.field, field)) escape(held);
  }
}

Places PointsTo::designated(const Expr *e, const FunctionDecl &in) {
  if (!solved_) return Places::anything();
  in_ = returning_ = &in;
  return place(e);
}

Places PointsTo::pointedAt(const Expr *e, const FunctionDecl &in) {
  if (!solved_) return Places::anything();
  in_ = returning_ = &in;
  return value(e);
}

Places PointsTo::variable(const VarDecl &v) {
  return solved_ ? named(v) : Places::anything();
}

bool PointsTo::mayOverlap(const Places &a, const Places &b) const {
  if (a.unknown && b.unknown) return true;
  const auto anyEscaped = [&](const Places &places) {
    return std::ranges::any_of(
        places.known, [&](const Place &p) { return escaped_.contains(p.object) || isIterated(p); });
  };
  if ((a.unknown && anyEscaped(b)) || (b.unknown && anyEscaped(a))) return true;
  // A pointer that is never set is none that is understood.
  if (a.empty() || b.empty()) return true;
  for (const Place &x : a.known)
    for (const Place &y : b.known)
      if (x.object == y.object && !apart(x.field, y.field)) return true;
  return false;
}

}  // namespace nbcc::overlap
