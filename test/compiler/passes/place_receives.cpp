// SPDX-License-Identifier: BSD-3-Clause
// Scratch that is only copied out is renamed; each condition of the pass, broken once, keeps it.

#include "support.h"

namespace nbcc {
namespace {

std::string placed(const std::string &lines) {
  return after(
      "place-receives",
      "schedule @a allgather rank 1 of 4 root 0 order rounds rounds 3\nin in[1]\nout out[4]\n" +
          lines + "end\n");
}

TEST(PlaceReceives, BruckIsReceivedIntoOut) {
  EXPECT_EQ(placed("scratch tmp[4] like out[1 +: 3], out[0]\n"
                   "%0 = copy in -> tmp[0] round 0\n"
                   "%1 = send tmp[0] to 0 round 0\n%2 = recv tmp[1] from 2 round 0\n"
                   "%3 = send tmp[0 +: 2] to 3 round 1\n%4 = recv tmp[2 +: 2] from 3 round 1\n"
                   "%5 = copy tmp[0] -> out[1] round 2\n%6 = copy tmp[1] -> out[2] round 2\n"
                   "%7 = copy tmp[2] -> out[3] round 2\n%8 = copy tmp[3] -> out[0] round 2\n"),
            "  in in[1]\n  out out[4]\n"
            "  %0 = copy in -> out[1] round 0\n"
            "  %1 = send out[1] to 0 round 0\n  %2 = recv out[2] from 2 round 0\n"
            "  %3 = send out[1 +: 2] to 3 round 1\n  %4 = recv out[3], out[0] from 3 round 1\n");
}

TEST(PlaceReceives, InPlaceTheFirstCopyVanishesToo) {
  EXPECT_EQ(
      placed("scratch tmp[4] like out[1 +: 3], out[0]\n"
             "%0 = copy out[1] -> tmp[0] round 0\n%1 = recv tmp[1 +: 3] from 2 round 0\n"
             "%2 = copy tmp[0 +: 3] -> out[1 +: 3] round 1\n%3 = copy tmp[3] -> out[0] round 1\n"),
      "  in in[1]\n  out out[4]\n  %0 = recv out[2 +: 2], out[0] from 2 round 0\n");
}

TEST(PlaceReceives, DescendingCopiesAndParts) {
  EXPECT_EQ(
      placed("scratch t[2] like out[0 +: 2 of 2]\n"
             "%0 = recv t[0 +: 3 of 2] from 0 round 0\n%1 = recv t[3 of 2] from 2 round 0\n"
             "%2 = copy t[1] -> out[3 of 2] round 1\n%3 = copy t[0] -> out[2 of 2] round 1\n"),
      "  in in[1]\n  out out[4]\n  %0 = recv out[4 +: 3 of 4] from 0 round 0\n"
      "  %1 = recv out[7 of 4] from 2 round 0\n");
}

TEST(PlaceReceives, OnlyWhatIsCopiedOutIsRenamed) {
  EXPECT_EQ(
      placed("scratch t[3] like out[0]\n"
             "%0 = recv t[0 +: 3] from 0 round 0\n%1 = copy t[1] -> out[2] round 1\n"
             "%2 = send t[0 +: 2] to 0 round 1\n"),
      "  in in[1]\n  out out[4]\n  scratch t[3] like out[0]\n"
      "  %0 = recv t[0], out[2], t[2] from 0 round 0\n  %1 = send t[0], out[2] to 0 round 1\n");
}

TEST(PlaceReceives, ScratchOfScratch) {
  EXPECT_EQ(
      placed(
          "scratch a[1] like in\nscratch b[1] like a\n"
          "%0 = recv a from 0 round 0\n%1 = copy a -> b round 1\n%2 = copy b -> out[0] round 1\n"),
      "  in in[1]\n  out out[4]\n  %0 = recv out[0] from 0 round 0\n");
}

/// These stay as they are.
void expectKept(const std::string &lines) {
  const std::string result = placed(lines);
  EXPECT_NE(result.find("scratch t["), std::string::npos) << result;
}

TEST(PlaceReceives, KeepsScratchThatIsWrittenAfterTheCopy) {
  expectKept(
      "scratch t[1] like in\n%0 = recv t from 0 round 0\n%1 = copy t -> out[0] round 1\n"
      "%2 = recv t from 0 round 1\n%3 = send t to 0 round 2\n");
}

TEST(PlaceReceives, KeepsScratchWhileOutIsInUse) {
  const std::string begin = "scratch t[1] like in\n%0 = recv t from 0 round 0\n";
  const std::string end = "copy t -> out[0] round 2\n";
  expectKept(begin + "%1 = send out[0] to 0 round 0\n%2 = " + end);  // at the same time
  expectKept(begin + "%1 = send out[0] to 0 round 1\n%2 = " + end);
  expectKept(begin + "%1 = copy in -> out[0] round 1\n%2 = send t to 0 round 1\n%3 = " + end);
  expectKept(begin + "%1 = " + end + "%2 = recv out[0] from 0 round 2\n%3 = send t to 0 round 2\n");
}

TEST(PlaceReceives, KeepsScratchThatSwaps) {
  expectKept(
      "scratch t[2] like in\n%0 = copy out[0], out[1] -> t[1], t[0] round 0\n"
      "%1 = copy t[0 +: 2] -> out[0 +: 2] round 0\n");
}

TEST(PlaceReceives, TheLastOfTwoCopiesIsThePlace) {
  EXPECT_EQ(
      placed("scratch t[1] like in\n%0 = recv t from 0 round 0\n%1 = copy t -> out[0] round 1\n"
             "%2 = copy t -> out[2] round 2\n"),
      "  in in[1]\n  out out[4]\n  %0 = recv out[2] from 0 round 0\n"
      "  %1 = copy out[2] -> out[0] round 1\n");
}

TEST(PlaceReceives, OutMayBeUsedBeforeAndRead) {
  EXPECT_EQ(
      placed("scratch t[1] like in\n%0 = copy in -> out[0] round 0\n%1 = send out[0] to 0 round 0\n"
             "%2 = recv t from 0 round 1\n%3 = copy t -> out[0] round 2\n%4 = send out[0] to 2 "
             "round 2\n"
             "%5 = send t to 3 round 2\n"),
      "  in in[1]\n  out out[4]\n  %0 = copy in -> out[0] round 0\n  %1 = send out[0] to 0 round "
      "0\n"
      "  %2 = recv out[0] from 0 round 1\n  %3 = send out[0] to 2 round 2\n  %4 = send out[0] to 3 "
      "round 2\n");
}

TEST(PlaceReceives, KeepsPartsThatAreNotEquallyLong) {
  // Parts 0 and 1 of 2 of a block of 5 have 2 and 3 elements.
  expectKept(
      "scratch t[1] like out[0 of 2]\n%0 = recv t from 0 round 0\n%1 = copy t -> out[3 of 2] round "
      "1\n");
}

TEST(PlaceReceives, KeepsTheSecondOfTwoForOneDestination) {
  expectKept(
      "scratch t[2] like in\n%0 = recv t[0 +: 2] from 0 round 0\n%1 = copy t[0] -> out[0] round 1\n"
      "%2 = send out[0] to 2 round 1\n%3 = copy t[1] -> out[0] round 2\n");
}

TEST(PlaceReceives, ReducesWhereTheOperandLies) {
  EXPECT_EQ(placed("scratch t[1] like in\n%0 = reduce out[0] with in -> t round 0\n%1 = send t to "
                   "0 round 0\n"
                   "%2 = copy t -> out[0] round 1\n"),
            "  in in[1]\n  out out[4]\n  %0 = reduce out[0] with in -> out[0] round 0\n"
            "  %1 = send out[0] to 0 round 0\n");
  expectKept(
      "scratch t[2] like in\n%0 = reduce out[0 +: 2] with out[2 +: 2] -> t[0 +: 2] round 0\n"
      "%1 = copy t[0] -> out[1] round 0\n%2 = copy t[1] -> out[0] round 0\n");
}

}  // namespace
}  // namespace nbcc
