// SPDX-License-Identifier: BSD-3-Clause
// What becomes of a schedule: messages stay where they lie, but those to another node are packed.

#include "test/codegen/shm/support.h"

namespace nbcc {
namespace {

const TargetOptions each{.lengths = Blocks::each};

/// Apart: out[1], out[3] and in[1], in[3]; with rank 1 and with rank 2.
const char *const crossing = R"(schedule @a alltoall rank 0 of 4 root 0 order waits rounds 2
  in in[4]
  out out[4]
  %0 = recv out[1], out[3] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
  %2 = recv out[2], out[0] from 2 round 0
  %3 = send in[2], in[0] to 2 round 1
  %4 = send out[3] to 3 round 1 after %0
end
)";

TEST(ShmLegalize, LeavesMessagesWhereTheyLie) {
  EXPECT_EQ(legal(schedule(crossing)), R"(  in in[4]
  out out[4]
  %0 = recv out[1], out[3] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
  %2 = recv out[2], out[0] from 2 round 0
  %3 = send in[2], in[0] to 2 round 1
  %4 = send out[3] to 3 round 1 after %0
)");
}

TEST(ShmLegalize, PacksOnlyWhatGoesToAnotherNode) {
  const Topology topology({0, 0, 1, 0});
  EXPECT_EQ(legal(schedule(crossing), {.topology = &topology}), R"(  in in[4]
  out out[4]
  scratch packed0[2] like in[0 +: 2]
  scratch packed1[2] like in[0 +: 2]
  %0 = recv out[1], out[3] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
  %2 = recv packed0[0 +: 2] from 2 round 0
  %3 = copy in[2], in[0] -> packed1[0 +: 2] round 1 by host
  %4 = send packed1[0 +: 2] to 2 round 1 after %3
  %5 = send out[3] to 3 round 1 after %0
  %6 = copy packed0[0 +: 2] -> out[2], out[0] round 2 by host_after after %2
)");
}

TEST(ShmLegalize, BlocksOfLengthsOfTheirOwnStayAsWell) {
  const Schedule s = schedule(R"(schedule @a allgather rank 0 of 4 root 0 order waits rounds 2
  in in[1]
  out out[4]
  %0 = recv out[2 +: 2] from 2 round 0
  %1 = send out[1], out[2] to 1 round 1 after %0
end
)");
  EXPECT_EQ(legal(s, each), R"(  in in[1]
  out out[4]
  %0 = recv out[2], out[3] from 2 round 0
  %1 = send out[1], out[2] to 1 round 1 after %0
)");
  EXPECT_NE(legal(s).find("recv out[2 +: 2] from 2"), std::string::npos);
}

TEST(ShmLegalize, RefusesAProtocolAndOwnLengthsByItsName) {
  EXPECT_NE(
      refused(passed(ring(3, 1)), {.protocol = Protocol::eager})
          .find("shm: there is no protocol to choose: the runtime knows each message's length"),
      std::string::npos);
  EXPECT_NE(refused(passed(recursiveDoubling(2, 1)), each)
                .find("shm: own lengths: allreduce has no blocks that could differ in length"),
            std::string::npos);
}

}  // namespace
}  // namespace nbcc
