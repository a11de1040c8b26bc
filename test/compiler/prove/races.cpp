// SPDX-License-Identifier: BSD-3-Clause
// Steps that may overlap touch the same bytes only to read; none shifts onto itself.

#include "saying.h"

namespace nbcc {
namespace {

/// Rank 0 passes its data on to 1 and takes it back into the same place.
std::string passOn(const std::string &order, const std::string &back) {
  return text("bcast " + order,
              {"data data[1]\nscratch t[2] like data\n%0 = send data to 1 round 0\n"
               "%1 = recv " +
                   back + "\n",
               "data data[1]\n%0 = recv data from 0 round 0\n%1 = send data to 0 round 1 " +
                   std::string(order == "waits" ? "after %0" : "") + "\n"});
}

TEST(Races, ARoundReceivesIntoWhatItSends) {
  const std::string fine =
      text("allgather", {"in in[1]\nout out[2]\n%0 = copy in -> out[0] round 0\n"
                         "%1 = send out[0] to 1 round 0\n%2 = recv out[1] from 1 round 0\n",
                         "in in[1]\nout out[2]\n%0 = copy in -> out[1] round 0\n"
                         "%1 = send out[1] to 0 round 0\n%2 = recv out[0] from 0 round 0\n"});
  EXPECT_EQ(said(fine), "");
  EXPECT_EQ(
      broken(fine, "recv out[1] from 1", "recv out[0] from 1"),
      "error: rank 0 receives out[0] from rank 1 in round 0, while it sends out[0] to rank 1: "
      "out[0] is in both\n"
      "note: nothing orders this before it\n");
}

TEST(Races, AMissingWait) {
  EXPECT_EQ(said(passOn("waits", "data from 1 round 1 after %0")), "");
  EXPECT_EQ(said(passOn("waits", "data from 1 round 1")),
            "error: rank 0 receives data from rank 1 in round 1, while it sends data to rank 1 in "
            "round 0: data is in both\n"
            "note: nothing orders this before it\n");
}

TEST(Races, RoundsAreInOrder) {
  EXPECT_EQ(said(passOn("rounds", "data from 1 round 1")), "");
}

TEST(Races, WaitsLeadOnThroughOthers) {
  const std::string chain =
      text("bcast waits", {"data data[1]\nscratch t[2] like data\n%0 = copy data -> t[0]\n"
                           "%1 = copy t[0] -> t[1] after %0\n%2 = copy t[1] -> data after %1\n"
                           "%3 = copy data -> t[0] after %2\n"});
  EXPECT_EQ(said(chain), "");
  EXPECT_EQ(
      broken(chain, "after %2", "after %1"),
      "error: rank 0 copies data to t[0] in round 0, while it copies t[1] to data: data is in "
      "both\n"
      "note: nothing orders this before it\n");
}

TEST(Races, AllReadersAreWaitedFor) {
  const std::string readers =
      text("bcast waits", {"data data[1]\nscratch t[3] like data\n%0 = copy data -> t[0]\n"
                           "%1 = copy data -> t[1]\n%2 = copy data -> t[2]\n"
                           "%3 = copy t[1] -> data after %0, %1, %2\n"});
  EXPECT_EQ(said(readers), "");
  for (const char *fewer : {"after %0, %1", "after %0, %2", "after %1, %2"})
    EXPECT_NE(broken(readers, "after %0, %1, %2", fewer), "") << fewer;
}

TEST(Races, OnlyThePartThatOverlapsIsNamed) {
  EXPECT_EQ(said(text("bcast waits", {"data data[1]\nscratch t[1] like data\n"
                                      "%0 = copy data[0 of 2] -> t[0 of 2]\n"
                                      "%1 = copy t[1 +: 2 of 3] -> data[1 +: 2 of 3]\n"})),
            "error: rank 0 copies t[1 +: 2 of 3] to data[1 +: 2 of 3] in round 0, while it copies "
            "data[0 of 2] to t[0 of 2]: t[2 of 6] is in both\n"
            "note: nothing orders this before it\n");
}

TEST(Races, ShiftedOntoItself) {
  const auto copy = [](const char *step) {
    return said(
        text("allgather", {cat("in in[1]\nout out[1]\nscratch t[4] like in, in, in, in\n"
                               "%0 = copy in, in, in, in -> t[0 +: 4]\n%1 = copy in -> out\n",
                               step, "\n")}));
  };
  EXPECT_EQ(copy("%2 = copy t[0 +: 2] -> t[2 +: 2]"), "");
  EXPECT_EQ(copy("%2 = copy t[0 +: 2] -> t[0 +: 2]"), "");
  EXPECT_EQ(copy("%2 = copy t[0 +: 2] -> t[1 +: 2]"),
            "error: rank 0 copies t[0 +: 2] to t[1 +: 2] in round 0: it writes to what it reads, "
            "but shifted\n");
  EXPECT_EQ(copy("%2 = copy t[0 +: 2] -> t[3], t[3]"),
            "error: rank 0 copies t[0 +: 2] to t[3], t[3] in round 0: it writes the same place "
            "twice\n");
}

TEST(Races, AReductionMayWriteToAnOperandExactly) {
  const auto reduce = [](const char *step) {
    return said(text("allreduce", {cat("in in[1]\nout out[1]\nscratch t[3] like in\n"
                                       "%0 = copy in, in, in -> t[0 +: 3]\n%1 = copy in -> out\n",
                                       step, "\n")}));
  };
  EXPECT_EQ(reduce("%2 = reduce t[0 +: 2] with t[1 +: 2] -> t[0 +: 2]"),
            "error: rank 0 reduces t[0 +: 2] with t[1 +: 2] to t[0 +: 2] in round 0: it writes to "
            "what it reads, but shifted\n");
  EXPECT_EQ(reduce("%2 = reduce t[0] with t[1] -> t[0]"), "");
  EXPECT_EQ(reduce("%2 = reduce t[0] with t[1] -> t[1]"), "");
}

}  // namespace
}  // namespace nbcc
