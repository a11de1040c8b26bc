// SPDX-License-Identifier: BSD-3-Clause
// nodes.h - which peers shared memory does not reach. What legalize() packs for, emit() marks.

#pragma once

#include "compiler/ir/topology.h"

namespace nbcc {

/// `topology`: null: all ranks are on one node.
inline bool isRemote(const Topology *topology, int64_t rank, int64_t peer) {
  return topology && topology->nodeOf(rank) != topology->nodeOf(peer);
}

}  // namespace nbcc
