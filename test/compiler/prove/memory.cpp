// SPDX-License-Identifier: BSD-3-Clause
// Cells are where the schedules cut, and schedules too large are refused, not tried.

#include "compiler/prove/memory.h"

#include <set>

#include "compiler/prove/stages.h"
#include "saying.h"

namespace nbcc {
namespace {

/// One rank's memory for these buffers and steps.
struct OneRank {
  explicit OneRank(const std::string &lines) : diag(out) {
    ranks = readSchedules(diag.addFile("t", text("bcast", {lines})), diag);
    fits = !ranks.empty() && memory.layOut(Together(ranks), diag);
  }
  std::string cellsOf(BufferId b, int32_t parts, int64_t first, int64_t count) const {
    const Cells c = memory.cells(0, {b, parts, first, count});
    return cat(c.begin, "..", c.end);
  }
  std::string extentOf(int64_t cell) const {
    const Extent e = memory.extent(0, cell);
    return toString(ranks[0], Section(&e, 1));
  }

  std::ostringstream out;
  Diag diag;
  std::vector<Schedule> ranks;
  Memory memory;
  bool fits = false;
};

TEST(Memory, WholeBlocksAreOneCellEach) {
  const OneRank one("data data[1]\nscratch t[3] like data\n%0 = copy data -> t[1]\n");
  ASSERT_TRUE(one.fits) << one.out.str();
  EXPECT_EQ(one.memory.allCells(), 4);
  EXPECT_EQ(one.cellsOf(1, 1, 1, 2), "2..4");
  EXPECT_EQ(one.extentOf(2), "t[1]");
}

TEST(Memory, CutWhereAnyStepCuts) {
  // 0, 1/3, 1/2, 3/4
  const OneRank one(
      "data data[1]\nscratch t[1] like data\n"
      "%0 = copy data[0 of 3] -> t[0 of 3]\n%1 = copy data[2 of 4] -> t[2 of 4]\n");
  ASSERT_TRUE(one.fits) << one.out.str();
  EXPECT_EQ(one.memory.allCells(), 8);
  EXPECT_EQ(one.cellsOf(0, 3, 0, 1), "0..1");
  EXPECT_EQ(one.cellsOf(0, 4, 2, 1), "2..3");
  EXPECT_EQ(one.cellsOf(1, 1, 0, 1), "4..8");
  EXPECT_EQ(one.extentOf(1), "data[2 of 6]");
  EXPECT_EQ(one.extentOf(7), "t[3 of 4]");
}

TEST(Memory, ManyCutsAreEachFoundOnce) {
  std::string lines = "data data[1]\nscratch t[1] like data\n";
  std::set<double> cuts{0, 1};  // so few parts that a double tells them apart
  int steps = 0;
  for (const int round : {0, 1})
    for (int parts = 2; parts <= 40; ++parts)
      for (int part = round; part < parts; part += 2) {
        const std::string piece = cat("[", part, " of ", parts, "]");
        lines += cat("%", steps++, " = copy data", piece, " -> t", piece, "\n");
        cuts.insert({static_cast<double>(part) / parts, (part + 1.0) / parts});
      }
  const OneRank one(lines);
  ASSERT_TRUE(one.fits) << one.out.str();
  EXPECT_EQ(one.memory.allCells(), 2 * (static_cast<int64_t>(cuts.size()) - 1));
}

TEST(Memory, ScratchIsCutWhereItsModelIs) {
  // t[1] is the upper half of data, so the cut of data at 3/4 is its own at 1/2.
  const OneRank one(
      "data data[1]\nscratch t[2] like data[0 +: 2 of 2]\n"
      "%0 = copy data[3 of 4] -> t[3 of 2]\n");
  ASSERT_TRUE(one.fits) << one.out.str();
  EXPECT_EQ(one.memory.allCells(), 6);
  EXPECT_EQ(one.cellsOf(1, 1, 0, 1), "3..4");
  EXPECT_EQ(one.cellsOf(1, 1, 1, 1), "4..6");
  EXPECT_EQ(one.cellsOf(1, 2, 3, 1), "5..6");
  EXPECT_EQ(one.extentOf(5), "t[3 of 2]");
  EXPECT_EQ(one.memory.block(0, 1, 1).cut, 1);
}

TEST(Memory, TooManyBlocks) {
  std::string lines = "data data[1]\n";
  for (int i = 0; i < 3; ++i) lines += cat("scratch t", i, "[16777216] like data\n");
  EXPECT_EQ(said(text("bcast", {lines})),
            "error: up to t1 the buffers of rank 0 have more than the 33554432 blocks that a proof "
            "can follow\n");
}

TEST(Memory, TooManyCuts) {
  std::string lines = "data data[1]\nscratch t[16777216] like data\n";
  for (int i = 0; i < 3; ++i)
    lines += cat("%", i, " = copy data[", i, " of 1000003] -> t[", i, " of 1000003]\n");
  EXPECT_EQ(said(text("bcast", {lines})),
            "error: up to t of rank 0 the buffers hold more than 33554432 pieces that must be told "
            "apart, with blocks cut in 4: too many to follow\n");
}

TEST(Memory, TooMuchIsMoved) {
  std::string lines = "data data[1]\nscratch t[16777216] like data\n";
  for (int i = 0; i < 300; ++i)
    lines += cat("%", i, " = copy t[0 +: 16777216] -> t[0 +: 16777216]\n");
  EXPECT_EQ(said(text("bcast", {lines})),
            "error: up to here the schedules move more than 8589934592 blocks or parts of blocks: "
            "too many to follow\n");
}

TEST(Memory, UnlikePartsOfManySizes) {
  // Each cut is its own; thousands are fine.
  std::string lines = "data data[1]\nscratch t[1] like data\n";
  for (int i = 0; i < 3000; ++i)
    lines += cat("%", i, " = copy data[", i + 1, " of ", 2 * i + 5, "] -> t[", i + 1, " of ",
                 2 * i + 5, "]\n");
  EXPECT_EQ(said(text("bcast", {lines})), "");
}

TEST(Memory, FinerThanCanBeTold) {
  const OneRank one(
      "data data[1]\nscratch t[1] like data[7 of 2147483647]\n"
      "%0 = copy t[0 of 2147483647] -> t[0 of 2147483647]\n");
  EXPECT_FALSE(one.fits);
  EXPECT_NE(one.out.str().find("finer than the proof can tell apart"), std::string::npos);
}

}  // namespace
}  // namespace nbcc
