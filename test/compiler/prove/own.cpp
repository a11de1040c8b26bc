// SPDX-License-Identifier: BSD-3-Clause
// own.cpp - a user's own collective: every promise is needed, and each that is broken is told.

#include <gtest/gtest.h>

#include "saying.h"

namespace nbcc {
namespace {

/// Two ranks swap a block each, and both get the reduction of the others.
const std::string kSwap =
    text("own swap",
         {"in in[2]\nout out[2]\nscratch t[1] like in[1]\n"
          "promise out[0] == in[0] of 1 at 3:5\npromise out[1] == reduce in[1] of 0, 1 at 4:5\n"
          "%0 = send in[0 +: 2] to 1 round 0\n%1 = recv out[0], t from 1 round 0\n"
          "%2 = reduce in[1] with t -> out[1] round 1\n",
          "in in[2]\nout out[2]\nscratch t[1] like in[1]\n"
          "promise out[0] == in[0] of 0 at 3:5\npromise out[1] == reduce in[1] of 0, 1 at 4:5\n"
          "%0 = send in[0 +: 2] to 0 round 0\n%1 = recv out[0], t from 0 round 0\n"
          "%2 = reduce t with in[1] -> out[1] round 1\n"});

TEST(Own, HoldsAndFindsTheOrder) {
  Proof proof;
  EXPECT_EQ(said(kSwap, &proof), "");
  EXPECT_TRUE(proof.rankOrder && proof.bitwiseSame && proof.anyLengths);
  std::string swapped = kSwap;
  swapped.replace(swapped.find("t with in[1]"), 12, "in[1] with t");
  EXPECT_EQ(said(swapped, &proof), "");
  EXPECT_TRUE(!proof.rankOrder && proof.bitwiseSame);  // up to the order of two operands
}

TEST(Own, APromiseThatIsBroken) {
  EXPECT_EQ(broken(kSwap, "out[0] == in[0] of 1", "out[0] == in[0] of 0"),
            "error: at the end out[0] of rank 0 holds in[0] of rank 1, not in[0] of rank 0, last "
            "written in round 0\nnote: promised here\n");
  EXPECT_EQ(broken(kSwap, "out[0] == in[0] of 1", "out[0] == in[1] of 1"),
            "error: at the end out[0] of rank 0 holds in[0] of rank 1, not in[1] of rank 1, last "
            "written in round 0\nnote: promised here\n");
  EXPECT_EQ(broken(kSwap, "reduce in[1] of 0, 1", "in[1] of 0"),
            "error: at the end out[1] of rank 0 holds the combination (0 1), not in[1] of rank 0, "
            "last written in round 1\nnote: promised here\n");
  EXPECT_EQ(broken(kSwap, "reduce in[1] of 0, 1", "reduce in[1] of 0, in[0] of 1"),
            "error: at the end out[1] of rank 0 holds another reduction: in[1] of rank 1 does not "
            "belong there; in[0] of rank 1 is missing, last written in round 1\n"
            "note: promised here\n");
  EXPECT_EQ(
      broken(kSwap, "reduce in[1] with t ->", "reduce t with t ->"),
      "error: at the end out[1] of rank 0 holds another reduction: in[1] of rank 1 is counted "
      "twice; in[1] of rank 0 is missing, last written in round 1\nnote: promised here\n");
  EXPECT_EQ(broken(kSwap, "%2 = reduce in[1] with t -> out[1] round 1\n", ""),
            "error: rank 0 never writes out[1], where at the end a reduction belongs\n"
            "note: promised here\n");
}

TEST(Own, WhatIsNotPromisedMayHoldAnything) {
  EXPECT_EQ(broken(kSwap, "promise out[0] == in[0] of 1 at 3:5\n", ""), "");
  EXPECT_EQ(said(text("own nothing", {"out out[3]\n"})), "");
}

TEST(Own, DataAreThereFromTheBeginning) {
  const std::string ring =
      text("own turn", {"data data[1]\nscratch t[1] like data\npromise data == data[0] of 1\n"
                        "%0 = send data to 1 round 0\n%1 = recv t from 1 round 0\n"
                        "%2 = copy t -> data round 1\n",
                        "data data[1]\nscratch t[1] like data\npromise data == data[0] of 0\n"
                        "%0 = send data to 0 round 0\n%1 = recv t from 0 round 0\n"
                        "%2 = copy t -> data round 1\n"});
  EXPECT_EQ(said(ring), "");
  EXPECT_EQ(broken(ring, "%2 = copy t -> data round 1\n", ""),
            "error: at the end data of rank 0 holds data of rank 0, not data of rank 1\n"
            "note: promised here\n");
}

TEST(Own, LengthsAreEqualWherePromisesSaySo) {
  // Blocks of `in` go to where no promise puts them: that is right for equal lengths only.
  const std::string right = text("own c", {"in in[2]\nout out[2]\npromise out[0] == in[0] of 0\n"
                                           "%0 = copy in[0] -> out[0]\n"});
  Proof proof;
  EXPECT_EQ(said(right, &proof), "");
  EXPECT_TRUE(proof.anyLengths);
  std::string more = right;
  more.insert(more.find("end"), "%1 = copy in[1] -> out[1]\n");
  EXPECT_EQ(said(more, &proof), "");
  EXPECT_FALSE(proof.anyLengths);
  more.insert(more.find("%0"), "promise out[1] == in[1] of 0\n");
  EXPECT_EQ(said(more, &proof), "");
  EXPECT_TRUE(proof.anyLengths);
}

TEST(Own, AVectorIsAsLongOnEveryRank) {
  Proof proof;
  const auto program = [](const std::string &vector) {
    const std::string buffers = "in in[1]" + vector + "\nout out[2]\nscratch t[1] like in\n";
    return text("own c", {buffers + "%0 = send in to 1\n", buffers + "%0 = recv t from 0\n"});
  };
  EXPECT_EQ(said(program(" vector"), &proof), "");
  EXPECT_TRUE(proof.anyLengths);
  EXPECT_EQ(said(program(""), &proof), "");
  EXPECT_FALSE(proof.anyLengths);
}

TEST(Own, ResultsAreComparedWhereTheyArePromisedAlike) {
  // Ranks 0 and 1 reduce all three, ((0 1) 2) and (0 (1 2)); rank 2 another set.
  const auto lines = [](const std::string &promise, const std::string &steps) {
    return "in in[1]\nout out[1]\nscratch t[3] like in\npromise out == reduce in[0] of " + promise +
           "\n" + steps;
  };
  const Lines ranks = {
      lines("0 +: 3",
            "%0 = send in to 1 round 0\n%1 = send in to 2 round 0\n"
            "%2 = recv t[1] from 1 round 0\n%3 = recv t[2] from 2 round 0\n"
            "%4 = reduce in with t[1] -> out round 1\n%5 = reduce out with t[2] -> out "
            "round 1\n"),
      lines("0 +: 3",
            "%0 = send in to 0 round 0\n%1 = send in to 2 round 0\n"
            "%2 = recv t[0] from 0 round 0\n%3 = recv t[2] from 2 round 0\n"
            "%4 = reduce in with t[2] -> out round 1\n%5 = reduce t[0] with out -> out "
            "round 1\n"),
      lines("0, 2",
            "%0 = send in to 0 round 0\n%1 = send in to 1 round 0\n"
            "%2 = recv t[0] from 0 round 0\n%3 = recv t[1] from 1 round 0\n"
            "%4 = reduce t[0] with in -> out round 1\n")};
  Proof proof;
  EXPECT_EQ(said(text("own c", ranks), &proof), "");
  EXPECT_TRUE(proof.rankOrder);  // 0 and 2 ascend, though 1 is between them
  EXPECT_FALSE(proof.bitwiseSame);
}

TEST(Own, SchedulesOfOneCall) {
  EXPECT_EQ(said(text("own c", {"in in[1]\nout out[1]\n", "in in[2]\nout out[1]\n"})),
            "error: rank 1 has another in than rank 0: 2 blocks\n");
  EXPECT_EQ(said(text("own c", {"in in[1]\nout out[1]\n", "out out[1]\n"})),
            "error: rank 1 has no buffer `in`, unlike rank 0\n");
  EXPECT_EQ(said(text("own c", {"out out[1]\n", "data data[1]\n"})),
            "error: rank 1 has no buffer `out`, unlike rank 0\n");
  EXPECT_EQ(said(text("own c", {"in in[1]\ndata data[1]\n"})),
            "error: rank 0 has `in` beside `data`, which stands for both\n");
  EXPECT_EQ(said(text("own c", {"in in[1]\nout out[1]\npromise out == in[0] of 1\n",
                                "in in[1] absent\nout out[1]\n"})),
            "error: rank 0 is promised what rank 1 has in in, which is absent there\n");
  std::string names = text("own c", {"out out[1]\n", "out out[1]\n"});
  names.replace(names.rfind("own c"), 5, "own d");
  EXPECT_EQ(said(names), "error: rank 1 is in d, and rank 0 in c\n");
}

}  // namespace
}  // namespace nbcc
