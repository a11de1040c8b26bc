// SPDX-License-Identifier: BSD-3-Clause
// WAIT: what it counts, and whom it holds.

#include <gtest/gtest.h>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

// A CQ whose entries a test makes one by one.
struct Wait : testing::Test {
  Rig rig{1};
  Queue &source = rig.management(0), &mq = rig.management(0);
  Cq &counted = *source.sendCq;

  void entries(int n) {
    while (n--) source.post(nop().signal());
    source.ring();
    rig.fabric.run();
  }
  bool passes(const Wqe &wqe) {
    mq.post(Wqe(wqe).signal());
    mq.ring();
    rig.fabric.run();
    return mq.sendCq->count() == 1;
  }
};

TEST_F(Wait, passesOnceEntryOfThatNumberIsWritten) {
  EXPECT_FALSE(passes(wait(counted, 2)));
  entries(2);
  EXPECT_EQ(mq.sendCq->count(), 0);
  entries(1);
  EXPECT_EQ(mq.sendCq->count(), 1);
}

TEST_F(Wait, comparesCyclically) {
  ASSERT_EQ(rig.ranks[0]->ops->start_cq_at(rig.ranks[0], counted.number(), 0xfffffe), 0);
  EXPECT_FALSE(passes(wait(counted, 1)));
  entries(3);  // 0xfffffe, 0xffffff, 0
  EXPECT_EQ(mq.sendCq->count(), 0);
  entries(1);
  EXPECT_EQ(mq.sendCq->count(), 1);
}

TEST_F(Wait, seesHalfAWindowBack) {
  entries(1);
  EXPECT_TRUE(passes(wait(counted, 0 - (1u << 23) + 1)));
  EXPECT_FALSE(passes(wait(counted, 0 - (1u << 23))));
}

TEST_F(Wait, consumesNothing) {
  entries(1);
  EXPECT_TRUE(passes(wait(counted, 0)));
  EXPECT_TRUE(passes(wait(counted, 0)));
  Queue &other = rig.management(0);
  other.post(wait(counted, 0).signal());
  other.ring();
  rig.fabric.run();
  EXPECT_EQ(other.sendCq->count(), 1);
}

TEST_F(Wait, doesNotCareWhatTheHostHasConsumed) {
  entries(1);
  EXPECT_EQ(counted.count(), 1);
  EXPECT_TRUE(passes(wait(counted, 0)));
  EXPECT_FALSE(passes(wait(counted, 1)));
}

TEST_F(Wait, holdsItsOwnQueueOnly) {
  mq.post(nop().signal());
  mq.post(wait(counted, 0));
  mq.post(nop().signal());
  mq.ring();
  Queue &other = rig.management(0);
  other.post(nop().signal());
  other.ring();
  rig.fabric.run();
  EXPECT_EQ(mq.sendCq->count(), 1);
  EXPECT_EQ(other.sendCq->count(), 1);
}

TEST_F(Wait, mayNameItsOwnQueuesCq) {
  mq.post(nop().signal());
  mq.post(wait(*mq.sendCq, 0).signal());
  mq.post(wait(*mq.sendCq, 2).signal());  // its own entry would be number 2
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(mq.sendCq->count(), 2);
}

TEST_F(Wait, unsignalledWritesNoEntry) {
  entries(1);
  mq.post(wait(counted, 0));
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(mq.sendCq->count(), 0);
  EXPECT_EQ(rig.fabric.counters().waits, 1u);
}

TEST_F(Wait, signalledOneCountsInItsCq) {
  entries(1);
  mq.post(wait(counted, 0).signal());
  mq.post(nop().signal());
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(mq.sendCq->count(), 2);
  Queue &other = rig.management(0);
  other.post(wait(*mq.sendCq, 1).signal());
  other.ring();
  rig.fabric.run();
  EXPECT_EQ(other.sendCq->count(), 1);
}

TEST_F(Wait, unsignalledEntriesDoNotCount) {
  source.post(nop());
  source.post(nop());
  source.ring();
  EXPECT_FALSE(passes(wait(counted, 0)));
}

TEST_F(Wait, receiveCompletionsAlwaysCount) {
  Queue &a = rig.queue(0), &b = rig.queue(0);
  rig.connect(a, b);
  b.receive();
  a.post(send());  // unsignalled
  a.ring();
  EXPECT_TRUE(passes(wait(*b.receiveCq, 0)));
}

TEST_F(Wait, isReleasedByAnErrorEntry) {
  source.post(Wqe(0x3f));
  source.ring();
  EXPECT_TRUE(passes(wait(counted, 0)));
  EXPECT_EQ(counted.poll()->opcode, MLX5_CQE_REQ_ERR);
}

TEST_F(Wait, worksOnACqThatIsOverrun) {
  Cq &small = rig.cq(0, 1);
  Queue &q = rig.queue(0, {.flags = NBC_HCA_QP_CROSS_CHANNEL, .sendCq = &small});
  rig.connect(q, q);
  for (int i = 0; i < 10; ++i) q.post(nop().signal());
  q.ring();
  EXPECT_TRUE(passes(wait(small, 9)));
  EXPECT_FALSE(passes(wait(small, 10)));
}

TEST_F(Wait, ofNothingIsSatisfiedOnAFreshCq) {
  EXPECT_TRUE(passes(wait(counted, 0xffffff)));
  EXPECT_TRUE(passes(wait(counted, 0xffffffff)));
}

TEST_F(Wait, isFlushedWhenItsQueueFails) {
  Queue &peer = rig.queue(0), &held = rig.queue(0, {.flags = NBC_HCA_QP_CROSS_CHANNEL});
  rig.connect(held, peer);
  held.post(wait(counted, 0));
  held.ring();
  peer.post(send().inlined("x", 1));
  peer.ring();
  held.receive();  // no room for the byte: the receiver fails
  rig.fabric.run();
  std::optional<Cqe> flushed = held.sendCq->poll();
  ASSERT_TRUE(flushed);
  EXPECT_EQ(flushed->syndrome, MLX5_FLUSHED);
  EXPECT_EQ(flushed->sendOpcode, MLX5_WAIT);
  EXPECT_TRUE(rig.fabric.waiting().empty());
}

TEST_F(Wait, needsACrossChannelQueueAndACqOfItsRank) {
  Queue &plain = rig.queue(0), &peer = rig.queue(0);
  rig.connect(plain, peer);
  plain.post(wait(counted, 0));
  plain.ring();
  rig.fabric.run();
  EXPECT_EQ(plain.failed(), MLX5_LOCAL_QP_OP);

  mq.post(Wqe(MLX5_WAIT).across(0, 0xabcdef));
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(mq.failed(), MLX5_LOCAL_QP_OP);
}

TEST_F(Wait, saysWhatItWaitsFor) {
  entries(4);
  passes(wait(counted, 4));
  std::vector<std::string> lines = rig.fabric.waiting();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "rank 0: queue pair " + std::to_string(mq.number()) +
                          " waits for entry 4 of cq " + std::to_string(counted.number()) +
                          ", which has had 4");
}

}  // namespace
}  // namespace hca::test
