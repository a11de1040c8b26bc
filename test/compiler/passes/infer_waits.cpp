// SPDX-License-Identifier: BSD-3-Clause
// Who waits for whom, and why nobody else does.

#include "support.h"

namespace nbcc {
namespace {

/// The waits of each step: "0: - 1: 0".
std::string waits(const char *pass, const std::string &lines) {
  std::vector<Schedule> read = readAll(
      "schedule @a allgather rank 1 of 9 root 0 order rounds rounds 4\nin in[1]\nout out[9]\n"
      "scratch t[9] like out[0 +: 9]\n" +
      lines + "end\n");
  if (read.empty()) return "";
  findPass(pass)->run(read[0], {});
  EXPECT_EQ(read[0].order, Order::waits);
  std::string result;
  for (size_t i = 0; i < read[0].steps.size(); ++i) {
    result += cat(i ? " | " : "", i, ":");
    for (const StepId d : read[0].after(read[0].steps[i])) result += cat(" ", d);
  }
  return result;
}
std::string inferred(const std::string &lines) {
  return waits("infer-waits", lines);
}

TEST(InferWaits, ReadAfterWriteWriteAfterReadWriteAfterWrite) {
  EXPECT_EQ(inferred("%0 = recv t[0] from 0 round 0\n%1 = send t[0] to 2 round 1\n"
                     "%2 = send t[0] to 3 round 2\n%3 = recv t[0] from 0 round 3\n"
                     "%4 = copy in -> t[0] round 4\n"),
            "0: | 1: 0 | 2: 0 | 3: 1 2 | 4: 3");
}

TEST(InferWaits, OnlySharedBytesCount) {
  EXPECT_EQ(
      inferred("%0 = recv t[0 +: 4 of 3] from 0 round 0\n%1 = recv t[4 +: 2 of 3] from 2 round 0\n"
               "%2 = send t[0] to 0 round 1\n%3 = send t[1] to 0 round 1\n%4 = send t[3 of 2] to 0 "
               "round 1\n"),
      "0: | 1: | 2: 0 | 3: 0 1 | 4: 1");
}

TEST(InferWaits, ARoundDoesNotWaitForItself) {
  EXPECT_EQ(inferred("%0 = copy in -> out[1] round 0\n%1 = send out[1] to 0 round 0\n%2 = recv "
                     "out[0] from 0 round 0\n"
                     "%3 = send out[0] to 2 round 1\n%4 = recv out[2] from 2 round 1\n"),
            "0: | 1: 0 | 2: | 3: 2 | 4:");
}

TEST(InferWaits, ReductionsInARow) {
  EXPECT_EQ(
      inferred("%0 = copy in -> out[0] round 0\n%1 = recv t[0] from 0 round 0\n"
               "%2 = reduce out[0] with t[0] -> out[0] round 1\n%3 = recv t[0] from 2 round 1\n"
               "%4 = reduce t[0] with out[0] -> out[0] round 2\n"),
      "0: | 1: | 2: 0 1 | 3: 2 | 4: 2 3");
}

TEST(InferWaits, SignalComesAfterAllThatNobodyWaitsFor) {
  EXPECT_EQ(
      inferred("%0 = copy in -> t[0] round 0\n%1 = send t[0] to 0 round 0\n%2 = recv t[1] from 0 "
               "round 0\n"
               "%3 = signal to 3 round 1\n%4 = signal to 4 round 1\n%5 = signal to 5 round 2\n"),
      "0: | 1: 0 | 2: | 3: 1 2 | 4: 1 2 | 5: 3 4");
}

TEST(InferWaits, AwaitHoldsBackLaterRounds) {
  EXPECT_EQ(
      inferred("%0 = await from 0 round 0\n%1 = await from 2 round 0\n%2 = send in to 2 round 0\n"
               "%3 = copy in -> out[1] round 1\n%4 = send out[1] to 3 round 1\n%5 = await from 0 "
               "round 2\n"
               "%6 = send out[1] to 4 round 3\n"),
      "0: | 1: | 2: | 3: 0 1 | 4: 3 | 5: 0 1 | 6: 3 5");
}

TEST(InferWaits, DisseminationBarrier) {
  EXPECT_EQ(
      inferred("%0 = signal to 2 round 0\n%1 = await from 0 round 0\n%2 = signal to 3 round 1\n"
               "%3 = await from 8 round 1\n"),
      "0: | 1: | 2: 0 1 | 3: 1");
}

TEST(InferWaits, LeavesWaitsAlone) {
  EXPECT_EQ(after("infer-waits",
                  "schedule @a barrier rank 0 of 2 root 0 order waits rounds 1\n%0 = signal to 1\n"
                  "%1 = await from 1 after %0\nend\n"),
            "  %0 = signal to 1 round 0\n  %1 = await from 1 round 0 after %0\n");
}

TEST(KeepRounds, WaitsForTheWholeRoundBefore) {
  EXPECT_EQ(waits("keep-rounds",
                  "%0 = copy in -> out[1] round 0\n%1 = copy in -> out[2] round 0\n"
                  "%2 = send in to 0 round 0\n%3 = recv t[0] from 0 round 0\n"
                  "%4 = send in to 0 round 1\n%5 = copy in -> out[3] round 3\n"),
            "0: | 1: 0 | 2: 1 | 3: 1 | 4: 2 3 | 5: 4");
}

}  // namespace
}  // namespace nbcc
