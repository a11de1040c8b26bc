// SPDX-License-Identifier: BSD-3-Clause
// parse.cpp - what sentences become: grouping, places, forms of loops, sections and clauses.

#include "dsl/parse.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "test/dsl/tree.h"

namespace nbcc {
namespace {

using namespace ast;

/// `let x = TEXT` as it is printed, with all brackets.
std::string grouped(const std::string &text) {
  std::ostringstream out, said;
  Diag diag(said);
  auto file = parseText("t.nbc", "allgather a { let x = " + text + "; }", diag);
  if (!file) return said.str();
  print(*file, out);
  const std::string printed = out.str();
  const size_t begin = printed.find("let x = ") + 8;
  return printed.substr(begin, printed.find('\n', begin) - begin);
}

TEST(Parse, OperatorsGroupByPrecedence) {
  EXPECT_EQ(grouped("1 - 2 - 3"), "((1 - 2) - 3)");
  EXPECT_EQ(grouped("a + b * c mod d"), "(a + ((b * c) mod d))");
  EXPECT_EQ(grouped("-a * b"), "((-a) * b)");
  EXPECT_EQ(grouped("- - a"), "(-(-a))");
  EXPECT_EQ(grouped("a xor b + c < d"), "((a xor (b + c)) < d)");
  EXPECT_EQ(grouped("not a < b and c"), "((not (a < b)) and c)");
  EXPECT_EQ(grouped("not not a"), "(not (not a))");
  EXPECT_EQ(grouped("a or b and c or d"), "((a or (b and c)) or d)");
  EXPECT_EQ(grouped("a / (b / c)"), "(a / (b / c))");
  EXPECT_EQ(grouped("if a then b else if c then d + 1 else e or f"),
            "(if a then b else (if c then (d + 1) else (e or f)))");
  EXPECT_EQ(grouped("if a then if b then c else d else e"),
            "(if a then (if b then c else d) else e)");
  EXPECT_EQ(grouped("f() + min(a, (b))"), "(f() + min(a, b))");
  EXPECT_EQ(
      grouped("fold s = a + 1 for i in 0 .. n - 1 if s < i : if s < b then c else s + i"),
      "(fold s = (a + 1) for i in 0 .. (n - 1) if (s < i) : (if (s < b) then c else (s + i)))");
  EXPECT_EQ(grouped("if a then b else fold s = 0 for i in 0 ..< n : s or b"),
            "(if a then b else (fold s = 0 for i in 0 ..< n : (s or b)))");
  EXPECT_EQ(grouped("1 + (fold s = fold t = 0 for j in 0 ..< n : t for i in 0 ..< n : s) * 2"),
            "(1 + ((fold s = (fold t = 0 for j in 0 ..< n : t) for i in 0 ..< n : s) * 2))");
}

TEST(Parse, PlacesCountFromOneAndInCharacters) {
  Outcome o = compile("/* ü */ allgather a {\n  let x =\n    1 + 2; }");
  ASSERT_TRUE(o.ok) << o.said;
  EXPECT_EQ(o.algorithm().loc, (Loc{1, 19, 0}));
  const Statement &let = *o.body().at(0);
  EXPECT_EQ(let.loc, (Loc{2, 3, 0}));
  EXPECT_EQ(let.variable->loc, (Loc{2, 7, 0}));
  EXPECT_EQ(let.value->loc, (Loc{3, 7, 0}));
  EXPECT_EQ(let.value->args[0]->loc, (Loc{3, 5, 0}));
}

TEST(Parse, EveryStatement) {
  Outcome o = compile(R"(reduce a {
    scratch t like in; scratch u[3] like in; scratch v[j in 0 ..< P] like u[j mod 3];
    split in into 4 as q; let n = P; copy in -> t; reduce t, in -> u[0];
    for i in 1 .. n if odd(i) { } for i in 0 ..< n { } for d = n; d > 0; d /= 2 { }
    if n > 1 { } else if n > 2 { } else { let z = 1; }
    round { send q[1] to 1 on port 2; recv t from 1; exchange in -> u[1 +: 1] with 1;
            signal 1; await 1; send v[{ j in 0 ..< P : odd(j) }] to 1; }
  })");
  ASSERT_TRUE(o.ok) << o.said;
  using enum Statement::What;
  const Block &b = o.body();
  const Statement::What expected[] = {scratch, scratch,   scratch,   split,    let, copy,
                                      reduce,  for_range, for_range, for_step, if_, round};
  ASSERT_EQ(b.size(), std::size(expected));
  for (size_t i = 0; i < b.size(); ++i) EXPECT_EQ(b[i]->what, expected[i]) << i;
  EXPECT_FALSE(b[0]->extent || b[0]->range);
  EXPECT_TRUE(b[1]->extent && !b[1]->range);
  EXPECT_TRUE(!b[2]->extent && b[2]->range && b[2]->element->name == "j");
  EXPECT_TRUE(b[6]->from->text == "t" && b[6]->with->text == "in" && b[6]->to->text == "u");
  EXPECT_TRUE(b[7]->range->inclusive && b[7]->range->condition);
  EXPECT_TRUE(!b[8]->range->inclusive && !b[8]->range->condition);
  EXPECT_EQ(b[9]->op, Operator::div);
  ASSERT_EQ(b[10]->otherwise.size(), 1u);
  EXPECT_EQ(b[10]->otherwise[0]->otherwise.at(0)->what, let);

  const Block &r = b[11]->body;
  const Statement::What operations[] = {send, recv, exchange, signal, await, send};
  ASSERT_EQ(r.size(), std::size(operations));
  for (size_t i = 0; i < r.size(); ++i) EXPECT_EQ(r[i]->what, operations[i]) << i;
  EXPECT_TRUE(r[0]->port && !r[1]->port);
  EXPECT_TRUE(r[0]->from && !r[0]->to && r[1]->to && !r[1]->from);
  EXPECT_EQ(r[2]->to->what, Section::What::range);
  EXPECT_EQ(r[5]->from->what, Section::What::set);
}

TEST(Parse, ClausesInAnyOrder) {
  Outcome o = compile(
      "allreduce a(k = 2, degree) claims rounds <= k, rank_order, sent == 1 requires P > 1, k < 9 "
      "{}");
  ASSERT_TRUE(o.ok) << o.said;
  const Algorithm &a = o.algorithm();
  EXPECT_EQ(a.kind, Kind::allreduce);
  EXPECT_EQ(a.requirements.size(), 2u);
  ASSERT_EQ(a.claims.size(), 3u);
  EXPECT_EQ(a.claims[0].op, Operator::le);
  EXPECT_EQ(a.claims[1].what, Claim::What::rank_order);
  EXPECT_FALSE(a.claims[1].bound);
  EXPECT_EQ(a.parameters.at(0).initial, 2);
  EXPECT_FALSE(a.parameters.at(1).initial);
}

TEST(Parse, KindsThatAreWordsOfTheLanguage) {
  EXPECT_TRUE(compile("reduce r { } reduce s { }").ok);
  EXPECT_TRUE(contains(compile("send s { }").said, "expected an algorithm"));
}

}  // namespace
}  // namespace nbcc
