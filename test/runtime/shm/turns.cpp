// SPDX-License-Identifier: BSD-3-Clause
// Plans that take turns: one lane for each pair of ranks, whatever is called in whichever order.

#include <chrono>
#include <random>
#include <thread>

#include "test/runtime/gather.h"
#include "test/runtime/shm/node.h"
#include "test/runtime/shm/processes.h"

namespace {

constexpr nbc_plan_options inTurn = {.in_turn = 1};

size_t memoryOf(const nbc_plan *plan) {
  nbc_plan_info info;
  nbc_plan_query(plan, &info);
  return info.memory;
}

int startAndWait(nbc_plan *plan, const nbc_call &call) {
  nbc_request request;
  const int status = nbc_start(plan, &call, &request);
  return status ? status : nbc_wait(&request);
}

std::string gathers(nbc_plan *plan, size_t rank, size_t ranks, size_t n, size_t round) {
  std::vector<uint8_t> in, out(ranks * n);
  for (size_t i = 0; i < n; ++i) in.push_back(byteOf(rank, round, i));
  if (startAndWait(plan, {.in = in.data(), .out = out.data(), .count = n})) return "gather fails";
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i] != byteOf(i / n, round, i % n)) return "gathered wrongly";
  return "";
}

std::string sums(nbc_plan *plan, size_t rank, size_t ranks, size_t n, size_t round) {
  std::vector<int64_t> in(n), out(n);
  for (size_t i = 0; i < n; ++i) in[i] = int64_t(rank * 1000 + round + i);
  const nbc_call call = {
      .in = in.data(), .out = out.data(), .count = n, .type = NBC_I64, .op = NBC_SUM};
  if (startAndWait(plan, call)) return "sum fails";
  for (size_t i = 0; i < n; ++i)
    if (out[i] != int64_t(ranks * (ranks - 1) / 2 * 1000 + ranks * (round + i)))
      return "summed wrongly";
  return "";
}

/// What one rank does with plans that take turns, in an order that all have, and with one that
/// takes none, whose call is under way all the time. Returns what was wrong.
std::string callInTurns(const std::vector<nbc_plan *> &plans, size_t rank, size_t ranks,
                        unsigned seed) {
  constexpr size_t lengths[] = {0, 1, 48, 49, 1000, 2049, 5000, 20000, 150000};
  std::minstd_rand same(seed), own(unsigned(seed + 100 + rank));
  std::string wrong;
  for (size_t round = 0; round < 60 && wrong.empty(); ++round) {
    std::vector<uint8_t> in(100, uint8_t(rank + round)), out(100 * ranks);
    const nbc_call aside = {.in = in.data(), .out = out.data(), .count = 100};
    nbc_request request;
    if (nbc_start(plans.back(), &aside, &request)) return "the other plan does not start";
    for (int i = 0; i < 4 && wrong.empty(); ++i) {
      const size_t n = lengths[same() % std::size(lengths)];
      if (own() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 200));
      switch (same() % 4) {
        case 0:
          wrong = gathers(plans[0], rank, ranks, n, round);
          break;
        case 1:
          wrong = startAndWait(plans[1], {}) ? "barrier fails" : "";
          break;
        case 2:
          wrong = sums(plans[2], rank, ranks, n / 8, round);
          break;
        default:
          wrong = gathers(plans[3], rank, ranks, n / 2, round + 1);
          break;
      }
    }
    if (nbc_wait(&request)) return "the other plan fails";
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i] != uint8_t(i / 100 + round)) return "the other plan has gathered wrongly";
  }
  return wrong;
}

/// Templates of callInTurns(), for each rank.
std::vector<MakeTemplate> templates(uint32_t ranks) {
  const MakeTemplate ring = build::ringAllgather(ranks);
  return {ring, [ranks](uint32_t r) { return build::allBarrier(ranks, r); },
          [ranks](uint32_t r) { return build::messageAllreduce(ranks, r); }, ring, ring};
}

void callInThreads(uint32_t ranks, unsigned seed, bool progress) {
  Node node(ranks, {.never_pull = int(seed % 2)});
  node.addComms();
  for (nbc_comm *c : node.comms)
    ASSERT_EQ(nbc_comm_progress(c, progress ? NBC_PROGRESS_THREAD : NBC_PROGRESS_CALLS), 0);
  std::vector<std::vector<nbc_plan *>> plans(ranks);
  for (const MakeTemplate &make : templates(ranks)) {
    node.addPlans(make, plans[0].size() < 4 ? inTurn : nbc_plan_options{});
    for (uint32_t r = 0; r < ranks; ++r) plans[r].push_back(node.plans[r]);
  }
  std::vector<std::string> wrong(ranks);
  std::vector<std::thread> threads;
  for (uint32_t r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] { wrong[r] = callInTurns(plans[r], r, ranks, seed); });
  for (std::thread &t : threads) t.join();
  for (const std::string &w : wrong) EXPECT_EQ(w, "") << ranks << " ranks, seed " << seed;
}

TEST(Turns, anyOrderOfPlansHasRightData) {
  for (uint32_t ranks : {1, 2, 3, 6})
    for (unsigned seed = 0; seed < 4; ++seed) callInThreads(ranks, seed, false);
}

TEST(Turns, likewiseWhereAThreadMovesThemOn) {
  for (uint32_t ranks : {2, 3})
    for (unsigned seed = 0; seed < 2; ++seed) callInThreads(ranks, seed, true);
}

TEST(Turns, likewiseBetweenProcesses) {
  Processes all(3, [](Process &p) {
    nbc_comm *comm = p.open();
    const auto rank = uint32_t(p.files.rank);
    std::vector<nbc_plan *> plans;
    for (const MakeTemplate &make : templates(3))
      plans.push_back(
          Process::plan(comm, make(rank), plans.size() < 4 ? inTurn : nbc_plan_options{}));
    for (unsigned seed = 0; seed < 4; ++seed) {
      const std::string wrong = callInTurns(plans, rank, 3, seed);
      Process::must(wrong.empty(), wrong.c_str());
    }
    Files::fence(&p.files);
    for (nbc_plan *plan : plans) Process::must(nbc_plan_free(plan) == 0, "free");
    Process::must(nbc_comm_free(comm) == 0, "free");
  });
  expectAllWell(all);
}

TEST(Turns, aFurtherPlanTakesNoMemoryOfTheNode) {
  constexpr uint32_t ranks = 6;
  Node node(ranks);
  const std::vector<MakeTemplate> make = templates(ranks);
  node.addPlans(make[0]);
  const size_t own = memoryOf(node.plans[0]);
  node.addPlans(make[0], inTurn);
  nbc_plan *first = node.plans[0];
  EXPECT_GT(memoryOf(first), 40000u);
  node.addPlans(make[0], inTurn);
  nbc_plan *second = node.plans[0];
  EXPECT_LT(memoryOf(second), 8000u);
  EXPECT_GT(own, 40000u);
  // Its peers are others, too.
  node.addPlans(make[1], inTurn);
  EXPECT_GT(memoryOf(node.plans[0]), 40000u);
  node.addPlans(make[1], inTurn);
  EXPECT_LT(memoryOf(node.plans[0]), 8000u);
}

TEST(Turns, memoryHasABound) {
  Node node(12);
  node.addPlans([](uint32_t r) { return build::allBarrier(12, r); },
                {.slot_memory = 100000, .in_turn = 1});
  EXPECT_LT(memoryOf(node.plans[0]), 110000u);
}

TEST(Turns, aCallWaitsForItsTurn) {
  Node node(2);
  const std::vector<MakeTemplate> make = templates(2);
  node.addPlans(make[0], inTurn);
  const std::vector<nbc_plan *> first = node.plans;
  node.addPlans(make[1], inTurn);
  std::vector<uint8_t> in(10, 1), out(20);
  const nbc_call call = {.in = in.data(), .out = out.data(), .count = 10}, barrier = {};
  std::vector<nbc_request> requests(2);
  nbc_request other;
  ASSERT_EQ(nbc_start(first[0], &call, &requests[0]), 0);
  EXPECT_EQ(nbc_start(node.plans[0], &barrier, &other), NBC_ERROR_BUSY);
  ASSERT_EQ(nbc_start(first[1], &call, &requests[1]), 0);
  ASSERT_TRUE(Node::finish(requests));
  for (size_t r : {0, 1}) ASSERT_EQ(nbc_start(node.plans[r], &barrier, &requests[r]), 0);
  EXPECT_TRUE(Node::finish(requests));
}

TEST(Turns, aPlanMayEndBeforeTheOthers) {
  Node node(2);
  node.addComms();
  nbc_plan *last[2] = {};
  for (int round = 0; round < 5; ++round) {
    const std::vector<nbc_plan *> plans = connectedPlans(
        node.comms, [](uint32_t r) { return forShm(build::ringAllgather(2, r)); }, inTurn);
    std::vector<std::thread> ranks;
    for (size_t r : {0, 1}) {
      EXPECT_EQ(nbc_plan_free(last[r]), 0);
      ranks.emplace_back([&, r] { EXPECT_EQ(gathers(plans[r], r, 2, 3000, 1), ""); });
      last[r] = plans[r];
    }
    for (std::thread &t : ranks) t.join();
  }
  for (nbc_plan *plan : last) EXPECT_EQ(nbc_plan_free(plan), 0);
}

TEST(Turns, allOfThemEndWithACallThatIsGivenUp) {
  for (size_t length : {10, 5000, 100000}) {
    Node node(2);
    const std::vector<MakeTemplate> make = templates(2);
    node.addPlans(make[0], inTurn);
    const std::vector<nbc_plan *> first = node.plans;
    node.addPlans(make[1], inTurn);
    std::vector<uint8_t> in(length), out(2 * length), out1(2 * length);
    nbc_request request[2];
    const nbc_call call = {.in = in.data(), .out = out.data(), .count = length}, barrier = {};
    ASSERT_EQ(nbc_start(first[0], &call, &request[0]), 0);
    EXPECT_EQ(nbc_plan_abandon(first[0]), 0);
    EXPECT_EQ(nbc_wait(&request[0]), NBC_ERROR_ABANDONED);
    EXPECT_EQ(nbc_start(node.plans[0], &barrier, &request[0]), NBC_ERROR_ABANDONED);
    // The peer is told, as it would be of a plan with lanes of its own.
    const nbc_call theirs = {.in = in.data(), .out = out1.data(), .count = length};
    ASSERT_EQ(nbc_start(first[1], &theirs, &request[1]), 0);
    int status = nbc_wait(&request[1]);
    if (length < 1000) {
      EXPECT_EQ(status, 0);
      ASSERT_EQ(nbc_start(node.plans[1], &barrier, &request[1]), 0);
      status = nbc_wait(&request[1]);
    }
    EXPECT_EQ(status, NBC_ERROR_DEVICE);
    build::Bytes bytes = forShm(make[1](0));
    nbc_plan *late = nullptr;
    EXPECT_EQ(nbc_plan_create(node.comms[0], bytes.data(), bytes.size(), &inTurn, &late),
              NBC_ERROR_ABANDONED);
    EXPECT_STREQ(nbc_plan_why(), "a call of a plan that it would take turns with has failed");
  }
}

TEST(Turns, ranksMustSayItAlike) {
  Node node(2);
  node.addComms();
  nbc_plan *plans[2] = {};
  for (uint32_t r : {0, 1}) {
    const build::Bytes bytes = forShm(build::ringAllgather(2, r));
    const nbc_plan_options options = {.in_turn = r};
    ASSERT_EQ(nbc_plan_create(node.comms[r], bytes.data(), bytes.size(), &options, &plans[r]), 0);
  }
  for (nbc_plan *plan : plans) EXPECT_EQ(nbc_plan_connect(plan), NBC_ERROR_ARGUMENT);
  for (nbc_plan *plan : plans) EXPECT_EQ(nbc_plan_free(plan), 0);
}

// Whoever has made a lane that its peer has not finds it again.
TEST(Turns, plansMeetBehindOneThatARankCouldNotMake) {
  Node node(2);
  node.addComms();
  const build::Bytes bytes = forShm(build::ringAllgather(2, 0));
  nbc_plan *plan = nullptr;
  ASSERT_EQ(nbc_plan_create(node.comms[0], bytes.data(), bytes.size(), &inTurn, &plan), 0);
  EXPECT_EQ(nbc_plan_create(node.comms[1], nullptr, 0, &inTurn, &plan), NBC_ERROR_TEMPLATE);
  EXPECT_EQ(nbc_plan_free(plan), 0);
  node.addPlans(build::ringAllgather(2), inTurn);
  gatherAll(node, {0, 1, 1024, 70000}, false);
}

TEST(Turns, whoeverWaitsForTheDeadIsTold) {
  Processes all(2, [](Process &p) {
    nbc_comm *comm = p.open();
    const auto rank = uint32_t(p.files.rank);
    const std::vector<MakeTemplate> make = templates(2);
    nbc_plan *ring = Process::plan(comm, make[0](rank), inTurn);
    nbc_plan *barrier = Process::plan(comm, make[1](rank), inTurn);
    Process::must(gathers(ring, rank, 2, 5000, 1).empty(), "all is well");
    if (rank == 1) raise(SIGKILL);
    Process::must(startAndWait(barrier, {}) == NBC_ERROR_DEVICE, "it is told");
    Process::must(startAndWait(ring, {.count = 0}) == NBC_ERROR_DEVICE, "of the others, too");
  });
  EXPECT_EQ(all.status(1), -SIGKILL);
  EXPECT_EQ(all.status(0), 0);
}

}  // namespace
