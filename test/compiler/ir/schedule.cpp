// SPDX-License-Identifier: BSD-3-Clause
// The pools that sections and waits are kept in.

#include "compiler/ir/schedule.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

TEST(Pools, WaitsAreSortedAndSingle) {
  Schedule s;
  Step step;
  step.after = s.keepWaits({5, 1, 3, 1, 5});
  const auto waits = s.after(step);
  EXPECT_EQ(std::vector<StepId>(waits.begin(), waits.end()), (std::vector<StepId>{1, 3, 5}));
}

TEST(Pools, KeepsAViewOfThePoolItself) {
  Schedule s;
  Step step;
  const std::vector<Extent> section = {{0, 1, 0, 1}, {0, 1, 7, 2}};
  step.from = s.keep(section);
  for (int i = 0; i < 20; ++i) step.from = s.keep(s.from(step));  // the pool grows and moves
  EXPECT_TRUE(std::ranges::equal(s.from(step), section));
}

TEST(Pools, RenumbersSectionsAndLikes) {
  Schedule s;
  s.buffers = {{.name = "a"}, {.name = "b", .like = {{0, 1, 0, 1}}}};
  const Extent e{1, 1, 0, 1};
  Step step;
  step.from = s.keep({&e, 1});
  const BufferId to[] = {1, 0};
  s.renumberBuffers(to);
  EXPECT_EQ(s.from(step)[0].buffer, 0);
  EXPECT_EQ(s.buffers[1].like[0].buffer, 1);
}

TEST(Schedule, FindsBuffersByName) {
  Schedule s;
  s.buffers = {{.name = "a"}, {.name = "b"}};
  EXPECT_EQ(s.buffer("b"), 1);
  EXPECT_EQ(s.buffer("c"), -1);
  EXPECT_GE(s.bytes(), 2 * sizeof(Buffer));
}

TEST(Names, ComeFromTheTable) {
  EXPECT_EQ(name(Op::await), "await");
  EXPECT_EQ(name(Unit::host_before), "host_before");
  EXPECT_EQ(name(Role::slots), "slots");
  EXPECT_EQ(name(Order::waits), "waits");
}

}  // namespace
}  // namespace nbcc
