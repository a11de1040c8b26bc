// SPDX-License-Identifier: BSD-3-Clause
// computation.cpp - steps, how long they take, and whether all ranks can compute at once.

#include "tools/bench/computation.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "tools/bench/clock.h"
#include "tools/bench/together.h"

namespace nbcc::bench {
namespace {

// All at once may take so much longer than one alone.
constexpr double tolerance = 1.15;
// The least of so many trials counts: others use the machine, too. More where they disturb.
constexpr int trials = 10, mostTrials = 300;
constexpr double trialMicroseconds = 1000;

constexpr double nanosecond = 1e-3;

// Each step needs the one before it, and no memory: neither compilers nor caches make a difference.
// What is volatile stays between the clocks around it.
void compute(uint64_t steps) {
  volatile double ends = 1;
  double x = ends;
  for (uint64_t i = 0; i < steps; ++i) x = x * 0.999 + 1e-6;
  ends = x;
}

double timed(uint64_t steps) {
  const double begin = now();
  compute(steps);
  return now() - begin;
}

/// A barrier at which nobody computes.
void sleepUntilAll() {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; !done; usleep(200)) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/// Ranks of this node, and the cores that they may use together.
void count(int &ranks, int &cores) {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::array<unsigned char, sizeof set> bytes;
  std::copy_n(reinterpret_cast<unsigned char *>(&set), sizeof set, bytes.begin());
  MPI_Allreduce(MPI_IN_PLACE, bytes.data(), int(bytes.size()), MPI_UNSIGNED_CHAR, MPI_BOR, node);
  std::copy_n(bytes.begin(), sizeof set, reinterpret_cast<unsigned char *>(&set));
  MPI_Comm_size(node, &ranks);
  cores = CPU_COUNT(&set);
  MPI_Comm_free(&node);
  // The node with the fewest cores for each rank.
  struct {
    double share;
    int rank;
  } worst = {double(cores) / ranks, rankHere()};
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  int numbers[2] = {ranks, cores};
  MPI_Bcast(numbers, 2, MPI_INT, worst.rank, MPI_COMM_WORLD);
  ranks = numbers[0], cores = numbers[1];
}

}  // namespace

Computation::Computation(bool yields)
    : yields_(yields), microsecondsPerStep_(yields ? nanosecond : 1) {
  count(ranksOfNode, coresOfNode);
}

void Computation::run(uint64_t steps) const {
  if (!yields_) return compute(steps);
  const double end = now() + double(steps) * microsecondsPerStep_;
  while (now() < end) sched_yield();
}

void Computation::calibrate() {
  if (yields_ || ranksOfNode > coresOfNode) return;
  uint64_t steps = 1000;
  double least = 1e9;
  sleepUntilAll();
  if (rankHere() == 0) {
    while (timed(steps) < trialMicroseconds) steps *= 2;
    for (int i = 0; i < trials; ++i) least = std::min(least, timed(steps));
  }
  sleepUntilAll();
  MPI_Bcast(&steps, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  MPI_Bcast(&least, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  alone = least;

  double mine = 1e9;
  atOnce = 1e9;
  for (int i = 0; i < mostTrials && (i < trials || atOnce > alone * tolerance); ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    double time = timed(steps);
    mine = std::min(mine, time);
    slowest(&time, 1);
    atOnce = std::min(atOnce, time);
  }
  microsecondsPerStep_ = mine / double(steps);
}

std::string Computation::whyNot() const {
  char text[200] = "";
  if (yields_) return text;
  if (ranksOfNode > coresOfNode)
    std::snprintf(text, sizeof text,
                  "overlap would mean nothing: %d ranks share %d core%s, so they cannot compute at "
                  "once",
                  ranksOfNode, coresOfNode, coresOfNode == 1 ? "" : "s");
  else if (atOnce > alone * tolerance)
    std::snprintf(
        text, sizeof text,
        "overlap would mean nothing: computation does not scale here: what takes one rank "
        "%.0f us takes all at once %.0f us",
        alone, atOnce);
  return text;
}

}  // namespace nbcc::bench
