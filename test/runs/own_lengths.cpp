// SPDX-License-Identifier: BSD-3-Clause
// own_lengths.cpp - the library's algorithms called as MPI's v- and w-variants, through nbc.h
// alone.
//
// What --run does not show: types of blocks, arrays that MPI says nobody looks at, and ranks that
// do not agree.

#include "test/runs/compiled.h"
#include "test/runtime/world.h"

namespace {

using nbcc::Blocks;
using nbcc::Protocol;

/// All ranks of an algorithm, root 0.
std::unique_ptr<World> world(const char *algorithm, uint32_t ranks, uint64_t seed = 0) {
  nbcc::Compiled compiled(algorithm, ranks, Protocol::automatic, -1, Blocks::each);
  EXPECT_EQ(compiled.said.str(), "");
  return std::make_unique<World>(
      ranks, [&](uint32_t rank) { return build::Bytes{std::move(compiled.templates[rank].words)}; },
      nbc_plan_options{.max_bytes = 256}, World::options(seed));
}

/// Block from rank `from` to rank `to`.
uint8_t byteOf(size_t from, size_t to, size_t i) {
  return uint8_t(from * 50 + to * 13 + i + 1);
}

TEST(OwnLengths, alltoallwWithTypesAndOddPlaces) {
  constexpr size_t P = 3;
  // Of each pair: so many elements of that type; nothing from 1 to 2.
  const size_t counts[P][P] = {{2, 3, 1}, {5, 1, 0}, {1, 4, 2}};
  const nbc_type types[P][P] = {
      {NBC_U16, NBC_BYTE, NBC_F64}, {NBC_I32, NBC_U8, NBC_F64}, {NBC_U64, NBC_I16, NBC_BYTE}};
  const auto bytes = [&](size_t from, size_t to) {
    return counts[from][to] * nbc_type_size(types[from][to]);
  };
  for (uint64_t seed = 0; seed < 6; ++seed) {
    std::unique_ptr<World> w = world("alltoall/pairwise", P, seed);
    std::vector<size_t> inCounts[P], outCounts[P];
    std::vector<nbc_type> inTypes[P], outTypes[P];
    std::vector<ptrdiff_t> at[P];
    std::vector<uint8_t> in[P], out[P], wanted[P];
    std::vector<nbc_request> requests(P);
    for (size_t r = 0; r < P; ++r) {
      in[r].assign(128, 0xee);
      out[r].assign(128, 0xdd);
      wanted[r] = out[r];
      at[r] = {81, 1, 40};  // in bytes, out of order, aligned for nothing
      for (size_t p = 0; p < P; ++p) {
        inCounts[r].push_back(counts[r][p]);
        inTypes[r].push_back(types[r][p]);
        outCounts[r].push_back(counts[p][r]);
        outTypes[r].push_back(types[p][r]);
        for (size_t i = 0; i < bytes(r, p); ++i) in[r][size_t(at[r][p]) + i] = byteOf(r, p, i);
        for (size_t i = 0; i < bytes(p, r); ++i) wanted[r][size_t(at[r][p]) + i] = byteOf(p, r, i);
      }
      nbc_call call = {.in = in[r].data(), .out = out[r].data()};
      call.in_counts = inCounts[r].data();
      call.out_counts = outCounts[r].data();
      call.in_displacements = call.out_displacements = at[r].data();
      call.in_types = inTypes[r].data();
      call.out_types = outTypes[r].data();
      ASSERT_EQ(nbc_start(w->plans[r], &call, &requests[r]), 0);
    }
    ASSERT_TRUE(w->finish(requests));
    for (size_t r = 0; r < P; ++r) EXPECT_EQ(out[r], wanted[r]) << "rank " << r;
  }
}

TEST(OwnLengths, arraysAreLookedAtWhereMpiDoes) {
  // Not mapped: who looks at it crashes.
  const auto *nobody = reinterpret_cast<const size_t *>(64);
  const auto *nowhere = reinterpret_cast<const ptrdiff_t *>(64);
  const size_t counts[] = {1, 3, 0, 2};
  const ptrdiff_t at[] = {7, 0, 3, 4};
  for (const char *algorithm : {"gather/linear", "gather/sequential"})
    for (const bool inPlace : {false, true}) {
      std::unique_ptr<World> w = world(algorithm, 4);
      uint8_t in[4][3], out[9], wanted[9];
      std::memset(out, 0xdd, sizeof out);
      std::memset(wanted, 0xdd, sizeof wanted);
      std::vector<nbc_request> requests(4);
      if (inPlace) out[at[0]] = byteOf(0, 0, 0);
      for (size_t r = 0; r < 4; ++r) {
        for (size_t i = 0; i < counts[r]; ++i)
          in[r][i] = wanted[size_t(at[r]) + i] = byteOf(r, 0, i);
        nbc_call call = {.in = in[r], .count = counts[r]};
        call.in_counts = nobody;
        call.out_counts = r ? nobody : counts;
        call.out_displacements = r ? nowhere : at;
        if (r == 0) call.out = out;
        if (r == 0 && inPlace) call.in = NBC_IN_PLACE, call.count = 9;
        ASSERT_EQ(nbc_start(w->plans[r], &call, &requests[r]), 0);
      }
      ASSERT_TRUE(w->finish(requests));
      EXPECT_EQ(std::memcmp(out, wanted, sizeof out), 0) << algorithm;
    }
  for (const bool inPlace : {false, true}) {
    std::unique_ptr<World> w = world("scatter/linear", 4);
    uint8_t in[9], out[4][3] = {};
    std::vector<nbc_request> requests(4);
    for (size_t r = 0; r < 4; ++r)
      for (size_t i = 0; i < counts[r]; ++i) in[size_t(at[r]) + i] = byteOf(0, r, i);
    for (size_t r = 0; r < 4; ++r) {
      nbc_call call = {.out = out[r], .count = counts[r]};
      call.out_counts = nobody;
      call.in_counts = r ? nobody : counts;
      call.in_displacements = r ? nowhere : at;
      if (r == 0) call.in = in;
      if (r == 0 && inPlace) call.out = NBC_IN_PLACE, call.count = 9;
      ASSERT_EQ(nbc_start(w->plans[r], &call, &requests[r]), 0);
    }
    ASSERT_TRUE(w->finish(requests));
    for (size_t r = inPlace; r < 4; ++r)
      for (size_t i = 0; i < counts[r]; ++i) EXPECT_EQ(out[r][i], byteOf(0, r, i));
    EXPECT_EQ(out[0][0] == 0, inPlace);
  }
}

TEST(OwnLengths, reduceScatterHasTheRowOfItsInputOnly) {
  constexpr size_t P = 3;
  const size_t counts[P] = {2, 0, 3};
  std::unique_ptr<World> w = world("reduce_scatter/pairwise", P);
  int32_t in[P][5], out[P][4];
  std::vector<nbc_request> requests(P);
  for (size_t r = 0; r < P; ++r) {
    std::fill_n(out[r], 4, -1);
    for (int i = 0; i < 5; ++i) in[r][i] = int32_t(100 * r) + i;
    nbc_call call = {.in = in[r], .out = out[r], .count = 99, .type = NBC_I32, .op = NBC_SUM};
    call.in_counts = counts;
    ASSERT_EQ(nbc_start(w->plans[r], &call, &requests[r]), 0);
  }
  ASSERT_TRUE(w->finish(requests));
  const int32_t wanted[P][4] = {{300, 303, -1, -1}, {-1, -1, -1, -1}, {306, 309, 312, -1}};
  EXPECT_EQ(std::memcmp(out, wanted, sizeof out), 0);
  nbc_call call = {.in = NBC_IN_PLACE, .out = in[0], .type = NBC_I32, .op = NBC_SUM};
  call.in_counts = counts;
  EXPECT_EQ(nbc_start(w->plans[0], &call, &requests[0]), NBC_ERROR_UNSUPPORTED);
}

TEST(OwnLengths, whoReceivesMoreThanItSaidLearnsOfIt) {
  std::unique_ptr<World> w = world("alltoall/linear", 2);
  const size_t sent[2][2] = {{1, 6}, {1, 1}}, received[2][2] = {{1, 1}, {4, 1}};  // 4 where 6 come
  uint8_t in[2][8] = {}, out[2][8] = {};
  std::vector<nbc_request> requests(2);
  for (size_t r : {0, 1}) {
    nbc_call call = {.in = in[r], .out = out[r]};
    call.in_counts = sent[r];
    call.out_counts = received[r];
    ASSERT_EQ(nbc_start(w->plans[r], &call, &requests[r]), 0);
  }
  w->fabric.run();
  int failed = 0;
  for (size_t r : {0, 1}) {
    int done = 0, status = nbc_test(&requests[r], &done);
    for (int i = 0; i < 100 && !done; ++i) status = nbc_test(&requests[r], &done);
    EXPECT_TRUE(done) << r;
    failed += status == NBC_ERROR_DEVICE;
  }
  EXPECT_EQ(failed, 2);
  for (size_t i = 5; i < 8; ++i) EXPECT_EQ(out[1][i], 0);
}

}  // namespace
