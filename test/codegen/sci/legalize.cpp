// SPDX-License-Identifier: BSD-3-Clause
// What becomes of a schedule: messages stay where they lie, at both ends.

#include "test/codegen/sci/support.h"

namespace nbcc {
namespace {

const TargetOptions each{.lengths = Blocks::each};

TEST(SciLegalize, LeavesMessagesWhereTheyLie) {
  EXPECT_EQ(legal(schedule(R"(schedule @a alltoall rank 0 of 6 root 0 order waits rounds 2
  in in[6]
  out out[6]
  %0 = recv out[1], out[3] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
  %2 = copy in[0] -> out[0] round 1
  %3 = send in[0], in[2], in[4], in[1], in[5] to 2 round 1
  %4 = send out[3] to 3 round 1 after %0
end
)")),
            R"(  in in[6]
  out out[6]
  %0 = recv out[1], out[3] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
  %2 = copy in[0] -> out[0] round 1 by host
  %3 = send in[0], in[2], in[4], in[1], in[5] to 2 round 1
  %4 = send out[3] to 3 round 1 after %0
)");
}

TEST(SciLegalize, BlocksOfLengthsOfTheirOwnStayAsWell) {
  EXPECT_EQ(legal(schedule(R"(schedule @a allgather rank 0 of 4 root 0 order waits rounds 2
  in in[1]
  out out[4]
  %0 = recv out[2 +: 2] from 2 round 0
  %1 = send out[1], out[2] to 1 round 1 after %0
end
)"),
                  each),
            R"(  in in[1]
  out out[4]
  %0 = recv out[2], out[3] from 2 round 0
  %1 = send out[1], out[2] to 1 round 1 after %0
)");
}

TEST(SciLegalize, RefusesAProtocolAndOwnLengthsByItsName) {
  for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous})
    EXPECT_NE(
        refused(passed(ring(3, 1)), {.protocol = protocol})
            .find("sci: there is no protocol to choose: the runtime knows each message's length"),
        std::string::npos);
  EXPECT_NE(refused(passed(recursiveDoubling(2, 1)), each)
                .find("sci: own lengths: allreduce has no blocks that could differ in length"),
            std::string::npos);
}

}  // namespace
}  // namespace nbcc
