// SPDX-License-Identifier: BSD-3-Clause
// check_run.cpp - `run`: do the names that it gives values to fit those of the algorithm that it
// runs?
//
//   run gather.linear(rot = 0) with out = out;      =>      errors: gather.linear has no 'rot',
//                                                           nothing is bound to 'in'
//
// Linear in what is given, times what the callee has, which is little.

#include <algorithm>

#include "dsl/check.h"
#include "dsl/suggest.h"

namespace nbcc {

using namespace ast;

void sayNoBuffer(const Collective &c, Loc at, std::string_view buffer, Diag &diag) {
  if (buffer != "in" && buffer != "out" && buffer != "data") {
    diag.error(at, "there is no buffer '", buffer, "'");
  } else if (c.data != Shape::none) {
    diag.error(at, c.name, " has no '", buffer, "'; its buffer is 'data'");
  } else if (c.in == Shape::none && c.out != Shape::none) {
    diag.error(at, c.name, " has no '", buffer, "'; its buffer is 'out'");
  } else if (c.in != Shape::none) {
    diag.error(at, c.name, " has no '", buffer, "'; its buffers are 'in' and 'out'");
  } else {
    diag.error(at, c.name, " has no buffers");
  }
}

namespace {

/// Reports the second of two that give a value to one name.
template <class Given>
void refuseDoubles(const std::vector<Given> &given, std::string_view verb, Diag &diag) {
  for (size_t i = 0; i < given.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (given[k].name == given[i].name) {
        diag.error(given[i].loc, "'", given[i].name, "' is ", verb, " already");
        diag.note(given[k].loc, "here");
        break;
      }
}

template <class Given>
bool has(const std::vector<Given> &given, std::string_view name) {
  return std::ranges::any_of(given, [&](const Given &g) { return g.name == name; });
}

class RunCheck {
 public:
  RunCheck(Statement &run, Diag &diag)
      : run_(run),
        callee_(*run.callee),
        kind_(collective(callee_)),
        title_(cat(run.kind, ".", run.text)),
        diag_(diag) {}

  void arguments() {
    std::vector<std::string_view> known;
    for (const Parameter &p : callee_.parameters) known.push_back(p.variable->name);
    if (kind_.hasRoot()) known.push_back("root");
    for (const Argument &a : run_.arguments) {
      if (std::ranges::find(known, a.name) != known.end()) continue;
      if (a.name == "root")
        diag_.error(a.loc, kind_.name, " has no root");
      else
        diag_.error(a.loc, "'", title_, "' has no parameter '", a.name, "'",
                    didYouMean(a.name, known));
    }
    refuseDoubles(run_.arguments, "given", diag_);

    if (kind_.hasRoot() && !has(run_.arguments, "root"))
      diag_.error(run_.loc, kind_.name, " needs a root: run ", title_, "(root = ...)");
    for (const Parameter &p : callee_.parameters) {
      if (p.initialExpr || has(run_.arguments, p.variable->name)) continue;
      diag_.error(run_.loc, "'", title_, "' needs '", p.variable->name,
                  "', which has no value of its own");
      diag_.note(p.variable->loc, "here");
    }
  }

  void bindings() {
    for (Binding &b : run_.bindings) {
      const Shape shape = kind_.shape(b.name);
      if (shape == Shape::none)
        sayNoBuffer(kind_, b.loc, b.name, diag_);
      else if (b.element && !isRow(shape))
        diag_.error(b.loc, "'", b.name, "' of ", kind_.name, " is one ",
                    shape == Shape::vector ? "vector" : "block", ", bound as a whole: ", b.name,
                    " = ...");
      for (const auto &variable : callee_.predefined)
        if (variable->what == Variable::What::buffer && variable->name == b.name)
          b.buffer = variable.get();
    }
    refuseDoubles(run_.bindings, "bound", diag_);

    for (const auto &variable : callee_.predefined)
      if (variable->what == Variable::What::buffer && !has(run_.bindings, variable->name))
        diag_.error(run_.loc, "nothing is bound to '", variable->name, "' of ", kind_.name,
                    ": with ", variable->name, " = ...");
  }

 private:
  Statement &run_;
  const Algorithm &callee_;
  const Collective kind_;
  std::string title_;
  Diag &diag_;
};

}  // namespace

void checkRunNames(Statement &run, const Algorithm &caller, Diag &diag) {
  const Collective callee = collective(*run.callee);
  if (callee.reduces && !collective(caller).reduces)
    diag.error(run.loc, caller.kindName, " has no operator to reduce with, which ", run.kind,
               " needs");
  if (callee.hasGraph() && !collective(caller).hasGraph())
    diag.error(run.loc, "in ", caller.kindName, " ranks have no neighbours, which ", run.kind,
               " needs");
  else if (callee.hasGraph() && run.value)
    diag.error(run.value->loc, "a group has no neighbours; ", run.kind,
               " runs among all ranks: leave out 'among'");
  RunCheck check(run, diag);
  check.arguments();
  check.bindings();
}

}  // namespace nbcc
