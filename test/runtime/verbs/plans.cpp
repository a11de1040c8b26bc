// SPDX-License-Identifier: BSD-3-Clause
// Target verbs: right data for any length, way and order; memory; a rank far ahead.

#include "test/runtime/gather.h"
#include "test/runtime/verbs/world.h"

namespace {

constexpr nbc_verbs_rendezvous ways[] = {NBC_VERBS_WRITE, NBC_VERBS_READ};

TEST(Verbs, anyLengthSeveralInFlight) {
  for (auto way : ways)
    for (uint32_t ranks : {1, 2, 3, 5})
      for (unsigned seed = 0; seed < 4; ++seed) {
        VerbsWorld w(ranks, {.rendezvous = way, .longest = seed == 1 ? 5000u : 1u << 30}, seed);
        w.addPlans(build::ringAllgather(ranks),
                   {.depth = 1 + seed % 3, .eager_bytes = seed == 3 ? 16u : 0});
        gatherAll(w, {0, 1, 48, 49, 1024, 1025, 3000, 0, 7, 70000, 2, 300001}, false, seed);
        gatherAll(w, {5, 100, 0}, true, seed);
      }
}

TEST(Verbs, aRankMayRunAheadByAnyNumberOfCalls) {
  // Short messages until there is no credit left, long ones that only the other can take.
  for (auto way : ways)
    for (size_t length : {1, 5000}) {
      VerbsWorld w(2, {.rendezvous = way});
      w.addPlans(build::ringAllgather(2), {.depth = 4});
      gatherFarAhead(w, length, [&] { w.fabric.run(); }, 1u);
    }
}

TEST(Verbs, reductionsAndStaging) {
  for (auto way : ways)
    for (uint32_t ranks : {2, 3, 6}) {
      VerbsWorld w(ranks, {.rendezvous = way}, ranks);
      w.addPlans([&](uint32_t r) { return build::messageAllreduce(ranks, r); });
      for (size_t n : {1, 1000, 50000}) {
        std::vector<std::vector<int64_t>> in(ranks), out(ranks, std::vector<int64_t>(n));
        std::vector<nbc_request> requests(ranks);
        for (uint32_t r = 0; r < ranks; ++r) {
          in[r].assign(n, int64_t(r) + 1);
          nbc_call call = {
              .in = in[r].data(), .out = out[r].data(), .count = n, .type = NBC_I64, .op = NBC_SUM};
          ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
        }
        ASSERT_TRUE(w.finish(requests, ranks));
        for (auto &o : out)
          for (int64_t x : o) ASSERT_EQ(x, ranks * (ranks + 1) / 2);
      }
    }
}

TEST(Verbs, partsOfABlockAndNoBytesAtAll) {
  for (auto way : ways)
    for (uint32_t parts : {1, 4, 7}) {
      VerbsWorld w(3, {.rendezvous = way}, parts);
      w.addPlans([&](uint32_t r) { return build::pairsBcast(3, r, parts); });
      for (size_t n : {1, 13, 5000, 300000}) {
        std::vector<std::vector<uint8_t>> data(3, std::vector<uint8_t>(n));
        for (size_t i = 0; i < n; ++i) data[0][i] = uint8_t(i * 7 + 1);
        std::vector<nbc_request> requests(3);
        for (uint32_t r = 0; r < 3; ++r) {
          nbc_call call = {.data = data[r].data(), .count = n};
          ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
        }
        ASSERT_TRUE(w.finish(requests, parts));
        EXPECT_EQ(data[1], data[0]);
        EXPECT_EQ(data[2], data[0]);
      }
      w.addPlans([&](uint32_t r) { return build::allBarrier(3, r); });
      std::vector<nbc_request> requests(3);
      for (uint32_t r = 0; r < 3; ++r) {
        nbc_call call = {};
        ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
      }
      EXPECT_TRUE(w.finish(requests, parts));
    }
}

TEST(Verbs, whatIsShortIsTheAdaptersOnceItIsPosted) {
  // Nobody looks at rank 0 any more, and rank 1 gets all of it.
  VerbsWorld w(2);
  w.addPlans([](uint32_t r) { return build::pairsBcast(2, r, 4); });
  std::vector<uint8_t> data[2] = {std::vector<uint8_t>(1000, 9), std::vector<uint8_t>(1000)};
  nbc_request requests[2];
  int done = 0;
  nbc_call call = {.data = data[0].data(), .count = 1000};
  ASSERT_EQ(nbc_start(w.plans[0], &call, &requests[0]), 0);
  EXPECT_EQ(nbc_test(&requests[0], &done), 0);
  EXPECT_TRUE(done);
  std::fill(data[0].begin(), data[0].end(), 0);  // the caller's again
  call.data = data[1].data();
  ASSERT_EQ(nbc_start(w.plans[1], &call, &requests[1]), 0);
  w.fabric.run();
  EXPECT_EQ(nbc_wait(&requests[1]), 0);
  EXPECT_EQ(data[1], std::vector<uint8_t>(1000, 9));
}

/// Rank 0 gets many messages from rank 1, and one from rank 2, which it waits for first.
build::Bytes manyAndOne(uint32_t me) {
  build::Messages t("many", NBC_BARRIER, 3, me);
  t.beginVariant();
  for (int i = 0; i < 50 && me < 2; ++i) me ? t.send(0) : t.receive(1);
  if (me == 0) t.wait(t.receive(2));
  if (me == 2) t.send(0);
  t.stage();
  t.endVariant();
  return t.finish();
}

TEST(Verbs, aLookTakesInAllThatIsThere) {
  VerbsWorld w(3);
  w.addPlans(manyAndOne);
  nbc_request requests[3];
  nbc_call call = {};
  for (size_t r = 0; r < 3; ++r) {
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
    w.fabric.run();
  }
  for (nbc_request &r : requests) {
    int done = 0;
    EXPECT_EQ(nbc_test(&r, &done), 0);
    EXPECT_TRUE(done);
  }
}

}  // namespace
