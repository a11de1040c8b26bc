// SPDX-License-Identifier: BSD-3-Clause
// What becomes of a schedule: one run of memory a message, who does what, and what is refused.

#include "test/codegen/mpi/support.h"

namespace nbcc {
namespace {

const TargetOptions each{.lengths = Blocks::each};

TEST(MpiLegalize, LeavesMessagesOfOneRunAlone) {
  EXPECT_EQ(legal(schedule(R"(schedule @a allgather rank 3 of 4 root 0 order waits rounds 2
  in in[1]
  out out[4]
  scratch tmp[4] like out[3], out[0 +: 3]
  %0 = copy in -> tmp[0] round 0
  %1 = recv tmp[1 +: 2] from 1 round 0
  %2 = send tmp[0], tmp[1 +: 2] to 2 round 1 after %0, %1
  %3 = await from 2 round 1
  %4 = signal to 2 round 1 after %1
end
)")),
            R"(  in in[1]
  out out[4]
  scratch tmp[4] like out[3], out[0 +: 3]
  %0 = copy in -> tmp[0] round 0 by host
  %1 = recv tmp[1 +: 2] from 1 round 0
  %2 = send tmp[0 +: 3] to 2 round 1 after %0, %1
  %3 = await from 2 round 1
  %4 = signal to 2 round 1 after %1
)");
}

TEST(MpiLegalize, PacksAndUnpacksWhatLiesApart) {
  EXPECT_EQ(legal(schedule(R"(schedule @a alltoall rank 0 of 4 root 0 order waits rounds 2
  in in[4]
  out out[4]
  %0 = copy in[0] -> out[0] round 0
  %1 = recv out[1], out[3] from 1 round 0
  %2 = send in[1], in[3] to 1 round 0
  %3 = send out[3] to 2 round 1 after %1
end
)")),
            R"(  in in[4]
  out out[4]
  scratch packed0[2] like in[0 +: 2]
  scratch packed1[2] like in[0 +: 2]
  %0 = copy in[0] -> out[0] round 0 by host
  %1 = copy in[1], in[3] -> packed1[0 +: 2] round 0 by host
  %2 = recv packed0[0 +: 2] from 1 round 0
  %3 = send packed1[0 +: 2] to 1 round 0 after %1
  %4 = copy packed0[0 +: 2] -> out[1], out[3] round 1 by host after %2
  %5 = send out[3] to 2 round 1 after %4
)");
}

TEST(MpiLegalize, PartsArePackedAsTheyAre) {
  // Half a block is not as long as another half: floor(N / 2) elements, or one more.
  const std::string text =
      legal(schedule(R"(schedule @a bcast rank 1 of 2 root 0 order waits rounds 1
  data data[1]
  %0 = recv data[2 of 3], data[0 of 3] from 0 round 0
end
)"));
  EXPECT_NE(text.find("scratch packed0[2] like data[2 of 3], data[0 of 3]\n"), std::string::npos)
      << text;
}

TEST(MpiLegalize, RoomsAreUsedAgainTwoRoundsLater) {
  const std::string text =
      legal(schedule(R"(schedule @a alltoall rank 0 of 4 root 0 order waits rounds 4
  in in[4]
  out out[4]
  %0 = send in[0], in[2] to 1 round 0
  %1 = send in[1], in[3] to 1 round 1
  %2 = send in[3], in[1], in[0] to 1 round 2
  %3 = recv out[0], out[2] from 1 round 3
end
)"));
  EXPECT_NE(
      text.find("scratch packed0[3] like in[0 +: 3]\n  scratch packed1[2] like in[0 +: 2]\n  %0"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("%4 = copy in[3], in[1], in[0] -> packed0[0 +: 3] round 2 by host after %1\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("recv packed1[0 +: 2] from 1 round 3 after %3\n"), std::string::npos) << text;
}

TEST(MpiLegalize, PutsOffWhatNoMessageNeeds) {
  // %1 is sent on, %4 and what it needs is not; %0 needs no message, so it holds up none.
  const std::string text =
      legal(schedule(R"(schedule @a reduce rank 1 of 3 root 1 order waits rounds 3
  in in[1]
  out out[1]
  scratch tmp[3] like in, in, in
  %0 = copy in -> out round 0
  %1 = recv tmp[0] from 0 round 0
  %2 = recv tmp[1] from 2 round 0
  %3 = reduce tmp[0] with in -> tmp[2] round 1 after %1
  %4 = reduce tmp[1] with out -> out round 1 after %0, %2
  %5 = send tmp[2] to 2 round 1 after %3
end
)"));
  EXPECT_NE(text.find("copy in -> out round 0 by host\n"), std::string::npos) << text;
  EXPECT_NE(text.find("reduce tmp[0] with in -> tmp[2] round 1 by host after %1"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("%5 = reduce tmp[1] with out -> out round 3 by host_after after %0, %2"),
            std::string::npos)
      << text;
}

TEST(MpiLegalize, WaitsThroughWhatVanishes) {
  // %1 and %2 do nothing; %3 still waits for what they waited for.
  const std::string text =
      legal(schedule(R"(schedule @a bcast rank 1 of 3 root 0 order waits rounds 2
  data data[1]
  scratch tmp[1] like data
  %0 = recv data from 0 round 0
  %1 = copy data[0 +: 0] -> tmp[0 +: 0] round 1 after %0
  %2 = copy [] -> [] round 1 after %1
  %3 = send data to 2 round 1 after %2
end
)"));
  EXPECT_NE(text.find("%1 = send data to 2 round 1 after %0\n"), std::string::npos) << text;
}

TEST(MpiLegalize, NeighboursOfTheCallerAreApartWhereBlocksDiffer) {
  const Schedule s = schedule(R"(schedule @a allgather rank 0 of 4 root 0 order waits rounds 2
  in in[1]
  out out[4]
  scratch tmp[2] like out[2 +: 2]
  %0 = recv out[1 +: 2] from 1 round 0
  %1 = recv tmp[0 +: 2] from 2 round 0
  %2 = send tmp[0], tmp[1] to 3 round 1 after %1
end
)");
  EXPECT_NE(legal(s).find("recv out[1 +: 2] from 1"), std::string::npos);
  const std::string text = legal(s, each);
  EXPECT_NE(text.find("recv packed0[0 +: 2] from 1"), std::string::npos) << text;
  EXPECT_NE(text.find("copy packed0[0 +: 2] -> out[1], out[2] round 2 by host_after"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("send tmp[0 +: 2] to 3"), std::string::npos) << text;
}

TEST(MpiLegalize, InPlaceIsAWayOfItsOwn) {
  Schedule replaced = schedule(ring(3, 1));
  std::ostringstream said;
  Diag diag(said);
  runPasses(replaced, {.inPlace = true}, {}, diag);
  const Schedule ordinary = passed(ring(3, 1));
  const std::vector<Legal> legals = ways(ordinary, {}, &replaced);
  ASSERT_EQ(legals.size(), 2u);
  EXPECT_EQ(legals[0].flags, 0u);
  EXPECT_EQ(legals[1].flags, uint32_t{NBC_VARIANT_IN_PLACE});
  EXPECT_EQ(legals[1].protocol, uint32_t{NBC_RENDEZVOUS});
  for (const Step &step : legals[1].schedule.steps) EXPECT_NE(step.op, Op::copy);
  // Gather's other ranks read `in` all the same.
  EXPECT_EQ(ways(ordinary, {}, &ordinary).size(), 1u);
}

TEST(MpiLegalize, RefusesWhatItCannotOrder) {
  EXPECT_NE(refused(schedule(R"(schedule @a bcast rank 1 of 3 root 0 order waits rounds 1
  data data[1]
  %0 = recv data from 0 round 0
  %1 = send data to 2 round 0 after %0
end
)"))
                .find("mpi: step %1 of round 0 waits for step %0, a message of the same round: "
                      "ranks could wait for each other for ever"),
            std::string::npos);
}

TEST(MpiLegalize, RefusesWhatMpiDecides) {
  EXPECT_NE(refused(passed(ring(3, 1)), {.protocol = Protocol::eager})
                .find("mpi: there is no protocol to choose: which messages go eager MPI decides"),
            std::string::npos);
  EXPECT_NE(refused(passed(recursiveDoubling(2, 1)), each)
                .find("mpi: own lengths: allreduce has no blocks that could differ in length"),
            std::string::npos);
}

}  // namespace
}  // namespace nbcc
