// SPDX-License-Identifier: BSD-3-Clause
// options.h - what the command line said.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/target.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/topology.h"
#include "compiler/output/output.h"
#include "nbc.h"

namespace nbcc {

enum class Emit {
  nothing,
  ast,
  llvm,
  schedule,
  links,
  goal,
  tasks,
  resources,
  templateBytes,
  header
};
enum class Input { source, schedule, goal, msccl };
enum class Rendezvous { write, read, send, direct };
enum class Clock { simulated, real };

struct Options {
  std::string file;
  std::vector<std::string> files;  // of a library, FILE among them
  Input input = Input::source;
  std::string algorithm;                      // empty: the only one
  std::map<std::string, int64_t> parameters;  // -p name=value

  bool format = false;  // --format: the source itself, laid out
  Emit emit = Emit::nothing;
  std::vector<std::string> passes;  // --run=<pass>, in this order
  std::string output;               // -o; empty: standard output
  bool strictRounds = false, inPlace = false;
  bool inspect = false;
  bool batch = false;  // command lines come on standard input (batch.h)

  std::optional<LibraryForm> library;  // -o libNAME.so, libNAME.a, NAME.o: written ahead of time
  std::vector<const Target *> targets;
  std::vector<Blocks> lengths;    // of a library: one of them, or both
  std::vector<int64_t> finished;  // --ranks of a library: it holds their templates
  int cpuLevel = 1;               // --cpu: x86-64-v1 to -v4
  /// Whether FILEs become one library; or the header of one.
  bool ahead() const { return library || emit == Emit::header; }

  bool prove = false, noProve = false;
  int64_t proveFrom = 1, proveTo = 64;
  unsigned jobs = 0;  // threads that prove; 0: as many as the machine runs at once

  const Target *target = nullptr;
  TargetOptions targetOptions;

  int64_t ranks = 8, rank = 0, root = 0;
  Topology topology;  // --topology; without ranks: none given
  Graph graph;        // --cart, --graph; likewise
  bool ranksGiven = false, rootGiven = false, allRanks = false;

  bool run = false;  // --run without a pass: on the software device
  uint64_t count = 4;
  std::vector<uint64_t> counts;  // --lengths=each: of blocks, over and over; empty: drawn
  std::string type = "i64", op = "sum";
  bool typeGiven = false;
  std::vector<std::string> operatorFiles;  // --op=FILE:NAME, of a library several
  nbc_reduce_function *user = nullptr;     // of a run, once it is compiled
  int calls = 1;
  Clock clock = Clock::simulated;
  bool adversarial = false;  // --seed, --seeds given: the adversarial scheduler
  uint64_t seed = 1, lastSeed = 1;
  std::string timeline;                  // SVG file
  std::optional<Rendezvous> rendezvous;  // empty: write, or drawn by --vary
  std::optional<nbc_transfer> transfer;  // empty: by length, or drawn by --vary
  bool quiet = false;                    // --run prints only what is wrong
  uint64_t eagerBytes = 0;               // 0: the runtime's default
  bool vary = false;                     // for tests: the shape of a run from its seed (vary.h)
  uint32_t firstIndex = 0;               // for tests: where the indices of all queues begin
  double latency = 1.0, overhead = 0.2, gap = 0.1, gapPerByte = 0.0001, nic = 0.05;  // us
  double loopback = 0.3;                                                             // likewise
  uint32_t ports = 1;                                // of an adapter
  double memoryLatency = 0.2, memoryOverhead = 0.1;  // us: of messages within a node
  double compute = 0;  // us; 0: hosts look whenever there is something to see
  double look = 0;     // us: before that, they look

  std::string explain;         // --explain-selection: a collective
  std::string table, shipped;  // empty: as the drop-in finds them
  int64_t nodes = 1;
  uint64_t bytes = 1024;
};

/// Reads the command line. Says what is wrong, or the help, and gives the status
/// to exit with; empty: go on with `options`.
std::optional<int> readOptions(int argc, char **argv, Options &options);

}  // namespace nbcc
