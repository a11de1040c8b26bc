// SPDX-License-Identifier: BSD-3-Clause
// points_to_calls.cpp - where pointers go that a call is given, and what it returns.

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>

#include <algorithm>

#include "tools/overlap/algorithms.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/memory.h"
#include "tools/overlap/points_to.h"
#include "tools/overlap/program.h"
#include "tools/overlap/streams.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

bool carriesPointers(QualType type) {
  return type->isPointerType() || type->isReferenceType() || type->isRecordType();
}

/// Whether a closure has more in it than references.
bool holdsCopies(const CXXRecordDecl &record) {
  return record.isLambda() && std::ranges::any_of(record.fields(), [](const FieldDecl *f) {
           return !f->getType()->isReferenceType();
         });
}

}  // namespace

void PointsTo::bind(const FunctionDecl &f, const Expr *const *arguments, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const Expr *argument = arguments[i];
    if (i < f.getNumParams()) {
      const ParmVarDecl *p = f.getParamDecl(i);
      initialises(p->getType(), Places::one(object(*p)), argument);
    } else {
      const Places reached = either(argument);
      escapeWhole(reached);
    }
  }
}

Places PointsTo::known(const CallExpr *call, const KnownCall &k) {
  Places given;
  const Expr *from = nullptr;
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const Places reached = either(call->getArg(i));
    if (!call->getArg(i)->getType()->isPointerType()) continue;
    if (tellsAddress(*call, k, i)) escape(reached);
    given.add(widened(reached));
    if (k.argument(i) == 'r') from = call->getArg(i);
  }
  // memcpy() moves what it knows nothing of, strtol() leaves a pointer to where it stopped.
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const QualType type = call->getArg(i)->getType();
    if (!type->isPointerType() || k.argument(i) != 'w') continue;
    const Places to = value(call->getArg(i));
    if (k.kind == CallKind::returns && from) copiesBytes(to, value(from));
    if (type->getPointeeType()->isPointerType()) store(to, given);
  }
  if (k.kind == CallKind::makes) return Places::one(call);
  if (k.kind == CallKind::returns) return given;
  return {};
}

/// memcpy() to a field from another one, or from bytes: what was held goes anywhere in the object.
void PointsTo::copiesBytes(const Places &to, const Places &from) {
  copy(widened(to), widened(from));
  std::set<const void *> fields;
  for (const Places *side : {&to, &from})
    for (const Place &p : side->known) fields.insert(p.field);
  if (fields.size() == 1) return;  // of structures that are alike
  for (const Place &p : widened(from).known)
    store(widened(to), load(Places::one(p.object, p.field)));
}

/// A container is one object with its elements.
Places PointsTo::ofContainer(const CallExpr *call, const Expr *container, llvm::StringRef method,
                             unsigned first) {
  const bool arrow = container->getType()->isPointerType();
  const Places self = arrow ? value(container) : either(container);
  const bool puts = method == "push_back" || method == "resize" || method == "assign" ||
                    method == "operator=" || method == "reserve" || method == "clear";
  const bool reads =
      pointsIntoContainer(method) || readsShapeOfContainer(method) || method == "operator[]";
  if (pointsIntoContainer(method) || method == "operator[]")
    for (const Place &p : self.known) note(hold_.insert(p).second);
  const bool ofNumbers =
      isContainerOfNumbers(arrow ? container->getType()->getPointeeType() : container->getType());
  for (unsigned i = first; i < call->getNumArgs(); ++i) {
    const Expr *argument = call->getArg(i);
    const Places reached = either(argument);
    const bool moved = argument->isXValue() && argument->getType()->isRecordType();
    if (moved && !(isa<MaterializeTemporaryExpr>(argument) && ofNumbers && method != "operator=")) {
      exchanges(reached);
      exchanges(self);
    }
    if (puts && (argument->isGLValue() || argument->getType()->isRecordType())) {
      copy(self, reached);
    } else if (!reads || carriesPointers(argument->getType())) {
      escapeWhole(reached);
    }
  }
  if (pointsIntoContainer(method) || method == "operator[]" || method == "operator=") return self;
  if (puts || readsShapeOfContainer(method)) return {};
  const bool iterates =
      method == "begin" || method == "end" || method == "cbegin" || method == "cend";
  if (iterates && ofNumbers)
    for (const Place &p : self.known) note(iterated_.insert(p).second);
  else
    exchanges(self);
  return Places::anything();
}

/// Numbers are copied, and no pointers.
void PointsTo::algorithm(const CallExpr *call) {
  for (const Expr *argument : call->arguments())
    for (const Expr *part : partsOf(argument)) either(part);
}

Places PointsTo::call(const CallExpr *call) {
  if (findAlgorithm(*call)) return algorithm(call), Places();
  const FunctionDecl *f = call->getDirectCallee();
  const auto *op = dyn_cast<CXXOperatorCallExpr>(call);
  const auto *method = dyn_cast<CXXMemberCallExpr>(call);
  const CXXMethodDecl *m = f ? dyn_cast<CXXMethodDecl>(f) : nullptr;
  if (method && m && m->getIdentifier() && isContainer(method->getObjectType()))
    return ofContainer(call, method->getImplicitObjectArgument(), m->getName(), 0);
  if (op && m && isContainer(op->getArg(0)->getType()) &&
      (op->getOperator() == OO_Subscript || op->getOperator() == OO_Equal))
    return ofContainer(call, op->getArg(0),
                       op->getOperator() == OO_Subscript ? "operator[]" : "operator=", 1);

  const auto *through = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParenImpCasts());
  if (through && !method) either(through->getBase());  // of a static method
  const bool returnsPointer = carriesPointers(call->getType()) || call->isGLValue();
  const bool shifted = m && takesObjectOtherwise(*m);
  const FunctionDecl *body = f && !shifted ? definition(*f) : nullptr;
  if (const KnownCall *k = f && !body ? findKnownCall(*f) : nullptr) return known(call, *k);
  if (body) {
    const Expr *const *arguments = call->getArgs();
    unsigned count = call->getNumArgs();
    if (m && m->isInstance()) {
      const Expr *object = method ? method->getImplicitObjectArgument() : arguments[0];
      store(Places::one(self(*m)), object->getType()->isPointerType() && !object->isGLValue()
                                       ? value(object)
                                       : either(object));
      if (holdsCopies(*m->getParent())) escape(either(object));  // it may lead to itself
      if (!method) ++arguments, --count;
    }
    bind(*body, arguments, count);
    const Places result = Places::one(body->getCanonicalDecl());
    if (program_.makes(*f)) {  // with what it has put into it
      const Places self = Places::one(call);
      for (const Place &p : load(result).known) copy(self, Places::one(p.object));
      return self;
    }
    return call->getType()->isRecordType() && !call->isGLValue() ? result : load(result);
  }

  if (!f) either(call->getCallee());
  if (f && isChoice(*f)) {
    Places both;
    for (const Expr *argument : call->arguments()) both.add(either(argument));
    return both;
  }
  const bool numbers = f && isOfComplex(*f);
  if (numbers || (!program_.changesStreams() && printed(*call).isPrint)) {
    for (const Expr *argument : call->arguments()) either(argument);
    if (method) either(method->getImplicitObjectArgument());
    if (!numbers) return Places::anything();
    return op && changesComplex(*op) ? either(op->getArg(0)) : Places();
  }
  const bool keepsNothing = f && !returnsPointer && (isMathematics(*f) || f->hasAttr<PureAttr>());
  const bool mpi = f && isMpi(*f) && !mpiKeeps(f->getName().str());
  const bool local = f && program_.isLocal(*f);
  Places given;
  for (const Expr *argument : call->arguments()) {
    const Places reached = either(argument);
    given.add(reached);
    if (keepsNothing || mpi) continue;
    // It may move pointers among what it is given.
    if (local && load(reached).empty()) continue;
    // swap(), move() and whatever may do the same.
    if (argument->isGLValue() && holdsElements(argument->getType()) &&
        !argument->getType().isConstQualified())
      exchanges(reached);
    // iter_swap(&a, &b): likewise, of what it points at.
    const QualType to = argument->getType()->getPointeeType();
    if (!to.isNull() && holdsElements(to) && !to.isConstQualified()) exchanges(reached);
    escapeWhole(reached);
  }
  if (method) {
    const Places object = either(method->getImplicitObjectArgument());
    escapeWhole(object);
  }
  if (!returnsPointer) return {};
  given.unknown = true;
  return local ? given : Places::anything();
}

void PointsTo::constructs(const Places &to, const CXXConstructExpr *made) {
  const CXXConstructorDecl *by = made->getConstructor();
  if (isContainer(made->getType()) && mayKnowItself(made->getType())) escape(to);  // with elements
  for (const Expr *argument : made->arguments())
    if (argument->isXValue() && holdsElements(argument->getType()) &&
        !isa<MaterializeTemporaryExpr>(argument)) {
      exchanges(to);
      exchanges(either(argument));
    }
  if (by->isCopyOrMoveConstructor() &&
      (by->isTrivial() || by->isDefaulted() || isContainer(made->getType())))
    return copy(to, either(made->getArg(0)));
  if (by->isTrivial()) return;
  const bool inherited = by->isInheritingConstructor();
  const CXXConstructorDecl *given = inherited ? by->getInheritedConstructor().getConstructor() : by;
  if (const FunctionDecl *body = definition(*given)) {
    store(Places::one(self(*given)), to);
    bind(*body, made->getArgs(), made->getNumArgs());
    if (!inherited) return;  // else there is more of the object, which stands nowhere
  }
  for (const Expr *argument : made->arguments()) {
    if (isa<CXXDefaultArgExpr>(argument) && isContainer(made->getType())) continue;
    const Places reached = either(argument);
    if (isContainer(made->getType())) copy(to, reached);
    escapeWhole(reached);
  }
  if (isContainer(made->getType())) return;
  escapeWhole(to);
  store(to, Places::anything());
}

}  // namespace nbcc::overlap
