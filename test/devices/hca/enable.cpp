// SPDX-License-Identifier: BSD-3-Clause
// SEND_EN: absolute, exclusive, cyclic, in basic blocks, never back. RECV_EN: likewise, in
// receives.

#include <gtest/gtest.h>

#include "test/devices/hca/wired.h"

namespace hca::test {
namespace {

struct Enable : testing::Test {
  Rig rig{1};
  Queue &mq = rig.management(0);
  Queue &managed = rig.queue(0, {.flags = NBC_HCA_QP_MANAGED_SEND | NBC_HCA_QP_CROSS_CHANNEL});
  void SetUp() override { rig.connect(managed, managed); }

  int run(std::initializer_list<uint16_t> limits) {
    for (uint16_t limit : limits) mq.post(enable(managed, limit));
    mq.ring();
    rig.fabric.run();
    return managed.sendCq->count();
  }
  void nops(int n) {
    while (n--) managed.post(nop().signal());
  }
};

TEST_F(Enable, startsEntriesBelowTheLimit) {
  nops(6);
  EXPECT_EQ(run({2}), 2);
  EXPECT_EQ(run({5}), 3);
  EXPECT_EQ(run({6}), 1);
}

TEST_F(Enable, nothingStartsBefore) {
  nops(3);
  managed.ring();
  rig.fabric.run();
  EXPECT_EQ(managed.sendCq->count(), 0);
  ASSERT_EQ(rig.fabric.findings().size(), 1u);
  EXPECT_NE(rig.fabric.findings()[0].find("doorbell rung for a managed queue"), std::string::npos);
}

TEST_F(Enable, neverMovesBack) {
  nops(6);
  EXPECT_EQ(run({4, 2}), 4);
  EXPECT_EQ(run({4}), 0);
}

TEST_F(Enable, wrapsAt16Bits) {
  Queue &late = rig.queue(0, {.flags = NBC_HCA_QP_MANAGED_SEND});
  ASSERT_EQ(late.hca->ops->start_queue_at(late.hca, late.number(), 0xfffe, 0), 0);
  late.posted = 0xfffe;
  rig.connect(late, late);
  for (int i = 0; i < 4; ++i) late.post(nop().signal());
  mq.post(enable(late, 0xffff));
  mq.post(enable(late, 1));
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(late.sendCq->poll()->counter, 0xfffe);
  EXPECT_EQ(late.sendCq->poll()->counter, 0xffff);
  EXPECT_EQ(late.sendCq->poll()->counter, 0);
  EXPECT_FALSE(late.sendCq->poll());
  EXPECT_TRUE(rig.fabric.findings().empty());
}

TEST_F(Enable, looksAtTheLow16BitsOfTheLimit) {
  nops(3);
  mq.post(Wqe(MLX5_SEND_EN).across(0xabcd0002, managed.number()));
  EXPECT_EQ(run({}), 2);
}

TEST_F(Enable, countsBasicBlocks) {
  managed.post(Wqe(MLX5_NOP).signal());
  uint8_t data[64] = {};
  managed.post(send().inlined(data, 60).signal());  // 80 bytes: two blocks
  managed.post(nop().signal());
  managed.receive({{data, 64, rig.key(0, data, 64)}});
  EXPECT_EQ(run({2}), 1);
  EXPECT_EQ(rig.fabric.findings().size(), 1u);  // half an entry
  EXPECT_EQ(rig.fabric.waiting().size(), 1u);
  EXPECT_EQ(run({3}), 1);
  EXPECT_EQ(run({4}), 1);
}

TEST_F(Enable, completesAtOnceAndNotWithWhatItEnables) {
  Queue &peer = rig.queue(0), &sender = rig.queue(0, {.flags = NBC_HCA_QP_MANAGED_SEND});
  rig.connect(sender, peer);
  sender.post(send().signal());  // no receive: stays under way
  mq.post(enable(sender, 1).signal());
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(mq.sendCq->count(), 1);
  EXPECT_EQ(sender.sendCq->count(), 0);
}

TEST_F(Enable, managedQueueMayHoldWaitsAndEnables) {
  Queue &second = rig.queue(0, {.flags = NBC_HCA_QP_MANAGED_SEND});
  rig.connect(second, second);
  second.post(nop().signal());
  managed.post(nop().signal());
  managed.post(wait(*managed.sendCq, 0));
  managed.post(enable(second, 1));
  run({3});
  EXPECT_EQ(second.sendCq->count(), 1);
}

TEST_F(Enable, queueMayEnableItself) {
  managed.post(enable(managed, 3));
  nops(2);
  EXPECT_EQ(run({1}), 2);
}

TEST_F(Enable, sendsOnlyWhatItsBytesAreThen) {  // modified before it is enabled
  managed.post(Wqe(0x3f));
  run({});
  managed.posted = 0;
  managed.post(nop().signal());
  EXPECT_EQ(run({1}), 1);
}

TEST_F(Enable, ringContentRunsAgain) {
  Queue &small = rig.queue(0, {.flags = NBC_HCA_QP_MANAGED_SEND, .logSend = 1});
  rig.connect(small, small);
  small.post(nop().signal());
  small.post(nop());
  mq.post(enable(small, 5));
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(small.sendCq->count(), 3);
  ASSERT_EQ(rig.fabric.findings().size(), 3u);
  EXPECT_NE(rig.fabric.findings()[0].find("wqe_index 0 differs from counter 2"), std::string::npos);
}

TEST_F(Enable, beyondThePostedEntriesIsAFinding) {
  nops(2);
  __atomic_store_n(&managed.qp.doorbell[1], __builtin_bswap32(2), __ATOMIC_RELEASE);
  run({3});
  ASSERT_FALSE(rig.fabric.findings().empty());
  EXPECT_NE(rig.fabric.findings()[0].find("enabled up to 3, beyond the posted entries, up to 2"),
            std::string::npos);
}

TEST_F(Enable, ofAQueueThatIsNotManagedIsAFinding) {
  Queue &plain = rig.queue(0);
  rig.connect(plain, plain);
  plain.post(nop().signal());
  mq.post(enable(plain, 1).signal());
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(plain.sendCq->count(), 0);
  EXPECT_EQ(mq.sendCq->count(), 1);
  ASSERT_EQ(rig.fabric.findings().size(), 1u);
  EXPECT_NE(rig.fabric.findings()[0].find("not managed"), std::string::npos);
}

TEST_F(Enable, ofAnotherRanksQueueIsAnError) {
  Rig two(2);
  Queue &master = two.management(0);
  Queue &other = two.queue(1, {.flags = NBC_HCA_QP_MANAGED_SEND});
  master.post(enable(other, 1));
  master.ring();
  two.fabric.run();
  EXPECT_EQ(master.failed(), MLX5_LOCAL_QP_OP);
}

TEST_F(Enable, needsACrossChannelQueue) {
  Queue &plain = rig.queue(0);
  rig.connect(plain, plain);
  plain.post(enable(managed, 1));
  plain.ring();
  rig.fabric.run();
  EXPECT_EQ(plain.failed(), MLX5_LOCAL_QP_OP);
}

TEST_F(Enable, startsInOrderBehindAMessageNotAfterIt) {
  Queue &peer = rig.queue(0);
  Queue &master = rig.queue(0, {.flags = NBC_HCA_QP_CROSS_CHANNEL});
  rig.connect(master, peer);
  nops(1);
  uint64_t word = 0;
  uint32_t key = rig.key(0, &word, 8);
  master.post(Wqe(MLX5_WRITE).remote(&word, key).inlined("12345678", 8).signal());
  master.post(enable(managed, 1).signal());
  master.ring();
  std::vector<uint32_t> order;
  rig.fabric.run([&](const Completion &c) { return order.push_back(c.cq), true; });
  // The managed entry completes first; the SEND_EN's own entry keeps behind the WRITE's.
  EXPECT_EQ(order, (std::vector<uint32_t>{managed.sendCq->number(), master.sendCq->number(),
                                          master.sendCq->number()}));
  EXPECT_EQ(master.sendCq->poll()->sendOpcode, MLX5_WRITE);
  EXPECT_EQ(master.sendCq->poll()->sendOpcode, MLX5_SEND_EN);
}

// --- receives ---

Wqe admit(const Queue &target, uint16_t limit) {
  return Wqe(MLX5_RECV_EN).across(limit, target.number());
}

/// A managed queue with 8 receives, which as many messages are for.
struct Full {
  Queue &from, &to;
  explicit Full(Rig &rig)
      : from(rig.queue(0)), to(rig.queue(0, {.flags = NBC_HCA_QP_MANAGED_RECEIVES})) {}
  void fill() const {
    for (int i = 0; i < 8; ++i) {
      to.receive();
      from.post(send());
    }
    from.ring();
  }
};

TEST_F(Enable, receivesBelowTheLimitAreThere) {
  Full q(rig);
  rig.connect(q.from, q.to);
  q.fill();
  rig.fabric.run();
  EXPECT_EQ(q.to.receiveCq->count(), 0);
  for (auto [limit, more] : {std::pair(2, 2), {1, 0}, {2, 0}, {7, 5}, {0, 0}, {8, 1}}) {
    mq.post(admit(q.to, static_cast<uint16_t>(limit)).signal());
    mq.ring();
    rig.fabric.run();
    EXPECT_EQ(q.to.receiveCq->count(), more) << limit;
    EXPECT_EQ(mq.sendCq->count(), 1);
  }
  EXPECT_EQ(rig.fabric.findings().size(), 0u);
}

TEST_F(Enable, receivesWrapAt16Bits) {
  Full q(rig);
  ASSERT_EQ(q.to.hca->ops->start_queue_at(q.to.hca, q.to.number(), 0, 0xfffd), 0);
  q.to.receives = 0xfffd;
  rig.connect(q.from, q.to);
  q.fill();
  for (auto [limit, more] : {std::pair(0xffff, 2), {0, 1}, {5, 5}}) {
    mq.post(admit(q.to, static_cast<uint16_t>(limit)));
    mq.ring();
    rig.fabric.run();
    EXPECT_EQ(q.to.receiveCq->count(), more) << limit;
  }
}

TEST_F(Enable, receivesOfAnotherProcess) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    Wired w(NBC_HCA_QP_CROSS_CHANNEL | NBC_HCA_QP_MANAGED_RECEIVES, {}, seed);
    Queue &master = w.there.management(0);
    for (uint16_t i = 1; i <= 4; ++i) {
      w.b.receive();
      w.a.post(send().signal());
      w.a.ring();
      w.there.fabric.counters();  // its thread has had a turn
      EXPECT_FALSE(w.b.receiveCq->poll());
      master.post(admit(w.b, i));
      master.ring();
      EXPECT_EQ(await(w.b, *w.b.receiveCq).syndrome, 0);
      EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, 0);
    }
  }
}

TEST_F(Enable, receivesBehindAMessageWaitForItsAnswer) {
  Queue &own = rig.queue(0, {.flags = NBC_HCA_QP_CROSS_CHANNEL | NBC_HCA_QP_MANAGED_RECEIVES});
  rig.connect(own, own);
  own.receive();
  own.post(send().signal());
  own.post(admit(own, 1).signal());
  own.ring();
  rig.fabric.run();
  EXPECT_EQ(own.sendCq->count() + own.receiveCq->count(), 0);
  mq.post(admit(own, 1));
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(own.receiveCq->count(), 1);
  EXPECT_EQ(own.sendCq->poll()->sendOpcode, MLX5_SEND);
  EXPECT_EQ(own.sendCq->poll()->sendOpcode, MLX5_RECV_EN);
}

TEST_F(Enable, receivesThatAreNotThereAreFindings) {
  Full q(rig);
  rig.connect(q.from, q.to);
  q.fill();
  mq.post(admit(q.to, 9));
  mq.post(admit(managed, 1));
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(q.to.receiveCq->count(), 8);
  ASSERT_EQ(rig.fabric.findings().size(), 2u);
  EXPECT_NE(rig.fabric.findings()[0].find("enabled up to 9, beyond the posted entries, up to 8"),
            std::string::npos);
  EXPECT_NE(rig.fabric.findings()[1].find("RECV_EN of queue pair"), std::string::npos);
}

TEST_F(Enable, onlyReceivesThatAreEnabledAreFlushed) {
  Full q(rig);
  rig.connect(q.from, q.to);
  for (int i = 0; i < 8; ++i) q.to.receive();
  mq.post(admit(q.to, 3));
  mq.ring();
  rig.fabric.run();
  rig.fabric.failQueuePair(q.to.number());
  rig.fabric.run();
  EXPECT_EQ(q.to.receiveCq->count(), 3);
  mq.post(admit(q.to, 5));
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(q.to.receiveCq->count(), 2);
}

}  // namespace
}  // namespace hca::test
