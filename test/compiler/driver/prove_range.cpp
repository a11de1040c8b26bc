// SPDX-License-Identifier: BSD-3-Clause
// prove_range.cpp - however many numbers of ranks are proven at once, the same is found, and told
// in the same words.

#include "compiler/driver/prove_range.h"

#include <gtest/gtest.h>

#include <sstream>

#include "compiler/driver/prove_ahead.h"
#include "dsl/parse.h"

namespace nbcc {
namespace {

/// A ring, with an own condition, and an own block that is received.
std::string ring(const std::string &condition, const std::string &block) {
  return "allgather ring\n  requires " + condition +
         "\n{\n"
         "  copy in -> out[me];\n"
         "  for s in 0 ..< P - 1 {\n"
         "    round {\n"
         "      send out[(me - s) mod P] to (me + 1) mod P;\n"
         "      recv out[" +
         block +
         "] from (me - 1) mod P;\n"
         "    }\n"
         "  }\n"
         "}\n";
}
const std::string kRight = "(me - s - 1) mod P";
const std::string kWrongFrom11 = "(me - s - 1 + P / 11) mod P";
const std::string kWrongAt11 = "(me - s - 1 + (11 / P) * (P / 11)) mod P";
const std::string kOutsideFrom11 = "(me - s - 1) mod P + P / 11 * P";

class Range {
 public:
  Range(const std::string &text, int64_t from, int64_t to, unsigned jobs) : diag_(out_) {
    options_.proveFrom = from;
    options_.proveTo = to;
    options_.jobs = jobs;
    file_ = parseText("ring.nbc", text, diag_);
    if (file_) check(*file_, diag_);
    if (diag_.ok()) compilation_ = std::make_unique<Compilation>(*file_, options_, diag_);
  }

  RangeProof prove() { return proveRange(*compilation_, options_, diag_); }
  std::map<int64_t, NumberProof> ahead() {
    return proveAhead(*compilation_, options_.proveFrom, options_.proveTo, options_);
  }

  /// All that a user sees.
  std::string text() {
    const RangeProof proof = prove();
    EXPECT_EQ(proof.holds, diag_.ok());
    if (proof.holds) print(proof, *compilation_, out_);
    return out_.str();
  }
  std::string said() const { return out_.str(); }

 private:
  std::ostringstream out_;
  Diag diag_;
  Options options_;
  std::unique_ptr<ast::File> file_;
  std::unique_ptr<Compilation> compilation_;
};

void expectTheSame(const std::string &text, int64_t from, int64_t to, const std::string &part) {
  const std::string alone = Range(text, from, to, 1).text();
  EXPECT_NE(alone.find(part), std::string::npos) << alone;
  for (const unsigned jobs : {2u, 3u, 8u}) EXPECT_EQ(Range(text, from, to, jobs).text(), alone);
}

TEST(ProveRange, provesTheSameWithAnyNumberOfJobs) {
  expectTheSame(ring("P > 0", kRight), 1, 40, "proven for 40 numbers of ranks in 1..40\n");
  expectTheSame(ring("P > 0", kRight), 1, 40, "120 proofs");
  expectTheSame(ring("P > 0", kRight), 30, 31, "proven for 2 numbers of ranks in 30..31\n");
}

TEST(ProveRange, countsWhatRequiresLeavesOut) {
  expectTheSame(ring("P mod 3 != 1", kRight), 1, 30,
                "20 numbers of ranks in 1..30 (the other 10 do not meet `requires`)");
  expectTheSame(ring("P > 50", kRight), 1, 40, "applies to no number of ranks in 1..40");
}

TEST(ProveRange, tellsTheSmallestThatFailsAndNoOther) {
  const std::string note = "fails with 11 ranks; it is proven for fewer, from 1 on";
  expectTheSame(ring("P > 0", kWrongFrom11), 1, 40, note);
  expectTheSame(ring("P > 0", kWrongAt11), 1, 40, note);
  expectTheSame(ring("P > 0", kOutsideFrom11), 1, 40, note);
  expectTheSame(ring("P > 0", kOutsideFrom11), 12, 40, "fails with 12 ranks\n");
  EXPECT_EQ(Range(ring("P > 0", kOutsideFrom11), 1, 40, 8).text().find("12 ranks"),
            std::string::npos);
}

TEST(ProveRange, tellsOnceWhereRequiresCannotBeWorkedOut) {
  expectTheSame(ring("100 / (20 - P) != 777", kRight), 1, 40, "ring.nbc:2:");
}

TEST(ProveAhead, hasAllBelowTheSmallestThatFailsAndSaysNothing) {
  Range range(ring("P > 0", kWrongAt11), 2, 5000, 3);
  const std::map<int64_t, NumberProof> found = range.ahead();
  for (int64_t ranks = 2; ranks < 11; ++ranks)
    EXPECT_EQ(found.at(ranks).result, NumberProof::Result::proven) << ranks;
  EXPECT_EQ(found.at(11).result, NumberProof::Result::failed);
  EXPECT_LT(found.size(), 1000u);  // those that were under way, however late the eleventh's is
  EXPECT_EQ(range.said(), "");
}

TEST(ProveAhead, leavesAloneWhatOneThreadHasToDo) {
  EXPECT_TRUE(Range(ring("P > 0", kRight), 2, 40, 1).ahead().empty());
  EXPECT_TRUE(Range(ring("P > 0", kRight), 40, 40, 8).ahead().empty());
}

NumberProof taking(size_t bytes) {
  NumberProof proof;
  proof.result = NumberProof::Result::proven;
  proof.bytes = bytes;
  return proof;
}

TEST(Room, isForOneUntilItIsKnownWhatOneTakes) {
  Room room(1'000'000);
  EXPECT_TRUE(room.isFor(100));
  room.enter(100);
  EXPECT_FALSE(room.isFor(101));
  room.leave(100, taking(100));
  room.enter(101);
  EXPECT_TRUE(room.isFor(102));
}

TEST(Room, foretellsWithTheThirdPowerAndIsAlwaysForOne) {
  Room room(1'000'000);
  room.enter(10);
  room.leave(10, taking(1000));
  EXPECT_TRUE(room.isFor(1000));
  room.enter(20);  // 8,000 bytes of schedules, several times as many in all
  EXPECT_TRUE(room.isFor(21));
  EXPECT_FALSE(room.isFor(100));
  room.enter(21);
  room.leave(20, taking(8000));
  EXPECT_FALSE(room.isFor(100));
  room.leave(21, taking(8000));
  EXPECT_TRUE(room.isFor(100));
  // One that fails early says nothing of what the others take.
  NumberProof failed;
  failed.result = NumberProof::Result::failed;
  room.enter(30);
  room.leave(30, failed);
  room.enter(30);
  EXPECT_FALSE(room.isFor(100));
}

}  // namespace
}  // namespace nbcc
