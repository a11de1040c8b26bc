// SPDX-License-Identifier: BSD-3-Clause
// kill.cpp - a rank's adapter dies while others are in the middle of a call.
//
// Whoever has sent it something learns of it: the queue pair gives up, and every call of the
// plan ends with NBC_ERROR_DEVICE, whether one tests or waits; then the plan can be freed.
// Who only waits for messages learns nothing: a reliable connection on which nothing is sent
// does not fail. Such a call stays under way; that is the hardware's, and checked to be so:
// none of that rank's queue pairs has failed.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "compiler/driver/exchange.h"
#include "devices/hca/hca.h"
#include "test/runs/compiled.h"

namespace nbcc {
namespace {

/// The queue pairs that were made on each adapter: seen on their way to it.
struct Observed {
  std::map<nbc_hca *, std::set<uint32_t>> made;
  nbc_hca_ops ops{};
  const nbc_hca_ops *below = nullptr;

  void observe(nbc_hca *hca) {
    below = hca->ops;
    ops = *below;
    ops.create_qp = [](nbc_hca *h, const nbc_hca_qp_request *request, nbc_hca_qp *qp) {
      int status = self->below->create_qp(h, request, qp);
      if (!status) self->made[h].insert(qp->number);
      return status;
    };
    self = this;
    hca->ops = &ops;
  }
  bool failed(nbc_hca *hca) const {
    for (uint32_t number : made.at(hca))
      if (below->failed(hca, number)) return true;
    return false;
  }
  static inline Observed *self = nullptr;
};

constexpr int kCalls = 3;

struct Rank {
  Exchange::End end{};
  nbc_hca *hca = nullptr;
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  std::vector<int64_t> in, out;
  nbc_request requests[kCalls] = {};
  int status[kCalls] = {1, 1, 1};  // 1: not done

  void start() {
    for (nbc_request &r : requests) {
      nbc_call call{};
      call.in = in.data();
      call.out = out.data();
      call.data = out.data();
      call.count = 3;
      call.type = NBC_I64;
      call.op = NBC_SUM;
      ASSERT_EQ(nbc_start(plan, &call, &r), 0);
    }
  }
  void test() {
    for (int i = 0; i < kCalls; ++i) {
      if (status[i] <= 0) continue;
      int done = 0, result = nbc_test(&requests[i], &done);
      if (done) status[i] = result;
    }
  }
  bool over() const { return status[0] <= 0 && status[1] <= 0 && status[2] <= 0; }
};

struct World {
  Compiled compiled;
  Exchange exchange;
  std::unique_ptr<hca::Fabric> fabric;
  Observed observed;
  std::vector<Rank> ranks;

  World(const char *algorithm, int64_t count, Protocol protocol, hca::Mode mode, uint64_t seed)
      : compiled(algorithm, count, protocol),
        exchange(static_cast<int>(count)),
        fabric(std::make_unique<hca::Fabric>(
            hca::Options{.mode = mode, .seed = seed, .adversarial = seed != 0})),
        ranks(static_cast<size_t>(count)) {
    EXPECT_EQ(compiled.said.str(), "");
    for (size_t r = 0; r < ranks.size(); ++r) {
      Rank &rank = ranks[r];
      rank.end = {&exchange, static_cast<int>(r)};
      rank.in.assign(ranks.size() * 3, 7);
      rank.out.assign(ranks.size() * 3, 0);
      rank.hca = fabric->addAdapter();
      observed.observe(rank.hca);
      nbc_bootstrap b = exchange.bootstrap(&rank.end, false);
      nbc_device *device = &rank.hca->device;
      EXPECT_EQ(nbc_comm_create(&b, &device, 1, &rank.comm), 0);
      nbc_plan_options options{};
      options.depth = 1;
      options.eager_bytes = 64;
      const Template &t = compiled.templates[r];
      EXPECT_EQ(nbc_plan_create(rank.comm, t.data(), t.bytes, &options, &rank.plan), 0);
    }
    for (Rank &rank : ranks) EXPECT_EQ(nbc_plan_connect(rank.plan), 0);
  }

  /// Calls that nothing can end any more are abandoned; then everything can be freed.
  ~World() {
    for (Rank &rank : ranks) {
      rank.hca->ops = observed.below;
      if (!rank.over()) {
        EXPECT_EQ(nbc_plan_free(rank.plan), NBC_ERROR_BUSY);
        EXPECT_EQ(nbc_plan_abandon(rank.plan), 0);
        rank.test();
        EXPECT_TRUE(rank.over());
        EXPECT_EQ(rank.status[kCalls - 1], NBC_ERROR_ABANDONED);
        nbc_call call{};
        EXPECT_EQ(nbc_start(rank.plan, &call, &rank.requests[0]), NBC_ERROR_ABANDONED);
      }
      EXPECT_EQ(nbc_plan_free(rank.plan), 0);
      EXPECT_EQ(nbc_comm_free(rank.comm), 0);
    }
  }

  /// Until nothing is left to happen, and nothing comes of looking: often enough to have
  /// looked at every queue, since nbc_test looks at one a time.
  void settle() {
    for (uint64_t before = UINT64_MAX; before != fabric->counters().events;) {
      before = fabric->counters().events;
      fabric->run([&](const hca::Completion &c) {
        ranks[c.rank].test();
        return true;
      });
      for (int i = 0; i < 200; ++i)
        for (Rank &rank : ranks) rank.test();
    }
  }
};

/// Kills rank 1 of 5 after some events; returns how many of the others learnt of it.
int killed(const char *algorithm, Protocol protocol, uint64_t events, uint64_t seed) {
  constexpr size_t kDead = 1;
  World w(algorithm, 5, protocol, hca::Mode::Simulated, seed);
  for (Rank &rank : w.ranks) rank.start();
  w.fabric->run(
      [&](const hca::Completion &c) {
        w.ranks[c.rank].test();
        return true;
      },
      {.events = events});
  w.fabric->kill(kDead);
  w.settle();
  int learnt = 0;
  for (size_t r = 0; r < w.ranks.size(); ++r) {
    Rank &rank = w.ranks[r];
    if (r == kDead) continue;
    bool device = false;
    for (int status : rank.status) {
      if (status <= 0) {
        EXPECT_TRUE(status == 0 || status == NBC_ERROR_DEVICE) << status;
      }
      if (device) {
        EXPECT_EQ(status, NBC_ERROR_DEVICE) << "a call after one that failed";
      }
      device |= status == NBC_ERROR_DEVICE;
    }
    learnt += device;
    // A plan that has failed has given its queue pairs back.
    if (!rank.over()) {
      EXPECT_FALSE(w.observed.failed(rank.hca))
          << algorithm << ": rank " << r
          << " tests for ever though a queue pair has failed, killed after " << events
          << " events, seed " << seed;
    }
    if (device) {
      nbc_call call{};
      nbc_request request{};
      EXPECT_EQ(nbc_start(rank.plan, &call, &request), NBC_ERROR_DEVICE);
    }
  }
  return learnt;
}

TEST(Kill, WhoSendsToTheDeadLearnsOfIt) {
  for (const char *algorithm : {"allgather/ring", "allgather/bruck", "allreduce/recursive_doubling",
                                "alltoall/linear", "bcast/binomial", "barrier/dissemination"})
    for (Protocol protocol : {Protocol::eager, Protocol::rendezvous}) {
      int learnt = 0;
      for (uint64_t events = 0; events < 120; events += 9)
        learnt += killed(algorithm, protocol, events, events);
      EXPECT_GT(learnt, 0) << algorithm;
    }
}

TEST(Kill, NobodyWaitsForEverForWhomItHasSentTo) {
  for (Protocol protocol : {Protocol::eager, Protocol::rendezvous}) {
    World w("allgather/ring", 2, protocol, hca::Mode::RealTime, 0);
    w.fabric->kill(1);
    Rank &rank = w.ranks[0];
    rank.start();
    std::thread([&] {
      for (int i = 0; i < kCalls; ++i) rank.status[i] = nbc_wait(&rank.requests[i]);
    }).join();
    for (int status : rank.status) EXPECT_EQ(status, NBC_ERROR_DEVICE);
    for (int &status : w.ranks[1].status) status = 0;  // has started nothing
  }
}

}  // namespace
}  // namespace nbcc
