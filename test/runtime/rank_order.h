// SPDX-License-Identifier: BSD-3-Clause
// rank_order.h - a reduction whose result tells the order of its operands.

#pragma once

#include <cstring>

#include "test/runtime/plans.h"

// x -> a x + b, composed: associative, not commutative.
struct Affine {
  uint32_t a, b;
  bool operator==(const Affine &) const = default;
};

/// An nbc_reduce_function of NBC_U64s, which are two halves each. Counts its calls in the context.
inline void compose(void *to, const void *left, const void *right, size_t n, void *context) {
  ++*static_cast<int *>(context);
  for (size_t i = 0; i < n; ++i) {
    Affine l, r;
    std::memcpy(&l, static_cast<const char *>(left) + i * sizeof l, sizeof l);
    std::memcpy(&r, static_cast<const char *>(right) + i * sizeof r, sizeof r);
    const Affine both = {l.a * r.a, l.a * r.b + l.b};
    std::memcpy(static_cast<char *>(to) + i * sizeof both, &both, sizeof both);
  }
}

/// Several calls of all ranks on a World's plans; the last rank's host reduces.
template <class World>
void reduceInRankOrder(World &w, uint32_t ranks, size_t calls) {
  constexpr size_t n = 5;
  std::vector<Affine> in(ranks * calls * n), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = {uint32_t(i * 2 + 3), uint32_t(i * 5 + 1)};
  std::vector<nbc_request> requests(ranks * calls);
  int context = 0;
  for (size_t at = 0; at < requests.size(); ++at) {
    nbc_call call = {.in = &in[at * n],
                     .out = &out[at * n],
                     .count = n,
                     .type = NBC_U64,
                     .op = NBC_USER,
                     .user = compose,
                     .user_context = &context};
    ASSERT_EQ(nbc_start(w.plans[at / calls], &call, &requests[at]), 0);
  }
  ASSERT_TRUE(w.finish(requests));
  EXPECT_EQ(context, int(calls * (ranks - 1)));
  for (size_t at = 0; at < out.size(); ++at) {
    size_t element = at % (calls * n);
    Affine all = in[element];
    for (uint32_t r = 1; r < ranks; ++r)
      compose(&all, &all, &in[r * calls * n + element], 1, &context);
    ASSERT_EQ(out[at], all) << at;
  }
}
