// SPDX-License-Identifier: BSD-3-Clause
// What holds in every order that the device may choose: random queues against what is said of them
// in a line or two.

#include <gtest/gtest.h>

#include <random>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

Options adversary(uint64_t seed) {
  Options o = Rig::simulated();
  o.adversarial = true;
  o.seed = seed;
  return o;
}

// What was written before a SEND or a WRITE with immediate data of the same queue pair is there
// when that one's receive is seen.
TEST(Order, dataIsThereWithItsNotice) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rig rig(2, adversary(seed));
    constexpr int words = 12;
    uint64_t from[words], to[words] = {};
    uint32_t l = rig.key(0, from, sizeof from), r = rig.key(1, to, sizeof to);
    Queue &a = rig.queue(0), &b = rig.queue(1);
    rig.connect(a, b);
    std::mt19937_64 random(seed);
    for (int i = 0; i < words; ++i) {
      from[i] = random() | 1;
      b.receive();
      a.post(Wqe(MLX5_WRITE).remote(&to[i], r).data(&from[i], 8, l));
      a.post(random() % 2 ? send() : Wqe(MLX5_WRITE_IMM).immediate(1).remote(nullptr, 0));
    }
    a.ring();
    int seen = 0;
    rig.fabric.run([&](const Completion &c) {
      if (c.cq != b.receiveCq->number()) return true;
      EXPECT_TRUE(b.receiveCq->poll());
      EXPECT_EQ(to[seen], from[seen]) << "seed " << seed << ", notice " << seen;
      ++seen;
      return true;
    });
    ASSERT_EQ(seen, words) << "seed " << seed;
  }
}

/// Entries of every kind, all signalled; the wait is satisfied, the enable enables nothing new.
Wqe any(std::mt19937_64 &random, Queue &target, const Cq &full, void *memory, uint32_t l,
        uint32_t r) {
  switch (random() % 7) {
    case 0:
      return nop().signal();
    case 1:
      return wait(full, 0).signal();
    case 2:
      return enable(target, 0).signal();
    case 3:
      return send().signal();
    case 4:
      return Wqe(MLX5_READ).remote(memory, r).data(memory, 8, l).signal();
    case 5:
      return Wqe(MLX5_ATOMIC_FA).remote(memory, r).operands(1, 0).data(memory, 8, l).signal();
    default:
      return Wqe(MLX5_WRITE).remote(memory, r).data(memory, 8, l).signal();
  }
}

struct Mixed {
  Rig rig;
  alignas(8) uint64_t word = 0;
  uint32_t l = rig.key(0, &word, 8), r = rig.key(1, &word, 8);
  Queue &a = rig.queue(0, {.flags = NBC_HCA_QP_CROSS_CHANNEL, .logSend = 7});
  Queue &b = rig.queue(1, {.logReceive = 6});
  Queue &managed = rig.queue(0, {.flags = NBC_HCA_QP_MANAGED_SEND});
  Queue &filled = rig.management(0);

  explicit Mixed(uint64_t seed) : rig(2, adversary(seed)) {
    rig.connect(a, b);
    rig.connect(managed, managed);
    filled.post(nop().signal());
    filled.ring();
    rig.fabric.run();
    for (int i = 0; i < 40; ++i) b.receive();
  }
};

// Signalled waits and enables complete where they stand among the messages of their queue, however
// early they were executed.
TEST(Order, entriesCompleteInTheirQueuesOrder) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Mixed m(seed);
    std::mt19937_64 random(seed);
    std::vector<uint16_t> posted;
    for (int i = 0; i < 40; ++i)
      posted.push_back(m.a.post(any(random, m.managed, *m.filled.sendCq, &m.word, m.l, m.r)));
    m.a.ring();
    m.rig.fabric.run();
    for (uint16_t index : posted) {
      std::optional<Cqe> e = m.a.sendCq->poll();
      ASSERT_TRUE(e) << "seed " << seed;
      ASSERT_EQ(e->counter, index) << "seed " << seed;
      ASSERT_EQ(e->syndrome, 0) << "seed " << seed;
    }
    EXPECT_FALSE(m.a.sendCq->poll());
  }
}

// One entry fails, here or there. Those before it have completed, where they were signalled; it
// completes with its error, and each behind it as flushed, signalled or not.
TEST(Order, oneFailsAndAllBehindItAreFlushed) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Mixed m(seed);
    std::mt19937_64 random(seed);
    constexpr unsigned count = 20;
    unsigned bad = static_cast<unsigned>(random() % count);
    bool remotely = random() % 2;
    std::vector<std::pair<uint16_t, int>> expected;  // counter, syndrome
    for (unsigned i = 0; i < count; ++i) {
      Wqe wqe = any(random, m.managed, *m.filled.sendCq, &m.word, m.l, m.r);
      if (i == bad) {
        uint32_t off = remotely ? 1 : 0;
        wqe = Wqe(MLX5_WRITE).remote(&m.word, m.r + off).data(&m.word, 8, m.l + 1 - off);
      }
      bool silent = random() % 3 == 0;
      if (silent) wqe.bytes[MLX5_CTRL_FLAGS] &= static_cast<uint8_t>(~MLX5_CE_MASK);
      bool signalled = wqe.bytes[MLX5_CTRL_FLAGS] & MLX5_CE_ALWAYS;
      uint16_t index = m.a.post(wqe);
      if (i < bad && signalled) expected.push_back({index, 0});
      if (i == bad) expected.push_back({index, remotely ? MLX5_REMOTE_ACCESS : MLX5_LOCAL_PROT});
      if (i > bad) expected.push_back({index, MLX5_FLUSHED});
    }
    m.a.ring();
    m.rig.fabric.run();
    for (auto [index, syndrome] : expected) {
      std::optional<Cqe> e = m.a.sendCq->poll();
      ASSERT_TRUE(e) << "seed " << seed;
      ASSERT_EQ(e->counter, index) << "seed " << seed;
      ASSERT_EQ(e->syndrome, syndrome) << "seed " << seed;
    }
    EXPECT_FALSE(m.a.sendCq->poll()) << "seed " << seed;
    EXPECT_EQ(m.a.failed(), remotely ? MLX5_REMOTE_ACCESS : MLX5_LOCAL_PROT);
  }
}

}  // namespace
}  // namespace hca::test
