// SPDX-License-Identifier: BSD-3-Clause
// What a provider of verbs asks of a fabric and nbc/hca.h does not: a LID to be found by, notices,
// rights of a queue pair, overruns that are forgiven later, errors by will.

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <system_error>

#include "test/devices/hca/wired.h"

namespace hca::test {
namespace {

Options withLid(uint16_t lid) {
  Options o = wired();
  o.lid = lid;
  return o;
}

/// One that no process has; others may run the same test.
std::unique_ptr<Rig> anyLid(uint16_t &lid) {
  for (;;) {
    lid = static_cast<uint16_t>(0xc000 + std::random_device()() % 0x3ff0);
    try {
      return std::make_unique<Rig>(1, withLid(lid));
    } catch (const std::system_error &e) {
      demand(e.code().value() == EADDRINUSE);
    }
  }
}

int connectByLid(Queue &q, uint16_t lid, uint32_t number) {
  uint8_t address[32];
  Fabric::addressOf(lid, address);
  return q.hca->ops->connect_qp(q.hca, q.number(), address, number);
}

void sendOne(Queue &from, Queue &to) {
  to.receive();
  from.post(send().signal());
  from.ring();
}

TEST(Lid, oneProcessHasIt) {
  uint16_t lid;
  auto rig = anyLid(lid);
  try {
    Fabric other(withLid(lid));
    FAIL() << "two have it";
  } catch (const std::system_error &e) {
    EXPECT_EQ(e.code().value(), EADDRINUSE);
  }
  rig.reset();
  Fabric again(withLid(lid));
  Options alone;
  alone.lid = lid;
  EXPECT_THROW(Fabric{alone}, std::invalid_argument);
}

TEST(Lid, isEnoughToBeFound) {
  uint16_t hereLid, thereLid;
  auto here = anyLid(hereLid), there = anyLid(thereLid);
  Queue &a = here->queue(0), &b = there->queue(0), &c = here->queue(0);
  EXPECT_EQ(connectByLid(a, thereLid, b.number()), 0);
  EXPECT_EQ(connectByLid(b, hereLid, a.number()), 0);
  EXPECT_EQ(connectByLid(c, hereLid, c.number()), 0);
  sendOne(a, b);
  EXPECT_EQ(await(a, *a.sendCq).syndrome, 0);
  sendOne(b, a);
  EXPECT_EQ(await(b, *b.sendCq).syndrome, 0);
  sendOne(c, c);
  EXPECT_EQ(await(c, *c.sendCq).syndrome, 0);
}

TEST(Lid, ofNobodyIsRefused) {
  uint16_t lid, gone;
  auto rig = anyLid(lid);
  anyLid(gone).reset();
  Queue &a = rig->queue(0), &b = rig->queue(0);
  EXPECT_EQ(connectByLid(a, gone, 64), NBC_ERROR_DEVICE);
  EXPECT_EQ(connectByLid(b, lid, 0xfffffe), NBC_ERROR_ARGUMENT);
}

// A LID that comes again is another process's: queue pairs of the old one fail, and new ones reach
// it.
TEST(Lid, comesAgain) {
  uint16_t hereLid, thereLid;
  auto here = anyLid(hereLid), there = anyLid(thereLid);
  Queue &a = here->queue(0), &b = there->queue(0);
  here->fabric.setRetry(a.number(), {.retryCount = 1, .ackTimeout = 8});
  ASSERT_EQ(connectByLid(a, thereLid, b.number()), 0);
  ASSERT_EQ(connectByLid(b, hereLid, a.number()), 0);
  sendOne(a, b);
  EXPECT_EQ(await(a, *a.sendCq).syndrome, 0);
  there.reset();
  a.post(send().signal());
  a.ring();
  EXPECT_EQ(await(a, *a.sendCq).syndrome, MLX5_RETRY_EXCEEDED);

  there = std::make_unique<Rig>(1, withLid(thereLid));
  Queue &c = here->queue(0), &d = there->queue(0);
  EXPECT_EQ(connectByLid(c, thereLid, d.number()), NBC_ERROR_DEVICE);
  a.hca->ops->destroy_qp(a.hca, a.number());
  ASSERT_EQ(connectByLid(c, thereLid, d.number()), 0);
  ASSERT_EQ(connectByLid(d, hereLid, c.number()), 0);
  sendOne(c, d);
  EXPECT_EQ(await(c, *c.sendCq).syndrome, 0);
  sendOne(d, c);
  EXPECT_EQ(await(d, *d.sendCq).syndrome, 0);
}

/// What was told, by kind.
struct Told {
  std::vector<Notice> notices;
  Options options() {
    Options o = Rig::simulated();
    o.told = [this](const Notice &n) { notices.push_back(n); };
    return o;
  }
  int count(Notice::Kind kind, uint32_t number) const {
    int n = 0;
    for (const Notice &one : notices) n += one.kind == kind && one.number == number;
    return n;
  }
};

TEST(Notices, entriesAndOverruns) {
  Told told;
  Rig rig(1, told.options());
  Cq &cq = rig.cq(0, 1, 0);
  Queue &a = rig.queue(0, {.sendCq = &cq}), &b = rig.queue(0);
  rig.connect(a, b);
  for (int i = 0; i < 3; ++i) a.post(nop().signal());
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(told.count(Notice::Entry, cq.number()), 2);
  EXPECT_EQ(told.count(Notice::CqOverrun, cq.number()), 1);
  EXPECT_EQ(told.count(Notice::QpFatal, a.number()), 1);
  EXPECT_EQ(told.count(Notice::QpFatal, b.number()), 0);
  EXPECT_NE(a.failed(), 0u);
}

TEST(Notices, whatPeersMayNot) {
  Told told;
  Rig rig(2, told.options());
  uint64_t word = 0;
  uint32_t l = rig.key(0, &word, 8), r = rig.key(1, &word, 8);
  Queue &a = rig.queue(0), &b = rig.queue(1), &c = rig.queue(0), &d = rig.queue(1);
  rig.connect(a, b);
  rig.connect(c, d);
  a.post(Wqe(MLX5_WRITE).remote(&word, r + 1).data(&word, 8, l).signal());
  a.ring();
  rig.fabric.setAccess(d.number(), NBC_HCA_REMOTE_READ);
  c.post(Wqe(MLX5_WRITE).remote(&word, r).data(&word, 8, l).signal());
  c.ring();
  rig.fabric.run();
  EXPECT_EQ(told.count(Notice::QpAccess, b.number()), 1);
  EXPECT_EQ(told.count(Notice::QpRequest, d.number()), 1);
  EXPECT_EQ(a.sendCq->poll()->syndrome, MLX5_REMOTE_ACCESS);
  EXPECT_EQ(c.sendCq->poll()->syndrome, MLX5_REMOTE_INVALID);
}

// A queue pair grants what its rights name, of all that a key allows.
TEST(Access, byTheQueuePair) {
  for (uint32_t granted : {uint32_t{NBC_HCA_REMOTE_READ}, uint32_t{NBC_HCA_REMOTE_WRITE},
                           uint32_t{NBC_HCA_REMOTE_ATOMIC}})
    for (uint8_t opcode : {MLX5_READ, MLX5_WRITE, MLX5_WRITE_IMM, MLX5_ATOMIC_FA}) {
      Rig rig(2);
      alignas(8) uint64_t word = 0;
      uint32_t l = rig.key(0, &word, 8), r = rig.key(1, &word, 8);
      Queue &a = rig.queue(0), &b = rig.queue(1);
      rig.connect(a, b);
      rig.fabric.setAccess(b.number(), granted);
      b.receive();
      Wqe wqe = Wqe(opcode).remote(&word, r);
      if (opcode == MLX5_ATOMIC_FA) wqe.operands(1, 0);
      a.post(wqe.data(&word, 8, l).signal());
      a.ring();
      rig.fabric.run();
      uint32_t needed = opcode == MLX5_READ        ? NBC_HCA_REMOTE_READ
                        : opcode == MLX5_ATOMIC_FA ? NBC_HCA_REMOTE_ATOMIC
                                                   : NBC_HCA_REMOTE_WRITE;
      EXPECT_EQ(a.sendCq->poll()->syndrome, needed == granted ? 0 : MLX5_REMOTE_INVALID);
      EXPECT_EQ(b.failed() != 0, needed != granted);
    }
}

TEST(Overrun, isForgivenFromHereOn) {
  Rig rig(1);
  Cq &cq = rig.cq(0, 1, 0);
  Queue &a = rig.queue(0, {.sendCq = &cq});
  rig.connect(a, a);
  rig.fabric.ignoreOverrun(cq.number(), true);
  for (int i = 0; i < 5; ++i) a.post(nop().signal());
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(a.failed(), 0u);
  rig.fabric.ignoreOverrun(cq.number(), false);
  a.post(nop().signal());
  a.ring();
  rig.fabric.run();
  EXPECT_NE(a.failed(), 0u);
}

TEST(Error, byWill) {
  Rig rig(1);
  Queue &a = rig.queue(0, {.flags = NBC_HCA_QP_CROSS_CHANNEL});
  rig.connect(a, a);
  a.receive();
  a.post(wait(*a.receiveCq, 5));
  a.post(nop());
  a.ring();
  rig.fabric.run();
  rig.fabric.failQueuePair(a.number());
  rig.fabric.run();
  EXPECT_EQ(a.sendCq->poll()->syndrome, MLX5_FLUSHED);
  EXPECT_EQ(a.sendCq->poll()->syndrome, MLX5_FLUSHED);
  EXPECT_EQ(a.receiveCq->poll()->syndrome, MLX5_FLUSHED);
  a.receive();  // nobody looks at it, unless asked to
  rig.fabric.failQueuePair(a.number());
  rig.fabric.run();
  EXPECT_EQ(a.receiveCq->poll()->syndrome, MLX5_FLUSHED);
}

}  // namespace
}  // namespace hca::test
