// SPDX-License-Identifier: BSD-3-Clause
// Claims are compared with what was counted.

#include "saying.h"

namespace nbcc {
namespace {

using What = ast::Claim::What;
using Operator = ast::Operator;

/// Three ranks in a chain: rank 1 sends two halves of a vector on, in two rounds.
const std::string inAChain =
    text("bcast rounds 3", {"data data[1]\n%0 = send data to 1 round 0\n",
                            "data data[1]\n%0 = recv data from 0 round 0\n"
                            "%1 = send data[0 of 3] to 2 round 1\n"
                            "%2 = send data[1 +: 2 of 3] to 2 round 2\n",
                            "data data[1]\n%0 = recv data[0 of 3] from 1\n"
                            "%1 = recv data[1 +: 2 of 3] from 1 round 1\n"});

std::string claim(What what, Operator op, int64_t bound) {
  return said(inAChain, nullptr, {{what, op, bound, {}}});
}

TEST(Claims, WhatIsCounted) {
  Proof proof;
  EXPECT_EQ(said(inAChain, &proof), "");
  EXPECT_EQ(proof.ranks, 3);
  EXPECT_EQ(proof.rounds, 3);
  EXPECT_EQ(proof.messages, 3);
  EXPECT_EQ(proof.mostMessages, 2);
  EXPECT_EQ(proof.mostSent, (Amount{1, 1}));
}

TEST(Claims, Rounds) {
  EXPECT_EQ(claim(What::rounds, Operator::eq, 3), "");
  EXPECT_EQ(claim(What::rounds, Operator::le, 3), "");
  EXPECT_EQ(claim(What::rounds, Operator::lt, 4), "");
  EXPECT_EQ(claim(What::rounds, Operator::ge, 3), "");
  EXPECT_EQ(claim(What::rounds, Operator::gt, 2), "");
  EXPECT_EQ(claim(What::rounds, Operator::eq, 2),
            "error: claims rounds == 2, but it takes 3 with 3 ranks\n");
  EXPECT_EQ(claim(What::rounds, Operator::le, 2),
            "error: claims rounds <= 2, but it takes 3 with 3 ranks\n");
  EXPECT_EQ(claim(What::rounds, Operator::lt, 3),
            "error: claims rounds < 3, but it takes 3 with 3 ranks\n");
  EXPECT_EQ(claim(What::rounds, Operator::gt, 3),
            "error: claims rounds > 3, but it takes 3 with 3 ranks\n");
}

TEST(Claims, Messages) {
  EXPECT_EQ(claim(What::messages, Operator::eq, 2), "");
  EXPECT_EQ(claim(What::messages, Operator::eq, 3),
            "error: claims messages == 3, but a rank sends 2 with 3 ranks\n");
}

TEST(Claims, MessagesAreThoseOfTheProgram) {
  // What the passes left has merged two.
  const std::string merged = text("bcast waits", {"data data[1]\n%0 = send data to 1\n",
                                                  "data data[1]\n%0 = recv data from 0\n"});
  EXPECT_EQ(said(merged, nullptr, {{What::messages, Operator::eq, 2, {}}}), "");
  EXPECT_NE(said(merged, nullptr, {{What::sent, Operator::eq, 2, {}}}), "");
}

TEST(Claims, SentIsAddedExactly) {
  EXPECT_EQ(claim(What::sent, Operator::eq, 1), "");
  // 2/3 - 1/7, and so on: nothing a float would get right.
  const std::string parts =
      text("bcast", {"data data[1]\nscratch t[1] like data\n%0 = copy data -> t\n"
                     "%1 = send t[0 of 3], t[0 of 7] to 1\n%2 = send data to 1\n",
                     "data data[1]\nscratch t[1] like data\nscratch u[1] like data\n"
                     "%0 = recv t[0 of 3], u[0 of 7] from 0\n%1 = recv data from 0\n"});
  Proof proof;
  EXPECT_EQ(said(parts, &proof), "");
  EXPECT_EQ(proof.mostSent, (Amount{31, 21}));
  EXPECT_EQ(said(parts, nullptr, {{What::sent, Operator::le, 1, {}}}),
            "error: claims sent <= 1, but a rank sends 31/21 with 2 ranks\n");
}

/// Each rank gets both others and combines them in an order of its own.
std::string combine(const std::string &at0, const std::string &at1) {
  const auto rank = [](int me, const std::string &steps) {
    std::string all = "in in[1]\nout out[1]\nscratch t[3] like in\n";
    all += cat("%0 = copy in -> t[", me, "]\n");
    int step = 1;
    for (int r = 0; r < 3; ++r)
      if (r != me) {
        all += cat("%", step++, " = send in to ", r, "\n");
        all += cat("%", step++, " = recv t[", r, "] from ", r, "\n");
      }
    return all + steps;
  };
  return text("allreduce", {rank(0, at0), rank(1, at1), rank(2, at0)});
}

const std::string leftFirst =
    "%5 = reduce t[0] with t[1] -> out round 1\n%6 = reduce out with t[2] -> out round 1\n";
const std::string rightFirst =
    "%5 = reduce t[1] with t[2] -> out round 1\n%6 = reduce t[0] with out -> out round 1\n";
const std::string otherWayRound =
    "%5 = reduce t[1] with t[0] -> out round 1\n%6 = reduce t[2] with out -> out round 1\n";

TEST(Claims, RankOrder) {
  const std::vector<ClaimValue> claims{{What::rank_order, Operator::eq, 0, {}}};
  EXPECT_EQ(said(combine(leftFirst, leftFirst), nullptr, claims), "");
  EXPECT_EQ(said(combine(leftFirst, rightFirst), nullptr, claims), "");
  EXPECT_EQ(said(combine(leftFirst, otherWayRound), nullptr, claims),
            "error: claims rank_order, but with 3 ranks rank 1 combines out as (2 (1 0))\n");
}

TEST(Claims, BitwiseSame) {
  const std::vector<ClaimValue> claims{{What::bitwise_same, Operator::eq, 0, {}}};
  EXPECT_EQ(said(combine(leftFirst, leftFirst), nullptr, claims), "");
  EXPECT_EQ(said(combine(leftFirst, otherWayRound), nullptr, claims), "");
  EXPECT_EQ(said(combine(leftFirst, rightFirst), nullptr, claims),
            "error: claims bitwise_same, but with 3 ranks rank 0 combines as ((0 1) 2) what rank 1 "
            "combines as (0 (1 2))\n");
}

TEST(Claims, AnyLengths) {
  // Rank 1's block goes through scratch that is as long as its own, or as rank 0's.
  const auto through = [](int like) {
    return text("gather",
                {"in in[1]\nout out[2]\n%0 = copy in -> out[0]\n%1 = recv out[1] from 1\n",
                 cat("in in[1]\nout out[2] absent\nscratch t[1] like out[", like,
                     "]\n%0 = copy in -> t\n%1 = send t to 0\n")});
  };
  const std::vector<ClaimValue> claims{{What::any_lengths, Operator::eq, 0, {}}};
  EXPECT_EQ(said(through(1), nullptr, claims), "");
  EXPECT_EQ(said(through(0)), "");
  EXPECT_EQ(
      said(through(0), nullptr, claims),
      "error: claims any_lengths, but with 2 ranks it is right only if all blocks are equally "
      "long\n");
}

}  // namespace
}  // namespace nbcc
