// SPDX-License-Identifier: BSD-3-Clause
// check_expression.cpp - names, types, calls, and what is wrong whatever the ranks are.
//
//   n / 0, pow(2, -1), 1 + true      =>      errors
//
// Values are followed through operators on numbers as written, so that what can never work is said
// before anything runs. Not through names: what stands under an `if` may be there for another
// value.

#include <cassert>

#include "dsl/check.h"
#include "dsl/suggest.h"

namespace nbcc {

using namespace ast;

std::string counted(int64_t count, std::string_view what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

namespace {

std::string_view article(Type type) {
  switch (type) {
    case Type::integer:
      return "an integer";
    case Type::boolean:
      return "a boolean";
    case Type::group:
      return "a group";
  }
  return "?";
}

}  // namespace

Function *Functions::find(std::string_view name, uint16_t file) const {
  const auto seen = sees.find(file);
  if (seen == sees.end()) return nullptr;
  for (uint16_t other : seen->second)
    if (const auto there = byFile.find(other); there != byFile.end())
      if (const auto found = there->second.find(name); found != there->second.end())
        return found->second;
  return nullptr;
}

std::vector<std::string_view> Functions::names(uint16_t file) const {
  std::vector<std::string_view> result;
  const auto seen = sees.find(file);
  if (seen == sees.end()) return result;
  for (uint16_t other : seen->second)
    if (const auto there = byFile.find(other); there != byFile.end())
      for (const auto &[name, unused] : there->second) result.push_back(name);
  return result;
}

Found ExpressionCheck::check(Expr &e, Context context, const Algorithm *algorithm) {
  context_ = context;
  algorithm_ = algorithm;
  return found(e);
}

std::optional<int64_t> ExpressionCheck::expect(Expr &e, Type type, std::string_view what,
                                               Context context, const Algorithm *algorithm) {
  const Found result = check(e, context, algorithm);
  return is(result, type, e, what) ? result.value : std::nullopt;
}

bool ExpressionCheck::is(const Found &found, Type type, const Expr &e, std::string_view what) {
  if (!found.type) return false;
  if (*found.type == type) return true;
  diag_.error(e.loc, what, " must be ", article(type), ", this is ", article(*found.type));
  return false;
}

Found ExpressionCheck::found(Expr &e) {
  Found result;
  switch (e.what) {
    case Expr::What::integer:
      result = {Type::integer, e.value};
      break;
    case Expr::What::boolean:
      result = {Type::boolean, {}};
      break;
    case Expr::What::name:
      result = name(e);
      break;
    case Expr::What::unary:
      result = unary(e);
      break;
    case Expr::What::binary:
      result = binary(e);
      break;
    case Expr::What::conditional:
      result = conditional(e);
      break;
    case Expr::What::builtin:
    case Expr::What::call:
      result = call(e);
      break;
    case Expr::What::member:
      result = member(e);
      break;
    case Expr::What::fold:
      result = fold(e);
      break;
  }
  if (result.type) e.type = *result.type;
  return result;
}

Found ExpressionCheck::name(Expr &e) {
  if (context_ == Context::constant) {
    diag_.error(e.loc, "the value of a parameter is written in numbers; '", e.text, "' is a name");
    return {};
  }
  const Variable *variable = scope_.find(e.text);
  if (!variable) {
    if (const BuiltinFunction *known = findBuiltin(e.text); known && known->arguments.empty())
      return builtin(e, *known);
    sayUndeclared(e);
    return {};
  }
  using What = Variable::What;
  if (variable->what == What::buffer) {
    diag_.error(e.loc, "'", e.text, "' is a buffer, not a value");
    return {};
  }
  const bool byRank = variable->what == What::rank;
  if (context_ == Context::requirement && (byRank || variable->what == What::root)) {
    diag_.error(e.loc, "'requires' speaks of P and the parameters; '", e.text,
                "' is not known when an algorithm is chosen");
    return {};
  }
  if (context_ == Context::extent && (byRank || variable->what == What::root)) {
    diag_.error(e.loc, "how many blocks there are depends on P alone, not on '", e.text, "'");
    return {};
  }
  if (context_ == Context::claim && byRank) {
    diag_.error(e.loc, "a claim holds for all ranks together; it cannot speak of 'me'");
    return {};
  }
  e.variable = variable;
  if (scope_.isWrong(*variable)) return {};
  return {variable->type, {}};
}

void ExpressionCheck::sayUndeclared(const Expr &e) {
  if (context_ == Context::function)
    diag_.error(e.loc, "'", e.text,
                "' is not a parameter of this function, and it sees nothing else");
  else if (e.text == "root" && algorithm_)
    diag_.error(e.loc, algorithm_->kindName, " has no root");
  else if (functions_.find(e.text, e.loc.file) || findBuiltin(e.text))
    diag_.error(e.loc, "'", e.text, "' is a function: ", e.text, "(...)");
  else
    diag_.error(e.loc, "'", e.text, "' is not declared",
                diag_.errors() < Diag::kMost ? didYouMean(e.text, scope_.names()) : "");
}

Found ExpressionCheck::call(Expr &e) {
  if (const BuiltinFunction *known = findBuiltin(e.text)) return builtin(e, *known);

  for (size_t i = 0; i < e.args.size(); ++i)
    is(found(*e.args[i]), Type::integer, *e.args[i], cat("argument ", i + 1, " of '", e.text, "'"));
  e.function = functions_.find(e.text, e.loc.file);
  if (!e.function) {
    std::vector<std::string_view> known;
    if (diag_.errors() < Diag::kMost) {
      known = functions_.names(e.loc.file);
      for (const BuiltinFunction &b : builtins()) known.push_back(b.name);
    }
    diag_.error(e.loc, "there is no function '", e.text, "'", didYouMean(e.text, known));
    return {};
  }
  asksForTopology_ |= functions_.askForTopology.contains(e.function);
  if (const size_t wanted = e.function->parameters.size(); e.args.size() != wanted) {
    diag_.error(e.loc, "'", e.text, "' takes ", counted(static_cast<int64_t>(wanted), "argument"),
                ", not ", e.args.size());
    diag_.note(e.function->loc, "here");
  }
  if (functions_.wrong.contains(e.function)) return {};
  return {e.function->type, {}};
}

Found ExpressionCheck::builtin(Expr &e, const BuiltinFunction &builtin) {
  const bool brackets = e.what == Expr::What::call;
  e.what = Expr::What::builtin;
  e.builtin = builtin.builtin;
  asksForTopology_ |= nbcc::asksForTopology(builtin.builtin);
  if (asksForNeighbors(builtin.builtin)) neighborsMayBeAsked(e);

  std::vector<Found> arguments;
  for (size_t i = 0; i < e.args.size(); ++i) {
    arguments.push_back(found(*e.args[i]));
    const bool group = i < builtin.arguments.size() && builtin.arguments[i] == 'g';
    is(arguments.back(), group ? Type::group : Type::integer, *e.args[i],
       cat("argument ", i + 1, " of '", e.text, "'"));
  }
  const size_t wanted = builtin.arguments.size();
  if (wanted == 0 && brackets)
    diag_.error(e.loc, "'", e.text, "' takes no arguments and is written without brackets");
  else if (e.args.size() != wanted)
    diag_.error(e.loc, "'", e.text, "' takes ", counted(static_cast<int64_t>(wanted), "argument"),
                ", not ", e.args.size());
  else
    checkConstantArguments(e, arguments);
  return {builtin.result, {}};
}

/// They are one rank's, and of kinds that have a graph.
void ExpressionCheck::neighborsMayBeAsked(const Expr &e) {
  if (context_ == Context::function)
    diag_.error(e.loc, "'", e.text, "' is of one rank; a function sees nothing but its parameters");
  else if (context_ == Context::requirement)
    diag_.error(e.loc, "'requires' speaks of P and the parameters; '", e.text,
                "' is not known when an algorithm is chosen");
  else if (context_ == Context::claim)
    diag_.error(e.loc, "a claim holds for all ranks together; '", e.text, "' is of one");
  else if (algorithm_ && !collective(*algorithm_).hasGraph())
    diag_.error(e.loc, "in ", algorithm_->kindName, " ranks have no neighbours; '", e.text,
                "' is for neighbor_allgather and neighbor_alltoall");
}

/// g[i]
Found ExpressionCheck::member(Expr &e) {
  const Variable *variable = scope_.find(e.text);
  if (context_ == Context::body && variable && variable->what == Variable::What::buffer) {
    diag_.error(e.loc, "'", e.text, "' is a buffer, not a group; its elements are no values");
    found(*e.args[1]);
    return {};
  }
  is(found(*e.args[0]), Type::group, *e.args[0], cat("'", e.text, "' before '['"));
  const Found index = found(*e.args[1]);
  if (is(index, Type::integer, *e.args[1], "an index") && index.value && *index.value < 0)
    diag_.error(e.args[1]->loc, "the members of a group are numbered from 0, this is ",
                *index.value);
  return {Type::integer, {}};
}

void ExpressionCheck::checkConstantArguments(const Expr &e, const std::vector<Found> &arguments) {
  const auto least = [&](size_t argument, int64_t low, std::string_view what) {
    const std::optional<int64_t> value = arguments[argument].value;
    if (value && *value < low)
      diag_.error(e.args[argument]->loc, what, " of ", e.text, "() must be ", low,
                  " or more, this is ", *value);
  };
  switch (e.builtin) {
    case Builtin::bit:
      least(1, 0, "the index");
      if (const auto index = arguments[1].value; index && *index > 63)
        diag_.error(e.args[1]->loc, "an integer has bits 0..63, this is ", *index);
      break;
    case Builtin::digit:
      least(1, 2, "the base");
      least(2, 0, "the index");
      break;
    case Builtin::floor_log:
    case Builtin::ceil_log:
      least(0, 2, "the base");
      least(1, 1, "the argument");
      break;
    case Builtin::pow:
      least(1, 0, "the exponent");
      break;
    case Builtin::even:
    case Builtin::odd:
    case Builtin::min:
    case Builtin::max:
    case Builtin::size:
    case Builtin::rank_in:
    case Builtin::nodes:
      break;
    case Builtin::node_of:
    case Builtin::first_on_node:
    case Builtin::local_rank:
      least(0, 0, "the rank");
      break;
    case Builtin::ranks_on:
      least(0, 0, "the node");
      break;
    case Builtin::indegree:
    case Builtin::outdegree:
      break;
    case Builtin::source:
    case Builtin::destination:
    case Builtin::source_slot:
    case Builtin::arrival:
      least(0, 0, "the slot");
      break;
  }
}

Found ExpressionCheck::unary(Expr &e) {
  const Type type = e.op == Operator::negate ? Type::integer : Type::boolean;
  const Found operand = found(*e.args[0]);
  is(operand, type, *e.args[0], cat("the operand of '", spelling(e.op), "'"));
  // The smallest integer cannot be written: its negative is too large a number.
  if (e.op == Operator::negate && operand.value) return {type, -*operand.value};
  return {type, {}};
}

Found ExpressionCheck::binary(Expr &e) {
  const bool logical = e.op == Operator::logical_and || e.op == Operator::logical_or;
  const bool arithmetic = e.op <= Operator::bit_xor;
  const Type operand = logical ? Type::boolean : Type::integer;
  const Found left = found(*e.args[0]), right = found(*e.args[1]);
  const std::string quoted = cat("'", spelling(e.op), "'");
  is(left, operand, *e.args[0], cat("the left side of ", quoted));
  is(right, operand, *e.args[1], cat("the right side of ", quoted));
  if (!arithmetic) return {Type::boolean, {}};

  if (right.value == 0 && e.op == Operator::div)
    diag_.error(e.loc, "division by zero");
  else if (right.value <= 0 && right.value && e.op == Operator::mod)
    diag_.error(e.loc, "'mod' takes a positive number on its right, not ", *right.value);
  else if (left.value && right.value)
    return {Type::integer, compute(e, *left.value, *right.value)};
  return {Type::integer, {}};
}

/// The same arithmetic as lowered code has, on numbers as written.
std::optional<int64_t> ExpressionCheck::compute(const Expr &e, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflow = false;
  switch (e.op) {
    case Operator::add:
      overflow = __builtin_add_overflow(left, right, &result);
      break;
    case Operator::sub:
      overflow = __builtin_sub_overflow(left, right, &result);
      break;
    case Operator::mul:
      overflow = __builtin_mul_overflow(left, right, &result);
      break;
    case Operator::div:  // rounds down
      overflow = right == -1 && left == INT64_MIN;
      if (!overflow) result = left / right - (left % right != 0 && (left < 0) != (right < 0));
      break;
    case Operator::mod:
      result = left % right + (left % right < 0 ? right : 0);
      break;
    case Operator::bit_xor:
      result = left ^ right;
      break;
    default:
      assert(!"arithmetic only");
      break;
  }
  if (!overflow) return result;
  diag_.error(e.loc, left, " ", spelling(e.op), " ", right, " does not fit in 64 bits");
  return {};
}

Found ExpressionCheck::conditional(Expr &e) {
  is(found(*e.args[0]), Type::boolean, *e.args[0], "the condition");
  const Found yes = found(*e.args[1]), no = found(*e.args[2]);
  if (!yes.type || !no.type) return {};
  if (yes.type == Type::group || no.type == Type::group) {
    diag_.error(e.loc, "'then' and 'else' give integers or booleans, not groups");
    return {};
  }
  if (*yes.type == *no.type) return {yes.type, {}};
  diag_.error(e.loc, "'then' gives ", article(*yes.type), ", 'else' gives ", article(*no.type));
  return {};
}

RangeFacts ExpressionCheck::bounds(Range &r, Context context, const Algorithm *algorithm) {
  const std::optional<int64_t> low = expect(*r.low, Type::integer, "a bound", context, algorithm);
  const std::optional<int64_t> high = expect(*r.high, Type::integer, "a bound", context, algorithm);
  if (!low || !high) return {low, {}};
  if (*low > *high) {
    diag_.error(r.loc, "nothing is in ", *low, r.inclusive ? " .. " : " ..< ", *high);
    return {low, {}};
  }
  int64_t count = 0;
  if (__builtin_sub_overflow(*high, *low, &count)) return {low, {}};
  return {low, count + (r.inclusive && count < INT64_MAX)};
}

void ExpressionCheck::local(Variable &variable) {
  variable.index = locals_++;
  scope_.declare(variable);
}

/// Its value is not followed: the state stands for another one in each turn.
Found ExpressionCheck::fold(Expr &e) {
  Fold &fold = *e.fold;
  const Found start = found(*e.args[0]);
  const bool isGroup = start.type == Type::group;
  if (isGroup)
    diag_.error(e.args[0]->loc, "'fold' starts with an integer or a boolean, this is a group");
  bounds(fold.range, context_, algorithm_);

  scope_.enter();
  if (start.type && !isGroup) fold.state->type = *start.type;
  local(*fold.state);
  if (!start.type || isGroup) scope_.setWrong(*fold.state);
  local(*fold.element);
  if (fold.range.condition)
    is(found(*fold.range.condition), Type::boolean, *fold.range.condition, "the condition");
  const Found next = found(*e.args[1]);
  scope_.leave();

  if (!start.type || isGroup || !next.type) return {};
  if (*next.type != *start.type) {
    diag_.error(e.args[1]->loc, "'", fold.state->name, "' starts as ", article(*start.type),
                ", what follows is ", article(*next.type));
    return {};
  }
  return {start.type, {}};
}

}  // namespace nbcc
