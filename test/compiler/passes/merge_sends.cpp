// SPDX-License-Identifier: BSD-3-Clause
// Both ends make the same messages.

#include "support.h"

namespace nbcc {
namespace {

/// Rank 0 and rank 1 after the pass, each having looked at the other as it was.
std::string merged(const std::string &rank0, const std::string &rank1) {
  const auto text = [](int rank, const std::string &lines) {
    return cat("schedule @a allgather rank ", rank,
               " of 3 root 0 order rounds rounds 3\nin in[1]\nout out[3]\n", lines, "end\n");
  };
  const std::vector<Schedule> both = readAll(text(0, rank0) + text(1, rank1));
  if (both.size() != 2) return "";
  const PassContext context{[&](int64_t rank) { return rank < 2 ? &both[rank] : nullptr; }};
  std::string result = after("merge-sends", text(0, rank0), context) + "--\n" +
                       after("merge-sends", text(1, rank1), context);
  for (const std::string buffers = "  in in[1]\n  out out[3]\n";
       result.find(buffers) != std::string::npos;)
    result.erase(result.find(buffers), buffers.size());
  return result;
}

TEST(MergeSends, OneRoundAtBothEnds) {
  EXPECT_EQ(merged("%0 = send out[0] to 1 round 0\n%1 = send in to 2 round 0\n%2 = send out[2] to "
                   "1 round 0\n",
                   "%0 = recv out[0] from 0 round 1\n%1 = recv out[2] from 0 round 1\n"),
            "  %0 = send out[0], out[2] to 1 round 0\n  %1 = send in to 2 round 0\n--\n"
            "  %0 = recv out[0], out[2] from 0 round 1\n");
}

TEST(MergeSends, GroupsEndWhereARoundEndsAtEitherEnd) {
  EXPECT_EQ(merged("%0 = send out[0] to 1 round 0\n%1 = send out[1] to 1 round 0\n%2 = send out[2] "
                   "to 1 round 0\n"
                   "%3 = send in to 1 round 1\n",
                   "%0 = recv out[0] from 0 round 0\n%1 = recv out[1] from 0 round 1\n"
                   "%2 = recv out[2] from 0 round 1\n%3 = recv out[0] from 0 round 1\n"),
            "  %0 = send out[0] to 1 round 0\n  %1 = send out[1 +: 2] to 1 round 0\n  %2 = send in "
            "to 1 round 1\n--\n"
            "  %0 = recv out[0] from 0 round 0\n  %1 = recv out[1 +: 2] from 0 round 1\n"
            "  %2 = recv out[0] from 0 round 1\n");
}

TEST(MergeSends, SignalsAndPortsKeepMessagesApart) {
  const std::string sender =
      "%0 = send out[0] to 1 round 0\n%1 = signal to 1 round 0\n%2 = send out[1] to 1 round 0\n"
      "%3 = send out[2] to 1 round 0 port 1\n";
  const std::string receiver =
      "%0 = recv out[0] from 0 round 0\n%1 = await from 0 round 0\n%2 = recv out[1] from 0 round "
      "0\n"
      "%3 = recv out[2] from 0 round 0\n";
  const std::string result = merged(sender, receiver);
  EXPECT_NE(result.find("%3 = send"), std::string::npos) << result;
  EXPECT_NE(result.find("%3 = recv"), std::string::npos) << result;
}

TEST(MergeSends, WhatDoesNotMatchIsLeftToProve) {
  const std::string sender = "%0 = send out[0] to 1 round 0\n%1 = send out[1] to 1 round 0\n";
  EXPECT_NE(merged(sender, "%0 = recv out[0] from 0 round 0\n").find("%1 = send"),
            std::string::npos);
  EXPECT_NE(merged(sender, "%0 = recv out[0] from 0 round 0\n%1 = await from 0 round 0\n")
                .find("%1 = send"),
            std::string::npos);
}

TEST(MergeSends, AsksOnlyWhereARoundHasTwo) {
  int asked = 0;
  const PassContext context{[&](int64_t) -> const Schedule * { return ++asked, nullptr; }};
  const std::string head =
      "schedule @a allgather rank 0 of 3 root 0 order rounds rounds 2\nin in[1]\nout out[3]\n";
  after("merge-sends",
        head +
            "%0 = send in to 1 round 0\n%1 = recv out[1] from 1 round 0\n"
            "%2 = send in to 2 round 0\n%3 = send in to 1 round 1\nend\n",
        context);
  EXPECT_EQ(asked, 0);
  after("merge-sends", head + "%0 = send in to 1 round 0\n%1 = send in to 1 round 0\nend\n",
        context);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace nbcc
