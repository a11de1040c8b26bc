// SPDX-License-Identifier: BSD-3-Clause
// check_algorithm.cpp - the head of an algorithm: what is predefined, parameters, requires, claims.

#include "dsl/check.h"
#include "dsl/runs.h"

namespace nbcc {

using namespace ast;

void predefine(Algorithm &a) {
  const auto add = [&](Variable::What what, std::string_view name) {
    auto variable = std::make_unique<Variable>();
    variable->what = what;
    variable->name = name;
    if (what == Variable::What::buffer) variable->index = a.buffers++;
    a.predefined.push_back(std::move(variable));
  };
  const Collective c = collective(a);
  a.predefined.clear();
  a.buffers = a.locals = 0;
  add(Variable::What::rank, "me");
  add(Variable::What::ranks, "P");
  if (c.hasRoot()) add(Variable::What::root, "root");
  for (std::string_view buffer : {"in", "out", "data"})
    if (c.shape(buffer) != Shape::none) add(Variable::What::buffer, buffer);
}

void checkAlgorithm(Algorithm &a, const Functions &functions, Diag &diag) {
  const Collective kind = collective(a);
  Scope scope(diag);
  ExpressionCheck expressions(functions, scope, a.locals, diag);
  scope.enter();
  for (const auto &variable : a.predefined) scope.declare(*variable);
  for (Parameter &p : a.parameters) {
    if (p.initialExpr) {
      const int before = diag.errors();
      p.initial =
          expressions.expect(*p.initialExpr, Type::integer, "a parameter", Context::constant, &a);
      if (!p.initial && diag.errors() == before)
        diag.error(p.initialExpr->loc,
                   "the value of a parameter is written in numbers and + - * / mod xor");
    }
    scope.declare(*p.variable);
  }

  for (const ExprPtr &r : a.requirements)
    expressions.expect(*r, Type::boolean, "what is required", Context::requirement, &a);

  for (const Claim &c : a.claims) {
    const bool ofReductions =
        c.what == Claim::What::rank_order || c.what == Claim::What::bitwise_same;
    if (ofReductions && !kind.reduces)
      diag.error(c.loc, kind.name, " reduces nothing, so '", name(c.what), "' says nothing");
    if (c.what == Claim::What::any_lengths && !kind.hasBlocks())
      diag.error(c.loc, kind.name, " has no blocks, so '", name(c.what), "' says nothing");
    if (c.what == Claim::What::bitwise_same && kind.isPrefix())
      diag.error(c.loc, kind.name, " gives each rank another result, so '", name(c.what),
                 "' says nothing");
    if (!c.bound) continue;
    const std::optional<int64_t> bound =
        expressions.expect(*c.bound, Type::integer, "the bound of a claim", Context::claim, &a);
    if (bound && *bound < 0)
      diag.error(c.bound->loc, "no algorithm has ", *bound, " ", name(c.what));
  }

  checkBody(a, expressions, scope, diag);
  a.topology = expressions.asksForTopology() || (a.own && a.own->ensures.topology);
  forEachRun(a.body, [&](const Statement &run) { a.topology |= run.callee->topology; });
  scope.leave();
}

void checkOwnCollective(OwnCollective &own, const Functions &functions, Diag &diag) {
  Algorithm &ensures = own.ensures;
  predefine(ensures);
  Scope scope(diag);
  ExpressionCheck expressions(functions, scope, ensures.locals, diag);
  scope.enter();
  for (const auto &variable : ensures.predefined) scope.declare(*variable);
  for (OwnCollective::Buffer &b : own.buffers) {
    if (!b.extent) continue;
    b.size = expressions.expect(*b.extent, Type::integer, "how many blocks there are",
                                Context::extent, &ensures);
    if (b.size && *b.size < 0) {
      diag.error(b.extent->loc, "'", b.name, "' cannot have ", *b.size, " blocks");
      b.size.reset();
    }
  }
  if (expressions.asksForTopology())
    diag.error(own.loc, "how many blocks there are does not depend on where the ranks are");
  checkBody(ensures, expressions, scope, diag);
  ensures.topology = expressions.asksForTopology();
  scope.leave();
}

}  // namespace nbcc
