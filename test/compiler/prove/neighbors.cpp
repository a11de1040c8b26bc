// SPDX-License-Identifier: BSD-3-Clause
// neighbors.cpp - neighbourhood collectives: right, and wrong in each way that they can be.

#include "saying.h"

namespace nbcc {
namespace {

// A periodic line of two: what leaves downwards, in[0], arrives from above, in out[1].
const std::string &alltoallOfTwo() {
  static const std::string right =
      text("neighbor_alltoall", {"sources 1[1], 1[0]\ndestinations 1, 1\nin in[2]\nout out[2]\n"
                                 "%0 = send in[0] to 1\n%1 = send in[1] to 1\n"
                                 "%2 = recv out[1] from 1\n%3 = recv out[0] from 1\n",
                                 "sources 0[1], 0[0]\ndestinations 0, 0\nin in[2]\nout out[2]\n"
                                 "%0 = send in[0] to 0\n%1 = send in[1] to 0\n"
                                 "%2 = recv out[1] from 0\n%3 = recv out[0] from 0\n"});
  return right;
}

TEST(Neighbors, slotsThatBelongTogetherMeet) {
  Proof proof;
  EXPECT_EQ(said(alltoallOfTwo(), &proof), "");
  EXPECT_TRUE(proof.anyLengths);
  EXPECT_EQ(
      broken(alltoallOfTwo(), "out[1] from 1\n%3 = recv out[0]", "out[0] from 1\n%3 = recv out[1]"),
      "error: at the end out[0] of rank 0 holds in[0] of rank 1, which is for rank 0, not "
      "in[1] of rank 1, which is for rank 0, last written in round 0\n");
}

// A v-variant may have another length for each edge: the slots cross in length, too.
TEST(Neighbors, eachEdgeHasALengthOfItsOwn) {
  const auto turned = [](const char *like) {
    return text(
        "neighbor_alltoall",
        {cat("sources 0[1], 0[0]\ndestinations 0, 0\nin in[2]\nout out[2]\nscratch t[2] like ",
             like, "[0 +: 2]\n%0 = copy in[0] -> t[1]\n%1 = copy in[1] -> t[0]\n",
             "%2 = copy t[0 +: 2] -> out[0 +: 2]\n")});
  };
  Proof proof;
  EXPECT_EQ(said(turned("out"), &proof), "");
  EXPECT_TRUE(proof.anyLengths);
  EXPECT_EQ(said(turned("in"), &proof), "");
  EXPECT_FALSE(proof.anyLengths);
}

TEST(Neighbors, allgatherTakesTheSourcesBlock) {
  const std::string right =
      text("neighbor_allgather", {"sources 1[0], none\ndestinations none, 1\nin in[1]\nout out[2]\n"
                                  "%0 = send in to 1\n%1 = recv out[0] from 1\n",
                                  "sources none, 0[1]\ndestinations 0, none\nin in[1]\nout out[2]\n"
                                  "%0 = send in to 0\n%1 = recv out[1] from 0\n"});
  Proof proof;
  EXPECT_EQ(said(right, &proof), "");
  EXPECT_TRUE(proof.anyLengths);
  EXPECT_EQ(broken(right,
                   "sources 1[0], none\ndestinations none, 1\nin in[1]\nout out[2]\n"
                   "%0 = send in to 1\n%1 = recv out[0] from 1\n",
                   "sources 1[0], 0[0]\ndestinations 0, 1\nin in[1]\nout out[2]\n"
                   "%0 = send in to 1\n%1 = recv out[0] from 1\n"),
            "error: rank 0 never writes out[1], where at the end the block of rank 0 belongs\n");
}

// MPI 4.1, section 8.6: of MPI_PROC_NULL the buffer is neither communicated nor updated.
TEST(Neighbors, whatIsNobodysIsNotWritten) {
  const std::string right =
      text("neighbor_allgather", {"sources none, none, none\ndestinations\n"
                                  "in in[1]\nout out[3]\nscratch t[1]"
                                  " like out[1]\n%0 = copy in -> t round 0\n"});
  Proof proof;
  EXPECT_EQ(said(right, &proof), "");
  EXPECT_FALSE(proof.anyLengths);  // nobody's block is as long as no other
  EXPECT_EQ(
      broken(right, "in -> t", "in -> out[2]"),
      "error: rank 0 copies in to out[2] in round 0, but source 2 is nobody: there the buffer "
      "is left as it is\n");
  EXPECT_EQ(broken(right, "in -> t", "in[1 of 2] -> out[1 of 2]"),
            "error: rank 0 copies in[1 of 2] to out[1 of 2] in round 0, but source 0 is nobody: "
            "there the buffer is left as it is\n");
}

TEST(Neighbors, bothEndsSayTheSame) {
  const std::string &right = alltoallOfTwo();
  EXPECT_EQ(broken(right, "sources 0[1], 0[0]", "sources 0[1], 0[2]"),
            "error: source 1 of rank 1 is destination 2 of rank 0, but that is not there: it has "
            "2\n");
  EXPECT_EQ(broken(right, "destinations 1, 1", "destinations 0, 1"),
            "error: source 1 of rank 1 is destination 0 of rank 0, but that is rank 0\n");
  EXPECT_EQ(broken(right, "destinations 1, 1", "destinations none, 1"),
            "error: source 1 of rank 1 is destination 0 of rank 0, but that is nobody's\n");
  EXPECT_EQ(broken(right, "sources 0[1], 0[0]", "sources 0[1], none"),
            "error: the ranks have 4 destinations, but 3 sources: not every edge stands at both "
            "ends\n");
  EXPECT_EQ(broken(right, "in in[2]", "in in[3]"),
            "error: in of rank 0 has 3 blocks, but in neighbor_alltoall among these neighbours it "
            "has 2\n");
  EXPECT_EQ(said(text("neighbor_alltoall", {"sources none, 0[0]\ndestinations 0\nin in[1]\n"})),
            "error: rank 0 has no buffer `out`, where the result belongs\n");
}

TEST(Neighbors, whoHasNoneNeedsNoBuffers) {
  EXPECT_EQ(said(text("neighbor_alltoall", {"sources none\ndestinations none\n", "in in[0]\n"})),
            "");
}

}  // namespace
}  // namespace nbcc
