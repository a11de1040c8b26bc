// SPDX-License-Identifier: BSD-3-Clause
// mistakes.cpp - each way in which a run is refused, with its place and its exact words.

#include "program.h"

namespace nbcc {
namespace {

/// The statements stand on line 2, from column 1 on.
std::string said(const std::string &kind, const std::string &statements, const Request &request,
                 Limits limits = {}) {
  return Program(kind + " p(x = 0, y = 0) {\n" + statements + "\n}", limits).mistake(request);
}
const Request rank3of8 = {.ranks = 8, .rank = 3, .parameters = {0, 0}};

TEST(Mistakes, peers) {
  auto at = [](const std::string &s) { return said("allgather", s, rank3of8); };
  EXPECT_EQ(at("round { send in to me + 5; }"),
            "2:23: rank 3 of 8 sends to rank 8, which is not in 0..7");
  EXPECT_EQ(at("round { recv out[0] from me - 4; }"),
            "2:29: rank 3 of 8 receives from rank -1, which is not in 0..7");
  EXPECT_EQ(at("round { exchange in -> out[0] with P; }"),
            "2:36: rank 3 of 8 exchanges with rank 8, which is not in 0..7");
  EXPECT_EQ(at("round { signal P + 1; }"),
            "2:18: rank 3 of 8 signals rank 9, which is not in 0..7");
  EXPECT_EQ(at("round { await P; }"), "2:15: rank 3 of 8 awaits rank 8, which is not in 0..7");
  EXPECT_EQ(at("round { send in to 3; }"), "2:20: rank 3 of 8 sends to itself");
  EXPECT_EQ(at("round { recv out[0] from 3; }"), "2:26: rank 3 of 8 receives from itself");
  EXPECT_EQ(at("round { exchange in -> out[0] with 3; }"),
            "2:36: rank 3 of 8 exchanges with itself");
  EXPECT_EQ(at("round { signal 3; }"), "2:16: rank 3 of 8 signals itself");
  EXPECT_EQ(at("round { await 3; }"), "2:15: rank 3 of 8 awaits itself");
  EXPECT_EQ(at("round { signal 1 on port P * 32; }"),
            "2:28: port 256 is not in 0..255 (rank 3 of 8)");
  EXPECT_EQ(at("round { signal 1 on port me - 4; }"),
            "2:29: port -1 is not in 0..255 (rank 3 of 8)");
  EXPECT_EQ(at("round { signal 1 on port P * 32 - 1; }"), "");
}

TEST(Mistakes, sections) {
  auto at = [](const std::string &s) { return said("allgather", s, rank3of8); };
  EXPECT_EQ(at("copy in -> out[P];"),
            "2:12: out[8] is outside out, which has 8 blocks (rank 3 of 8)");
  EXPECT_EQ(at("copy in -> out[me - 4];"),
            "2:12: out[-1] is outside out, which has 8 blocks (rank 3 of 8)");
  EXPECT_EQ(at("copy in[me] -> out[0];"),
            "2:6: in[3] is outside in, which has 1 block (rank 3 of 8)");
  EXPECT_EQ(at("round { send out[5 +: P - 4] to 0; }"),
            "2:14: out[5 +: 4] reaches outside out, which has 8 blocks (rank 3 of 8)");
  EXPECT_EQ(at("round { send out[P + 1 +: 0 * P] to 0; }"),
            "2:14: out[9 +: 0] reaches outside out, which has 8 blocks (rank 3 of 8)");
  EXPECT_EQ(at("round { send out[me - 4 +: 2] to 0; }"),
            "2:14: out[-1 +: 2] reaches outside out, which has 8 blocks (rank 3 of 8)");
  EXPECT_EQ(
      at("let big = 9223372036854775807; round { send out[1 +: big] to 0; }"),
      "2:45: out[1 +: 9223372036854775807] reaches outside out, which has 8 blocks (rank 3 of 8)");
  EXPECT_EQ(at("round { send out[2 +: me - 4] to 0; }"),
            "2:14: out[2 +: -1] has a negative count (rank 3 of 8)");
  EXPECT_EQ(at("round { send out[{ j in 5 .. P : j != 6 }] to 0; }"),
            "2:14: out[8] in this set is outside out, which has 8 blocks (rank 3 of 8)");
  EXPECT_EQ(at("split in into 4 as s; copy s[P] -> out[0];"),
            "2:28: s[8] is outside s, which has 4 parts (rank 3 of 8)");
  EXPECT_EQ(at("scratch t[P + 1] like in; copy in -> t[P + 1];"),
            "2:38: t[9] is outside t, which has 9 elements (rank 3 of 8)");
}

TEST(Mistakes, lengths) {
  auto at = [](const std::string &s) { return said("alltoall", s, rank3of8); };
  EXPECT_EQ(at("copy in -> out[2];"), "2:1: copies 8 blocks to 1 block (rank 3 of 8)");
  EXPECT_EQ(at("split in[0] into 4 as s; copy s[0 +: 3] -> out[0];"),
            "2:26: copies 3/4 of a block to 1 block (rank 3 of 8)");
  EXPECT_EQ(at("split in[0] into 4 as s; split out[0] into 2 as t; copy s[1 +: 2] -> t[0];"), "");
  EXPECT_EQ(at("split in[0] into 4 as s; scratch t like s[0]; copy in[1] -> t;"),
            "2:47: copies 1 block to 1/4 of a block (rank 3 of 8)");
  // Lengths are followed through scratch.
  EXPECT_EQ(at("split in[0] into 4 as s; scratch a[1] like in[0]; copy a[0] -> out[0];"
               "split out[1] into 2 as h; scratch b like s; copy b[0 +: 2] -> h[1];"),
            "");
  EXPECT_EQ(said("allreduce", "split in into 4 as s; reduce in, s[1] -> out;", rank3of8),
            "2:23: reduces 1 block with 1/4 of a block to 1 block (rank 3 of 8)");
}

TEST(Mistakes, buffersOfTheRootAndOfTheCaller) {
  const Request other = {.ranks = 8, .rank = 3, .root = 2, .parameters = {0, 0}};
  const Request root = {.ranks = 8, .rank = 3, .root = 3, .parameters = {0, 0}};
  const std::string text = "out is significant only at the root, rank 2: rank 3 of 8 has none";
  EXPECT_EQ(said("gather", "copy in -> out[0];", other), "2:12: " + text);
  EXPECT_EQ(said("gather", "copy in -> out[0];", root), "");
  EXPECT_EQ(said("gather", "scratch t like out; copy in -> t[0];", other), "");
  EXPECT_EQ(said("gather", "round { send out[0] to 0; }", other), "2:14: " + text);
  EXPECT_EQ(said("gather", "split out[1] into 2 as s; round { send s[0] to 0; }", other),
            "2:40: " + text);
  EXPECT_EQ(said("scatter", "copy in[me] -> out;", other),
            "2:6: in is significant only at the root, rank 2: rank 3 of 8 has none");
  EXPECT_EQ(said("scatter", "copy in[me] -> out;", root), "");
  EXPECT_EQ(said("scatter", "round { send out to root - 3; }", other),
            "2:26: rank 3 of 8 sends to rank -1, which is not in 0..7 (root 2)");
  EXPECT_EQ(said("scatter", "scratch t like in; copy t[P] -> out;", other),
            "2:25: t[8] is outside t, which has 8 blocks (rank 3 of 8, root 2)");
}

TEST(Mistakes, declarations) {
  auto at = [](const std::string &s) { return said("alltoall", s, rank3of8); };
  EXPECT_EQ(at("scratch t[me - 4] like in[0];"), "2:14: scratch t of -1 elements (rank 3 of 8)");
  EXPECT_EQ(at("scratch t[P * 4194304] like in[0];"),
            "2:13: scratch t of 33554432 elements: at most 16777216 blocks (rank 3 of 8)");
  EXPECT_EQ(
      at("scratch t[P * 1048576] like in;"),
      "2:13: scratch t of 8388608 elements of 8 blocks: at most 16777216 blocks (rank 3 of 8)");
  EXPECT_EQ(at("scratch t[9223372036854775807] like in;"),
            "2:11: scratch t of 9223372036854775807 elements of 8 blocks: at most 16777216 blocks "
            "(rank 3 of 8)");
  EXPECT_EQ(at("scratch t[j in me ..< 4] like in[j];"),
            "2:16: the elements of scratch t are numbered from 0, not from 3 (rank 3 of 8)");
  EXPECT_EQ(at("scratch t[j in 0 .. P] like in[j];"),
            "2:29: in[8] is outside in, which has 8 blocks (rank 3 of 8)");
  EXPECT_EQ(at("split in[0] into me - 3 as s;"),
            "2:21: split into 0 parts, which is not in 1..2147483647 (rank 3 of 8)");
  EXPECT_EQ(at("split in[0] into 65536 as s; split s[1] into 4096 * P as t;"),
            "2:51: split into 32768 parts, which is not in 1..32767 (rank 3 of 8)");
  // Through a buffer that is like parts.
  EXPECT_EQ(at("split in[0] into 65536 as s; scratch u like s[0]; split u into 4096 * P as t;"),
            "2:69: split into 32768 parts, which is not in 1..32767 (rank 3 of 8)");
}

TEST(Mistakes, limits) {
  const Limits few = {.iterations = 100, .steps = 10, .extents = 20, .buffers = 5};
  auto at = [&](const std::string &s) { return said("alltoall", s, rank3of8, few); };
  EXPECT_EQ(at("for d = 1; d > 0; d += x { }"),
            "2:1: more than 100 iterations, here with d = 1 (rank 3 of 8)");
  EXPECT_EQ(at("for i in 0 ..< 1000000000000 { }"),
            "2:10: more than 100 iterations, here with i = 100 (rank 3 of 8)");
  EXPECT_EQ(at("for i in 0 ..< 100 { }"), "");
  EXPECT_EQ(at("for i in 0 ..< 9 { for j in 0 ..< 11 { } }"),
            "2:29: more than 100 iterations, here with j = 3 (rank 3 of 8)");
  EXPECT_EQ(at("round { send in[{ j in 0 ..< 1000 : j < 0 }] to 0; }"),
            "2:24: more than 100 iterations, here with j = 100 (rank 3 of 8)");
  EXPECT_EQ(at("for i in 0 ..< 11 { round { signal 0; } }"),
            "2:29: more than 10 steps (rank 3 of 8)");
  EXPECT_EQ(at("for i in 0 ..< 10 { round { signal 0; } }"), "");
  EXPECT_EQ(at("for i in 0 ..< 6 { round { send in[{ j in 0 ..< P : even(j) }] to 0; } }"),
            "2:33: more than 20 extents (rank 3 of 8)");
  EXPECT_EQ(at("for i in 0 ..< 6 { scratch t like in; }"),
            "2:20: more than 5 buffers (rank 3 of 8)");
  EXPECT_EQ(at("scratch t[21] like in;"),
            "2:11: more than 20 extents: scratch t of 21 elements like 1 extent (rank 3 of 8)");
  EXPECT_EQ(at("scratch t[j in 0 ..< 21] like in[(j * 3) mod P];"),
            "2:31: more than 20 extents (rank 3 of 8)");
}

TEST(Mistakes, aRunThatWouldTakeForEverEndsSoon) {
  // The real limits: an endless loop, and one that would make 10^9 steps.
  EXPECT_EQ(said("barrier", "for d = 1; d > 0; d += x { }", rank3of8),
            "2:1: more than 100000000 iterations, here with d = 1 (rank 3 of 8)");
}

TEST(Mistakes, tooManyRanks) {
  EXPECT_EQ(Program("barrier b { }").mistake({.ranks = 20'000'000, .rank = 0}),
            "1:9: a schedule for 20000000 ranks; there are at most 16777216");
}

TEST(Mistakes, theFirstOneEndsTheRun) {
  EXPECT_EQ(said("allgather", "copy in -> out[8];\ncopy in -> out[9];", rank3of8),
            "2:12: out[8] is outside out, which has 8 blocks (rank 3 of 8)");
}

}  // namespace
}  // namespace nbcc
