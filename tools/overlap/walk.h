// SPDX-License-Identifier: BSD-3-Clause
// walk.h - the walk over a statement that collects its effects; for effects.cpp and
// call_effects.cpp.

#pragma once

#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtOpenMP.h>

#include <set>

#include "tools/overlap/effects.h"
#include "tools/overlap/known_calls.h"

namespace nbcc::overlap {

struct Printed;

/// Whether an object begins with what no code computes.
bool isConstant(const clang::Expr &init, const clang::ASTContext &);

class Walk {
 public:
  using Callees = std::set<const clang::FunctionDecl *>;

  Walk(Program &program, const Memory &memory, const clang::ASTContext &context, Effects &out,
       const clang::CallExpr *but)
      : program_(program), memory_(memory), context_(context), out_(out), but_(but) {}

  /// The same for the body of a function that is called: return stays within it.
  Walk(Program &program, const Memory &memory, const clang::ASTContext &context, Effects &out,
       const Callees &callees)
      : program_(program),
        memory_(memory),
        context_(context),
        out_(out),
        callees_(callees),
        inCallee_(true) {}

  /// One that is no part of an expression.
  void whole(const clang::Stmt *, const clang::Stmt *parent = nullptr);
  void statement(const clang::Stmt *);
  void lengths(clang::QualType);

  /// Of what a call is given size() counts, too; it touches no buffer, which is all that matters
  /// elsewhere.
  bool readsShapes = true;

 private:
  void statements(const clang::Stmt *parent);
  void value(const clang::Expr *);
  void address(const clang::Expr *glvalue);
  void begins(const clang::DeclRefExpr &);
  void access(const clang::Expr *glvalue, bool read, bool write);
  void declares(const clang::VarDecl *);
  void allocates(const clang::CXXNewExpr *);
  void directive(const clang::OMPExecutableDirective *);
  void copies(const clang::Expr *argument, clang::QualType vector);
  void constructs(const clang::CXXConstructExpr *);
  bool throwsPlainly(const clang::Expr *thrown);
  bool beginsByParts(const clang::CXXConstructorDecl &) const;
  bool beginsByParts(clang::QualType) const;

  void call(const clang::CallExpr *);
  void method(const clang::CXXMemberCallExpr *);
  void known(const clang::CallExpr *, const KnownCall &);
  void algorithm(const clang::CallExpr *, const KnownCall &);
  void complex(const clang::CallExpr *, const clang::FunctionDecl &);
  void prints(const clang::CallExpr *, const Printed &);
  bool sorts(const clang::CallExpr *, const clang::FunctionDecl &);
  void setsErrno(const clang::CallExpr *, const std::string &name);
  void touches(const clang::Expr *, char how, const Objects &, const Access &);
  bool collective(const clang::CallExpr *, const clang::FunctionDecl &);
  bool message(const clang::CallExpr *, const clang::FunctionDecl &);
  void body(const clang::CallExpr *, const clang::FunctionDecl &);
  void printsGiven(const clang::CallExpr *, const clang::FunctionDecl &);
  Effects inside(const clang::FunctionDecl &callee) const;
  bool isGivenTheSame(const clang::CallExpr &, const clang::FunctionDecl &) const;
  void arguments(const clang::CallExpr *);
  Objects given(const clang::Expr *argument) const;
  Objects asCallerSees(const Objects &, const clang::CallExpr *, const clang::FunctionDecl &,
                       const Memory &callee) const;

  void add(Effect::Kind, const clang::Stmt *at, std::string what, Objects = {}, Access = {});
  Access from(const clang::Expr *pointer, const clang::Expr *bytes = nullptr) const;
  std::string text(const clang::Stmt *s) const { return written(s, context_); }

  Program &program_;
  const Memory &memory_;
  const clang::ASTContext &context_;
  Effects &out_;
  const clang::CallExpr *but_ = nullptr;
  Callees callees_;  // whose bodies the walk is in
  bool inCallee_ = false;
  int loops_ = 0, switches_ = 0;
};

}  // namespace nbcc::overlap
