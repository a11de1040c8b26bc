// SPDX-License-Identifier: BSD-3-Clause
// node.h - memory that ranks of one node share, in the simulated time of a fabric.
//
//   hca::Fabric fabric({.mode = hca::Mode::Simulated});
//   hca::NodeMemory memory(fabric, {.nodes = {0, 0, 1, 1}});
//   nbc_shm *rank0 = memory.add(), ...;          // beside fabric.addAdapter()
//
// What runs over it is what runs over nbc/shm.h's own device; here a message takes time: its sender
// is busy for `overhead`, it is there `latency` and n * perByte after that, and a sender of more
// than a plan's eager bytes is told when it is. Adversarial, as the fabric: held back for random
// times; long messages are read when they arrive, so that memory that is written too early shows.
//
// Single-threaded, as the fabric is then. Not modelled: that copies of several ranks share memory's
// bandwidth.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "devices/hca/hca.h"
#include "nbc/shm.h"

namespace hca {

struct NodeOptions {
  std::vector<uint32_t> nodes;  // of each rank
  Time latency = 200 * nanosecond;
  Time overhead = 100 * nanosecond;
  Time perByte = 100;
  bool adversarial = false;
  uint64_t seed = 1;
};

class NodeMemory {
 public:
  /// The fabric has to outlive it, and to be of simulated time.
  NodeMemory(Fabric &, NodeOptions);
  ~NodeMemory();
  NodeMemory(const NodeMemory &) = delete;
  NodeMemory &operator=(const NodeMemory &) = delete;

  /// That of the next rank, counted from 0.
  nbc_shm *add();
  uint64_t messages() const;  // posted so far

  /// A fault: who waits for this rank sees that it is gone.
  void kill(uint32_t rank);

  struct Shared;

 private:
  std::unique_ptr<Shared> shared_;
};

}  // namespace hca
