// SPDX-License-Identifier: BSD-3-Clause
// ranges.cpp - what ranges say, and where an answer ends.

#include "compiler/selection/ranges.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace nbcc {
namespace {

Ranges ranges(std::string_view text) {
  Ranges result;
  std::string why;
  EXPECT_TRUE(Ranges::read(text, result, why)) << text << ": " << why;
  return result;
}

std::string refusalOfRanges(std::string_view text) {
  Ranges result;
  std::string why;
  EXPECT_FALSE(Ranges::read(text, result, why)) << text;
  return why;
}

TEST(Ranges, ContainBothEnds) {
  const Ranges r = ranges("2..8");
  EXPECT_FALSE(r.contains(1));
  EXPECT_TRUE(r.contains(2));
  EXPECT_TRUE(r.contains(8));
  EXPECT_FALSE(r.contains(9));
}

TEST(Ranges, MayBeOpenOrSingle) {
  EXPECT_TRUE(ranges("64K..").contains(UINT64_MAX));
  EXPECT_TRUE(ranges("64K..").contains(65536));
  EXPECT_FALSE(ranges("64K..").contains(65535));
  EXPECT_TRUE(ranges("..1M").contains(0));
  EXPECT_TRUE(ranges("..1M").contains(1048576));
  EXPECT_FALSE(ranges("7").contains(6));
  EXPECT_TRUE(ranges("7").contains(7));
  EXPECT_FALSE(ranges("7").contains(8));
  EXPECT_TRUE(ranges("17179869183G").contains(17179869183ull << 30));
}

TEST(Ranges, OfAllNumbersAreAll) {
  EXPECT_TRUE(Ranges().all());
  EXPECT_TRUE(ranges("0..").all());
  EXPECT_TRUE(ranges("8..,..7").all());
  EXPECT_FALSE(ranges("1..").all());
  EXPECT_FALSE(ranges("9..,..7").all());
}

TEST(Ranges, AreRefusedWithWhatWasFound) {
  const std::string wanted = "is no range; wanted is one as 8, 2..8, 64K.. or ..1M";
  for (const char *text : {"", "..", "2...8", "-1", "2..x", "8k", "K", "0x8", "8 8", "1e3"})
    EXPECT_EQ(refusalOfRanges(text), "'" + std::string(text) + "' " + wanted);
  EXPECT_EQ(refusalOfRanges("2,,8"), "'' " + wanted);
  EXPECT_EQ(refusalOfRanges("18446744073709551616"), "'18446744073709551616' " + wanted);
  EXPECT_EQ(refusalOfRanges("17179869184G"), "'17179869184G' " + wanted);
  EXPECT_EQ(refusalOfRanges("8..2"), "the range 8..2 is empty");
  EXPECT_EQ(refusalOfRanges("1, 1K..512"), "the range 1K..512 is empty");
}

/// Ranges that touch, overlap and leave gaps, of small numbers.
RC_GTEST_PROP(Ranges, NarrowToOneAnswer, ()) {
  std::string text;
  for (const auto &[from, length] :
       *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<int, int>>>(
           rc::gen::pair(rc::gen::inRange(0, 40), rc::gen::inRange(0, 6)))))
    text +=
        (text.empty() ? "" : ", ") + std::to_string(from) + ".." + std::to_string(from + length);
  const Ranges r = ranges(text);
  const auto number = *rc::gen::inRange<std::uint64_t>(0, 50);
  Span span;
  r.narrow(number, span);
  RC_ASSERT(span.from <= number && number <= span.to);
  for (std::uint64_t n = span.from; n <= std::min<std::uint64_t>(span.to, 60); ++n)
    RC_ASSERT(r.contains(n) == r.contains(number));
  // And no earlier than it must.
  if (span.from > 0) RC_ASSERT(r.contains(span.from - 1) != r.contains(number));
  if (span.to < UINT64_MAX) RC_ASSERT(r.contains(span.to + 1) != r.contains(number));
}

}  // namespace
}  // namespace nbcc
