// SPDX-License-Identifier: BSD-3-Clause
// A whole collective by hand: dissemination barriers, one behind the other, driven by management
// queues alone. What must hold: no rank's barrier n ends before every rank has begun barrier n.

#include <gtest/gtest.h>

#include <thread>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

constexpr int barriers = 5;

struct Barrier {
  Rig rig;
  int ranks, rounds;
  std::vector<Queue *> mq;
  std::vector<std::vector<Queue *>> out, in;  // [rank][round]

  Barrier(int count, const Options &options) : rig(count, options), ranks(count), rounds(0) {
    while (1 << rounds < ranks) ++rounds;
    for (int r = 0; r < ranks; ++r) {
      mq.push_back(&rig.management(r));
      out.emplace_back();
      in.emplace_back();
    }
    for (int k = 0; k < rounds; ++k)
      for (int r = 0; r < ranks; ++r) {
        int to = (r + (1 << k)) % ranks;
        Queue &a = rig.queue(r, {.flags = NBC_HCA_QP_MANAGED_SEND | NBC_HCA_QP_CROSS_CHANNEL});
        Queue &b = rig.queue(to);
        rig.connect(a, b);
        for (int i = 0; i < barriers; ++i) b.receive();
        out[r].push_back(&a);
        in[to].push_back(&b);
      }
  }

  /// Barrier number n of a rank: its entries, then the doorbell.
  void start(int rank, int n) {
    for (int k = 0; k < rounds; ++k) {
      out[rank][k]->post(send());
      mq[rank]->post(enable(*out[rank][k], static_cast<uint16_t>(n + 1)));
      mq[rank]->post(wait(*in[rank][k]->receiveCq, static_cast<uint32_t>(n)));
    }
    mq[rank]->post(nop().signal());
    mq[rank]->ring();
  }
};

// Ranks start their barriers at random times, and run ahead.
TEST(Barrier, holdsInSimulatedTimeOverAThousandSeeds) {
  for (int ranks : {2, 3})
    for (uint64_t seed = 0; seed < 1000; ++seed) {
      Options options = Rig::simulated();
      options.adversarial = true;
      options.seed = seed;
      Barrier b(ranks, options);
      std::vector<int> begun(ranks), ended(ranks);
      auto begin = [&](int r) {
        b.rig.fabric.hostBusy(r, static_cast<Time>((seed * 7919 + r * 104729) % 97) * microsecond);
        b.start(r, begun[r]++);
      };
      for (int r = 0; r < ranks; ++r) begin(r);
      b.rig.fabric.run([&](const Completion &c) {
        int r = static_cast<int>(c.rank);
        while (b.mq[r]->sendCq->poll()) {
          int n = ended[r]++;
          for (int other : begun) EXPECT_GT(other, n) << "seed " << seed;
          if (begun[r] < barriers) begin(r);
        }
        return true;
      });
      for (int r = 0; r < ranks; ++r) ASSERT_EQ(ended[r], barriers) << "seed " << seed;
      ASSERT_TRUE(b.rig.fabric.waiting().empty());
      ASSERT_TRUE(b.rig.fabric.findings().empty()) << b.rig.fabric.findings()[0];
    }
}

// The check above can fail: a barrier that leaves a wait out is noticed.
TEST(Barrier, aMissingWaitIsNoticed) {
  int early = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Options options = Rig::simulated();
    options.adversarial = true;
    options.seed = seed;
    Barrier b(2, options);
    b.out[0][0]->post(send());
    b.mq[0]->post(enable(*b.out[0][0], 1));
    b.mq[0]->post(nop().signal());
    b.mq[0]->ring();
    b.rig.fabric.run();
    early += b.mq[0]->sendCq->count();  // though rank 1 never came
  }
  EXPECT_EQ(early, 50);
}

TEST(Barrier, waitsForARankThatNeverComesAndSaysSo) {
  Barrier b(3, Rig::simulated());
  b.start(0, 0);
  b.start(1, 0);
  b.rig.fabric.run();
  EXPECT_EQ(b.mq[0]->sendCq->count() + b.mq[1]->sendCq->count(), 0);
  EXPECT_EQ(b.rig.fabric.waiting().size(), 2u);
}

TEST(Barrier, holdsAmongThreads) {
  for (bool adversarial : {false, true})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Options options;
      options.adversarial = adversarial;
      options.seed = seed;
      Barrier b(3, options);
      std::atomic<int> begun[3] = {};
      std::atomic<int> early{0};
      std::vector<std::thread> threads;
      for (int r = 0; r < 3; ++r)
        threads.emplace_back([&, r] {
          for (int n = 0; n < barriers; ++n) {
            begun[r].fetch_add(1);
            b.start(r, n);
            while (!b.mq[r]->sendCq->poll()) b.mq[r]->hca->ops->sleep(b.mq[r]->hca, 1'000'000'000);
            for (std::atomic<int> &other : begun) early += other.load() <= n;
          }
        });
      for (std::thread &t : threads) t.join();
      EXPECT_EQ(early.load(), 0);
      EXPECT_TRUE(b.rig.fabric.findings().empty());
    }
}

}  // namespace
}  // namespace hca::test
