// SPDX-License-Identifier: BSD-3-Clause
// finishedBefore() agrees with the transitive closure.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "compiler/ir/schedule.h"

namespace nbcc {
namespace {

TEST(Reach, IsTheTransitiveClosureOfWaits) {
  EXPECT_TRUE(rc::check([] {
    Schedule s;
    s.order = Order::waits;
    const StepId n = *rc::gen::inRange<StepId>(1, 12);
    std::vector<std::vector<bool>> closed(n, std::vector<bool>(n));
    for (StepId i = 0; i < n; ++i) {
      std::vector<StepId> waits;
      for (StepId d = 0; d < i; ++d) {
        if (*rc::gen::inRange(0, 3) != 0) continue;
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

}  // namespace
}  // namespace nbcc
