// SPDX-License-Identifier: BSD-3-Clause
// collect_given.h - where variables and fields of a source may get a value that may be one of MPI's
// handles.

#pragma once

#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>

#include <set>
#include <vector>

#include "tools/overlap/program.h"

namespace nbcc::overlap {

/// The object that std::make_unique<C>() makes of what it is given; null: it is another function.
const clang::CXXConstructExpr *madeBy(const clang::FunctionDecl &);

/// What its constructor is given then, by a call.
std::vector<const clang::Expr *> handedOn(const clang::CallExpr &, const clang::CXXConstructExpr &);

/// Fills Program::given(), while a source is gone through.
class GivenValues {
 public:
  explicit GivenValues(Program &program) : program_(program) {}

  /// What is no way to give a value, or is known as one.
  void understand(const clang::Expr *e) { understood_.insert(e); }
  bool isUnderstood(const clang::Expr *e) const { return understood_.contains(e); }

  /// A variable or field gets one at a place, by its name.
  void gives(const clang::Expr *to, const clang::Stmt *at, const clang::FunctionDecl *in);
  /// A value, unless that is none.
  void givesUnless(const clang::ValueDecl &, const clang::Expr &value,
                   const clang::FunctionDecl *in);
  /// A list of values, whose inner ones are visited only where they have braces.
  void givesFields(const clang::InitListExpr &, const clang::FunctionDecl *in);
  /// A structure that is looked at as something else may get anything there, and so may those that
  /// it points at.
  void givesAll(clang::QualType);
  /// What a template of a library is made for: it may look at objects as it likes, make new ones,
  /// and convert where pointers lead. But where std's own pointers lead it only ends objects, and
  /// where it is `called` it makes those of madeBy().
  void givesArguments(const clang::FunctionDecl &, bool called = false);
  void givesArguments(const clang::CXXRecordDecl &);
  /// Fields that may lie under others. A pointer among them may be another one's.
  void underUnion(const clang::RecordDecl *);

 private:
  void givesArgument(const clang::TemplateArgument &);

  Program &program_;
  std::set<const clang::Expr *> understood_;
  std::set<const clang::ClassTemplateSpecializationDecl *> seenTemplates_;
};

}  // namespace nbcc::overlap
