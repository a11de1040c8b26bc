// SPDX-License-Identifier: BSD-3-Clause
// fold.cpp - what a fold gives, wherever an expression may stand, and how it is refused.

#include "program.h"

namespace nbcc {
namespace {

/// `e` over x and y, as the bound of a claim.
std::optional<int64_t> value(const std::string &e, int64_t x = 0, int64_t y = 0) {
  Program p("barrier b(x, y)\nclaims rounds ==\n" + e + "\n{ }");
  if (!p.ok()) return std::nullopt;
  auto values = p.elaborator().claims(p.algorithm(), {.parameters = {x, y}});
  return values ? std::optional(values->at(0).bound) : std::nullopt;
}

TEST(Fold, handsTheStateFromTurnToTurn) {
  EXPECT_EQ(value("fold s = 7 for i in x ..< y : s * 10 + i", 1, 4), 7123);
  EXPECT_EQ(value("fold s = 7 for i in x .. y : s * 10 + i", 1, 4), 71234);
  EXPECT_EQ(value("fold s = 7 for i in x .. y : s * 10 + i", 4, 4), 74);
  EXPECT_EQ(value("fold s = 7 for i in x ..< y : s * 10 + i", 4, 4), 7);
  EXPECT_EQ(value("fold s = 7 for i in x .. y : s * 10 + i", 4, 3), 7);
  EXPECT_EQ(value("fold s = 0 for i in x .. y : i", INT64_MAX - 2, INT64_MAX), INT64_MAX);
}

TEST(Fold, keepsTheStateWhereTheConditionSaysNo) {
  EXPECT_EQ(value("fold s = 0 for i in 0 .. 9 if odd(i) : s * 10 + i"), 13579);
  EXPECT_EQ(value("fold s = 5 for i in 0 .. 9 if i > x : s + 1", 100), 5);
  EXPECT_EQ(value("fold found = -1 for i in x .. 99 if found < 0 and i mod y == 0 : i", 22, 7), 28);
  // Conditions and states that are more than one block.
  EXPECT_EQ(value("fold s = 0 for i in 0 ..< 6 if i < 2 or i == 4 : if odd(i) then s + 10 else s"
                  " + (if i == 0 or s > 10 then 1 else 100)"),
            12);
}

TEST(Fold, maySpeakOfTruth) {
  const char *any = "if fold s = false for i in 2 ..< x : s or x mod i == 0 then 0 else 1";
  for (auto [x, prime] : {std::pair{2, 1}, {3, 1}, {4, 0}, {5, 1}, {9, 0}, {35, 0}, {37, 1}})
    EXPECT_EQ(value(any, x), prime) << x;
}

TEST(Fold, standsInOthers) {
  EXPECT_EQ(value("fold s = 0 for i in 0 ..< x : fold t = s for j in 0 ..< i : t + 1", 5), 10);
  EXPECT_EQ(value("fold s = 0 for i in 0 ..< (fold n = 1 for j in 0 ..< x : n * 2) : s + 1", 5),
            32);
  EXPECT_EQ(value("fold s = 1 for i in 0 .. 5 if (fold t = 0 for j in 0 .. i : t + j) > s : s + i"),
            15);
}

TEST(Fold, inFunctionsRequirementsAndBodies) {
  Program p(R"(
    fn digits(x) = fold n = 0 for i in 0 ..< 19 if pow(10, i) <= x : n + 1;
    fn most(a, b) = fold s = digits(a) for i in a .. b if digits(i) > s : digits(i);
    alltoall a requires fold s = true for i in 1 .. P : s and digits(i) == 1 {
      for i in 0 ..< fold s = 0 for j in 0 ..< P : s + j {
        copy in[fold s = 0 for j in 0 .. i : j mod 2] -> out[most(i, 9) - 1];
      }
    })");
  EXPECT_EQ(p.elaborator().applies(p.algorithm(), {.ranks = 9}), true);
  EXPECT_EQ(p.elaborator().applies(p.algorithm(), {.ranks = 10}), false);
  EXPECT_EQ(p.steps({.ranks = 3, .rank = 0}),
            "in in[3]\nout out[3]\n"
            "%0 = copy in[0] -> out[0] round 0\n"
            "%1 = copy in[1] -> out[0] round 0\n"
            "%2 = copy in[0] -> out[0] round 0\n");
}

TEST(Fold, isRefusedWhereItIsWrong) {
  Program overflow("barrier b {\n  let x = fold s = 1 for i in 0 .. 70 : s * 2;\n}");
  EXPECT_EQ(overflow.mistake({.ranks = 8, .rank = 3}),
            "2:43: 4611686018427387904 * 2 does not fit in 64 bits (rank 3 of 8)");
  Program endless("barrier b {\n  let x = fold s = 1 for i in 0 .. 70 + P : s;\n}",
                  {.iterations = 70});
  EXPECT_EQ(endless.mistake({.ranks = 8, .rank = 3}),
            "2:31: more than 70 iterations, here with i = 70 (rank 3 of 8)");
  Program passedBy("barrier b {\n  let x = fold s = 1 for i in 0 .. 70 if i > P : s;\n}",
                   {.iterations = 70});
  EXPECT_EQ(passedBy.mistake({.ranks = 8, .rank = 3}),
            "2:31: more than 70 iterations, here with i = 70 (rank 3 of 8)");
  Program inFunction("fn f(x) = fold s = 1 for i in 0 .. x : s;\nbarrier b { let x = f(70); }",
                     {.iterations = 71});
  EXPECT_EQ(inFunction.mistake({.ranks = 8, .rank = 3}),
            "1:31: more than 71 iterations, here with i = 70 (rank 3 of 8)");
}

}  // namespace
}  // namespace nbcc
