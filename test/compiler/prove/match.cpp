// SPDX-License-Identifier: BSD-3-Clause
// Each send has its receive, of its kind and as long.

#include "saying.h"

namespace nbcc {
namespace {

/// Two ranks exchange their blocks.
const std::string bothWays = text("allgather", {"in in[1]\nout out[2]\n"
                                                "%0 = copy in -> out[0]\n"
                                                "%1 = send in to 1\n%2 = recv out[1] from 1\n",
                                                "in in[1]\nout out[2]\n"
                                                "%0 = copy in -> out[1]\n"
                                                "%1 = recv out[0] from 0\n%2 = send in to 0\n"});

TEST(Match, AcceptsAnExchange) {
  Proof proof;
  EXPECT_EQ(said(bothWays, &proof), "");
  EXPECT_TRUE(proof.anyLengths);
  EXPECT_EQ(proof.messages, 2);
}

TEST(Match, ASendThatNobodyReceives) {
  EXPECT_EQ(broken(bothWays, "%2 = send in to 0\n", "%2 = send in to 0\n%3 = send in to 0\n"),
            "error: rank 1 sends in to rank 0 in round 0, which does not receive it\n"
            "note: rank 0 receives from rank 1 once, the last time in round 0\n");
}

TEST(Match, AReceiveOfWhatNobodySends) {
  EXPECT_EQ(broken(bothWays, "%1 = send in to 1\n%2 = recv", "%1 = recv"),
            "error: rank 1 receives out[0] from rank 0 in round 0, which does not send it\n");
}

TEST(Match, AMessageIsNoSignal) {
  EXPECT_EQ(broken(bothWays, "%1 = send in to 1", "%1 = signal to 1"),
            "error: rank 1 receives out[0] from rank 0 in round 0, but what comes is a signal\n"
            "note: rank 0 signals rank 1 in round 0\n");
  EXPECT_EQ(broken(bothWays, "%1 = recv out[0] from 0", "%1 = await from 0"),
            "error: rank 1 awaits rank 0 in round 0, but what comes is a message with data\n"
            "note: rank 0 sends in to rank 1 in round 0\n");
}

TEST(Match, LengthsInBlocks) {
  EXPECT_EQ(broken(bothWays, "%1 = recv out[0] from 0", "%1 = recv out[0 +: 2] from 0"),
            "error: rank 1 receives out[0 +: 2] from rank 0 in round 0: 2 blocks, but 1 block is "
            "sent\n"
            "note: rank 0 sends in to rank 1 in round 0\n");
}

TEST(Match, LengthsOfSeveralExtents) {
  // The first message shows that blocks have to be equally long: then they are counted.
  const std::string several =
      text("alltoall", {"in in[2]\nout out[2]\nscratch t[5] like in[0]\n"
                        "%0 = copy in[1], in[0 +: 2] -> t[0 +: 3]\n%1 = send t[0] to 1\n"
                        "%2 = send t[0], t[2] to 1 round 1\n"
                        "%3 = recv out[1] from 1 round 2\n%4 = copy in[0] -> out[0] round 3\n",
                        "in in[2]\nout out[2]\nscratch t[5] like in[0]\n"
                        "%0 = recv out[0] from 0\n%1 = recv t[4], t[1] from 0 round 1\n"
                        "%2 = send in[0] to 0 round 2\n%3 = copy in[1] -> out[1] round 3\n"});
  EXPECT_EQ(said(several), "");
  EXPECT_EQ(broken(several, "recv t[4], t[1]", "recv t[4], t[1 +: 2]"),
            "error: rank 1 receives t[4], t[1 +: 2] from rank 0 in round 1: 3 blocks, but 2 blocks "
            "are sent\n"
            "note: rank 0 sends t[0], t[2] to rank 1 in round 1\n");
  EXPECT_EQ(broken(several, "recv t[4], t[1]", "recv t[4], t[1 of 2]"),
            "error: rank 1 receives t[4], t[1 of 2] from rank 0 in round 1: 3/2 of a block, but 2 "
            "blocks are sent\n"
            "note: rank 0 sends t[0], t[2] to rank 1 in round 1\n");
}

TEST(Match, HalvesAreAsLongOnlyIfTheyAreTheSame) {
  const std::string halves =
      text("bcast", {"data data[1]\n"
                     "%0 = send data[0 of 2] to 1\n%1 = send data[1 of 2] to 1\n",
                     "data data[1]\n"
                     "%0 = recv data[0 of 2] from 0\n%1 = recv data[1 of 2] from 0\n"});
  EXPECT_EQ(said(halves), "");
  EXPECT_EQ(broken(halves, "%0 = recv data[0 of 2] from 0\n%1 = recv data[1 of 2]",
                   "%0 = recv data[1 of 2] from 0\n%1 = recv data[0 of 2]"),
            "error: rank 1 receives data[1 of 2] from rank 0 in round 0, but the parts sent are as "
            "long only if the division has no remainder\n"
            "note: rank 0 sends data[0 of 2] to rank 1 in round 0\n"
            "error: rank 1 receives data[0 of 2] from rank 0 in round 0, but the parts sent are as "
            "long only if the division has no remainder\n"
            "note: rank 0 sends data[1 of 2] to rank 1 in round 0\n");
}

TEST(Match, PartsMayBeCutDifferently) {
  // Halves are two quarters each; scratch that is like a part has that part's length.
  EXPECT_EQ(said(text("bcast", {"data data[1]\n%0 = send data to 1\n",
                                "data data[1]\nscratch a[2] like data[0 +: 2 of 4]\n"
                                "scratch b[1] like data[1 of 2]\n"
                                "%0 = recv a[0 +: 2], b from 0\n"
                                "%1 = copy a[0 +: 2], b -> data round 1\n"})),
            "");
}

TEST(Match, CopiesToo) {
  EXPECT_EQ(broken(text("bcast", {"data data[1]\nscratch t[1] like data[0 of 2]\n"
                                  "%0 = copy data[0 of 2] -> t\n"}),
                   "copy data[0 of 2]", "copy data[1 of 2]"),
            "error: rank 0 copies data[1 of 2] to t in round 0: as long as each other only if the "
            "division has no remainder\n");
}

TEST(Match, OneFindingForTheSameLineOfManyRanks) {
  // As the elaborator has it, all ranks' steps come from one place.
  Lines ranks;
  for (int r = 0; r < 8; ++r)
    ranks.push_back(cat("in in[1]\nout out[8]\n%0 = send in to ", (r + 1) % 8, " at 7:5\n"));
  EXPECT_EQ(said(text("allgather", ranks)),
            "error: rank 0 sends in to rank 1 in round 0, which does not receive it\n");
}

TEST(Match, AnyLengths) {
  // Rank 1's block goes through scratch that is as long as rank 0's.
  const std::string through =
      text("gather", {"in in[1]\nout out[2]\n%0 = copy in -> out[0]\n%1 = recv out[1] from 1\n",
                      "in in[1]\nout out[2] absent\nscratch t[1] like out[1]\n"
                      "%0 = copy in -> t\n%1 = send t to 0\n"});
  Proof proof;
  EXPECT_EQ(said(through, &proof), "");
  EXPECT_TRUE(proof.anyLengths);
  std::string other = through;
  other.replace(other.find("like out[1]"), 11, "like out[0]");
  EXPECT_EQ(said(other, &proof), "");
  EXPECT_FALSE(proof.anyLengths);
}

}  // namespace
}  // namespace nbcc
