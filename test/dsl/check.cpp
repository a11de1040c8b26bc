// SPDX-License-Identifier: BSD-3-Clause
// check.cpp - what check() fills in, and that it refuses nothing that is right. What it refuses is
// in the *-errors tests beside this file.

#include <gtest/gtest.h>

#include <algorithm>

#include "dsl/collectives.h"
#include "test/dsl/tree.h"

namespace nbcc {
namespace {

using namespace ast;

std::string predefined(const std::string &kind) {
  Outcome o = compile(kind + " a { }");
  if (!o.ok) return o.said;
  std::string names;
  for (const auto &variable : o.algorithm().predefined) {
    names += variable->name;
    if (variable->what == Variable::What::buffer) names += std::to_string(variable->index);
    names += " ";
  }
  EXPECT_EQ(o.algorithm().buffers, std::ranges::count_if(o.algorithm().predefined, [](auto &v) {
              return v->what == Variable::What::buffer;
            }));
  return names;
}

TEST(Check, EachKindHasItsNames) {
  EXPECT_EQ(predefined("allgather"), "me P in0 out1 ");
  EXPECT_EQ(predefined("alltoall"), "me P in0 out1 ");
  EXPECT_EQ(predefined("allreduce"), "me P in0 out1 ");
  EXPECT_EQ(predefined("reduce"), "me P root in0 out1 ");
  EXPECT_EQ(predefined("bcast"), "me P root data0 ");
  EXPECT_EQ(predefined("gather"), "me P root in0 out1 ");
  EXPECT_EQ(predefined("scatter"), "me P root in0 out1 ");
  EXPECT_EQ(predefined("barrier"), "me P ");
}

TEST(Check, TablesFollowTheirDefinitions) {
  for (const Collective &c : collectives()) {
    EXPECT_EQ(findCollective(c.name), &c);
    EXPECT_EQ(&collective(c.kind), &c);
    EXPECT_EQ(name(c.kind), c.name);
  }
  EXPECT_TRUE(collective(Kind::reduce).reduces && !collective(Kind::gather).reduces);
  EXPECT_FALSE(collective(Kind::alltoall).hasRoot());
  EXPECT_EQ(findCollective("nothing"), nullptr);
  EXPECT_EQ(findBuiltin("digit")->arguments, "iii");
}

TEST(Check, LocalsAndBuffersAreNumbered) {
  Outcome o = compileBody(R"(
    scratch t[j in 0 ..< P] like out[j];
    let x = 1;
    for i in 0 ..< P { let y = i; split in into 2 as half; }
    for i in 0 ..< P { copy out[{ r in 0 ..< P : odd(r) }] -> t; }
  )");
  ASSERT_TRUE(o.ok) << o.said;
  const Algorithm &a = o.algorithm();
  EXPECT_EQ(a.locals, 6);   // j x i y i r
  EXPECT_EQ(a.buffers, 4);  // in out t half
  EXPECT_EQ(a.body[0]->element->index, 0);
  EXPECT_EQ(a.body[0]->variable->index, 2);
  EXPECT_EQ(a.body[1]->variable->index, 1);
  EXPECT_EQ(a.body[2]->body[1]->variable->index, 3);
  EXPECT_EQ(a.body[3]->variable->index, 4);
  EXPECT_EQ(a.body[3]->body[0]->from->variable->index, 5);
}

TEST(Check, ExpressionsAreResolvedAndTyped) {
  Outcome o = compile(R"(
    fn isOdd(v) = odd(v);
    gather a(k) { let b = isOdd(me + k) or root == P; let n = if b then k else 1; })");
  ASSERT_TRUE(o.ok) << o.said;
  const Statement &b = *o.body()[0], &n = *o.body()[1];
  EXPECT_EQ(b.variable->type, Type::boolean);
  EXPECT_EQ(n.variable->type, Type::integer);
  const Expr &call = *b.value->args[0];
  EXPECT_EQ(call.what, Expr::What::call);
  EXPECT_EQ(call.function, o.file->functions[0].get());
  EXPECT_EQ(call.type, Type::boolean);
  EXPECT_EQ(o.file->functions[0]->body->what, Expr::What::builtin);
  EXPECT_EQ(o.file->functions[0]->type, Type::boolean);
  EXPECT_EQ(n.value->args[0]->variable, b.variable.get());
  EXPECT_EQ(n.value->args[1]->variable->what, Variable::What::parameter);
  EXPECT_EQ(n.value->args[1]->variable->index, 0);
}

TEST(Check, ParametersAreConstants) {
  Outcome o = compile("allgather a(k = 7 mod 4 - 5 / 2 * 3, m = -7 / 2, n = 6 xor 3) { }");
  ASSERT_TRUE(o.ok) << o.said;
  EXPECT_EQ(o.algorithm().parameters[0].initial, -3);
  EXPECT_EQ(o.algorithm().parameters[1].initial, -4);  // rounds down
  EXPECT_EQ(o.algorithm().parameters[2].initial, 5);
}

TEST(Check, RefusesNothingThatIsRight) {
  for (const char *body : {
           "for i in 1 ..< 1 { }",                          // empty, and so it may be
           "for i in 0 .. P - 1 { } for i in 0 ..< P { }",  // a name again, side by side
           "for d = 0; d < P; d += 1 { }",                  // from 0, by addition
           "for d = P; d > 1; d /= 2 { } for e = P; e > 0; e -= 3 { }",
           "let min = min(1, 2); let bit = min;",  // functions are names of their own
           "scratch t[4] like in; copy t[4 +: 0] -> t[0 +: 0];",  // nothing, at the end
           "copy in[0] -> out[me]; split in into P as s; copy s[1] -> s[2 - 2 +: 1];",
           "let data = 1; let root = 2;",  // not a name of allgather
           "round { }",
           "if false and 1 < 2 { } let x = true;",
           "let a = fold s = 1 for i in 0 ..< P if s < 5 : s * i;"  // names again, side by side
           "let b = fold s = false for i in a .. 0 : s or i == a; if b { } let s = 1; let i = s;",
           "for i in 0 ..< fold s = 0 for j in 0 ..< 3 : s + j if i > 1 { }",
       }) {
    Outcome o = compileBody(body);
    if (std::string_view(body).starts_with("copy in[0]"))  // but for the write to a part of `in`
      EXPECT_EQ(o.errors, 1) << o.said;
    else
      EXPECT_TRUE(o.ok) << body << "\n" << o.said;
  }
}

TEST(Check, FoldsAreNumberedWhereTheyStand) {
  Outcome o = compile(
      "fn f(x) = fold s = x for i in 0 ..< (fold t = 0 for j in 0 ..< 2 : t) : s + i;\n"
      "fn g(x) = x;\n"
      "allgather a requires fold s = true for i in 1 .. P : s { for k in 0 .. 1 { let x = k; } }");
  ASSERT_TRUE(o.ok) << o.said;
  EXPECT_EQ(o.file->functions[0]->locals, 4);
  EXPECT_EQ(o.file->functions[1]->locals, 0);
  EXPECT_EQ(o.algorithm().locals, 4);
  const Fold &fold = *o.algorithm().requirements[0]->fold;
  EXPECT_EQ(fold.state->index, 0);
  EXPECT_EQ(fold.state->type, Type::boolean);
  EXPECT_EQ(fold.element->index, 1);
  EXPECT_EQ(fold.element->type, Type::integer);
}

TEST(Check, OneMistakeIsOneError) {
  EXPECT_EQ(
      compileBody("let a = x + 1; let b = a; let c = not (a < b); copy in -> out[c2];").errors, 2);
  EXPECT_EQ(compileBody("let a = true + 1; let b = a * 2;").errors, 1);
  EXPECT_EQ(compileBody("let a = f(x); if a { } copy y[x] -> out[me];").errors, 4);
  EXPECT_EQ(compileBody("let a = fold s = x for i in 0 ..< P : s + 1; let b = a + 1;").errors, 1);
  EXPECT_EQ(compileBody("let a = fold s = 0 for i in 0 ..< P : s + y; let b = a + 1;").errors, 1);
}

TEST(Check, ImportedFunctionsMayBeCalledTheirAlgorithmsAreNotThere) {
  std::ostringstream said;
  Diag diag(said);
  auto file = parseText(NBCC_SOURCE_DIR "/test/dsl/here.nbc",
                        "import \"Inputs/tree.nbc\"; barrier b { let x = parent(me, 2); }", diag);
  ASSERT_TRUE(file) << said.str();
  check(*file, diag);
  EXPECT_TRUE(diag.ok()) << said.str();
  EXPECT_EQ(file->algorithms.size(), 1u);
  EXPECT_EQ(file->functions.size(), 2u);
  EXPECT_EQ(file->functions[0]->name, "one");  // depth first
}

}  // namespace
}  // namespace nbcc
