// SPDX-License-Identifier: BSD-3-Clause
// graph.cpp - whose slot goes with whose, as MPI says; what is read and refused; samples.

#include "compiler/ir/graph.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace nbcc {
namespace {

using Sources = std::vector<Neighbors::Source>;
using Slots = std::vector<int32_t>;

/// Each source slot is a destination slot there that names this rank, and no slot is left over.
void expectConsistent(const Graph &graph, const std::string &what) {
  int64_t destinations = 0;
  std::set<std::pair<int32_t, int32_t>> met;
  for (int32_t rank = 0; rank < graph.ranks(); ++rank) {
    for (const int32_t d : graph.of(rank).destinations) destinations += d != kNobody;
    for (const auto &[source, slot] : graph.of(rank).sources) {
      if (source == kNobody) continue;
      const Slots &there = graph.of(source).destinations;
      ASSERT_LT(static_cast<size_t>(slot), there.size()) << what;
      EXPECT_EQ(there[static_cast<size_t>(slot)], rank) << what;
      EXPECT_TRUE(met.emplace(source, slot).second) << what;
    }
  }
  EXPECT_EQ(static_cast<int64_t>(met.size()), destinations) << what;
}

// MPI 4.1, section 8.6: first the neighbour in the negative direction, then in the positive one.
TEST(Graph, gridsHaveTheirNeighboursDimensionByDimension) {
  const Graph g = Graph::cartesian({{3, false}, {4, true}});
  EXPECT_EQ(g.ranks(), 12);
  EXPECT_EQ(g.of(0).destinations, (Slots{kNobody, 4, 3, 1}));
  EXPECT_EQ(g.of(0).sources, (Sources{{kNobody, -1}, {4, 0}, {3, 3}, {1, 2}}));
  EXPECT_EQ(g.of(7).destinations, (Slots{3, 11, 6, 4}));
}

// What is sent down arrives from above, also where both are the same rank: there the order of the
// slots alone would pair 0 with 0.
TEST(Graph, directionsMeetWhereBothNeighboursAreOne) {
  const Graph two = Graph::cartesian({{2, true}});
  EXPECT_EQ(two.of(0).destinations, (Slots{1, 1}));
  EXPECT_EQ(two.of(0).sources, (Sources{{1, 1}, {1, 0}}));
  const Graph one = Graph::cartesian({{1, true}, {1, false}});
  EXPECT_EQ(one.of(0).destinations, (Slots{0, 0, kNobody, kNobody}));
  EXPECT_EQ(one.of(0).sources, (Sources{{0, 1}, {0, 0}, {kNobody, -1}, {kNobody, -1}}));
}

TEST(Graph, inListsTheKthMeetsTheKth) {
  Neighbors zero{.sources = {{1}, {0}, {1}}, .destinations = {1, 0}};
  Neighbors one{.sources = {{0}}, .destinations = {0, 0}};
  const Graph g = Graph::distributed({zero, one});
  EXPECT_EQ(g.of(0).sources, (Sources{{1, 0}, {0, 1}, {1, 1}}));
  EXPECT_EQ(g.of(1).sources, (Sources{{0, 0}}));
}

TEST(Graph, arrivalsAreInEachSendersOrder) {
  Neighbors n{.sources = {{5, 1}, {2, 0}, {5, 0}, {kNobody, -1}, {2, 3}, {kNobody, -1}, {5, 4}},
              .destinations = {}};
  EXPECT_EQ(arrivals(n), (Slots{2, 1, 0, 3, 4, 5, 6}));
  EXPECT_EQ(arrivals(Neighbors()), Slots());
}

TEST(Graph, anEdgeAtOneEndOnlyIsFound) {
  Neighbors zero{.sources = {}, .destinations = {1, 1}}, one{.sources = {{0}}, .destinations = {}};
  const Mismatch m = mismatch({zero, one});
  EXPECT_EQ(m.from, 0);
  EXPECT_EQ(m.to, 1);
  EXPECT_EQ(m.asDestination, 2);
  EXPECT_EQ(m.asSource, 1);
  one.sources.push_back({0});
  EXPECT_FALSE(mismatch({zero, one}).any());
}

struct GraphReading {
  std::ostringstream said;
  Diag diag{said};
  Graph file(const std::string &text) {
    std::string name = testing::TempDir() + "graph.txt";
    std::ofstream(name) << text;
    return readGraph(name, diag);
  }
};

TEST(Graph, readsAGrid) {
  GraphReading r;
  const Graph g = readCartesian("4px3", r.diag);
  EXPECT_TRUE(r.diag.ok()) << r.said.str();
  EXPECT_EQ(g.of(0).destinations, Graph::cartesian({{4, true}, {3, false}}).of(0).destinations);
  for (std::string text :
       {"", "0", "4x", "x4", "4xx4", "p", "4pp", "-4", "+4", "4x3 ", "4p3", "65536x65536",
        "99999999999999999999", "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1"}) {
    GraphReading wrong;
    EXPECT_EQ(readCartesian(text, wrong.diag).ranks(), 0) << text;
    EXPECT_NE(wrong.said.str().find("grid " + text + ": wanted the ranks of each dimension"),
              std::string::npos)
        << wrong.said.str();
  }
}

TEST(Graph, readsAFile) {
  GraphReading r;
  const Graph g = r.file("# two and one apart\n\n1:to 0 from 0 0 # again\r\n0:from 1 to 1 1\n2:\n");
  EXPECT_TRUE(r.diag.ok()) << r.said.str();
  ASSERT_EQ(g.ranks(), 3);
  EXPECT_EQ(g.of(0), (Neighbors{{{1, 0}}, {1, 1}}));
  EXPECT_EQ(g.of(1), (Neighbors{{{0, 0}, {0, 1}}, {0}}));
  EXPECT_EQ(g.of(2), Neighbors());
  EXPECT_EQ(describe(g, 2), "0: from 1 to 1 1\n1: from 0 0 to 0\n...");
}

TEST(Graph, whatIsDescribedIsReadBack) {
  const Graph g = sampleGraphs(20)[5].graph;
  GraphReading r;
  const Graph again = r.file(describe(g, 20));
  ASSERT_TRUE(r.diag.ok()) << r.said.str();
  for (int64_t rank = 0; rank < 20; ++rank) EXPECT_EQ(again.of(rank), g.of(rank)) << rank;
}

TEST(Graph, refusesAFileThatIsNone) {
  GraphReading r;
  EXPECT_EQ(readGraph("/nowhere/at/all", r.diag).ranks(), 0);
  EXPECT_NE(r.said.str().find("cannot read the graph /nowhere/at/all"), std::string::npos)
      << r.said.str();
  GraphReading folder;
  EXPECT_EQ(readGraph(testing::TempDir(), folder.diag).ranks(), 0);
  EXPECT_NE(folder.said.str().find("cannot read the graph "), std::string::npos);
  EXPECT_NE(folder.said.str().find(": it is a directory"), std::string::npos);
}

TEST(Graph, samplesAreConsistentAndHaveWhatIsHard) {
  for (const int64_t ranks : {1, 2, 3, 4, 6, 7, 12, 13, 36, 97}) {
    bool own = false, twice = false, nobody = false, alone = false, crossed = false;
    for (const SampleGraph &sample : sampleGraphs(ranks)) {
      ASSERT_EQ(sample.graph.ranks(), ranks) << sample.name;
      expectConsistent(sample.graph, cat(sample.name, " of ", ranks));
      for (int32_t rank = 0; rank < ranks; ++rank) {
        const Neighbors &n = sample.graph.of(rank);
        std::multiset<int32_t> to(n.destinations.begin(), n.destinations.end());
        own |= to.contains(rank);
        nobody |= to.contains(kNobody);
        for (const int32_t d : to) twice |= d != kNobody && to.count(d) > 1;
        alone |= n.sources.empty() && n.destinations.empty();
        Slots asTheyStand(n.sources.size());
        for (size_t i = 0; i < asTheyStand.size(); ++i) asTheyStand[i] = static_cast<int32_t>(i);
        crossed |= arrivals(n) != asTheyStand;
      }
    }
    EXPECT_TRUE(own && twice && nobody && crossed) << ranks;
    EXPECT_TRUE(alone || ranks < 4) << ranks;
  }
}

}  // namespace
}  // namespace nbcc
