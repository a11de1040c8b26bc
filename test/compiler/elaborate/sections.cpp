// SPDX-License-Identifier: BSD-3-Clause
// sections.cpp - every form of section, over every form of view.

#include "program.h"

namespace nbcc {
namespace {

TEST(Sections, wholeElementRangeAndSet) {
  Program p(R"(alltoall forms {
    round {
      send in to 1;
      send in[2] to 1;
      send in[1 +: 3] to 1;
      send in[{ j in 0 ..< P : bit(j, 1) }] to 1;
      send in[{ j in 0 .. P - 1 : even(j) }] to 1;
      send in[2 +: 0] to 1;
      send in[P +: 0] to 1;
      send in[{ j in 0 ..< P : j > P }] to 1;
    }
  })");
  EXPECT_EQ(p.steps({.ranks = 8, .rank = 0}),
            "in in[8]\nout out[8]\n"
            "%0 = send in[0 +: 8] to 1 round 0\n"
            "%1 = send in[2] to 1 round 0\n"
            "%2 = send in[1 +: 3] to 1 round 0\n"
            "%3 = send in[2 +: 2], in[6 +: 2] to 1 round 0\n"
            "%4 = send in[0], in[2], in[4], in[6] to 1 round 0\n"
            "%5 = send in[2 +: 0] to 1 round 0\n"
            "%6 = send in[8 +: 0] to 1 round 0\n"
            "%7 = send in[0 +: 0] to 1 round 0\n");
}

TEST(Sections, partsOfABlock) {
  Program p(R"(alltoall parts {
    split in[2] into 6 as s;
    split s[3] into 2 as t;
    split s[0 +: P - 1] into 5 as h;
    round {
      send s to 1;
      send s[1] to 1;
      send s[2 +: 2] to 1;
      send s[3 +: 2] to 1;
      send s[{ j in 0 ..< 6 : j != 1 }] to 1;
      send t[1] to 1;
      send h[4] to 1;
      send h[1 +: 0] to 1;
    }
  })");
  EXPECT_EQ(p.steps({.ranks = 4, .rank = 0}),
            "in in[4]\nout out[4]\n"
            "%0 = send in[2] to 1 round 0\n"
            "%1 = send in[13 of 6] to 1 round 0\n"
            "%2 = send in[7 of 3] to 1 round 0\n"
            "%3 = send in[15 +: 2 of 6] to 1 round 0\n"
            "%4 = send in[12 of 6], in[7 +: 2 of 3] to 1 round 0\n"
            "%5 = send in[31 of 12] to 1 round 0\n"
            "%6 = send in[24 of 10] to 1 round 0\n"
            "%7 = send in[21 +: 0 of 10] to 1 round 0\n");
}

TEST(Sections, scratchLikeEachOfThem) {
  Program p(R"(alltoall like_forms {
    split in[0] into 4 as s;
    scratch a like in;
    scratch b like in[1 +: 2];
    scratch c like in[{ j in 0 ..< P : j != 1 }];
    scratch d like s;
    scratch e like s[1];
    scratch f like d[1 +: 2];
    scratch g like in[1 +: 0];
    copy in[3] -> a[3];
    copy s[1] -> d[1];
    copy s[1 +: 2] -> f;
    copy in[2] -> c[1];
  })");
  EXPECT_EQ(p.steps({.ranks = 4, .rank = 0}),
            "in in[4]\nout out[4]\n"
            "scratch a[4] like in[0 +: 4]\n"
            "scratch b[2] like in[1 +: 2]\n"
            "scratch c[3] like in[0], in[2 +: 2]\n"
            "scratch d[4] like in[0 +: 4 of 4]\n"
            "scratch e[1] like in[1 of 4]\n"
            "scratch f[2] like d[1 +: 2]\n"
            "scratch g[0]\n"
            "%0 = copy in[3] -> a[3] round 0\n"
            "%1 = copy in[1 of 4] -> d[1] round 0\n"
            "%2 = copy in[1 +: 2 of 4] -> f[0 +: 2] round 0\n"
            "%3 = copy in[2] -> c[1] round 0\n");
}

TEST(Sections, arraysOfScratch) {
  Program p(R"(alltoall arrays {
    split in[0] into 2 as s;
    scratch a[3] like in[1];
    scratch b[2] like s;
    scratch c[j in 0 ..< P] like in[P - 1 - j];
    scratch d[j in 0 .. 1] like in[2 * j +: 2];
    scratch e like b;
    scratch f like b[1];
    scratch g[0 * P] like in;
    scratch h[j in 0 ..< 0 * P] like in;
    copy in[1] -> a[2];
    copy s -> b[1];
    copy in[0] -> c[3];
    copy in[2 +: 2] -> d[1];
    copy b -> e;
    copy b[1] -> e[1];
    copy s[0] -> f[0];
  })");
  EXPECT_EQ(p.steps({.ranks = 4, .rank = 0}),
            "in in[4]\nout out[4]\n"
            "scratch a[3] like in[1]\n"
            "scratch b[4] like in[0 +: 2 of 2], in[0 +: 2 of 2]\n"
            "scratch c[4] like in[3], in[2], in[1], in[0]\n"
            "scratch d[4] like in[0 +: 4]\n"
            "scratch e[4] like b[0 +: 4]\n"
            "scratch f[2] like b[2 +: 2]\n"
            "scratch g[0]\n"
            "scratch h[0]\n"
            "%0 = copy in[1] -> a[2] round 0\n"
            "%1 = copy in[0] -> b[2 +: 2] round 0\n"
            "%2 = copy in[0] -> c[3] round 0\n"
            "%3 = copy in[2 +: 2] -> d[2 +: 2] round 0\n"
            "%4 = copy b[0 +: 4] -> e[0 +: 4] round 0\n"
            "%5 = copy b[2 +: 2] -> e[2 +: 2] round 0\n"
            "%6 = copy in[0 of 2] -> f[0] round 0\n");
}

TEST(Sections, scratchInALoopIsNewEachTime) {
  Program p(R"(alltoall again {
    for i in 0 ..< 3 {
      scratch t like in[i];
      copy in[i] -> t;
      copy t -> out[i];
    }
  })");
  EXPECT_EQ(p.steps({.ranks = 3, .rank = 0}),
            "in in[3]\nout out[3]\n"
            "scratch t[1] like in[0]\n"
            "scratch t.2[1] like in[1]\n"
            "scratch t.3[1] like in[2]\n"
            "%0 = copy in[0] -> t round 0\n"
            "%1 = copy t -> out[0] round 0\n"
            "%2 = copy in[1] -> t.2 round 0\n"
            "%3 = copy t.2 -> out[1] round 0\n"
            "%4 = copy in[2] -> t.3 round 0\n"
            "%5 = copy t.3 -> out[2] round 0\n");
}

TEST(Sections, aLongRowOfBlocksStaysOneExtent) {
  Program p("alltoall long { scratch t[j in 0 ..< P] like in[(me + j) mod P]; }");
  std::optional<Schedule> s = p.schedule({.ranks = 100'000, .rank = 99'000});
  ASSERT_TRUE(s);
  ASSERT_EQ(s->buffers.size(), 3u);
  EXPECT_EQ(s->buffers[2].like.size(), 2u);
  EXPECT_EQ(s->buffers[2].blocks, 100'000);
}

}  // namespace
}  // namespace nbcc
