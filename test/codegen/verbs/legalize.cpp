// SPDX-License-Identifier: BSD-3-Clause
// What becomes of a schedule: sends stay where they lie as far as an adapter gathers, what is
// received is one run.

#include "test/codegen/verbs/support.h"

namespace nbcc {
namespace {

/// Apart: out[1], out[3] and in[1], in[3].
const char *const apart = R"(schedule @a alltoall rank 0 of 6 root 0 order waits rounds 2
  in in[6]
  out out[6]
  %0 = recv out[1], out[3] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
  %2 = send in[0], in[2], in[4], in[1], in[5] to 2 round 1
end
)";

TEST(VerbsLegalize, SendsAsManyRunsAsTheAdapterGathers) {
  EXPECT_EQ(legal(schedule(apart)), R"(  in in[6]
  out out[6]
  scratch packed0[2] like in[0 +: 2]
  scratch packed1[5] like in[0 +: 5]
  %0 = recv packed0[0 +: 2] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
  %2 = copy in[0], in[2], in[4], in[1], in[5] -> packed1[0 +: 5] round 1 by host
  %3 = send packed1[0 +: 5] to 2 round 1 after %2
  %4 = copy packed0[0 +: 2] -> out[1], out[3] round 2 by host_after after %0
)");
}

TEST(VerbsLegalize, AsksTheDeviceHowMany) {
  EXPECT_NE(legal(schedule(apart), {.device = findDevice(verbs, "rxe")})
                .find("send in[0], in[2], in[4], in[1], in[5] to 2"),
            std::string::npos);
}

TEST(VerbsLegalize, RefusesAProtocolAndOwnLengthsByItsName) {
  for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous})
    EXPECT_NE(
        refused(passed(ring(3, 1)), {.protocol = protocol})
            .find("verbs: there is no protocol to choose: the runtime knows each message's length"),
        std::string::npos);
  EXPECT_NE(refused(passed(recursiveDoubling(2, 1)), {.lengths = Blocks::each})
                .find("verbs: own lengths: allreduce has no blocks that could differ in length"),
            std::string::npos);
}

TEST(VerbsLegalize, RefusesWhatATemplateCannotCount) {
  // So many pieces that nobody looks at them: they are not there.
  Schedule s = passed(ring(3, 1));
  for (Step &step : s.steps)
    if (step.op == Op::send) step.from.size = 1 << 24;
  EXPECT_NE(
      refused(s, {}).find("verbs: a template holds at most 16777216 steps and pieces of memory "
                          "together, the schedule of rank 1 of 3 has "),
      std::string::npos);
}

}  // namespace
}  // namespace nbcc
