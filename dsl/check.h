// SPDX-License-Identifier: BSD-3-Clause
// check.h - within dsl: the parts of check(), by idea.
//
//   check.cpp              a file: which declarations there are, in which order to look at them
//   check_algorithm.cpp    the head of an algorithm: parameters, requires, claims
//   check_statement.cpp    its body: what may stand where, what a section may name
//   check_run.cpp          `run`: what it gives to the algorithm that it runs
//   check_expression.cpp   names, types, calls, constants

#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "dsl/ast.h"
#include "dsl/collectives.h"
#include "dsl/diag.h"
#include "dsl/scope.h"

namespace nbcc {

struct Functions {
  std::unordered_map<uint16_t, std::unordered_map<std::string_view, ast::Function *>> byFile;
  std::unordered_map<uint16_t, std::vector<uint16_t>> sees;  // a file: those it may name
  std::unordered_set<const ast::Function *> wrong;           // of no type: that was said
  std::unordered_set<const ast::Function *> askForTopology;

  /// Named in `file`. Null: none.
  ast::Function *find(std::string_view name, uint16_t file) const;
  /// All that may be named there.
  std::vector<std::string_view> names(uint16_t file) const;
};

/// Where an expression stands, for what it may name.
enum class Context { body, requirement, claim, extent, constant, function };

/// What an expression was found to be. Nothing: it is wrong, and that was said.
struct Found {
  std::optional<ast::Type> type;
  std::optional<int64_t> value;  // where the source alone decides it
};

/// What is known of a range: where it begins, and how many values it takes.
struct RangeFacts {
  std::optional<int64_t> low, count;
};

class ExpressionCheck {
 public:
  /// `locals` counts the integer and boolean variables of the algorithm or function.
  ExpressionCheck(const Functions &functions, Scope &scope, int &locals, Diag &diag)
      : functions_(functions), scope_(scope), locals_(locals), diag_(diag) {}

  /// Completes the expression. `algorithm` may be null (functions).
  Found check(ast::Expr &, Context, const ast::Algorithm *algorithm);

  /// The same, and it must be of `type`. `what` names it: "a peer".
  /// The value, where it is known.
  std::optional<int64_t> expect(ast::Expr &, ast::Type, std::string_view what, Context,
                                const ast::Algorithm *);

  /// Completes both bounds, not the condition.
  RangeFacts bounds(ast::Range &, Context, const ast::Algorithm *);

  /// Numbers and declares a variable that is a value.
  void local(ast::Variable &);

  /// Whether any expression so far asks where ranks are.
  bool asksForTopology() const { return asksForTopology_; }

 private:
  Found found(ast::Expr &);
  Found builtin(ast::Expr &, const BuiltinFunction &);
  void neighborsMayBeAsked(const ast::Expr &);
  Found member(ast::Expr &);
  Found name(ast::Expr &);
  Found call(ast::Expr &);
  Found unary(ast::Expr &);
  Found binary(ast::Expr &);
  Found conditional(ast::Expr &);
  Found fold(ast::Expr &);
  void sayUndeclared(const ast::Expr &);
  void checkConstantArguments(const ast::Expr &, const std::vector<Found> &);
  bool is(const Found &, ast::Type, const ast::Expr &, std::string_view what);
  std::optional<int64_t> compute(const ast::Expr &, int64_t left, int64_t right);

  const Functions &functions_;
  Scope &scope_;
  int &locals_;
  Diag &diag_;
  Context context_ = Context::body;
  const ast::Algorithm *algorithm_ = nullptr;
  bool asksForTopology_ = false;
};

/// me, P, root and the buffers: before anything is checked, as `run` names those of others.
void predefine(ast::Algorithm &);

/// Completes and checks one collective that is declared, before algorithms that are of it.
void checkOwnCollective(ast::OwnCollective &, const Functions &, Diag &);

/// Completes and checks one algorithm.
void checkAlgorithm(ast::Algorithm &, const Functions &, Diag &);

/// The body. `scope` holds what the head declares. `expressions` are those of the algorithm.
void checkBody(ast::Algorithm &, ExpressionCheck &expressions, Scope &scope, Diag &);

/// What a `run` in `caller` names of its callee: parameters, root, buffers; each once, none left
/// out.
void checkRunNames(ast::Statement &run, const ast::Algorithm &caller, Diag &);

/// "gather has no 'data'; its buffers are 'in' and 'out'"
void sayNoBuffer(const Collective &, Loc, std::string_view name, Diag &);

/// "1 block", "4 blocks".
std::string counted(int64_t count, std::string_view what);

}  // namespace nbcc
