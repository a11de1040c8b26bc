// SPDX-License-Identifier: BSD-3-Clause
// Queues are made, connected and destroyed; what cannot be is refused.

#include <gtest/gtest.h>

#include "nbc.h"
#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

TEST(Adapter, requestsBeyondTheDeviceAreRefused) {
  Rig rig(2);
  nbc_hca *hca = rig.ranks[0];
  Cq &mine = rig.cq(0), &foreign = rig.cq(1);
  nbc_hca_cq cq;
  nbc_hca_qp qp;
  EXPECT_EQ(hca->ops->create_cq(hca, 23, 0, &cq), NBC_ERROR_RESOURCES);
  nbc_hca_qp_request good = {4, 4, 4, mine.number(), mine.number(), 0}, bad = good;
  EXPECT_EQ(hca->ops->create_qp(hca, &good, &qp), 0);
  EXPECT_EQ((bad = good, bad.log_sq = 16, hca->ops->create_qp(hca, &bad, &qp)),
            NBC_ERROR_RESOURCES);
  EXPECT_EQ((bad = good, bad.log_rq = 16, hca->ops->create_qp(hca, &bad, &qp)),
            NBC_ERROR_RESOURCES);
  EXPECT_EQ((bad = good, bad.log_stride = 3, hca->ops->create_qp(hca, &bad, &qp)),
            NBC_ERROR_ARGUMENT);
  EXPECT_EQ((bad = good, bad.send_cq = foreign.number(), hca->ops->create_qp(hca, &bad, &qp)),
            NBC_ERROR_ARGUMENT);
  EXPECT_EQ((bad = good, bad.recv_cq = 9999, hca->ops->create_qp(hca, &bad, &qp)),
            NBC_ERROR_ARGUMENT);
}

TEST(Adapter, queuesAreAlignedAndZero) {
  Rig rig(1);
  Queue &q = rig.queue(0, {.logSend = 3, .logReceive = 1, .logStride = 4});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(q.qp.sq) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(q.qp.rq) % 16, 0u);
  for (int i = 0; i < 8 * 64; ++i) ASSERT_EQ(q.qp.sq[i], 0);
  Queue &deaf = rig.queue(0, {.logReceive = UINT32_MAX});
  EXPECT_EQ(deaf.qp.rq, nullptr);
}

TEST(Adapter, connectsOnceAndWithinTheFabric) {
  Rig rig(2), apart(1);
  Queue &a = rig.queue(0), &b = rig.queue(1), &other = apart.queue(0);
  uint8_t address[32];
  other.hca->ops->address(other.hca, address);
  EXPECT_NE(0, a.hca->ops->connect_qp(a.hca, a.number(), address, other.number()));
  a.hca->ops->address(a.hca, address);  // the number is rank 1's
  EXPECT_NE(0, a.hca->ops->connect_qp(a.hca, a.number(), address, b.number()));
  rig.connect(a, b);
  EXPECT_NE(0, a.hca->ops->connect_qp(a.hca, a.number(), address, a.number()));
}

TEST(Adapter, whatWasDestroyedIsGone) {
  Rig rig(1);
  nbc_hca *hca = rig.ranks[0];
  Queue &a = rig.queue(0), &b = rig.queue(0), &mq = rig.management(0);
  rig.connect(a, b);
  Cq &counted = rig.cq(0);
  mq.post(wait(counted, 0));
  mq.post(wait(*b.sendCq, 0));
  mq.ring();
  a.post(send().signal());
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(hca->ops->destroy_cq(hca, b.sendCq->number()), NBC_ERROR_BUSY);
  EXPECT_EQ(hca->ops->destroy_qp(hca, b.number()), 0);
  EXPECT_EQ(hca->ops->destroy_qp(hca, b.number()), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(hca->ops->destroy_cq(hca, b.sendCq->number()), 0);
  EXPECT_EQ(hca->ops->destroy_cq(hca, counted.number()), 0);
  hca->ops->doorbell(hca, b.number(), 0);
  rig.fabric.run();
  EXPECT_EQ(a.failed(), MLX5_RETRY_EXCEEDED);
  EXPECT_EQ(mq.failed(), MLX5_LOCAL_QP_OP);  // waited for a CQ that is no more
}

TEST(Adapter, indicesStartOnlyBeforeTheFirstEntry) {
  Rig rig(1);
  Queue &q = rig.management(0);
  EXPECT_NE(0, q.hca->ops->start_queue_at(q.hca, q.number(), 1, 1));
  q.post(nop().signal());
  q.ring();
  rig.fabric.run();
  EXPECT_NE(0, q.hca->ops->start_cq_at(q.hca, q.sendCq->number(), 5));
}

}  // namespace
}  // namespace hca::test
