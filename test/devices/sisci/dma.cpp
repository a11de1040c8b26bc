// SPDX-License-Identifier: BSD-3-Clause
// DMA: the states of a queue, what is refused, when and in which order bytes arrive, and failing.

#include <set>
#include <thread>

#include "test/devices/sisci/rig.h"

using namespace sisci;

namespace {

/// Rank 1 has a private segment and a queue; what is far is rank 0's.
struct Engine : Pair {
  sci_local_segment_t own;
  uint64_t *source;
  sci_dma_queue_t queue;

  explicit Engine(const Options &o = simulated(), size_t n = 8192)
      : Pair(o, n),
        own(rig.prepared(1, 0, n, SCI_FLAG_PRIVATE)),
        source(mapped<uint64_t>(own, n)),
        queue(rig.queue(1)) {
    for (size_t i = 0; i < n / 8; ++i) source[i] = i + 1;
  }
  void start(size_t from, size_t size, size_t to, sci_error_t *error, unsigned flags = 0) {
    SCIStartDmaTransfer(queue, own, there, from, size, to, nullptr, nullptr, flags, error);
  }
  void startVector(std::vector<dis_dma_vec_t> v, sci_error_t *error, unsigned flags = 0) {
    SCIStartDmaTransferVec(queue, own, there, v.size(), v.data(), nullptr, nullptr, flags, error);
  }
  sci_dma_queue_state_t wait(unsigned time = SCI_INFINITE_TIMEOUT) {
    return SCIWaitForDMAQueue(queue, time, 0, Ok());
  }
};

TEST(Dma, goesFromStateToState) {
  for (const Options &o :
       {simulated(), realTime(), faultless(simulated(3)), faultless(realTime(3))}) {
    Engine e(o);
    EXPECT_EQ(SCIDMAQueueState(e.queue), SCI_DMAQUEUE_IDLE);
    SCIWaitForDMAQueue(e.queue, 0, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
    SCIAbortDMAQueue(e.queue, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
    e.start(8, 64, 128, Ok());
    EXPECT_EQ(e.wait(), SCI_DMAQUEUE_DONE);
    EXPECT_EQ(SCIDMAQueueState(e.queue), SCI_DMAQUEUE_DONE);
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(e.memory[16 + i], 2 + i);
    EXPECT_EQ(e.memory[15], 0u);
    EXPECT_EQ(e.memory[24], 0u);
    e.start(0, 8, 0, Ok(), SCI_FLAG_DMA_WAIT);
    EXPECT_EQ(e.memory[0], 1u);
    SCIResetDMAQueue(e.queue, 0, Ok());
    EXPECT_EQ(SCIDMAQueueState(e.queue), SCI_DMAQUEUE_IDLE);
    SCIRemoveDMAQueue(e.queue, 0, Ok());
  }
}

TEST(Dma, takesOneTransferAtATime) {
  Engine e;
  e.start(0, 64, 0, Ok());
  EXPECT_EQ(SCIDMAQueueState(e.queue), SCI_DMAQUEUE_POSTED);
  e.start(0, 64, 0, Fails(SCI_ERR_BUSY));
  e.startVector({{8, 0, 0, 0}}, Fails(SCI_ERR_BUSY));
  SCIEnqueueDMATransfer(e.queue, e.own, e.there, 0, 0, 8, 0, Fails(SCI_ERR_BUSY));
  SCIResetDMAQueue(e.queue, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
  SCIRemoveDMAQueue(e.queue, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
  SCIWaitForDMAQueue(e.queue, 0, 0, Fails(SCI_ERR_TIMEOUT));
  // What it uses stays.
  SCIRemoveSequence(e.far.sequence, 0, Ok());
  SCIUnmapSegment(e.far.map, 0, Ok());
  SCIDisconnectSegment(e.there, 0, Fails(SCI_ERR_BUSY));
  auto second = e.rig.queue(1);
  auto bare = e.rig.prepared(1, 0, 64, SCI_FLAG_PRIVATE);
  SCIStartDmaTransfer(second, bare, e.there, 0, 8, 56, nullptr, nullptr, 0, Ok());
  SCIRemoveSegment(bare, 0, Fails(SCI_ERR_BUSY));
  e.settle();
  EXPECT_EQ(e.memory[6], 7u);
  EXPECT_EQ(e.memory[7], 0u);
  EXPECT_EQ(SCIDMAQueueState(e.queue), SCI_DMAQUEUE_DONE);
  SCIRemoveSegment(bare, 0, Ok());
  SCIDisconnectSegment(e.there, 0, Ok());
}

TEST(Dma, arrivesWhenItsTimeHasCome) {
  for (const Cost &cost : {paper, today}) {
    Options o = simulated();
    o.cost = cost;
    Engine e(o, 1 << 20);
    e.start(0, 1 << 20, 0, Ok());
    const Time least = cost.dmaStart + (1 << 20) * cost.dmaByte;
    EXPECT_EQ(e.rig.fabric->run({}, {.until = least - 1}), Run::Limit);
    EXPECT_EQ(e.memory[0], 0u);
    EXPECT_EQ(e.wait(), SCI_DMAQUEUE_DONE);
    EXPECT_EQ(e.memory[(1 << 17) - 1], 1u << 17);
    EXPECT_GE(e.rig.fabric->now(), least);
    EXPECT_LE(e.rig.fabric->now(), least + microsecond);
  }
  // 195 MiB/s, of 1 MiB with its start.
  EXPECT_NEAR(static_cast<double>(paper.dmaStart + (1 << 20) * paper.dmaByte) / millisecond,
              1000.0 / 195 + 0.0345, 0.01);
}

TEST(Dma, readsTheOtherWay) {
  for (const Options &o : {simulated(), realTime(), faultless(simulated(3))}) {
    Engine e(o);
    e.memory[2] = 77;
    e.startVector({{8, 80, 16, 0}, {8, 88, 16, 0}}, Ok(), SCI_FLAG_DMA_READ);
    EXPECT_EQ(e.wait(), SCI_DMAQUEUE_DONE);
    EXPECT_EQ(e.source[10], 77u);
    EXPECT_EQ(e.source[11], 77u);
  }
  Rig rig;
  rig.exported(0, 1, 64);
  auto far = rig.connected(1, 0, 1);
  auto source = rig.prepared(1, 2, 64, SCI_FLAG_DMA_SOURCE_ONLY);
  SCIStartDmaTransfer(rig.queue(1), source, far, 0, 8, 0, nullptr, nullptr, SCI_FLAG_DMA_READ,
                      Fails(SCI_ERR_ILLEGAL_OPERATION));
}

TEST(Dma, refusesWhatTheAdapterCannotMove) {
  Engine e;
  e.start(0, 12, 0, Fails(SCI_ERR_SIZE_ALIGNMENT));
  e.start(0, 0, 0, Fails(SCI_ERR_SIZE_ALIGNMENT));
  e.start(4, 8, 0, Fails(SCI_ERR_OFFSET_ALIGNMENT));
  e.start(0, 8, 4, Fails(SCI_ERR_OFFSET_ALIGNMENT));
  e.start(0, 8200, 0, Fails(SCI_ERR_OUT_OF_RANGE));
  e.start(8192, 8, 0, Fails(SCI_ERR_OUT_OF_RANGE));
  e.start(0, 16, 8184, Fails(SCI_ERR_OUT_OF_RANGE));
  e.start(0, 8, SIZE_MAX - 7, Fails(SCI_ERR_OUT_OF_RANGE));
  e.startVector({{8, 0, 0, 0}, {8, 8192, 0, 0}}, Fails(SCI_ERR_OUT_OF_RANGE));
  e.startVector({{8, 0, 0, 1}}, Fails(SCI_ERR_ILLEGAL_FLAG));
  e.startVector({}, Fails(SCI_ERR_ILLEGAL_PARAMETER));
  e.startVector(std::vector<dis_dma_vec_t>(DIS_DMA_MAX_VECLEN + 1, {8, 0, 0, 0}),
                Fails(SCI_ERR_OUT_OF_RANGE));
  e.start(0, 8, 0, Fails(SCI_ERR_FLAG_NOT_IMPLEMENTED), SCI_FLAG_DMA_GLOBAL);
  e.start(0, 8, 0, Fails(SCI_ERR_ILLEGAL_FLAG), 0x40000000);
  EXPECT_EQ(SCIDMAQueueState(e.queue), SCI_DMAQUEUE_IDLE);

  sci_local_segment_t bare;
  SCICreateSegment(e.rig.ranks[1].sd, &bare, 9, 64, nullptr, nullptr, 0, Ok());
  SCIStartDmaTransfer(e.queue, bare, e.there, 0, 8, 0, nullptr, nullptr, 0,
                      Fails(SCI_ERR_SEGMENT_NOT_PREPARED));
  sci_dma_queue_t none;
  SCICreateDMAQueue(e.rig.ranks[1].sd, &none, e.rig.ranks[1].adapter, 0, 0,
                    Fails(SCI_ERR_MAX_ENTRIES));
  e.startVector(std::vector<dis_dma_vec_t>(DIS_DMA_MAX_VECLEN, {8, 0, 0, 0}), Ok());
}

TEST(Dma, isLimitedAsItsAdapterSays) {
  Options o = simulated();
  o.facts.alignment = 1;
  o.facts.longestVector = 2;
  o.facts.longestTransfer = 100;
  Engine e(o);
  e.start(1, 99, 2, Ok(), SCI_FLAG_DMA_WAIT);
  EXPECT_EQ(std::memcmp(reinterpret_cast<char *>(e.memory) + 2,
                        reinterpret_cast<char *>(e.source) + 1, 99),
            0);
  e.start(0, 101, 0, Fails(SCI_ERR_OUT_OF_RANGE));
  e.startVector({{8, 0, 0, 0}, {8, 0, 0, 0}, {8, 0, 0, 0}}, Fails(SCI_ERR_OUT_OF_RANGE));
}

TEST(Dma, movesMemoryOfTheProgram) {
  for (const Options &o : {simulated(), realTime()}) {
    Engine e(o);
    uint64_t mine[4] = {5, 6, 7, 8};
    SCIStartDmaTransferMem(e.queue, mine, e.there, 32, 64, nullptr, nullptr, 0, Ok());
    e.wait();
    EXPECT_EQ(e.memory[8], 5u);
    EXPECT_EQ(e.memory[11], 8u);
    SCIStartDmaTransferMem(e.queue, reinterpret_cast<char *>(mine) + 1, e.there, 8, 0, nullptr,
                           nullptr, 0, Fails(SCI_ERR_OFFSET_ALIGNMENT));
  }
}

TEST(Dma, ofAnAdversaryArrivesInAnyOrderAndIsReadLate) {
  std::set<std::vector<uint64_t>> seen;
  int late = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Engine e(faultless(simulated(seed)));
    e.startVector({{8, 0, 0, 0}, {8, 8, 8, 0}, {8, 16, 16, 0}}, Ok());
    e.rig.fabric->run({}, {.events = 2});
    seen.insert({e.memory[0], e.memory[1], e.memory[2]});
    e.source[0] = e.source[1] = e.source[2] = 99;  // too early: it has not been done
    e.settle();
    EXPECT_EQ(SCIDMAQueueState(e.queue), SCI_DMAQUEUE_DONE);
    late += e.memory[0] == 99 || e.memory[1] == 99 || e.memory[2] == 99;
  }
  EXPECT_GE(seen.size(), 3u);
  EXPECT_GT(late, 50);
}

TEST(Dma, thatFailsIsToBeStartedAgain) {
  int failed = 0, partly = 0, gaps = 0;
  for (const Options &base : {simulated(), realTime()})
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      Options o = base;
      o.seed = seed;
      o.adversarial = true;
      o.faults = 2;
      Engine e(o);
      sci_dma_queue_state_t state;
      do {
        std::memset(e.memory, 0, 24);
        e.startVector({{8, 0, 0, 0}, {8, 8, 8, 0}, {8, 16, 16, 0}}, Ok());
        state = e.wait();
        if (state == SCI_DMAQUEUE_DONE) break;
        EXPECT_EQ(state, SCI_DMAQUEUE_ERROR);
        ++failed;
        const int there = (e.memory[0] != 0) + (e.memory[1] != 0) + (e.memory[2] != 0);
        partly += there == 1 || there == 2;
        gaps += base.mode == Mode::RealTime && !e.memory[0] && there;
      } while (true);
      EXPECT_EQ(e.memory[0], 1u);
      EXPECT_EQ(e.memory[2], 3u);
    }
  EXPECT_GT(failed, 40);
  EXPECT_GT(partly, 10);
  EXPECT_GT(gaps, 5);  // parts went in another order than the vector's
}

TEST(Dma, canBeAborted) {
  Engine e;
  e.start(0, 64, 0, Ok());
  SCIAbortDMAQueue(e.queue, 0, Ok());
  EXPECT_EQ(SCIDMAQueueState(e.queue), SCI_DMAQUEUE_ABORTED);
  e.settle();
  EXPECT_EQ(e.memory[0], 0u);
  e.start(0, 64, 0, Ok());
  e.settle();
  EXPECT_EQ(SCIDMAQueueState(e.queue), SCI_DMAQUEUE_DONE);
  EXPECT_EQ(e.memory[0], 1u);

  Engine real(realTime(), 16 << 20);
  for (int i = 0; i < 50; ++i) {
    real.start(0, 16 << 20, 0, Ok());
    sci_error_t error;
    SCIAbortDMAQueue(real.queue, 0, &error);
    EXPECT_EQ(SCIDMAQueueState(real.queue), error ? SCI_DMAQUEUE_DONE : SCI_DMAQUEUE_ABORTED);
  }
}

TEST(Dma, toANodeThatDiesFails) {
  for (const Options &o : {simulated(), simulated(3), realTime()}) {
    Engine e(o);
    if (o.mode == Mode::Simulated) {
      e.start(0, 64, 0, Ok());
      e.rig.fabric->kill(0);
      EXPECT_EQ(e.wait(), SCI_DMAQUEUE_ERROR);
      EXPECT_EQ(e.memory[0], 0u);
    } else {
      e.rig.fabric->kill(0);
    }
    e.start(0, 64, 0, Fails(SCI_ERR_SEGMENT_NOT_CONNECTED));
    e.rig.fabric->kill(1);
    e.start(0, 64, 0, Fails(SCI_ERR_NO_LINK_ACCESS));
  }
}

TEST(Dma, callsBack) {
  for (const Options &o : {simulated(), realTime()}) {
    static std::atomic<int> calls;
    calls = 0;
    Engine e(o);
    auto hear = [](void *arg, sci_dma_queue_t queue, sci_error_t status) {
      EXPECT_EQ(status, SCI_ERR_OK);
      EXPECT_EQ(SCIDMAQueueState(queue), SCI_DMAQUEUE_DONE);
      SCIRemoveDMAQueue(queue, 0, Fails(SCI_ERR_BUSY));
      EXPECT_EQ(static_cast<Engine *>(arg)->memory[0], 1u);
      ++calls;
      return SCI_CALLBACK_CONTINUE;
    };
    SCIStartDmaTransfer(e.queue, e.own, e.there, 0, 64, 0, hear, &e, SCI_FLAG_USE_CALLBACK, Ok());
    e.settle();
    for (int i = 0; i < 2000 && !calls; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(calls, 1);
    SCIStartDmaTransfer(e.queue, e.own, e.there, 0, 64, 0, nullptr, nullptr, SCI_FLAG_USE_CALLBACK,
                        Fails(SCI_ERR_ILLEGAL_PARAMETER));
  }
}

TEST(Dma, isGatheredAndPostedTheOlderWay) {
  Engine e;
  auto queue = e.rig.queue(1, 2);
  SCIPostDMAQueue(queue, nullptr, nullptr, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
  // The offsets are the other way round here.
  EXPECT_EQ(SCIEnqueueDMATransfer(queue, e.own, e.there, 0, 64, 8, 0, Ok()), SCI_DMAQUEUE_GATHER);
  SCIStartDmaTransfer(queue, e.own, e.there, 0, 8, 0, nullptr, nullptr, 0,
                      Fails(SCI_ERR_ILLEGAL_OPERATION));
  SCIEnqueueDMATransfer(queue, e.own, e.there, 8, 128, 16, 0, Ok());
  SCIEnqueueDMATransfer(queue, e.own, e.there, 0, 0, 8, 0, Fails(SCI_ERR_MAX_ENTRIES));
  SCIPostDMAQueue(queue, nullptr, nullptr, SCI_FLAG_DMA_WAIT, Ok());
  EXPECT_EQ(e.memory[8], 1u);
  EXPECT_EQ(e.memory[17], 3u);
  SCIEnqueueDMATransfer(queue, e.own, e.there, 0, 0, 8, 0, Ok());
  SCIResetDMAQueue(queue, 0, Ok());
  EXPECT_EQ(SCIDMAQueueState(queue), SCI_DMAQUEUE_IDLE);
  SCIPostDMAQueue(queue, nullptr, nullptr, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
  EXPECT_EQ(e.memory[0], 0u);
}

}  // namespace
