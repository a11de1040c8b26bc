// SPDX-License-Identifier: BSD-3-Clause
// again.h - calls whose blocks have lengths of their own, of which many are like the one before.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "nbc.h"

/// Arrays of an allgather: blocks in reverse order with gaps, or one behind the other.
struct Rows {
  static constexpr size_t room = 24;  // elements, of a block at most
  std::vector<size_t> counts;
  std::vector<ptrdiff_t> begins;
  bool areGiven;
  uint64_t number;  // or 0

  void fill(uint32_t ranks, std::mt19937 &random) {
    counts.assign(ranks, 0), begins.assign(ranks, 0);
    for (size_t &n : counts) n = random() % 4 ? random() % room : 0;
    areGiven = random() % 3;
    number = random() % 3 ? random() | 1u : 0;
    for (uint32_t r = 0; r < ranks && areGiven; ++r) begins[r] = ptrdiff_t((ranks - r) * room);
    if (!areGiven) std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), ptrdiff_t{0});
  }
};

/// One of them, of all ranks.
struct Gather {
  using Numbers = std::vector<uint16_t>;
  const Rows *rows;
  bool inPlace;
  std::vector<Numbers> in, out;
  Numbers wanted;

  Gather(const Rows &given, std::mt19937 &random)
      : rows(&given),
        inPlace(random() % 4 == 0),
        in(given.counts.size()),
        wanted((given.counts.size() + 1) * Rows::room, 0xeeee) {
    out.assign(in.size(), wanted);
    for (size_t r = 0; r < in.size(); ++r) {
      for (size_t i = 0; i < rows->counts[r]; ++i) in[r].push_back(uint16_t(random()));
      std::ranges::copy(in[r], wanted.begin() + rows->begins[r]);
      if (inPlace) std::ranges::copy(in[r], out[r].begin() + rows->begins[r]);
    }
  }
  nbc_call call(uint32_t r) {
    nbc_call c = {.in = inPlace ? NBC_IN_PLACE : in[r].data(),
                  .out = out[r].data(),
                  .count = in[r].size(),
                  .type = NBC_U16};
    c.out_counts = rows->counts.data();
    c.arrays = rows->number;
    if (rows->areGiven) c.out_displacements = rows->begins.data();
    return c;
  }
};

/// Up to four at a time, in random order: the same arrays with other buffers, other arrays, and
/// arrays in which something else stands than before. And some that are refused, without a trace.
template <class World>
void gatherAgainAndAgain(World &w, uint32_t ranks, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Rows> rows(3);
  for (Rows &r : rows) r.fill(ranks, random);
  for (int round = 0; round < 150; ++round) {
    if (round % 5 == 4) rows[random() % rows.size()].fill(ranks, random);
    std::vector<Gather> calls;
    for (size_t k = 0, n = 1 + random() % 4; k < n; ++k)
      calls.emplace_back(rows[random() % 5 ? 0 : random() % rows.size()], random);
    std::vector<nbc_request> requests(calls.size() * ranks);
    std::vector<uint32_t> order(ranks);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    for (uint32_t r : order)
      for (size_t k = 0; k < calls.size(); ++k) {
        const nbc_call call = calls[k].call(r);
        nbc_request *request = &requests[k * ranks + r];
        nbc_call nowhere = call;
        nowhere.out = nullptr;
        if (std::ranges::max(calls[k].rows->counts) > 0 && random() % 8 == 0) {
          ASSERT_EQ(nbc_start(w.plans[r], &nowhere, request), NBC_ERROR_ARGUMENT) << round;
        }
        ASSERT_EQ(nbc_start_attended(w.plans[r], &call, request), 0) << round;
      }
    ASSERT_TRUE(w.finish(requests)) << round;
    for (const Gather &call : calls)
      for (uint32_t r = 0; r < ranks; ++r)
        ASSERT_EQ(call.out[r], call.wanted) << "round " << round << ", rank " << r;
  }
}
