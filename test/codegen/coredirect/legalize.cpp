// SPDX-License-Identifier: BSD-3-Clause
// What each way makes of a schedule: rooms, waits, who does what, and what is refused.

#include "test/codegen/coredirect/support.h"

namespace nbcc {
namespace {

const TargetOptions eager{.protocol = Protocol::eager};
const TargetOptions rendezvous{.protocol = Protocol::rendezvous};

TEST(Eager, ReadsMessagesInTheirRoomsAndCopiesOutAtTheEnd) {
  EXPECT_EQ(legal(schedule(R"(schedule @a allgather rank 0 of 4 root 0 order waits rounds 2
  in in[1]
  out out[4]
  scratch tmp[2] like out[0 +: 2]
  %0 = copy in -> tmp[0] round 0
  %1 = send tmp[0] to 1 round 0 after %0
  %2 = recv tmp[1] from 1 round 0
  %3 = send tmp[0 +: 2] to 2 round 1 after %0, %2
  %4 = recv out[2 +: 2] from 2 round 1
  %5 = copy tmp[0 +: 2] -> out[0 +: 2] round 2 after %2
end
)"),
                  eager),
            R"(  in in[1]
  out out[4]
  scratch tmp[2] like out[0 +: 2]
  slots slot0[1] like tmp[1]
  slots slot1[2] like out[2 +: 2]
  scratch in.staged[1] like in
  %0 = copy in -> in.staged round 0 by host_before
  %1 = send in.staged to 1 round 0 after %0
  %2 = recv slot0 from 1 round 0
  %3 = send in.staged, slot0 to 2 round 1 after %0, %2
  %4 = recv slot1[0 +: 2] from 2 round 1
  %5 = copy in, slot0, slot1[0 +: 2] -> out[0 +: 4] round 2 by host_after after %2, %4
)");
}

TEST(Eager, NeedsNoWaitBeforeMemoryIsUsedAgain) {
  // %1 overwrites what %0 sends, %3 what %2 does: not in rooms of their own.
  const std::string text =
      legal(schedule(R"(schedule @a bcast rank 0 of 3 root 0 order waits rounds 4
  data data[1]
  %0 = send data to 1 round 0
  %1 = recv data from 1 round 1 after %0
  %2 = send data to 1 round 2 after %1
  %3 = recv data from 2 round 3 after %2
end
)"),
            eager);
  EXPECT_NE(text.find("recv slot0 from 1 round 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("recv slot1 from 2 round 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("send slot0 to 1 round 2 after %2\n"), std::string::npos) << text;
}

TEST(Eager, KeepsWaitingForAwaits) {
  // The send reads nothing that came with the signal; what comes between is carried on.
  const std::string text =
      legal(schedule(R"(schedule @a gather rank 1 of 2 root 0 order waits rounds 3
  in in[1]
  out out[2] absent
  scratch tmp[1] like in
  %0 = await from 0 round 0
  %1 = copy in -> tmp[0] round 1 after %0
  %2 = recv tmp[0] from 0 round 1 after %0, %1
  %3 = send in to 0 round 2 after %1
end
)"),
            eager);
  EXPECT_NE(text.find("recv slot0 from 0 round 1 after %1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("send in.staged to 0 round 2 after %0, %1\n"), std::string::npos) << text;
}

TEST(Eager, SplitsMessagesIntoBlocksWhereEachHasASlot) {
  TargetOptions options = eager;
  options.slotPerBlock = true;
  const std::string text = legal(passed(standardExchange(4, 0)), options);
  EXPECT_NE(text.find("recv slot1 from 2"), std::string::npos) << text;
  EXPECT_NE(text.find("recv slot2 from 2"), std::string::npos) << text;
  EXPECT_NE(text.find("send in.staged to 2"), std::string::npos) << text;
  EXPECT_NE(text.find("send slot0 to 2"), std::string::npos) << text;
}

TEST(Eager, ReducesIntoARoomOfItsOwn) {
  const std::string text = legal(passed(recursiveDoubling(4, 1)), eager);
  EXPECT_NE(text.find("reduce slot0 with in -> value0 round 1 by host after %2\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("reduce value0 with slot1 -> value1 round 2 by host"), std::string::npos)
      << text;
  EXPECT_NE(text.find("copy value1 -> out round 2 by host_after"), std::string::npos) << text;
}

TEST(Eager, FollowsPartsOfVectorsThroughScratch) {
  const std::string text =
      legal(schedule(R"(schedule @a allreduce rank 0 of 2 root 0 order waits rounds 2
  in in[1]
  out out[1]
  scratch t[3] like out[0 +: 3 of 3]
  %0 = recv t[0 +: 3] from 1 round 0
  %1 = copy t[0 +: 3] -> out round 1 after %0
  %2 = send out[1 of 3] to 1 round 1 after %1
end
)"),
            eager);
  EXPECT_NE(text.find("send slot0[1] to 1"), std::string::npos) << text;
  EXPECT_NE(text.find("copy slot0[0 +: 3] -> out round 2 by host_after"), std::string::npos)
      << text;
}

TEST(Eager, PacksWhatTheAdapterCannotGather) {
  Device narrow = coredirect.devices[0];
  narrow.maxGather = 2;
  TargetOptions options = eager;
  options.device = &narrow;
  const std::string text =
      legal(schedule(R"(schedule @a allgather rank 0 of 4 root 0 order waits rounds 2
  in in[1]
  out out[4]
  %0 = recv out[1] from 1 round 0
  %1 = recv out[2] from 2 round 0
  %2 = recv out[3] from 3 round 0
  %3 = send out[1 +: 3] to 1 round 1 after %0, %1, %2
end
)"),
            options);
  EXPECT_NE(
      text.find("copy slot0, slot1, slot2 -> packed0[0 +: 3] round 1 by host after %0, %1, %2"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("send packed0[0 +: 3] to 1 round 1 after "), std::string::npos) << text;
}

TEST(Eager, SavesWhatIsMovedWithinTheCallersBuffer) {
  const std::string text =
      legal(schedule(R"(schedule @a bcast rank 0 of 2 root 0 order waits rounds 0
  data data[1]
  scratch t[1] like data[0 of 2]
  %0 = copy data[0 of 2] -> t round 0
  %1 = copy data[1 of 2] -> data[0 of 2] round 0 after %0
  %2 = copy t -> data[1 of 2] round 0 after %1
end
)"),
            eager);
  EXPECT_NE(text.find("by host_before"), std::string::npos) << text;
  EXPECT_EQ(text.find("copy data[1 of 2], data[0 of 2] -> data"), std::string::npos) << text;
}

TEST(Rendezvous, LeavesDataInTheirPlace) {
  EXPECT_EQ(legal(passed(standardExchange(4, 0)), rendezvous), R"(  in in[1]
  out out[4]
  %0 = copy in -> out[0] round 0 by nic
  %1 = send in to 1 round 0
  %2 = recv out[1] from 1 round 0
  %3 = send out[0 +: 2] to 2 round 1 after %0, %2
  %4 = recv out[2 +: 2] from 2 round 1
)");
}

TEST(Rendezvous, PacksAndUnpacksWithoutTheOtherEnd) {
  Device narrow = coredirect.devices[0];
  narrow.maxGather = narrow.maxScatter = 2;
  TargetOptions options = rendezvous;
  options.device = &narrow;
  EXPECT_EQ(legal(schedule(R"(schedule @a alltoall rank 0 of 6 root 0 order waits rounds 2
  in in[6]
  out out[6]
  %0 = send in[1], in[3], in[5] to 1 round 0
  %1 = recv out[0], out[2], out[4] from 1 round 0
  %2 = send out[2] to 1 round 1 after %1
end
)"),
                  options),
            R"(  in in[6]
  out out[6]
  scratch packed0[3] like in[1], in[3], in[5]
  scratch packed1[3] like out[0], out[2], out[4]
  %0 = copy in[1], in[3] -> packed0[0 +: 2] round 0 by nic
  %1 = copy in[5] -> packed0[2] round 0 by nic
  %2 = send packed0[0 +: 3] to 1 round 0 after %0, %1
  %3 = recv packed1[0 +: 3] from 1 round 0
  %4 = copy packed1[0] -> out[0] round 1 by nic after %3
  %5 = copy packed1[1] -> out[2] round 1 by nic after %3
  %6 = copy packed1[2] -> out[4] round 1 by nic after %3
  %7 = send out[2] to 1 round 1 after %4, %5, %6
)");
}

TEST(Ways, AreInTheOrderInWhichTheyAreTried) {
  const Schedule s = passed(recursiveDoubling(4, 1)),
                 placed = passed(recursiveDoubling(4, 1), true);
  std::vector<std::string> found;
  for (const Legal &legal : ways(s, {}, &placed))
    found.push_back(cat(legal.protocol, ":", legal.flags, ":", legal.scalars));
  EXPECT_EQ(found,
            (std::vector<std::string>{"0:2:1", "0:3:1", "0:2:2", "0:3:2", "0:2:4", "0:3:4", "0:2:8",
                                      "0:3:8", "0:0:0", "0:1:0", "1:0:0", "1:1:0"}));
}

TEST(Ways, NoCalcForPartsOrWhereTheAdapterDoesNot) {
  const std::string parts = R"(schedule @a allreduce rank 0 of 2 root 0 order waits rounds 1
  in in[1]
  out out[1]
  %0 = send in[0 of 2] to 1 round 0
  %1 = recv out[1 of 2] from 1 round 0
end
)";
  EXPECT_EQ(ways(schedule(parts), eager).size(), 1u);
  TargetOptions connectx7 = eager;
  connectx7.device = findDevice(coredirect, "connectx7-cd");
  EXPECT_EQ(ways(passed(recursiveDoubling(4, 1)), connectx7).size(), 1u);
  EXPECT_EQ(ways(passed(recursiveDoubling(4, 1)), eager).size(), 5u);
}

// A reduction takes a block for each element, so queues set the limit.
TEST(Ways, CalcOfAsManyElementsAsQueuesHold) {
  Device device = coredirect.devices[0];
  TargetOptions options = eager;
  options.device = &device;
  std::vector<uint32_t> most;
  for (device.logQueue = 7; device.logQueue <= 9; ++device.logQueue) {
    most.push_back(0);
    for (const Legal &legal : ways(passed(recursiveDoubling(16, 1)), options))
      most.back() = std::max(most.back(), legal.scalars);
  }
  EXPECT_EQ(most, (std::vector<uint32_t>{4, 8, 8}));
}

TEST(Ways, RefuseTooManyMessagesBeforeAnythingElse) {
  Device small = coredirect.devices[0];
  small.name = "small";
  small.logQueue = 5;
  TargetOptions options;
  options.device = &small;
  EXPECT_EQ(
      refused(passed(ring(33, 0)), options),
      "nbcc: error: coredirect: a queue holds 32 entries on small, this schedule needs 64 for "
      "what it sends to rank 1: 32 for a call, 2 calls under way\n");
}

TEST(Ways, RefuseQueuesThatAreTooLongAndSayBoth) {
  Device small = coredirect.devices[0];
  small.name = "small";
  small.logQueue = 6;
  TargetOptions options = eager;
  options.device = &small;
  EXPECT_EQ(
      refused(passed(ring(33, 0)), options),
      "nbcc: error: coredirect: the management queue holds 64 entries on small, this schedule "
      "needs 136: 65 for a call, 2 calls under way, 6 for credits\n"
      "nbcc: error: coredirect: the eager queue to rank 32 holds 64 receives on small, this "
      "schedule needs 192 for 2 calls under way\n");
}

}  // namespace
}  // namespace nbcc
