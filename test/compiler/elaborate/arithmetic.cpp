// SPDX-License-Identifier: BSD-3-Clause
// arithmetic.cpp - every operator and builtin against plain C++ of 128 bits, at the edges and at
// random.
//
// An expression stands as the bound of a claim over two parameters: its value, or
// the error, comes back without a schedule.

#include <rapidcheck.h>

#include <functional>

#include "program.h"

namespace nbcc {
namespace {

__extension__ typedef __int128 Wide;

/// A value, or nothing where the language refuses.
using Reference = std::function<std::optional<Wide>(Wide x, Wide y)>;

class Expression {
 public:
  explicit Expression(const std::string &text)
      : program_("barrier b(x, y)\nclaims rounds ==\n" + text + "\n{ }") {}

  std::optional<int64_t> operator()(int64_t x, int64_t y) {
    auto values = program_.elaborator().claims(program_.algorithm(), {.parameters = {x, y}});
    if (!values) return std::nullopt;
    return values->at(0).bound;
  }
  std::string mistake(int64_t x, int64_t y) {
    program_.firstError();
    std::optional<int64_t> value = (*this)(x, y);
    return value ? cat("no mistake: ", *value) : program_.firstError();
  }

 private:
  Program program_;
};

std::optional<int64_t> in64(std::optional<Wide> w) {
  if (!w || *w < INT64_MIN || *w > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(*w);
}

const std::vector<int64_t> edges = {INT64_MIN,
                                    INT64_MIN + 1,
                                    INT64_MIN / 2,
                                    -4294967296,
                                    -65,
                                    -64,
                                    -10,
                                    -3,
                                    -2,
                                    -1,
                                    0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    8,
                                    9,
                                    10,
                                    62,
                                    63,
                                    64,
                                    65,
                                    1000,
                                    3037000499,
                                    3037000500,
                                    4294967296,
                                    INT64_MAX / 2,
                                    INT64_MAX - 1,
                                    INT64_MAX};

void agree(const std::string &text, const Reference &reference) {
  Expression e(text);
  for (int64_t x : edges)
    for (int64_t y : edges)
      ASSERT_EQ(e(x, y), in64(reference(x, y))) << text << " with x = " << x << ", y = " << y;
  ASSERT_TRUE(
      rc::check(text, [&](int64_t x, int64_t y) { RC_ASSERT(e(x, y) == in64(reference(x, y))); }));
}

Wide floorDivide(Wide x, Wide y) {
  Wide quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

std::optional<Wide> power(Wide base, Wide exponent) {
  if (exponent < 0) return std::nullopt;
  Wide result = 1;
  for (Wide i = 0; i < exponent; ++i) {
    result *= base;
    if (result == 0 || (result == 1 && base == 1)) break;
    if (result > INT64_MAX || result < INT64_MIN) return std::nullopt;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  }
  return result;
}

/// By the definition, upwards.
std::optional<Wide> logarithm(Wide base, Wide x, bool up) {
  if (base < 2 || x < 1) return std::nullopt;
  Wide e = 0, reached = 1;
  while (up ? reached < x : reached * base <= x) reached *= base, ++e;
  return e;
}

std::optional<Wide> digit(Wide x, Wide base, Wide index) {
  if (x < 0 || base < 2 || index < 0) return std::nullopt;
  for (Wide i = 0; i < index && x > 0; ++i) x /= base;
  return x % base;
}

TEST(Arithmetic, operators) {
  agree("x + y", [](Wide x, Wide y) { return x + y; });
  agree("x - y", [](Wide x, Wide y) { return x - y; });
  agree("x * y", [](Wide x, Wide y) { return x * y; });
  agree("-x", [](Wide x, Wide) { return -x; });
  agree("x xor y",
        [](Wide x, Wide y) { return static_cast<int64_t>(x) ^ static_cast<int64_t>(y); });
  agree("x / y", [](Wide x, Wide y) {
    return y == 0 ? std::nullopt : std::optional<Wide>(floorDivide(x, y));
  });
  agree("x mod y", [](Wide x, Wide y) {
    return y <= 0 ? std::nullopt : std::optional<Wide>(x - y * floorDivide(x, y));
  });
  agree("min(x, y)", [](Wide x, Wide y) { return std::min(x, y); });
  agree("max(x, y)", [](Wide x, Wide y) { return std::max(x, y); });
}

TEST(Arithmetic, operandsThatAreConstants) {
  agree("x / 2", [](Wide x, Wide) { return floorDivide(x, 2); });
  agree("x / -1", [](Wide x, Wide) { return -x; });
  agree("x / -7 + y - y", [](Wide x, Wide y) -> std::optional<Wide> {
    Wide q = floorDivide(x, -7);
    if (!in64(q + y)) return std::nullopt;
    return q;
  });
  agree("x mod 8", [](Wide x, Wide) { return x - 8 * floorDivide(x, 8); });
  agree("x mod 1", [](Wide, Wide) { return 0; });
}

TEST(Arithmetic, comparisonsAndTruth) {
  agree(
      "(if x < y then 1 else 0) + (if x <= y then 2 else 0) + (if x > y then 4 else 0) +"
      "(if x >= y then 8 else 0) + (if x == y then 16 else 0) + (if x != y then 32 else 0)",
      [](Wide x, Wide y) {
        return Wide{x < y} + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) +
               32 * (x != y);
      });
  agree("(if even(x) then 1 else 0) + (if odd(x) then 2 else 0)",
        [](Wide x, Wide) { return x - 2 * floorDivide(x, 2) == 0 ? 1 : 2; });
  agree("if bit(x, y) then 1 else 0", [](Wide x, Wide y) -> std::optional<Wide> {
    if (y < 0 || y > 63) return std::nullopt;
    Wide shifted = floorDivide(x, Wide{1} << static_cast<int>(y));
    return shifted - 2 * floorDivide(shifted, 2);
  });
  agree("(if not (x < 0) and y < 0 then 1 else 0) + (if x < 0 or not (y < 0) then 2 else 0)",
        [](Wide x, Wide y) { return Wide{x >= 0 && y < 0} + 2 * (x < 0 || y >= 0); });
  agree("if true then x else y", [](Wide x, Wide) { return x; });
}

TEST(Arithmetic, builtinsThatAreLoops) {
  agree("pow(x, y)", power);
  agree("floor_log(x, y)", [](Wide x, Wide y) { return logarithm(x, y, false); });
  agree("ceil_log(x, y)", [](Wide x, Wide y) { return logarithm(x, y, true); });
  agree("digit(x, y, 1)", [](Wide x, Wide y) { return digit(x, y, 1); });
  agree("digit(x, 3, y)", [](Wide x, Wide y) { return digit(x, 3, y); });
  // Small ones, all of them.
  Expression down("floor_log(x, y)"), up("ceil_log(x, y)"), power3("pow(x, y)");
  for (int64_t base = 2; base <= 12; ++base)
    for (int64_t x = 1; x <= 1100; ++x) {
      ASSERT_EQ(down(base, x), in64(logarithm(base, x, false))) << base << " " << x;
      ASSERT_EQ(up(base, x), in64(logarithm(base, x, true))) << base << " " << x;
    }
  for (int64_t base = -12; base <= 12; ++base)
    for (int64_t e = -1; e <= 66; ++e) ASSERT_EQ(power3(base, e), in64(power(base, e)));
}

TEST(Arithmetic, onlyWhatIsNeededIsEvaluated) {
  Expression e(
      "(if x != 0 and 10 / x > 2 then 1 else 0) + (if x == 0 or 10 / x > 2 then 2 else 0)"
      "+ (if x == 0 then 4 else 8 / x)");
  EXPECT_EQ(e(0, 0), 6);
  EXPECT_EQ(e(2, 0), 7);
  EXPECT_EQ(e(8, 0), 1);
}

TEST(Arithmetic, functions) {
  Program p(
      "fn parent(v, d) = (v - 1) / d;\n"
      "fn root_of(v, d) = if v < d then parent(v, d) == 0 else late(v);\n"
      "fn late(v) = odd(v);\n"
      "barrier b(x, y)\nclaims rounds == parent(x, y) + (if root_of(x, y) then 100 else 0) { }");
  auto bound = [&](int64_t x, int64_t y) {
    auto values = p.elaborator().claims(p.algorithm(), {.parameters = {x, y}});
    return values ? values->at(0).bound : -1;
  };
  EXPECT_EQ(bound(7, 2), 103);
  EXPECT_EQ(bound(8, 2), 3);
  EXPECT_EQ(bound(1, 2), 100);
  p.firstError();
  EXPECT_EQ(bound(7, 0), -1);
  EXPECT_EQ(p.firstError(), "1:27: 6 / 0: division by zero (P = 1)");
}

TEST(Arithmetic, aFaultSaysItsValuesAndPlace) {
  const int64_t most = INT64_MAX, least = INT64_MIN;
  EXPECT_EQ(Expression("x + y").mistake(most, 1),
            "3:3: 9223372036854775807 + 1 does not fit in 64 bits (P = 1)");
  EXPECT_EQ(Expression("x - y").mistake(least, 1),
            "3:3: -9223372036854775808 - 1 does not fit in 64 bits (P = 1)");
  EXPECT_EQ(Expression("x * y").mistake(most, 2),
            "3:3: 9223372036854775807 * 2 does not fit in 64 bits (P = 1)");
  EXPECT_EQ(Expression("x / y").mistake(least, -1),
            "3:3: -9223372036854775808 / -1 does not fit in 64 bits (P = 1)");
  EXPECT_EQ(Expression("-x").mistake(least, 0),
            "3:1: -(-9223372036854775808) does not fit in 64 bits (P = 1)");
  EXPECT_EQ(Expression("x / y").mistake(5, 0), "3:3: 5 / 0: division by zero (P = 1)");
  EXPECT_EQ(Expression("x mod y").mistake(5, 0),
            "3:3: 5 mod 0: the modulus must be positive (P = 1)");
  EXPECT_EQ(Expression("x mod y").mistake(5, -3),
            "3:3: 5 mod -3: the modulus must be positive (P = 1)");
  EXPECT_EQ(Expression("if bit(x, y) then 1 else 0").mistake(5, 64),
            "3:4: bit(5, 64): bits are numbered 0..63 (P = 1)");
  EXPECT_EQ(Expression("pow(x, y)").mistake(2, -1), "3:1: pow(2, -1): negative exponent (P = 1)");
  EXPECT_EQ(Expression("pow(x, y)").mistake(2, 63),
            "3:1: pow(2, 63) does not fit in 64 bits (P = 1)");
  EXPECT_EQ(Expression("digit(x, y, 0)").mistake(-1, 2),
            "3:1: digit(-1, 2, 0): needs a number >= 0, a base >= 2 and an index >= 0 (P = 1)");
  EXPECT_EQ(Expression("floor_log(x, y)").mistake(2, 0),
            "3:1: floor_log(2, 0): needs a base >= 2 and a number >= 1 (P = 1)");
  EXPECT_EQ(Expression("ceil_log(x, y)").mistake(1, 5),
            "3:1: ceil_log(1, 5): needs a base >= 2 and a number >= 1 (P = 1)");
}

TEST(Arithmetic, aStepThatOverflowsEndsTheLoop) {
  Program p("barrier b {\n  for d = 1; d > 0; d *= 1000 { }\n}");
  EXPECT_EQ(p.mistake({.ranks = 8, .rank = 3}),
            "2:26: 1000000000000000000 * 1000 does not fit in 64 bits (rank 3 of 8)");
}

TEST(Arithmetic, functionsThatWouldTakeForeverOrGoTooDeep) {
  std::string twice = "fn f0(x) = x;\n", deep = twice;
  for (int i = 1; i <= 40; ++i)
    twice += cat("fn f", i, "(x) = f", i - 1, "(x) + f", i - 1, "(x);\n");
  Program doubling(twice + "barrier b { let y = f40(me); }", {.iterations = 1'000'000});
  EXPECT_EQ(doubling.mistake({.ranks = 2, .rank = 0}),
            "2:4: more than 1000000 iterations and function calls (rank 0 of 2)");
  for (int i = 1; i <= 1100; ++i) deep += cat("fn f", i, "(x) = f", i - 1, "(x);\n");
  Program chain(deep + "barrier b { let y = f1100(me); }");
  EXPECT_EQ(chain.mistake({.ranks = 2, .rank = 0}),
            "101:4: functions call each other more than 1000 deep (rank 0 of 2)");
  Program shallow(deep + "barrier b { let y = f999(me); let z = f999(me); }");
  EXPECT_EQ(shallow.mistake({.ranks = 2, .rank = 0}), "");
}

}  // namespace
}  // namespace nbcc
