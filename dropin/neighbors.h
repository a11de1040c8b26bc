// SPDX-License-Identifier: BSD-3-Clause
/// neighbors.h - who is whose neighbour on a communicator, for templates.
///
/// Of grids and of MPI_Graph_create's graphs each rank knows all; of distributed graphs only its
/// own neighbours, and the others' come by two gathers (plans.cpp), the first time a plan needs
/// them.

#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "nbc/build.h"

namespace nbcc::dropin {

class Neighbors {
 public:
  /// What this rank knows. An error of MPI's. May throw std::bad_alloc.
  int read(MPI_Comm, int ranks);

  bool any() const { return indegree_ >= 0; }
  /// How many this rank has; -1: there is no topology.
  int indegree() const { return indegree_; }
  int outdegree() const { return outdegree_; }

  /// Whether all ranks' neighbours are known.
  bool complete() const { return complete_; }
  /// This rank's, as they travel: sources, then destinations.
  const std::vector<std::int32_t> &mine() const { return lists_; }
  /// Of all ranks: pairs of degrees, and their lists one behind the other. May throw
  /// std::bad_alloc.
  void complete(std::vector<std::int32_t> degrees, std::vector<std::int32_t> lists);

  /// Whether rank `rank`, which this is, sees no difference to others that were complete. They are
  /// the same if no rank does; where all know these, they answer alike.
  bool seem_to_be(const Neighbors &other, int rank) const;

  /// For a request to build; good as long as this is, and complete.
  const nbc_build_graph *graph() const { return &graph_; }

 private:
  int read_grid(MPI_Comm);
  int read_graph(MPI_Comm, int ranks);
  int read_distributed(MPI_Comm, int ranks);

  int indegree_ = -1, outdegree_ = -1;
  bool complete_ = false;
  std::vector<std::int32_t> sizes_, periodic_;  // of a grid
  std::vector<std::int32_t> lists_;
  std::vector<nbc_build_neighbors> of_;
  nbc_build_graph graph_ = {};
};

}  // namespace nbcc::dropin
