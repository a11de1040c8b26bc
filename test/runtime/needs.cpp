// SPDX-License-Identifier: BSD-3-Clause
// nbc_hca_fits and nbc_plan_create: queues at their limit are made, and one entry more is refused,
// with the numbers.

#include "test/runtime/gather.h"
#include "test/runtime/world.h"

namespace {

constexpr nbc_hca_facts kSoft = {30, 32, 15, 15, 22, 0x7e, NBC_HCA_WAITS_CQ};

std::string fits(build::Bytes b, uint32_t depth, const nbc_hca_facts &facts) {
  const char *why = "";
  const int status = nbc_hca_fits(b.data(), b.size(), depth, &facts, &why);
  EXPECT_TRUE(status == 0 || status == NBC_ERROR_RESOURCES) << status;
  return status ? why : "";
}

/// A barrier whose management queue waits `waits` times for what its one message brings.
build::Bytes barrierOf(uint32_t rank, uint32_t waits) {
  build::Builder b("longBarrier", NBC_BARRIER, 2, rank);
  const uint32_t data = b.queue(NBC_QUEUE_DATA, 1 - rank), cts = b.queue(NBC_QUEUE_CTS, 1 - rank);
  b.beginVariant(NBC_RENDEZVOUS);
  b.send(cts, {}, false);
  b.enable(cts, 1);
  b.receivePlain(cts, 1);
  b.send(data, {}, true);
  b.receive(data, {});
  b.wait(cts, NBC_SIDE_RECV, 0);
  b.enable(data, 1);
  for (uint32_t i = 0; i < waits; ++i) b.wait(data, NBC_SIDE_RECV, 0);
  b.wait(data, NBC_SIDE_SEND, 0);
  b.stage();
  b.endVariant();
  return b.finish();
}
constexpr uint32_t kOthers = 4;  // entries of its management queue beside those

TEST(Needs, sendQueuesHoldHalfOfWhatSixteenBitsCount) {
  constexpr uint32_t most = (1 << 15) - 1 - kOthers;
  EXPECT_EQ(fits(barrierOf(0, most), 1, kSoft), "");
  EXPECT_EQ(fits(barrierOf(0, most + 1), 1, kSoft),
            "the management queue holds 32767 entries, and needs 32768: 32768 for a call, 1 calls "
            "under way, 0 for credits");
  constexpr uint32_t third = (1 << 15) / 3;  // of 32767 it is a little less
  EXPECT_EQ(fits(barrierOf(0, third - kOthers), 3, kSoft), "");
  EXPECT_EQ(fits(barrierOf(0, third + 1 - kOthers), 3, kSoft),
            "the management queue holds 32767 entries, and needs 32769: 10923 for a call, 3 calls "
            "under way, 0 for credits");
}

TEST(Needs, entriesWaitForWhatTheAdapterCan) {
  nbc_hca_facts words = kSoft;
  words.waits = NBC_HCA_WAITS_DATA;
  EXPECT_EQ(fits(barrierOf(0, 1), 1, words),
            "its entries wait for completions, which an adapter cannot that waits for words of "
            "memory");
}

/// All that the queue holds is enabled at once, from where its indices are about to wrap.
TEST(Needs, whatFitsIsCarriedOut) {
  const build::Bytes longest[] = {barrierOf(0, (1 << 15) - 1 - kOthers),
                                  barrierOf(1, (1 << 15) - 1 - kOthers)};
  for (const uint16_t first : {0, 32768, 65535}) {
    World w(2, [&](uint32_t r) { return longest[r]; },
            {.depth = 1, .first_sq_index = first, .first_cq_index = 0xffffff});
    for (int calls = 0; calls < 2; ++calls) {
      std::vector<nbc_request> requests(2);
      for (size_t r : {0, 1}) {
        const nbc_call call = {};
        ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
      }
      ASSERT_TRUE(w.finish(requests)) << first;
    }
    EXPECT_TRUE(w.fabric.findings().empty()) << w.fabric.findings()[0];
  }
}

TEST(Needs, aPlanIsRefusedWithTheNumbers) {
  hca::Options o = World::options(0);
  o.facts.max_log_sq = 4;
  World w(2, [](uint32_t r) { return barrierOf(r, 4); }, {.depth = 2}, o);
  EXPECT_STREQ(nbc_plan_why(), nbc_status_text(0));
  const build::Bytes b = barrierOf(0, 5);
  nbc_plan *plan = nullptr;
  const nbc_plan_options options = {.depth = 2};
  EXPECT_EQ(nbc_plan_create(w.comms[0], b.data(), b.size(), &options, &plan), NBC_ERROR_RESOURCES);
  EXPECT_STREQ(nbc_plan_why(),
               "the management queue holds 16 entries, and needs 18: 9 for a call, 2 calls under "
               "way, 0 for credits");
  EXPECT_EQ(nbc_plan_create(w.comms[0], b.data(), b.size() - 8, &options, &plan),
            NBC_ERROR_TEMPLATE);
  EXPECT_NE(std::string(nbc_plan_why()).find("bytes given"), std::string::npos) << nbc_plan_why();
  EXPECT_EQ(nbc_plan_create(nullptr, b.data(), b.size(), &options, &plan), NBC_ERROR_ARGUMENT);
  EXPECT_STREQ(nbc_plan_why(), nbc_status_text(NBC_ERROR_ARGUMENT));
}

TEST(Needs, receivesAreCountedForAllThatMayCome) {
  nbc_hca_facts few = kSoft;
  for (few.max_log_rq = 0; few.max_log_rq < 6; ++few.max_log_rq)
    for (uint32_t depth = 1; depth < 8; ++depth) {
      // One message from each: three sets for each call under way, and no less than four
      // clear-to-sends, one for the call itself and three credits, and room for one.
      const uint32_t room = 1u << few.max_log_rq;
      const bool eager = 3 * depth <= room, clear = depth + 1 + 3 + 1 <= room;
      const std::string said = fits(build::allgather(2, 0), depth, few);
      EXPECT_EQ(said.empty(), eager && clear) << room << " receives, depth " << depth << said;
      EXPECT_EQ(said.empty(), said.find("receives, and needs") == std::string::npos) << said;
    }
}

TEST(Needs, dataSegmentsAreThoseOfTheAdapter) {
  nbc_hca_facts facts = kSoft;
  facts.max_gather = 5;
  EXPECT_EQ(fits(build::partsBcast(0, 5), 1, facts), "");
  EXPECT_EQ(fits(build::partsBcast(0, 6), 1, facts),
            "the data queue with rank 1 has a send of 6 data segments, of an adapter's 5");
  facts.max_scatter = 0;
  EXPECT_EQ(fits(build::partsBcast(1, 6), 1, facts).substr(0, 42),
            "the data queue with rank 0 has a receive o");
}

TEST(Needs, whatIsNoneOfItsTemplatesIsRefused) {
  build::Bytes b = build::barrier(0);
  const char *why = "";
  EXPECT_EQ(nbc_hca_fits(b.data(), b.size(), 0, &kSoft, &why), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_hca_fits(b.data(), b.size(), 1, nullptr, &why), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_hca_fits(b.data(), b.size() - 8, 1, &kSoft, &why), NBC_ERROR_TEMPLATE);
  EXPECT_EQ(nbc_hca_fits(nullptr, 8, 1, &kSoft, nullptr), NBC_ERROR_TEMPLATE);
}

}  // namespace
