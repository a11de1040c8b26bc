// SPDX-License-Identifier: BSD-3-Clause
// Equal trees have equal numbers, and what a tree counts is what was put in.

#include "compiler/prove/trees.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

TEST(Trees, EqualTreesAreOne) {
  Trees t(4);
  const Value left = t.combine(0, 1);
  EXPECT_EQ(t.combine(0, 1), left);
  EXPECT_NE(t.combine(1, 0), left);
  EXPECT_EQ(t.toString(t.combine(left, t.combine(3, 2))), "((0 1) (3 2))");
}

TEST(Trees, Order) {
  Trees t(4);
  const Value low = t.combine(0, 1), high = t.combine(2, 3);
  EXPECT_TRUE(t.inOrder(t.combine(low, high)));
  EXPECT_FALSE(t.inOrder(t.combine(high, low)));
  EXPECT_TRUE(t.inOrder(t.combine(0, t.combine(1, high))));
  EXPECT_TRUE(t.inOrder(t.combine(0, high)));  // ascending, if not one after the other
  EXPECT_FALSE(t.inOrder(t.combine(low, low)));
}

TEST(Trees, Complete) {
  Trees t(4);
  const Value even = t.combine(0, 2), odd = t.combine(3, 1);
  EXPECT_TRUE(t.isRun(t.combine(even, odd), 0, 4));
  EXPECT_FALSE(t.isRun(even, 0, 4));
  EXPECT_FALSE(t.isRun(t.combine(even, even), 0, 4));  // four, but not the four
  EXPECT_FALSE(t.isRun(t.combine(t.combine(even, odd), 0), 0, 4));
  EXPECT_EQ(t.occurrences(t.combine(even, t.combine(even, 3))), (std::vector<uint8_t>{2, 0, 2, 1}));
}

TEST(Trees, ARunIsOfTheWantedLeaves) {
  Trees t(9);
  const Value high = t.combine(4, 3), all = t.combine(5, high);
  EXPECT_TRUE(t.isRun(all, 3, 3));
  EXPECT_FALSE(t.isRun(all, 2, 3));                            // as many, but others: out of order,
  EXPECT_FALSE(t.isRun(t.combine(t.combine(3, 4), 5), 2, 3));  // and in order
  EXPECT_FALSE(t.isRun(all, 3, 4));
  EXPECT_FALSE(t.isRun(t.combine(t.combine(3, 3), 5), 3, 3));
  EXPECT_TRUE(t.isRun(all, 3, 3));  // asked again, also for others
  EXPECT_FALSE(t.isRun(all, 2, 3));
  EXPECT_TRUE(t.isRun(t.combine(all, 6), 3, 4));
  EXPECT_TRUE(t.isRun(7, 7, 1));
  EXPECT_FALSE(t.isRun(7, 6, 1));
  EXPECT_EQ(t.toString(all, 3), "(2 (1 0))");
}

TEST(Trees, ASetIsOfTheWantedLeaves) {
  Trees t(9);
  const Value even = t.combine(t.combine(0, 2), 6), mixed = t.combine(6, t.combine(2, 0));
  EXPECT_TRUE(t.inOrder(even) && !t.inOrder(mixed));
  for (Value v : {even, mixed}) {
    EXPECT_TRUE(t.isSet(v, std::vector<Value>{0, 2, 6}));
    EXPECT_FALSE(t.isSet(v, std::vector<Value>{0, 3, 6}));  // the same ends
    EXPECT_FALSE(t.isSet(v, std::vector<Value>{0, 2, 6, 8}));
    EXPECT_FALSE(t.isRun(v, 0, 3));  // ascending, but no run
  }
  EXPECT_FALSE(t.isSet(t.combine(mixed, 2), std::vector<Value>{0, 2, 4, 6}));  // 2 is there twice
  EXPECT_TRUE(t.isSet(4, std::vector<Value>{4}));
  EXPECT_TRUE(t.isSet(t.combine(4, 3), std::vector<Value>{3, 4}));
  EXPECT_EQ(t.toString(mixed, 9, 2), "(3 (1 0))");
}

TEST(Trees, DoublingAThousandTimesDoesNotOverflow) {
  Trees t(2);
  Value v = t.combine(0, 1);
  for (int i = 0; i < 1000; ++i) v = t.combine(v, v);
  EXPECT_EQ(t.size(v), Trees::kMany);
  EXPECT_EQ(t.occurrences(v), (std::vector<uint8_t>{2, 2}));
  EXPECT_EQ(t.toString(v), "0 1 0 1 0 1 0 1 0 1 0 1 ...");
}

TEST(Trees, UpToSwaps) {
  Trees t(4);
  const Value a = t.combine(t.combine(0, 1), 2), b = t.combine(2, t.combine(1, 0)),
              c = t.combine(0, t.combine(1, 2));
  const std::vector<Value> same = t.upToSwaps();
  EXPECT_EQ(same[a], same[b]);
  EXPECT_NE(same[a], same[c]);
}

TEST(Trees, TaintSpreads) {
  Trees t(2);
  EXPECT_EQ(t.combine(kUndefined, 0), kTainted);
  EXPECT_EQ(t.combine(0, kTainted), kTainted);
}

}  // namespace
}  // namespace nbcc
