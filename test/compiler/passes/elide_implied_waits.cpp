// SPDX-License-Identifier: BSD-3-Clause
// What another wait implies goes; everything else, and the order, stays.

#include <rapidcheck.h>

#include "support.h"

namespace nbcc {
namespace {

TEST(ElideImpliedWaits, DropsWhatAnotherImplies) {
  EXPECT_EQ(after("elide-implied-waits",
                  "schedule @a barrier rank 0 of 9 root 0 order waits rounds 1\n%0 = signal to 1\n"
                  "%1 = signal to 2 after %0\n%2 = signal to 3\n%3 = signal to 4 after %0, %1, %2\n"
                  "%4 = signal to 5 after %0, %3\nend\n"),
            "  %0 = signal to 1 round 0\n  %1 = signal to 2 round 0 after %0\n  %2 = signal to 3 "
            "round 0\n"
            "  %3 = signal to 4 round 0 after %1, %2\n  %4 = signal to 5 round 0 after %3\n");
}

TEST(ElideImpliedWaits, IsTheTransitiveReduction) {
  EXPECT_TRUE(rc::check([] {
    Schedule s;
    s.order = Order::waits;
    const StepId n = *rc::gen::inRange<StepId>(1, 14);
    for (StepId i = 0; i < n; ++i) {
      std::vector<StepId> waits;
      for (StepId d = 0; d < i; ++d)
        if (*rc::gen::inRange(0, 2) == 0) waits.push_back(d);
      s.steps.push_back({.op = Op::copy, .after = s.keepWaits(waits)});
    }
    Schedule less = s;
    elideImpliedWaits(less, {});
    Reach before(s), now(less);
    for (StepId i = 0; i < n; ++i) {
      for (StepId d = 0; d < i; ++d)
        RC_ASSERT(before.finishedBefore(d, i) == now.finishedBefore(d, i));
      const auto waits = less.after(less.steps[i]);
      for (const StepId d : waits)
        for (const StepId e : waits) RC_ASSERT(!now.finishedBefore(d, e));
    }
  }));
}

}  // namespace
}  // namespace nbcc
