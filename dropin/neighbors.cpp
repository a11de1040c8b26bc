// SPDX-License-Identifier: BSD-3-Clause
// neighbors.cpp - MPI's three kinds of topologies.
//
// A grid is told as one: with a periodic dimension of one or two ranks its neighbours' lists do not
// say which message is which (nbc/build.h).

#include "dropin/neighbors.h"

#include <algorithm>

namespace nbcc::dropin {

int Neighbors::read(MPI_Comm comm, int ranks) {
  int kind = MPI_UNDEFINED;
  if (int error = PMPI_Topo_test(comm, &kind)) return error;
  switch (kind) {
    case MPI_CART:
      return read_grid(comm);
    case MPI_GRAPH:
      return read_graph(comm, ranks);
    case MPI_DIST_GRAPH:
      return read_distributed(comm, ranks);
    default:
      return MPI_SUCCESS;
  }
}

int Neighbors::read_grid(MPI_Comm comm) {
  int dimensions = 0;
  if (int error = PMPI_Cartdim_get(comm, &dimensions)) return error;
  auto n = static_cast<std::size_t>(dimensions);
  std::vector<int> sizes(n + 1), periodic(n + 1), here(n + 1);
  if (int error = PMPI_Cart_get(comm, dimensions, sizes.data(), periodic.data(), here.data()))
    return error;
  sizes_.assign(sizes.begin(), sizes.end());
  periodic_.assign(periodic.begin(), periodic.end());
  indegree_ = outdegree_ = 2 * dimensions;
  if (dimensions == 0) {  // of one rank, without neighbours: build takes no grid of no dimensions
    complete({0, 0}, {});
    return MPI_SUCCESS;
  }
  graph_ = {static_cast<std::uint32_t>(dimensions), sizes_.data(), periodic_.data(), nullptr};
  complete_ = true;
  return MPI_SUCCESS;
}

int Neighbors::read_graph(MPI_Comm comm, int ranks) {
  std::vector<std::int32_t> degrees, lists;
  int mine = 0;
  if (int error = PMPI_Comm_rank(comm, &mine)) return error;
  for (int rank = 0; rank < ranks; ++rank) {
    int count = 0;
    if (int error = PMPI_Graph_neighbors_count(comm, rank, &count)) return error;
    std::vector<int> of(static_cast<std::size_t>(count) + 1);
    if (int error = PMPI_Graph_neighbors(comm, rank, count, of.data())) return error;
    of.pop_back();
    degrees.insert(degrees.end(), 2, count);
    for (int side = 0; side < 2; ++side) lists.insert(lists.end(), of.begin(), of.end());
    if (rank == mine) indegree_ = outdegree_ = count;
  }
  complete(std::move(degrees), std::move(lists));
  return MPI_SUCCESS;
}

int Neighbors::read_distributed(MPI_Comm comm, int ranks) {
  int in = 0, out = 0, weighted = 0;
  if (int error = PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted)) return error;
  auto n = [](int count) { return static_cast<std::size_t>(count) + 1; };
  std::vector<int> sources(n(in)), destinations(n(out)), unused_in(n(in)), unused_out(n(out));
  if (int error = PMPI_Dist_graph_neighbors(comm, in, sources.data(), unused_in.data(), out,
                                            destinations.data(), unused_out.data()))
    return error;
  lists_.assign(sources.begin(), sources.end() - 1);
  lists_.insert(lists_.end(), destinations.begin(), destinations.end() - 1);
  std::replace_if(lists_.begin(), lists_.end(), [](std::int32_t r) { return r < 0; }, -1);
  indegree_ = in;
  outdegree_ = out;
  if (ranks == 1) complete({in, out}, std::vector<std::int32_t>(lists_));
  return MPI_SUCCESS;
}

void Neighbors::complete(std::vector<std::int32_t> degrees, std::vector<std::int32_t> lists) {
  lists_ = std::move(lists);
  of_.clear();
  const std::int32_t *at = lists_.data();
  for (std::size_t i = 0; i + 1 < degrees.size(); i += 2) {
    const std::int32_t in = degrees[i], out = degrees[i + 1];
    of_.push_back({at, at + in, static_cast<std::uint32_t>(in), static_cast<std::uint32_t>(out)});
    at += in + out;
  }
  graph_ = {0, nullptr, nullptr, of_.data()};
  complete_ = true;
}

bool Neighbors::seem_to_be(const Neighbors &other, int rank) const {
  if (!other.complete_) return false;
  if (!complete_) {
    if (other.of_.empty() || indegree_ != other.indegree_ || outdegree_ != other.outdegree_)
      return false;
    return std::equal(lists_.begin(), lists_.end(),
                      other.of_[static_cast<std::size_t>(rank)].sources);
  }
  return sizes_ == other.sizes_ && periodic_ == other.periodic_ && lists_ == other.lists_ &&
         std::equal(of_.begin(), of_.end(), other.of_.begin(), other.of_.end(),
                    [](const nbc_build_neighbors &a, const nbc_build_neighbors &b) {
                      return a.indegree == b.indegree && a.outdegree == b.outdegree;
                    });
}

}  // namespace nbcc::dropin
