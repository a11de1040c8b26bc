// SPDX-License-Identifier: BSD-3-Clause
// Each operation moves the bytes it should, and nothing that makes no sense is executed.

#include <gtest/gtest.h>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

struct Requester : testing::Test {
  Rig rig{2};
  Queue &a = rig.queue(0, {.flags = NBC_HCA_QP_CROSS_CHANNEL}), &b = rig.queue(1);
  alignas(16) uint8_t from[4096] = {}, to[4096] = {};
  uint32_t fromKey = 0, toKey = 0;

  void SetUp() override {
    rig.connect(a, b);
    for (int i = 0; i < 4096; ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 256);
    fromKey = rig.key(0, from, sizeof from);
    toKey = rig.key(1, to, sizeof to);
  }
  /// Posts, runs, and returns the first entry of the send CQ.
  Cqe run(const Wqe &wqe) {
    a.post(Wqe(wqe).signal());
    a.ring();
    rig.fabric.run();
    std::optional<Cqe> cqe = a.sendCq->poll();
    return cqe ? *cqe : Cqe{0xff, 0xff, 0, 0, 0, 0, 0};
  }
};

TEST_F(Requester, sendGathersAndScatters) {
  b.receive({{to, 3, toKey}, {to + 100, 50, toKey}});
  Cqe done = run(send().data(from, 5, fromKey).data(from + 64, 6, fromKey));
  EXPECT_EQ(done.opcode, MLX5_CQE_REQ);
  EXPECT_EQ(done.sendOpcode, MLX5_SEND);
  EXPECT_EQ(done.qp, a.number());
  EXPECT_EQ(0, memcmp(to, from, 3));
  EXPECT_EQ(0, memcmp(to + 100, from + 3, 2));
  EXPECT_EQ(0, memcmp(to + 102, from + 64, 6));
  EXPECT_EQ(to[108], 0);
  Cqe received = *b.receiveCq->poll();
  EXPECT_EQ(received.opcode, MLX5_CQE_RESP_SEND);
  EXPECT_EQ(received.bytes, 11u);
  EXPECT_EQ(received.counter, 0);
  EXPECT_EQ(received.qp, b.number());
}

TEST_F(Requester, sendWithImmediate) {
  b.receive();
  run(Wqe(MLX5_SEND_IMM).immediate(0xcafe0102));
  Cqe received = *b.receiveCq->poll();
  EXPECT_EQ(received.opcode, MLX5_CQE_RESP_SEND_IMM);
  EXPECT_EQ(received.immediate, 0xcafe0102);
  EXPECT_EQ(received.bytes, 0u);
}

TEST_F(Requester, writeNeedsNoReceiveAndLeavesNoEntry) {
  run(Wqe(MLX5_WRITE).remote(to + 8, toKey).data(from, 1000, fromKey));
  EXPECT_EQ(0, memcmp(to + 8, from, 1000));
  EXPECT_FALSE(b.receiveCq->poll());
}

TEST_F(Requester, writeWithImmediateUsesAReceiveButNotItsMemory) {
  b.receive({{to + 2048, 64, toKey}});
  run(Wqe(MLX5_WRITE_IMM).immediate(77).remote(to, toKey).data(from, 32, fromKey));
  EXPECT_EQ(0, memcmp(to, from, 32));
  EXPECT_EQ(to[2048], 0);
  Cqe received = *b.receiveCq->poll();
  EXPECT_EQ(received.opcode, MLX5_CQE_RESP_WR_IMM);
  EXPECT_EQ(received.immediate, 77u);
  EXPECT_EQ(received.bytes, 32u);
}

TEST_F(Requester, writeOfNothingNeedsNoKey) {
  EXPECT_EQ(run(Wqe(MLX5_WRITE).remote(nullptr, 0)).opcode, MLX5_CQE_REQ);
}

TEST_F(Requester, read) {
  memcpy(to, "what is there", 14);
  Cqe done =
      run(Wqe(MLX5_READ).remote(to, toKey).data(from, 4, fromKey).data(from + 9, 10, fromKey));
  EXPECT_EQ(done.bytes, 14u);
  EXPECT_EQ(0, memcmp(from, "what", 4));
  EXPECT_EQ(0, memcmp(from + 9, " is there", 10));
}

TEST_F(Requester, longMessagesAreWholeToo) {
  std::vector<uint8_t> source(3 << 20), target(3 << 20);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * i >> 8);
  uint32_t length = static_cast<uint32_t>(source.size());
  uint32_t sourceKey = rig.key(0, source.data(), length);
  uint32_t targetKey = rig.key(1, target.data(), length);
  run(Wqe(MLX5_WRITE).remote(target.data(), targetKey).data(source.data(), length, sourceKey));
  EXPECT_EQ(source, target);
  target[12345] ^= 1;
  run(Wqe(MLX5_READ).remote(target.data(), targetKey).data(source.data(), length, sourceKey));
  EXPECT_EQ(source, target);
}

TEST_F(Requester, atomics) {
  uint64_t word = 40, before = 0;
  uint32_t key = rig.key(1, &word, 8), result = rig.key(0, &before, 8);
  run(Wqe(MLX5_ATOMIC_FA).remote(&word, key).operands(2, 0).data(&before, 8, result));
  EXPECT_EQ(before, 40u);
  EXPECT_EQ(word, 42u);
  run(Wqe(MLX5_ATOMIC_CS).remote(&word, key).operands(7, 41).data(&before, 8, result));
  EXPECT_EQ(before, 42u);
  EXPECT_EQ(word, 42u);
  run(Wqe(MLX5_ATOMIC_CS).remote(&word, key).operands(7, 42).data(&before, 8, result));
  EXPECT_EQ(before, 42u);
  EXPECT_EQ(word, 7u);
}

TEST_F(Requester, atomicMustBeAligned) {
  uint64_t words[2] = {}, before;
  uint32_t key = rig.key(1, words, 16), result = rig.key(0, &before, 8);
  Wqe wqe = Wqe(MLX5_ATOMIC_FA)
                .remote(reinterpret_cast<uint8_t *>(words) + 4, key)
                .operands(1, 0)
                .data(&before, 8, result);
  EXPECT_EQ(run(wqe).syndrome, MLX5_REMOTE_INVALID);
}

TEST_F(Requester, entriesWrapAtTheEndOfTheRing) {
  Queue &small = rig.queue(0, {.logSend = 2}), &peer = rig.queue(1);
  rig.connect(small, peer);
  for (int i = 0; i < 3; ++i) small.post(nop());
  small.ring();
  rig.fabric.run();
  // Two segments lists and inline data, each across the end: blocks 3 and 0.
  peer.receive({{to, 200, toKey}});
  small.post(send().inlined(from, 100).signal());
  small.ring();
  rig.fabric.run();
  EXPECT_EQ(0, memcmp(to, from, 100));
  Cqe done = *small.sendCq->poll();
  EXPECT_EQ(done.counter, 3);
  small.post(nop());
  small.post(nop());
  peer.receive({{to + 1000, 200, toKey}});
  Wqe list = send();
  for (int i = 0; i < 6; ++i) list.data(from + 10 * i, 10, fromKey);
  EXPECT_EQ(small.post(list), 7);
  small.ring();
  rig.fabric.run();
  EXPECT_EQ(0, memcmp(to + 1000, from, 60));
}

TEST_F(Requester, unsignalledIsSilentAndASignalledOneStandsForIt) {
  b.receive();
  b.receive();
  a.post(send());
  Cqe done = run(send());
  EXPECT_EQ(done.counter, 1);
  EXPECT_FALSE(a.sendCq->poll());
}

TEST_F(Requester, localEntriesCompleteBehindEarlierMessages) {
  b.receive();
  a.post(send().signal());
  a.post(nop().signal());
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(a.sendCq->poll()->sendOpcode, MLX5_SEND);
  EXPECT_EQ(a.sendCq->poll()->sendOpcode, MLX5_NOP);
}

TEST_F(Requester, fenceWaitsForReads) {
  // to[0..8) comes back by READ, then goes out again from where it came to.
  uint8_t there[8] = "fenced!";
  memcpy(to, there, 8);
  a.post(Wqe(MLX5_READ).remote(to, toKey).data(from, 8, fromKey));
  a.post(Wqe(MLX5_WRITE).remote(to + 64, toKey).data(from, 8, fromKey).fence());
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(0, memcmp(to + 64, there, 8));
}

TEST_F(Requester, withoutAFenceTheReadIsNotWaitedFor) {
  uint8_t before[8];
  memcpy(before, from, 8);
  memcpy(to, "too late", 8);
  a.post(Wqe(MLX5_READ).remote(to, toKey).data(from, 8, fromKey));
  a.post(Wqe(MLX5_WRITE).remote(to + 64, toKey).data(from, 8, fromKey));
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(0, memcmp(to + 64, before, 8));
}

TEST_F(Requester, limitIsReadWhenRungNotWhenStored) {
  a.post(nop().signal());
  __atomic_store_n(&a.qp.doorbell[1], __builtin_bswap32(1), __ATOMIC_RELEASE);
  rig.fabric.run();
  EXPECT_EQ(a.sendCq->count(), 0);
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(a.sendCq->count(), 1);
}

TEST_F(Requester, zeroLengthSegmentIsAFinding) {
  b.receive();
  EXPECT_EQ(run(send().data(from, 0, fromKey)).opcode, MLX5_CQE_REQ);
  EXPECT_EQ(rig.fabric.findings().size(), 1u);
}

TEST_F(Requester, wrongQueuePairInTheEntryIsAFinding) {
  a.post(nop());
  mlx5_put32(a.qp.sq + MLX5_CTRL_QPN, (a.number() + 1) << 8 | 1);
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(rig.fabric.findings().size(), 1u);
}

// What each kind of nonsense is called.
struct Nonsense {
  const char *what;
  Wqe wqe;
  uint8_t syndrome;
};

TEST_F(Requester, nonsenseIsAnErrorEntry) {
  auto tooLong = send();
  for (int i = 0; i < 31; ++i) tooLong.data(from, 1, fromKey);
  auto inlineBeyond = send().inlined(from, 8);
  mlx5_put32(&inlineBeyond.bytes[16], 13 | MLX5_INLINE);
  const void *before = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(from) - 1);
  const Nonsense all[] = {
      {"unknown opcode", Wqe(0x3f), MLX5_LOCAL_QP_OP},
      {"RECV_EN of nobody's queue", Wqe(MLX5_RECV_EN).across(1, 1), MLX5_LOCAL_QP_OP},
      {"WAIT without its segment", Wqe(MLX5_WAIT), MLX5_LOCAL_QP_OP},
      {"WAIT on data", Wqe(MLX5_WAIT, 1).across(0, 1), MLX5_LOCAL_QP_OP},
      {"WRITE without address", Wqe(MLX5_WRITE), MLX5_LOCAL_QP_OP},
      {"atomic without result", Wqe(MLX5_ATOMIC_FA).remote(to, toKey).operands(1, 1),
       MLX5_LOCAL_QP_OP},
      {"READ into inline", Wqe(MLX5_READ).remote(to, toKey).inlined(from, 8), MLX5_LOCAL_QP_OP},
      {"inline beyond the entry", inlineBeyond, MLX5_LOCAL_QP_OP},
      {"more than the device gathers", tooLong, MLX5_LOCAL_QP_OP},
      {"calc of no slots", Wqe(MLX5_SEND, MLX5_CALC_ADD_U64), MLX5_LOCAL_QP_OP},
      {"calc unknown", Wqe(MLX5_SEND, 7).data(from, 16, fromKey), MLX5_LOCAL_QP_OP},
      {"calc of half a slot", Wqe(MLX5_SEND, 1).data(from, 8, fromKey), MLX5_LOCAL_QP_OP},
      {"calc of a crooked slot", Wqe(MLX5_SEND, 1).data(from + 8, 16, fromKey), MLX5_LOCAL_QP_OP},
      {"no such key", send().data(from, 8, fromKey + 1), MLX5_LOCAL_PROT},
      {"a remote rank's key", send().data(to, 8, toKey), MLX5_LOCAL_PROT},
      {"beyond its registration", send().data(from + 4090, 7, fromKey), MLX5_LOCAL_PROT},
      {"before its registration", send().data(before, 2, fromKey), MLX5_LOCAL_PROT},
      {"around the address space", send().data(from + 8, 0x7fffffff, fromKey), MLX5_LOCAL_PROT},
  };
  for (const Nonsense &n : all) {
    SCOPED_TRACE(n.what);
    Queue &q = rig.queue(0, {.flags = NBC_HCA_QP_CROSS_CHANNEL}), &peer = rig.queue(1);
    rig.connect(q, peer);
    uint16_t index = q.post(n.wqe);
    q.post(nop());
    q.ring();
    rig.fabric.run();
    Cqe error = *q.sendCq->poll(), flushed = *q.sendCq->poll();
    EXPECT_EQ(error.opcode, MLX5_CQE_REQ_ERR);
    EXPECT_EQ(error.syndrome, n.syndrome);
    EXPECT_EQ(error.counter, index);
    EXPECT_EQ(flushed.syndrome, MLX5_FLUSHED);
    EXPECT_EQ(q.failed(), n.syndrome);
  }
}

TEST_F(Requester, lengthZeroInControlSegment) {
  a.post(nop());
  a.qp.sq[MLX5_CTRL_DS] = 0;
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(a.failed(), MLX5_LOCAL_QP_OP);
}

TEST_F(Requester, entryLongerThanItsRing) {
  Queue &tiny = rig.queue(0, {.logSend = 0}), &peer = rig.queue(1);
  rig.connect(tiny, peer);
  tiny.post(nop());
  tiny.qp.sq[MLX5_CTRL_DS] = 8;
  tiny.ring();
  rig.fabric.run();
  EXPECT_EQ(tiny.failed(), MLX5_LOCAL_QP_OP);
}

TEST_F(Requester, errorsKeepTheOrderOfTheQueue) {
  b.receive();
  a.post(send().signal());
  a.post(Wqe(0x3f));
  a.post(nop().signal());
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(a.sendCq->poll()->syndrome, 0);
  EXPECT_EQ(a.sendCq->poll()->syndrome, MLX5_LOCAL_QP_OP);
  EXPECT_EQ(a.sendCq->poll()->syndrome, MLX5_FLUSHED);
  EXPECT_EQ(b.receiveCq->count(), 1);
}

}  // namespace
}  // namespace hca::test
