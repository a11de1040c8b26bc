// SPDX-License-Identifier: BSD-3-Clause
// Real time: hosts are threads, the worker sleeps, no ring is lost. Runs under TSan.

#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <thread>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

void await(Queue &q, Cq &cq) {
  while (!cq.poll()) q.hca->ops->sleep(q.hca, 1'000'000'000);
}

TEST(RealTime, pingPongCarriesTheBytes) {
  Rig rig(2, Options{});
  Queue &a = rig.queue(0), &b = rig.queue(1);
  rig.connect(a, b);
  uint64_t ping = 0, pong = 0;
  uint32_t pingKey = rig.key(0, &ping, 8), pongKey = rig.key(1, &pong, 8);
  constexpr uint64_t turns = 500;
  std::thread other([&] {
    for (uint64_t i = 0; i < turns; ++i) {
      await(b, *b.receiveCq);
      EXPECT_EQ(pong, 2 * i + 1);
      ++pong;
      b.receive({{&pong, 8, pongKey}});
      b.post(send().data(&pong, 8, pongKey).signal());
      b.ring();
      await(b, *b.sendCq);
    }
  });
  b.receive({{&pong, 8, pongKey}});
  for (uint64_t i = 0; i < turns; ++i) {
    ++ping;
    a.receive({{&ping, 8, pingKey}});
    a.post(send().data(&ping, 8, pingKey).signal());
    a.ring();
    await(a, *a.sendCq);
    await(a, *a.receiveCq);
    EXPECT_EQ(ping, 2 * i + 2);
  }
  other.join();
}

TEST(RealTime, manyThreadsRingOneAdapter) {
  Rig rig(1, Options{});
  constexpr int threads = 4, rings = 2000;
  std::vector<Queue *> queues;
  for (int i = 0; i < threads; ++i) queues.push_back(&rig.management(0));
  std::vector<std::thread> hosts;
  for (Queue *q : queues)
    hosts.emplace_back([q] {
      for (int i = 0; i < rings; ++i) {
        q->post(nop().signal());
        q->ring();
        if (i % 32 == 31) {  // half the ring
          for (int n = 0; n < 32; ++n) await(*q, *q->sendCq);
        }
      }
      for (int n = 0; n < rings % 32; ++n) await(*q, *q->sendCq);
    });
  for (std::thread &t : hosts) t.join();
  EXPECT_EQ(rig.fabric.counters().entries, uint64_t{threads} * rings);
  EXPECT_TRUE(rig.fabric.findings().empty());
}

TEST(RealTime, queuesComeAndGoBesideTraffic) {
  Rig rig(1, Options{});
  Queue &busy = rig.management(0);
  std::atomic<bool> end{false};
  std::thread host([&] {
    while (!end) {
      busy.post(nop().signal());
      busy.ring();
      await(busy, *busy.sendCq);
    }
  });
  nbc_hca *hca = rig.ranks[0];
  for (int i = 0; i < 300; ++i) {
    nbc_hca_cq cq;
    nbc_hca_qp qp;
    ASSERT_EQ(0, hca->ops->create_cq(hca, 2, 0, &cq));
    nbc_hca_qp_request want = {2, 2, 4, cq.number, cq.number, 0};
    ASSERT_EQ(0, hca->ops->create_qp(hca, &want, &qp));
    uint8_t address[32];
    hca->ops->address(hca, address);
    ASSERT_EQ(0, hca->ops->connect_qp(hca, qp.number, address, qp.number));
    ASSERT_EQ(0, hca->ops->destroy_qp(hca, qp.number));
    ASSERT_EQ(0, hca->ops->destroy_cq(hca, cq.number));
    rig.fabric.counters();
  }
  end = true;
  host.join();
}

TEST(RealTime, workerSleepsWhenThereIsNothingToDo) {
  Rig rig(1, Options{});
  Queue &q = rig.management(0);
  q.post(nop().signal());
  q.ring();
  await(q, *q.sendCq);
  auto used = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000 + t.tv_nsec;
  };
  auto before = used();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(used() - before, 20'000'000);
}

// The end is told like work: just before the thread goes to sleep it must be seen, too.
TEST(RealTime, endsWhileItsThreadGoesToSleep) {
  for (int i = 0; i < 1000; ++i) {
    Options options;
    options.wire = i % 2;
    Fabric fabric(options);
    nbc_hca *hca = fabric.addAdapter();
    for (int spin = i % 50 * 20; spin > 0; --spin) fabric.now();
    fabric.removeAdapter(hca);
  }
}

TEST(RealTime, sleepEndsWithItsTime) {
  Rig rig(1, Options{});
  nbc_hca *hca = rig.ranks[0];
  hca->ops->sleep(hca, 1);
  auto begin = std::chrono::steady_clock::now();
  hca->ops->sleep(hca, 20'000'000);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(15));
}

TEST(RealTime, aDeadPeerIsNoticedAfterItsTime) {
  Rig rig(2, Options{});
  Queue &a = rig.queue(0), &b = rig.queue(1);
  rig.fabric.setRetry(a.number(), {.retryCount = 1, .ackTimeout = 8});
  rig.connect(a, b);
  rig.fabric.kill(1);
  a.post(send());
  a.ring();
  while (!a.failed()) a.hca->ops->sleep(a.hca, 1'000'000);
  EXPECT_EQ(a.failed(), MLX5_RETRY_EXCEEDED);
}

TEST(RealTime, rnrIsTriedAgain) {
  Rig rig(2, Options{});
  Queue &a = rig.queue(0), &b = rig.queue(1);
  rig.connect(a, b);
  a.post(send().signal());
  a.ring();
  while (rig.fabric.counters().rnrNaks == 0) std::this_thread::yield();
  b.receive();
  await(a, *a.sendCq);
  EXPECT_EQ(b.receiveCq->count(), 1);
}

}  // namespace
}  // namespace hca::test
