// SPDX-License-Identifier: BSD-3-Clause
// options.h - what nbc-bench is asked to measure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nbc.h"

namespace nbcc::bench {

enum class Progress { automatic, always, never };

struct Options {
  std::vector<std::string> files;        // libraries, or finished templates of all ranks
  std::vector<std::string> collectives;  // empty: all that the files have
  std::vector<std::string> algorithms;   // empty: likewise
  std::vector<std::string> targets;
  std::vector<nbc_transfer> transfers;  // of sci and verbs, each by itself; empty: by length
  std::vector<size_t> sizes;            // bytes of a block, or of the vector
  nbc_type type = NBC_F64;              // of reductions
  std::string typeName;
  int root = 0;

  double seconds = 0;       // for each figure of each contestant
  size_t calls = 0;         // or so many calls; 0: by time
  std::vector<int> tests;   // overlap with so many tests; empty: it is not measured
  double compute = 1;       // how long is computed, in latencies
  bool yields = false;      // nothing is: time passes, and others have the cores
  bool barrierEach = true;  // before each call, else before each batch
  bool mpi = true;          // measure MPI's own as well
  bool thread = false;      // a thread moves the plans' calls on
  bool blocking = false;    // and those that block

  std::string json, plot;  // empty: not written
  bool samples = false, host = false;
  Progress progress = Progress::automatic;
};

/// What became of the command line: nothing to measure, but this to be said, with this status.
struct Said {
  int status;
  std::string text;
};

/// The same on all ranks; prints nothing.
std::optional<Said> readOptions(int argc, char **argv, Options &);

}  // namespace nbcc::bench
