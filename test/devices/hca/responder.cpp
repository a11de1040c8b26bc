// SPDX-License-Identifier: BSD-3-Clause
// What a message finds at its target: no receive, too short a one, a wrong key, nobody.

#include <gtest/gtest.h>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

struct Responder : testing::Test {
  Rig rig{2};
  Queue &a = rig.queue(0), &b = rig.queue(1);
  uint8_t from[64] = "0123456789", to[64] = {};
  uint32_t fromKey = rig.key(0, from, 64), toKey = rig.key(1, to, 64);

  void patience(const Retry &retry) {
    rig.fabric.setRetry(a.number(), retry);
    rig.fabric.setRetry(b.number(), retry);
  }
  void sendBytes(uint32_t bytes) {
    a.post(send().data(from, bytes, fromKey).signal());
    a.ring();
    rig.fabric.run();
  }
};

TEST_F(Responder, noReceiveIsTriedAgainAfterTheTimer) {
  patience({.minRnrTimer = 12});
  rig.connect(a, b);
  a.post(send().signal());
  a.ring();
  rig.fabric.run({}, {.until = 100 * microsecond});
  EXPECT_EQ(rig.fabric.counters().rnrNaks, 1u);
  b.receive();
  EXPECT_EQ(rig.fabric.run({}, {.until = 640 * microsecond}), Run::Limit);
  EXPECT_EQ(b.receiveCq->count(), 0);  // however early the receive came
  EXPECT_EQ(rig.fabric.run(), Run::Quiet);
  EXPECT_EQ(b.receiveCq->count(), 1);
  EXPECT_EQ(a.sendCq->count(), 1);
  EXPECT_EQ(rig.fabric.counters().rnrNaks, 1u);
  EXPECT_LT(rig.fabric.now(), 650 * microsecond);
}

TEST_F(Responder, rnrTimerTable) {
  EXPECT_EQ(rnrDelay(0), 655'360 * microsecond);
  EXPECT_EQ(rnrDelay(1), 10 * microsecond);
  EXPECT_EQ(rnrDelay(12), 640 * microsecond);
  EXPECT_EQ(rnrDelay(31), 491'520 * microsecond);
  EXPECT_EQ(rnrDelay(33), rnrDelay(1));
}

TEST_F(Responder, rnrHoldsUpWhatIsBehind) {
  rig.connect(a, b);
  a.post(send());
  a.post(Wqe(MLX5_WRITE).remote(to, toKey).inlined("overtaken", 9));
  a.post(nop().signal());
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(to[0], 0);
  EXPECT_EQ(a.sendCq->count(), 0);
  std::vector<std::string> lines = rig.fabric.waiting();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("has no receive posted"), std::string::npos) << lines[0];
}

TEST_F(Responder, nothingNewStartsWhileTheReceiverIsNotReady) {
  rig.connect(a, b);
  a.post(send());
  a.ring();
  rig.fabric.run();
  uint64_t before = rig.fabric.counters().entries;
  a.post(nop());
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(rig.fabric.counters().entries, before);
  b.receive();
  rig.fabric.run();
  EXPECT_EQ(rig.fabric.counters().entries, before + 1);
}

TEST_F(Responder, rnrRetriesEnd) {
  patience({.rnrRetry = 3, .minRnrTimer = 1});
  rig.connect(a, b);
  sendBytes(1);
  EXPECT_EQ(rig.fabric.counters().rnrNaks, 4u);
  EXPECT_EQ(a.sendCq->poll()->syndrome, MLX5_RNR_EXCEEDED);
  EXPECT_GT(rig.fabric.now(), 30 * microsecond);
  EXPECT_LT(rig.fabric.now(), 60 * microsecond);
}

TEST_F(Responder, rnrRetriesAreCountedForEachMessage) {
  patience({.rnrRetry = 1, .minRnrTimer = 1});
  rig.connect(a, b);
  for (int i = 0; i < 3; ++i) {
    a.post(send().signal());
    a.ring();
    Time until = rig.fabric.now() + 8 * microsecond;
    rig.fabric.run({}, {.until = until});
    b.receive();
    rig.fabric.run();
  }
  EXPECT_EQ(a.failed(), 0u);
  EXPECT_EQ(b.receiveCq->count(), 3);
}

TEST_F(Responder, tooLongForItsReceive) {
  rig.connect(a, b);
  b.receive({{to, 9, toKey}});
  b.receive({{to, 64, toKey}});
  sendBytes(10);
  EXPECT_EQ(to[0], 0);
  EXPECT_EQ(a.sendCq->poll()->syndrome, MLX5_REMOTE_INVALID);
  Cqe length = *b.receiveCq->poll(), flushed = *b.receiveCq->poll();
  EXPECT_EQ(length.opcode, MLX5_CQE_RESP_ERR);
  EXPECT_EQ(length.syndrome, MLX5_LOCAL_LENGTH);
  EXPECT_EQ(flushed.syndrome, MLX5_FLUSHED);
  EXPECT_EQ(b.failed(), MLX5_LOCAL_LENGTH);
  EXPECT_EQ(a.failed(), MLX5_REMOTE_INVALID);
}

TEST_F(Responder, receiveIntoMemoryThatIsNotThere) {
  rig.connect(a, b);
  b.receive({{to, 64, fromKey}});
  sendBytes(4);
  EXPECT_EQ(b.receiveCq->poll()->syndrome, MLX5_LOCAL_PROT);
  EXPECT_EQ(a.sendCq->poll()->syndrome, MLX5_REMOTE_OP);
}

TEST_F(Responder, listOfAReceiveEndsAtTheInvalidKey) {
  rig.connect(a, b);
  b.receive({{to, 4, toKey}, {nullptr, 0, MLX5_INVALID_LKEY}, {to, 60, toKey}});
  sendBytes(5);
  EXPECT_EQ(b.failed(), MLX5_LOCAL_LENGTH);
}

TEST_F(Responder, remoteAccessNeedsItsRight) {
  struct {
    uint8_t opcode;
    uint32_t right;
  } const all[] = {{MLX5_WRITE, NBC_HCA_REMOTE_WRITE},
                   {MLX5_READ, NBC_HCA_REMOTE_READ},
                   {MLX5_ATOMIC_FA, NBC_HCA_REMOTE_ATOMIC}};
  alignas(8) uint8_t word[8] = {};
  for (auto [opcode, right] : all)
    for (bool allowed : {false, true}) {
      Queue &q = rig.queue(0), &peer = rig.queue(1);
      rig.connect(q, peer);
      uint32_t access = allowed ? right : anyAccess & ~right;
      Wqe wqe = Wqe(opcode).remote(word, rig.key(1, word, 8, access));
      if (opcode == MLX5_ATOMIC_FA) wqe.operands(1, 0);
      q.post(wqe.data(from, 8, fromKey).signal());
      q.ring();
      rig.fabric.run();
      uint32_t expected = allowed ? 0 : MLX5_REMOTE_ACCESS;
      EXPECT_EQ(q.sendCq->poll()->syndrome, expected) << int(opcode);
      EXPECT_EQ(peer.failed(), expected) << int(opcode);
    }
}

TEST_F(Responder, remoteAccessStaysInItsRegistration) {
  rig.connect(a, b);
  a.post(Wqe(MLX5_WRITE).remote(to + 60, toKey).data(from, 5, fromKey));
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(a.failed(), MLX5_REMOTE_ACCESS);
  EXPECT_EQ(to[60], 0);
}

TEST_F(Responder, aKilledAdapterAnswersNobody) {
  patience({.retryCount = 2, .ackTimeout = 4});
  rig.connect(a, b);
  b.receive({{to, 64, toKey}});
  rig.fabric.kill(1);
  sendBytes(4);
  EXPECT_EQ(a.sendCq->poll()->syndrome, MLX5_RETRY_EXCEEDED);
  EXPECT_EQ(rig.fabric.now() / (4096 * nanosecond << 4), 2);  // given up at the third attempt
  EXPECT_EQ(to[0], 0);
}

TEST_F(Responder, aPeerThatConnectsLateIsReached) {
  uint8_t address[32];
  b.hca->ops->address(b.hca, address);
  ASSERT_EQ(0, a.hca->ops->connect_qp(a.hca, a.number(), address, b.number()));
  b.receive({{to, 64, toKey}});
  a.post(send().data(from, 4, fromKey).signal());
  a.ring();
  rig.fabric.run({}, {.until = millisecond});
  EXPECT_EQ(a.sendCq->count(), 0);
  a.hca->ops->address(a.hca, address);
  ASSERT_EQ(0, b.hca->ops->connect_qp(b.hca, b.number(), address, a.number()));
  rig.fabric.run();
  EXPECT_EQ(a.sendCq->poll()->syndrome, 0);
  EXPECT_EQ(0, memcmp(to, from, 4));
}

TEST_F(Responder, droppedReceivesAreNotUsed) {
  rig.connect(a, b);
  b.receive({{to, 64, toKey}});
  b.receive({{to + 8, 56, toKey}});
  rig.fabric.dropReceives(b.number(), 1);
  sendBytes(4);
  EXPECT_EQ(to[0], 0);
  EXPECT_EQ(0, memcmp(to + 8, from, 4));
}

TEST_F(Responder, receiveIndicesWrap) {
  ASSERT_EQ(0, b.hca->ops->start_queue_at(b.hca, b.number(), 0, 0xffff));
  b.receives = 0xffff;
  rig.connect(a, b);
  for (int i = 0; i < 3; ++i) b.receive({{to + 8 * i, 8, toKey}});
  for (int i = 0; i < 3; ++i) sendBytes(4);
  EXPECT_EQ(b.receiveCq->poll()->counter, 0xffff);
  EXPECT_EQ(b.receiveCq->poll()->counter, 0);
  EXPECT_EQ(b.receiveCq->poll()->counter, 1);
  EXPECT_EQ(0, memcmp(to + 16, from, 4));
}

TEST_F(Responder, moreReceivesThanTheRingHoldsIsAFinding) {
  rig.connect(a, b);
  __atomic_store_n(&b.qp.doorbell[0], __builtin_bswap32(17), __ATOMIC_RELEASE);
  a.post(send());
  a.ring();
  rig.fabric.run();
  ASSERT_FALSE(rig.fabric.findings().empty());
  EXPECT_NE(rig.fabric.findings()[0].find("posted 17 receives where 16 fit"), std::string::npos);
}

}  // namespace
}  // namespace hca::test
