// SPDX-License-Identifier: BSD-3-Clause
// together.h - what may fail on one rank fails on all, and is said once.

#pragma once

#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace nbcc::bench {

/// Why nothing (more) is measured. Lower case, no full stop.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Collective. Does local work; where it was refused on some rank, all throw what the first of
/// them has said, with its number if not all have.
void together(const std::function<void()> &work);
/// Collective. The same for what rank 0 alone does.
void onRankZero(const std::function<void()> &work);

/// For what cannot be undone on one rank alone: says why, and ends all ranks.
void must(int status, const char *what);

int rankHere();
int rankCount();

/// Collective. Of each entry the largest of all ranks.
void slowest(double *values, size_t count);
double average(double value);

}  // namespace nbcc::bench
