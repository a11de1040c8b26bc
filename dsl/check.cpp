// SPDX-License-Identifier: BSD-3-Clause
// check.cpp - a file: its functions and algorithms, those that are called before those that call.
//
//   fn f(x) = g(x) + 1;      fn g(x) = f(x);      =>      an error: f -> g -> f
//
// They call each other in any order of writing. Cost: linear in the tree.

#include "dsl/check.h"

#include <algorithm>
#include <iterator>

#include "dsl/call_order.h"
#include "dsl/parse.h"
#include "dsl/runs.h"

namespace nbcc {

using namespace ast;

namespace {

/// Functions by their names, file by file. One that two files define is reported where both are
/// seen.
Functions named(const File &file, Diag &diag) {
  Functions result;
  for (const auto &f : file.functions) {
    if (findBuiltin(f->name)) {
      diag.error(f->loc, "'", f->name, "' is built in and cannot be defined");
    } else if (const auto [at, fresh] = result.byFile[f->loc.file].emplace(f->name, f.get());
               !fresh) {
      diag.error(f->loc, "function '", f->name, "' is defined already");
      diag.note(at->second->loc, "here");
    }
  }
  for (const Source &source : file.sources) {
    std::unordered_map<std::string_view, const Function *> all;
    const std::unordered_set<uint16_t> sees(source.sees.begin(), source.sees.end());
    for (const auto &f : file.functions) {
      if (!sees.contains(f->loc.file)) continue;
      const auto [at, fresh] = all.emplace(f->name, f.get());
      if (fresh || at->second->loc.file == f->loc.file) continue;
      diag.error(f->loc, "function '", f->name, "' is defined already");
      diag.note(at->second->loc, "here");
    }
    result.sees[source.id] = source.sees;
  }
  return result;
}

void collectCalls(const Expr &e, const Functions &functions, std::vector<Function *> &calls) {
  if (e.what == Expr::What::call)
    if (Function *callee = functions.find(e.text, e.loc.file)) calls.push_back(callee);
  for (const ExprPtr &argument : e.args) collectCalls(*argument, functions, calls);
  if (!e.fold) return;
  for (const ExprPtr *part : {&e.fold->range.low, &e.fold->range.high, &e.fold->range.condition})
    if (*part) collectCalls(**part, functions, calls);
}

void checkFunction(Function &f, Functions &functions, Diag &diag) {
  Scope scope(diag);
  scope.enter();
  for (const auto &parameter : f.parameters) scope.declare(*parameter);
  ExpressionCheck expressions(functions, scope, f.locals, diag);
  const Found body = expressions.check(*f.body, Context::function, nullptr);
  if (body.type == Type::group)
    diag.error(f.body->loc, "a function gives an integer or a boolean, this is a group");
  if (body.type && body.type != Type::group)
    f.type = *body.type;
  else
    functions.wrong.insert(&f);
  if (expressions.asksForTopology()) functions.askForTopology.insert(&f);
  scope.leave();
}

void checkFunctions(File &file, Functions &functions, Diag &diag) {
  CallOrder<Function> calls;
  for (const auto &f : file.functions) {
    std::vector<Function *> called;
    collectCalls(*f->body, functions, called);
    calls.add(f.get(), std::move(called));
  }
  const std::vector<Function *> order = calls.order();
  for (const auto &f : file.functions)
    if (calls.leftOver(f.get())) functions.wrong.insert(f.get());
  for (Function *f : calls.circles())
    diag.error(f->loc, "a function cannot call itself: ", calls.way(f, [](const Function &g) {
      return g.name;
    }));
  for (Function *f : order) checkFunction(*f, functions, diag);
}

/// Those that are run before those that run them: what a callee asks for, its callers do.
void checkAlgorithms(File &file, const Functions &functions, Diag &diag) {
  std::vector<Algorithm *> all;
  for (const auto &a : file.algorithms) all.push_back(a.get());
  for (const auto &a : file.called) all.push_back(a.get());

  std::unordered_map<const Algorithm *, Algorithm *> writable;
  for (Algorithm *a : all) {
    predefine(*a);
    writable[a] = a;
  }
  CallOrder<Algorithm> runs;
  for (Algorithm *a : all) {
    std::vector<Algorithm *> callees;
    forEachRun(a->body, [&](const Statement &run) { callees.push_back(writable.at(run.callee)); });
    runs.add(a, std::move(callees));
  }
  std::vector<Algorithm *> order = runs.order();
  for (Algorithm *a : runs.circles())
    diag.error(a->loc, "an algorithm cannot run itself: ", runs.way(a, fullName));
  std::ranges::copy_if(all, std::back_inserter(order),
                       [&](Algorithm *a) { return runs.leftOver(a); });

  for (Algorithm *a : order) checkAlgorithm(*a, functions, diag);
}

}  // namespace

void check(File &file, Diag &diag) {
  Functions functions = named(file, diag);
  checkFunctions(file, functions, diag);

  for (const auto &c : file.collectives) checkOwnCollective(*c, functions, diag);
  checkAlgorithms(file, functions, diag);
  if (file.algorithms.empty()) diag.error({1, 1, file.id}, "there is no algorithm in this file");
  std::unordered_map<std::string_view, Loc> seen;
  for (const auto &a : file.algorithms) {
    if (const auto [at, fresh] = seen.emplace(a->name, a->loc); !fresh) {
      diag.error(a->loc, "algorithm '", a->name, "' is defined already");
      diag.note(at->second, "here");
    }
  }
}

}  // namespace nbcc
