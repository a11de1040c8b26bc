// SPDX-License-Identifier: BSD-3-Clause
// elaborate.cpp - what it costs to compile an algorithm, and then a step.
//
//   bench-elaborate [stdlib_algos]
//
// Prints `key: value` lines: the time from a checked tree to machine code, for each
// of some algorithms; one rank of the ring allgather at P = 65,536; steps a second
// over some 10^6 steps; all ranks at P = 256, 512 and 1,024: steps a second and bytes a
// step. Exit status 1 where these grow with P: nothing may grow faster than the steps.
// Times are of this process alone, and each is the best of a few.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iostream>

#include "compiler/jit/elaborator.h"
#include "dsl/parse.h"

namespace {

using namespace nbcc;

template <class Work>
double bestMilliseconds(int runs, Work work) {
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    std::clock_t start = std::clock();
    work();
    double took = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    best = std::min(best, took);
  }
  return best;
}

std::unique_ptr<ast::File> load(const std::filesystem::path &path, Diag &diag) {
  std::unique_ptr<ast::File> file = parse(path, diag);
  if (file) check(*file, diag);
  return file;
}

/// How much larger a step may be, and how much longer take, at 1,024 ranks than at 256.
/// Ranks are 4 times as many, so what is linear in them on top of the steps shows. Larger:
/// room is reserved for what the rank before took, so only the odd rank has a pool that it
/// has just doubled. Longer: a schedule that no longer fits the nearest cache, and whatever
/// else the machine does.
constexpr double kMostLarger = 1.2, kMostLonger = 2;

struct PerStep {
  double nanoseconds = 0, bytes = 0;
};

/// All ranks, one after the other: each is dropped when it is counted.
PerStep allRanks(Elaborator &elaborator, const ast::Algorithm &algorithm, const char *name,
                 int64_t ranks, const std::vector<int64_t> &parameters) {
  size_t steps = 0, bytes = 0;
  const double best = bestMilliseconds(3, [&] {
    steps = bytes = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const std::optional<Schedule> s = elaborator.elaborate(
          algorithm, {.ranks = ranks, .rank = rank, .root = 0, .parameters = parameters});
      if (!s) return;
      steps += s->steps.size();
      bytes += s->bytes();
    }
  });
  const auto count = static_cast<double>(steps);
  const PerStep result{best * 1e6 / count, static_cast<double>(bytes) / count};
  std::printf("%s, all of %ld ranks: %zu steps, %.1f M steps a second, %.0f bytes a step\n", name,
              static_cast<long>(ranks), steps, 1e3 / result.nanoseconds, result.bytes);
  return result;
}

/// Whether a step costs about the same for any number of ranks.
bool isLinear(const std::filesystem::path &library, const char *name, Diag &diag) {
  const std::unique_ptr<ast::File> file = load(library / name, diag);
  if (!diag.ok()) return false;
  Elaborator elaborator(*file, diag);
  const ast::Algorithm &algorithm = *file->algorithms.front();
  const std::vector<int64_t> parameters(algorithm.parameters.size(), 1);
  const PerStep few = allRanks(elaborator, algorithm, name, 256, parameters);
  allRanks(elaborator, algorithm, name, 512, parameters);
  const PerStep many = allRanks(elaborator, algorithm, name, 1024, parameters);
  const double longer = many.nanoseconds / few.nanoseconds, larger = many.bytes / few.bytes;
  const bool fine = longer <= kMostLonger && larger <= kMostLarger;
  std::printf(
      "%s, a step at 1024 ranks and at 256: %.2f times as long (at most %g), %.2f times "
      "as large (at most %g)%s\n",
      name, longer, kMostLonger, larger, kMostLarger, fine ? "" : ": it grows with the ranks");
  return fine;
}

}  // namespace

int main(int argc, char **argv) {
  std::filesystem::path library = argc > 1 ? argv[1] : NBCC_SOURCE_DIR "/stdlib_algos";
  Diag diag(std::cerr);

  for (const char *name :
       {"allgather/bruck.nbc", "allreduce/recursive_doubling.nbc", "bcast/chain.nbc"}) {
    std::unique_ptr<ast::File> file = load(library / name, diag);
    if (!diag.ok()) return 1;
    double once = bestMilliseconds(1, [&] { Elaborator(*file, diag); });
    double best = bestMilliseconds(5, [&] { Elaborator(*file, diag); });
    std::printf("%s to machine code: %.1f ms at first, %.1f ms then\n", name, once, best);
  }

  std::unique_ptr<ast::File> file = load(library / "allgather/ring.nbc", diag);
  if (!diag.ok()) return 1;
  Elaborator elaborator(*file, diag);
  const ast::Algorithm &ring = *file->algorithms.front();
  for (int64_t ranks : {int64_t{65'536}, int64_t{500'000}}) {
    size_t steps = 0;
    double once = 0, best = 0;
    auto run = [&] {
      std::optional<Schedule> s =
          elaborator.elaborate(ring, {.ranks = ranks, .rank = 7, .root = 0, .parameters = {}});
      steps = s ? s->steps.size() : 0;
    };
    once = bestMilliseconds(1, run);
    best = bestMilliseconds(5, run);
    std::printf(
        "ring of %ld ranks, one of them: %zu steps, %.1f ms at first, %.1f ms then, "
        "%.1f M steps a second\n",
        static_cast<long>(ranks), steps, once, best, static_cast<double>(steps) / best / 1e3);
  }

  // Small runs: what a rank costs where there are many.
  constexpr int64_t kRanks = 64;
  double all = bestMilliseconds(5, [&] {
    for (int64_t rank = 0; rank < kRanks; ++rank)
      elaborator.elaborate(ring, {.ranks = kRanks, .rank = rank, .root = 0, .parameters = {}});
  });
  std::printf("ring of %ld ranks, all of them: %.2f ms\n", static_cast<long>(kRanks), all);

  bool linear = true;
  for (const char *name : {"allgather/ring.nbc", "allreduce/ring.nbc", "alltoall/bruck.nbc"})
    linear &= isLinear(library, name, diag);
  return diag.ok() && linear ? 0 : 1;
}
