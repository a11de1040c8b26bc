// SPDX-License-Identifier: BSD-3-Clause
// Whatever is sent arrives: any lengths, by PIO and by DMA, in many slots and few, any progress of
// either side, whatever the adversary loses.

#include "test/runtime/traffic.h"

#include "test/runtime/sci/world.h"

namespace {

constexpr uint32_t slot = 192;

nbc_sci_options optionsOf(unsigned seed) {
  std::mt19937 random(seed);
  nbc_sci_options o = {};
  o.transfer = nbc_transfer(random() % 3);
  o.dma_bytes = 1 + random() % 1000;
  o.queues = 1 + random() % 3;
  return o;
}

sisci::Options fabricOf(unsigned seed) {
  std::mt19937 random(seed);
  sisci::Options o = SciWorld::adversary(random() % 4 ? seed : 0);
  o.facts.longestVector = random() % 2 ? 1 + random() % 4 : 256;
  o.facts.longestTransfer = random() % 2 ? 64 * (1 + random() % 6) : 1 << 20;
  o.facts.alignment = random() % 2 ? 8u << random() % 5 : 8;
  o.facts.dmaChannels = 1 + random() % 3;
  return o;
}

TEST(SciTraffic, arrives) {
  for (unsigned seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const uint32_t ranks = 2 + random() % 3;
    const Traffic t(ranks, 1 + random() % 6, 1 + random() % 60,
                    {0, 1, slot / 2, slot - 1, slot, slot + 1, 777, 4000}, 5, seed);
    SciWorld w(std::vector(ranks, optionsOf(seed)), fabricOf(seed));
    w.addPlans([&](uint32_t r) { return t.templateOf(r); },
               {.depth = uint32_t(1 + random() % 4),
                .eager_bytes = slot,
                .slot_memory = random() % 2 ? 3000u : 0u,
                .first_cq_index = random() % 2 ? 0xffffffu : 0});
    run(w, t, 1 + random() % 6, seed);
  }
}

TEST(SciTraffic, eachWayAloneInTwoSlots) {
  for (nbc_transfer way : {NBC_TRANSFER_PIO, NBC_TRANSFER_DMA})
    for (uint64_t length : {0u, 1u, slot, slot + 1})
      for (unsigned seed = 1; seed <= 4; ++seed) {
        const Traffic t(2, 1 + seed % 3, 100, {length}, 3, seed);
        SciWorld w(2, {.transfer = way}, seed);
        w.addPlans([&](uint32_t r) { return t.templateOf(r); },
                   {.depth = 2, .eager_bytes = slot, .slot_memory = 1});
        run(w, t, 3, seed);
        EXPECT_EQ(hooks.transfers > 0, way == NBC_TRANSFER_DMA && length > 0);
      }
}

TEST(SciTraffic, APlanSaysWhichWay) {
  const Traffic t(2, 1, 1, {slot}, 1, 1);
  for (nbc_transfer device : {NBC_TRANSFER_AUTO, NBC_TRANSFER_PIO, NBC_TRANSFER_DMA})
    for (nbc_transfer plan : {NBC_TRANSFER_AUTO, NBC_TRANSFER_PIO, NBC_TRANSFER_DMA}) {
      SciWorld w(2, {.transfer = device});
      w.addPlans([&](uint32_t r) { return t.templateOf(r); },
                 {.eager_bytes = slot, .transfer = plan});
      run(w, t, 1, 1);
      const nbc_transfer way = device ? device : plan;  // a short one of neither is stored
      EXPECT_EQ(hooks.transfers > 0, way == NBC_TRANSFER_DMA) << device << " " << plan;
    }
}

TEST(SciTraffic, APlanIsRefusedWhatItsAdapterCannot) {
  const Traffic t(2, 1, 1, {slot}, 1, 1);
  const build::Bytes bytes = forSci(t.templateOf(0));
  for (const bool dma : {true, false}) {
    SciWorld w(std::vector(2, nbc_sci_options{}), {.facts = {.dmaChannels = dma ? 1u : 0u}});
    const auto status = [&](nbc_transfer way) {
      const nbc_plan_options options = {.transfer = way};
      nbc_plan *plan = nullptr;
      const int s = nbc_plan_create(w.comms[0], bytes.data(), bytes.size(), &options, &plan);
      nbc_plan_free(plan);
      return s;
    };
    EXPECT_EQ(status(NBC_TRANSFER_PIO), 0);
    EXPECT_EQ(status(NBC_TRANSFER_DMA), dma ? 0 : NBC_ERROR_UNSUPPORTED);
    EXPECT_STREQ(nbc_plan_why(), dma ? nbc_status_text(0) : "the adapter has no DMA");
    EXPECT_EQ(status(NBC_TRANSFER_READ), NBC_ERROR_UNSUPPORTED);
    EXPECT_EQ(status(NBC_TRANSFERS), NBC_ERROR_ARGUMENT);
  }
}

TEST(SciTraffic, NumbersOfFlagsWrap) {
  // Numbers begin 256 before 2^32; 40 messages each way in each call.
  const Traffic t(2, 4, 80, {0, 100, slot + 5}, 2, 3);
  SciWorld w(2, {.dma_bytes = 150}, 5);
  w.addPlans([&](uint32_t r) { return t.templateOf(r); },
             {.eager_bytes = slot, .slot_memory = 1, .first_cq_index = 0xffffff});
  run(w, t, 20, 7);
}

TEST(SciTraffic, FullSlotsInARowAreOneElement) {
  // 100 full slots of 16, half of them at a time.
  const Traffic t(2, 1, 1, {100 * slot}, 1, 1);
  SciWorld w(2, {.transfer = NBC_TRANSFER_DMA});
  w.addPlans([&](uint32_t r) { return t.templateOf(r); }, {.eager_bytes = slot});
  run(w, t, 1, 1);
  EXPECT_EQ(hooks.transfers, hooks.elements);
  EXPECT_LE(hooks.transfers, 10u);
}

TEST(SciTraffic, MessagesPostedTogetherAreOneVector) {
  const Traffic t(2, 1, 30, {50}, 1, 2);
  SciWorld w(2, {.transfer = NBC_TRANSFER_DMA});
  w.addPlans([&](uint32_t r) { return t.templateOf(r); }, {.eager_bytes = slot});
  run(w, t, 1, 1);
  EXPECT_EQ(hooks.elements, 30u);
  EXPECT_LE(hooks.transfers, 6u);
}

}  // namespace
