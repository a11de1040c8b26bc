// SPDX-License-Identifier: BSD-3-Clause
// gather.h - allgathers of all ranks of a test, with every byte looked at.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nbc.h"

/// Byte i of what a rank gives in a call: others differ nearby.
inline uint8_t byteOf(size_t rank, size_t call, size_t i) {
  return uint8_t(rank * 31 + call * 7 + i + 1);
}

/// What a rank sends, written and compared as a whole: sanitizers look at each access.
inline std::vector<uint8_t> sentBy(size_t rank, size_t call, size_t bytes) {
  std::vector<uint8_t> sent(bytes);
  uint8_t *to = sent.data();
  for (size_t i = 0; i < bytes; ++i) to[i] = byteOf(rank, call, i);
  return sent;
}

/// Rank 0 of two is 200 allgathers ahead, of blocks of `length` bytes, before the other starts;
/// `rested` is called when each has started all of its own.
template <class World, class Rested, class... How>
void gatherFarAhead(World &w, size_t length, Rested rested, How... how) {
  constexpr size_t calls = 200;
  std::vector<uint8_t> in[2], out[2];
  std::vector<nbc_request> requests(2 * calls);
  for (size_t r : {0, 1}) {
    in[r].assign(length, uint8_t(r + 1));
    out[r].resize(calls * 2 * length);
    for (size_t c = 0; c < calls; ++c) {
      nbc_call call = {.in = in[r].data(), .out = &out[r][c * 2 * length], .count = length};
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r * calls + c]), 0);
    }
    rested();
    for (int looks = 0; r == 0 && looks < 1000; ++looks) {
      int done = 1;
      EXPECT_EQ(nbc_test(&requests[0], &done), 0);
      ASSERT_FALSE(done);
    }
  }
  ASSERT_TRUE(w.finish(requests, how...));
  for (size_t i = 0; i < 2 * calls * length; ++i)
    ASSERT_EQ(out[0][i], 1 + i / length % 2) << "byte " << i;
  EXPECT_EQ(out[0], out[1]);
}

/// An allgather of blocks of `bytes[call]` bytes for each entry, all of them started by all ranks
/// before anything moves. `World` has plans, and a `finish` to which `how` goes.
template <class World, class... How>
void gatherAll(World &w, const std::vector<size_t> &bytes, bool inPlace = false, How... how) {
  size_t ranks = w.plans.size(), calls = bytes.size();
  std::vector<std::vector<uint8_t>> in(ranks * calls), out(ranks * calls);
  std::vector<nbc_request> requests(ranks * calls);
  for (size_t r = 0; r < ranks; ++r)
    for (size_t c = 0; c < calls; ++c) {
      size_t n = bytes[c], at = r * calls + c;
      in[at] = sentBy(r, c, n);
      out[at].resize(n * ranks + 1, 0x77);
      if (inPlace) std::copy(in[at].begin(), in[at].end(), out[at].begin() + ptrdiff_t(r * n));
      nbc_call call = {
          .in = inPlace ? NBC_IN_PLACE : in[at].data(), .out = out[at].data(), .count = n};
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[at]), 0);
    }
  ASSERT_TRUE(w.finish(requests, how...));
  for (size_t at = 0; at < out.size(); ++at) {
    for (size_t from = 0; from < ranks; ++from)
      for (size_t i = 0, n = bytes[at % calls]; i < n; ++i)
        ASSERT_EQ(out[at][from * n + i], byteOf(from, at % calls, i))
            << "rank " << at / calls << " call " << at % calls << " from " << from << " byte " << i;
    ASSERT_EQ(out[at].back(), 0x77);
  }
}
