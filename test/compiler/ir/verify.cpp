// SPDX-License-Identifier: BSD-3-Clause
// Every promise of schedule.h, broken once.

#include <gtest/gtest.h>

#include <sstream>

#include "compiler/ir/schedule.h"

namespace nbcc {
namespace {

/// What verify() says of a schedule with these buffers and steps: the messages, a line each.
std::string findings(const std::string &head, const std::string &lines) {
  std::ostringstream said;
  Diag diag(said);
  const uint16_t file = diag.addFile("t", "schedule @a " + head + "\n" + lines + "end\n");
  std::vector<Schedule> read = readSchedules(file, diag);
  EXPECT_TRUE(diag.ok()) << said.str();
  if (read.empty()) return said.str();
  verify(read[0], diag);
  std::istringstream all(said.str());
  std::string result, line;
  while (std::getline(all, line))
    if (const size_t at = line.find("error: "); at != line.npos)
      result += line.substr(at + 7) + "\n";
  return result;
}

std::string buffers(const std::string &lines) {
  return findings("alltoall rank 1 of 4 root 0 order rounds rounds 0", lines);
}
std::string steps(const std::string &order, const std::string &lines) {
  return findings(
      "alltoall rank 1 of 4 root 0 order " + order + " rounds 2",
      "in in[4]\nout out[4]\ndata far[4] absent\nscratch tmp[4] like out[0 +: 4]\n" + lines);
}

TEST(Verify, AcceptsWhatIsRight) {
  EXPECT_EQ(
      steps("waits",
            "%0 = copy in[1] -> out[1] round 0\n%1 = send in[0] to 0 round 0\n"
            "%2 = recv tmp[3 +: 2 of 4] from 3 round 0\n%3 = signal to 2 round 1 after %0, %1\n"
            "%4 = reduce in[0 of 2] with tmp[0 of 2] -> out[0 of 2] round 2 after %2\n"),
      "");
}

TEST(Verify, Ranks) {
  EXPECT_EQ(findings("barrier rank 4 of 4 root 7 order rounds rounds 0", ""),
            "rank 4 is not in 0..3\nroot 7 is not in 0..3\n");
}

TEST(Verify, Buffers) {
  EXPECT_EQ(buffers("out 9out[4]\n"), "buffer 9out: not a name\n");
  EXPECT_EQ(buffers("in in[4]\nout out[4] like in[0]\n"),
            "buffer out: it is the caller's, so it is like nothing else\n");
  EXPECT_EQ(buffers("out out[4]\nscratch t[2] like out[3 +: 2]\n"),
            "buffer t: it is like out[3 +: 2], but out has 4 blocks\n");
  EXPECT_EQ(buffers("out out[4]\nscratch t[3] like out[0 +: 2]\n"),
            "buffer t: 3 blocks like 2 units\n");
  EXPECT_EQ(buffers("scratch t[3]\n"), "buffer t: 3 blocks like 0 units\n");
  EXPECT_EQ(buffers("out out[4]\nscratch t[0] like out[0 +: 0]\n"),
            "buffer t: it is like out[0 +: 0], but out has 4 blocks\n");
  EXPECT_EQ(
      buffers("out out[4]\nscratch a[1] like out[0 of 65536]\nscratch b[1] like a[0 of 65536]\n"),
      "buffer b: its blocks are finer than 1/2147483647\n");

  std::ostringstream said;
  Diag diag(said);
  Schedule s;
  s.buffers = {{.name = "a", .blocks = 1, .like = {{1, 1, 0, 1}}}, {.name = "a", .blocks = -1}};
  verify(s, diag);
  EXPECT_NE(said.str().find("buffer a: it is like a buffer that does not come before it"),
            std::string::npos);
  EXPECT_NE(said.str().find("buffer a: a second one of this name"), std::string::npos);
  EXPECT_NE(said.str().find("buffer a: -1 blocks where 0..16777216 are possible"),
            std::string::npos);
}

TEST(Verify, Waits) {
  EXPECT_EQ(steps("waits", "%0 = signal to 0 after %1\n%1 = signal to 2 after %1\n"),
            "step %0 waits for %1, which is not before it\nstep %1 waits for %1, which is not "
            "before it\n");
  EXPECT_EQ(steps("rounds", "%0 = signal to 0\n%1 = signal to 0 after %0\n"),
            "step %1 has waits, but the order is rounds\n");
}

TEST(Verify, Rounds) {
  EXPECT_EQ(steps("rounds", "%0 = signal to 0 round 1\n%1 = signal to 2 round 0\n"),
            "step %1 of round 0 comes after one of round 1\n");
  EXPECT_EQ(steps("rounds", "%0 = signal to 0 round 1\n%1 = copy in[0] -> out[0] round 1\n"),
            "step %1, a copy of round 1, comes after communication of that round\n");
  EXPECT_EQ(steps("rounds", "%0 = signal to 0 round 2\n"),
            "step %0 is of round 2, but the last round is 1\n");
  EXPECT_EQ(steps("rounds", "%0 = copy in[0] -> out[0] round 3\n"),
            "step %0 is of round 3, but the last number is 2\n");
}

TEST(Verify, Sections) {
  EXPECT_EQ(steps("rounds", "%0 = send in[3 +: 2] to 0\n"),
            "step %0 reads in[3 +: 2], but in has 4 blocks\n");
  EXPECT_EQ(steps("rounds", "%0 = recv out[13 +: 4 of 4] from 0\n"),
            "step %0 writes out[13 +: 4 of 4], but out has 4 blocks\n");
  EXPECT_EQ(steps("rounds", "%0 = send far[0] to 0\n"),
            "step %0 reads far[0], but far is absent on rank 1\n");
  EXPECT_EQ(steps("rounds", "%0 = send in[2 +: 2 of 4] to 0\n"),
            "step %0 reads in[2 +: 2 of 4], which is not in lowest terms\n");
  EXPECT_EQ(steps("rounds", "%0 = send in[36028797002186751 of 2147483647] to 0\n"),
            "step %0 reads in[36028797002186751 of 2147483647], but in has 4 blocks\n");

  std::ostringstream said;
  Diag diag(said);
  Schedule s;
  s.ranks = 2, s.rounds = 1;
  const Extent e{3, 1, 0, 1};
  s.steps.push_back({.op = Op::signal, .peer = 1, .from = s.keep({&e, 1})});
  s.steps.push_back({.op = Op::send, .peer = 1, .from = s.keep({&e, 1})});
  verify(s, diag);
  EXPECT_NE(said.str().find("step %0, a signal, reads a section it has no use for"),
            std::string::npos);
  EXPECT_NE(said.str().find("step %1 reads buffer number 3, which does not exist"),
            std::string::npos);
}

TEST(Verify, Peers) {
  EXPECT_EQ(steps("rounds", "%0 = signal to -1\n%1 = signal to 4\n%2 = signal to 1\n"),
            "step %0 has peer -1, which is not in 0..3\nstep %1 has peer 4, which is not in 0..3\n"
            "step %2 has peer 1, which is this rank itself\n");
  std::ostringstream said;
  Diag diag(said);
  Schedule s;
  s.steps.push_back({.op = Op::copy, .peer = 5});
  verify(s, diag);
  EXPECT_NE(said.str().find("step %0, a copy, has peer 5"), std::string::npos);
}

TEST(Verify, Amounts) {
  EXPECT_EQ(steps("rounds", "%0 = copy in[0 +: 3] -> out[0]\n"),
            "step %0 reads 3 blocks but writes 1 block\n");
  EXPECT_EQ(steps("rounds", "%0 = reduce in[0] with tmp[0 of 2] -> out[0]\n"),
            "step %0 reads 1/2 of a block but writes 1 block\n");
  EXPECT_EQ(steps("rounds", "%0 = copy in[0 of 2], in[0 of 3] -> out[5 of 6], tmp[4 +: 2 of 3]\n"),
            "");
}

TEST(Verify, InIsOnlyRead) {
  EXPECT_EQ(steps("rounds", "%0 = recv in[0] from 2\n"),
            "step %0 writes in[0], but `in` is only read\n");
}

}  // namespace
}  // namespace nbcc
