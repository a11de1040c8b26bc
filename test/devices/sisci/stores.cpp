// SPDX-License-Identifier: BSD-3-Clause
// Stores of the CPU: held back, reordered, ordered by barriers, never torn, never written over.

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "test/devices/sisci/rig.h"

using namespace sisci;

namespace {

TEST(Stores, areThereWhenEventsHaveHappened) {
  Pair p(simulated());
  p.far.memory[3] = 17;
  p.settle();
  EXPECT_EQ(p.memory[3], 0u);  // nobody has pushed it
  p.barrier();
  EXPECT_EQ(p.memory[3], 0u);  // it is under way
  const Time before = p.rig.fabric->now();
  p.settle();
  EXPECT_EQ(p.memory[3], 17u);
  EXPECT_GE(p.rig.fabric->now() - before, today.latency + 8 * today.storeByte);
  EXPECT_EQ(p.far.memory[3], 17u);
}

TEST(Stores, areTheMemoryItselfInRealTime) {
  Pair p(realTime());
  p.far.memory[3] = 17;
  EXPECT_EQ(p.memory[3], 17u);
  p.memory[4] = 18;
  EXPECT_EQ(p.far.memory[4], 18u);
}

TEST(Stores, ofAnAdversaryArriveInAnyOrderButBehindBarriers) {
  std::set<std::vector<int>> orders;
  int early = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Pair p(faultless(simulated(seed)));
    for (int i = 0; i < 4; ++i) p.far.memory[i] = 1;
    sci_desc_t any;  // an occasion for stores to arrive early
    for (int i = 0; i < 4; ++i) SCIOpen(&any, 0, Ok());
    early += p.memory[0] || p.memory[1] || p.memory[2] || p.memory[3];
    p.barrier();
    p.far.memory[4] = 1;
    p.barrier();
    std::vector<int> order;
    p.rig.fabric->run([&](uint32_t rank) {
      EXPECT_EQ(rank, 0u);
      for (int i = 0; i < 5; ++i)
        if (p.memory[i] && std::ranges::find(order, i) == order.end()) order.push_back(i);
      return true;
    });
    ASSERT_EQ(order.size(), 5u);
    EXPECT_EQ(order.back(), 4);
    orders.insert(order);
  }
  EXPECT_GE(orders.size(), 12u);
  EXPECT_GT(early, 10);
}

TEST(Stores, ofTheSameValueAreStores) {
  // The owner takes a flag back, and the same flag is set again.
  for (const Options &o : {simulated(), faultless(simulated(5)), faultless(realTime(5))}) {
    Pair p(o);
    for (int round = 0; round < 100; ++round) {
      p.far.memory[0] = 1;
      p.barrier();
      p.settle();
      ASSERT_EQ(p.memory[0], 1u) << round;
      p.memory[0] = 0;
    }
  }
}

TEST(Stores, areSeenByLoadsBeforeTheyHaveArrived) {
  Pair p(simulated());
  p.far.memory[0] = 1;
  p.barrier();
  EXPECT_EQ(p.far.memory[0], 1u);
  p.far.memory[0] = 0;  // what is still in the remote memory
  p.barrier();
  p.settle();
  EXPECT_EQ(p.memory[0], 0u);
}

TEST(Stores, comeAndGoInTheEndEvenWithoutABarrier) {
  Pair p(faultless(realTime(6)));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  auto inTime = [&] { return std::chrono::steady_clock::now() < deadline; };
  EXPECT_EQ(p.far.memory[3], 0u);
  p.memory[3] = 1;
  while (p.far.memory[3] != 1 && inTime()) std::this_thread::yield();
  EXPECT_EQ(p.far.memory[3], 1u);
  p.far.memory[4] = 1;
  while (__atomic_load_n(&p.memory[4], __ATOMIC_ACQUIRE) != 1 && inTime())
    std::this_thread::yield();
  EXPECT_EQ(p.memory[4], 1u);
}

TEST(Stores, leaveNeighboursAlone) {
  for (const Options &o : {simulated(), faultless(simulated(9)), faultless(realTime(9))}) {
    Pair p(o);
    auto *far = reinterpret_cast<volatile uint8_t *>(p.far.memory);
    auto *here = reinterpret_cast<uint8_t *>(p.memory);
    far[1] = 0xaa;
    here[0] = 1;
    here[2] = 2;
    p.barrier();
    p.settle();
    EXPECT_EQ(here[0], 1);
    EXPECT_EQ(here[1], 0xaa);
    EXPECT_EQ(here[2], 2);
  }
}

TEST(Stores, ofEightBytesArriveWhole) {
  Pair p(faultless(realTime(11)));
  std::atomic<bool> stop{false};
  uint64_t torn = 0;
  std::thread reader([&] {
    while (!stop) {
      const uint64_t v = __atomic_load_n(&p.memory[5], __ATOMIC_ACQUIRE);
      torn += (v >> 32) != (v & 0xffffffff);
    }
  });
  for (uint64_t i = 0; i < 3000; ++i) {
    p.far.memory[5] = (i * 0x01010101 & 0xffffffff) * 0x100000001u;
    if (i % 4 == 0) p.barrier();
  }
  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0u);
}

TEST(Stores, reachPastThePageTheyBeginIn) {
  for (const Options &o : {simulated(), faultless(simulated(2)), realTime()}) {
    Rig rig(o);
    auto s = rig.exported(0, 7, 40000);
    auto *memory = mapped<uint8_t>(s, 40000);
    Far<uint8_t> far(rig.connected(1, 0, 7), 30000, 5001);
    for (int i = 0; i < 30000; ++i) far.memory[i] = static_cast<uint8_t>(1 + i % 251);
    SCIStoreBarrier(far.sequence, 0);
    rig.fabric->run();
    for (int i = 0; i < 30000; ++i)
      ASSERT_EQ(memory[5001 + i], static_cast<uint8_t>(1 + i % 251)) << i;
    EXPECT_EQ(memory[5000], 0);
    EXPECT_EQ(memory[35001], 0);
  }
}

TEST(Stores, arriveWhenTheMapGoes) {
  Pair p(simulated());
  p.far.memory[1] = 5;
  SCIRemoveSequence(p.far.sequence, 0, Ok());
  SCIUnmapSegment(p.far.map, 0, Ok());
  p.settle();
  EXPECT_EQ(p.memory[1], 5u);
}

TEST(Stores, areKilledWhereTheMapIsToBeReadOnly) {
  Pair p(simulated());
  sci_map_t map;
  auto *read = static_cast<volatile uint64_t *>(
      SCIMapRemoteSegment(p.there, &map, 0, 64, nullptr, SCI_FLAG_READONLY_MAP, Ok()));
  p.memory[0] = 3;
  EXPECT_EQ(read[0], 3u);
  EXPECT_DEATH(const_cast<uint64_t *>(read)[0] = 1, "");
  char byte = 0;
  SCIMemCpy(nullptr, &byte, map, 0, 1, 0, Fails(SCI_ERR_ACCESS));
}

TEST(Stores, ofOthersAreStillFaults) {
  Pair p(simulated());
  void *page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_DEATH(*static_cast<volatile int *>(page) = 1, "");
  munmap(page, 4096);
}

TEST(Stores, byTheLibraryAreStores) {
  for (const Options &o :
       {simulated(), faultless(simulated(4)), realTime(), faultless(realTime(4))}) {
    Pair p(o);
    std::vector<uint8_t> from(5000), back(5000);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i % 253);
    SCIMemCpy(p.far.sequence, from.data(), p.far.map, 123, from.size(), 0, Ok());
    p.barrier();
    p.settle();
    EXPECT_EQ(std::memcmp(reinterpret_cast<char *>(p.memory) + 123, from.data(), from.size()), 0);
    SCIMemCpy(nullptr, back.data(), p.far.map, 123, back.size(), SCI_FLAG_BLOCK_READ, Ok());
    EXPECT_EQ(back, from);
    SCIMemCpy(nullptr, back.data(), p.far.map, 8000, 193, 0, Fails(SCI_ERR_OUT_OF_RANGE));
    SCIMemCpy(nullptr, back.data(), p.far.map, SIZE_MAX, 2, 0, Fails(SCI_ERR_OUT_OF_RANGE));
    SCIMemCpy(nullptr, back.data(), p.local, 0, 8, 0, Fails(SCI_ERR_ILLEGAL_PARAMETER));
    SCIMemCpy(nullptr, back.data(), p.far.map, 0, 8, SCI_FLAG_ERROR_CHECK,
              Fails(SCI_ERR_ILLEGAL_PARAMETER));
  }
}

TEST(Stores, fromOneShadowToAnother) {
  Pair p(simulated());
  sci_map_t second;
  auto *other = static_cast<volatile uint64_t *>(
      SCIMapRemoteSegment(p.there, &second, 4096, 64, nullptr, 0, Ok()));
  p.memory[512] = 99;
  SCIMemCpy(p.far.sequence, const_cast<uint64_t *>(other), p.far.map, 0, 8, 0, Ok());
  p.barrier();
  p.settle();
  EXPECT_EQ(p.memory[0], 99u);
}

TEST(Stores, canBeAskedToBeAligned) {
  Options o = simulated();
  o.facts.copyAlignment = 4;
  Pair p(o);
  char bytes[8];
  SCIMemCpy(nullptr, bytes, p.far.map, 0, 6, 0, Fails(SCI_ERR_SIZE_ALIGNMENT));
  SCIMemCpy(nullptr, bytes, p.far.map, 2, 4, 0, Fails(SCI_ERR_OFFSET_ALIGNMENT));
  SCIMemCpy(nullptr, bytes, p.far.map, 4, 4, 0, Ok());
}

}  // namespace
