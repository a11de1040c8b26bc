// SPDX-License-Identifier: BSD-3-Clause
// Whatever is sent arrives: any lengths, each rendezvous, any progress of either side, few
// credits, short queues; and there is always a receive.

#include "test/runtime/traffic.h"

#include <span>

#include "test/runtime/verbs/world.h"

namespace {

constexpr uint32_t eager = 200;

verbs::Options optionsOf(unsigned seed) {
  std::mt19937 random(seed);
  verbs::Options o;
  o.rendezvous = nbc_verbs_rendezvous(random() % 4);
  o.longest = random() % 2 ? 1000 : 1 << 20;
  o.gather = 1 + random() % 4;
  if (o.rendezvous == NBC_VERBS_SEND) o.gather += 4;  // whoever sends cannot cut as it likes
  o.inlineBytes = random() % 3 * 64;
  o.reads = 1 + random() % 4;
  o.queue = random() % 2 ? 100 : 4096;
  o.firstIndex = random() % 2 ? 0xfff0 : 0;
  o.offers = random() % 4 ? NBC_VERBS_KEPT : NBC_VERBS_ANEW;
  return o;
}

TEST(VerbsTraffic, arrives) {
  for (unsigned seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const uint32_t ranks = 2 + random() % 3;
    const Traffic t(ranks, 1 + random() % 6, 1 + random() % 60,
                    {0, 1, eager / 2, eager - 1, eager, eager + 1, 777, 4000}, 5, seed);
    VerbsWorld w(ranks, optionsOf(seed), random() % 4 ? seed : 0);
    w.sends = optionsOf(seed).rendezvous >= NBC_VERBS_SEND;
    w.addPlans([&](uint32_t r) { return t.templateOf(r); },
               {.depth = uint32_t(1 + random() % 4),
                .eager_bytes = eager,
                .slot_memory = random() % 2 ? 3000u : 0u});
    run(w, t, 1 + random() % 6, seed);
  }
}

TEST(VerbsTraffic, ofOneKindOnly) {
  for (uint64_t length : {uint64_t(0), uint64_t(eager), uint64_t(eager + 1)})
    for (unsigned seed = 1; seed <= 8; ++seed) {
      const Traffic t(2, 1 + seed % 3, 150, {length}, 3, seed);
      VerbsWorld w(2, optionsOf(seed), seed);
      w.sends = optionsOf(seed).rendezvous >= NBC_VERBS_SEND;
      w.addPlans([&](uint32_t r) { return t.templateOf(r); },
                 {.depth = 2, .eager_bytes = eager, .slot_memory = 1});
      run(w, t, 3, seed);
    }
}

TEST(VerbsTraffic, inBuffersThatComeAgain) {
  // Any of a few, in lengths of any call: what was offered before holds, or not any more.
  for (unsigned seed = 1; seed <= 150 && !testing::Test::HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const uint32_t ranks = 2 + random() % 2, most = 1 + random() % 5;
    const Traffic t(ranks, 1 + random() % 4, 1 + random() % 60, {1, eager, eager + 1, 777, 4000}, 3,
                    seed);
    verbs::Options options = optionsOf(seed);
    options.offers = NBC_VERBS_KEPT;
    VerbsWorld w(ranks, options, random() % 4 ? seed : 0);
    w.sends = optionsOf(seed).rendezvous >= NBC_VERBS_SEND;
    w.addPlans([&](uint32_t r) { return t.templateOf(r); },
               {.depth = uint32_t(1 + random() % 3), .eager_bytes = eager});
    std::vector<std::vector<uint8_t>> memory(ranks * most, std::vector<uint8_t>(2 * t.unit));
    for (int round = 0; round < 8; ++round) {
      const uint32_t calls = 1 + random() % most, first = random() % most,
                     scale = random() % 4 ? 1 : 2;
      std::vector<nbc_request> requests(ranks * calls);
      for (uint32_t c = 0; c < calls; ++c)
        for (uint32_t r = 0; r < ranks; ++r) {
          std::vector<uint8_t> &data = memory[r * most + (first + c) % most];
          std::ranges::copy(t.before(r, scale, unsigned(round)), data.begin());
          nbc_call call = {.data = data.data(), .count = t.unit * scale};
          ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r * calls + c]), 0);
        }
      ASSERT_TRUE(w.finish(requests, seed)) << "round " << round << " seed " << seed;
      for (uint32_t c = 0; c < calls; ++c)
        for (uint32_t r = 0; r < ranks; ++r)
          ASSERT_TRUE(std::ranges::equal(
              std::span(memory[r * most + (first + c) % most]).first(t.unit * scale),
              t.after(r, scale, unsigned(round))))
              << "rank " << r << " round " << round << " seed " << seed;
    }
  }
}

TEST(VerbsTraffic, whoLooksOnlyWhenToldMissesNothing) {
  for (unsigned seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
    const Traffic t(3, 1 + seed % 5, 1 + seed % 50, {0, 1, eager, eager + 1, 3000}, 3, seed);
    VerbsWorld w(3, optionsOf(seed), seed);
    w.sends = optionsOf(seed).rendezvous >= NBC_VERBS_SEND;
    w.addPlans([&](uint32_t r) { return t.templateOf(r); },
               {.eager_bytes = eager, .slot_memory = seed % 2});
    std::vector<std::vector<uint8_t>> data;
    std::vector<nbc_request> requests(3);
    for (uint32_t r = 0; r < 3; ++r) {
      data.push_back(t.before(r, 1, seed));
      nbc_call call = {.data = data[r].data(), .count = t.unit};
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
    }
    EXPECT_TRUE(w.finishAsTold(requests)) << "seed " << seed;
    for (uint32_t r = 0; r < 3; ++r) EXPECT_TRUE(data[r] == t.after(r, 1, seed)) << "seed " << seed;
    for (nbc_plan *p : w.plans) nbc_plan_abandon(p);
  }
}

}  // namespace
