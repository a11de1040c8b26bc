// SPDX-License-Identifier: BSD-3-Clause
// Each rank leaves only after each has entered.

#include "saying.h"

namespace nbcc {
namespace {

/// Dissemination: in round k, signal me + 2^k and await me - 2^k.
std::string dissemination(int ranks, int rounds, bool waits) {
  Lines lines;
  for (int r = 0; r < ranks; ++r) {
    std::string steps, earlier;
    for (int k = 0; k < rounds; ++k) {
      steps += cat("%", 2 * k, " = signal to ", (r + (1 << k)) % ranks, " round ", k, earlier,
                   "\n%", 2 * k + 1, " = await from ", (r + ranks - (1 << k) % ranks) % ranks,
                   " round ", k, "\n");
      if (waits) earlier += cat(earlier.empty() ? " after %" : ", %", 2 * k + 1);
    }
    lines.push_back(steps);
  }
  return text(cat("barrier ", waits ? "waits" : ""), lines);
}

TEST(Barrier, Dissemination) {
  for (const bool waits : {false, true}) {
    EXPECT_EQ(said(dissemination(2, 1, waits)), "");
    EXPECT_EQ(said(dissemination(7, 3, waits)), "");
    EXPECT_EQ(said(dissemination(130, 8, waits)), "");
  }
}

TEST(Barrier, ARoundTooFew) {
  for (const bool waits : {false, true}) {
    EXPECT_EQ(
        said(dissemination(7, 2, waits))
            .find("error: rank 0 may leave before rank 1 has entered: no chain of messages leads "
                  "from rank 1 to rank 0\n"),
        0u);
    EXPECT_NE(said(dissemination(130, 7, waits)), "");
  }
}

TEST(Barrier, ASignalThatDoesNotWait) {
  // In round 1 rank 0 signals before it knows anything of round 0.
  std::string all = dissemination(4, 2, true);
  EXPECT_EQ(said(all), "");
  EXPECT_EQ(broken(all, "%2 = signal to 2 round 1 after %1", "%2 = signal to 2 round 1"),
            "error: rank 2 may leave before rank 3 has entered: no chain of messages leads from "
            "rank 3 to rank 2\n");
}

TEST(Barrier, TheLastAwaitAloneIsNotEnough) {
  // The await of round 1 may end before that of round 0.
  std::string all = dissemination(8, 3, true);
  EXPECT_EQ(said(all), "");
  EXPECT_NE(
      broken(all, "%4 = signal to 4 round 2 after %1, %3", "%4 = signal to 4 round 2 after %3"),
      "");
}

TEST(Barrier, ThatASendHasEndedTellsNothing) {
  EXPECT_EQ(said(text("barrier", {"%0 = signal to 1\n", "%0 = await from 0\n"})),
            "error: rank 0 may leave before rank 1 has entered: no chain of messages leads from "
            "rank 1 to rank 0\n");
}

TEST(Barrier, WhatComesInARoundIsNotSentInIt) {
  EXPECT_EQ(said(dissemination(3, 1, false)),
            "error: rank 0 may leave before rank 1 has entered: no chain of messages leads from "
            "rank 1 to rank 0\n"
            "error: rank 1 may leave before rank 2 has entered: no chain of messages leads from "
            "rank 2 to rank 1\n"
            "error: rank 2 may leave before rank 0 has entered: no chain of messages leads from "
            "rank 0 to rank 2\n");
}

TEST(Barrier, AllAreLookedAt) {
  // All tell rank 0, but for the last of 130.
  Lines lines(130, "%0 = signal to 0 round 0\n%1 = await from 0 round 1\n");
  lines[0].clear();
  lines[129] = "%0 = await from 0\n";
  int step = 0;
  for (int r = 1; r < 129; ++r) lines[0] += cat("%", step++, " = await from ", r, " round 0\n");
  for (int r = 1; r < 130; ++r) lines[0] += cat("%", step++, " = signal to ", r, " round 1\n");
  EXPECT_EQ(
      said(text("barrier", lines)).find("error: rank 0 may leave before rank 129 has entered"), 0u);
}

TEST(Barrier, OneRankAndNothing) {
  EXPECT_EQ(said(text("barrier", {""})), "");
}

TEST(Barrier, NoMessages) {
  EXPECT_EQ(said(text("barrier", {"", ""})),
            "error: rank 0 may leave before rank 1 has entered: no chain of messages leads from "
            "rank 1 to rank 0\n");
}

}  // namespace
}  // namespace nbcc
