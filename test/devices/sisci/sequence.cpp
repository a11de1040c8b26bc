// SPDX-License-Identifier: BSD-3-Clause
// Sequences: what is lost is said to be lost, and nothing is lost that nobody watches.

#include <array>

#include "test/devices/sisci/rig.h"

using namespace sisci;

namespace {

Options faulty(Options o, uint64_t seed) {
  o.adversarial = true;
  o.seed = seed;
  o.faults = 3;
  return o;
}

TEST(Sequence, saysWhatHasBecomeOfStores) {
  std::array<int, 4> checks{}, starts{};
  int lost = 0;
  for (const Options &base : {simulated(), realTime()})
    for (uint64_t seed = 1; seed <= 150; ++seed) {
      Pair p(faulty(base, seed));
      p.far.memory[9] = 1;  // before it is watched
      while (++starts[static_cast<size_t>(SCIStartSequence(p.far.sequence, 0, Ok()))], false) {
      }
      sci_sequence_status_t status = SCI_SEQ_RETRIABLE;
      while (status != SCI_SEQ_OK) {
        if (status == SCI_SEQ_NOT_RETRIABLE) do {
            status = SCIStartSequence(p.far.sequence, 0, Ok());
            ++starts[static_cast<size_t>(status)];
          } while (status != SCI_SEQ_OK);
        for (uint64_t i = 0; i < 8; ++i) p.far.memory[i] = i + 1;
        p.barrier();
        do {
          status = SCICheckSequence(p.far.sequence, 0, Ok());
          ++checks[static_cast<size_t>(status)];
        } while (status == SCI_SEQ_PENDING);
        p.settle();
        bool all = true;
        for (uint64_t i = 0; i < 8; ++i) all &= p.memory[i] == i + 1;
        lost += !all;
        if (status == SCI_SEQ_OK) {
          EXPECT_TRUE(all) << "seed " << seed;
        }
      }
      EXPECT_EQ(p.memory[9], 1u);
    }
  EXPECT_GT(lost, 30);
  EXPECT_EQ(checks[SCI_SEQ_OK], 300);
  EXPECT_GT(checks[SCI_SEQ_RETRIABLE], 20);
  EXPECT_GT(checks[SCI_SEQ_NOT_RETRIABLE], 20);
  EXPECT_GT(checks[SCI_SEQ_PENDING], 20);
  EXPECT_GT(starts[SCI_SEQ_NOT_RETRIABLE], 5);
  EXPECT_GT(starts[SCI_SEQ_PENDING], 5);
}

TEST(Sequence, watchesNothingBeforeItsStart) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Pair p(faulty(simulated(), seed));
    for (uint64_t i = 0; i < 8; ++i) p.far.memory[i] = i + 1;
    if (seed % 2) SCIStartSequence(p.far.sequence, 0, Ok());
    p.barrier();
    p.settle();
    for (uint64_t i = 0; i < 8; ++i) ASSERT_EQ(p.memory[i], i + 1) << "seed " << seed;
  }
}

TEST(Sequence, pushesOutUnlessItIsToldNotTo) {
  Pair p;
  SCIStartSequence(p.far.sequence, 0, Ok());
  p.far.memory[0] = 1;
  EXPECT_EQ(SCICheckSequence(p.far.sequence, SCI_FLAG_NO_FLUSH | SCI_FLAG_NO_STORE_BARRIER, Ok()),
            SCI_SEQ_OK);
  p.settle();
  EXPECT_EQ(p.memory[0], 0u);
  EXPECT_EQ(SCICheckSequence(p.far.sequence, 0, Ok()), SCI_SEQ_OK);
  p.settle();
  EXPECT_EQ(p.memory[0], 1u);
  p.far.memory[1] = 1;
  SCIFlush(p.far.sequence, SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY);
  p.settle();
  EXPECT_EQ(p.memory[1], 1u);
}

TEST(Sequence, checksACopyOfTheLibrary) {
  int failed = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Pair p(faulty(simulated(), seed));
    uint64_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    sci_error_t error;
    do {
      SCIMemCpy(p.far.sequence, data, p.far.map, 8, sizeof data, SCI_FLAG_ERROR_CHECK, &error);
      failed += error == SCI_ERR_TRANSFER_FAILED;
    } while (error == SCI_ERR_TRANSFER_FAILED);
    ASSERT_EQ(error, SCI_ERR_OK);
    p.settle();
    EXPECT_EQ(std::memcmp(p.memory + 1, data, sizeof data), 0) << "seed " << seed;
  }
  EXPECT_GT(failed, 20);
}

TEST(Sequence, isOfARemoteSegmentOnly) {
  Pair p;
  sci_sequence_t s = nullptr;
  SCICreateMapSequence(p.local, &s, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
  SCICreateMapSequence(p.far.map, &s, SCI_FLAG_FAST_BARRIER, Ok());
  uint64_t word = 0;
  Far<uint64_t> other(p.there, 64);
  SCIMemCpy(other.sequence, &word, p.far.map, 0, 8, 0, Fails(SCI_ERR_ILLEGAL_PARAMETER));
}

TEST(Sequence, costsTheHostItsTime) {
  Options o = simulated();
  o.cost = paper;
  Pair p(o, 1 << 20);
  for (size_t i = 0; i < (1 << 17); ++i) p.far.memory[i] = i + 1;
  p.barrier();
  p.settle();
  // 325 MiB/s and 1.4 us.
  EXPECT_NEAR(static_cast<double>(p.rig.fabric->now()) / microsecond, 1e6 / 325 + 1.5, 100.0);
}

}  // namespace
