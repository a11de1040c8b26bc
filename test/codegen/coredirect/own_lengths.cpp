// SPDX-License-Identifier: BSD-3-Clause
// Blocks with lengths of their own: what becomes of a schedule, and which are refused, why.

#include "codegen/coredirect/legalize.h"
#include "test/codegen/coredirect/support.h"

namespace nbcc {
namespace {

TargetOptions each(Protocol protocol = Protocol::automatic) {
  TargetOptions options;
  options.protocol = protocol;
  options.lengths = Blocks::each;
  return options;
}

/// What is said; the schedule is in rounds.
std::string refusal(const std::string &text, const TargetOptions &options) {
  return refused(passed(text), options);
}

::testing::AssertionResult says(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

/// Bytes of a legal way, whose order and places are proven from them.
Template emitted(const std::vector<Legal> &all, const TargetOptions &options) {
  Template t = coredirect_emit(all, options);
  EXPECT_EQ(verified(t, all), "");
  const char *why = "";
  EXPECT_EQ(nbc_template_check(t.data(), t.bytes, &why), 0) << why;
  return t;
}

TEST(OwnLengths, noSectionNamesTwoBlocksOfTheCaller) {
  const std::string text =
      "schedule @x allgather rank 0 of 4 root 0 order rounds rounds 1\n  in in[1]\n  out out[4]\n"
      "  scratch tmp[3] like out[1 +: 3]\n  copy in -> out[0] round 0\n"
      "  send out[0] to 1 round 0\n  recv tmp[0 +: 3] from 1 round 0\n"
      "  copy tmp[0 +: 3] -> out[1 +: 3] round 1\nend\n";
  const Schedule s = passed(text);
  for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous}) {
    const std::vector<Legal> all = ways(s, each(protocol));
    ASSERT_EQ(all.size(), 1u);
    for (const Step &step : all[0].schedule.steps)
      for (const Section section : {all[0].schedule.from(step), all[0].schedule.to(step)})
        for (const Extent &e : section)
          if (all[0].schedule.buffers[e.buffer].role == Role::out) {
            EXPECT_EQ(e.count, 1);
          }
    EXPECT_EQ(crosschannel::View(emitted(all, each(protocol))).header.lengths,
              uint32_t{NBC_LENGTHS_EACH});
  }
}

TEST(OwnLengths, aPieceIsInOneBlockAlsoWhereBlocksAreCut) {
  // Units of tmp: the last two thirds of out[0], the first two of out[1].
  const std::string text =
      "schedule @x allgather rank 0 of 2 root 0 order rounds rounds 2\n  in in[1]\n  out out[2]\n"
      "  scratch tmp[4] like out[1 +: 4 of 3]\n"
      "  recv out[2 +: 2 of 3] from 1 round 0\n  recv tmp[0 +: 4] from 1 round 0\n"
      "  send out[2 +: 2 of 3], tmp[1 +: 2] to 1 round 1\nend\n";
  const std::vector<Legal> all = ways(passed(text), each(Protocol::rendezvous));
  ASSERT_EQ(all.size(), 1u);
  const Template t = emitted(all, each(Protocol::rendezvous));
  const crosschannel::View view(t);
  int inRooms = 0, inOut = 0;
  for (const nbc_piece &p : view.pieces) {
    EXPECT_EQ(p.first / p.parts, (p.first + p.count - 1) / p.parts);
    ++(view.buffers[p.buffer].role == NBC_ROLE_OUT ? inOut : inRooms);
  }
  EXPECT_EQ(inOut, 4);  // two each of what is received and sent
  EXPECT_GE(inRooms, 4);
}

TEST(OwnLengths, moreBlocksThanTheAdapterGathersArePacked) {
  const Device narrow{.name = "narrow",
                      .summary = "",
                      .maxGather = 3,
                      .maxScatter = 2,
                      .logQueue = 12,
                      .inlineBytes = 0,
                      .crossChannel = true,
                      .calc = 0};
  TargetOptions options = each(Protocol::rendezvous);
  options.device = &narrow;
  for (int me = 0; me < 8; ++me) {
    const std::vector<Legal> all = ways(passed(standardExchange(8, me)), options);
    ASSERT_EQ(all.size(), 1u);
    for (const Step &step : all[0].schedule.steps) {
      EXPECT_LE(step.from.size, 3u);
      EXPECT_LE(step.to.size, step.op == Op::recv ? 2u : 1u);
    }
    emitted(all, options);
  }
}

TEST(OwnLengths, aRankKnowsItsOwnBlockOfAnAbsentRow) {
  // gather: `out` is absent here, but out[2] is as long as `in`.
  const std::string text =
      "schedule @x gather rank 2 of 4 root 0 order rounds rounds 1\n  in in[1]\n"
      "  out out[4] absent\n  scratch tmp[4] like out[0 +: 4]\n"
      "  copy in -> tmp[2] round 0\n  send tmp[2] to 0 round 0\nend\n";
  emitted(ways(passed(text), each()), each());
  const std::string foreign =
      "schedule @x gather rank 2 of 4 root 0 order rounds rounds 2\n  in in[1]\n"
      "  out out[4] absent\n  scratch tmp[1] like out[3]\n"
      "  recv tmp[0] from 3 round 0\n  send tmp[0], in to 0 round 1\nend\n";
  EXPECT_TRUE(says(refusal(foreign, each()),
                   "rank 2 of 4 receives tmp from 3 in round 0, but the length of out[3] is known "
                   "at the root only, rank 0"));
}

TEST(OwnLengths, whatIsRightForEqualBlocksOnlyIsRefused) {
  const std::string copies =
      "schedule @x allgather rank 0 of 3 root 0 order rounds rounds 1\n  in in[1]\n  out out[3]\n"
      "  copy in -> out[1] round 0\n  send out[1] to 1 round 0\nend\n";
  EXPECT_TRUE(says(refusal(copies, each()),
                   "copies in -> out[1] in round 0, which is right only if all blocks are equally "
                   "long: out[0] need not be as long as out[1]"));
  const std::string adds =
      "schedule @x reduce_scatter rank 1 of 2 root 0 order rounds rounds 1\n  in in[2]\n"
      "  out out[1]\n  reduce in[0] with in[1] -> out round 0\nend\n";
  EXPECT_TRUE(says(refusal(adds, each()), "in[0] need not be as long as in[1]"));
  // From and to oneself alltoall has the same length, from and to others not.
  const std::string own =
      "schedule @x alltoall rank 1 of 2 root 0 order rounds rounds 1\n  in in[2]\n  out out[2]\n"
      "  copy in[1] -> out[1] round 0\nend\n";
  emitted(ways(passed(own), each()), each());
  const std::string others =
      "schedule @x alltoall rank 1 of 2 root 0 order rounds rounds 1\n  in in[2]\n  out out[2]\n"
      "  copy in[0] -> out[0] round 0\nend\n";
  EXPECT_TRUE(says(refusal(others, each()), "in[0] need not be as long as out[0]"));
}

TEST(OwnLengths, whoIsItsOwnNeighbourKnowsWhichSlotsAreOne) {
  const auto copies = [](const char *kind, const char *buffers, const char *what) {
    return cat("schedule @x ", kind, " rank 0 of 2 root 0 order rounds rounds 1\n",
               "  sources 0[1], 0[0], 1[0]\n  destinations 0, 0, 1\n", buffers, "  copy ", what,
               " round 0\nend\n");
  };
  const char *all = "  in in[3]\n  out out[3]\n", *toAll = "  in in[1]\n  out out[3]\n";
  emitted(ways(passed(copies("neighbor_alltoall", all, "in[1] -> out[0]")), each()), each());
  EXPECT_TRUE(says(refusal(copies("neighbor_alltoall", all, "in[0] -> out[0]"), each()),
                   "in[0] need not be as long as in[1]"));
  emitted(ways(passed(copies("neighbor_allgather", toAll, "in -> out[1]")), each()), each());
  emitted(ways(passed(copies("neighbor_allgather", toAll, "out[1] -> out[0]")), each()), each());
  EXPECT_TRUE(says(refusal(copies("neighbor_allgather", toAll, "in -> out[2]"), each()),
                   "in[0] need not be as long as out[2]"));
}

TEST(OwnLengths, kindsAndProtocols) {
  EXPECT_TRUE(says(refusal(recursiveDoubling(4, 1), each()),
                   "allreduce has no blocks that could differ in length"));
  const std::string alltoall =
      "schedule @x alltoall rank 1 of 2 root 0 order rounds rounds 1\n  in in[2]\n  out out[2]\n"
      "  send in[0] to 0 round 0\n  recv out[0] from 0 round 0\nend\n";
  EXPECT_TRUE(says(refusal(alltoall, each(Protocol::eager)), "alltoall cannot go eager"));
  for (const Legal &legal : ways(passed(alltoall), each()))
    EXPECT_EQ(legal.protocol, uint32_t{NBC_RENDEZVOUS});
  const std::string same =
      "schedule @x reduce_scatter_block rank 0 of 1 root 0 order rounds rounds 1\n  in in[1]\n"
      "  out out[1]\n  copy in -> out round 0\nend\n";
  EXPECT_TRUE(says(refusal(same, each()), "has blocks that are always equally long"));
  // In place its `out` is no row of blocks whose first could hold the result.
  const std::string reduces =
      "schedule @x reduce_scatter rank 0 of 1 root 0 order rounds rounds 1\n  in in[1]\n"
      "  out out[1]\n  copy in -> out round 0\nend\n";
  const Schedule s = passed(reduces), placed = passed(reduces, true);
  for (const Legal &legal : ways(s, each(), &placed)) EXPECT_EQ(legal.flags, 0u);
}

}  // namespace
}  // namespace nbcc
