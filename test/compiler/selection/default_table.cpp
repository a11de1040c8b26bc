// SPDX-License-Identifier: BSD-3-Clause
// default_table.cpp - dropin/table.json: for each call there is an algorithm, and the library that
// is shipped can do it, on each rank.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "compiler/selection/able.h"
#include "dsl/collectives.h"
#include "nbc/build.h"

namespace nbcc {
namespace {

constexpr std::uint32_t kMostRanks = 33;

class DefaultTable : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char *said = "";
    ASSERT_EQ(nbc_library_open(NBCC_COLLS, &library, &said), 0) << said;
    std::ifstream file(NBCC_SOURCE_DIR "/dropin/table.json");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    std::string why;
    std::optional<Table> read = Table::read(text, "table.json", why);
    ASSERT_TRUE(read) << why;
    table = std::move(*read);
  }
  static void TearDownTestSuite() { nbc_library_close(library); }

  /// `ranks` on `nodes`, one behind the other.
  static std::vector<std::int32_t> places(std::uint32_t ranks, std::uint32_t nodes) {
    std::vector<std::int32_t> result;
    for (std::uint32_t r = 0; r < ranks; ++r)
      result.push_back(static_cast<std::int32_t>(std::uint64_t(r) * nodes / ranks));
    return result;
  }

  static const nbc_library *library;
  static Table table;
};
const nbc_library *DefaultTable::library = nullptr;
Table DefaultTable::table;

std::string named(const Situation &s) {
  return cat(collectives()[s.kind].name, s.each ? ", each" : "",
             s.commutes ? "" : ", not commuting", ", ", s.ranks, " ranks, ", s.nodes, " nodes, ",
             s.bytes, " bytes, ", s.targets.front());
}

/// Every call that the drop-in may be asked for.
template <class Ask>
void walk(Ask ask) {
  for (const Collective &c : collectives())
    for (const bool each : {false, true})
      for (const bool commutes : {true, false}) {
        if ((each && !c.hasOwnLengths()) || (!commutes && !c.reduces)) continue;
        for (std::uint32_t ranks = 1; ranks <= kMostRanks; ++ranks)
          for (const std::uint32_t nodes : {1u, 2u, ranks}) {
            if (nodes > ranks) continue;
            for (std::uint64_t bytes = 0; bytes < std::uint64_t(1) << 34;
                 bytes = bytes ? bytes * 2 : 1)
              for (const std::vector<std::string_view> &targets :
                   {std::vector<std::string_view>{"shm", "mpi"}, {"mpi"}, {"shm"}})
                for (const std::uint64_t more : {0, 1}) {
                  const std::uint64_t length = each ? 0 : bytes + more;
                  ask(Situation{static_cast<nbc_kind>(c.kind), each, ranks, nodes, length, commutes,
                                targets});
                }
          }
      }
}

TEST_F(DefaultTable, ChoosesForEachCallWhatCanDoIt) {
  std::set<std::string> asked;
  walk([&](const Situation &s) {
    const std::optional<Choice> c = table.choose(s);
    ASSERT_TRUE(c) << named(s);
    std::string call =
        cat(c->algorithm, " ", c->target, s.each, s.commutes, " ", s.ranks, " ", s.nodes);
    for (const auto &[name, value] : c->parameters) call += cat(" ", name, "=", value);
    if (!asked.insert(call).second) return;
    Situation placed = s;
    const std::vector<std::int32_t> nodeOf = places(s.ranks, s.nodes);
    placed.nodeOf = nodeOf.data();
    EXPECT_EQ(unable(*library, *c, placed), "") << named(s) << ": " << call;
  });
  EXPECT_GT(asked.size(), 1000u);
}

/// Asking what the library can do must not make the default table choose anything else.
TEST_F(DefaultTable, NeedsNobodyToPassRowsOver) {
  std::ifstream file(NBCC_SOURCE_DIR "/dropin/table.json");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::string why;
  Table other = std::move(*Table::read(text, "table.json", why));
  other.ask([](const Choice &c, const Situation &s) { return unable(*library, c, s); });
  for (const bool commutes : {true, false})
    for (const nbc_kind kind : {NBC_ALLREDUCE, NBC_REDUCE_SCATTER, NBC_ALLGATHER})
      for (std::uint32_t ranks = 1; ranks <= kMostRanks; ++ranks) {
        const std::vector<std::int32_t> nodeOf(ranks);
        const Situation s{kind,    false,        ranks,
                          1,       1 << 20,      commutes || kind == NBC_ALLGATHER,
                          {"mpi"}, nodeOf.data()};
        EXPECT_EQ(table.choose(s)->row, other.choose(s)->row) << named(s);
      }
}

/// What flags do not say: that each rank can do it with what MPI tells it of lengths.
TEST_F(DefaultTable, BuildsOnAllRanks) {
  for (const Collective &c : collectives()) {
    if (c.hasGraph()) continue;
    for (const bool each : {false, true})
      for (const bool commutes : {true, false})
        for (const std::uint32_t ranks : {1u, 2u, 5u, 12u, 18u})
          for (const std::uint64_t bytes : {1, 20000, 300000, 8000000}) {
            if ((each && !c.hasOwnLengths()) || (!commutes && !c.reduces)) continue;
            const Situation s{static_cast<nbc_kind>(c.kind),
                              each,
                              ranks,
                              ranks > 5 ? 2u : 1u,
                              bytes,
                              commutes,
                              {"shm"}};
            const Choice choice = *table.choose(s);
            const std::vector<std::int32_t> nodeOf = places(s.ranks, s.nodes);
            std::vector<std::int64_t> parameters;
            std::string why;
            const nbc_library_algorithm &a = *nbc_library_named(library, choice.algorithm.c_str());
            ASSERT_TRUE(parametersOf(*library, a, choice.parameters, parameters, why)) << why;
            nbc_build_request r = {};
            r.algorithm = choice.algorithm.c_str();
            r.target = choice.target.c_str();
            r.lengths = each ? NBC_LENGTHS_EACH : NBC_LENGTHS_EQUAL;
            r.ranks = ranks;
            r.parameters = parameters.data();
            r.node_of = nodeOf.data();
            for (r.rank = 0; r.rank < ranks; ++r.rank) {
              void *made = nullptr;
              size_t size = 0;
              char said[512] = "";
              EXPECT_EQ(nbc_build_template(library, &r, &made, &size, said, sizeof said), 0)
                  << named(s) << ", " << choice.algorithm << ": " << said;
              std::free(made);
            }
          }
  }
}

TEST_F(DefaultTable, UnableSaysWhy) {
  Choice c{.algorithm = "allreduce.ring", .parameters = {}, .target = "shm"};
  Situation s{.kind = NBC_ALLREDUCE, .ranks = 5, .targets = {"shm"}};
  const auto why = [&] { return unable(*library, c, s); };
  EXPECT_EQ(why(), "");
  s.commutes = false;
  EXPECT_EQ(why(), "it is for operators that commute");
  c.algorithm = "allreduce.nothing";
  EXPECT_EQ(why(), "the library nbc_colls holds no allreduce.nothing");
  EXPECT_EQ(missing(*library, c), why());
  c.algorithm = "allreduce.rabenseifner", c.target = "gm";
  EXPECT_EQ(why(), "the library nbc_colls was not made for gm with blocks equally long");
  c.target = "mpi", c.parameters = {{"k", 3}};
  EXPECT_EQ(why(), "it has no parameter k");
  s.commutes = true, c.parameters = {}, c.algorithm = "allreduce.two_level";
  EXPECT_EQ(why(), "nobody knows where the ranks are");
  c.algorithm = "alltoall.bruck", s.kind = NBC_ALLTOALL, s.each = true;
  EXPECT_EQ(why(), "it is for blocks equally long");
  s.each = false, c.parameters = {{"k", 0}};
  EXPECT_EQ(why(), "bruck requires this, which does not hold for 5 ranks");
  c = {.algorithm = "allgather.neighbor_exchange", .parameters = {}, .target = "shm"};
  EXPECT_EQ(why(), "neighbor_exchange requires this, which does not hold for 5 ranks");
  s.ranks = 6;
  EXPECT_EQ(why(), "");
}

}  // namespace
}  // namespace nbcc
