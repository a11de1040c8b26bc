// SPDX-License-Identifier: BSD-3-Clause
// A call of some microseconds must not wait for a rest to end, nor a long one keep a core.

#include <gtest/gtest.h>

#include <cstdint>

extern "C" {
#include "runtime/devx/rest.h"
}

namespace {

/// Time as one thread has it that always rests.
class Thread {
 public:
  explicit Thread(int64_t now) : now_(now) {}
  /// Does something else meanwhile.
  void works(int64_t nanoseconds) { now_ += nanoseconds; }
  /// What it was told; others have the core for `yields` ns where that is 0.
  int64_t rests(int64_t longest = 1'000'000, int64_t yields = 1'000) {
    const int64_t rest = devx_rest_from(&rests_, now_, longest);
    now_ += rest ? rest : yields;
    rests_.ended = now_;
    return rest;
  }
  int64_t now() const { return now_; }

 private:
  int64_t now_;
  devx_rests rests_{};
};

TEST(Rests, areNoneInTheFirst100us) {
  Thread thread(1'000'000'000);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(thread.rests(), 0) << "after " << i << " us";
  EXPECT_EQ(thread.rests(), 12'500);
}

TEST(Rests, areAnEighthOfTheTimeUpTo50us) {
  Thread thread(1'000'000'000);
  const int64_t began = thread.now();
  while (thread.rests() == 0) continue;
  int64_t before = 12'500;
  while (thread.now() - began < 400'000) {
    const int64_t waited = thread.now() - began;
    const int64_t rest = thread.rests();
    EXPECT_EQ(rest, waited / 8);
    EXPECT_GT(rest, before);
    before = rest;
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(thread.rests(), 50'000);
}

TEST(Rests, areNoLongerThanAskedFor) {
  Thread thread(1'000'000'000);
  while (thread.rests() == 0) continue;
  EXPECT_EQ(thread.rests(7'000), 7'000);
  EXPECT_EQ(thread.rests(0), 0);
}

TEST(Rests, beginAnewAfterOneHasDoneSomething) {
  Thread thread(1'000'000'000);
  while (thread.rests() == 0) continue;
  thread.works(12'500);  // as long as a look at the queues may take
  EXPECT_NE(thread.rests(), 0);
  thread.works(12'501);
  EXPECT_EQ(thread.rests(), 0);
}

TEST(Rests, beginWhereTheClockDoes) {
  Thread thread(0);
  EXPECT_EQ(thread.rests(), 0);
}

}  // namespace
