// SPDX-License-Identifier: BSD-3-Clause
// All passes stay near-linear: CPU time on schedules of many steps and of many blocks.
//
// The figures are printed; what is asserted is ten times the budget, so that a
// loaded machine or a sanitizer does not fail, and a quadratic pass does.

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "support.h"

namespace nbcc {
namespace {

struct Builder {
  Schedule s;
  Builder(ast::Kind kind, int64_t ranks, int64_t rank, int64_t in, int64_t out) {
    s.algorithm = "speed", s.kind = kind, s.ranks = ranks, s.rank = rank;
    s.buffers = {{.name = "in", .role = Role::in, .blocks = in},
                 {.name = "out", .role = Role::out, .blocks = out}};
  }
  void step(Op op, int64_t peer, int32_t round, Extent from, Extent to) {
    Step step{.op = op, .peer = static_cast<int32_t>(peer), .round = round};
    if (from.buffer >= 0) step.from = s.keep({&from, 1});
    if (to.buffer >= 0) step.to = s.keep({&to, 1});
    s.steps.push_back(step);
  }
};

/// Milliseconds of CPU for all default passes.
double passTime(const Schedule &s, int times, Schedule *result = nullptr) {
  double total = 0;
  for (int i = 0; i < times; ++i) {
    Schedule now = s;
    std::ostringstream said;
    Diag diag(said);
    diag.addFile("speed", "");
    const std::clock_t begin = std::clock();
    runPasses(now, {}, {[](int64_t) { return nullptr; }}, diag);
    total += 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_EQ(said.str(), "");
    if (result) *result = now;
  }
  return total / times;
}

void report(const char *what, double ms, double budget) {
  printf("%s: %.3f ms, budget %.1f ms\n", what, ms, budget);
  EXPECT_LT(ms, 10 * budget);
}

TEST(Speed, RingOf65536) {
  const int64_t p = 65536, me = 5;
  Builder b(ast::Kind::allgather, p, me, 1, p);
  b.step(Op::copy, -1, 0, {0, 1, 0, 1}, {1, 1, me, 1});
  for (int32_t r = 0; r < p - 1; ++r) {
    b.step(Op::send, me + 1, r, {1, 1, (me - r + p) % p, 1}, {});
    b.step(Op::recv, me - 1, r, {}, {1, 1, (me - r - 1 + p) % p, 1});
  }
  b.s.rounds = p - 1;
  report("ring allgather, 65536 ranks, one of them", passTime(b.s, 2), 150);
}

TEST(Speed, BruckOf1024) {
  const int64_t p = 1024, me = 300;
  Builder b(ast::Kind::allgather, p, me, 1, p);
  b.s.buffers.push_back({.name = "tmp", .blocks = p, .like = {{1, 1, me, p - me}, {1, 1, 0, me}}});
  b.step(Op::copy, -1, 0, {0, 1, 0, 1}, {2, 1, 0, 1});
  for (int64_t d = 1; d < p; d *= 2) {
    const int64_t n = std::min(d, p - d);
    b.step(Op::send, (me - d + p) % p, b.s.rounds, {2, 1, 0, n}, {});
    b.step(Op::recv, (me + d) % p, b.s.rounds++, {}, {2, 1, d, n});
  }
  for (int64_t j = 0; j < p; ++j)
    b.step(Op::copy, -1, b.s.rounds, {2, 1, j, 1}, {1, 1, (me + j) % p, 1});
  Schedule now;
  report("Bruck allgather, 1024 ranks, one of them", passTime(b.s, 50, &now), 0.3);
  EXPECT_EQ(now.steps.size(), 21u);  // none of the copies is left
  EXPECT_EQ(now.buffers.size(), 2u);
}

TEST(Speed, LinearAlltoallOf1024) {
  const int64_t p = 1024, me = 300;
  Builder b(ast::Kind::alltoall, p, me, p, p);
  b.step(Op::copy, -1, 0, {0, 1, me, 1}, {1, 1, me, 1});
  for (int64_t i = 1; i < p; ++i) {
    b.step(Op::send, (me + i) % p, 0, {0, 1, (me + i) % p, 1}, {});
    b.step(Op::recv, (me - i + p) % p, 0, {}, {1, 1, (me - i + p) % p, 1});
  }
  b.s.rounds = 1;
  report("linear alltoall, 1024 ranks, one of them", passTime(b.s, 20), 3);
}

TEST(Speed, WideReadsOfManyWrites) {
  // Everything received block by block, then sent whole, again and again.
  const int64_t p = 4096;
  Builder b(ast::Kind::allgather, p, 0, 1, p);
  b.s.buffers.push_back({.name = "tmp", .blocks = p, .like = {{1, 1, 0, p}}});
  for (int64_t i = 1; i < p; ++i) b.step(Op::recv, i, 0, {}, {2, 1, i, 1});
  for (int32_t i = 1; i < 64; ++i) b.step(Op::send, i, i, {2, 1, 1, p - 1}, {});
  for (int64_t i = p - 1; i > 0; --i) b.step(Op::copy, -1, 64, {2, 1, i, 1}, {1, 1, p - i, 1});
  b.s.rounds = 64;
  report("4096 writes, 64 reads of all", passTime(b.s, 2), 50);
}

TEST(Speed, ManyScratchBuffers) {
  Builder b(ast::Kind::allgather, 2, 0, 1, 2);
  for (int32_t i = 0; i < 3000; ++i) {
    const BufferId id = static_cast<BufferId>(b.s.buffers.size());
    b.s.buffers.push_back({.name = cat("t", i), .blocks = 1, .like = {{0, 1, 0, 1}}});
    b.step(Op::recv, 1, i, {}, {id, 1, 0, 1});
    b.step(Op::send, 1, i + 1, {id, 1, 0, 1}, {});
  }
  // recv of round i comes before send of round i: numbers as they stand are in order.
  b.s.rounds = 3001;
  report("3000 scratch buffers", passTime(b.s, 1), 100);
}

}  // namespace
}  // namespace nbcc
