// SPDX-License-Identifier: BSD-3-Clause
// Nothing is read that was not written.

#include "saying.h"

namespace nbcc {
namespace {

TEST(Values, ScratchBeginsUndefined) {
  const std::string through = text("allgather", {"in in[1]\nout out[1]\nscratch t[1] like in\n"
                                                 "%0 = copy in -> t\n%1 = copy t -> out\n"});
  EXPECT_EQ(said(through), "");
  EXPECT_EQ(broken(through, "%0 = copy in -> t\n%1", "%0"),
            "error: rank 0 copies t to out in round 0, but t has not been written\n");
}

TEST(Values, WhatIsNotThereIsNotSent) {
  // Told once, at the first to read it; not again of those who received it.
  EXPECT_EQ(
      said(text("bcast root 0",
                {"data data[1]\nscratch t[1] like data\n%0 = copy data[0 of 3] -> t[0 of 3]\n"
                 "%1 = send t to 1 round 0\n",
                 "data data[1]\n%0 = recv data from 0 round 0\n%1 = send data to 2 round 1\n",
                 "data data[1]\n%0 = recv data from 1 round 0\n"})),
      "error: rank 0 sends t to rank 1 in round 0, but t[1 +: 2 of 3] has not been written\n");
}

TEST(Values, OnlyTheRootHasData) {
  EXPECT_EQ(said(text("bcast root 1", {"data data[1]\n%0 = send data to 1\n",
                                       "data data[1]\n%0 = recv data from 0\n"})),
            "error: rank 0 sends data to rank 1 in round 0, but data has not been written\n");
}

TEST(Values, InPlaceThereIsNoIn) {
  EXPECT_EQ(said(text("allreduce in-place", {"in in[1]\nout out[1]\n%0 = copy in -> out\n"})),
            "error: rank 0 copies in to out in round 0, but in has not been written\n");
}

TEST(Values, BothOperandsOfAReduction) {
  const char *step[] = {"reduce in with t -> out", "reduce t with in -> out"};
  for (const char *reduce : step)
    EXPECT_NE(said(text("allreduce",
                        {cat("in in[1]\nout out[1]\nscratch t[1] like in\n%0 = ", reduce, "\n")}))
                  .find("but t has not been written"),
              std::string::npos);
}

TEST(Values, AReductionCombinesPartByPart) {
  // One operand changes from the first half to the second, the other does not.
  for (const char *reduce : {"in with t", "t with in"})
    EXPECT_EQ(
        said(text("allreduce",
                  {cat("in in[1]\nout out[1]\nscratch t[1] like in\n"
                       "%0 = copy in[1 of 2] -> t[1 of 2] round 0\n%1 = send in to 1 round 0\n"
                       "%2 = recv t[0 of 2] from 1 round 0\n%3 = reduce ",
                       reduce, " -> out round 1\n"),
                   "in in[1]\nout out[1]\nscratch t[1] like in\n%0 = recv t from 0\n"
                   "%1 = send in[0 of 2] to 0\n%2 = reduce t with in -> out round 1\n"})),
        "error: contribution of rank 0 is counted twice in out[1 of 2] of rank 0, and that of "
        "rank 1 is missing, last written in round 1\n");
}

}  // namespace
}  // namespace nbcc
