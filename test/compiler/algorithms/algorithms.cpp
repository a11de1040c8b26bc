// SPDX-License-Identifier: BSD-3-Clause
// algorithms.cpp - algorithms by name: whose they are, what is said of those that cannot be had,
// and plans made of them.

#include "nbc/algorithms.h"

#include <gtest/gtest.h>

#include <utility>

#include "devices/p2p/p2p.h"
#include "test/compiler/algorithms/folder.h"
#include "test/compiler/algorithms/set.h"
#include "test/runtime/board.h"

namespace nbcc {
namespace {

TEST(Algorithms, areThoseOfTheFirstThatHasThem) {
  const Folder here;
  here.put("tree/allgather/circle.nbc", kRing);
  const std::string other = here.put("other.nbc", "barrier none requires P == 1 { }\n");
  const std::string source = here.put("my.nbc", kRing);
  Set all({other, source, here.file("tree")}, here.file("cache"));
  ASSERT_EQ(all.status, 0) << all.why;
  EXPECT_NE(all.build("allgather.circle"), "") << all.why;
  EXPECT_EQ(all.compiled(), 1u);
  const std::string mine = all.build("allgather.circle");
  EXPECT_EQ(all.compiled(), 1u) << "it is open already";
  Set folder({here.file("tree")}, here.file("cache"));
  EXPECT_EQ(folder.build("allgather.circle"), mine);
  Set text({}, here.file("cache"));
  ASSERT_EQ(nbc_algorithms_add(text.all, "my.nbc", kRing), 0);
  EXPECT_EQ(text.build("allgather.circle"), mine);
  EXPECT_NE(text.build("allgather.bruck"), "") << "of the installed ones: " << text.why;
}

TEST(Algorithms, ofALibraryNeedNoCompiler) {
  const Folder here;
  Set first({here.put("my.nbc", kRing)}, here.file("cache"));
  const std::string made = first.build("allgather.circle");
  const auto libraries = here.all("cache", ".so");
  ASSERT_EQ(libraries.size(), 1u);
  nbc_algorithms_options options = {};
  options.compiler = "off";
  Set second({libraries[0].string()}, "off", options);
  ASSERT_EQ(second.status, 0) << second.why;
  EXPECT_EQ(second.build("allgather.circle"), made);

  const nbc_library *lib = nullptr;
  const char *why = "";
  ASSERT_EQ(nbc_library_open(libraries[0].c_str(), &lib, &why), 0) << why;
  Set third({}, "off", options);
  ASSERT_EQ(nbc_algorithms_add_library(third.all, lib, &why), 0) << why;
  EXPECT_EQ(third.build("allgather.circle"), made);
  EXPECT_EQ(third.build("allgather.bruck"), "");
  EXPECT_NE(third.why.find(" is not in the cache, and there is no compiler"), std::string::npos)
      << third.why;
  nbc_library_close(lib);
}

TEST(Algorithms, sayWhatCannotBeOpened) {
  const Folder here;
  const auto refused = [&](const std::string &path) {
    const Set all({path}, "off");
    EXPECT_NE(all.status, 0);
    EXPECT_EQ(all.all, nullptr);
    return all.why;
  };
  const std::string gone = here.file("gone.nbc"), empty = here.put("empty.so", "");
  EXPECT_EQ(refused(gone), gone + ": there is no such file");
  EXPECT_EQ(refused(empty), empty + ": an empty file");
  const std::string large = here.put("large.nbc", std::string(2 << 20, ' '));
  EXPECT_EQ(refused(large), large + ": it cannot be read, or is longer than a source may be");
}

TEST(Algorithms, sayWhatIsWrongWithARequest) {
  const Folder here;
  Set all({here.put("my.nbc", kRing)}, "off");
  const auto refused = [&](const nbc_build_request &r) {
    EXPECT_EQ(all.build(r), "");
    EXPECT_NE(all.status, 0);
    return all.why;
  };
  EXPECT_EQ(refused(Set::request("circle")),
            "'circle' is no name of an algorithm: allgather.bruck is one");
  EXPECT_EQ(refused(Set::request("../etc.passwd")),
            "'../etc.passwd' is no name of an algorithm: allgather.bruck is one");
  const std::string nobody = refused(Set::request("allgather.circel"));
  EXPECT_EQ(nobody.find("there is no algorithm allgather.circel in " + here.file("my.nbc") + ", "),
            0u)
      << nobody;
  const int64_t parameters[] = {1, 2};
  nbc_build_request r = Set::request("allgather.circle");
  r.parameters = parameters;
  r.parameter_count = 2;
  EXPECT_NE(refused(r).find("allgather.circle has 0 parameters; 2 were given"), std::string::npos);
  r = Set::request("allgather.circle");
  r.target = "pigeons";
  EXPECT_NE(refused(r).find("was not made for pigeons"), std::string::npos) << all.why;
}

/// The compiler's words reach the caller: place, line and caret.
TEST(Algorithms, handOnWhatTheCompilerSays) {
  const Folder here;
  const std::string wrong = here.put("wrong.nbc", "allgather circle {\n  copy in -> uot[me];\n}\n");
  Set all({wrong}, here.file("cache"));
  EXPECT_EQ(all.build("allgather.circle"), "");
  EXPECT_EQ(all.status, NBC_ERROR_UNSUPPORTED);
  EXPECT_EQ(all.why.find(wrong + ":2:14: error: "), 0u) << all.why;
  EXPECT_NE(all.why.find("\n  copy in -> uot[me];\n             ^"), std::string::npos) << all.why;
  EXPECT_TRUE(here.all("cache", "").empty());
}

/// It would compile, but it is no allgather.
TEST(Algorithms, areProvenForTheRanksAtHand) {
  const Folder here;
  const std::string wrong = here.put("wrong.nbc", "allgather lazy { copy in -> out[0]; }\n");
  Set all({wrong}, here.file("cache"));
  EXPECT_EQ(all.build("allgather.lazy"), "");
  EXPECT_NE(all.why.find("lazy fails with 4 ranks"), std::string::npos) << all.why;
  EXPECT_NE(all.build(Set::request("allgather.lazy", 1)), "") << all.why;
  nbc_algorithms_options options = {};
  options.prove_up_to = 3;
  Set trusting({wrong}, here.file("cache"), options);
  EXPECT_NE(trusting.build("allgather.lazy"), "") << "nobody looked, as was asked for";
}

TEST(Algorithms, becomePlans) {
  const Folder here;
  constexpr int ranks = 3;
  p2p::Fabric fabric({.mode = p2p::Mode::Simulated});
  Board board;
  std::vector<Board::Context> contexts;
  for (int rank = 0; rank < ranks; ++rank) contexts.push_back({&board, rank});
  std::vector<nbc_comm *> comms;
  std::vector<nbc_plan *> plans;
  const std::string source = here.put("my.nbc", kRing), cache = here.file("cache");
  nbc_build_request what = {};
  what.algorithm = "allgather.circle";
  for (int rank = 0; rank < ranks; ++rank) {
    nbc_device *device = &fabric.addEndpoint()->device;
    const nbc_bootstrap b = {rank, ranks, &contexts[size_t(rank)], Board::put, Board::get, nullptr};
    ASSERT_EQ(nbc_comm_create(&b, &device, 1, &comms.emplace_back()), 0);
    const char *why = nullptr;
    plans.push_back(nullptr);
    EXPECT_EQ(nbc_plan_make(comms.back(), &what, nullptr, &plans.back(), &why), NBC_ERROR_ARGUMENT);
    EXPECT_STREQ(why, "the communicator was given no algorithms");
    Set all({source}, cache);
    ASSERT_EQ(nbc_comm_take(comms.back(), std::exchange(all.all, nullptr)), 0);
    ASSERT_EQ(nbc_plan_make(comms.back(), &what, nullptr, &plans.back(), &why), 0) << why;
  }
  for (nbc_plan *plan : plans) ASSERT_EQ(nbc_plan_connect(plan), 0);
  std::vector<nbc_request> requests(ranks);
  std::vector<std::vector<int32_t>> in, out(ranks, std::vector<int32_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) in.push_back({100 + rank});
  for (size_t rank = 0; rank < ranks; ++rank) {
    nbc_call call = {};
    call.in = in[rank].data(), call.out = out[rank].data(), call.count = 1, call.type = NBC_I32;
    ASSERT_EQ(nbc_start(plans[rank], &call, &requests[rank]), 0);
  }
  std::vector<int> done(ranks);
  for (int turn = 0; turn < 100; ++turn) {
    fabric.run([](uint32_t) { return true; });
    for (size_t rank = 0; rank < ranks; ++rank)
      if (!done[rank]) {
        ASSERT_EQ(nbc_test(&requests[rank], &done[rank]), 0);
      }
  }
  for (const auto &o : out) EXPECT_EQ(o, (std::vector<int32_t>{100, 101, 102}));
  for (nbc_plan *plan : plans) EXPECT_EQ(nbc_plan_free(plan), 0);
  for (nbc_comm *comm : comms) EXPECT_EQ(nbc_comm_free(comm), 0);
}

TEST(Algorithms, needATargetWhereThereIsNotOneDevice) {
  const nbc_bootstrap b = {0, 1, nullptr, nullptr, nullptr, nullptr};
  nbc_comm *comm = nullptr;
  ASSERT_EQ(nbc_comm_create(&b, nullptr, 0, &comm), 0);
  Set all({}, "off");
  ASSERT_EQ(nbc_comm_take(comm, std::exchange(all.all, nullptr)), 0);
  nbc_build_request what = {};
  what.algorithm = "allgather.circle";
  nbc_plan *plan = nullptr;
  const char *why = nullptr;
  EXPECT_EQ(nbc_plan_make(comm, &what, nullptr, &plan, &why), NBC_ERROR_ARGUMENT);
  EXPECT_STREQ(why, "the communicator has not one device, so a target has to be named");
  EXPECT_EQ(nbc_comm_free(comm), 0);
}

}  // namespace
}  // namespace nbcc
