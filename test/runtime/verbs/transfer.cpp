// SPDX-License-Identifier: BSD-3-Clause
// A plan, or whoever opens the adapter, says that all messages go one way: which work requests are
// posted then, that all arrives, and what is refused.

#include "test/runtime/gather.h"
#include "test/runtime/traffic.h"
#include "test/runtime/verbs/posted.h"
#include "test/runtime/verbs/world.h"

namespace {

constexpr nbc_transfer ways[] = {NBC_TRANSFER_AUTO, NBC_TRANSFER_EAGER, NBC_TRANSFER_WRITE,
                                 NBC_TRANSFER_READ, NBC_TRANSFER_SEND,  NBC_TRANSFER_DIRECT};

TEST(VerbsTransfer, isThePlansUnlessTheAdaptersOwnerSays) {
  for (nbc_transfer device : ways)
    for (nbc_transfer plan : ways)
      for (size_t length : {1, 5000}) {
        VerbsWorld w(2, {.transfer = device}, 0, posted::watch);
        w.addPlans(build::ringAllgather(2), {.transfer = plan});
        w.sends = true;
        gatherAll(w, {length});
        const nbc_transfer said = device ? device : plan;
        const nbc_transfer way = said ? said : length > 1 ? NBC_TRANSFER_WRITE : NBC_TRANSFER_EAGER;
        EXPECT_EQ(posted::withBytes[IBV_WR_RDMA_WRITE_WITH_IMM], way == NBC_TRANSFER_WRITE ? 2 : 0);
        const bool reads = way >= NBC_TRANSFER_READ;
        EXPECT_EQ(posted::withBytes[IBV_WR_RDMA_READ], reads ? 2 : 0)
            << "data, or whether one may send";
        EXPECT_EQ(posted::withBytes[IBV_WR_SEND_WITH_IMM], way == NBC_TRANSFER_DIRECT ? 4 : 2)
            << "data, or where they go; or both, as neither is there when the other one starts";
      }
}

TEST(VerbsTransfer, inPartsWithFewSlotsOrMany) {
  for (unsigned seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const uint32_t ranks = 2 + random() % 2;
    const Traffic t(ranks, 1 + random() % 4, 1 + random() % 30, {0, 1, 200, 201, 777, 4000}, 5,
                    seed);
    VerbsWorld w(ranks, {.queue = seed % 3 ? 100u : 4096u, .inlineBytes = seed % 2 * 64},
                 random() % 4 ? seed : 0);
    w.sends = true;
    w.addPlans([&](uint32_t r) { return t.templateOf(r); },
               {.depth = uint32_t(1 + random() % 3),
                .eager_bytes = 200,
                .slot_memory = seed % 2 ? 3000u : 0u,
                .transfer = ways[1 + random() % (std::size(ways) - 1)]});
    for (unsigned call = 0; call < 2; ++call) {
      std::vector<std::vector<uint8_t>> data;
      std::vector<nbc_request> requests(ranks);
      for (uint32_t r = 0; r < ranks; ++r) data.push_back(t.before(r, 1, call));
      for (uint32_t r = 0; r < ranks; ++r) {
        nbc_call c = {.data = data[r].data(), .count = t.unit};
        ASSERT_EQ(nbc_start(w.plans[r], &c, &requests[r]), 0);
      }
      ASSERT_TRUE(w.finish(requests, seed)) << seed;
      for (uint32_t r = 0; r < ranks; ++r)
        ASSERT_TRUE(data[r] == t.after(r, 1, call)) << "rank " << r << " seed " << seed;
    }
  }
}

TEST(VerbsTransfer, whatIsCopiedNeedsNothingOfWhoReceives) {
  // Neither a look of rank 1, nor that it has started.
  constexpr size_t length = 1 << 20;
  for (nbc_transfer way : {NBC_TRANSFER_EAGER, NBC_TRANSFER_WRITE}) {
    VerbsWorld w(2);
    w.addPlans([](uint32_t r) { return build::pairsBcast(2, r, 1); }, {.transfer = way});
    std::vector<uint8_t> data[2] = {std::vector<uint8_t>(length, 7), std::vector<uint8_t>(length)};
    nbc_request requests[2];
    int done = 0;
    for (size_t r : {0, 1}) {
      nbc_call call = {.data = data[r].data(), .count = length};
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
      w.fabric.run();
      if (r == 1) break;
      ASSERT_EQ(nbc_test(&requests[0], &done), 0);
      EXPECT_EQ(done, way == NBC_TRANSFER_EAGER);
      if (done) data[0].assign(length, 0);  // it is the caller's again
    }
    std::vector<nbc_request> left(requests + done, requests + 2);
    if (done) {
      ASSERT_EQ(nbc_test(&requests[1], &done), 0);
      EXPECT_TRUE(done) << "all of it was there";
    } else {
      for (int looks = 0; looks < 8; ++looks)
        for (nbc_request &r : requests) {
          ASSERT_EQ(nbc_test(&r, &done), 0);
          w.fabric.run();
        }
    }
    EXPECT_TRUE(data[1] == std::vector<uint8_t>(length, 7));
  }
}

int statusOf(const VerbsWorld &w, nbc_transfer way) {
  const build::Bytes bytes = forVerbs(build::ringAllgather(2, 0));
  const nbc_plan_options options = {.transfer = way};
  nbc_plan *plan = nullptr;
  const int status = nbc_plan_create(w.comms[0], bytes.data(), bytes.size(), &options, &plan);
  nbc_plan_free(plan);
  return status;
}

TEST(VerbsTransfer, isRefusedWhereThereIsNoSuchWay) {
  for (const uint32_t reads : {0u, 4u}) {
    VerbsWorld w(2, {.reads = reads});
    EXPECT_EQ(statusOf(w, NBC_TRANSFER_EAGER), 0);
    EXPECT_EQ(statusOf(w, NBC_TRANSFER_WRITE), 0);
    EXPECT_EQ(statusOf(w, NBC_TRANSFER_READ), reads ? 0 : NBC_ERROR_UNSUPPORTED);
    EXPECT_EQ(statusOf(w, NBC_TRANSFER_SEND), reads ? 0 : NBC_ERROR_UNSUPPORTED);
    EXPECT_EQ(statusOf(w, NBC_TRANSFER_DIRECT), reads ? 0 : NBC_ERROR_UNSUPPORTED);
    EXPECT_EQ(statusOf(w, NBC_TRANSFER_PIO), NBC_ERROR_UNSUPPORTED);
    EXPECT_EQ(statusOf(w, NBC_TRANSFER_DMA), NBC_ERROR_UNSUPPORTED);
    EXPECT_EQ(statusOf(w, NBC_TRANSFERS), NBC_ERROR_ARGUMENT);
  }
}

TEST(VerbsTransfer, isTheSameOnAllRanks) {
  for (nbc_transfer a : ways)
    for (nbc_transfer b : ways) {
      VerbsWorld w(2);
      nbc_plan *plans[2];
      for (uint32_t r : {0u, 1u}) {
        const build::Bytes bytes = forVerbs(build::ringAllgather(2, r));
        const nbc_plan_options options = {.transfer = r ? b : a};
        ASSERT_EQ(nbc_plan_create(w.comms[r], bytes.data(), bytes.size(), &options, &plans[r]), 0);
      }
      for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_connect(p), a == b ? 0 : NBC_ERROR_ARGUMENT);
      for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_free(p), 0);
    }
}

}  // namespace
