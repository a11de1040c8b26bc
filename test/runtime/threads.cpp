// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads, in real time: they meet at the fence, wait asleep, share a cache.

#include <thread>

#include "test/runtime/messages.h"
#include "test/runtime/world.h"

namespace {

/// Each rank as a thread, with a communicator: part(rank, comm, bootstrap).
template <class Part>
void withComms(const std::vector<nbc_device *> &devices, const Part &part) {
  asThreads(int(devices.size()), [&](int me, const nbc_bootstrap &b) {
    nbc_comm *comm = nullptr;
    EXPECT_EQ(nbc_comm_create(&b, &devices[size_t(me)], 1, &comm), 0);
    part(me, comm, b);
    EXPECT_EQ(nbc_comm_free(comm), 0);
  });
}

std::vector<nbc_device *> adapters(hca::Fabric &fabric, int ranks) {
  std::vector<nbc_device *> devices;
  for (int r = 0; r < ranks; ++r) devices.push_back(&fabric.addAdapter()->device);
  return devices;
}

TEST(Threads, allgathersInRealTime) {
  constexpr int ranks = 4, calls = 200;
  hca::Fabric fabric({.mode = hca::Mode::RealTime});
  withComms(adapters(fabric, ranks), [&](int me, nbc_comm *comm, const nbc_bootstrap &b) {
    nbc_plan *plan = nullptr;
    nbc_plan_options options = {.eager_bytes = 64};
    build::Bytes bytes = build::allgather(ranks, uint32_t(me));
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
    b.fence(b.context);
    EXPECT_EQ(nbc_plan_free(plan), 0);
  });
}

/// Two threads a rank, each with a plan of its own on the same communicator.
TEST(Threads, messagesInRealTime) {
  for (bool adversarial : {false, true}) {
    constexpr int ranks = 3, calls = 100;
    p2p::Fabric fabric({.mode = p2p::Mode::RealTime, .seed = 9, .adversarial = adversarial});
    std::vector<nbc_device *> ends;
    for (int r = 0; r < ranks; ++r) ends.push_back(&fabric.addEndpoint()->device);
    auto gather = [&](nbc_plan *plan, int salt) {
      std::vector<uint8_t> in(300), out(300 * ranks);
      for (int i = 0; i < calls; ++i) {
        size_t n = i % 3 ? 10 : 300;
        std::fill(in.begin(), in.end(), uint8_t(salt + i));
        nbc_request request;
        nbc_call call = {.in = in.data(), .out = out.data(), .count = n};
        EXPECT_EQ(nbc_start(plan, &call, &request), 0);
        EXPECT_EQ(nbc_wait(&request), 0);
        for (size_t at = 0; at < n * ranks; ++at)
          if (out[at] != uint8_t(int(at / n) * 50 + salt % 50 + i))
            ADD_FAILURE() << "call " << i << " byte " << at;
      }
    };
    withComms(ends, [&](int me, nbc_comm *comm, const nbc_bootstrap &b) {
      nbc_plan *plans[2] = {};
      build::Bytes bytes = build::ringAllgather(ranks, uint32_t(me));
      for (nbc_plan *&p : plans) {
        EXPECT_EQ(nbc_plan_create(comm, bytes.data(), bytes.size(), nullptr, &p), 0);
        EXPECT_EQ(nbc_plan_connect(p), 0);
      }
      std::thread other(gather, plans[1], me * 50 + 1);
      gather(plans[0], me * 50 + 2);
      other.join();
      b.fence(b.context);
      for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_free(p), 0);
    });
    EXPECT_TRUE(fabric.findings().empty()) << fabric.findings()[0];
  }
}

TEST(Threads, whoFailsToConnectLeavesNobodyInTheFence) {
  constexpr int ranks = 3;
  hca::Fabric fabric({.mode = hca::Mode::RealTime});
  int connected[ranks];
  withComms(adapters(fabric, ranks), [&](int me, nbc_comm *comm, const nbc_bootstrap &) {
    nbc_plan *plan = nullptr;
    build::Bytes bytes = build::chainAllreduce(ranks, uint32_t(me));
    if (me == 2) std::strcpy(bytes.header()->algorithm, "other"), bytes.seal();
    EXPECT_EQ(nbc_plan_create(comm, bytes.data(), bytes.size(), nullptr, &plan), 0);
    connected[me] = nbc_plan_connect(plan);
    EXPECT_EQ(nbc_plan_free(plan), 0);
  });
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
