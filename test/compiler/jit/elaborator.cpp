// SPDX-License-Identifier: BSD-3-Clause
// elaborator.cpp - requires, claims, many ranks and many algorithms: the Elaborator around a run.

#include "compiler/jit/elaborator.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include "test/compiler/elaborate/program.h"

namespace nbcc {
namespace {

TEST(Elaborate, requiresAllOfItsConditions) {
  Program p(
      "allgather a(k = 1)\n  requires P > 1,\n           pow(k + 1, floor_log(k + 1, P)) == P\n{ "
      "}");
  Elaborator &e = p.elaborator();
  Loc why;
  EXPECT_EQ(e.applies(p.algorithm(), {.ranks = 8, .parameters = {1}}, &why), true);
  EXPECT_EQ(e.applies(p.algorithm(), {.ranks = 9, .parameters = {2}}, &why), true);
  EXPECT_EQ(e.applies(p.algorithm(), {.ranks = 9, .parameters = {1}}, &why), false);
  EXPECT_EQ(why.line, 3u);
  EXPECT_EQ(e.applies(p.algorithm(), {.ranks = 1, .parameters = {1}}, &why), false);
  EXPECT_EQ(why.line, 2u);
  EXPECT_EQ(p.firstError(), "");
  EXPECT_EQ(e.applies(p.algorithm(), {.ranks = 8, .parameters = {0}}), std::nullopt);
  EXPECT_EQ(p.firstError(), "3:23: floor_log(1, 8): needs a base >= 2 and a number >= 1 (P = 8)");
}

TEST(Elaborate, claimsHaveTheirBounds) {
  Program p(
      "allreduce a(k = 1)\n"
      "  claims rounds == ceil_log(k + 1, P), messages <= P * k, sent < 5, rank_order { }");
  auto claims = p.elaborator().claims(p.algorithm(), {.ranks = 9, .parameters = {2}});
  ASSERT_TRUE(claims);
  ASSERT_EQ(claims->size(), 4u);
  EXPECT_EQ((*claims)[0].what, ast::Claim::What::rounds);
  EXPECT_EQ((*claims)[0].op, ast::Operator::eq);
  EXPECT_EQ((*claims)[0].bound, 2);
  EXPECT_EQ((*claims)[1].what, ast::Claim::What::messages);
  EXPECT_EQ((*claims)[1].op, ast::Operator::le);
  EXPECT_EQ((*claims)[1].bound, 18);
  EXPECT_EQ((*claims)[2].bound, 5);
  EXPECT_EQ((*claims)[3].what, ast::Claim::What::rank_order);
  EXPECT_EQ((*claims)[3].loc.line, 2u);
}

TEST(Elaborate, claimsMaySpeakOfTheRoot) {
  Program p("bcast a claims rounds <= P - root { }");
  auto claims = p.elaborator().claims(p.algorithm(), {.ranks = 9, .rank = 0, .root = 3});
  ASSERT_TRUE(claims);
  EXPECT_EQ((*claims)[0].bound, 6);
}

TEST(Elaborate, algorithmsOfAFileAreApart) {
  std::ostringstream said;
  Diag diag(said);
  auto file = parseText("two.nbc",
                        "barrier one { round { signal 1 - me; } }\n"
                        "barrier two(n) { for i in 0 ..< n { round { await 1 - me; } } }",
                        diag);
  ASSERT_TRUE(file);
  check(*file, diag);
  ASSERT_TRUE(diag.ok()) << said.str();
  Elaborator e(*file, diag);
  EXPECT_EQ(e.elaborate(*file->algorithms[0], {.ranks = 2})->steps.size(), 1u);
  EXPECT_EQ(e.elaborate(*file->algorithms[1], {.ranks = 2, .parameters = {5}})->steps.size(), 5u);
}

TEST(Elaborate, ranksMayRunInThreads) {
  Program p(
      "allgather ring { copy in -> out[me]; for s in 0 ..< P - 1 { round {"
      " send out[(me - s) mod P] to (me + 1) mod P;"
      " recv out[(me - s - 1) mod P] from (me - 1) mod P; } } }");
  constexpr int64_t kRanks = 400;
  std::vector<std::optional<Schedule>> schedules(kRanks);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t rank = t; rank < kRanks; rank += 4)
        schedules[static_cast<size_t>(rank)] =
            p.elaborator().elaborate(p.algorithm(), {.ranks = kRanks, .rank = rank});
    });
  for (std::thread &t : threads) t.join();
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    const std::optional<Schedule> &s = schedules[static_cast<size_t>(rank)];
    ASSERT_TRUE(s);
    EXPECT_EQ(s->rounds, kRanks - 1);
    EXPECT_EQ(s->steps.size(), 2u * (kRanks - 1) + 1);
    EXPECT_EQ(s->steps[1].peer, (rank + 1) % kRanks);
  }
}

TEST(Elaborate, anotherOneForTheSameCodeReportsElsewhere) {
  std::ostringstream said, saidElsewhere;
  Diag diag(said), elsewhere(saidElsewhere);
  auto file = parseText("test.nbc", "barrier b { round { signal P + me; } }", diag);
  check(*file, diag);
  auto first = std::make_unique<Elaborator>(*file, diag);
  Elaborator second(*first, elsewhere);
  first.reset();  // the code stays
  EXPECT_EQ(second.elaborate(*file->algorithms[0], {.ranks = 2}), std::nullopt);
  EXPECT_EQ(said.str(), "");
  EXPECT_NE(saidElsewhere.str().find("rank"), std::string::npos) << saidElsewhere.str();
}

TEST(Elaborate, whatIsTooLargeToCompileIsRefused) {
  std::string text = "barrier b {\n";
  for (int i = 0; i < 12'000; ++i)
    text += cat("if me == ", i, " { round { signal ", i, " + P; } }\n");
  std::ostringstream said;
  Diag diag(said);
  auto file = parseText("large.nbc", text + "}", diag);
  ASSERT_TRUE(file) << said.str();
  check(*file, diag);
  ASSERT_TRUE(diag.ok()) << said.str();
  Elaborator e(*file, diag);
  EXPECT_NE(said.str().find("large.nbc:1:9: error: this program comes to "), std::string::npos)
      << said.str();
  EXPECT_EQ(e.elaborate(*file->algorithms[0], {.ranks = 2}), std::nullopt);
  EXPECT_EQ(e.applies(*file->algorithms[0], {.ranks = 2}), std::nullopt);
}

TEST(Elaborate, printsTheModuleItRuns) {
  Program p("fn twice(x) = x * 2; barrier named { round { signal twice(me) + 1; } }");
  std::ostringstream out;
  p.elaborator().print(out);
  EXPECT_NE(out.str().find("define i64 @build.barrier.named("), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("@fn.twice("), std::string::npos);
}

/// Every algorithm of the library, every rank of a few P: kept promises.
TEST(Elaborate, theLibraryKeepsThePromisesOfSchedules) {
  int algorithms = 0;
  for (const auto &entry :
       std::filesystem::recursive_directory_iterator(NBCC_SOURCE_DIR "/stdlib_algos")) {
    if (entry.path().extension() != ".nbc") continue;
    std::ostringstream said;
    Diag diag(said);
    auto file = parse(entry.path(), diag);
    ASSERT_TRUE(file) << said.str();
    check(*file, diag);
    ASSERT_TRUE(diag.ok()) << said.str();
    Elaborator e(*file, diag);
    for (const auto &a : file->algorithms) {
      ++algorithms;
      std::vector<int64_t> parameters;
      for (const ast::Parameter &p : a->parameters) parameters.push_back(p.initial.value_or(2));
      for (int64_t ranks : {1, 2, 3, 7, 8, 16, 27})
        for (const Topology &topology : sampleTopologies(ranks)) {
          const Graph graph = sampleGraphs(ranks)[static_cast<size_t>(topology.nodes()) % 5].graph;
          Request request{ranks, 0, ranks / 2, parameters, &topology, &graph};
          if (!e.applies(*a, request).value_or(false)) continue;
          EXPECT_TRUE(e.claims(*a, request));
          for (request.rank = 0; request.rank < ranks; ++request.rank) {
            auto s = e.elaborate(*a, request);
            if (s) verify(*s, diag);
          }
        }
      EXPECT_TRUE(diag.ok()) << entry.path() << "\n" << said.str();
    }
  }
  EXPECT_GE(algorithms, 19);
}

}  // namespace
}  // namespace nbcc
