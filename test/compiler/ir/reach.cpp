// SPDX-License-Identifier: BSD-3-Clause
// finishedBefore() agrees with the transitive closure, kept as bits or searched.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>

#include "compiler/ir/schedule.h"

namespace nbcc {
namespace {

TEST(Reach, IsTheTransitiveClosureOfWaits) {
  EXPECT_TRUE(rc::check([] {
    Schedule s;
    s.order = Order::waits;
    const StepId n = *rc::gen::inRange<StepId>(1, 12) + *rc::gen::element<StepId>(0, 60, 125);
    std::vector<std::vector<bool>> closed(n, std::vector<bool>(n));
    for (StepId i = 0; i < n; ++i) {
      std::vector<StepId> waits;
      for (StepId d = std::max(0, i - 12); d < i; ++d) {
        if (*rc::gen::inRange(0, 6) != 0) continue;
        waits.push_back(d);
        closed[i][d] = true;
        for (StepId e = 0; e < d; ++e)
          if (closed[d][e]) closed[i][e] = true;
      }
      s.steps.push_back({.op = Op::copy, .after = s.keepWaits(waits)});
    }
    Reach reach(s);
    for (StepId i = 0; i < n; ++i)
      for (StepId d = 0; d < n; ++d) RC_ASSERT(reach.finishedBefore(d, i) == closed[i][d]);
  }));
}

/// Up to the longest that is kept, and beyond: rows of bits would be 2 GiB for the last.
TEST(Reach, OfLongSchedules) {
  for (const size_t n : {Reach::kMostKept, Reach::kMostKept + 1, size_t{1} << 17}) {
    Schedule s;
    s.order = Order::waits;
    std::mt19937 random(1);
    for (size_t i = 0; i < n; ++i) {  // some wait for none, so that not all is in order
      std::vector<StepId> waits;
      for (const unsigned back : {random() % 4, random() % 300})
        if (back > 0 && back <= i) waits.push_back(static_cast<StepId>(i - back));
      s.steps.push_back({.op = Op::copy, .after = s.keepWaits(waits)});
    }
    Reach reach(s);
    for (const size_t from : {size_t{0}, n / 2, n - 200}) {
      const auto before = static_cast<StepId>(from);
      std::vector<char> follows(n);  // forwards, where Reach looks backwards
      int count = 0;
      for (size_t i = from + 1; i < std::min(n, from + 500); ++i) {
        for (const StepId d : s.after(s.steps[i])) follows[i] |= d == before || follows[d];
        count += follows[i];
        ASSERT_EQ(reach.finishedBefore(before, static_cast<StepId>(i)), follows[i] != 0) << i;
      }
      EXPECT_GT(count, 0);
    }
  }
}

}  // namespace
}  // namespace nbcc
