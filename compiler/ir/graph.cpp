// SPDX-License-Identifier: BSD-3-Clause
// graph.cpp - neighbours: of a grid, of lists, paired slot by slot; and samples for proofs.
//
//   4p, rank 0                =>   sources 3[1], 1[0]; destinations 3, 1
//   1p, rank 0                =>   sources 0[1], 0[0]; destinations 0, 0
//   0: to 1 1; 1: from 0 0    =>   1: sources 0[0], 0[1]
//
// Time and memory are linear in the edges, but for a logarithm where slots are paired.

#include "compiler/ir/graph.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

namespace nbcc {

namespace {

/// A slot, by the two ends of its edge. Sorted, the k-th of an edge follow each other.
struct End {
  int32_t from, to, slot;
  auto edge() const { return std::tie(from, to); }
  friend auto operator<=>(const End &, const End &) = default;
};

std::vector<End> destinationEnds(const std::vector<Neighbors> &of) {
  std::vector<End> ends;
  for (size_t rank = 0; rank < of.size(); ++rank)
    for (size_t slot = 0; slot < of[rank].destinations.size(); ++slot)
      ends.push_back(
          {static_cast<int32_t>(rank), of[rank].destinations[slot], static_cast<int32_t>(slot)});
  std::ranges::sort(ends);
  return ends;
}

std::vector<End> sourceEnds(const std::vector<Neighbors> &of) {
  std::vector<End> ends;
  for (size_t rank = 0; rank < of.size(); ++rank)
    for (size_t slot = 0; slot < of[rank].sources.size(); ++slot)
      ends.push_back(
          {of[rank].sources[slot].rank, static_cast<int32_t>(rank), static_cast<int32_t>(slot)});
  std::ranges::sort(ends);
  return ends;
}

}  // namespace

std::vector<int32_t> arrivals(const Neighbors &n) {
  std::vector<int32_t> asTheyStand(n.sources.size());
  std::iota(asTheyStand.begin(), asTheyStand.end(), 0);
  std::vector<int32_t> asSent = asTheyStand, result = asTheyStand;
  const auto source = [&](int32_t slot) { return n.sources[static_cast<size_t>(slot)]; };
  std::ranges::sort(asTheyStand, {},
                    [&](int32_t slot) { return std::pair(source(slot).rank, slot); });
  std::ranges::sort(asSent, {}, [&](int32_t slot) {
    return std::tuple(source(slot).rank, source(slot).slot, slot);
  });
  for (size_t i = 0; i < result.size(); ++i)
    result[static_cast<size_t>(asTheyStand[i])] = asSent[i];
  return result;
}

Graph Graph::cartesian(const std::vector<Dimension> &dimensions) {
  Graph graph;
  int64_t ranks = 1;
  for (const Dimension &d : dimensions) ranks *= d.size;
  graph.of_.resize(static_cast<size_t>(ranks));
  int64_t stride = ranks;  // between neighbours: the last dimension counts fastest
  for (const Dimension &d : dimensions) {
    stride /= d.size;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const int64_t own = rank / stride % d.size;
      const auto at = [&](int64_t place) {
        if (!d.periodic && (place < 0 || place >= d.size)) return kNobody;
        return static_cast<int32_t>(rank + ((place + d.size) % d.size - own) * stride);
      };
      Neighbors &n = graph.of_[static_cast<size_t>(rank)];
      const auto slot = static_cast<int32_t>(n.destinations.size());
      for (const int32_t step : {0, 1}) {  // down, up
        const int32_t neighbor = at(step == 0 ? own - 1 : own + 1);
        n.destinations.push_back(neighbor);
        n.sources.push_back({neighbor, neighbor == kNobody ? -1 : slot + 1 - step});
      }
    }
  }
  return graph;
}

Graph Graph::toDestinations(const std::vector<std::vector<int32_t>> &destinations) {
  std::vector<Neighbors> of(destinations.size());
  for (size_t rank = 0; rank < of.size(); ++rank) {
    of[rank].destinations = destinations[rank];
    for (const int32_t to : destinations[rank])
      of[static_cast<size_t>(to)].sources.push_back({static_cast<int32_t>(rank), -1});
  }
  return distributed(std::move(of));
}

Graph Graph::distributed(std::vector<Neighbors> of) {
  const std::vector<End> sent = destinationEnds(of), received = sourceEnds(of);
  Graph graph;
  graph.of_ = std::move(of);
  for (size_t i = 0; i < std::min(sent.size(), received.size()); ++i)
    graph.of_[static_cast<size_t>(received[i].to)]
        .sources[static_cast<size_t>(received[i].slot)] = {sent[i].from, sent[i].slot};
  return graph;
}

Mismatch mismatch(const std::vector<Neighbors> &of) {
  const std::vector<End> sent = destinationEnds(of), received = sourceEnds(of);
  const auto count = [](const std::vector<End> &ends, const End &like) {
    return static_cast<int64_t>(std::ranges::equal_range(ends, like.edge(), {}, &End::edge).size());
  };
  for (const std::vector<End> *ends : {&sent, &received})
    for (const End &end : *ends) {
      const Mismatch found{end.from, end.to, count(sent, end), count(received, end)};
      if (found.asDestination != found.asSource) return found;
    }
  return {};
}

std::string describe(const Graph &graph, int64_t mostRanks, std::string_view between) {
  std::string text;
  for (int64_t rank = 0; rank < std::min(graph.ranks(), mostRanks); ++rank) {
    const Neighbors &n = graph.of(rank);
    const auto list = [&](const char *word, int32_t neighbor) {
      text += cat(word, " ", neighbor == kNobody ? "nobody" : cat(neighbor));
    };
    text += cat(rank > 0 ? between : "", rank, ":");
    for (size_t i = 0; i < n.sources.size(); ++i) list(i == 0 ? " from" : "", n.sources[i].rank);
    for (size_t i = 0; i < n.destinations.size(); ++i) list(i == 0 ? " to" : "", n.destinations[i]);
  }
  return text + (graph.ranks() > mostRanks ? cat(between, "...") : "");
}

namespace {

/// Some ranks have no neighbours, some are their own, some edges are there twice; and the sources
/// of a rank are not sorted. The same for each number of ranks every time.
Graph randomGraph(int64_t ranks) {
  std::mt19937_64 random(
      static_cast<uint64_t>(ranks));  // the same everywhere, unlike distributions
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const auto isAlone = [&](int64_t rank) { return ranks > 3 && rank % 5 == 3; };
  std::vector<Neighbors> of(static_cast<size_t>(ranks));
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (isAlone(rank)) continue;
    std::vector<int32_t> &to = of[static_cast<size_t>(rank)].destinations;
    for (int64_t edges = below(5); edges > 0; --edges) {
      const bool again = !to.empty() && below(3) == 0;
      const int64_t other = below(4) == 0 ? rank : below(ranks);
      if (!isAlone(other)) to.push_back(again ? to.front() : static_cast<int32_t>(other));
    }
    for (const int32_t other : to)
      of[static_cast<size_t>(other)].sources.push_back({static_cast<int32_t>(rank), -1});
  }
  for (Neighbors &n : of)
    for (size_t i = n.sources.size(); i > 1; --i)
      std::swap(n.sources[i - 1], n.sources[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  return Graph::distributed(std::move(of));
}

std::string spelling(const std::vector<Graph::Dimension> &dimensions) {
  std::string text;
  for (const Graph::Dimension &d : dimensions)
    text += cat(text.empty() ? "" : "x", d.size, d.periodic ? "p" : "");
  return text;
}

}  // namespace

std::vector<SampleGraph> sampleGraphs(int64_t ranks) {
  constexpr int64_t kCompleteUpTo = 12;
  std::vector<SampleGraph> samples;
  const auto grid = [&](const std::vector<Graph::Dimension> &dimensions) {
    samples.push_back({"--cart=" + spelling(dimensions), Graph::cartesian(dimensions)});
  };
  int64_t rows = 1;  // the divisor next to the root: a square grid, or a line
  for (int64_t i = 2; i * i <= ranks; ++i)
    if (ranks % i == 0) rows = i;
  const int64_t columns = ranks / rows;
  grid({{ranks, true}});
  grid({{rows, true}, {columns, false}});
  grid({{columns, false}, {1, true}, {rows, false}});
  if (ranks % 2 == 0) grid({{ranks / 2, true}, {2, true}});

  std::vector<std::vector<int32_t>> star(static_cast<size_t>(ranks)), all = star;
  for (int64_t rank = 0; rank < ranks; ++rank) star[0].push_back(static_cast<int32_t>(rank));
  samples.push_back({"rank 0 to all", Graph::toDestinations(star)});
  samples.push_back({"random", randomGraph(ranks)});
  if (ranks > kCompleteUpTo) return samples;
  for (std::vector<int32_t> &to : all) to = star[0];
  samples.push_back({"all to all", Graph::toDestinations(all)});
  return samples;
}

}  // namespace nbcc
