// SPDX-License-Identifier: BSD-3-Clause
// count.h - how many calls of one collective a statement makes, wherever they are written.

#pragma once

#include <clang/AST/StmtCXX.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tools/overlap/communicators.h"
#include "tools/overlap/program.h"

namespace nbcc::overlap {

/// Calls of the kind: on the communicator that is asked about, and on those that may be the same
/// one, by the variable that has it as long as a function runs.
struct Calls {
  int own = 0;
  std::map<const clang::VarDecl *, int> others;

  void add(const Calls &more);
  bool none() const { return own == 0 && others.empty(); }
  friend bool operator==(const Calls &, const Calls &) = default;
};

class Count {
 public:
  /// Both outlive it. `own`: the communicator that is asked about.
  Count(Program &, const Collective &kind, Communicators own);

  /// `in`: the function that the statement is in; null: it begins a global variable. None: that is
  /// not the same each time, or depends.
  std::optional<Calls> operator()(const clang::Stmt *, const clang::FunctionDecl *in);

  /// Whether there may be one.
  bool any(const clang::Stmt *, const clang::FunctionDecl *in);

  /// A call of the kind itself, which may be on the communicator or not.
  bool mayBeOnAnother(const clang::CallExpr &, const clang::FunctionDecl *in);

  /// Functions with calls of the kind that may be called where no call is written.
  const std::vector<const clang::FunctionDecl *> &unseen() const { return unseen_; }

  /// Whether one of these may be called here, which one being nobody's knowledge.
  bool mayCallUnseen(const clang::CallExpr &) const;

  /// Or, where objects come and go, a constructor or destructor that is one.
  bool mayRunUnseen(const clang::Stmt *) const;

  /// And how often, nobody knows: a row of objects, or a container of a library's.
  bool mayRunUnseenOften(const clang::Stmt *, const clang::ASTContext &) const;

  /// Whether there may be one in what stands in for an argument, or for a field: that runs where
  /// functions are called that nobody sees called, and for each of a row of objects.
  bool mayStandIn();

  /// Whether there may be one before main().
  bool mayBeginWithOne();

 private:
  void findUnseen(UnseenCalls among);
  /// Whether one of these is an object's of such a type, or of what is in it.
  bool holdsUnseen(clang::QualType, std::set<const clang::CXXRecordDecl *> &seen) const;
  bool mayCallBack(const clang::CXXConstructExpr &made) const;
  bool holdsFunction(clang::QualType) const;
  std::optional<Calls> of(const auto &statements, const clang::FunctionDecl *in);
  std::optional<Calls> ofBody(const clang::FunctionDecl *);
  std::optional<Calls> ofCall(const clang::CallExpr &, const clang::FunctionDecl *in);
  std::optional<Calls> ofConstructor(const clang::CXXConstructExpr &);
  std::optional<Calls> ofFunction(const clang::FunctionDecl *body);
  std::optional<Calls> ofCollective(const clang::CallExpr &, const Collective &,
                                    const clang::FunctionDecl *in);

  Program &program_;
  const Collective &kind_;
  const Communicators own_;
  std::map<const clang::FunctionDecl *, std::optional<Calls>> known_;
  std::vector<const clang::FunctionDecl *> unseen_;
  bool onAny_ = false;              // whatever the communicator is
  bool overridesLibrarys_ = false;  // one of these does
  bool beforeMain_ = false;         // what is being counted runs there
};

}  // namespace nbcc::overlap
