// SPDX-License-Identifier: BSD-3-Clause
// topology.cpp - where the ranks are: read, cut to some ranks, and samples for proofs; and ways
// between nodes.
//
//   "2x3"                     =>   nodes of the ranks: 0 0 0 1 1 1
//   a file "b a b"            =>                       0 1 0
//   {0 1 0}.among({2, 1})     =>                       0 1
//
// Time and memory are linear in the ranks, but for a logarithm where nodes are found by name.

#include "compiler/ir/topology.h"

#include <charconv>
#include <numeric>
#include <set>
#include <sstream>
#include <unordered_map>

#include "compiler/ir/schedule.h"
#include "dsl/source.h"

namespace nbcc {

namespace {

bool readNumber(std::string_view text, int64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Of n nodes: the most columns that make no more of them than rows.
std::vector<int64_t> nearSquare(int64_t n) {
  int64_t columns = 1;
  for (int64_t i = 2; i * i <= n; ++i)
    if (n % i == 0) columns = i;
  return {n / columns, columns};
}

/// 0, 1, ..., n - 1
std::vector<int32_t> numbered(int64_t n) {
  std::vector<int32_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

constexpr std::string_view kTorus = "torus:";

Topology readTorus(const std::string &text, Diag &diag) {
  constexpr size_t kMostOfTorus = 8;
  std::vector<int64_t> extents;
  int64_t nodes = 1;
  bool good = true;
  for (size_t at = kTorus.size(); good && at <= text.size();) {
    const size_t end = std::min(text.find('x', at), text.size());
    int64_t extent = 0;
    good = readNumber(std::string_view(text).substr(at, end - at), extent) && extent >= 1 &&
           extent <= kMaxBlocks / nodes && extents.size() < kMostOfTorus;
    extents.push_back(extent);
    nodes *= extent;
    at = end + 1;
  }
  if (good) {
    return Topology(numbered(nodes), extents);
  }
  diag.error(Loc(), "topology ", text, ": wanted the sides of a torus, as torus:4x4, at most ",
             kMostOfTorus, " of them, of 1..", kMaxBlocks, " nodes in all");
  return {};
}

/// Whether the text has the form of 4x8; a file of that name is ./4x8.
bool looksLikeGrid(const std::string &text) {
  size_t x = text.find('x');
  return x != std::string::npos && x > 0 && x + 1 < text.size() &&
         text.find_first_not_of("0123456789x") == std::string::npos;
}

Topology readGrid(const std::string &text, Diag &diag) {
  int64_t nodes = 0, each = 0;
  size_t x = text.find('x');
  if (!readNumber(std::string_view(text).substr(0, x), nodes) ||
      !readNumber(std::string_view(text).substr(x + 1), each) || nodes < 1 || each < 1 ||
      nodes > kMaxBlocks / each) {
    diag.error(Loc(), "topology ", text, ": wanted nodes x ranks on each, as 4x8, of 1..",
               kMaxBlocks, " ranks in all");
    return {};
  }
  std::vector<int32_t> nodeOf;
  for (int64_t rank = 0; rank < nodes * each; ++rank)
    nodeOf.push_back(static_cast<int32_t>(rank / each));
  return Topology(nodeOf);
}

}  // namespace

Topology::Topology(const std::vector<int32_t> &nodeOfRank, std::vector<int64_t> extents)
    : extents_(std::move(extents)) {
  std::unordered_map<int32_t, int32_t> numbers;
  for (size_t rank = 0; rank < nodeOfRank.size(); ++rank) {
    auto [it, isNew] = numbers.emplace(nodeOfRank[rank], static_cast<int32_t>(ranksOn_.size()));
    if (isNew) ranksOn_.emplace_back();
    std::vector<int32_t> &mates = ranksOn_[static_cast<size_t>(it->second)];
    nodeOf_.push_back(it->second);
    localRank_.push_back(static_cast<int32_t>(mates.size()));
    mates.push_back(static_cast<int32_t>(rank));
  }
  if (extents_.empty()) extents_ = nearSquare(nodes());
}

std::vector<int32_t> Topology::route(int32_t from, int32_t to) const {
  std::vector<int32_t> nodes{from};
  int64_t at = from, stride = 1;
  for (auto extent = extents_.rbegin(); extent != extents_.rend(); ++extent) {
    const int64_t wanted = to / stride % *extent;
    while (at / stride % *extent != wanted) {
      const bool around = at / stride % *extent == *extent - 1;
      at += around ? -stride * (*extent - 1) : stride;
      nodes.push_back(static_cast<int32_t>(at));
    }
    stride *= *extent;
  }
  return nodes;
}

Topology Topology::among(const std::vector<int32_t> &ranks) const {
  std::vector<int32_t> nodeOf;
  nodeOf.reserve(ranks.size());
  for (int32_t rank : ranks) nodeOf.push_back(nodeOf_[static_cast<size_t>(rank)]);
  return Topology(nodeOf);
}

Topology oneOnEach(int64_t ranks) {
  return Topology(numbered(ranks));
}

Topology readTopology(const std::string &text, Diag &diag) {
  if (text.starts_with(kTorus)) return readTorus(text, diag);
  if (looksLikeGrid(text)) return readGrid(text, diag);
  const std::optional<std::string> read =
      readInput(text, 1 << 28, "the topology ",
                ": wanted nodes x ranks on each, as 4x8, a torus of nodes, as torus:4x4, or a file "
                "with the node of each rank",
                diag);
  if (!read) return {};
  std::istringstream file(*read);
  std::unordered_map<std::string, int32_t> numbers;
  std::vector<int32_t> nodeOf;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string node; words >> node;)
      nodeOf.push_back(numbers.emplace(node, static_cast<int32_t>(numbers.size())).first->second);
  }
  if (nodeOf.empty() || static_cast<int64_t>(nodeOf.size()) > kMaxBlocks) {
    diag.error(Loc(), "topology ", text, " names the nodes of ", nodeOf.size(),
               " ranks, which is not in 1..", kMaxBlocks);
    return {};
  }
  return Topology(nodeOf);
}

std::vector<Topology> sampleTopologies(int64_t ranks) {
  auto placed = [&](auto nodeOf) {
    std::vector<int32_t> nodes;
    for (int64_t rank = 0; rank < ranks; ++rank)
      nodes.push_back(static_cast<int32_t>(nodeOf(rank)));
    return nodes;
  };
  int64_t side = 1;  // about as many nodes as ranks on each
  while (side * side < ranks) ++side;
  // Node n has n + 1 ranks.
  auto uneven = [](int64_t rank) {
    int64_t node = 0;
    for (; rank > node; ++node) rank -= node + 1;
    return node;
  };
  std::vector<Topology> samples;
  std::set<std::vector<int32_t>> seen;
  for (const std::vector<int32_t> &nodes :
       {placed([](int64_t) { return 0; }), placed([](int64_t rank) { return rank; }),
        placed([&](int64_t rank) { return rank / side; }),
        placed([&](int64_t rank) { return rank % side; }), placed(uneven)})
    if (seen.insert(nodes).second) samples.emplace_back(nodes);
  return samples;
}

}  // namespace nbcc
