// SPDX-License-Identifier: BSD-3-Clause
// graph.h - who is whose neighbour, as a communicator with a topology says it.
//
//   4x3            Cartesian, 4 by 3 ranks, row by row, open at all borders
//   4px3           the same, but the first dimension is periodic; 4px3p: both are
//   a file         a line for each rank, in any order; # begins a comment:
//                      0: from 1 3 to 1
//                      1: from 0   to 0 3
//                      2:
//                      3: from 1   to 0
//
// A rank has source slots, as many as out has blocks, and destination slots. A rank may be in
// several, and may be its own neighbour. Beyond an open border a slot belongs to nobody, as
// MPI_PROC_NULL: there nothing is sent, and nothing of the buffer is changed.
//
// Where two ranks are neighbours more than once, MPI says which slots belong together (MPI 4.1,
// section 8.6). In a graph the k-th slot that names the receiver goes with its k-th that names the
// sender. In a Cartesian topology what leaves in one direction arrives from the other: slot 2d with
// slot 2d + 1, and that with 2d. For a periodic dimension of one or two ranks that is not the same.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/diag.h"

namespace nbcc {

/// Stands in a slot that belongs to nobody.
inline constexpr int32_t kNobody = -1;

/// One rank's neighbours, in the communicator's order.
struct Neighbors {
  struct Source {
    int32_t rank = kNobody;
    int32_t slot = -1;  // which of that rank's destinations this is; -1: of nobody's

    friend bool operator==(const Source &, const Source &) = default;
  };
  std::vector<Source> sources;
  std::vector<int32_t> destinations;

  friend bool operator==(const Neighbors &, const Neighbors &) = default;
};

/// The source slots; those of one sender have changed places, so that they come in the order of its
/// destination slots. Slot i and the i-th of these have the same source.
std::vector<int32_t> arrivals(const Neighbors &);

class Graph {
 public:
  struct Dimension {
    int64_t size = 1;
    bool periodic = false;
  };

  Graph() = default;
  static Graph cartesian(const std::vector<Dimension> &);
  /// The sources of rank d are all that name it, those of a lower rank first; and a rank's own
  /// repetitions in their order.
  static Graph toDestinations(const std::vector<std::vector<int32_t>> &);
  /// As given: sources need a rank, but no slot. Each edge stands at both ends, or mismatch() says
  /// where it does not.
  static Graph distributed(std::vector<Neighbors>);

  int64_t ranks() const { return static_cast<int64_t>(of_.size()); }
  const Neighbors &of(int64_t rank) const { return of_[static_cast<size_t>(rank)]; }

 private:
  std::vector<Neighbors> of_;
};

/// An edge that one end lists more often than the other.
struct Mismatch {
  int32_t from = kNobody, to = kNobody;
  int64_t asDestination = 0, asSource = 0;
  bool any() const { return from != kNobody; }
};
Mismatch mismatch(const std::vector<Neighbors> &);

/// "4px3". Reports what is wrong; then it has no ranks.
Graph readCartesian(const std::string &text, Diag &);
/// From a file, likewise.
Graph readGraph(const std::string &path, Diag &);
/// What a file says of each of the first ranks.
std::string describe(const Graph &, int64_t mostRanks, std::string_view between = "\n");

struct SampleGraph {
  std::string name;
  Graph graph;
};
/// For proofs, where none is given: Cartesian in one and two dimensions, open and periodic, some of
/// one or two ranks; rank 0 and all others; a random one with several edges between two ranks,
/// ranks that are their own neighbours and ranks without any; for few ranks all to all.
std::vector<SampleGraph> sampleGraphs(int64_t ranks);

}  // namespace nbcc
