// SPDX-License-Identifier: BSD-3-Clause
// What nbc.h promises its users, on each device that there is, with threads for ranks: ranks
// ahead of each other, calls in flight, threads of a rank, things that end in the wrong order.

#include <latch>
#include <thread>

#include "devices/verbs/verbs.h"
#include "nbc/shm.h"
#include "test/runtime/messages.h"
#include "test/runtime/world.h"

namespace {

constexpr size_t longest = 3000;

/// One call of allgather with bytes of its own, which says whether its result is right.
struct Gather {
  std::vector<uint8_t> in, out;
  int ranks, salt;
  nbc_request request;

  static uint8_t byteOf(int rank, int salt) { return uint8_t(rank * 50 + salt); }

  Gather(int rank, int n, int withSalt) : ranks(n), salt(withSalt) {
    in.assign(salt % 4 ? 8 : longest, byteOf(rank, salt));
    out.assign(in.size() * size_t(ranks), 0xee);
  }
  int start(nbc_plan *plan) {
    nbc_call call = {.in = in.data(), .out = out.data(), .count = in.size()};
    return nbc_start(plan, &call, &request);
  }
  bool right() const {
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i] != byteOf(int(i / in.size()), salt)) return false;
    return true;
  }
};

/// How a rank gets its device, and a template for it. `prepare` comes before there are ranks.
struct Adapters {
  hca::Fabric fabric{{.mode = hca::Mode::RealTime}};
  std::vector<nbc_device *> devices;
  void prepare(int ranks) {
    while (ranks--) devices.push_back(&fabric.addAdapter()->device);
  }
  int open(const nbc_bootstrap &b, nbc_device **device) {
    *device = devices[size_t(b.rank)];
    return 0;
  }
  static build::Bytes allgather(int ranks, int rank) {
    return build::allgather(uint32_t(ranks), uint32_t(rank));
  }
};
struct Endpoints {
  p2p::Fabric fabric{{.mode = p2p::Mode::RealTime}};
  std::vector<nbc_device *> devices;
  void prepare(int ranks) {
    while (ranks--) devices.push_back(&fabric.addEndpoint()->device);
  }
  int open(const nbc_bootstrap &b, nbc_device **device) {
    *device = devices[size_t(b.rank)];
    return 0;
  }
  static build::Bytes allgather(int ranks, int rank) {
    return build::ringAllgather(uint32_t(ranks), uint32_t(rank));
  }
};
struct SharedMemory {
  void prepare(int) {}
  static int open(const nbc_bootstrap &b, nbc_device **device) {
    return nbc_shm_open(&b, nullptr, device);
  }
  static build::Bytes allgather(int ranks, int rank) {
    build::Bytes b = build::ringAllgather(uint32_t(ranks), uint32_t(rank));
    std::strcpy(b.header()->target, NBC_SHM_TARGET);
    b.seal();
    return b;
  }
};

struct Connections {
  hca::Fabric fabric{{.mode = hca::Mode::RealTime}};
  std::vector<verbs::Device> devices;
  void prepare(int ranks) {
    while (ranks--) devices.push_back(verbs::deviceOn(fabric.addAdapter()));
  }
  int open(const nbc_bootstrap &b, nbc_device **device) {
    *device = &devices[size_t(b.rank)]->device;
    return 0;
  }
  static build::Bytes allgather(int ranks, int rank) {
    build::Bytes b = build::ringAllgather(uint32_t(ranks), uint32_t(rank));
    std::strcpy(b.header()->target, NBC_VERBS_TARGET);
    b.seal();
    return b;
  }
};

template <class Device>
class Promises : public testing::Test {
 protected:
  /// Each rank as a thread, with `count` plans of allgather that are connected.
  template <class Run>
  void onRanks(int ranks, size_t count, nbc_plan_options options, Run run) {
    Device device;
    device.prepare(ranks);
    asThreads(ranks, [&](int me, const nbc_bootstrap &b) {
      nbc_device *mine = nullptr;
      nbc_comm *comm = nullptr;
      std::vector<nbc_plan *> plans(count);
      build::Bytes bytes = Device::allgather(ranks, me);
      EXPECT_EQ(device.open(b, &mine), 0);
      EXPECT_EQ(nbc_comm_create(&b, &mine, 1, &comm), 0);
      for (nbc_plan *&p : plans) {
        EXPECT_EQ(nbc_plan_create(comm, bytes.data(), bytes.size(), &options, &p), 0);
        EXPECT_EQ(nbc_plan_connect(p), 0);
      }
      run(me, comm, plans);
      b.fence(b.context);
      for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_free(p), 0);
      EXPECT_EQ(nbc_comm_free(comm), 0);
    });
  }
};
using Devices = testing::Types<Adapters, Endpoints, SharedMemory, Connections>;
TYPED_TEST_SUITE(Promises, Devices);

TYPED_TEST(Promises, aRankMayBeAHundredCallsAhead) {
  constexpr int ranks = 3, ahead = 100;
  std::latch rank0Started(1);
  this->onRanks(ranks, 1, {.eager_bytes = 64}, [&](int me, nbc_comm *, auto &plans) {
    std::vector<Gather> calls;
    for (int i = 0; i < ahead; ++i) calls.emplace_back(me, ranks, i);
    if (me != 0) rank0Started.wait();
    for (Gather &g : calls) EXPECT_EQ(g.start(plans[0]), 0);
    if (me == 0) rank0Started.count_down();
    for (Gather &g : calls) {
      EXPECT_EQ(nbc_wait(&g.request), 0);
      EXPECT_TRUE(g.right()) << "rank " << me << " call " << g.salt;
    }
  });
}

TYPED_TEST(Promises, sixtyFourCallsOfOnePlanAreUnderWayAtOnce) {
  constexpr int ranks = 2, flights = 64;
  this->onRanks(ranks, 1, {.depth = flights, .eager_bytes = 64},
                [&](int me, nbc_comm *, auto &plans) {
                  std::vector<Gather> calls;
                  for (int i = 0; i < 2 * flights; ++i) calls.emplace_back(me, ranks, i);
                  for (int from : {0, flights}) {
                    for (int i = from; i < from + flights; ++i)
                      EXPECT_EQ(calls[size_t(i)].start(plans[0]), 0);
                    // In whatever order a program waits: here the last one first.
                    for (int i = from + flights; i-- > from;)
                      EXPECT_EQ(nbc_wait(&calls[size_t(i)].request), 0);
                  }
                  for (const Gather &g : calls)
                    EXPECT_TRUE(g.right()) << "rank " << me << " call " << g.salt;
                  nbc_plan_info info;
                  nbc_plan_query(plans[0], &info);
                  EXPECT_EQ(info.depth, uint32_t(flights));
                  EXPECT_EQ(info.calls, uint64_t(2 * flights));
                  EXPECT_EQ(info.queued, 0u);  // the device had room for all
                });
}

TYPED_TEST(Promises, fourThreadsOfARankEachHaveAPlan) {
  constexpr int ranks = 2, each = 4, calls = 100;
  this->onRanks(ranks, each, {.eager_bytes = 64}, [&](int me, nbc_comm *, auto &plans) {
    std::vector<std::thread> threads;
    for (int t = 0; t < each; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < calls; ++i) {
          Gather g(me, ranks, t * calls + i);
          EXPECT_EQ(g.start(plans[size_t(t)]), 0);
          EXPECT_EQ(nbc_wait(&g.request), 0);
          EXPECT_TRUE(g.right()) << "rank " << me << " thread " << t << " call " << i;
        }
      });
    for (std::thread &t : threads) t.join();
  });
}

TYPED_TEST(Promises, whatEndsInTheWrongOrderIsACode) {
  constexpr int ranks = 2;
  std::latch refused(1);
  this->onRanks(ranks, 1, {.eager_bytes = 64}, [&](int me, nbc_comm *comm, auto &plans) {
    Gather g(me, ranks, 4);
    if (me == 1) refused.wait();
    EXPECT_EQ(g.start(plans[0]), 0);
    if (me == 0) {  // the other rank has not started: the call cannot be done
      int done = 1;
      EXPECT_EQ(nbc_test(&g.request, &done), 0);
      EXPECT_EQ(done, 0);
      EXPECT_EQ(nbc_plan_free(plans[0]), NBC_ERROR_BUSY);
      EXPECT_EQ(nbc_comm_free(comm), NBC_ERROR_BUSY);
      EXPECT_EQ(nbc_plan_connect(plans[0]), NBC_ERROR_ARGUMENT);
      refused.count_down();
    }
    // Nothing has happened to the call.
    EXPECT_EQ(nbc_wait(&g.request), 0);
    EXPECT_TRUE(g.right());
    EXPECT_EQ(nbc_comm_free(comm), NBC_ERROR_BUSY);
  });
}

TEST(Promises, aRequestOutlivesThePlanOfACallThatIsDone) {
  nbc_request requests[2];
  uint8_t in[2] = {3, 4}, out[2] = {};
  {
    MessageWorld w(1, build::ringAllgather(1));
    for (size_t i : {0, 1}) {
      nbc_call call = {.in = &in[i], .out = &out[i], .count = 1};
      ASSERT_EQ(nbc_start(w.plans[0], &call, &requests[i]), 0);
    }
    EXPECT_EQ(nbc_wait(&requests[1]), 0);  // so the first is done, too
  }
  int done = 0;
  EXPECT_EQ(nbc_test(&requests[0], &done), 0);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 4);
}

TEST(Promises, aRequestOfNoCallIsDone) {
  nbc_request request = {};
  int done = 0;
  EXPECT_EQ(nbc_test(&request, &done), 0);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(nbc_wait(&request), 0);
  EXPECT_EQ(nbc_test(nullptr, &done), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_test(&request, nullptr), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_wait(nullptr), NBC_ERROR_ARGUMENT);
}

TEST(Promises, aFailureIsToldOnceForEachCall) {
  MessageWorld w(2, build::ringAllgather(2));
  uint8_t in = 1, out[2][2];
  nbc_request requests[2], more;
  for (size_t i : {0, 1}) {
    nbc_call call = {.in = &in, .out = out[i], .count = 1};
    ASSERT_EQ(nbc_start(w.plans[0], &call, &requests[i]), 0);
  }
  EXPECT_EQ(nbc_plan_abandon(w.plans[0]), 0);
  EXPECT_EQ(nbc_plan_abandon(w.plans[0]), 0);  // it stays so
  EXPECT_EQ(nbc_plan_abandon(nullptr), NBC_ERROR_ARGUMENT);
  nbc_call call = {.in = &in, .out = out[0], .count = 1};
  EXPECT_EQ(nbc_start(w.plans[0], &call, &more), NBC_ERROR_ABANDONED);
  int done = 0;
  EXPECT_EQ(nbc_test(&requests[0], &done), NBC_ERROR_ABANDONED);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(nbc_test(&requests[0], &done), 0);
  EXPECT_EQ(nbc_wait(&requests[1]), NBC_ERROR_ABANDONED);
  EXPECT_EQ(nbc_wait(&requests[1]), 0);
}

TEST(Promises, aPlanIsForItsRankAndConnectedBeforeItsFirstCall) {
  Board board;
  Board::Context context = {&board, 0};
  p2p::Fabric fabric;
  nbc_device *device = &fabric.addEndpoint()->device;
  nbc_bootstrap b = {0, 2, &context, Board::put, Board::get, nullptr};
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  ASSERT_EQ(nbc_comm_create(&b, &device, 1, &comm), 0);
  build::Bytes mine = build::ringAllgather(2, 0), others = build::ringAllgather(2, 1),
               more = build::ringAllgather(3, 0);
  auto create = [&](const build::Bytes &t, nbc_plan_options options = {}) {
    return nbc_plan_create(comm, t.data(), t.size(), &options, &plan);
  };
  EXPECT_EQ(create(others), NBC_ERROR_TEMPLATE);
  EXPECT_EQ(create(more), NBC_ERROR_TEMPLATE);
  EXPECT_EQ(create(mine, {.depth = 1025}), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_plan_create(comm, mine.data(), mine.size() - 8, nullptr, &plan),
            NBC_ERROR_TEMPLATE);
  EXPECT_EQ(nbc_plan_create(nullptr, mine.data(), mine.size(), nullptr, &plan), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(plan, nullptr);

  ASSERT_EQ(create(mine, {.depth = 1024}), 0);
  uint8_t in = 0, out[2];
  nbc_call call = {.in = &in, .out = out, .count = 1};
  nbc_request request;
  EXPECT_EQ(nbc_start(plan, &call, &request), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_plan_connect(plan), NBC_ERROR_BOOTSTRAP);  // nobody is there: `get` fails
  EXPECT_EQ(nbc_start(plan, &call, &request), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_plan_connect(nullptr), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_plan_free(plan), 0);
  EXPECT_EQ(nbc_plan_free(nullptr), 0);
  EXPECT_EQ(nbc_comm_free(comm), 0);
}

}  // namespace
