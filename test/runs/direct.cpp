// SPDX-License-Identifier: BSD-3-Clause
// direct.cpp - plans for one call: again and again with other contents, what is refused, and that
// no receive is missing.
//
// That all algorithms are right with protocol direct, adversarial.test shows; that ranks may die
// in the middle, kill.cpp, of the other protocols.

#include <gtest/gtest.h>

#include <functional>

#include "compiler/driver/exchange.h"
#include "devices/hca/hca.h"
#include "nbc/template.h"
#include "test/runs/compiled.h"

namespace nbcc {
namespace {

constexpr size_t kMost = 40;  // elements of a block

struct Rank {
  Exchange::End end{};
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  std::vector<int64_t> in, out;
  nbc_call call{};
  nbc_request request{};
  int started = 0, done = 0, status = 0;
};

/// Ranks whose plans are made by connect(), so that a test may change their calls before.
class World {
 public:
  Compiled compiled;
  Exchange exchange;
  hca::Fabric fabric;
  std::vector<Rank> ranks;
  bool direct;
  std::vector<std::vector<uint32_t>> made;  // by rank: queue pairs, in the order of the template

  World(const char *algorithm, int64_t count, size_t elements, uint64_t seed,
        Protocol protocol = Protocol::direct)
      : compiled(algorithm, count, protocol),
        exchange(static_cast<int>(count)),
        fabric({.mode = hca::Mode::Simulated, .seed = seed, .adversarial = seed != 0}),
        ranks(static_cast<size_t>(count)),
        direct(protocol == Protocol::direct) {
    EXPECT_EQ(compiled.said.str(), "");
    for (size_t r = 0; r < ranks.size(); ++r) {
      Rank &rank = ranks[r];
      rank.end = {&exchange, static_cast<int>(r)};
      rank.in.resize(ranks.size() * kMost);
      rank.out.resize(ranks.size() * kMost);
      rank.call = {.in = rank.in.data(),
                   .out = rank.out.data(),
                   .data = rank.out.data(),
                   .count = elements,
                   .type = NBC_I64,
                   .op = NBC_SUM};
      nbc_bootstrap b = exchange.bootstrap(&rank.end, false);
      nbc_hca *hca = fabric.addAdapter();
      observe(hca);
      nbc_device *device = &hca->device;
      EXPECT_EQ(nbc_comm_create(&b, &device, 1, &rank.comm), 0);
    }
  }
  ~World() {
    self = nullptr;
    for (Rank &rank : ranks) {
      if (rank.plan) {
        nbc_plan_abandon(rank.plan);
      }
      EXPECT_EQ(nbc_plan_free(rank.plan), 0);
    }
    for (Rank &rank : ranks) EXPECT_EQ(nbc_comm_free(rank.comm), 0);
  }

  int create(size_t r, const nbc_plan_options &options) {
    const Template &t = compiled.templates[r];
    return nbc_plan_create(ranks[r].comm, t.data(), t.bytes, &options, &ranks[r].plan);
  }
  void connect() {
    for (size_t r = 0; r < ranks.size(); ++r)
      ASSERT_EQ(create(r, {.eager_bytes = 64, .call = direct ? &ranks[r].call : nullptr}), 0)
          << nbc_plan_why();
    for (Rank &rank : ranks) ASSERT_EQ(nbc_plan_connect(rank.plan), 0);
  }

  static int64_t value(size_t rank, int call, size_t i) {
    return static_cast<int64_t>(rank * 1000000 + static_cast<size_t>(call) * 1000 + i + 1);
  }

  /// Of an allgather.
  void start(size_t r) {
    Rank &rank = ranks[r];
    for (size_t i = 0; i < rank.call.count; ++i) rank.in[i] = value(r, rank.started, i);
    std::fill(rank.out.begin(), rank.out.end(), -1);
    // With the call, or without: there is but one.
    const bool named = !direct || rank.started % 2;
    rank.status = nbc_start(rank.plan, named ? &rank.call : nullptr, &rank.request);
    EXPECT_EQ(rank.status, 0);
    ++rank.started;
  }

  void look(size_t r, int calls) {
    Rank &rank = ranks[r];
    int done = 0;
    if (rank.status || rank.done == rank.started) return;
    rank.status = nbc_test(&rank.request, &done);
    if (!done || rank.status) return;
    for (size_t i = 0; i < ranks.size() * rank.call.count; ++i)
      ASSERT_EQ(rank.out[i], value(i / rank.call.count, rank.done, i % rank.call.count))
          << "rank " << r << ", call " << rank.done << ", element " << i;
    if (++rank.done < calls) start(r);
  }

  /// So many calls, one behind the other; hosts that sleep look when nothing else happens.
  void run(int calls, const std::function<bool(size_t)> &sleeps = [](size_t) { return false; }) {
    for (size_t r = 0; r < ranks.size(); ++r) start(r);
    settle(calls, sleeps);
  }
  void settle(int calls, const std::function<bool(size_t)> &sleeps) {
    for (uint64_t before = UINT64_MAX; before != fabric.counters().events;) {
      before = fabric.counters().events;
      fabric.run([&](const hca::Completion &c) {
        if (!sleeps(c.rank)) look(c.rank, calls);
        return true;
      });
      for (int i = 0; i < 40; ++i)  // as many looks as there are queues
        for (size_t r = 0; r < ranks.size(); ++r) look(r, calls);
    }
  }

  uint64_t missing() const {
    const hca::Counters n = fabric.counters();
    return n.rnrNaks - n.forcedRnr;
  }

 private:
  void observe(nbc_hca *hca) {
    below = hca->ops;
    ops = *below;
    ops.create_qp = [](nbc_hca *h, const nbc_hca_qp_request *request, nbc_hca_qp *qp) {
      const int status = below->create_qp(h, request, qp);
      if (self && !status) {
        for (size_t r = 0; r < self->adapters.size(); ++r)
          if (self->adapters[r] == h) self->made[r].push_back(qp->number);
      }
      return status;
    };
    hca->ops = &ops;
    self = this;
    adapters.push_back(hca);
    made.emplace_back();
  }
  std::vector<nbc_hca *> adapters;
  nbc_hca_ops ops{};
  static inline const nbc_hca_ops *below = nullptr;
  static inline World *self = nullptr;
};

TEST(Direct, isRightAgainAndAgain) {
  for (const char *algorithm : {"allgather/ring", "allgather/bruck", "allgather/linear"})
    for (const int64_t ranks : {1, 2, 3, 5})
      for (const size_t elements : {size_t{0}, size_t{1}, kMost})
        for (const uint64_t seed : {0, 1, 2}) {
          World w(algorithm, ranks, elements, seed);
          w.connect();
          w.run(9, [](size_t rank) { return rank == 1; });
          for (const Rank &rank : w.ranks)
            EXPECT_EQ(rank.done, 9) << algorithm << " on " << ranks << ", seed " << seed;
          EXPECT_EQ(w.missing(), 0u) << algorithm;
          EXPECT_TRUE(w.fabric.findings().empty()) << w.fabric.findings()[0];
          nbc_plan_info info;
          nbc_plan_query(w.ranks[0].plan, &info);
          EXPECT_EQ(info.direct, 9u);
          EXPECT_EQ(info.depth, 1u);
        }
}

/// The receiver of a message is in its next call, and has said so, before the sender's host has
/// seen the end of this one.
TEST(Direct, oneReceiveMoreIsUsed) {
  for (const uint32_t taken : {0u, 1u}) {
    World w("allgather/ring", 2, 1, 0);
    w.connect();
    const nbc_template &t = *static_cast<const nbc_template *>(w.compiled.templates[0].data());
    const auto *queues = reinterpret_cast<const nbc_queue *>(
        static_cast<const char *>(w.compiled.templates[0].data()) + t.queues.offset);
    for (uint32_t q = 0; q < t.queues.count; ++q)
      if (queues[q].kind == NBC_QUEUE_DIRECT) w.fabric.dropReceives(w.made[0][q], taken);
    w.run(5, [](size_t rank) { return rank == 0; });
    EXPECT_EQ(w.ranks[0].done, 5);
    EXPECT_EQ(w.missing() > 0, taken > 0) << taken;
  }
}

TEST(Direct, servesOneCallAtATime) {
  World w("allgather/ring", 3, 4, 0);
  w.connect();
  for (size_t r = 0; r < 3; ++r) w.start(r);
  Rank &rank = w.ranks[0];
  nbc_request second{};
  EXPECT_EQ(nbc_start(rank.plan, nullptr, &second), NBC_ERROR_BUSY);
  EXPECT_EQ(nbc_plan_free(rank.plan), NBC_ERROR_BUSY);
  w.settle(1, [](size_t) { return false; });
  EXPECT_EQ(rank.done, 1);
  EXPECT_EQ(nbc_test(&second, &rank.started), 0);  // it is of no call
}

TEST(Direct, refusesAnotherCall) {
  World w("allgather/ring", 2, 4, 0);
  w.connect();
  Rank &rank = w.ranks[0];
  const auto refused = [&](auto change) {
    nbc_call other = rank.call;
    change(other);
    EXPECT_EQ(nbc_start(rank.plan, &other, &rank.request), NBC_ERROR_ARGUMENT);
  };
  refused([](nbc_call &c) { c.in = static_cast<const int64_t *>(c.in) + 1; });
  refused([](nbc_call &c) { c.out = static_cast<int64_t *>(c.out) + 1; });
  refused([](nbc_call &c) { c.in = NBC_IN_PLACE; });
  refused([](nbc_call &c) { --c.count; });
  refused([](nbc_call &c) { c.type = NBC_F64; });
  // Who has no such buffer may say anything, and operators are the host's.
  nbc_call same = rank.call;
  same.data = nullptr;
  same.op = NBC_MAX;
  EXPECT_EQ(nbc_start(rank.plan, &same, &rank.request), 0);
}

TEST(Direct, holdsTheMemoryThatPeersWereTold) {
  World w("allgather/ring", 2, 4, 0);
  w.connect();
  Rank &rank = w.ranks[0];
  EXPECT_EQ(nbc_deregister(rank.comm, rank.out.data(), 8), NBC_ERROR_BUSY);
  EXPECT_EQ(nbc_plan_free(rank.plan), 0);
  rank.plan = nullptr;
  EXPECT_EQ(nbc_deregister(rank.comm, rank.out.data(), 8), 0);
}

TEST(Direct, isForPlansOfOneCall) {
  World w("allgather/ring", 2, 4, 0);
  EXPECT_EQ(w.create(0, {}), NBC_ERROR_ARGUMENT);
  EXPECT_NE(std::string(nbc_plan_why()).find("for one call"), std::string::npos);
  World any("allgather/ring", 2, 4, 0, Protocol::rendezvous);
  EXPECT_EQ(any.create(0, {.call = &any.ranks[0].call}), NBC_ERROR_ARGUMENT);
  EXPECT_NE(std::string(nbc_plan_why()).find("not direct"), std::string::npos);
}

/// Ranks that do not agree: nobody may write as much as the other has no place for.
TEST(Direct, isRefusedWhereRanksDiffer) {
  const auto refused = [](auto make) {
    World w("allgather/ring", 2, 4, 0);
    make(w);
    for (Rank &rank : w.ranks) EXPECT_EQ(nbc_plan_connect(rank.plan), NBC_ERROR_ARGUMENT);
  };
  refused([](World &w) {  // as long as the other's in bytes only together with its count
    w.ranks[1].call.count = 5;
    for (size_t r : {0u, 1u}) EXPECT_EQ(w.create(r, {.call = &w.ranks[r].call}), 0);
  });
  refused([](World &w) {  // another protocol, so persistent on one rank only
    EXPECT_EQ(w.create(0, {.call = &w.ranks[0].call}), 0);
    Compiled other("allgather/ring", 2, Protocol::rendezvous);
    const Template &t = other.templates[1];
    EXPECT_EQ(nbc_plan_create(w.ranks[1].comm, t.data(), t.bytes, nullptr, &w.ranks[1].plan), 0);
  });
}

/// What a peer tells is compared with what would be sent there.
TEST(Direct, believesNoPlaceOfAnotherLength) {
  const auto told = [](uint64_t less, size_t cut) {
    World w("allgather/ring", 2, 4, 0);
    for (size_t r : {0u, 1u}) EXPECT_EQ(w.create(r, {.call = &w.ranks[r].call}), 0);
    const nbc_bootstrap liar = w.exchange.bootstrap(&w.ranks[1].end, false);
    uint64_t place[3];  // address, length, key
    size_t bytes = 0;
    EXPECT_EQ(liar.get(liar.context, 1, "nbc.0.0.at.0", place, sizeof place, &bytes), 0);
    EXPECT_EQ(bytes, sizeof place);
    EXPECT_EQ(place[1], 4 * sizeof(int64_t));
    place[1] -= less;
    EXPECT_EQ(liar.put(liar.context, "nbc.0.0.at.0", place, bytes - cut), 0);
    return nbc_plan_connect(w.ranks[0].plan);
  };
  EXPECT_EQ(told(0, 0), 0);
  EXPECT_EQ(told(1, 0), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(told(0, 8), NBC_ERROR_BOOTSTRAP);
}

/// A rank dies. Who sends to it is told; and whoever is not, third ranks too, has the right bytes
/// in each call that ended: what never came is not sent on. That is asked of all protocols.
int killed(const char *algorithm, int64_t ranks, Protocol protocol, uint64_t events) {
  World w(algorithm, ranks, 3, events, protocol);
  w.connect();
  for (size_t r = 0; r < w.ranks.size(); ++r) w.start(r);
  w.fabric.run([&](const hca::Completion &) { return true; }, {.events = events});
  w.fabric.kill(1);
  w.settle(2, [](size_t) { return false; });
  int learnt = 0;
  for (size_t r = 0; r < w.ranks.size(); ++r) {
    Rank &rank = w.ranks[r];
    if (r == 1) continue;
    EXPECT_TRUE(rank.status == 0 || rank.status == NBC_ERROR_DEVICE) << rank.status;
    learnt += rank.status == NBC_ERROR_DEVICE;
    if (rank.status) {
      EXPECT_EQ(nbc_start(rank.plan, &rank.call, &rank.request), NBC_ERROR_DEVICE);
    }
  }
  return learnt;
}

TEST(Direct, whoSendsToTheDeadLearnsOfIt) {
  int learnt = 0;
  for (const char *algorithm : {"allgather/ring", "allgather/bruck", "allgather/linear"})
    for (uint64_t events = 0; events < 90; events += 7)
      learnt += killed(algorithm, 4, Protocol::direct, events);
  EXPECT_GT(learnt, 20);
}

TEST(Direct, norDoOtherProtocolsSendOnWhatNeverCame) {
  for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous})
    for (uint64_t events = 0; events < 90; events += 7)
      killed("allgather/standard_exchange", 4, protocol, events);
}

}  // namespace
}  // namespace nbcc
