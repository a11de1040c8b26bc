// SPDX-License-Identifier: BSD-3-Clause
// check.cpp - a file: its functions, those that are called before those that call; its algorithms.
//
//   fn f(x) = g(x) + 1;      fn g(x) = f(x);      =>      an error: f -> g -> f
//
// Functions call each other in any order of writing. Cost: linear in the tree.

#include "dsl/check.h"

#include <algorithm>

#include "dsl/parse.h"

namespace nbcc {

using namespace ast;

namespace {

Functions named(const File &file, Diag &diag) {
  Functions result;
  for (const auto &f : file.functions) {
    if (findBuiltin(f->name)) {
      diag.error(f->loc, "'", f->name, "' is built in and cannot be defined");
    } else if (comesLater(f->name)) {
      diag.error(f->loc, "'", f->name,
                 "' is kept for a later version of the language and cannot be a name");
    } else if (const auto [at, fresh] = result.byName.emplace(f->name, f.get()); !fresh) {
      diag.error(f->loc, "function '", f->name, "' is defined already");
      diag.note(at->second->loc, "here");
    }
  }
  return result;
}

void collectCalls(const Expr &e, const Functions &functions, std::vector<const Function *> &calls) {
  if (e.what == Expr::What::call)
    if (const Function *callee = functions.find(e.text)) calls.push_back(callee);
  for (const ExprPtr &argument : e.args) collectCalls(*argument, functions, calls);
}

/// Functions in an order in which each comes after those it calls. What is left
/// over calls itself, by whatever way, or calls what does; that is reported.
/// By counting, not by recursion: chains of calls may be long.
class CallOrder {
 public:
  CallOrder(const File &file, const Functions &functions) {
    for (const auto &f : file.functions) {
      std::vector<const Function *> &calls = calls_[f.get()];
      collectCalls(*f->body, functions, calls);
      std::ranges::sort(calls);
      const auto doubles = std::ranges::unique(calls);
      calls.erase(doubles.begin(), doubles.end());
      open_[f.get()] = calls.size();
      for (const Function *callee : calls) callers_[callee].push_back(f.get());
    }
    for (const auto &f : file.functions)
      if (open_[f.get()] == 0) order_.push_back(f.get());
    for (size_t i = 0; i < order_.size(); ++i)
      for (const Function *caller : callers_[order_[i]])
        if (--open_[caller] == 0) order_.push_back(caller);
  }

  const std::vector<const Function *> &order() const { return order_; }

  /// One error for each circle.
  void reportCircles(const File &file, Functions &functions, Diag &diag) const {
    std::unordered_map<const Function *, const Function *> walkOf;  // seen, and from where
    for (const auto &f : file.functions) {
      if (open_.at(f.get()) == 0) continue;
      functions.wrong.insert(f.get());
      const Function *at = f.get();
      while (!walkOf.contains(at)) {
        walkOf[at] = f.get();
        at = nextInCircle(at);
      }
      if (walkOf[at] == f.get()) report(at, diag);
    }
  }

 private:
  const Function *nextInCircle(const Function *f) const {
    return *std::ranges::find_if(calls_.at(f), [&](const Function *g) { return open_.at(g) > 0; });
  }

  void report(const Function *start, Diag &diag) const {
    std::string way = start->name;
    const Function *at = start;
    for (int shown = 0; shown == 0 || at != start; ++shown) {
      at = nextInCircle(at);
      if (shown < 8)
        way += " -> " + at->name;
      else if (shown == 8)
        way += " -> ...";
    }
    diag.error(start->loc, "a function cannot call itself: ", way);
  }

  std::unordered_map<const Function *, std::vector<const Function *>> calls_, callers_;
  std::unordered_map<const Function *, size_t> open_;  // called ones without a place in the order
  std::vector<const Function *> order_;
};

void checkFunction(Function &f, Functions &functions, Diag &diag) {
  Scope scope(diag);
  scope.enter();
  for (const auto &parameter : f.parameters) scope.declare(*parameter);
  const Found body =
      ExpressionCheck(functions, scope, diag).check(*f.body, Context::function, nullptr);
  if (body.type)
    f.type = *body.type;
  else
    functions.wrong.insert(&f);
  scope.leave();
}

}  // namespace

void check(File &file, Diag &diag) {
  Functions functions = named(file, diag);
  const CallOrder calls(file, functions);
  calls.reportCircles(file, functions, diag);
  std::unordered_map<const Function *, Function *> writable;
  for (const auto &f : file.functions) writable[f.get()] = f.get();
  for (const Function *f : calls.order()) checkFunction(*writable[f], functions, diag);

  if (file.algorithms.empty()) diag.error({1, 1, file.id}, "there is no algorithm in this file");
  std::unordered_map<std::string_view, Loc> seen;
  for (const auto &a : file.algorithms) {
    if (const auto [at, fresh] = seen.emplace(a->name, a->loc); !fresh) {
      diag.error(a->loc, "algorithm '", a->name, "' is defined already");
      diag.note(at->second, "here");
    }
    checkAlgorithm(*a, functions, diag);
  }
}

}  // namespace nbcc
