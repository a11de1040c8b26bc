// SPDX-License-Identifier: BSD-3-Clause
// table.cpp - which row decides, and for which lengths its answer may be kept.

#include "compiler/selection/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace nbcc {
namespace {

Table table(const std::string &rows) {
  std::string why;
  std::optional<Table> t = Table::read("{\"rows\": [" + rows + "]}", "t.json", why);
  EXPECT_TRUE(t) << why;
  return t ? std::move(*t) : Table();
}

Situation allgather(std::uint32_t ranks, std::uint64_t bytes = 0) {
  return {.kind = NBC_ALLGATHER, .ranks = ranks, .bytes = bytes, .targets = {"shm", "mpi"}};
}

std::string chosen(const Table &t, const Situation &s) {
  const std::optional<Choice> c = t.choose(s);
  if (!c) return "nothing";
  std::string text = c->algorithm;
  for (const auto &[name, value] : c->parameters) text += " " + name + "=" + std::to_string(value);
  return text + " " + c->target + " by " + std::to_string(c->row);
}

constexpr const char *kRows = R"(
  {"collective": "allgather", "ranks": "2..4", "bytes": "1K..", "algorithm": "ring"},
  {"collective": "bcast", "algorithm": "binomial"},
  {"collective": "allgather", "nodes": 2, "algorithm": "allgather.bruck:k=3"},
  {"collective": "allgather", "each": true, "target": "mpi", "algorithm": "linear"},
  {"collective": "allgather", "algorithm": "bruck"})";

TEST(Table, IsDecidedByTheFirstRowThatFits) {
  const Table t = table(kRows);
  EXPECT_EQ(chosen(t, allgather(4, 1024)), "allgather.ring shm by 0");
  EXPECT_EQ(chosen(t, allgather(4, 1023)), "allgather.bruck shm by 4");
  EXPECT_EQ(chosen(t, allgather(5, 1024)), "allgather.bruck shm by 4");
  Situation s = allgather(5);
  s.nodes = 2;
  EXPECT_EQ(chosen(t, s), "allgather.bruck k=3 shm by 2");
  s.nodes = 1, s.each = true;
  EXPECT_EQ(chosen(t, s), "allgather.linear mpi by 3");
  s.targets = {"shm"};
  EXPECT_EQ(chosen(t, s), "allgather.bruck shm by 4");
  s.targets = {};
  EXPECT_EQ(chosen(t, s), "nothing");
  EXPECT_EQ(chosen(t, {.kind = NBC_ALLTOALL, .targets = {"shm"}}), "nothing");
}

TEST(Table, KnowsOperators) {
  const Table t = table(R"(
    {"collective": "reduce", "commutes": true, "algorithm": "circulant:segments=4"},
    {"collective": "reduce", "algorithm": "binomial"})");
  Situation s{.kind = NBC_REDUCE, .ranks = 4, .targets = {"mpi"}};
  EXPECT_EQ(chosen(t, s), "reduce.circulant segments=4 mpi by 0");
  s.commutes = false;
  EXPECT_EQ(chosen(t, s), "reduce.binomial mpi by 1");
}

TEST(Table, KnowsWhoWaits) {
  const Table t = table(R"(
    {"collective": "alltoall", "blocking": true, "target": "sci", "transfer": "pio", "algorithm": "linear"},
    {"collective": "alltoall", "blocking": false, "target": "sci", "transfer": "dma", "algorithm": "pairwise"},
    {"collective": "alltoall", "target": "sci", "algorithm": "bruck"},
    {"collective": "alltoall", "algorithm": "bruck"})");
  Situation s{.kind = NBC_ALLTOALL, .ranks = 4, .targets = {"shm", "sci"}};
  EXPECT_EQ(chosen(t, s), "alltoall.linear sci by 0");
  EXPECT_EQ(t.choose(s)->transfer, NBC_TRANSFER_PIO);
  s.blocking = false;
  EXPECT_EQ(chosen(t, s), "alltoall.pairwise sci by 1");
  EXPECT_EQ(t.choose(s)->transfer, NBC_TRANSFER_DMA);
  EXPECT_EQ(t.explain(s)[0].second, "the call does not block");
  s.blocking = true;
  s.targets = {"shm"};
  EXPECT_EQ(t.explain(s)[1].second, "the call blocks");
  EXPECT_EQ(chosen(t, s), "alltoall.bruck shm by 3");
  EXPECT_EQ(t.choose(s)->transfer, NBC_TRANSFER_AUTO);
}

TEST(Table, SaysForWhichLengthsTheAnswerHolds) {
  const Table t = table(kRows);
  const auto span = [&](const Situation &s) {
    const Choice c = *t.choose(s);
    return std::pair(c.from, c.to);
  };
  EXPECT_EQ(span(allgather(4, 5000)), std::pair(uint64_t{1024}, UINT64_MAX));
  EXPECT_EQ(span(allgather(4, 5)), std::pair(uint64_t{0}, uint64_t{1023}));
  // The row that speaks of bytes is for other ranks.
  EXPECT_EQ(span(allgather(5, 5)), std::pair(uint64_t{0}, UINT64_MAX));
}

TEST(Table, IsOverridden) {
  Table t = table(kRows);
  std::string why;
  ASSERT_TRUE(t.override_with("ALLGATHER", "bruck:k=7", why)) << why;
  ASSERT_TRUE(t.override_with("allgather", "circulant:k=2,m=-3", why)) << why;
  Situation s = allgather(4, 5000);
  EXPECT_EQ(chosen(t, s), "allgather.circulant k=2 m=-3 shm by -1");
  s.each = true;
  EXPECT_EQ(chosen(t, s), "allgather.ring shm by 0");
  ASSERT_TRUE(t.override_with("ALLGATHERV", "linear", why)) << why;
  EXPECT_EQ(chosen(t, s), "allgather.linear shm by -1");
  s.each = false;
  EXPECT_EQ(chosen(t, s), "allgather.circulant k=2 m=-3 shm by -1");
  EXPECT_EQ(t.explain(s).front().first.text, "allgather=circulant:k=2,m=-3");

  ASSERT_TRUE(t.override_with("REDUCE_SCATTER", "ring", why)) << why;
  Situation r{.kind = NBC_REDUCE_SCATTER, .each = true, .ranks = 2, .targets = {"mpi"}};
  EXPECT_EQ(chosen(t, r), "reduce_scatter.ring mpi by -1");
  r.each = false;
  EXPECT_EQ(chosen(t, r), "reduce_scatter.ring mpi by -1");
}

TEST(Table, RefusesWrongOverrides) {
  Table t;
  std::string why;
  for (const char *kind :
       {"", "v", "ALLGATHERW", "BCASTV", "REDUCE_SCATTERV", "GATHERW", "TABLE"}) {
    EXPECT_FALSE(t.override_with(kind, "linear", why)) << kind;
    EXPECT_EQ(why, "there is no collective '" + std::string(kind) + "'");
  }
  for (const char *kind : {"ALLTOALLW", "NEIGHBOR_ALLTOALLW", "SCATTERV", "barrier"})
    EXPECT_TRUE(t.override_with(kind, "linear", why)) << kind << ": " << why;
  EXPECT_FALSE(t.override_with("BCAST", "gather.linear", why));
  EXPECT_EQ(why,
            "'gather.linear' is no algorithm of bcast; wanted is one as linear, or with parameters "
            "as bruck:k=3");
  for (const char *wrong : {"", ":", "a b", "a/b", ":k=3"})
    EXPECT_FALSE(t.override_with("BCAST", wrong, why)) << wrong;
  for (const char *wrong :
       {"chain:", "chain:k", "chain:k=", "chain:=3", "chain:k=3,", "chain:k=3x"}) {
    EXPECT_FALSE(t.override_with("BCAST", wrong, why)) << wrong;
    EXPECT_NE(why.find("is no parameter; wanted is one as k=3"), std::string::npos) << why;
  }
  EXPECT_FALSE(t.override_with("BCAST", "chain:k=3,k=4", why));
  EXPECT_EQ(why, "parameter k is given twice");
}

TEST(Table, PassesOverWhatCannotBeDone) {
  Table t = table(kRows);
  std::string why;
  ASSERT_TRUE(t.override_with("allgather", "neighbor_exchange", why));
  t.ask([](const Choice &c, const Situation &s) -> std::string {
    if (c.algorithm == "allgather.ring") return "no ring on " + c.target;
    return c.algorithm == "allgather.neighbor_exchange" && s.ranks % 2 ? "odd" : "";
  });
  EXPECT_EQ(chosen(t, allgather(4, 5000)), "allgather.neighbor_exchange shm by -1");
  EXPECT_EQ(chosen(t, allgather(3, 5000)), "allgather.bruck shm by 4");
  // That row would say where the answer ends.
  EXPECT_EQ(t.choose(allgather(3, 5000))->from, 0u);
  EXPECT_EQ(t.explain(allgather(3, 5000))[0].second, "odd");
  EXPECT_EQ(t.explain(allgather(3, 5000))[1].second, "no ring on shm");

  const auto refused = [&](const Situation &s) {
    Table::Reasons all;
    t.choose(s, &all);
    return all;
  };
  ASSERT_EQ(refused(allgather(3, 5000)).size(), 1u);
  EXPECT_EQ(refused(allgather(3, 5000))[0].second, "odd");
  EXPECT_TRUE(refused(allgather(4, 5000)).empty());
  Situation each = allgather(3, 0);
  each.each = true;  // for which nothing was said
  EXPECT_TRUE(refused(each).empty());
}

TEST(Table, ChecksOverridesAndRows) {
  Table t = table(kRows);
  std::string why;
  ASSERT_TRUE(t.override_with("allgather", "ring:k=3", why));
  const auto ring = [](const Choice &c) -> std::string {
    if (c.algorithm != "allgather.ring") return "";
    return c.parameters.empty() ? "none" : c.parameters[0].first;
  };
  EXPECT_EQ(t.check(ring, false).size(), 1u);
  const auto wrong = t.check(ring, true);
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_EQ(wrong[0].first.text, "allgather=ring:k=3");
  EXPECT_EQ(wrong[0].second, "k");
  EXPECT_EQ(wrong[1].first.line, 2);
  EXPECT_EQ(wrong[1].second, "none");
}

TEST(Table, ExplainsEachRowOfTheCollective) {
  const Table t = table(kRows);
  Situation s = allgather(9, 7);
  s.targets = {"shm"};
  std::vector<std::pair<int, std::string>> said;
  for (const auto &[row, why] : t.explain(s)) said.emplace_back(row.line, why);
  const std::vector<std::pair<int, std::string>> wanted{{2, "it is not for 9 ranks"},
                                                        {4, "it is not for 1 node"},
                                                        {5, "blocks are equally long"},
                                                        {6, ""}};
  EXPECT_EQ(said, wanted);
  s.each = true, s.nodes = 2;
  EXPECT_EQ(t.explain(s)[1].second, "");
  s.nodes = 3;
  EXPECT_EQ(t.explain(s)[1].second, "it is not for 3 nodes");
  EXPECT_EQ(t.explain(s)[2].second, "no target mpi; there is shm");
  EXPECT_EQ(t.explain(allgather(3, 7))[0].second, "it is not for 7 bytes");
  EXPECT_EQ(
      t.explain(s)[0].first.text,
      R"({"collective": "allgather", "ranks": "2..4", "bytes": "1K..", "algorithm": "ring"})");
}

/// Every length in the range of an answer has the same answer.
RC_GTEST_PROP(Table, AnswersAlikeInItsRange, ()) {
  const auto number = rc::gen::inRange(0, 64);
  const auto maybe = rc::gen::inRange(0, 3);
  std::string rows;
  const int count = *rc::gen::inRange(0, 8);
  for (int i = 0; i < count; ++i) {
    const int from = *number, to = from + *number;
    rows += R"({"collective": "allgather", "algorithm": "a)" +
            std::to_string(*rc::gen::inRange(0, 3)) + "\"";
    if (*maybe) rows += ", \"bytes\": \"" + std::to_string(from) + ".." + std::to_string(to) + "\"";
    if (!*maybe) rows += ", \"each\": true";
    if (!*maybe) rows += ", \"ranks\": \"2\"";
    if (!*maybe) rows += ", \"target\": \"mpi\"";
    rows += "},\n";
  }
  Table t = table(rows + R"({"collective": "allgather", "algorithm": "last"})");
  if (!*maybe)
    t.ask(
        [](const Choice &c, const Situation &) { return c.algorithm.ends_with("1") ? "no" : ""; });
  Situation s = allgather(static_cast<std::uint32_t>(*rc::gen::inRange(1, 3)));
  s.each = !*maybe;
  s.bytes = static_cast<std::uint64_t>(*number);
  const Choice c = *t.choose(s);
  RC_ASSERT(c.from <= s.bytes && s.bytes <= c.to);
  for (s.bytes = c.from; s.bytes <= std::min<std::uint64_t>(c.to, 200); ++s.bytes) {
    const Choice other = *t.choose(s);
    RC_ASSERT(other.algorithm == c.algorithm);
    RC_ASSERT(other.target == c.target);
    RC_ASSERT(other.row == c.row);
  }
}

}  // namespace
}  // namespace nbcc
