// SPDX-License-Identifier: BSD-3-Clause
// schedules.h - schedules for targets to lower: from a text, or of known algorithms for any P.

#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "compiler/passes/passes.h"

namespace nbcc {

/// Steps that have no number get one.
inline std::string numbered(const std::string &text) {
  std::istringstream lines(text);
  std::string result, line;
  int next = 0;
  for (; std::getline(lines, line); result += line + "\n")
    for (const char *op : {"  send ", "  recv ", "  copy ", "  reduce ", "  signal ", "  await "})
      if (line.rfind(op, 0) == 0) line = cat("  %", next++, " = ", line.substr(2));
  return result;
}

/// A schedule that must be without mistakes.
inline Schedule schedule(const std::string &written) {
  const std::string text = numbered(written);
  std::ostringstream said;
  Diag diag(said);
  std::vector<Schedule> read = readSchedules(diag.addFile("t", text), diag);
  for (const Schedule &s : read) verify(s, diag);
  EXPECT_EQ(said.str(), "") << text;
  return read.empty() ? Schedule() : read[0];
}

/// After the passes; written in rounds.
inline Schedule passed(const std::string &text, bool inPlace = false) {
  Schedule s = schedule(text);
  std::ostringstream said;
  Diag diag(said);
  runPasses(s, {.inPlace = inPlace}, {}, diag);
  EXPECT_EQ(said.str(), "") << text;
  return s;
}

inline std::string printed(const Schedule &s) {
  std::ostringstream out;
  print(s, out);
  return out.str();
}

// --- algorithms, one rank, in rounds ----------------------------------------------

inline std::string head(const char *kind, int P, int me, int rounds) {
  return cat("schedule @made ", kind, " rank ", me, " of ", P, " root 0 order rounds rounds ",
             rounds, "\n");
}

inline std::string ring(int P, int me) {
  std::string text = head("allgather", P, me, P - 1) + cat("  in in[1]\n  out out[", P, "]\n");
  text += cat("  copy in -> out[", me, "] round 0\n");
  for (int r = 0; r < P - 1; ++r) {
    text += cat("  send out[", (me - r + P) % P, "] to ", (me + 1) % P, " round ", r, "\n");
    text +=
        cat("  recv out[", (me - r - 1 + P) % P, "] from ", (me + P - 1) % P, " round ", r, "\n");
  }
  return text + "end\n";
}

inline std::string bruck(int P, int me) {
  int rounds = 0;
  std::string body;
  for (int d = 1; d < P; d *= 2, ++rounds) {
    const int n = std::min(d, P - d);
    body += cat("  send tmp[0 +: ", n, "] to ", (me - d + P) % P, " round ", rounds, "\n");
    body += cat("  recv tmp[", d, " +: ", n, "] from ", (me + d) % P, " round ", rounds, "\n");
  }
  std::string like = cat("out[", me, " +: ", P - me, "]");
  if (me > 0) like += cat(", out[0 +: ", me, "]");
  std::string text = head("allgather", P, me, rounds) +
                     cat("  in in[1]\n  out out[", P, "]\n  scratch tmp[", P, "] like ", like, "\n",
                         "  copy in -> tmp[0] round 0\n", body);
  for (int j = 0; j < P; ++j)
    text += cat("  copy tmp[", j, "] -> out[", (me + j) % P, "] round ", rounds, "\n");
  return text + "end\n";
}

inline std::string standardExchange(int P, int me) {
  int rounds = 0;
  std::string body;
  for (int d = 1; d < P; d *= 2, ++rounds) {
    const int peer = me ^ d;
    body += cat("  send out[", me / d * d, " +: ", d, "] to ", peer, " round ", rounds, "\n");
    body += cat("  recv out[", peer / d * d, " +: ", d, "] from ", peer, " round ", rounds, "\n");
  }
  return head("allgather", P, me, rounds) +
         cat("  in in[1]\n  out out[", P, "]\n  copy in -> out[", me, "] round 0\n") + body +
         "end\n";
}

inline std::string recursiveDoubling(int P, int me) {  // P a power of two
  int rounds = 0;
  std::string body;
  for (int d = 1; d < P; d *= 2, ++rounds) {
    body += cat("  send out to ", me ^ d, " round ", rounds, "\n");
    body += cat("  recv tmp from ", me ^ d, " round ", rounds, "\n");
    body += (me ^ d) < me ? cat("  reduce tmp with out -> out round ", rounds + 1, "\n")
                          : cat("  reduce out with tmp -> out round ", rounds + 1, "\n");
  }
  return head("allreduce", P, me, rounds) +
         "  in in[1]\n  out out[1]\n  scratch tmp[1] like out\n  copy in -> out round 0\n" + body +
         "end\n";
}

}  // namespace nbcc
