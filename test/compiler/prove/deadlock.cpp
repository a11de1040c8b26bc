// SPDX-License-Identifier: BSD-3-Clause
// Every step ends, though a send waits for its receive; else the cycle is shown.

#include "saying.h"

namespace nbcc {
namespace {

std::string exchange(const std::string &order, const std::string &first,
                     const std::string &second) {
  return text("allgather " + order, {"in in[1]\nout out[2]\n%0 = copy in -> out[0]\n" + first,
                                     "in in[1]\nout out[2]\n%0 = copy in -> out[1]\n" + second});
}

TEST(Deadlock, SendsOfOneRoundAreFine) {
  EXPECT_EQ(said(exchange("rounds", "%1 = send in to 1\n%2 = recv out[1] from 1\n",
                          "%1 = send in to 0\n%2 = recv out[0] from 0\n")),
            "");
}

TEST(Deadlock, SendsThatNeedABufferAreNot) {
  EXPECT_EQ(
      said(exchange("rounds", "%1 = send in to 1 round 0\n%2 = recv out[1] from 1 round 1\n",
                    "%1 = send in to 0 round 0\n%2 = recv out[0] from 0 round 1\n")),
      "error: deadlock of 2 ranks: rank 0 waits in round 0 for rank 1: it sends in to rank 1\n"
      "note: rank 1 waits in round 0 for rank 0: it sends in to rank 0\n");
}

TEST(Deadlock, OneSideInTheOtherOrderIsFine) {
  EXPECT_EQ(said(exchange("rounds", "%1 = send in to 1 round 0\n%2 = recv out[1] from 1 round 1\n",
                          "%1 = recv out[0] from 0 round 0\n%2 = send in to 0 round 1\n")),
            "");
}

TEST(Deadlock, WaitsThatCrossAsWell) {
  const std::string fine = exchange("waits", "%1 = send in to 1\n%2 = recv out[1] from 1\n",
                                    "%1 = send in to 0\n%2 = recv out[0] from 0\n");
  EXPECT_EQ(said(fine), "");
  const std::string crossed =
      exchange("waits", "%1 = send in to 1\n%2 = recv out[1] from 1 after %1\n",
               "%1 = send in to 0\n%2 = recv out[0] from 0 after %0, %1\n");
  EXPECT_EQ(
      said(crossed),
      "error: deadlock of 2 ranks: rank 0 waits in round 0 for rank 1: it sends in to rank 1\n"
      "note: rank 1 waits in round 0 for rank 0: it sends in to rank 0\n");
}

TEST(Deadlock, AChannelKeepsItsOrder) {
  // Rank 0's second send has nothing to wait for, but the first to the same peer
  // waits for rank 1's answer to it.
  const std::string text0 =
      "data data[1]\n%0 = await from 1\n%1 = send data[0 of 2] to 1 after %0\n"
      "%2 = send data[1 of 2] to 1\n";
  const std::string text1 =
      "data data[1]\n%0 = recv data[0 of 2] from 0\n%1 = recv data[1 of 2] from 0\n"
      "%2 = signal to 0";
  EXPECT_EQ(said(text("bcast waits", {text0, text1 + "\n"})), "");
  EXPECT_EQ(said(text("bcast waits", {text0, text1 + " after %1\n"})),
            "error: deadlock of 2 ranks: rank 0 waits in round 0 for rank 1: it awaits rank 1\n"
            "note: rank 1 waits in round 0 for rank 0: it receives data[1 of 2] from rank 0\n");
}

TEST(Deadlock, ALongCycleIsCutShort) {
  Lines ranks;
  for (int r = 0; r < 40; ++r)
    ranks.push_back(cat("%0 = signal to ", (r + 1) % 40, " round 0\n%1 = await from ",
                        (r + 39) % 40, " round 1\n"));
  const std::string what = said(text("barrier", ranks));
  EXPECT_EQ(what.find("error: deadlock of 40 ranks: rank 0 waits in round 0 for rank 1"), 0u);
  EXPECT_NE(what.find("and so on, until rank 39 waits in round 0 for rank 0"), what.npos);
  EXPECT_LT(std::count(what.begin(), what.end(), '\n'), 12);
}

TEST(Deadlock, OnlyTheRanksOfTheCycleAreNamed) {
  // Rank 2 is stuck behind ranks 0 and 1.
  EXPECT_EQ(said(text("barrier", {"%0 = signal to 1 round 0\n%1 = await from 1 round 1\n",
                                  "%0 = signal to 0 round 0\n%1 = await from 0 round 1\n"
                                  "%2 = signal to 2 round 2\n",
                                  "%0 = await from 1\n"})),
            "error: deadlock of 2 ranks: rank 0 waits in round 0 for rank 1: it signals rank 1\n"
            "note: rank 1 waits in round 0 for rank 0: it signals rank 0\n");
}

}  // namespace
}  // namespace nbcc
