// SPDX-License-Identifier: BSD-3-Clause
// nodes.h - which peers shared memory does not reach, and which it does. What legalize() treats
// otherwise, emit() marks.

#pragma once

#include "codegen/target.h"
#include "compiler/ir/topology.h"

namespace nbcc {

/// `topology`: null: all ranks are on one node.
inline bool isRemote(const Topology *topology, int64_t rank, int64_t peer) {
  return topology && topology->nodeOf(rank) != topology->nodeOf(peer);
}

/// Of those for whom memory is one way among others (TargetOptions::within).
inline bool isNear(const TargetOptions &options, int64_t rank, int64_t peer) {
  return options.within && options.topology && !isRemote(options.topology, rank, peer);
}

}  // namespace nbcc
