// SPDX-License-Identifier: BSD-3-Clause
// together.cpp - agreement of all ranks on what one of them has met.

#include "tools/bench/together.h"

#include <cstdio>

#include "nbc.h"

namespace nbcc::bench {

int rankHere() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int rankCount() {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

namespace {

void agree(const std::function<void()> &work, bool sayRank) {
  std::string why;
  bool refused = false;
  try {
    work();
  } catch (const Refused &r) {
    why = r.what();
    refused = true;
  }
  // The first rank that was refused, and how many were.
  int mine[2] = {refused ? rankHere() : INT32_MAX, refused}, first = 0, count = 0;
  MPI_Allreduce(&mine[0], &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine[1], &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (count == 0) return;
  if (sayRank && count < rankCount() && first == rankHere())
    why = "rank " + std::to_string(first) + ": " + why;
  int length = int(why.size());
  MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
  why.resize(size_t(length));
  MPI_Bcast(why.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
  throw Refused(why);
}

}  // namespace

void together(const std::function<void()> &work) {
  agree(work, true);
}

void onRankZero(const std::function<void()> &work) {
  agree(
      [&] {
        if (rankHere() == 0) work();
      },
      false);
}

void must(int status, const char *what) {
  if (status == 0) return;
  std::fprintf(stderr, "nbc-bench: rank %d: %s: %s\n", rankHere(), what, nbc_status_text(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void slowest(double *values, size_t count) {
  MPI_Allreduce(MPI_IN_PLACE, values, int(count), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

double average(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value / rankCount();
}

}  // namespace nbcc::bench
