// SPDX-License-Identifier: BSD-3-Clause
// uniform.h - whether all ranks reach a call alike.
//
// A blocking collective must not meet a nonblocking one. A call in the source is changed for all
// ranks at once, so the only danger is that it meets another place of the source: where what a rank
// is decides which of the two it reaches. So, unless there is no such place (meetings.h), every
// condition on the way, in the function and in those that call it, back to main(), must be one that
// is the same on all ranks: constants, the command line, the number of ranks, what a broadcast or
// an allreduce left in a variable, and what is computed from these. Or an if sends some ranks to
// one call and the others to another, and all reach the if alike: then these two may change
// together.

#pragma once

#include <clang/AST/StmtCXX.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/overlap/site.h"

namespace nbcc::overlap {

class Count;

class Uniform {
 public:
  Uniform(Program &program, const clang::CallExpr &call, const Collective &);

  /// None: all ranks reach it alike.
  std::optional<Remark> whyNot();

  /// The one in the other branch of an if that it meets, and nothing else; null: it may meet
  /// others.
  const clang::CallExpr *metInOtherBranch();

 private:
  /// How long what is learned of a communicator is remembered.
  enum Kept { atOnce, inFunction, ever };

  const clang::FunctionDecl *findHome();
  bool same(const clang::Expr *, const clang::FunctionDecl *in);
  bool sameValue(const clang::VarDecl *);
  bool hasOneValue(const clang::VarDecl *);
  bool sameParameter(const clang::ParmVarDecl *);
  bool sameResult(const clang::CallExpr *);
  bool allReturns(const clang::FunctionDecl &, const std::function<bool(const clang::Expr *)> &);
  const clang::ForStmt *loopThatSets(const clang::DeclRefExpr &, const clang::VarDecl &,
                                     const clang::FunctionDecl &in);
  bool sameWithin(const clang::ForStmt &, const clang::VarDecl &, const clang::FunctionDecl *in);
  bool asksWhoTakesPart(const clang::Expr *, const clang::FunctionDecl *in);
  bool ourCommunicator(const clang::Expr *, const clang::FunctionDecl *in, Kept) const;
  bool isOnlyOne(const clang::ValueDecl &, Kept) const;
  bool promised(const clang::ValueDecl &) const;

  /// Whether the way to a statement is the same on all ranks that enter the function; notes why
  /// not.
  bool reached(const clang::Stmt *, const clang::FunctionDecl *in);
  bool isReached(const clang::Stmt *, const clang::FunctionDecl *in);
  bool exitsAlike(const clang::Stmt *, const clang::FunctionDecl *in);
  bool endsAlike(const clang::FunctionDecl &);
  bool entered(const clang::FunctionDecl *);
  bool condition(const clang::Expr *, const clang::FunctionDecl *in);

  // uniform_filled.cpp
  class Filled;
  friend class Filled;
  bool filledBefore(const clang::DeclRefExpr *, const clang::VarDecl *,
                    const clang::FunctionDecl *in);

  // uniform_overwritten.cpp
  class Overwritten;
  friend class Overwritten;
  bool waits(const clang::Expr *at, const clang::VarDecl &, const clang::FieldDecl *only,
             const clang::FunctionDecl *in);
  bool isOverwritable(const clang::VarDecl &, const clang::FieldDecl *only);
  bool isOverwritten(const Use &, const clang::VarDecl &, const clang::FieldDecl *only);

  // uniform_fields.cpp
  bool sameField(const clang::Expr *structure, const clang::FieldDecl &,
                 const clang::FunctionDecl *in, const clang::ASTContext &);
  bool sameField(const clang::VarDecl &, const clang::FieldDecl &);
  bool sameFieldOfParameter(const clang::ParmVarDecl &, const clang::FieldDecl &);
  bool sameFieldOfResult(const clang::CallExpr *, const clang::FieldDecl &);
  bool staysInField(const clang::MemberExpr &, const clang::FunctionDecl &in,
                    const clang::FieldDecl &asked);
  bool staysInField(const clang::CallExpr &, const clang::Expr &argument,
                    const clang::FieldDecl &other, const clang::FieldDecl &asked,
                    clang::ASTContext &);
  bool staysInField(const clang::ParmVarDecl &, const clang::FieldDecl &other,
                    const clang::FieldDecl &asked);
  /// What is asked of a field of a variable, or of what a function returns.
  const void *part(const clang::Decl &d, const clang::FieldDecl &field) {
    return &*parts_.emplace(d.getCanonicalDecl(), field.getCanonicalDecl()).first;
  }

  // uniform_communicators.cpp
  bool onOneCommunicator();
  bool isMadeAsOne(const clang::CallExpr &, const clang::FunctionDecl *in);
  bool chosenAlike(const clang::Expr *, const clang::FunctionDecl *in, const clang::ASTContext &);
  bool returnsAlike(const clang::CallExpr &);
  bool passedAlike(const clang::ParmVarDecl &, const clang::FunctionDecl &in);
  bool givenAlike(const clang::ValueDecl &);
  bool declaredAlike(const clang::VarDecl &);
  bool elementsAlike(const clang::VarDecl &);
  bool partsAlike(const clang::VarDecl &, const clang::FieldDecl *);

  // uniform_uses.cpp
  bool sameUse(const Use &, const clang::VarDecl &, const clang::FieldDecl *only = nullptr);
  bool leavesAlike(const Use &, const clang::VarDecl &, const clang::FieldDecl *only);
  bool changesAlike(const clang::VarDecl &, const clang::FieldDecl *only);
  bool endsAreKeptAlike(const clang::CallExpr &, unsigned argument);
  bool isKeptAlike(const clang::Expr &place, const clang::FieldDecl *only);
  bool leavesAlone(const clang::CallExpr *, unsigned argument) const;
  bool fillsAlike(const clang::CallExpr *, unsigned argument, const clang::FunctionDecl *in, Kept);
  const clang::ParmVarDecl *parameter(const clang::CallExpr &, unsigned argument) const;
  bool readsWithin(const clang::CallExpr *, unsigned argument, const clang::FieldDecl *only);
  bool fillsAlikeWithin(const clang::CallExpr *, unsigned argument, const clang::FieldDecl *only);
  bool copiesAlike(const clang::CallExpr *, unsigned argument, const clang::FunctionDecl *in);

  // uniform_command_line.cpp
  bool isCommandLine(const clang::Expr *, const clang::FunctionDecl *in);
  bool parsesOptions(const clang::FunctionDecl &) const;
  static bool isOfParser(const clang::VarDecl &);
  bool optionsAreSame(const clang::ASTContext &);

  // uniform_order.cpp
  Count counts() const;  // calls that the call may be taken for
  using Ordered = std::set<std::pair<const clang::Stmt *, const clang::FunctionDecl *>>;
  bool inOrder(const clang::Stmt *before, const clang::FunctionDecl *in, Ordered &);
  bool inOrderFrom(const clang::Stmt *, const clang::FunctionDecl *in, Ordered &);
  bool isOneCall(const clang::CallExpr &, const Collective &, const clang::FunctionDecl *in);
  std::optional<int> callsInEach(const clang::IfStmt &, const clang::FunctionDecl *in);
  const clang::Stmt *branchOf(const clang::CallExpr &, const clang::FunctionDecl *in);

  // uniform_memory.cpp
  bool sameThere(const clang::Expr *pointer, const clang::FunctionDecl *in);
  bool sameItself(const clang::Expr *, const clang::FunctionDecl *in);
  bool isFresh(const clang::Expr *pointer, const clang::FunctionDecl *in);
  bool sameVector(const clang::CXXConstructExpr &, const clang::FunctionDecl *in);
  bool sameOfVector(const clang::CallExpr &, const clang::FunctionDecl *in);
  bool sameTurns(const clang::CXXForRangeStmt &, const clang::FunctionDecl *in);
  bool sameInTurns(const clang::VarDecl &turn, const clang::FunctionDecl *in);
  static bool isTakenByVector(const clang::Expr &, const clang::Expr &by);
  struct VectorUse {
    enum { reads, changesAlike, leadsInto } how;  // leadsInto: v[i] and such
    const clang::CallExpr *call;
  };
  std::optional<VectorUse> useOfVector(const clang::Expr &vector, const clang::FunctionDecl *in);

  bool ask(const void *what) {
    return asked_.insert({what, elsewhere_ > 0, looksThere_, atAnyTime_}).second;
  }
  bool askOnce(const void *what, const std::function<bool()> &alike);
  bool no(const clang::Stmt *at, const clang::FunctionDecl *in, std::string why);
  /// False. Keeps why a value may not be the same, if nothing is known of that yet; `promisable`:
  /// what --alike could name.
  bool differs(const std::string &why, const clang::ValueDecl *promisable = nullptr);
  bool differsBy(const Use &, const std::string &name, const clang::ValueDecl &);
  std::string overAnother(const Use &);
  std::string becauseItDiffers() const { return differs_.empty() ? "" : ": " + differs_; }

  Program &program_;
  const clang::CallExpr &call_;
  const Collective &collective_;
  const clang::FunctionDecl *home_ = nullptr;  // that the call stands in
  std::optional<Remark> why_;
  std::string differs_;      // of the condition that is being asked about
  bool onlyReads_ = false;   // uses of a variable are asked whether they change anything at all
  bool looksThere_ = false;  // it is asked what a pointer points at, and not whether it is null
  bool atAnyTime_ = false;   // and what is overwritten before long matters, too
  int elsewhere_ = 0;        // of another call of the function, maybe, values are asked for
  // What is being asked already counts as alike: only another reason can make it differ.
  using Asked = std::set<std::tuple<const void *, bool, bool, bool>>;  // and where
  Asked asked_;
  // Each no is remembered, with what was said of it: whatever was taken for granted, it stays one.
  using Question = std::tuple<const void *, bool, bool, bool, bool>;
  struct Reasons {
    std::optional<Remark> why;
    std::string differs;
  };
  std::map<Question, Reasons> refused_;
  // After a no that is no end of the question nothing may be taken for granted that was on the way
  // to it.
  struct Answers {
    Asked asked;
    Reasons reasons;
  };
  Answers answers() const { return {asked_, {why_, differs_}}; }
  void takeBackTo(const Answers &before) {
    asked_ = before.asked;
    why_ = before.reasons.why;
    differs_ = before.reasons.differs;
  }
  std::set<std::pair<const clang::Stmt *, const clang::Decl *>> counters_;
  // Of the communicator that is being asked about: what gives it one, or a field of that.
  std::set<std::pair<const clang::Decl *, const clang::Decl *>> chosen_;
  // That a no is remembered, too, keeps conditions within conditions from being asked 2^n times.
  using Filling = std::tuple<const clang::DeclRefExpr *, bool, bool>;
  std::set<Filling> notFilled_, filling_;  // and what is being asked
  std::set<std::pair<const clang::Decl *, const clang::Decl *>> parts_;
  // Whether a parameter that leads to another field leads to nothing but that.
  std::map<std::tuple<const clang::Decl *, const clang::Decl *, const clang::Decl *>, bool>
      staying_;
  // Whether a collective fills all of it with the same, or all of a field.
  std::map<std::pair<const clang::Decl *, const clang::Decl *>, bool> filled_;
  std::map<const clang::Stmt *, std::vector<const clang::Stmt *>> exits_;  // of a function's body
  Uniform *asker_ = nullptr;  // who wants to know whether the call is one, on the way to its own
  bool assumes_ = false;      // what such a one is still asking
};

/// Of main(), but for its third parameter: the environment, in which launchers tell ranks apart.
bool isOfCommandLine(const clang::ParmVarDecl &);

/// for (double &x : v): the x of what v is bound to, which has no name; null: it is not followed.
const clang::VarDecl *turnOver(const clang::VarDecl &range, const clang::FunctionDecl &in);

/// What is asked where a statement goes one way or another; null: nothing.
const clang::Expr *conditionOf(const clang::Stmt *);

/// Whether it is no more than a block that one may leave: do { ... } while (0); while (c) { ...;
/// break; }.
bool turnsOnce(const clang::Stmt *loop, const clang::FunctionDecl &in, Program &);

/// A first value of a global variable that is no address, which each rank has its own of, but for
/// texts.
bool isPlain(const clang::Expr &, const clang::ASTContext &);

/// Whether who comes to a handler is not heard of again: it ends the rank, or goes to a handler
/// further out, without another collective.
bool ends(const clang::CXXCatchStmt *, const clang::FunctionDecl *in, Program &);

}  // namespace nbcc::overlap
