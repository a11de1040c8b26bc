// SPDX-License-Identifier: BSD-3-Clause
// saying.h - schedules from a text, and what the prover says of them.

#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/prove/prove.h"

namespace nbcc {

/// One rank's part of a text: buffers and steps, without the line `schedule`.
using Lines = std::vector<std::string>;

/// "allgather order rounds rounds 1" and a text for each rank => what readSchedules() wants.
/// In `head`, the kind comes first; "root R" and "in-place" may be left out.
inline std::string text(const std::string &head, const Lines &ranks) {
  std::istringstream words(head);
  std::string kind, order = "rounds", word, root = "0", rounds = "9", inPlace;
  words >> kind;
  if (kind == "own" && words >> word) kind += " " + word;
  while (words >> word) {
    if (word == "root") words >> root;
    if (word == "waits") order = word;
    if (word == "rounds") words >> rounds;
    if (word == "in-place") inPlace = " in-place";
  }
  std::string all;
  for (size_t r = 0; r < ranks.size(); ++r)
    all += cat("schedule @test ", kind, " rank ", r, " of ", ranks.size(), " root ", root,
               " order ", order, " rounds ", rounds, inPlace, "\n", ranks[r], "end\n");
  return all;
}

/// The errors and notes, each a line: "error: ...". Empty: it holds.
inline std::string said(const std::string &text, Proof *proof = nullptr,
                        std::vector<ClaimValue> claims = {}) {
  std::ostringstream out;
  Diag diag(out);
  const std::vector<Schedule> ranks = readSchedules(diag.addFile("t", text), diag);
  for (const Schedule &s : ranks) verify(s, diag);
  EXPECT_TRUE(diag.ok()) << out.str();
  if (!diag.ok()) return out.str();

  const Proof result = prove(ranks, claims, diag);
  EXPECT_EQ(result.holds, diag.ok());
  if (proof) *proof = result;
  std::istringstream lines(out.str());
  std::string messages, line;
  while (std::getline(lines, line))
    for (const char *kind : {"error: ", "note: "})
      if (const size_t at = line.find(kind); at != line.npos) messages += line.substr(at) + "\n";
  return messages;
}

/// As `said`, with {from, to} replaced in the text before: the mutation.
inline std::string broken(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  if (at != text.npos) text.replace(at, from.size(), to);
  return said(text);
}

}  // namespace nbcc
