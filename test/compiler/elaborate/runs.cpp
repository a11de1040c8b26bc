// SPDX-License-Identifier: BSD-3-Clause
// runs.cpp - groups, topology, and `run`: frames, views over views, and what is refused in them.

#include "program.h"

namespace nbcc {
namespace {

/// A gather that a test may run; out is significant at its root only.
const std::string kGather = R"(
gather linear {
  if me == root {
    copy in -> out[root];
    round { for p in 0 ..< P if p != root { recv out[p] from p; } }
  } else { round { send in to root; } }
}
)";

TEST(Runs, peersAreThoseOfTheGroup) {
  Program p(
      "allgather a { group g[i in 0 ..< 3] = 5 - 2 * i;\n"
      "run gather.linear(root = 1) among g with in = in, out = out[g]; }" +
      kGather);
  EXPECT_EQ(p.steps({.ranks = 6, .rank = 3}),
            "in in[1]\nout out[6]\n"
            "%0 = copy in -> out[3] round 0\n"
            "%1 = recv out[5] from 5 round 0\n"
            "%2 = recv out[1] from 1 round 0\n");
  EXPECT_EQ(p.steps({.ranks = 6, .rank = 1}),
            "in in[1]\nout out[6]\n"
            "%0 = send in to 3 round 0\n");
  EXPECT_EQ(p.steps({.ranks = 6, .rank = 2}), "in in[1]\nout out[6]\n");
}

TEST(Runs, aGroupInAGroup) {
  Program p(R"(allgather a { group odds = { r in 0 ..< P : odd(r) }; run allgather.b among odds
                with in = in, out = out[odds]; }
    allgather b { group last = { r in 0 ..< P : r >= P - 2 }; run allgather.c among last
                  with in = in, out = out[last]; }
    allgather c { round { exchange in -> out[1 - me] with 1 - me; } })");
  EXPECT_EQ(p.steps({.ranks = 8, .rank = 7}),
            "in in[1]\nout out[8]\n"
            "%0 = send in to 5 round 0\n"
            "%1 = recv out[5] from 5 round 0\n");
}

TEST(Runs, elementsOfDifferentLengths) {
  Topology topology({0, 1, 0, 1, 0});
  Program p(R"(allgather a {
      group leaders = { r in 0 ..< P : first_on_node(r) };
      run allgather.b among leaders
        with in = out[ranks_on(node_of(me))], out[i] = out[ranks_on(node_of(leaders[i]))]; }
    allgather b {
      copy in -> out[me];
      scratch t like out;
      scratch u[j in 0 ..< P] like out[P - 1 - j];
      scratch v[2] like out[0];
      split out[0] into 3 as s;
      split out[1] into 2 as h;
      round { send out[0] to 1 - me; send t to 1 - me; send u[0] to 1 - me;
              send out[{ j in 0 ..< P : j > 0 }] to 1 - me; send v[1] to 1 - me;
              send s[1] to 1 - me; send h[1] to 1 - me; send out[1 +: 0] to 1 - me; }
    })");
  EXPECT_EQ(p.steps({.ranks = 5, .rank = 0, .topology = &topology}),
            "in in[1]\nout out[5]\n"
            "scratch t[5] like out[0], out[2], out[4], out[1], out[3]\n"
            "scratch u[5] like out[1], out[3], out[0], out[2], out[4]\n"
            "scratch v[6] like out[0], out[2], out[4], out[0], out[2], out[4]\n"
            "%0 = send out[0], out[2], out[4] to 1 round 0\n"
            "%1 = send t[0 +: 5] to 1 round 0\n"
            "%2 = send u[0 +: 2] to 1 round 0\n"
            "%3 = send out[1], out[3] to 1 round 0\n"
            "%4 = send v[3 +: 3] to 1 round 0\n"
            "%5 = send out[2] to 1 round 0\n"
            "%6 = send out[3] to 1 round 0\n"
            "%7 = send out[0 +: 0] to 1 round 0\n");
}

TEST(Runs, whatTheCalleeTakesForABlockStaysOne) {
  // t has one element, although it is as long as three blocks.
  Program p(R"(allgather a { run bcast.b(root = 0) with data = out; }
    bcast b { scratch t like data; copy data -> t[0];
      split t into P as s; round { send s[1] to (me + 1) mod P; } })");
  EXPECT_EQ(p.steps({.ranks = 3, .rank = 0}),
            "in in[1]\nout out[3]\n"
            "scratch t[3] like out[0 +: 3]\n"
            "%0 = copy out[0 +: 3] -> t[0 +: 3] round 0\n"
            "%1 = send t[1] to 1 round 0\n");
}

TEST(Runs, aCopyToItselfIsNone) {
  Program p(
      "allgather a { run allgather.b with in = out[me], out = out; }\n"
      "allgather b { copy in -> out[me]; copy in -> out[0]; }");
  EXPECT_EQ(p.steps({.ranks = 3, .rank = 1}),
            "in in[1]\nout out[3]\n%0 = copy out[1] -> out[0] round 0\n");
}

TEST(Runs, scratchOfACalleeHasANameOfItsOwn) {
  Program p(
      "bcast a { scratch t like data; run allgather.b with in = data, out[i] = t; }\n"
      "allgather b { scratch data like in; scratch t like in; copy in -> data; }");
  EXPECT_EQ(p.steps({.ranks = 2, .rank = 0}),
            "data data[1]\nscratch t[1] like data\nscratch data.2[1] like data\n"
            "scratch t.2[1] like data\n%0 = copy data -> data.2 round 0\n");
}

TEST(Runs, argumentsAndTheirOwnValues) {
  Program p(
      "barrier a { run barrier.b(n = P - 1); run barrier.b; }\n"
      "barrier b(m = 2, n = 1) { round { signal n on port m; } }");
  EXPECT_EQ(p.steps({.ranks = 8, .rank = 0}),
            "%0 = signal to 7 round 0 port 2\n%1 = signal to 1 round 1 port 2\n");
}

std::string said(const std::string &text, const Request &request, Limits limits = {}) {
  return Program(text, limits).mistake(request);
}
const Request fourth = {.ranks = 8, .rank = 3};

TEST(Runs, groupsAreRefused) {
  auto at = [](const std::string &s) { return said("barrier a {\n" + s + "\n}", fourth); };
  EXPECT_EQ(at("group g[i in 0 ..< 2] = i + 7;"),
            "2:1: member 1 of this group is rank 8, which is not in 0..7 (rank 3 of 8)");
  EXPECT_EQ(at("group g[i in 0 ..< 4] = i mod 3;"),
            "2:1: rank 0 is in this group twice: members 0 and 3 (rank 3 of 8)");
  EXPECT_EQ(at("group g = { r in 0 ..< 4 }; let x = g[me + 1];"),
            "2:37: [4] is outside this group, which has 4 ranks (rank 3 of 8)");
}

TEST(Runs, mistakesInACalleeSayBothRanks) {
  std::ostringstream out;
  Diag diag(out);
  auto file = parseText("test.nbc",
                        "barrier a {\n group g = { r in 0 ..< P : odd(r) };\n"
                        " run barrier.b among g;\n}\n"
                        "barrier b {\n round { signal P; }\n}\n",
                        diag);
  check(*file, diag);
  ASSERT_TRUE(diag.ok()) << out.str();
  Elaborator e(*file, diag);
  EXPECT_FALSE(e.elaborate(*file->algorithms[0], fourth));
  EXPECT_NE(out.str().find("6:17: error: rank 3 of 8, which is rank 1 of 4 in barrier.b, signals "
                           "rank 4, which is not in 0..3"),
            std::string::npos)
      << out.str();
  EXPECT_NE(out.str().find("3:2: note: run from here"), std::string::npos) << out.str();
}

TEST(Runs, areRefused) {
  auto at = [](const std::string &s, const std::string &callee) {
    return said("allgather a {\n" + s + "\n}\n" + callee, fourth);
  };
  EXPECT_EQ(at("run gather.linear(root = P) with in = in, out = out;", kGather),
            "2:1: root 8 of gather.linear is not in 0..7 (rank 3 of 8)");
  EXPECT_EQ(at("run allgather.b with in = in, out = out[0 +: 3];", "allgather b { }"),
            "2:37: wants 8 elements, as that buffer has, not 3 (rank 3 of 8)");
  EXPECT_EQ(at("run allgather.b(k = 2) with in = in, out = out;",
               "allgather b(k = 1)\n requires k < P,\n k > 2 { }"),
            "6:4: allgather.b requires this, which does not hold for 8 ranks (rank 3 of 8, which "
            "is rank 3 of 8 in allgather.b)");
  EXPECT_EQ(
      at("run gather.b(root = 2) with in = in, out = out;", "gather b { copy in -> out[0]; }"),
      "4:23: out is significant only at the root, rank 2: rank 3 of 8, which is rank 3 of 8 "
      "in gather.b, has none");
}

TEST(Runs, chainsOfRunsEnd) {
  std::string text = "barrier a0 { }\n";
  for (int i = 1; i < 60; ++i)
    text = cat("barrier a", i, " { run barrier.a", i - 1, "; run barrier.a", i - 1, "; }\n") + text;
  EXPECT_NE(said(text, fourth, {.iterations = 10'000}).find("more than 10000 iterations"),
            std::string::npos);
}

TEST(Runs, whereTheRanksAre) {
  Topology topology({4, 4, 2, 4, 2});
  Program p(R"(allgather a { round {
      signal 4 on port 10 * nodes + node_of(2);
      signal 4 on port 10 * local_rank(3) + size(ranks_on(1));
      if first_on_node(2) and not first_on_node(1) { signal 4 on port rank_in(ranks_on(0), 3); } } })");
  EXPECT_EQ(p.steps({.ranks = 5, .rank = 0, .topology = &topology}),
            "in in[1]\nout out[5]\n"
            "%0 = signal to 4 round 0 port 21\n"
            "%1 = signal to 4 round 0 port 22\n"
            "%2 = signal to 4 round 0 port 2\n");
  EXPECT_EQ(said("barrier a { let x = nodes; }", fourth),
            "1:21: asks where the ranks are: say it with --topology=4x8 (nodes x ranks on each) or "
            "a file");
  EXPECT_EQ(said("barrier a { let x = node_of(P); }", {.ranks = 5, .topology = &topology}),
            "1:21: node_of(5): rank 5 is not in 0..4 (rank 0 of 5)");
  EXPECT_EQ(said("barrier a { group g = ranks_on(2); }", {.ranks = 5, .topology = &topology}),
            "1:23: ranks_on(2): node 2 is not in 0..1 (rank 0 of 5)");
}

TEST(Runs, theTopologyOfACalleeIsThatOfItsRanks) {
  Topology topology({0, 1, 2, 1, 2});
  Program p(
      "barrier a { group g = { r in 0 ..< P : r > 0 }; run barrier.b among g; }\n"
      "barrier b { round { signal 1 on port 10 * nodes + node_of(3); } }");
  EXPECT_EQ(p.steps({.ranks = 5, .rank = 1, .topology = &topology}),
            "%0 = signal to 2 round 0 port 21\n");
}

}  // namespace
}  // namespace nbcc
