// SPDX-License-Identifier: BSD-3-Clause
// stages.cpp - what the compiler's stages take for the largest that they get: the parser for a file
// of the library, the passes for schedules of many steps and of many blocks, one look into a long
// list.
//
//   bench-stages
//
// A line for each: milliseconds of processor time, the best of a few, and ten times what it took
// where it was written, which a stage that has become quadratic exceeds: exit status 1.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iostream>
#include <sstream>

#include "compiler/ir/schedule.h"
#include "compiler/passes/passes.h"
#include "dsl/parse.h"

namespace nbcc {
namespace {

int slow = 0;

void measure(const char *what, double limit, int times, const std::function<void()> &work) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    const std::clock_t begin = std::clock();
    work();
    best = std::min(best, 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  slow += best > limit;
  std::printf("%s: %.3f ms (at most %g%s)\n", what, best, limit, best > limit ? ": too slow" : "");
}

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

/// All default passes.
void passes(const char *what, double limit, int times, const Schedule &s) {
  measure(what, limit, times, [&] {
    Schedule now = s;
    Diag diag(std::cerr);
    diag.addFile("stages", "");
    runPasses(now, {}, {[](int64_t) { return nullptr; }}, diag);
  });
}

void ring() {
  const int64_t p = 65536, me = 5;
  Builder b(ast::Kind::allgather, p, me, 1, p);
  b.step(Op::copy, -1, 0, {0, 1, 0, 1}, {1, 1, me, 1});
  for (int32_t r = 0; r < p - 1; ++r) {
    b.step(Op::send, me + 1, r, {1, 1, (me - r + p) % p, 1}, {});
    b.step(Op::recv, me - 1, r, {}, {1, 1, (me - r - 1 + p) % p, 1});
  }
  b.s.rounds = p - 1;
  passes("ring allgather, 65536 ranks, one of them", 1500, 2, b.s);
}

void bruck() {
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
  passes("Bruck allgather, 1024 ranks, one of them", 3, 50, b.s);
}

void linear() {
  const int64_t p = 1024, me = 300;
  Builder b(ast::Kind::alltoall, p, me, p, p);
  b.step(Op::copy, -1, 0, {0, 1, me, 1}, {1, 1, me, 1});
  for (int64_t i = 1; i < p; ++i) {
    b.step(Op::send, (me + i) % p, 0, {0, 1, (me + i) % p, 1}, {});
    b.step(Op::recv, (me - i + p) % p, 0, {}, {1, 1, (me - i + p) % p, 1});
  }
  b.s.rounds = 1;
  passes("linear alltoall, 1024 ranks, one of them", 30, 20, b.s);
}

void wideReads() {
  // Everything received block by block, then sent whole, again and again.
  const int64_t p = 4096;
  Builder b(ast::Kind::allgather, p, 0, 1, p);
  b.s.buffers.push_back({.name = "tmp", .blocks = p, .like = {{1, 1, 0, p}}});
  for (int64_t i = 1; i < p; ++i) b.step(Op::recv, i, 0, {}, {2, 1, i, 1});
  for (int32_t i = 1; i < 64; ++i) b.step(Op::send, i, i, {2, 1, 1, p - 1}, {});
  for (int64_t i = p - 1; i > 0; --i) b.step(Op::copy, -1, 64, {2, 1, i, 1}, {1, 1, p - i, 1});
  b.s.rounds = 64;
  passes("4096 writes, 64 reads of all", 500, 2, b.s);
}

void scratchBuffers() {
  Builder b(ast::Kind::allgather, 2, 0, 1, 2);
  for (int32_t i = 0; i < 3000; ++i) {
    const BufferId id = static_cast<BufferId>(b.s.buffers.size());
    b.s.buffers.push_back({.name = cat("t", i), .blocks = 1, .like = {{0, 1, 0, 1}}});
    b.step(Op::recv, 1, i, {}, {id, 1, 0, 1});
    b.step(Op::send, 1, i + 1, {id, 1, 0, 1}, {});
  }
  // recv of round i comes before send of round i: numbers as they stand are in order.
  b.s.rounds = 3001;
  passes("3000 scratch buffers", 1000, 1, b.s);
}

void parser() {
  // A parser that predicts by simulation takes 100 times as long.
  measure("parser, a file of the library", 3, 20, [] {
    Diag diag(std::cerr);
    slow += parse(NBCC_SOURCE_DIR "/test/dsl/print.nbc", diag) == nullptr;
  });
}

void likeList() {
  Schedule s;
  const int64_t n = 65536;
  s.buffers.push_back({.name = "out", .role = Role::out, .blocks = n});
  Buffer scratch{.name = "tmp", .blocks = n};
  for (int64_t i = 0; i < n; ++i) scratch.like.push_back({0, 1, i * 7 % n, 1});
  s.buffers.push_back(scratch);
  // Walking would look at 2 * 10^9 extents.
  measure("each block of a like list of 65536", 100, 3, [&] {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += resolve(s, std::vector<Extent>{{1, 1, i, 1}})[0].first;
    slow += sum != n * (n - 1) / 2;
  });
}

}  // namespace
}  // namespace nbcc

int main() {
  using namespace nbcc;
  parser();
  likeList();
  ring();
  bruck();
  linear();
  wideReads();
  scratchBuffers();
  return slow != 0;
}
