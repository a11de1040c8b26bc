// SPDX-License-Identifier: BSD-3-Clause
// Bytes where they must be, and what is filled in.

#include "test/codegen/coredirect/support.h"

namespace nbcc {
namespace {

using namespace crosschannel;

std::string hex(const unsigned char *p, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    char two[4];
    std::snprintf(two, sizeof two, "%02x", p[i]);
    text += (i == 0 ? "" : i % 4 ? " " : " | ") + std::string(two);
  }
  return text;
}

struct Emitted {
  std::vector<Legal> legals;
  Template bytes;
  View view;
  Emitted(const Schedule &s, const TargetOptions &options, const Schedule *inPlace = nullptr)
      : legals(ways(s, options, inPlace)), bytes(coredirect_emit(legals, options)), view(bytes) {
    EXPECT_EQ(verified(bytes, legals), "");
  }
};

TEST(Emit, WritesWaitAndSendEnableAsTheHardwareReadsThem) {
  const Emitted e(passed(standardExchange(4, 0)), {.protocol = Protocol::eager});
  // Queues: 0 mq, 1 eager 1, 2 cts 1, 3 eager 2, 4 cts 2.
  const nbc_segment *mq = e.view.segment(e.view.variants[0].segments, 0, NBC_RING_SEND);
  ASSERT_NE(mq, nullptr);
  const unsigned char *code = e.view.code + mq->offset;
  EXPECT_EQ(hex(code, 32),
            "00 00 00 17 | 00 00 00 02 | 00 00 00 00 | 00 00 00 00 | "
            "00 00 00 00 | 00 00 00 00 | 00 00 00 01 | 00 00 00 01");
  EXPECT_EQ(hex(code + 64, 32),
            "00 00 01 0f | 00 00 00 02 | 00 00 00 00 | 00 00 00 00 | "
            "00 00 00 00 | 00 00 00 00 | 00 00 00 00 | 00 00 00 01");
  // The last one is signalled, nothing else is.
  EXPECT_EQ(mq->entries, 6u);
  EXPECT_EQ(hex(code + 5 * 64, 12), "00 00 05 0f | 00 00 00 02 | 00 00 00 08");
  EXPECT_EQ(mq->send_cqes, 1u);
}

TEST(Emit, FillsInWhatIsKnownOnlyLater) {
  const Emitted e(passed(standardExchange(4, 0)), {.protocol = Protocol::eager});
  const nbc_variant &v = e.view.variants[0];
  const nbc_segment *to2 = e.view.segment(v.segments, 3, NBC_RING_SEND);
  ASSERT_NE(to2, nullptr);
  EXPECT_EQ(hex(e.view.code + to2->offset, 16),
            "00 00 00 0a | 00 00 03 03 | 00 00 00 08 | 00 00 00 00");
  std::string text;
  for (const nbc_reloc &r : e.view.relocsAt(v.relocs, to2->offset, to2->bytes))
    text += cat(" ", int(r.rule), "@", r.at - to2->offset);
  EXPECT_EQ(text, cat(" ", int(NBC_RELOC_INDEX), "@1 ", int(NBC_RELOC_SGE), "@16 ",
                      int(NBC_RELOC_SGE), "@32"));
  EXPECT_EQ(e.view.header.ahead_relocs.count, 2u);
  const nbc_reloc &room = e.view.relocs[e.view.header.ahead_relocs.begin + 1];
  EXPECT_EQ(room.rule, NBC_RELOC_ROOM);
  EXPECT_EQ(room.addend, 1u);  // behind the block from rank 1
  EXPECT_EQ(room.extra, 2u);
}

TEST(Emit, OneDataSegmentForARoomOfSeveralShapes) {
  // tmp wraps around out, but lies in one place: SGE with one more piece.
  const Emitted e(schedule(R"(schedule @a allgather rank 3 of 4 root 0 order waits rounds 2
  in in[1]
  out out[4]
  scratch tmp[4] like out[3], out[0 +: 3]
  %0 = recv tmp[0 +: 3] from 1 round 0
  %1 = send tmp[0 +: 3] to 2 round 1 after %0
  %2 = send tmp[1] to 2 round 1 after %0
end
)"),
                  {.protocol = Protocol::rendezvous});
  const std::string text = tasks(e.bytes);
  EXPECT_NE(text.find("recv from 1: staging[0] (out[3]), staging[0] + out[3] (out[0 +: 2])"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("data to 2          0   2  SEND     send to 2: staging[0] (out[3])"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("send to 2: staging[0] + out[3] (out[0])"), std::string::npos) << text;
}

TEST(Emit, ManyGatherEntriesTakeMoreBasicBlocks) {
  const Emitted e(passed(bruck(32, 5)), {.protocol = Protocol::eager});
  const std::string text = tasks(e.bytes);
  // 16 blocks of the last round: in, and rooms of 1, 2, 4, 8 blocks.
  EXPECT_NE(text.find("  6  SEND     send to 21: staging[0] (in), slots[0]"), std::string::npos)
      << text;
  EXPECT_NE(text.find("enable eager to 21 up to 2"), std::string::npos) << text;
}

TEST(Emit, NothingForTheAdapterOnOneRank) {
  const Emitted e(passed(ring(1, 0)), {.protocol = Protocol::eager});
  EXPECT_EQ(e.view.queues.size(), 0u);
  ASSERT_EQ(e.view.stages.size(), 1u);
  EXPECT_EQ(e.view.stages[0].hosts_count, 1u);
  EXPECT_EQ(e.view.stages[0].enabled, 0u);
  EXPECT_EQ(e.view.header.code.count, 0u);
  const Emitted r(passed(ring(1, 0)), {.protocol = Protocol::rendezvous});
  EXPECT_EQ(r.view.queues.size(), 2u);  // mq, loopback
}

TEST(Emit, HostReductionsEndStages) {
  const Emitted e(passed(recursiveDoubling(8, 3)),
                  {.device = findDevice(coredirect, "connectx7-cd"), .protocol = Protocol::eager});
  // Before, three reductions each in a stage of its own, the last with the copy out.
  EXPECT_EQ(e.view.variants[0].stages.count, 4u);
  for (const nbc_stage &stage : e.view.stages.first(4)) EXPECT_GE(stage.hosts_count, 1u);
}

TEST(Emit, AdapterReductionsNeedNoHostInBetween) {
  const Emitted e(passed(recursiveDoubling(8, 3)), {.protocol = Protocol::eager});
  const nbc_variant &calc = e.view.variants[0];
  EXPECT_EQ(calc.flags, uint32_t{NBC_VARIANT_CALC});
  EXPECT_EQ(calc.stages.count, 2u);
  const std::string text = tasks(e.bytes);
  EXPECT_NE(text.find("loopback           0   3  SEND     calc slots[0] (out), staging[0] (in)"),
            std::string::npos)
      << text;
}

// A vector is one message; its elements are reduced one by one, each into its own slot.
TEST(Emit, AdapterReducesAVectorElementByElement) {
  const Emitted e(passed(recursiveDoubling(2, 1)), {.protocol = Protocol::eager});
  EXPECT_EQ(e.view.variants[1].scalars, 2u);
  const std::string text = tasks(e.bytes), two = text.substr(text.find("variant calc of 2"));
  const std::string want =
      "  mq                 0   2  SEND_EN  enable eager 0 up to 1\n"
      "  mq                 1   2  WAIT     wait (1 recv CQ) from 0 for #0\n"
      "  loopback           0   1  RECV     recv result: staging[1] (out) slot 0\n"
      "  loopback           1   1  RECV     recv result: staging[1] (out) slot 1\n"
      "  loopback           0   3  SEND     calc slots[0] (out) slot 0, staging[0] (in) slot 0\n"
      "  loopback           1   3  SEND     calc slots[0] (out) slot 1, staging[0] (in) slot 1, "
      "signalled\n"
      "  mq                 2   2  SEND_EN  enable loopback up to 2\n";
  EXPECT_NE(two.find(want), std::string::npos) << two;
}

TEST(Emit, IsTheSameForTheSameInput) {
  const Schedule s = passed(bruck(7, 2));
  const Emitted a(s, {}), b(s, {});
  EXPECT_EQ(a.bytes.words, b.bytes.words);
}

}  // namespace
}  // namespace nbcc
