// SPDX-License-Identifier: BSD-3-Clause
// topology.h - which rank is on which node, and what links there are between nodes.
//
//   4x8            4 nodes of 8 ranks each, in blocks
//   torus:4x4      16 nodes of one rank each, on a torus of 4 rows and 4 columns
//   a file         the node's name of each rank, in order, separated by white space; # begins a
//   comment
//
// Ranks per node may differ, and those of a node need not be neighbours.
//
// Links lead one way around each dimension of a torus, as in SCI's networks of rings. Nodes are
// counted along the last dimension first, as MPI_Cart_create counts ranks; a message takes the
// links of that dimension first, then those of the one before. What is no torus of its own counts
// as one of two dimensions, as near to a square as the number of nodes allows.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/diag.h"

namespace nbcc {

class Topology {
 public:
  Topology() = default;
  /// Numbers given to nodes are kept in the order in which they first occur: {7, 2, 7} is {0, 1,
  /// 0}.
  /// The product of `extents`, if given, is the number of nodes.
  explicit Topology(const std::vector<int32_t> &nodeOfRank, std::vector<int64_t> extents = {});

  int64_t ranks() const { return static_cast<int64_t>(nodeOf_.size()); }
  int64_t nodes() const { return static_cast<int64_t>(ranksOn_.size()); }
  int32_t nodeOf(int64_t rank) const { return nodeOf_[static_cast<size_t>(rank)]; }
  int32_t localRank(int64_t rank) const { return localRank_[static_cast<size_t>(rank)]; }
  const std::vector<int32_t> &ranksOn(int64_t node) const {
    return ranksOn_[static_cast<size_t>(node)];
  }
  /// Of the torus.
  const std::vector<int64_t> &extents() const { return extents_; }
  /// The nodes of the way from one to another, both included.
  std::vector<int32_t> route(int32_t from, int32_t to) const;
  /// That of some of its ranks, numbered as they stand here; their nodes are a torus of their own.
  Topology among(const std::vector<int32_t> &ranks) const;

 private:
  std::vector<int32_t> nodeOf_, localRank_;
  std::vector<std::vector<int32_t>> ranksOn_;
  std::vector<int64_t> extents_;
};

/// A rank on each node.
Topology oneOnEach(int64_t ranks);

/// "4x8", "torus:4x4", or the name of a file. Reports what is wrong; then it has no ranks.
Topology readTopology(const std::string &text, Diag &);

/// For proofs, where none is given: all ranks on one node, one on each, in blocks with the
/// last shorter, dealt round, and uneven. Without doubles.
std::vector<Topology> sampleTopologies(int64_t ranks);

}  // namespace nbcc
