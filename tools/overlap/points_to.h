// SPDX-License-Identifier: BSD-3-Clause
// points_to.h - what the pointers of a whole program may point at.
//
// memory.h looks at one function, for which a pointer that was loaded from memory may be anything.
// Here all sources are looked at together: what is stored in which field of which object, what
// callers pass, what functions return. A field keeps apart what is stored in it; elements of an
// array do not. Statements have no order, and a function has one set of values for all its callers.
//
// A function that returns memory of its own making, and keeps no pointer to it, is taken as an
// allocation where it is called, so that a program's own xmalloc() tells its callers apart.
//
// What goes to code that is not seen has escaped: such code may write to it, and what it holds
// escapes with it.

#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <map>
#include <set>
#include <string>

#include "tools/overlap/places.h"

namespace nbcc::overlap {

class Program;
struct KnownCall;

class PointsTo {
 public:
  explicit PointsTo(Program &);

  /// Of expressions in a function: what an lvalue names, what a pointer points at.
  Places designated(const clang::Expr *, const clang::FunctionDecl &in);
  Places pointedAt(const clang::Expr *, const clang::FunctionDecl &in);
  Places variable(const clang::VarDecl &);

  bool mayOverlap(const Places &, const Places &) const;
  bool escaped(const void *object) const { return escaped_.contains(object); }
  /// As the program has it.
  bool ownsNew() const;
  bool hasNames(const clang::VarDecl &) const;
  /// False: there was too much to go through, and a pointer may point at anything.
  bool solved() const { return solved_; }

 private:
  // points_to.cpp: the sources, what is stored, and what overlaps.
  void solve();
  void bodies();
  bool calledByOthers(const clang::FunctionDecl &) const;
  void enters(const clang::FunctionDecl &);
  const clang::FunctionDecl *definition(const clang::FunctionDecl &) const;
  const void *object(const clang::VarDecl &);
  Places named(const clang::VarDecl &);
  const void *field(const clang::FieldDecl &);
  bool apart(const void *field, const void *other) const;
  bool isIterated(const Place &) const;
  Places load(const Places &) const;
  void store(const Places &to, const Places &value);
  void copy(const Places &to, const Places &from);
  void assign(clang::QualType, const Places &to, const Places &value);
  void escape(const Places &);
  void escapeContents(const Places &);
  void escapeWhole(const Places &);  // with its contents
  bool readsBytes(const Places &);
  void exchanges(const Places &);
  void pointedAtAsBytes(const Places &);
  /// Half a minute, perhaps.
  bool tooMuch() const { return work_ > std::size_t{8} << 20; }
  void note(bool changed) { changed_ = changed_ || changed; }

  // points_to_statements.cpp
  void statement(const clang::Stmt *);
  void declares(const clang::VarDecl &);
  bool endsUnseen(clang::QualType) const;
  void initialises(clang::QualType, const Places &to, const clang::Expr *init);
  Places listValue(const clang::InitListExpr *);
  void rangeLoop(const clang::CXXForRangeStmt *);

  // points_to_expressions.cpp
  Places value(const clang::Expr *);
  Places place(const clang::Expr *);
  Places either(const clang::Expr *e) { return e->isGLValue() ? place(e) : value(e); }
  Places castValue(const clang::CastExpr *);
  Places unaryValue(const clang::UnaryOperator *);
  Places binaryValue(const clang::BinaryOperator *);
  Places member(const clang::MemberExpr *);
  Places unseen(const clang::Stmt *);
  Places widened(const Places &, clang::QualType pointer = {}) const;
  Places seenAs(clang::QualType, const Places &) const;

  // points_to_calls.cpp
  Places call(const clang::CallExpr *);
  Places known(const clang::CallExpr *, const KnownCall &);
  void algorithm(const clang::CallExpr *);
  void copiesBytes(const Places &to, const Places &from);
  Places ofContainer(const clang::CallExpr *, const clang::Expr *container, llvm::StringRef method,
                     unsigned first);
  void bind(const clang::FunctionDecl &, const clang::Expr *const *arguments, unsigned count);
  void constructs(const Places &to, const clang::CXXConstructExpr *);
  /// Where `this` is kept; a byte into the declaration, which itself stands for what is returned.
  static const void *self(const clang::CXXMethodDecl &m) {
    return reinterpret_cast<const char *>(m.getCanonicalDecl()) + 1;
  }

  Program &program_;
  std::map<const void *, std::map<const void *, Places>> content_;  // by object and field
  std::set<const void *> escaped_;
  std::set<std::string> made_;  // classes with methods that are called where no call is seen
  std::map<std::string, const void *> names_;  // what is one in several sources
  std::map<const void *, const void *> ids_;
  std::set<const void *> pointerVariables_;         // or structures that hold some
  const clang::FunctionDecl *in_ = nullptr;         // whose `this` it is
  const clang::FunctionDecl *returning_ = nullptr;  // a lambda has returns of its own
  std::set<Place> hold_;      // containers, or what holds them, into which something points
  std::set<Place> iterated_;  // vectors of numbers that iterators lead to, wherever these are
  bool exchanged_ = false;    // some were swapped or moved: older pointers point into others
  bool changed_ = false, solved_ = false;
  mutable std::size_t work_ = 0;  // places that were looked at
};

/// Whether it gets memory that nothing else names, if no other source has an operator for it: one
/// of the program's own may hand out any.
inline bool isPlainNew(const clang::CXXNewExpr &made) {
  const clang::FunctionDecl *by = made.getOperatorNew();
  return made.getNumPlacementArgs() == 0 && by && !llvm::isa<clang::CXXMethodDecl>(by) &&
         !by->isDefined();
}

/// What is copied whole, and no pointer.
inline bool isRecordOrArray(clang::QualType type) {
  return type->isRecordType() || type->isArrayType();
}

}  // namespace nbcc::overlap
