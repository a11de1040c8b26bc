// SPDX-License-Identifier: BSD-3-Clause
// What may be read where the caller has it, and what may not; what is then not copied.

#include "support.h"

namespace nbcc {
namespace {

const std::string head =
    "schedule @a allgather rank 1 of 4 root 0 order rounds rounds 3\nin in[1]\nout out[4]\n";
const std::string heading = "  in in[1]\n  out out[4]\n";

std::string originals(const std::string &lines) {
  return after("read-originals", head + lines + "end\n");
}

/// This stays as it is.
void expectKept(const char *pass, const std::string &steps) {
  EXPECT_EQ(after(pass, head + steps + "end\n"), heading + steps);
}

TEST(ReadOriginals, ASendWaitsForNoCopy) {
  EXPECT_EQ(originals("%0 = copy in -> out[1] round 0\n%1 = send out[1] to 2 round 0\n"
                      "%2 = recv out[0] from 0 round 0\n%3 = send out[0] to 2 round 1\n"),
            heading +
                "  %0 = copy in -> out[1] round 0\n  %1 = send in to 2 round 0\n"
                "  %2 = recv out[0] from 0 round 0\n  %3 = send out[0] to 2 round 1\n");
}

TEST(ReadOriginals, ACopyOfACopyIsACopy) {
  EXPECT_EQ(originals("scratch a[2] like in\nscratch b[2] like a[0]\n"
                      "%0 = copy in -> a[1] round 0\n%1 = copy a[1] -> b[0] round 0\n"
                      "%2 = send b[0] to 2 round 0\n"),
            heading +
                "  scratch a[2] like in\n  scratch b[2] like a[0]\n"
                "  %0 = copy in -> a[1] round 0\n  %1 = copy in -> b[0] round 0\n"
                "  %2 = send in to 2 round 0\n");
}

TEST(ReadOriginals, APartOfACopyIsThatPartOfTheOriginal) {
  const std::string steps =
      "scratch t[4] like in[0 of 4], in[1 of 4], in[2 of 4], in[3 of 4]\n"
      "%0 = copy in -> t[0 +: 4] round 0\n%1 = send t[1 +: 2] to 2 round 0\n";
  EXPECT_NE(originals(steps).find("%1 = send in[1 +: 2 of 4] to 2"), std::string::npos)
      << originals(steps);
  // And a whole of parts.
  EXPECT_NE(originals("%0 = copy in[0 of 3] -> out[3 of 3] round 0\n"
                      "%1 = copy in[1 +: 2 of 3] -> out[4 +: 2 of 3] round 0\n"
                      "%2 = send out[1] to 2 round 0\n")
                .find("%2 = send in to 2"),
            std::string::npos);
}

TEST(ReadOriginals, KeepsPartsThatLieOtherwiseInTheirBlocks) {
  // Of 5 elements, the second half of a block is 3, the first 2: lengths round down.
  expectKept("read-originals",
             "  %0 = copy in -> out[1 +: 2 of 2] round 0\n  %1 = send out[1 of 2] to 2 round 0\n");
}

TEST(ReadOriginals, KeepsWhatWouldBeMoreRuns) {
  const std::string steps =
      "  %0 = copy in -> out[1] round 0\n  %1 = recv out[0] from 0 round 0\n"
      "  %2 = send out[0 +: 2] to 2 round 1\n";
  expectKept("read-originals", steps);
}

TEST(ReadOriginals, KeepsWhatWasWrittenSince) {
  expectKept("read-originals",
             "  %0 = copy in -> out[1] round 0\n  %1 = recv out[1] from 0 round 0\n"
             "  %2 = send out[1] to 2 round 1\n");
  // In part.
  expectKept("read-originals",
             "  %0 = copy in -> out[1] round 0\n  %1 = recv out[3 of 2] from 0 round 0\n"
             "  %2 = send out[1] to 2 round 1\n");
}

TEST(ReadOriginals, ReadsOfARoundComeBeforeItsWrites) {
  EXPECT_NE(originals("%0 = copy in -> out[1] round 0\n%1 = send out[1] to 2 round 0\n"
                      "%2 = recv out[2] from 0 round 0\n")
                .find("%1 = send in to 2"),
            std::string::npos);
}

TEST(ReadOriginals, WhatIsWrittenIsNoOriginal) {
  const char *const text = R"(schedule @a bcast rank 1 of 4 root 0 order rounds rounds 3
  data data[1]
  scratch t[1] like data
  %0 = recv data from 0 round 0
  %1 = copy data -> t round 1
  %2 = send t to 2 round 1
  %3 = recv data from 0 round 2
end
)";
  EXPECT_NE(after("read-originals", text).find("%2 = send t to 2"), std::string::npos);
}

TEST(ReadOriginals, AReductionReadsOriginalsToo) {
  EXPECT_EQ(originals("scratch t[1] like in\n%0 = copy in -> out[1] round 0\n"
                      "%1 = recv t from 0 round 0\n"
                      "%2 = reduce t with out[1] -> out[1] round 1\n"
                      "%3 = send out[1] to 2 round 1\n"),
            heading +
                "  scratch t[1] like in\n  %0 = copy in -> out[1] round 0\n"
                "  %1 = recv t from 0 round 0\n"
                "  %2 = reduce t with in -> out[1] round 1\n"
                "  %3 = send out[1] to 2 round 1\n");
}

TEST(DropDeadCopies, WhatIsWrittenAgainUnread) {
  EXPECT_EQ(after("drop-dead-copies", head + "%0 = copy in -> out[1] round 0\n"
                                             "%1 = send in to 0 round 0\n"
                                             "%2 = recv out[2 of 2] from 0 round 0\n"
                                             "%3 = recv out[3 of 2] from 0 round 1\nend\n"),
            heading +
                "  %0 = send in to 0 round 0\n  %1 = recv out[2 of 2] from 0 round 0\n"
                "  %2 = recv out[3 of 2] from 0 round 1\n");
}

TEST(DropDeadCopies, ScratchThatNobodyReadsAndWhatLedThere) {
  EXPECT_EQ(
      after("drop-dead-copies", head + "scratch a[1] like in\nscratch b[2] like a\n"
                                       "%0 = copy in -> a round 0\n%1 = copy a -> b[1] round 0\n"
                                       "%2 = copy in -> out[1] round 0\nend\n"),
      heading + "  %0 = copy in -> out[1] round 0\n");
}

TEST(DropDeadCopies, OnlyThePiecesThatAreDead) {
  EXPECT_EQ(after("drop-dead-copies", head + "scratch t[2] like in\n"
                                             "%0 = copy in, in -> t[1], out[1] round 0\nend\n"),
            heading + "  %0 = copy in -> out[1] round 0\n");
}

TEST(DropDeadCopies, KeepsWhatIsReadOrStays) {
  expectKept("drop-dead-copies",
             "  %0 = copy in -> out[1] round 0\n  %1 = send out[1] to 0 round 0\n"
             "  %2 = recv out[1] from 0 round 1\n");
  // Half of it is a result.
  expectKept("drop-dead-copies",
             "  %0 = copy in -> out[1] round 0\n  %1 = recv out[3 of 2] from 0 round 0\n");
  // A reduction reads before it writes.
  expectKept("drop-dead-copies",
             "  %0 = copy in -> out[1] round 0\n  %1 = reduce in with out[1] -> out[1] round 0\n");
}

TEST(DropDeadCopies, KeepsReductionsThatNobodyNeeds) {
  expectKept("drop-dead-copies",
             "  %0 = reduce in with out[0] -> out[1] round 0\n  %1 = recv out[1] from 0 round 0\n");
}

}  // namespace
}  // namespace nbcc
