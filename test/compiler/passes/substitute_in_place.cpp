// SPDX-License-Identifier: BSD-3-Clause
// `in` where MPI_IN_PLACE says, for each collective; saved where it would be overwritten.

#include "support.h"

namespace nbcc {
namespace {

std::string substituted(const std::string &kind, int rank, const std::string &lines) {
  return after("substitute-in-place", cat("schedule @a ", kind, " rank ", rank,
                                          " of 3 root 1 order rounds rounds 3\n", lines, "end\n"));
}

TEST(SubstituteInPlace, AllgatherIsOwnBlock) {
  EXPECT_EQ(substituted("allgather", 2,
                        "in in[1]\nout out[3]\nscratch t[1] like in\n"
                        "%0 = copy in -> out[2] round 0\n%1 = send in to 0 round 0\n%2 = recv t "
                        "from 1 round 0\n"),
            "  in in[1]\n  out out[3]\n  scratch t[1] like out[2]\n"
            "  %0 = send out[2] to 0 round 0\n  %1 = recv t from 1 round 0\n");
}

TEST(SubstituteInPlace, AlltoallIsSavedWhereARoundSendsAndReceives) {
  EXPECT_EQ(substituted("alltoall", 0,
                        "in in[3]\nout out[3]\n%0 = copy in[0] -> out[0] round 0\n"
                        "%1 = send in[1] to 1 round 0\n%2 = recv out[1] from 1 round 0\n"),
            "  in in[3]\n  out out[3]\n  scratch in.saved[3] like out[0 +: 3]\n"
            "  %0 = copy out[0 +: 3] -> in.saved[0 +: 3] round 0\n"
            "  %1 = send in.saved[1] to 1 round 0\n  %2 = recv out[1] from 1 round 0\n");
}

TEST(SubstituteInPlace, AlltoallIsNotSavedWhereAllIsSentFirst) {
  EXPECT_EQ(substituted("alltoall", 0,
                        "in in[3]\nout out[3]\n%0 = copy in[0] -> out[0] round 0\n"
                        "%1 = send in[1] to 1 round 0\n%2 = recv out[1] from 1 round 1\n"),
            "  in in[3]\n  out out[3]\n  %0 = send out[1] to 1 round 0\n  %1 = recv out[1] from 1 "
            "round 1\n");
}

TEST(SubstituteInPlace, ACopyThatRestoresIsNoCopyOntoItself) {
  EXPECT_EQ(substituted("alltoall", 0,
                        "in in[3]\nout out[3]\n%0 = recv out[0] from 1 round 0\n"
                        "%1 = copy in[0] -> out[0] round 1\n"),
            "  in in[3]\n  out out[3]\n  scratch in.saved[3] like out[0 +: 3]\n"
            "  %0 = copy out[0 +: 3] -> in.saved[0 +: 3] round 0\n"
            "  %1 = recv out[0] from 1 round 0\n  %2 = copy in.saved[0] -> out[0] round 1\n");
}

TEST(SubstituteInPlace, AllreduceMayReduceOntoItsOperand) {
  EXPECT_EQ(substituted("allreduce", 0,
                        "in in[1]\nout out[1]\nscratch t[1] like in\n%0 = recv t from 1 round 0\n"
                        "%1 = reduce in[0 of 2] with t[0 of 2] -> out[0 of 2] round 1\n%2 = copy "
                        "in[1 of 2] -> out[1 of 2] round 1\n"),
            "  in in[1]\n  out out[1]\n  scratch t[1] like out\n  %0 = recv t from 1 round 0\n"
            "  %1 = reduce out[0 of 2] with t[0 of 2] -> out[0 of 2] round 1\n");
  EXPECT_NE(substituted("allreduce", 0,
                        "in in[1]\nout out[1]\nscratch t[1] like in\n%0 = recv t from 1 round 0\n"
                        "%1 = reduce in[0 of 2] with t[0 of 2] -> out[1 of 2] round 1\n%2 = copy "
                        "in[1 of 2] -> t[0 of 2] round 1\n")
                .find("in.saved"),
            std::string::npos);
}

TEST(SubstituteInPlace, AReductionOntoAnotherPlaceReadsWhatWasSaved) {
  EXPECT_NE(
      substituted(
          "alltoall", 0,
          "in in[3]\nout out[3]\nscratch t[2] like in[0]\n%0 = recv t[0 +: 2] from 1 round 0\n"
          "%1 = reduce in[0 +: 2] with t[0 +: 2] -> out[1 +: 2] round 1\n")
          .find("reduce in.saved[0 +: 2]"),
      std::string::npos);
}

TEST(SubstituteInPlace, ReduceScatterHasAllOfInInOut) {
  for (const char *kind : {"reduce_scatter", "reduce_scatter_block"})
    EXPECT_EQ(substituted(kind, 2,
                          "in in[3]\nout out[1]\nscratch t[2] like out\n"
                          "%0 = send in[0] to 0 round 0\n%1 = recv t[0] from 0 round 0\n"
                          "%2 = reduce t[0] with in[2] -> out round 1\n"),
              "  in in[3]\n  out out[3]\n  scratch t[2] like out[0]\n"
              "  %0 = send out[0] to 0 round 0\n  %1 = recv t[0] from 0 round 0\n"
              "  %2 = reduce t[0] with out[2] -> out[0] round 1\n");
}

TEST(SubstituteInPlace, ReduceScatterIsSavedWhereTheResultCoversABlockStillToBeRead) {
  EXPECT_EQ(substituted("reduce_scatter", 2,
                        "in in[3]\nout out[1]\n%0 = copy in[2] -> out round 0\n"
                        "%1 = send in[0] to 0 round 0\n"),
            "  in in[3]\n  out out[3]\n  scratch in.saved[3] like out[0 +: 3]\n"
            "  %0 = copy out[0 +: 3] -> in.saved[0 +: 3] round 0\n"
            "  %1 = copy in.saved[2] -> out[0] round 0\n"
            "  %2 = send in.saved[0] to 0 round 0\n");
  // On rank 0 that copy is one onto itself.
  EXPECT_EQ(substituted("reduce_scatter", 0,
                        "in in[3]\nout out[1]\n%0 = copy in[0] -> out round 0\n"
                        "%1 = send in[1] to 1 round 0\n"),
            "  in in[3]\n  out out[3]\n  %0 = send out[1] to 1 round 0\n");
}

TEST(SubstituteInPlace, ScanIsOut) {
  EXPECT_EQ(substituted("scan", 1,
                        "in in[1]\nout out[1]\nscratch t[1] like in\n%0 = copy in -> out round 0\n"
                        "%1 = send out to 2 round 0\n%2 = recv t from 0 round 0\n"
                        "%3 = reduce t with out -> out round 1\n"),
            "  in in[1]\n  out out[1]\n  scratch t[1] like out\n  %0 = send out to 2 round 0\n"
            "  %1 = recv t from 0 round 0\n  %2 = reduce t with out -> out round 1\n");
  // exscan's rank 0, too, has its contribution in `out`; what comes may not cover it.
  EXPECT_EQ(substituted("exscan", 1,
                        "in in[1]\nout out[1]\n%0 = recv out from 0 round 0\n"
                        "%1 = send in to 2 round 1\n"),
            "  in in[1]\n  out out[1]\n  scratch in.saved[1] like out\n"
            "  %0 = copy out -> in.saved round 0\n"
            "  %1 = recv out from 0 round 0\n  %2 = send in.saved to 2 round 1\n");
  EXPECT_EQ(substituted("exscan", 0, "in in[1]\nout out[1]\n%0 = send in to 1 round 0\n"),
            "  in in[1]\n  out out[1]\n  %0 = send out to 1 round 0\n");
}

TEST(SubstituteInPlace, RootedOnesOnlyAtTheRoot) {
  const std::string gather =
      "in in[1]\nout out[3]\n%0 = copy in -> out[1] round 0\n%1 = send in to 0 round 0\n";
  EXPECT_EQ(substituted("gather", 1, gather),
            "  in in[1]\n  out out[3]\n  %0 = send out[1] to 0 round 0\n");
  const std::string away = "in in[1]\nout out[3] absent\n%0 = send in to 1 round 0\n";
  EXPECT_EQ(substituted("gather", 0, away),
            "  in in[1]\n  out out[3] absent\n  %0 = send in to 1 round 0\n");
  EXPECT_EQ(substituted("reduce", 1, "in in[1]\nout out[1]\n%0 = copy in -> out round 0\n"),
            "  in in[1]\n  out out[1]\n");
}

TEST(SubstituteInPlace, ScatterRootNeverWritesIn) {
  EXPECT_EQ(
      substituted(
          "scatter", 1,
          "in in[3]\nout out[1]\n%0 = copy in[1] -> out round 0\n%1 = send in[0] to 0 round 0\n"),
      "  in in[3]\n  out out[1]\n  %0 = send in[0] to 0 round 0\n");
  // Another way to say it: there is nothing to do either.
  EXPECT_EQ(substituted("scatter", 1,
                        "in in[3]\nout out[1]\nscratch t[3] like in[0 +: 3]\n%0 = copy in[0 +: 3] "
                        "-> t[0 +: 3] round 0\n"
                        "%1 = send t[2] to 2 round 0\n%2 = copy t[1] -> out round 1\n"),
            "  in in[3]\n  out out[1]\n  scratch t[3] like in[0 +: 3]\n  %0 = copy in[0 +: 3] -> "
            "t[0 +: 3] round 0\n"
            "  %1 = send t[2] to 2 round 0\n");
  // `out` as a place to work in.
  EXPECT_EQ(
      substituted(
          "scatter", 1,
          "in in[3]\nout out[1]\n%0 = copy in[2] -> out round 0\n%1 = send out to 2 round 0\n"),
      "  in in[3]\n  out out[1]\n  scratch out.unused[1] like in[1]\n  %0 = copy in[2] -> "
      "out.unused round 0\n"
      "  %1 = send out.unused to 2 round 0\n");
}

TEST(SubstituteInPlace, WhatIsNotOfItsShapeIsLeftToProve) {
  EXPECT_EQ(substituted("allgather", 2, "in in[5]\nout out[2]\n%0 = send in[4] to 0 round 0\n"),
            "  in in[5]\n  out out[2]\n  %0 = send in[4] to 0 round 0\n");
  EXPECT_EQ(substituted("barrier", 2, "%0 = signal to 0 round 0\n"),
            "  %0 = signal to 0 round 0\n");
}

}  // namespace
}  // namespace nbcc
