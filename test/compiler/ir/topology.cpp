// SPDX-License-Identifier: BSD-3-Clause
// topology.cpp - numbering, among, what is read and refused, samples.

#include "compiler/ir/topology.h"

#include <gtest/gtest.h>

#include <fstream>

namespace nbcc {
namespace {

std::vector<int32_t> nodesOf(const Topology &t) {
  std::vector<int32_t> nodes;
  for (int64_t rank = 0; rank < t.ranks(); ++rank) nodes.push_back(t.nodeOf(rank));
  return nodes;
}

TEST(Topology, nodesAreNumberedAsTheyFirstOccur) {
  Topology t({7, 2, 7, 9, 2, 7});
  EXPECT_EQ(nodesOf(t), (std::vector<int32_t>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(t.nodes(), 3);
  EXPECT_EQ(t.ranksOn(0), (std::vector<int32_t>{0, 2, 5}));
  EXPECT_EQ(t.localRank(0), 0);
  EXPECT_EQ(t.localRank(5), 2);
  EXPECT_EQ(t.localRank(4), 1);
}

TEST(Topology, amongSomeRanksNumbersAnew) {
  Topology t = Topology({0, 0, 1, 1, 2, 2}).among({5, 2, 4});
  EXPECT_EQ(nodesOf(t), (std::vector<int32_t>{0, 1, 0}));
  EXPECT_EQ(t.ranksOn(0), (std::vector<int32_t>{0, 2}));
}

struct TopologyReading {
  std::ostringstream said;
  Diag diag{said};
  Topology read(const std::string &text) { return readTopology(text, diag); }
};

TEST(Topology, readsAGrid) {
  TopologyReading r;
  EXPECT_EQ(nodesOf(r.read("2x3")), (std::vector<int32_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_TRUE(r.diag.ok()) << r.said.str();
}

TEST(Topology, readsAFile) {
  std::string name = testing::TempDir() + "topology.txt";
  std::ofstream(name) << "# rank by rank\nblue red\n  blue # again\n\ngreen\tred\n";
  TopologyReading r;
  EXPECT_EQ(nodesOf(r.read(name)), (std::vector<int32_t>{0, 1, 0, 2, 1}));
  EXPECT_TRUE(r.diag.ok()) << r.said.str();
  std::ofstream(name) << "# nothing\n";
  EXPECT_EQ(r.read(name).ranks(), 0);
  EXPECT_NE(r.said.str().find("names the nodes of 0 ranks"), std::string::npos) << r.said.str();
}

TEST(Topology, readsATorusAndKnowsItsWays) {
  TopologyReading r;
  const Topology t = r.read("torus:2x3x4");
  EXPECT_EQ(t.nodes(), 24);
  EXPECT_EQ(t.extents(), (std::vector<int64_t>{2, 3, 4}));
  // Row 1, place 3 of the first plane to row 0, place 1 of the second: around, around, on.
  EXPECT_EQ(t.route(7, 13), (std::vector<int32_t>{7, 4, 5, 9, 1, 13}));
  EXPECT_EQ(t.route(5, 5), (std::vector<int32_t>{5}));
  EXPECT_TRUE(r.diag.ok()) << r.said.str();
}

TEST(Topology, nodesWithoutATorusAreNearlyASquare) {
  EXPECT_EQ(oneOnEach(12).extents(), (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(oneOnEach(7).extents(), (std::vector<int64_t>{7, 1}));
  EXPECT_EQ(oneOnEach(1).extents(), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(Topology({0, 0, 1, 1}).extents(), (std::vector<int64_t>{2, 1}));
}

TEST(Topology, refusesWhatIsNoTorus) {
  for (std::string text : {"torus:", "torus:4x", "torus:x4", "torus:0x4", "torus:4x-1",
                           "torus:5000x5000", "torus:1x1x1x1x1x1x1x1x1"}) {
    TopologyReading r;
    EXPECT_EQ(r.read(text).ranks(), 0) << text;
    EXPECT_NE(r.said.str().find("wanted the sides of a torus, as torus:4x4"), std::string::npos)
        << text << r.said.str();
  }
}

TEST(Topology, refusesWhatIsNoTopology) {
  const std::string grid = ": wanted nodes x ranks on each, as 4x8, of 1..16777216 ranks in all";
  for (std::string text :
       {"0x4", "4x0", "4x4x4", "65536x65536", "9223372036854775807x3", "99999999999999999999x1"}) {
    TopologyReading r;
    EXPECT_EQ(r.read(text).ranks(), 0);
    EXPECT_NE(r.said.str().find("topology " + text + grid), std::string::npos) << r.said.str();
  }
  for (std::string text : {"/nowhere/at/all", "", "4x", "/tmp"}) {
    TopologyReading r;
    EXPECT_EQ(r.read(text).ranks(), 0);
    EXPECT_FALSE(r.diag.ok()) << text;
  }
}

TEST(Topology, samplesAreAllDifferent) {
  EXPECT_EQ(sampleTopologies(1).size(), 1u);
  EXPECT_EQ(sampleTopologies(2).size(), 2u);
  std::vector<Topology> samples = sampleTopologies(7);
  ASSERT_EQ(samples.size(), 5u);
  EXPECT_EQ(nodesOf(samples[0]), std::vector<int32_t>(7, 0));
  EXPECT_EQ(nodesOf(samples[1]), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(nodesOf(samples[2]), (std::vector<int32_t>{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(nodesOf(samples[3]), (std::vector<int32_t>{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(nodesOf(samples[4]), (std::vector<int32_t>{0, 1, 1, 2, 2, 2, 3}));
}

}  // namespace
}  // namespace nbcc
