// SPDX-License-Identifier: BSD-3-Clause
// WAIT on data: what a word has to be, who may have written it, and whom it holds.

#include <gtest/gtest.h>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

struct Operand {
  const void *word;
  uint32_t key;
  uint64_t value;
  uint64_t mask = UINT64_MAX;
  uint32_t condition = MLX5_CONDITION_EQUAL;
  uint32_t otherwise = 0;
};

Wqe waitFor(const Operand &o) {
  Wqe wqe(MLX5_WAIT, MLX5_WAIT_DATA);
  uint8_t *s = wqe.segment();
  mlx5_put32(s + MLX5_WORD_CONDITION, o.condition);
  mlx5_put32(s + MLX5_WORD_LKEY, o.key);
  mlx5_put64(s + MLX5_WORD_ADDR, reinterpret_cast<uintptr_t>(o.word) | o.otherwise);
  s = wqe.segment();
  mlx5_put64(s, o.value);
  mlx5_put64(s + 8, o.mask);
  return wqe;
}

// A word of rank 0, for which an ordinary queue of its waits; rank 1 may write it.
struct Words : testing::Test {
  explicit Words(const Options &options = Rig::simulated()) : rig(2, options) {}
  Rig rig;
  alignas(8) uint8_t word[8] = {};
  uint32_t key = rig.key(0, word, sizeof word);
  Queue &waiter = rig.queue(0), &other = rig.queue(1);

  void SetUp() override { rig.connect(waiter, other); }
  Operand until(uint64_t value) { return {word, key, value}; }
  void write(uint64_t value) {
    uint8_t bytes[8];
    mlx5_put64(bytes, value);
    other.post(Wqe(MLX5_WRITE).remote(word, key).inlined(bytes, 8));
    other.ring();
    rig.fabric.run();
  }
  int passed(const Operand &o) {
    waiter.post(waitFor(o).signal());
    waiter.ring();
    rig.fabric.run();
    return waiter.sendCq->count();
  }
  uint8_t syndrome(const Wqe &wqe) {
    waiter.post(wqe);
    waiter.ring();
    rig.fabric.run();
    const auto cqe = waiter.sendCq->poll();
    return cqe && cqe->opcode == MLX5_CQE_REQ_ERR ? cqe->syndrome : 0;
  }
};

TEST_F(Words, LayoutIsThatOfTheTable) {
  const Wqe wqe = waitFor({reinterpret_cast<void *>(0x1122334455667788), 0xaabbccdd,
                           0x0102030405060708, 0xf0f1f2f3f4f5f6f7});
  const uint8_t table[] = {1,    0,    0,    0x0f, 0,    0,    0,    0,    0,    0,    0,    0,
                           0,    0,    0,    0,    0,    0,    0,    1,    0xaa, 0xbb, 0xcc, 0xdd,
                           0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 1,    2,    3,    4,
                           5,    6,    7,    8,    0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7};
  ASSERT_EQ(wqe.bytes.size(), sizeof table);
  EXPECT_EQ(memcmp(wqe.bytes.data(), table, sizeof table), 0);
}

TEST_F(Words, PassesWhenAPeerHasWrittenTheWord) {
  EXPECT_EQ(passed(until(7)), 0);
  write(6);
  EXPECT_EQ(waiter.sendCq->count(), 0);
  write(7);
  EXPECT_EQ(waiter.sendCq->count(), 1);
  EXPECT_EQ(passed(until(7)), 1);  // nothing was used up
}

TEST_F(Words, ComparesUnderTheMask) {
  EXPECT_EQ(passed({word, key, 0x17, 0xf}), 0);
  write(0xab07);
  EXPECT_EQ(waiter.sendCq->count(), 1);
}

TEST_F(Words, MayWaitForAnotherValue) {
  EXPECT_EQ(passed({word, key, 0, UINT64_MAX, MLX5_CONDITION_EQUAL | MLX5_CONDITION_NOT}), 0);
  write(1);
  EXPECT_EQ(waiter.sendCq->count(), 1);
  EXPECT_EQ(passed({word, key, 99, UINT64_MAX, MLX5_CONDITION_ALWAYS}), 1);
}

TEST_F(Words, NoticesWhatItsHostWrites) {
  rig.ranks[0]->ops->sleep(rig.ranks[0], 1);
  EXPECT_EQ(passed(until(5)), 0);
  uint64_t five;
  mlx5_put64(&five, 5);
  __atomic_store_n(reinterpret_cast<uint64_t *>(word), five, __ATOMIC_RELEASE);
  rig.fabric.run();
  EXPECT_EQ(waiter.sendCq->count(), 1);
}

TEST_F(Words, NoticesAnswersAndReceivedData) {
  alignas(8) uint8_t there[8];
  mlx5_put64(there, 3);
  const uint32_t from = rig.key(1, there, 8);
  Queue &reader = rig.queue(0), &end = rig.queue(1);
  rig.connect(reader, end);
  EXPECT_EQ(passed(until(3)), 0);
  reader.post(Wqe(MLX5_READ).remote(there, from).data(word, 8, key));
  reader.ring();
  rig.fabric.run();
  EXPECT_EQ(waiter.sendCq->count(), 1);

  EXPECT_EQ(passed(until(4)), 0);
  mlx5_put64(there, 4);
  reader.receive({{word, 8, key}});
  end.post(send().data(there, 8, from));
  end.ring();
  rig.fabric.run();
  EXPECT_EQ(waiter.sendCq->count(), 1);
}

TEST_F(Words, HoldsWhatIsBehindItOnly) {
  waiter.post(nop().signal());
  waiter.post(waitFor(until(1)));
  waiter.post(nop().signal());
  waiter.ring();
  rig.fabric.run();
  EXPECT_EQ(waiter.sendCq->count(), 1);
  write(1);
  EXPECT_EQ(waiter.sendCq->count(), 1);
}

TEST_F(Words, AreLookedAtThroughAKey) {
  EXPECT_EQ(syndrome(waitFor({word, key + 1, 0})), MLX5_LOCAL_PROT);
}

TEST_F(Words, OfMemoryThatIsGoneAreAnError) {
  EXPECT_EQ(passed(until(1)), 0);
  rig.ranks[0]->ops->deregister_memory(rig.ranks[0], key);
  rig.fabric.run();
  const auto cqe = waiter.sendCq->poll();
  ASSERT_TRUE(cqe);
  EXPECT_EQ(cqe->syndrome, MLX5_LOCAL_PROT);
}

TEST_F(Words, AreNotWaitedForIfTheEntrySaysSo) {
  EXPECT_NE(syndrome(waitFor({word, key, 1, UINT64_MAX, MLX5_CONDITION_EQUAL, MLX5_WORD_FAIL})), 0);
}

// How an adapter reads a word that is to be more than another nobody says.
TEST_F(Words, AreNotComparedForMore) {
  EXPECT_EQ(syndrome(waitFor({word, key, 0, UINT64_MAX, 2})), MLX5_LOCAL_QP_OP);
}

Options without(uint32_t waits) {
  Options o = Rig::simulated();
  o.facts.waits &= ~waits;
  return o;
}

struct NoWords : Words {
  NoWords() : Words(without(NBC_HCA_WAITS_DATA)) {}
};
TEST_F(NoWords, AreAnErrorThen) {
  EXPECT_EQ(syndrome(waitFor(until(0))), MLX5_LOCAL_QP_OP);
}

struct NoCounts : Words {
  NoCounts() : Words(without(NBC_HCA_WAITS_CQ)) {}
};
TEST_F(NoCounts, HaveNoCrossChannelQueuePairs) {
  Cq &cq = rig.cq(0);
  nbc_hca_qp qp;
  for (const uint32_t flags : {NBC_HCA_QP_CROSS_CHANNEL, NBC_HCA_QP_MANAGED_SEND}) {
    const nbc_hca_qp_request want = {6, 4, 4, cq.number(), cq.number(), flags};
    EXPECT_EQ(rig.ranks[0]->ops->create_qp(rig.ranks[0], &want, &qp), NBC_ERROR_UNSUPPORTED);
  }
  EXPECT_EQ(syndrome(wait(cq, 0)), MLX5_LOCAL_QP_OP);
}
TEST_F(NoCounts, HaveWords) {
  EXPECT_EQ(passed(until(0)), 1);
}

// Who has failed waits no more, and leaves nothing behind.
TEST_F(Words, AreNotWaitedForByWhoHasFailed) {
  EXPECT_EQ(passed(until(1)), 0);
  rig.fabric.failQueuePair(waiter.number());
  rig.fabric.run();
  EXPECT_EQ(waiter.sendCq->count(), 1);  // flushed
  write(1);
  EXPECT_EQ(waiter.sendCq->count(), 0);
}

TEST(WordsInRealTime, AreSeenThoughTheirHostSaysNothing) {
  Options options;
  Rig rig(1, options);
  Queue &q = rig.queue(0);
  rig.connect(q, q);
  alignas(8) uint64_t word = 0;
  const uint32_t key = rig.key(0, &word, sizeof word);
  uint64_t value;
  mlx5_put64(&value, 2);
  q.post(waitFor({&word, key, 2}).signal());
  q.ring();
  rig.ranks[0]->ops->sleep(rig.ranks[0], 2'000'000);
  EXPECT_FALSE(q.sendCq->poll());
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
  std::optional<Cqe> seen;
  for (int i = 0; i < 10'000 && !(seen = q.sendCq->poll()); ++i)
    rig.ranks[0]->ops->sleep(rig.ranks[0], 1'000'000);
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace hca::test
