// SPDX-License-Identifier: BSD-3-Clause
// The bytes of CQ entries, owner bits lap by lap, overrun, flush.

#include <gtest/gtest.h>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

TEST(Completion, entriesAreInvalidAtFirst) {
  Rig rig(1);
  Cq &cq = rig.cq(0, 3);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(cq.cq.entries[i * 64 + 63], 0xf1);
}

TEST(Completion, ownerBitFollowsTheLap) {
  Rig rig(1);
  Cq &cq = rig.cq(0, 1);
  Queue &q = rig.queue(0, {.sendCq = &cq});
  rig.connect(q, q);
  for (int i = 0; i < 5; ++i) {
    q.post(nop().signal());
    q.ring();
    rig.fabric.run();
    EXPECT_EQ(cq.cq.entries[i % 2 * 64 + 63] & 1, i / 2 % 2) << i;
    ASSERT_TRUE(cq.poll());
    ASSERT_FALSE(cq.poll());
  }
}

TEST(Completion, ownerBitWrapsWith24Bits) {
  Rig rig(1);
  Cq &cq = rig.cq(0, 2);
  ASSERT_EQ(0, rig.ranks[0]->ops->start_cq_at(rig.ranks[0], cq.number(), 0xfffffd));
  cq.next = 0xfffffd;
  Queue &q = rig.queue(0, {.sendCq = &cq});
  rig.connect(q, q);
  for (int i = 0; i < 9; ++i) {
    q.post(nop().signal());
    q.ring();
    rig.fabric.run();
    ASSERT_TRUE(cq.poll()) << i;
    ASSERT_FALSE(cq.poll()) << i;
  }
}

TEST(Completion, overrunIsFatalWhereItIsNotIgnored) {
  Rig rig(1);
  Cq &cq = rig.cq(0, 1, 0);
  Queue &q = rig.queue(0, {.sendCq = &cq}), &other = rig.queue(0, {.receiveCq = &cq});
  Queue &apart = rig.queue(0);
  rig.connect(q, q);
  rig.connect(other, other);
  rig.connect(apart, apart);
  other.post(nop());
  other.ring();
  for (int i = 0; i < 3; ++i) q.post(nop().signal());
  q.ring();
  rig.fabric.run();
  EXPECT_NE(q.failed(), 0u);
  EXPECT_NE(other.failed(), 0u);
  EXPECT_EQ(apart.failed(), 0u);
  EXPECT_EQ(cq.count(), 2);  // the third is lost
  EXPECT_EQ(rig.fabric.findings().size(), 2u);
}

TEST(Completion, consumedEntriesMakeRoom) {
  Rig rig(1);
  Cq &cq = rig.cq(0, 1, 0);
  Queue &q = rig.queue(0, {.sendCq = &cq});
  rig.connect(q, q);
  for (int i = 0; i < 7; ++i) {
    q.post(nop().signal());
    q.post(nop().signal());
    q.ring();
    rig.fabric.run();
    EXPECT_EQ(cq.count(), 2);
  }
  EXPECT_EQ(q.failed(), 0u);
}

TEST(Completion, errorFlushesBothQueuesWithWhateverComesLater) {
  Rig rig(1);
  Queue &q = rig.queue(0), &peer = rig.queue(0);
  rig.connect(q, peer);
  q.receive();
  q.receive();
  q.post(Wqe(0x3f));
  q.post(nop());  // unsignalled: a flush completes it all the same
  q.ring();
  rig.fabric.run();
  EXPECT_EQ(q.sendCq->poll()->syndrome, MLX5_LOCAL_QP_OP);
  EXPECT_EQ(q.sendCq->poll()->syndrome, MLX5_FLUSHED);
  for (int i = 0; i < 2; ++i) {
    Cqe cqe = *q.receiveCq->poll();
    EXPECT_EQ(cqe.opcode, MLX5_CQE_RESP_ERR);
    EXPECT_EQ(cqe.syndrome, MLX5_FLUSHED);
    EXPECT_EQ(cqe.counter, i);
  }
  q.post(nop());
  q.receive();
  q.ring();
  rig.fabric.run();
  EXPECT_EQ(q.sendCq->poll()->counter, 2);
  EXPECT_EQ(q.receiveCq->poll()->counter, 2);
  EXPECT_EQ(q.failed(), MLX5_LOCAL_QP_OP);
}

/// An SRQ is not its queue pair's: who waits for its receives is not told that they have come.
TEST(Completion, receivesOfAnSrqStayWhenTheirQueuePairFails) {
  Rig rig(1);
  Queue &q = rig.queue(0, {.flags = NBC_HCA_QP_SHARED_RECEIVES}), &peer = rig.queue(0);
  rig.connect(q, peer);
  q.receive();
  peer.post(send());
  peer.ring();
  rig.fabric.run();
  EXPECT_EQ(q.receiveCq->poll()->opcode, MLX5_CQE_RESP_SEND);
  q.receive();
  q.post(Wqe(0x3f));
  q.post(nop());
  q.ring();
  rig.fabric.run();
  EXPECT_EQ(q.sendCq->poll()->syndrome, MLX5_LOCAL_QP_OP);
  EXPECT_EQ(q.sendCq->poll()->syndrome, MLX5_FLUSHED);
  EXPECT_EQ(q.receiveCq->count(), 0);
}

TEST(Completion, enableOfAFailedQueueFlushes) {
  Rig rig(1);
  Queue &mq = rig.management(0), &q = rig.queue(0, {.flags = NBC_HCA_QP_MANAGED_SEND});
  rig.connect(q, q);
  q.post(Wqe(0x3f));
  q.post(nop());
  mq.post(enable(q, 1));
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(q.sendCq->count(), 1);  // the dormant one is not touched
  mq.post(enable(q, 2));
  mq.ring();
  rig.fabric.run();
  EXPECT_EQ(q.sendCq->poll()->syndrome, MLX5_FLUSHED);
}

TEST(Completion, manyOverrunsNeedNoStack) {
  Rig rig(1);
  // Each queue pair's flush overruns the CQ of the next one.
  std::vector<Queue *> chain;
  Cq *before = &rig.cq(0, 0, 0);
  for (int i = 0; i < 20000; ++i) {
    Cq *after = &rig.cq(0, 0, 0);
    Queue &q = rig.queue(
        0, {.logSend = 1, .logReceive = 2, .logStride = 4, .sendCq = before, .receiveCq = after});
    for (int j = 0; j < 3; ++j) q.receive();
    chain.push_back(&q);
    before = after;
  }
  rig.connect(*chain[0], *chain[0]);
  chain[0]->post(Wqe(0x3f));
  chain[0]->ring();
  rig.fabric.run();
  EXPECT_NE(chain.back()->failed(), 0u);
}

}  // namespace
}  // namespace hca::test
