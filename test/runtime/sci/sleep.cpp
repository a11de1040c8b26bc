// SPDX-License-Identifier: BSD-3-Clause
// Who waits sleeps, and is interrupted: where it sleeps, once, and never too late for ever.

#include <atomic>
#include <chrono>
#include <thread>

#include "nbc/sci_segment.h"
#include "test/runtime/gather.h"
#include "test/runtime/sci/world.h"
#include "test/runtime/traffic.h"

namespace {

using std::chrono::milliseconds;

constexpr int kPatience = 3;

nbc_sci_options sleeper(nbc_transfer way = NBC_TRANSFER_AUTO) {
  return {.transfer = way, .waiting = NBC_SCI_INTERRUPT, .patience = kPatience};
}

build::Bytes ring(uint32_t rank) {
  return build::ringAllgather(2, rank);
}

struct Gather {
  std::vector<uint8_t> in, out;
  nbc_request request = {};
  int start(nbc_plan *plan, uint32_t rank, size_t bytes) {
    in.assign(bytes, uint8_t(rank + 1));
    out.assign(2 * bytes, 0);
    nbc_call call = {.in = in.data(), .out = out.data(), .count = bytes};
    return nbc_start(plan, &call, &request);
  }
  bool right() const {
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i] != 1 + i / in.size()) return false;
    return true;
  }
};

uint64_t asleep(size_t segment) {
  uint64_t word;
  std::memcpy(&word, hooks.segments[segment] + NBC_SCI_ASLEEP, sizeof word);
  return word;
}

/// Looks in vain until the rank is ready to sleep, and all that it stored for that has arrived.
void fallAsleep(SciWorld &w, nbc_request &request) {
  for (int i = 0; i <= kPatience; ++i) {
    int done = 1;
    ASSERT_EQ(nbc_test(&request, &done), 0);
    ASSERT_FALSE(done);
    ASSERT_EQ(nbc_rest(&request, nullptr), 0);
  }
  w.fabric.run();
}

bool bothDone(SciWorld &w, Gather &a, Gather &b) {
  for (int looks = 0; looks < 10000; ++looks) {
    int done[2] = {};
    w.fabric.run({}, {.events = 10});
    EXPECT_EQ(nbc_test(&a.request, &done[0]), 0);
    EXPECT_EQ(nbc_test(&b.request, &done[1]), 0);
    if (done[0] && done[1]) return a.right() && b.right();
  }
  return false;
}

TEST(SciSleep, WhoSleepsIsInterruptedOnceAndNobodyElse) {
  for (bool sleeps : {true, false}) {
    SciWorld w({sleeper(), {}});
    w.addPlans(ring);
    Gather a, b;
    ASSERT_EQ(a.start(w.plans[0], 0, 10), 0);
    if (sleeps) fallAsleep(w, a.request);
    EXPECT_EQ(asleep(1) > 0, sleeps);
    EXPECT_EQ(w.fabric.counters().interrupts, 0u);
    ASSERT_EQ(b.start(w.plans[1], 1, 10), 0);
    w.fabric.run();
    EXPECT_EQ(w.fabric.counters().interrupts, uint64_t{sleeps});
    EXPECT_TRUE(bothDone(w, a, b));
    EXPECT_EQ(w.fabric.counters().interrupts, uint64_t{sleeps});
  }
}

TEST(SciSleep, WhatComesWhileItFallsAsleepIsSeen) {
  // The peer's words are there before it is told, so it does not interrupt.
  SciWorld w({sleeper(), {}});
  w.addPlans(ring);
  Gather a, b;
  ASSERT_EQ(a.start(w.plans[0], 0, 10), 0);
  for (int i = 0; i < kPatience; ++i) ASSERT_EQ(nbc_rest(&a.request, nullptr), 0);
  ASSERT_EQ(b.start(w.plans[1], 1, 10), 0);
  w.fabric.run();
  ASSERT_EQ(nbc_rest(&a.request, nullptr), 0);
  EXPECT_TRUE(a.right()) << "it was told, and did not look again";
  EXPECT_TRUE(bothDone(w, a, b));
  EXPECT_EQ(w.fabric.counters().interrupts, 0u);
}

TEST(SciSleep, EverySleepHasItsInterrupt) {
  SciWorld w({sleeper(), sleeper()});
  w.addPlans(ring);
  for (uint64_t n = 1; n <= 5; ++n) {
    Gather a, b;
    ASSERT_EQ(a.start(w.plans[0], 0, 10), 0);
    fallAsleep(w, a.request);
    ASSERT_EQ(b.start(w.plans[1], 1, 10), 0);
    EXPECT_TRUE(bothDone(w, a, b));
    EXPECT_EQ(w.fabric.counters().interrupts, n);
  }
}

TEST(SciSleep, AnInterruptThatIsRefusedIsTriedAgain) {
  SciWorld w({sleeper(), {}});
  w.addPlans(ring);
  Gather a, b;
  ASSERT_EQ(a.start(w.plans[0], 0, 10), 0);
  fallAsleep(w, a.request);
  hooks.refusals = 5;
  ASSERT_EQ(b.start(w.plans[1], 1, 10), 0);
  w.fabric.run();
  EXPECT_EQ(w.fabric.counters().interrupts, 1u);
  EXPECT_TRUE(bothDone(w, a, b));
}

// --- threads, in real time ---

struct Count {
  std::atomic<uint64_t> triggers = 0, dropped = 0;
  std::atomic<unsigned> dropOneOf = 0;  // so many interrupts; 0: none
};
Count count;

/// The software's functions, of which interrupts are counted, and some lost without a word.
void countTrigger(sci_remote_interrupt_t interrupt, unsigned flags, sci_error_t *error) {
  const uint64_t n = ++count.triggers;
  *error = SCI_ERR_OK;
  if (count.dropOneOf && n % count.dropOneOf == 0)
    ++count.dropped;
  else
    SCITriggerInterrupt(interrupt, flags, error);
}

const nbc_sci_api &counted() {
  static const nbc_sci_api all = [] {
    nbc_sci_api api = {
#define NBC_SCI_LINKED(name) .name = &::name,
        NBC_SCI_FUNCTIONS(NBC_SCI_LINKED)
#undef NBC_SCI_LINKED
    };
    api.SCITriggerInterrupt = countTrigger;
    return api;
  }();
  return all;
}

/// Each rank as a thread with a plan of its own: run(rank, plan).
template <class Make, class Run>
void onThreads(std::vector<nbc_sci_options> options, uint64_t seed, bool progress, Make make,
               Run run) {
  sisci::Fabric fabric({.seed = seed, .adversarial = seed != 0});
  count.triggers = count.dropped = 0;
  for (nbc_sci_options &o : options) o.adapter = fabric.addAdapter() + 1;
  asThreads(int(options.size()), [&](int me, const nbc_bootstrap &b) {
    nbc_device *device = nullptr;
    nbc_comm *comm = nullptr;
    nbc_plan *plan = nullptr;
    const char *why = "";
    ASSERT_EQ(nbc_sci_open_with(&counted(), &options[size_t(me)], &device, &why), 0) << why;
    ASSERT_EQ(nbc_comm_create(&b, &device, 1, &comm), 0);
    if (progress) {
      EXPECT_EQ(nbc_comm_progress(comm, NBC_PROGRESS_THREAD), 0);
    }
    const build::Bytes bytes = forSci(make(uint32_t(me)));
    const nbc_plan_options small = {.depth = 2, .eager_bytes = 192};
    EXPECT_EQ(nbc_plan_create(comm, bytes.data(), bytes.size(), &small, &plan), 0);
    EXPECT_EQ(nbc_plan_connect(plan), 0);
    run(uint32_t(me), plan);
    b.fence(b.context);
    EXPECT_EQ(nbc_plan_free(plan), 0);
    EXPECT_EQ(nbc_comm_free(comm), 0);
  });
}

TEST(SciSleep, ASleeperIsWokenByStoresAndTransfers) {
  for (nbc_transfer way : {NBC_TRANSFER_PIO, NBC_TRANSFER_DMA}) {
    onThreads({sleeper(way), sleeper(way)}, 0, false, ring, [&](uint32_t me, nbc_plan *plan) {
      for (int i = 0; i < 10; ++i) {
        Gather g;
        if (me == 1) std::this_thread::sleep_for(milliseconds(5));
        EXPECT_EQ(g.start(plan, me, 3000), 0);
        EXPECT_EQ(nbc_wait(&g.request), 0);
        EXPECT_TRUE(g.right());
      }
    });
    EXPECT_GT(count.triggers, 0u);
  }
}

/// Some hundred rounds of slots and credits, each of which has to wake a thread. One that is not
/// woken looks every 100 ms, so few rounds would be over when the program looks.
TEST(SciSleep, AThreadIsWokenForEachOfManyRounds) {
  for (nbc_transfer way : {NBC_TRANSFER_PIO, NBC_TRANSFER_DMA})
    onThreads({sleeper(way), sleeper(way)}, 0, true, ring, [&](uint32_t me, nbc_plan *plan) {
      Gather g;
      ASSERT_EQ(g.start(plan, me, 1 << 20), 0);
      int done = 0;
      for (int i = 0; i < 10 && !done; ++i) {
        std::this_thread::sleep_for(milliseconds(200));
        ASSERT_EQ(nbc_test(&g.request, &done), 0);
      }
      EXPECT_TRUE(done && g.right());
      if (!done) nbc_plan_abandon(plan), nbc_wait(&g.request);
    });
}

/// Calls of messages at random, each waited for, on ranks that sleep and ranks that do not; with an
/// adversary that loses stores, and interrupts that get lost, too.
TEST(SciSleep, WhateverIsLateOrLostNobodySleepsForEver) {
  uint64_t triggers = 0, dropped = 0;
  for (unsigned seed = 1; seed <= 24 && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const uint32_t ranks = 2 + random() % 3;
    const Traffic t(ranks, 1 + random() % 6, 1 + random() % 30, {0, 1, 191, 193, 4000}, 3, seed);
    std::vector<nbc_sci_options> options(ranks);
    for (nbc_sci_options &o : options) {
      if (random() % 3) o.waiting = NBC_SCI_INTERRUPT;
      o.transfer = nbc_transfer(random() % 3);
      o.dma_bytes = 1 + random() % 1000;
      o.patience = 1 + random() % 5;
    }
    count.dropOneOf = random() % 3 ? 0 : 2 + random() % 3;
    onThreads(
        options, seed, random() % 3 == 0, [&](uint32_t r) { return t.templateOf(r); },
        [&](uint32_t me, nbc_plan *plan) {
          std::mt19937 own(seed * 100 + me);
          for (uint32_t c = 0; c < 4; ++c) {
            std::vector<uint8_t> data = t.before(me, 1, c);
            nbc_request request;
            nbc_call call = {.data = data.data(), .count = data.size()};
            if (own() % 2) std::this_thread::sleep_for(milliseconds(own() % 4));
            ASSERT_EQ(nbc_start(plan, &call, &request), 0);
            ASSERT_EQ(nbc_wait(&request), 0);
            EXPECT_TRUE(data == t.after(me, 1, c)) << "rank " << me << " call " << c;
          }
        });
    triggers += count.triggers;
    dropped += count.dropped;
    if (HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
  count.dropOneOf = 0;
  EXPECT_GT(triggers, 20u);
  EXPECT_GT(dropped, 0u);
}

}  // namespace
