// SPDX-License-Identifier: BSD-3-Clause
// algorithms.h - the templates that are measured: this rank's, of libraries and of template files.

#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "dsl/collectives.h"
#include "tools/bench/options.h"

namespace nbcc::bench {

struct Algorithm {
  const Collective *collective;
  std::string name;  // "allgather.bruck"
  std::string target;
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> data;  // of this rank, aligned
  size_t bytes = 0;
};

/// What was not asked for by name, and cannot be.
struct Skipped {
  std::string name, target, why;
};

struct Algorithms {
  std::vector<Algorithm> all;  // in the order of the files
  std::vector<Skipped> skipped;
};

/// Collective. Refused if a file cannot be used, if what was named is not there or not possible for
/// so many ranks, or if nothing is left.
Algorithms loadAlgorithms(const Options &);

}  // namespace nbcc::bench
