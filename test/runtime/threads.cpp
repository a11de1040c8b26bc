// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads, in real time: they meet at the fence, wait asleep, share a cache.

#include <condition_variable>
#include <mutex>
#include <thread>

#include "test/runtime/world.h"

namespace {

/// A bootstrap between threads: `get` waits, `fence` counts.
struct Meeting {
  Board board;
  std::mutex mutex;
  std::condition_variable changed;
  int ranks = 0, arrived = 0, fences = 0;
  struct Context {
    Meeting *meeting;
    Board::Context board;
  };
  static int put(void *context, const char *key, const void *data, size_t bytes) {
    auto *c = static_cast<Context *>(context);
    std::lock_guard lock(c->meeting->mutex);
    c->meeting->changed.notify_all();
    return Board::put(&c->board, key, data, bytes);
  }
  static int get(void *context, int rank, const char *key, void *data, size_t capacity,
                 size_t *bytes) {
    auto *c = static_cast<Context *>(context);
    std::unique_lock lock(c->meeting->mutex);
    while (Board::get(&c->board, rank, key, data, capacity, bytes)) c->meeting->changed.wait(lock);
    return 0;
  }
  static int fence(void *context) {
    auto *m = static_cast<Context *>(context)->meeting;
    std::unique_lock lock(m->mutex);
    int mine = m->fences;
    if (++m->arrived == m->ranks) ++m->fences, m->arrived = 0, m->changed.notify_all();
    while (m->fences == mine) m->changed.wait(lock);
    return 0;
  }
};

TEST(Threads, allgathersInRealTime) {
  constexpr int ranks = 4, calls = 200;
  hca::Fabric fabric({.mode = hca::Mode::RealTime});
  Meeting meeting;
  meeting.ranks = ranks;
  nbc_hca *adapters[ranks];
  for (nbc_hca *&a : adapters) a = fabric.addAdapter();
  std::vector<std::thread> threads;
  for (int me = 0; me < ranks; ++me)
    threads.emplace_back([&, me] {
      Meeting::Context context = {&meeting, {&meeting.board, me}};
      nbc_bootstrap b = {me, ranks, &context, Meeting::put, Meeting::get, Meeting::fence};
      nbc_comm *comm = nullptr;
      nbc_plan *plan = nullptr;
      nbc_plan_options options = {.eager_bytes = 64};
      build::Bytes bytes = build::allgather(ranks, uint32_t(me));
      nbc_device *device = &adapters[me]->device;
      EXPECT_EQ(nbc_comm_create(&b, &device, 1, &comm), 0);
      EXPECT_EQ(nbc_plan_create(comm, bytes.data(), bytes.size(), &options, &plan), 0);
      EXPECT_EQ(nbc_plan_connect(plan), 0);
      std::vector<uint8_t> in(500, uint8_t(me + 1)), out(500 * ranks);
      for (int i = 0; i < calls; ++i) {
        size_t n = i % 3 ? 10 : 500;
        nbc_request request;
        nbc_call call = {.in = in.data(), .out = out.data(), .count = n};
        EXPECT_EQ(nbc_start(plan, &call, &request), 0);
        EXPECT_EQ(nbc_wait(&request), 0);
        for (size_t at = 0; at < n * ranks; ++at)
          if (out[at] != at / n + 1) ADD_FAILURE() << "call " << i << " byte " << at;
      }
      Meeting::fence(&context);
      EXPECT_EQ(nbc_plan_free(plan), 0);
      EXPECT_EQ(nbc_comm_free(comm), 0);
    });
  for (std::thread &t : threads) t.join();
}

TEST(Threads, whoFailsToConnectLeavesNobodyInTheFence) {
  constexpr int ranks = 3;
  hca::Fabric fabric({.mode = hca::Mode::RealTime});
  Meeting meeting;
  meeting.ranks = ranks;
  nbc_hca *adapters[ranks];
  for (nbc_hca *&a : adapters) a = fabric.addAdapter();
  std::vector<std::thread> threads;
  int connected[ranks];
  for (int me = 0; me < ranks; ++me)
    threads.emplace_back([&, me] {
      Meeting::Context context = {&meeting, {&meeting.board, me}};
      nbc_bootstrap b = {me, ranks, &context, Meeting::put, Meeting::get, Meeting::fence};
      nbc_comm *comm = nullptr;
      nbc_plan *plan = nullptr;
      build::Bytes bytes = build::chainAllreduce(ranks, uint32_t(me));
      if (me == 2) std::strcpy(bytes.header()->algorithm, "other"), bytes.seal();
      nbc_device *device = &adapters[me]->device;
      EXPECT_EQ(nbc_comm_create(&b, &device, 1, &comm), 0);
      EXPECT_EQ(nbc_plan_create(comm, bytes.data(), bytes.size(), nullptr, &plan), 0);
      connected[me] = nbc_plan_connect(plan);
      EXPECT_EQ(nbc_plan_free(plan), 0);
      EXPECT_EQ(nbc_comm_free(comm), 0);
    });
  for (std::thread &t : threads) t.join();
  EXPECT_EQ(connected[0], 0);  // rank 2 is no peer of its
  EXPECT_EQ(connected[1], NBC_ERROR_ARGUMENT);
  EXPECT_EQ(connected[2], NBC_ERROR_ARGUMENT);
}

TEST(Threads, plansOfOneCommunicatorShareItsCache) {
  // Two threads register and forget the same memory; each finds its own whole.
  hca::Fabric fabric({.mode = hca::Mode::RealTime});
  nbc_comm *comm = nullptr;
  nbc_bootstrap alone = {0, 1, nullptr, nullptr, nullptr, nullptr};
  nbc_device *device = &fabric.addAdapter()->device;
  ASSERT_EQ(nbc_comm_create(&alone, &device, 1, &comm), 0);
  static uint8_t memory[2000];
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3000; ++i) {
        EXPECT_EQ(nbc_register(comm, memory + i * (t + 1) % 1000, 16), 0);
        if (i % 50 == t) {
          int status = nbc_deregister(comm, memory + i % 1000, 100);
          EXPECT_TRUE(status == 0 || status == NBC_ERROR_BUSY);
        }
      }
    });
  for (std::thread &t : threads) t.join();
  EXPECT_EQ(nbc_comm_free(comm), 0);
}

}  // namespace
