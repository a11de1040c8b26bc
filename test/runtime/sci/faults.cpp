// SPDX-License-Identifier: BSD-3-Clause
// What is lost is sent again, and what cannot be had ends calls, soon, with a status; who has done
// its part may go.

#include <chrono>

#include "nbc/sci_segment.h"
#include "test/runtime/gather.h"
#include "test/runtime/sci/world.h"

namespace {

constexpr uint32_t kTimeout = 60;  // ms

build::Bytes ring(uint32_t rank) {
  return build::ringAllgather(2, rank);
}

nbc_sci_options options(nbc_transfer way) {
  return {.transfer = way, .timeout = kTimeout};
}

/// Starts an allgather of so many bytes on one rank.
struct Gather {
  std::vector<uint8_t> in, out;
  nbc_request request = {};
  int start(SciWorld &w, uint32_t rank, size_t bytes = 100) {
    in.assign(bytes, uint8_t(rank + 1));
    out.assign(2 * bytes, 0);
    nbc_call call = {.in = in.data(), .out = out.data(), .count = bytes};
    return nbc_start(w.plans[rank], &call, &request);
  }
};

/// Tests until it is done or has failed; 1: neither, in `ms`.
int outcome(SciWorld &w, nbc_request &request, int ms = 20 * kTimeout) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (std::chrono::steady_clock::now() < end) {
    int done = 0;
    w.fabric.run({}, {.events = 10});
    if (int status = nbc_test(&request, &done)) return status;
    if (done) return 0;
  }
  return 1;
}

/// The same of two, one of each rank: whether both are done.
bool bothDone(SciWorld &w, Gather &a, Gather &b) {
  for (int looks = 0; looks < 10000; ++looks) {
    int done[2] = {};
    w.fabric.run({}, {.events = 10});
    EXPECT_EQ(nbc_test(&a.request, &done[0]), 0);
    EXPECT_EQ(nbc_test(&b.request, &done[1]), 0);
    if (done[0] && done[1]) return true;
  }
  return false;
}

TEST(SciFaults, WhatIsLostIsStoredAgain) {
  for (sci_sequence_status_t said : {SCI_SEQ_RETRIABLE, SCI_SEQ_NOT_RETRIABLE, SCI_SEQ_PENDING})
    for (nbc_transfer way : {NBC_TRANSFER_PIO, NBC_TRANSFER_DMA}) {
      SciWorld w(2, options(way));
      w.addPlans(ring, {.eager_bytes = 64, .slot_memory = 1});
      int asked = 0;
      hooks.check = [&] { return ++asked / 4 % 3 ? said : SCI_SEQ_OK; };
      gatherAll(w, {1, 5000, 0, 7, 64, 65});
    }
}

TEST(SciFaults, AConnectionThatDoesNotComeBackEndsTheCall) {
  for (nbc_transfer way : {NBC_TRANSFER_PIO, NBC_TRANSFER_DMA}) {
    SciWorld w(2, options(way));
    w.addPlans(ring);
    Gather g, later;
    hooks.check = [] { return SCI_SEQ_NOT_RETRIABLE; };
    ASSERT_EQ(g.start(w, 0), 0);
    EXPECT_EQ(outcome(w, g.request), NBC_ERROR_DEVICE);
    EXPECT_EQ(later.start(w, 0), NBC_ERROR_DEVICE);
  }
}

TEST(SciFaults, ATransferThatFailsIsStartedAgainNotForEver) {
  for (int failures : {3, 1000000}) {
    SciWorld w(2, options(NBC_TRANSFER_DMA));
    w.addPlans(ring);
    Gather g, other;
    hooks.state = [&] { return failures-- > 0 ? SCI_DMAQUEUE_ERROR : SCI_DMAQUEUE_DONE; };
    const bool ends = failures < 10;
    ASSERT_EQ(g.start(w, 0), 0);
    if (ends) {
      ASSERT_EQ(other.start(w, 1), 0);
      EXPECT_TRUE(bothDone(w, g, other));
      continue;
    }
    EXPECT_EQ(outcome(w, g.request), NBC_ERROR_DEVICE);
    EXPECT_LT(hooks.transfers, 30u);
  }
}

TEST(SciFaults, AFullQueueIsWaitedForNotForEver) {
  for (bool ends : {true, false}) {
    SciWorld w(2, options(NBC_TRANSFER_DMA));
    w.addPlans(ring);
    Gather g, other;
    int full = 20;
    hooks.transfer = [&] { return ends && full-- <= 0 ? SCI_ERR_OK : SCI_ERR_NOSPC; };
    ASSERT_EQ(g.start(w, 0), 0);
    if (ends) {
      ASSERT_EQ(other.start(w, 1), 0);
      EXPECT_TRUE(bothDone(w, g, other));
      continue;
    }
    EXPECT_EQ(outcome(w, g.request), NBC_ERROR_DEVICE);
  }
}

TEST(SciFaults, WithoutDmaQueuesMessagesAreStoredUnlessDmaWasAskedFor) {
  for (nbc_transfer way : {NBC_TRANSFER_AUTO, NBC_TRANSFER_DMA}) {
    SciWorld w(2, options(way));
    hooks.queue = SCI_ERR_NOSPC;
    if (way == NBC_TRANSFER_AUTO) {
      w.addPlans(ring);
      gatherAll(w, {1, 50000});
      EXPECT_EQ(hooks.transfers, 0u);
    } else {
      const build::Bytes b = forSci(ring(0));
      nbc_plan *plan = nullptr;
      EXPECT_EQ(nbc_plan_create(w.comms[0], b.data(), b.size(), nullptr, &plan),
                NBC_ERROR_RESOURCES);
    }
  }
}

TEST(SciFaults, NumbersOfSegmentsThatAreUsedArePassedOver) {
  SciWorld w(2);
  hooks.usedIds = 7;
  w.addPlans(ring);
  gatherAll(w, {10});
}

TEST(SciFaults, AReceiveIsNotDoneBeforeItsSenderCanGoOn) {
  // Who is done tests no more, so nobody would tell the sender of the slots that are free.
  SciWorld w(2, {.timeout = 100000});
  w.addPlans([](uint32_t rank) { return build::pairsBcast(2, rank, 2); },
             {.eager_bytes = 512, .slot_memory = 1});
  std::vector<uint8_t> data[2] = {std::vector<uint8_t>(400, 7), std::vector<uint8_t>(400)};
  nbc_request requests[2];
  for (uint32_t r : {0u, 1u}) {
    if (r == 1) hooks.check = [] { return SCI_SEQ_NOT_RETRIABLE; };
    nbc_call call = {.data = data[r].data(), .count = 400};
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
    if (r == 0) {
      ASSERT_EQ(outcome(w, requests[0]), 0);
    }
  }
  EXPECT_EQ(outcome(w, requests[1], 50), 1);
  hooks.check = nullptr;
  EXPECT_EQ(outcome(w, requests[1]), 0);
  EXPECT_EQ(data[0], data[1]);
}

TEST(SciFaults, WhoHasDoneItsPartMayGo) {
  for (nbc_transfer way : {NBC_TRANSFER_PIO, NBC_TRANSFER_DMA}) {
    SciWorld w(2, options(way));
    w.addPlans([](uint32_t rank) { return build::pairsBcast(2, rank, 4); });
    std::vector<uint8_t> data[2] = {std::vector<uint8_t>(400, 7), std::vector<uint8_t>(400)};
    nbc_request requests[2];
    for (uint32_t r : {0u, 1u}) {
      nbc_call call = {.data = data[r].data(), .count = 400};
      if (r == 1) {
        ASSERT_EQ(outcome(w, requests[0]), 0);  // all is in the other's segment
        w.freePlan(0);
      }
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
    }
    EXPECT_EQ(outcome(w, requests[1]), 0);
    EXPECT_EQ(data[0], data[1]);
    // Nobody is there for the next one.
    nbc_call call = {.data = data[1].data(), .count = 400};
    const int status = nbc_start(w.plans[1], &call, &requests[1]);
    EXPECT_EQ(status ? status : outcome(w, requests[1]), NBC_ERROR_DEVICE);
  }
}

TEST(SciFaults, WhoGivesUpIsMissedByThoseThatWait) {
  SciWorld w(2, options(NBC_TRANSFER_AUTO));
  w.addPlans(ring);
  Gather g;
  ASSERT_EQ(g.start(w, 0), 0);
  EXPECT_EQ(outcome(w, g.request, 3 * kTimeout), 1);  // late is not gone
  nbc_plan_abandon(w.plans[1]);
  EXPECT_EQ(outcome(w, g.request), NBC_ERROR_DEVICE);
}

TEST(SciFaults, WhoDiesIsMissed) {
  for (nbc_transfer way : {NBC_TRANSFER_PIO, NBC_TRANSFER_DMA}) {
    SciWorld w(2, options(way));
    w.addPlans(ring);
    Gather g, more;
    ASSERT_EQ(g.start(w, 0), 0);
    ASSERT_EQ(more.start(w, 0), 0);
    w.fabric.kill(1);
    EXPECT_EQ(outcome(w, g.request), NBC_ERROR_DEVICE);
    EXPECT_EQ(outcome(w, more.request), NBC_ERROR_DEVICE);
  }
}

TEST(SciFaults, ANodeThatNeverAnswersEndsTheConnection) {
  for (bool dead : {false, true}) {
    SciWorld w(2, options(NBC_TRANSFER_AUTO));
    nbc_plan *plans[2];
    for (uint32_t r : {0u, 1u}) {
      const build::Bytes b = forSci(ring(r));
      ASSERT_EQ(nbc_plan_create(w.comms[r], b.data(), b.size(), nullptr, &plans[r]), 0);
    }
    // Its card is there, and its segment never more; or nothing of it.
    if (dead)
      w.fabric.kill(1);
    else
      EXPECT_EQ(nbc_plan_free(plans[1]), 0);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(nbc_plan_connect(plans[0]), NBC_ERROR_DEVICE);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20 * kTimeout));
    EXPECT_EQ(nbc_plan_free(plans[0]), 0);
    if (dead) {
      EXPECT_EQ(nbc_plan_free(plans[1]), 0);
    }
  }
}

TEST(SciFaults, WhatThePeerSaysIsChecked) {
  const auto word = [](uint64_t at, uint64_t value) {
    std::memcpy(hooks.segments[0] + at, &value, sizeof value);
  };
  const std::function<void()> lies[] = {
      [&] { word(NBC_SCI_TAKEN, 5); },                     // of which none was sent
      [&] { word(NBC_SCI_LINE, uint64_t{99 + 1}); },       // 99 bytes, not 100
      [&] { word(NBC_SCI_LINE, uint64_t{1} << 33 | 0); },  // fine: another number, not now
  };
  for (size_t i = 0; i < std::size(lies); ++i) {
    Gather g;  // outlives the plan, by which the last one is abandoned
    SciWorld w(2, options(NBC_TRANSFER_AUTO));
    w.addPlans(ring, {.eager_bytes = 128});
    ASSERT_EQ(g.start(w, 0), 0);
    lies[i]();
    EXPECT_EQ(outcome(w, g.request, 3 * kTimeout), i < 2 ? NBC_ERROR_DEVICE : 1) << i;
  }
}

TEST(SciFaults, ACardThatIsNoneIsRefused) {
  const std::function<void(std::vector<uint8_t> &)> damages[] = {
      [](auto &c) { c.pop_back(); },
      [](auto &c) { c.push_back(0); },
      [](auto &c) { c[c.size() - 32] ^= 1; },                 // where the area is
      [](auto &c) { std::memset(&c[c.size() - 16], 3, 4); },  // slots
      [](auto &c) { std::memset(&c[c.size() - 16], 0, 4); },
  };
  for (const auto &damage : damages) {
    SciWorld w(2);
    nbc_plan *plans[2];
    for (uint32_t r : {0u, 1u}) {
      const build::Bytes b = forSci(ring(r));
      ASSERT_EQ(nbc_plan_create(w.comms[r], b.data(), b.size(), nullptr, &plans[r]), 0);
    }
    damage(w.board.entries.at({1, "nbc.0.0"}));
    EXPECT_EQ(nbc_plan_connect(plans[0]), NBC_ERROR_BOOTSTRAP) << &damage - damages;
    for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_free(p), 0);
  }
}

TEST(SciFaults, SlotsTakeNoMoreThanTheyMay) {
  nbc_plan_info info;
  size_t before = SIZE_MAX;
  for (size_t memory : {size_t(1) << 24, size_t(1) << 16, size_t(1)}) {
    SciWorld w(2);
    w.addPlans(ring, {.depth = 64, .eager_bytes = 1024, .slot_memory = memory});
    nbc_plan_query(w.plans[0], &info);
    EXPECT_LT(info.memory, before);
    before = info.memory;
    gatherAll(w, std::vector<size_t>(100, 1000));
  }
}

}  // namespace
