// SPDX-License-Identifier: BSD-3-Clause
// What cannot be is refused when the plan is made; whoever is gone is missed.

#include <chrono>
#include <thread>

#include "test/runtime/gather.h"
#include "test/runtime/verbs/world.h"

namespace {

/// Of the two ranks.
using Each = std::vector<verbs::Options>;

build::Bytes ring(uint32_t rank) {
  return forVerbs(build::ringAllgather(2, rank));
}

int create(nbc_comm *comm, uint32_t rank, nbc_plan_options options, nbc_plan **plan) {
  const build::Bytes b = ring(rank);
  return nbc_plan_create(comm, b.data(), b.size(), &options, plan);
}

TEST(VerbsFaults, bothEndsHaveToMoveLongMessagesAlike) {
  VerbsWorld w(Each{{}, {.rendezvous = NBC_VERBS_READ}});
  nbc_plan *plans[2];
  for (uint32_t r : {0u, 1u}) ASSERT_EQ(create(w.comms[r], r, {}, &plans[r]), 0);
  for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_connect(p), NBC_ERROR_ARGUMENT);
  for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_free(p), 0);
}

TEST(VerbsFaults, neitherEndSendsMoreAtOnceThanTheOtherTakes) {
  uint64_t messages[2] = {};
  for (int few : {0, 1}) {
    VerbsWorld w(Each{{.longest = few ? 5000u : 1u << 30}, {.gather = 2, .inlineBytes = 0}});
    w.addPlans(ring);
    gatherAll(w, {20000});
    messages[few] = w.fabric.counters().messages;
  }
  EXPECT_EQ(messages[1], messages[0] + 2 * 3);  // four writes for one, in both directions
}

TEST(VerbsFaults, aCardThatIsNoneIsRefused) {
  const std::function<void(std::vector<uint8_t> &)> damages[] = {
      [](auto &c) { c.pop_back(); },
      [](auto &c) { c.push_back(0); },
      [](auto &c) { std::memset(&c[c.size() - 88], 0, 8); },     // the longest message
      [](auto &c) { std::memset(&c[c.size() - 68], 0xff, 4); },  // slots
      [](auto &c) { std::memset(&c[c.size() - 56], 0xff, 4); },  // rails
      [](auto &c) { std::memset(&c[c.size() - 52], 1, 1); },     // rail
  };
  for (const auto &damage : damages) {
    VerbsWorld w(2);
    nbc_plan *plans[2];
    for (uint32_t r : {0u, 1u}) ASSERT_EQ(create(w.comms[r], r, {}, &plans[r]), 0);
    damage(w.board.entries.at({1, "nbc.0.0"}));
    EXPECT_EQ(nbc_plan_connect(plans[0]), NBC_ERROR_BOOTSTRAP) << &damage - damages;
    for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_free(p), 0);
  }
}

TEST(VerbsFaults, anAdapterThatCannotReadIsRefusedForThat) {
  VerbsWorld w(1);
  verbs::Device device =
      verbs::deviceOn(w.fabric.addAdapter(), {.rendezvous = NBC_VERBS_READ, .reads = 0});
  nbc_bootstrap b = {0, 1, nullptr, nullptr, nullptr, nullptr};
  nbc_device *devices[] = {&device->device};
  nbc_comm *comm = nullptr;
  EXPECT_EQ(nbc_comm_create(&b, devices, 1, &comm), NBC_ERROR_ARGUMENT);
}

TEST(VerbsFaults, queuesFitIntoWhatTheAdapterHasOrAreRefused) {
  nbc_plan *plan = nullptr;
  // Of a ring of two a call has one message each way: 2 for control, 3 credits, 2 slots, 8
  // requests.
  for (uint32_t completions : {14u, 15u, 1000u}) {
    VerbsWorld w(2, {.completions = completions});
    if (completions < 15) {
      EXPECT_EQ(create(w.comms[0], 0, {.depth = 1}, &plan), NBC_ERROR_RESOURCES);
    } else {
      w.addPlans(ring, {.depth = 1});
      gatherAll(w, {1, 5000, 0, 7, 7, 7, 20000});
    }
  }
  VerbsWorld tight(2, {.completions = 100});
  tight.addPlans(ring, {.depth = 64});
  gatherAll(tight, std::vector<size_t>(80, 100));
  VerbsWorld few(2, {.queue = 7}), brief(2, {.longest = 2000});
  EXPECT_EQ(create(few.comms[0], 0, {}, &plan), NBC_ERROR_RESOURCES);
  EXPECT_EQ(create(brief.comms[0], 0, {.eager_bytes = 2001}, &plan), NBC_ERROR_RESOURCES);
}

TEST(VerbsFaults, slotsTakeNoMoreThanTheyMay) {
  nbc_plan_info info;
  size_t before = 0;
  for (size_t memory : {size_t(1) << 24, size_t(1) << 16, size_t(1)}) {
    VerbsWorld w(2);
    w.addPlans(ring, {.depth = 64, .eager_bytes = 1024, .slot_memory = memory});
    nbc_plan_query(w.plans[0], &info);
    if (before) {
      EXPECT_LT(info.memory, before);
    }
    before = info.memory;
    gatherAll(w, std::vector<size_t>(100, 1000));
  }
}

TEST(VerbsFaults, whereMemoryCannotBeRegisteredTheCallIsRefused) {
  VerbsWorld w(2);
  static const nbc_verbs_ops *ops;
  ops = w.devices[0]->ops;
  w.addPlans(ring, {.depth = 1});
  nbc_verbs_ops refusing = *ops;
  refusing.register_memory = [](nbc_verbs *, void *, size_t, int, void **, uint32_t *, uint32_t *) {
    return int(NBC_ERROR_RESOURCES);
  };
  w.devices[0]->ops = &refusing;
  std::vector<uint8_t> in(2000), out(4000);
  nbc_call call = {.in = in.data(), .out = out.data(), .count = 2000};
  nbc_request request;
  EXPECT_EQ(nbc_start(w.plans[0], &call, &request), NBC_ERROR_RESOURCES);
  w.devices[0]->ops = ops;
  gatherAll(w, {2000});  // nothing has happened
}

/// Rank 0 waits; rank 1 does not start, and is gone after a while if it is to be.
void waitInVain(nbc_verbs_rendezvous way, size_t bytes, bool gone) {
  VerbsWorld w(Each(2, {.rendezvous = way}), 0, hca::Mode::RealTime);
  w.healthy = false;
  w.addPlans(ring);
  std::vector<uint8_t> in(bytes),
      out[2] = {std::vector<uint8_t>(2 * bytes), std::vector<uint8_t>(2 * bytes)};
  nbc_request requests[2];
  const auto start = [&](size_t r) {
    nbc_call call = {.in = in.data(), .out = out[r].data(), .count = bytes};
    return nbc_start(w.plans[r], &call, &requests[r]);
  };
  ASSERT_EQ(start(0), 0);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(gone ? 100 : 600));
    if (gone) {
      w.fabric.kill(1);
    } else {
      EXPECT_EQ(start(1), 0);
      EXPECT_EQ(nbc_wait(&requests[1]), 0);
    }
  });
  EXPECT_EQ(nbc_wait(&requests[0]), gone ? NBC_ERROR_DEVICE : 0);
  other.join();
  if (gone) {
    EXPECT_EQ(start(0), NBC_ERROR_DEVICE);
  }
}

TEST(VerbsFaults, whoeverIsGoneIsMissed) {
  waitInVain(NBC_VERBS_WRITE, 10, true);
  waitInVain(NBC_VERBS_WRITE, 10000, true);
  waitInVain(NBC_VERBS_READ, 10000, true);
  waitInVain(NBC_VERBS_SEND, 10000, true);
  waitInVain(NBC_VERBS_DIRECT, 10000, true);
}

TEST(VerbsFaults, whoeverIsLateIsNot) {
  waitInVain(NBC_VERBS_WRITE, 10000, false);
  waitInVain(NBC_VERBS_SEND, 10000, false);
  waitInVain(NBC_VERBS_DIRECT, 10000, false);
}

}  // namespace
