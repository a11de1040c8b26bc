// SPDX-License-Identifier: BSD-3-Clause
// own.cpp - what the equations of a declared collective promise one rank, and which are refused.

#include "program.h"

namespace nbcc {
namespace {

/// An algorithm that does nothing, of a collective with this head and these equations.
std::string declare(const std::string &head, const std::string &ensures) {
  return "collective c { " + head + " ensures {\n" + ensures + "\n} }\nc nothing { }";
}

const std::string kRows = "in blocks; out blocks[2 * P];";

TEST(Own, rowsOfBlocksAreOnePromise) {
  Program p(
      declare(kRows,
              "out[0 +: P] == in of (me + 1) mod P;\n"
              "out[{ i in P ..< 2 * P : i != P + 1 }] == in[{ i in 0 ..< P : i != 1 }] of 0;"));
  EXPECT_EQ(p.steps({.ranks = 4, .rank = 3}),
            "in in[4]\nout out[8]\n"
            "promise out[0 +: 4] == in[0 +: 4] of 0 at 2:1\n"
            "promise out[4] == in[0] of 0 at 3:1\n"
            "promise out[6 +: 2] == in[2 +: 2] of 0 at 3:1\n");
}

TEST(Own, reductionsAreOfRanksInAscendingOrder) {
  Program p(declare("in blocks; out blocks;",
                    "out[0] == reduce in[r] of { r in 0 ..< P : r != 2 };\n"
                    "group g[i in 0 ..< P] = (P - i) mod P;\n"
                    "for k in 1 ..< P { out[k] == reduce in[k] of g; }"));
  EXPECT_EQ(p.steps({.ranks = 4, .rank = 1}),
            "in in[4]\nout out[4]\n"
            "promise out[0] == reduce in[0] of 0, in[1] of 1, in[3] of 3 at 2:1\n"
            "promise out[1] == reduce in[1] of 0 +: 4 at 4:20\n"
            "promise out[2] == reduce in[2] of 0 +: 4 at 4:20\n"
            "promise out[3] == reduce in[3] of 0 +: 4 at 4:20\n");
}

TEST(Own, theSameTwiceIsOnce) {
  Program p(declare(kRows, "out[0] == in[0] of 0; out[0 +: 2] == in[0 +: 2] of 0;"));
  EXPECT_EQ(p.steps({.ranks = 2, .rank = 0}),
            "in in[2]\nout out[4]\n"
            "promise out[0] == in[0] of 0 at 2:1\n"
            "promise out[1] == in[1] of 0 at 2:23\n");
  EXPECT_EQ(Program(declare(kRows, "out[0] == in[0] of 0;\nout[0 +: 2] == in[0 +: 2] of 1;"))
                .mistake({.ranks = 2}),
            "3:1: out[0] has another promise already (rank 0 of 2)");
}

TEST(Own, whatIsAtTheRootIsPromisedThere) {
  Program p(
      declare("root; in block; out blocks at root;", "for i in 0 ..< P { out[i] == in of i; }"));
  EXPECT_EQ(p.steps({.ranks = 2, .rank = 0, .root = 1}), "in in[1]\nout out[2] absent\n");
  EXPECT_EQ(p.steps({.ranks = 2, .rank = 1, .root = 1}),
            "in in[1]\nout out[2]\n"
            "promise out[0] == in[0] of 0 at 2:20\n"
            "promise out[1] == in[0] of 1 at 2:20\n");
  EXPECT_EQ(
      Program(declare("root; in block at root; out block;", "out == in of 0;"))
          .mistake({.ranks = 2, .root = 1}),
      "2:14: promises what rank 0 has in in, which is significant only at the root (rank 0 of 2, "
      "root 1)");
}

TEST(Own, mistakesNameTheRank) {
  const auto mistake = [](const std::string &ensures) {
    return Program(declare(kRows, ensures)).mistake({.ranks = 3, .rank = 1});
  };
  EXPECT_EQ(mistake("out[0] == in[0] of P;"),
            "2:20: promises what rank 3 has, which is not in 0..2 (rank 1 of 3)");
  EXPECT_EQ(mistake("out[2 * P] == in[0] of 0;"),
            "2:1: out[6] is outside out, which has 6 blocks (rank 1 of 3)");
  EXPECT_EQ(mistake("out == in of 0;"), "2:1: promises 6 blocks to be 3 blocks (rank 1 of 3)");
  EXPECT_EQ(mistake("out[0] == reduce in[0] of { r in 0 ..< P : r > 5 };"),
            "2:1: promises a reduction of no rank, which has no value (rank 1 of 3)");
  EXPECT_EQ(Program(declare("in blocks[P - 4]; out block;", "")).mistake({.ranks = 3}),
            "1:28: -1 blocks (P = 3)");
  EXPECT_EQ(Program(declare("in blocks[pow(2, 24) + P]; out block;", "")).mistake({.ranks = 3}),
            "1:37: in has 16777219 blocks; there are at most 16777216");
}

TEST(Own, theNumberOfBlocksMayBeAFold) {
  Program p(declare("in blocks[fold s = 0 for i in 0 ..< P : s + i]; out block;", ""));
  EXPECT_EQ(p.steps({.ranks = 4}), "in in[6]\nout out[1]\n");
}

TEST(Own, aRunBindsAsManyBlocksAsTheCalleeHas) {
  const std::string callee =
      "collective c { in blocks[P + 1]; out block; ensures { } }\n"
      "c last { copy in[P] -> out; }\n";
  const auto run = [&](const std::string &in) {
    return "alltoall a { group g = { r in 0 ..< P : r < 2 };\n"
           "run c.last among g with in" +
           in + ", out = out[0]; }" + callee;
  };
  EXPECT_EQ(Program(run(" = in[1 +: 3]")).steps({.ranks = 4, .rank = 1}),
            "in in[4]\nout out[4]\n%0 = copy in[3] -> out[0] round 0\n");
  EXPECT_EQ(Program(run("[i] = in[3 - i]")).steps({.ranks = 4, .rank = 1}),
            "in in[4]\nout out[4]\n%0 = copy in[1] -> out[0] round 0\n");
  EXPECT_EQ(Program(run(" = in[0 +: 2]")).mistake({.ranks = 4, .rank = 1}),
            "2:30: wants 3 elements, as that buffer has, not 2 (rank 1 of 4)");
}

TEST(Own, mayAskWhereRanksAre) {
  Topology topology({0, 1, 0});
  Program p(declare("in block; out block;", "out == reduce in of ranks_on(node_of(me));"));
  EXPECT_EQ(p.steps({.ranks = 3, .rank = 2, .topology = &topology}),
            "in in[1]\nout out[1]\npromise out == reduce in[0] of 0, 2 at 2:1\n");
  EXPECT_EQ(p.algorithm().topology, true);
}

}  // namespace
}  // namespace nbcc
