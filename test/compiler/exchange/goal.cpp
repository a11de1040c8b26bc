// SPDX-License-Identifier: BSD-3-Clause
// goal.cpp - GOAL is read, and what is wrong with it is found and shown where it stands.

#include "compiler/exchange/goal.h"

#include <gtest/gtest.h>

#include <sstream>

namespace nbcc {
namespace {

/// The first line of each message, "3:1: error: ..."; empty: nothing is wrong.
std::string said(const std::string &text) {
  std::ostringstream out;
  Diag diag(out);
  if (const std::optional<Goal> goal = readGoal(diag.addFile("g", text), diag))
    checkGoal(*goal, diag);
  EXPECT_EQ(diag.ok(), out.str().empty());
  std::istringstream lines(out.str());
  std::string messages, line;
  while (std::getline(lines, line))
    if (line.starts_with("g:") || line.find("note: ") != line.npos)
      messages += (line.starts_with("g:") ? line.substr(2) : line) + "\n";
  return messages;
}

/// Two ranks, each in braces.
std::string two(const std::string &first, const std::string &second) {
  return "num_ranks 2\nrank 0 {\n" + first + "}\nrank 1 {\n" + second + "}\n";
}

void expectSaid(const std::string &text, const std::string &part) {
  const std::string found = said(text);
  EXPECT_NE(found.find(part), found.npos) << "wanted: " << part << "\nfound: " << found;
}

TEST(Goal, AcceptsWhatIsRight) {
  EXPECT_EQ(said(two("l1: send 40b to 1 tag 3 cpu 0 nic 1; l2: recv 8b from 1\nl2 requires l1",
                     "/* a\ncomment */ recv 40b from 0 tag 3 // b\nx: calc 5 cpu 2 # c\n"
                     "send 8b to 0 tag 0\n")),
            "");
  EXPECT_EQ(said("num_ranks 1 rank 0 {}"), "");
}

TEST(Goal, WantsLabelsBeforeTheyAreRequired) {
  EXPECT_EQ(said(two("a: calc 1 b: calc 2 b requires a\n", "")), "");
  expectSaid(two("b: calc 1 b requires a\na: calc 2\n", ""),
             "3:22: error: rank 0 has no label `a`");
  expectSaid(two("b requires a b: calc 1\n", ""), "3:1: error: rank 0 has no label `b`");
}

TEST(Goal, RefusesReceivesFromAnyRankOrWithAnyTag) {
  expectSaid(two("recv 8b from -1\n", ""), "3:14: error: -1 is any rank: which message meets");
  expectSaid(two("recv 8b from 1 tag -1\n", ""), "3:20: error: -1 is any tag: which message meets");
  expectSaid(two("recv 8b from -12\n", ""), "3:14: error: a rank -12 is not in 0..1");
  expectSaid(two("send 8b to -1\n", ""), "3:12: error: a rank -1 is not in 0..1");
}

TEST(Goal, RefusesWhatIsNotGoal) {
  expectSaid("", "1:1: error: `num_ranks` is wanted, but here is the end of the text");
  expectSaid("num_ranks 0", "1:11: error: the number of ranks 0 is not in 1..16777216");
  expectSaid("num_ranks 99999999999999999999", "is not in 1..16777216");
  expectSaid("num_ranks 16000000 rank 0 {}", "`rank` is wanted, but here is the end of the text");
  expectSaid("num_ranks 2 rank 1 {} rank 0 {}", "1:18: error: rank 0 is wanted here");
  expectSaid(two("", "") + "rank 2 {}", "nothing more is wanted, but here is `rank`");
  expectSaid(two("put 8b to 1\n", ""), "3:1: error: `send`, `recv`, `calc` or `}` is wanted");
  expectSaid(two("l1: l2: calc 1\n", ""), "wanted, but here is `l2`");
  expectSaid(two("7: calc 1\n", ""), "3:1: error: a label is wanted, but here is `7`");
  expectSaid(two("send 8 to 1\n", ""), "3:8: error: `b` is wanted, but here is `to`");
  expectSaid(two("send -8b to 1\n", ""), "how many bytes -8 is not in 0..");
  expectSaid(two("send 99999999999999999999b to 1\n", ""), "how many bytes 9999");
  expectSaid(two("send 8b to 2\n", ""), "3:12: error: a rank 2 is not in 0..1");
  expectSaid(two("send 8b to 0\n", ""), "3:12: error: rank 0 cannot send by itself");
  expectSaid(two("send 8b to 1 tag -1\n", ""), "3:18: error: -1 is any tag");
  expectSaid(two("/* calc 1\n", ""), "3:1: error: this comment has no end");
  expectSaid("num_ranks 1 rank 0 { calc 1", "1:28: error:");
  expectSaid(two("\xff", ""), "but here is byte 255");
}

TEST(Goal, RefusesLabelsThatAreDoubleOrMissing) {
  expectSaid(two("a: calc 1\na: calc 2\n", ""), "4:1: error: rank 0 has a label `a` already");
  expectSaid(two("a: calc 1\na requires b\n", ""), "4:12: error: rank 0 has no label `b`");
  expectSaid(two("a: calc 1\n", "b: calc 1\nb requires a\n"), "7:12: error: rank 1 has no label");
}

TEST(Goal, FindsMessagesThatNeverMeet) {
  expectSaid(two("send 8b to 1 tag 1\n", ""),
             "3:1: error: rank 0 sends 8 bytes to rank 1 with tag 1, but rank 1 receives fewer");
  expectSaid(two("", "recv 8b from 0 tag 1\n"), "5:1: error: rank 1 receives 8 bytes from rank 0");
  const std::string otherTag = said(two("send 8b to 1 tag 1\n", "recv 8b from 0 tag 2\n"));
  EXPECT_NE(otherTag.find("3:1: error:"), otherTag.npos);
  EXPECT_NE(otherTag.find("6:1: error:"), otherTag.npos);
}

TEST(Goal, FindsLengthsThatDiffer) {
  expectSaid(two("send 8b to 1\n", "recv 9b from 0\n"),
             "6:1: error: rank 1 receives 9 bytes from rank 0 with tag 0, but 8 bytes are sent");
}

TEST(Goal, WantsAnOrderWhereLengthsOfATagDiffer) {
  const std::string receives = "a: recv 8b from 0\nb: recv 9b from 0\nb irequires a\n";
  EXPECT_EQ(said(two("a: send 8b to 1\nc: calc 1\nb: send 9b to 1\nc requires a b requires c\n",
                     receives)),
            "");
  expectSaid(two("a: send 8b to 1\nb: send 9b to 1\n", receives),
             "4:4: error: rank 0 sends 9 bytes to rank 1 with tag 0, and nothing orders it");
}

TEST(Goal, FindsCyclesOfWaits) {
  expectSaid(two("a: calc 1\na requires a\n", ""),
             "4:1: error: an operation waits for itself: rank 0: a requires a, which never ends");
  expectSaid(two("a: calc 1\nb: calc 1\na requires b\nb irequires a\n", ""),
             "5:1: error: these 2 operations wait for each other: rank 0: a requires b");
}

TEST(Goal, FindsDeadlocksAndSaysWhereBufferingWouldHelp) {
  const std::string exchange = two("s: send 8b to 1\nr: recv 8b from 1\nr requires s\n",
                                   "s: send 8b to 0\nr: recv 8b from 0\nr requires s\n");
  expectSaid(exchange, "these 4 operations wait for each other");
  expectSaid(exchange, "note: it ends only where messages are buffered");

  const std::string receives = two("s: send 8b to 1\nr: recv 8b from 1\ns requires r\n",
                                   "s: send 8b to 0\nr: recv 8b from 0\ns requires r\n");
  expectSaid(receives, "wait for each other");
  EXPECT_EQ(said(receives).find("buffered"), std::string::npos);
}

TEST(Goal, LetsIrequiresGoOnWhenTheOtherHasStarted) {
  const std::string exchange = two("s: send 8b to 1\nr: recv 8b from 1\nr irequires s\n",
                                   "s: send 8b to 0\nr: recv 8b from 0\nr irequires s\n");
  EXPECT_EQ(said(exchange), "");
}

std::string written(const std::string &schedules, BlockLength block, bool &fine) {
  std::ostringstream messages, out;
  Diag diag(messages);
  const std::vector<Schedule> ranks = readSchedules(diag.addFile("t", schedules), diag);
  writeGoal(ranks, block, out, diag);
  fine = diag.ok();
  return out.str();
}

TEST(Goal, WritesPartsOfBlocksToTheByte) {
  bool fine = false;
  const std::string text = written(
      "schedule @a allreduce rank 0 of 2 root 0 order rounds rounds 1\n  in in[1]\n  out out[1]\n"
      "  scratch tmp[3] like out[0 +: 3 of 3]\n"
      "  %0 = copy in -> out round 0\n"
      "  %1 = send tmp[1 +: 2] to 1 round 0\n  %2 = signal to 1 round 0\nend\n",
      {7, 8}, fine);
  EXPECT_TRUE(fine);
  // Thirds of 7 elements are 2, 2 and 3; copies take 0.1 ns a byte; a signal is a byte.
  EXPECT_EQ(text,
            "num_ranks 1\nrank 0 {\nl0: calc 6\nl1: send 40b to 1 tag 0\nl1 requires l0\n"
            "l2: send 1b to 1 tag 1\nl2 requires l0\n}\n");
}

TEST(Goal, RefusesLengthsThatOverflow) {
  bool fine = true;
  written(
      "schedule @a allgather rank 0 of 2 root 0 order rounds rounds 1\n  in in[1]\n"
      "  out out[2]\n  %0 = send out[0 +: 2] to 1 round 0\nend\n",
      {UINT64_MAX, 8}, fine);
  EXPECT_FALSE(fine);
}

}  // namespace
}  // namespace nbcc
