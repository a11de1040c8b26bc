// SPDX-License-Identifier: BSD-3-Clause
// Each operation in each kind of time: bytes, lengths, ids and what completions say.

#include <algorithm>

#include "test/devices/verbs/rig.h"

namespace verbs::test {
namespace {

class Operations : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Operations, testing::ValuesIn(ways),
                         [](const auto &way) { return way.param.name; });

TEST_P(Operations, sendsOfAnyLengthArriveWithTheirImmediate) {
  Rig rig(GetParam());
  End &a = rig.end(0), &b = rig.end(1);
  rig.connect(a, b);
  Memory from(a.verbs, 5000), to(b.verbs, 5000);
  uint32_t number = 0;
  for (uint32_t length : {0u, 1u, 17u, 4096u, 5000u}) {
    from.fill(static_cast<uint8_t>(++number));
    std::ranges::fill(to.bytes, 0);
    b.receive(100 + number, to.all());
    a.post(send(200 + number, {from.part(0, length)}).immediate(0xabcd0000 + number).signal());
    ibv_wc received = b.await(), sent = a.await();
    EXPECT_EQ(received.status, IBV_WC_SUCCESS);
    EXPECT_EQ(received.opcode, IBV_WC_RECV);
    EXPECT_EQ(received.wr_id, 100 + number);
    EXPECT_EQ(received.byte_len, length);
    EXPECT_EQ(received.imm_data, __builtin_bswap32(0xabcd0000 + number));
    EXPECT_TRUE(received.wc_flags & IBV_WC_WITH_IMM);
    EXPECT_EQ(received.qp_num, b.number);
    EXPECT_EQ(sent.status, IBV_WC_SUCCESS);
    EXPECT_EQ(sent.opcode, IBV_WC_SEND);
    EXPECT_EQ(sent.wr_id, 200 + number);
    EXPECT_EQ(sent.qp_num, a.number);
    EXPECT_EQ(0, memcmp(from.bytes.data(), to.bytes.data(), length));
    EXPECT_EQ(to.bytes.size() == length ? 0 : to.bytes[length], 0);
  }
  EXPECT_EQ(rig.fabric.findings(), std::vector<std::string>{});
}

TEST_P(Operations, runsAreGatheredInTheirOrder) {
  Rig rig(GetParam());
  End &a = rig.end(0), &b = rig.end(1);
  rig.connect(a, b);
  Memory from(a.verbs, 100), to(b.verbs, 100);
  from.fill(3);
  b.receive(1, to.all());
  a.post(send(2, {from.part(50, 7), from.part(3, 0), from.part(0, 5), from.part(99, 1)}));
  ASSERT_EQ(b.await().byte_len, 13u);
  std::vector<uint8_t> wanted(from.bytes.begin() + 50, from.bytes.begin() + 57);
  wanted.insert(wanted.end(), from.bytes.begin(), from.bytes.begin() + 5);
  wanted.push_back(from.bytes[99]);
  EXPECT_EQ(std::vector(to.bytes.begin(), to.bytes.begin() + 13), wanted);
}

TEST_P(Operations, inlineBytesAreReadAtOnceAndNeedNoKey) {
  Rig rig(GetParam());
  End &a = rig.end(0), &b = rig.end(1);
  rig.connect(a, b);
  Memory to(b.verbs, 200);
  uint8_t mine[64];
  for (uint32_t length : {0u, 1u, 12u, 13u, 63u, 64u}) {
    memset(mine, static_cast<int>(length + 1), sizeof mine);
    auto at = [&](size_t begin, size_t count) {
      return ibv_sge{reinterpret_cast<uintptr_t>(mine) + begin, static_cast<uint32_t>(count), 0};
    };
    b.receive(1, to.all());
    a.post(send(1, {at(0, length / 2), at(length / 2, length - length / 2)}).inlined());
    memset(mine, 0, sizeof mine);
    ASSERT_EQ(b.await().byte_len, length);
    EXPECT_EQ(std::vector(to.bytes.begin(), to.bytes.begin() + length),
              std::vector<uint8_t>(length, static_cast<uint8_t>(length + 1)));
  }
}

TEST_P(Operations, writesSayNothingAndImmediateTellsOfThem) {
  Rig rig(GetParam());
  End &a = rig.end(0), &b = rig.end(1);
  rig.connect(a, b);
  Memory from(a.verbs, 3000), to(b.verbs, 4000);
  from.fill(9);
  b.receive(5);
  a.post({write(1, {from.part(0, 1000)}).remote(to, 100),
          writeImm(2, {from.part(1000, 1500), from.part(2500, 500)})
              .remote(to, 1100)
              .immediate(77)
              .signal()});
  ibv_wc told = b.await(), done = a.await();
  EXPECT_EQ(told.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(told.wr_id, 5u);
  EXPECT_EQ(told.byte_len, 2000u);
  EXPECT_EQ(told.imm_data, __builtin_bswap32(77));
  EXPECT_EQ(done.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(done.wr_id, 2u);
  EXPECT_EQ(0, memcmp(from.bytes.data(), to.bytes.data() + 100, 3000));
  EXPECT_EQ(to.bytes[99] | to.bytes[3100], 0);
  EXPECT_TRUE(a.poll().empty());
}

TEST_P(Operations, writesOfNoBytesNeedNoKey) {
  Rig rig(GetParam());
  End &a = rig.end(0), &b = rig.end(1);
  rig.connect(a, b);
  b.receive(4);
  a.post({write(1).signal(), writeImm(2).immediate(9)});
  EXPECT_EQ(a.await().status, IBV_WC_SUCCESS);
  ibv_wc told = b.await();
  EXPECT_EQ(told.byte_len, 0u);
  EXPECT_EQ(told.imm_data, __builtin_bswap32(9));
}

TEST_P(Operations, readsFetchAndTheOtherSideSeesNothing) {
  Rig rig(GetParam());
  End &a = rig.end(0), &b = rig.end(1);
  rig.connect(a, b);
  Memory there(b.verbs, 2u << 20), here(a.verbs, 2u << 20);
  there.fill(40);
  a.post({read(1, {here.part(10, 1)}).remote(there, 3),
          read(2, {here.part(100, 1u << 20), here.part(50, 20)}).remote(there, 1000).signal()});
  ibv_wc done = a.await();
  EXPECT_EQ(done.status, IBV_WC_SUCCESS);
  EXPECT_EQ(done.opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(done.wr_id, 2u);
  EXPECT_EQ(done.byte_len, (1u << 20) + 20);
  EXPECT_EQ(here.bytes[10], there.bytes[3]);
  EXPECT_EQ(0, memcmp(here.bytes.data() + 100, there.bytes.data() + 1000, 1u << 20));
  EXPECT_EQ(0, memcmp(here.bytes.data() + 50, there.bytes.data() + 1000 + (1u << 20), 20));
  EXPECT_TRUE(b.poll().empty());
}

TEST_P(Operations, bothWaysAtOnceThroughShortQueues) {
  Rig rig(GetParam());
  End &a = rig.end(0, {.sends = 3, .receives = 2, .entries = 8}),
      &b = rig.end(1, {.sends = 3, .receives = 2, .entries = 8});
  rig.connect(a, b);
  Memory ma(a.verbs, 32), mb(b.verbs, 32);
  auto open = [](End &e, Memory &m) {
    e.receive(0, m.part(16, 8));
    e.receive(1, m.part(24, 8));
  };
  open(a, ma);
  open(b, mb);
  for (uint64_t i = 0; i < 300; ++i)
    for (auto [from, mine, to, other] :
         {std::tuple{&a, &ma, &b, &mb}, std::tuple{&b, &mb, &a, &ma}}) {
      memcpy(mine->bytes.data(), &i, 8);
      from->post(send(i, {mine->part(0, 8)}).signal());
      ibv_wc received = to->await(), sent = from->await();
      EXPECT_EQ(received.wr_id, i % 2);
      EXPECT_EQ(sent.wr_id, i);
      EXPECT_EQ(0, memcmp(other->bytes.data() + 16 + 8 * (i % 2), &i, 8));
      to->receive(i % 2, other->part(16 + 8 * (i % 2), 8));
    }
}

TEST_P(Operations, twoQueuePairsShareACompletionQueue) {
  Rig rig(GetParam());
  End &a = rig.end(0), &other = rig.end(0, {.shares = &a}), &b = rig.end(1), &c = rig.end(1);
  rig.connect(a, b);
  rig.connect(other, c);
  Memory from(b.verbs, 8), to(a.verbs, 16);
  a.receive(1, to.part(0, 8));
  other.receive(2, to.part(8, 8));
  c.post(send(3, {from.fill(5).all()}));
  ibv_wc first = a.await();
  b.post(send(4, {from.all()}));
  ibv_wc second = a.await();
  EXPECT_EQ(first.wr_id, 2u);
  EXPECT_EQ(first.qp_num, other.number);
  EXPECT_EQ(second.wr_id, 1u);
  EXPECT_EQ(second.qp_num, a.number);
  EXPECT_EQ(0, memcmp(to.bytes.data(), to.bytes.data() + 8, 8));
}

}  // namespace
}  // namespace verbs::test
