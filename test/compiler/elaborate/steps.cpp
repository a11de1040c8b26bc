// SPDX-License-Identifier: BSD-3-Clause
// steps.cpp - each statement, and whole algorithms, against the steps written by hand.

#include "program.h"

namespace nbcc {
namespace {

TEST(Steps, bruckInRotatedOrder) {
  Program bruck(R"(allgather bruck(k = 1) {
    scratch tmp[j in 0 ..< P] like out[(me + j) mod P];
    copy in -> tmp[0];
    for d = 1; d < P; d *= k + 1 {
      round {
        for i in 1 .. k if i * d < P {
          let n = min(d, P - i * d);
          send tmp[0 +: n]     to   (me - i * d) mod P;
          recv tmp[i * d +: n] from (me + i * d) mod P;
        }
      }
    }
    for j in 0 ..< P { copy tmp[j] -> out[(me + j) mod P]; }
  })");
  EXPECT_EQ(bruck.steps({.ranks = 5, .rank = 3, .parameters = {1}}),
            "in in[1]\n"
            "out out[5]\n"
            "scratch tmp[5] like out[3 +: 2], out[0 +: 3]\n"
            "%0 = copy in -> tmp[0] round 0\n"
            "%1 = send tmp[0] to 2 round 0\n"
            "%2 = recv tmp[1] from 4 round 0\n"
            "%3 = send tmp[0 +: 2] to 1 round 1\n"
            "%4 = recv tmp[2 +: 2] from 0 round 1\n"
            "%5 = send tmp[0] to 4 round 2\n"
            "%6 = recv tmp[4] from 2 round 2\n"
            "%7 = copy tmp[0] -> out[3] round 3\n"
            "%8 = copy tmp[1] -> out[4] round 3\n"
            "%9 = copy tmp[2] -> out[0] round 3\n"
            "%10 = copy tmp[3] -> out[1] round 3\n"
            "%11 = copy tmp[4] -> out[2] round 3\n");
  // Two ports: both peers of a round in it.
  EXPECT_EQ(bruck.steps({.ranks = 4, .rank = 0, .parameters = {2}}),
            "in in[1]\n"
            "out out[4]\n"
            "scratch tmp[4] like out[0 +: 4]\n"
            "%0 = copy in -> tmp[0] round 0\n"
            "%1 = send tmp[0] to 3 round 0\n"
            "%2 = recv tmp[1] from 1 round 0\n"
            "%3 = send tmp[0] to 2 round 0\n"
            "%4 = recv tmp[2] from 2 round 0\n"
            "%5 = send tmp[0] to 1 round 1\n"
            "%6 = recv tmp[3] from 3 round 1\n"
            "%7 = copy tmp[0] -> out[0] round 2\n"
            "%8 = copy tmp[1] -> out[1] round 2\n"
            "%9 = copy tmp[2] -> out[2] round 2\n"
            "%10 = copy tmp[3] -> out[3] round 2\n");
}

TEST(Steps, recursiveDoublingFoldsExtraRanks) {
  Program doubling(R"(allreduce recursive_doubling {
    let core  = pow(2, floor_log(2, P));
    let extra = P - core;
    scratch tmp like out;
    copy in -> out;
    if me < 2 * extra {
      if odd(me) { round { send out to me - 1; } }
      else       { round { recv tmp from me + 1; } reduce out, tmp -> out; }
    }
    if me >= 2 * extra or even(me) {
      let v = if me < 2 * extra then me / 2 else me - extra;
      for d = 1; d < core; d *= 2 {
        let w    = v xor d;
        let peer = if w < extra then 2 * w else w + extra;
        round { exchange out -> tmp with peer; }
        if peer < me { reduce tmp, out -> out; } else { reduce out, tmp -> out; }
      }
    }
    if me < 2 * extra {
      if odd(me) { round { recv out from me - 1; } } else { round { send out to me + 1; } }
    }
  })");
  const std::string buffers =
      "in in[1]\nout out[1]\nscratch tmp[1] like out\n%0 = copy in -> out round 0\n";
  EXPECT_EQ(doubling.steps({.ranks = 6, .rank = 1}), buffers +
                                                         "%1 = send out to 0 round 0\n"
                                                         "%2 = recv out from 0 round 1\n");
  EXPECT_EQ(doubling.steps({.ranks = 6, .rank = 2}), buffers +
                                                         "%1 = recv tmp from 3 round 0\n"
                                                         "%2 = reduce out with tmp -> out round 1\n"
                                                         "%3 = send out to 0 round 1\n"
                                                         "%4 = recv tmp from 0 round 1\n"
                                                         "%5 = reduce tmp with out -> out round 2\n"
                                                         "%6 = send out to 5 round 2\n"
                                                         "%7 = recv tmp from 5 round 2\n"
                                                         "%8 = reduce out with tmp -> out round 3\n"
                                                         "%9 = send out to 3 round 3\n");
  EXPECT_EQ(doubling.steps({.ranks = 1, .rank = 0}), buffers);
}

TEST(Steps, gatherSequentialSignalsOneAfterTheOther) {
  Program gather(R"(gather sequential {
    if me == root {
      copy in -> out[root];
      for i in 1 ..< P {
        let p = (root + i) mod P;
        round { signal p; }
        round { recv out[p] from p; }
      }
    } else {
      round { await root; }
      round { send in to root; }
    }
  })");
  EXPECT_EQ(gather.steps({.ranks = 3, .rank = 1, .root = 1}),
            "in in[1]\n"
            "out out[3]\n"
            "%0 = copy in -> out[1] round 0\n"
            "%1 = signal to 2 round 0\n"
            "%2 = recv out[2] from 2 round 1\n"
            "%3 = signal to 0 round 2\n"
            "%4 = recv out[0] from 0 round 3\n");
  EXPECT_EQ(gather.steps({.ranks = 3, .rank = 2, .root = 1}),
            "in in[1]\n"
            "out out[3] absent\n"
            "%0 = await from 1 round 0\n"
            "%1 = send in to 1 round 1\n");
}

TEST(Steps, chainSplitsAVector) {
  Program chain(R"(bcast chain(segments = 8) {
    split data into segments as seg;
    let v = (me - root) mod P;
    for s in 0 ..< segments {
      if v > 0     { round { recv seg[s] from (me - 1) mod P; } }
      if v < P - 1 { round { send seg[s] to   (me + 1) mod P; } }
    }
  })");
  EXPECT_EQ(chain.steps({.ranks = 3, .rank = 2, .root = 1, .parameters = {2}}),
            "data data[1]\n"
            "%0 = recv data[0 of 2] from 1 round 0\n"
            "%1 = send data[0 of 2] to 0 round 1\n"
            "%2 = recv data[1 of 2] from 1 round 2\n"
            "%3 = send data[1 of 2] to 0 round 3\n");
  // In lowest terms: part 2 of 4 stays, parts 0 to 3 of 4 are the whole.
  EXPECT_EQ(chain.steps({.ranks = 2, .rank = 0, .root = 0, .parameters = {1}}),
            "data data[1]\n"
            "%0 = send data to 1 round 0\n");
}

TEST(Steps, emptyRoundsTakeNoNumber) {
  Program p(R"(barrier b {
    round { }
    round { if me == 0 { signal 1; } }
    round { if me == 1 { signal 0; } }
    round { if me == 0 { await 1; } }
    round { for i in 0 ..< 0 * P { signal 1; } }
    round { if me == 1 { await 0; } }
  })");
  EXPECT_EQ(p.steps({.ranks = 2, .rank = 0}),
            "%0 = signal to 1 round 0\n"
            "%1 = await from 1 round 1\n");
  EXPECT_EQ(p.schedule({.ranks = 2, .rank = 0})->rounds, 2);
  EXPECT_EQ(p.schedule({.ranks = 3, .rank = 2})->rounds, 0);
}

TEST(Steps, stepsKnowTheirPlaceRoundAndPort) {
  Program p("barrier b {\n  round {\n    signal 1 - me on port 7;\n    await 1 - me;\n  }\n}");
  std::optional<Schedule> s = p.schedule({.ranks = 2, .rank = 1});
  ASSERT_TRUE(s);
  ASSERT_EQ(s->steps.size(), 2u);
  EXPECT_EQ(s->steps[0].port, 7);
  EXPECT_EQ(s->steps[1].port, 0);
  EXPECT_EQ(s->steps[0].loc.line, 3u);
  EXPECT_EQ(s->steps[0].loc.column, 5);
  EXPECT_EQ(s->algorithm, "b");
  EXPECT_EQ(s->ranks, 2);
  EXPECT_EQ(s->rank, 1);
  EXPECT_EQ(s->order, Order::rounds);
}

TEST(Steps, loopsOfEachKind) {
  Program p(R"(alltoall loops {
    for i in 2 .. 3 { copy in[i] -> out[i]; }
    for i in 3 .. 2 + 0 * P { copy in[0] -> out[0]; }
    for i in 0 ..< P if odd(i) and i != 1 { copy in[i] -> out[0]; }
    for i = 5; i > 0; i -= 2 { copy in[i] -> out[5]; }
    for i = 7; i > 0; i /= 2 { copy in[i] -> out[7]; }
    for i = 1; i < 4; i += i { copy in[i] -> out[1]; }
  })");
  const std::string steps = p.steps({.ranks = 8, .rank = 0});
  EXPECT_EQ(steps,
            "in in[8]\nout out[8]\n"
            "%0 = copy in[2] -> out[2] round 0\n"
            "%1 = copy in[3] -> out[3] round 0\n"
            "%2 = copy in[3] -> out[0] round 0\n"
            "%3 = copy in[5] -> out[0] round 0\n"
            "%4 = copy in[7] -> out[0] round 0\n"
            "%5 = copy in[5] -> out[5] round 0\n"
            "%6 = copy in[3] -> out[5] round 0\n"
            "%7 = copy in[1] -> out[5] round 0\n"
            "%8 = copy in[7] -> out[7] round 0\n"
            "%9 = copy in[3] -> out[7] round 0\n"
            "%10 = copy in[1] -> out[7] round 0\n"
            "%11 = copy in[1] -> out[1] round 0\n"
            "%12 = copy in[2] -> out[1] round 0\n");
}

TEST(Steps, aLoopMayEndAtTheLargestInteger) {
  Program p(R"(alltoall last {
    let big = 9223372036854775807;
    for i in big - 1 .. big { copy in[big - i] -> out[0]; }
    for i in big - 1 ..< big { copy in[big - i] -> out[1]; }
    let small = -big - 1;
    for i in small ..< small { copy in[0] -> out[0]; }
  })");
  EXPECT_EQ(p.steps({.ranks = 2, .rank = 0}),
            "in in[2]\nout out[2]\n"
            "%0 = copy in[1] -> out[0] round 0\n"
            "%1 = copy in[0] -> out[0] round 0\n"
            "%2 = copy in[1] -> out[1] round 0\n");
}

}  // namespace
}  // namespace nbcc
