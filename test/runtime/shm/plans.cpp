// SPDX-License-Identifier: BSD-3-Clause
// Target shm: right data for any length, way and order; refusals; who gives up tells the others.

#include "test/runtime/gather.h"
#include "test/runtime/shm/node.h"
#include "test/runtime/shm/processes.h"

namespace {

TEST(Shm, anyLengthSeveralInFlight) {
  for (uint32_t ranks : {1, 2, 3, 5})
    for (unsigned seed = 0; seed < 6; ++seed) {
      Node w(ranks, {.never_pull = int(seed % 2)});
      nbc_plan_options options = {.depth = 1 + seed % 3, .eager_bytes = seed == 5 ? 16u : 0};
      w.addPlans(build::ringAllgather(ranks), options);
      EXPECT_EQ(namesInSharedMemory(), 0);
      gatherAll(w, {0, 1, 48, 49, 1024, 1025, 3000, 0, 7, 70000, 2, 300001}, false, seed);
      gatherAll(w, {5, 100, 0}, true, seed);
    }
}

TEST(Shm, aRankMayRunAheadByAnyNumberOfCalls) {
  // Short messages until no cell is left, likewise those that wait to be copied, and long ones that
  // only the others can take.
  for (size_t length : {1, 5000, 20000})
    for (int never : {0, 1}) {
      Node w(2, {.never_pull = never});
      w.addPlans(build::ringAllgather(2), {.depth = 4});
      gatherFarAhead(w, length, [] {}, 1u);
    }
}

TEST(Shm, whatFitsIntoASlotWaitsForNobody) {
  for (int never : {0, 1}) {
    Node w(2, {.never_pull = never});
    w.addPlans([](uint32_t r) { return build::pairsBcast(2, r, 1); });
    for (size_t n : {2048, 2049, 5000, 8192}) {
      std::vector<uint8_t> sent(n, 0x5a), out(n), expected = sent;
      nbc_call from = {.data = sent.data(), .count = n}, to = {.data = out.data(), .count = n};
      nbc_request sending, receiving;
      // The sender's buffer is its own again when it has waited, whoever has begun.
      ASSERT_EQ(nbc_start(w.plans[0], &from, &sending), 0);
      ASSERT_EQ(nbc_wait(&sending), 0);
      sent.assign(n, 0x11);
      ASSERT_EQ(nbc_start(w.plans[1], &to, &receiving), 0);
      ASSERT_EQ(nbc_wait(&receiving), 0);
      EXPECT_EQ(out, expected) << n;
      // The receiver has the bytes while the sender does something else.
      ASSERT_EQ(nbc_start(w.plans[1], &to, &receiving), 0);
      ASSERT_EQ(nbc_start(w.plans[0], &from, &sending), 0);
      ASSERT_EQ(nbc_wait(&receiving), 0);
      EXPECT_EQ(out, sent) << n;
      ASSERT_EQ(nbc_wait(&sending), 0);
    }
  }
}

TEST(Shm, messagesComeBeforeWhatNothingStandsBehind) {
  constexpr size_t n = 70000;
  Node w(2);
  w.addPlans(build::ownLastAllgather);
  const std::vector<uint8_t> in[2] = {std::vector<uint8_t>(n, 1), std::vector<uint8_t>(n, 2)};
  std::vector<uint8_t> out[2], expected = in[0];
  expected.insert(expected.end(), in[1].begin(), in[1].end());
  for (bool together : {true, false}) {
    nbc_request requests[2];
    int done = 0;
    const auto start = [&](int rank) {
      out[rank].assign(2 * n, 0);
      nbc_call c = {.in = in[rank].data(), .out = out[rank].data(), .count = n};
      ASSERT_EQ(nbc_start(w.plans[size_t(rank)], &c, &requests[rank]), 0);
    };
    start(0);
    if (together) {
      start(1);
      ASSERT_EQ(nbc_test(&requests[0], &done), 0);
      EXPECT_EQ(out[0][n], 2) << "it is there, and its memory as the peer has left it";
      EXPECT_EQ(out[0][0], 0);
    } else {
      for (int i = 0; i < 20; ++i) ASSERT_EQ(nbc_test(&requests[0], &done), 0);
      EXPECT_EQ(out[0][0], 1) << "there is time for it while the peer does not come";
      start(1);
    }
    for (int ended[2] = {}; !ended[0] || !ended[1];)
      for (int rank = 0; rank < 2; ++rank) ASSERT_EQ(nbc_test(&requests[rank], &ended[rank]), 0);
    for (const auto &o : out) EXPECT_EQ(o, expected);
  }
}

TEST(Shm, otherCollectives) {
  for (uint32_t ranks : {2, 3, 6})
    for (unsigned seed = 0; seed < 4; ++seed) {
      Node w(ranks, {.never_pull = int(seed % 2)});
      w.addPlans([&](uint32_t r) { return build::messageAllreduce(ranks, r); });
      for (size_t n : {1, 1000, 50000}) {
        std::vector<std::vector<int64_t>> in(ranks), out(ranks, std::vector<int64_t>(n));
        std::vector<nbc_request> requests(ranks);
        for (uint32_t r = 0; r < ranks; ++r) {
          in[r].assign(n, int64_t(r) + 1);
          nbc_call call = {
              .in = in[r].data(), .out = out[r].data(), .count = n, .type = NBC_I64, .op = NBC_SUM};
          ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
        }
        ASSERT_TRUE(Node::finish(requests, seed));
        for (auto &o : out)
          for (int64_t x : o) ASSERT_EQ(x, ranks * (ranks + 1) / 2);
      }
      w.addPlans([&](uint32_t r) { return build::allBarrier(ranks, r); });
      std::vector<nbc_request> requests(ranks);
      for (uint32_t r = 0; r < ranks; ++r) {
        nbc_call call = {};
        ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
      }
      EXPECT_TRUE(Node::finish(requests, seed));
    }
}

/// bcast of `parts`, which the root sends from last to first and the others take in `reversed`
/// or not: neither end has one run.
build::Bytes scatteredBcast(uint32_t me, uint32_t parts) {
  build::Messages m("scattered", NBC_BCAST, 2, me);
  uint32_t data = m.b.buffer(NBC_ROLE_DATA);
  auto all = uint32_t(m.b.pieces.size());
  for (uint32_t i = 0; i < parts; ++i) m.b.piece(data, i * 7 % parts, 1, parts);
  m.beginVariant();
  if (me == 0)
    m.send(1, all, parts - 1);
  else
    m.wait(m.receive(0, all, parts - 1));
  m.stage();
  m.endVariant();
  for (nbc_reloc &r : m.b.relocs) r.rule = NBC_RELOC_PIECES;
  return m.finish();
}

TEST(Shm, aMessageMayLieInSeveralPlaces) {
  for (int never : {0, 1})
    for (uint32_t parts : {3, 5, 30, 100}) {  // 100: more runs than a slot holds
      Node w(2, {.never_pull = never});
      w.addPlans([&](uint32_t r) { return scatteredBcast(r, parts); });
      for (size_t n : {0, 1, 2, 40, 300, 1000, 5000, 200000}) {
        std::vector<uint8_t> data[2];
        std::vector<nbc_request> requests(2);
        for (size_t r : {0, 1}) {
          for (size_t i = 0; i < n; ++i) data[r].push_back(r ? 0 : byteOf(0, parts, i + i / 256));
          nbc_call call = {.data = data[r].data(), .count = n};
          ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
        }
        ASSERT_TRUE(Node::finish(requests));
        EXPECT_EQ(data[0], data[1]) << parts << " parts of " << n;
      }
    }
}

TEST(Shm, memoryOfAPlanHasABound) {
  for (size_t bound : {size_t{20000}, size_t{200000}}) {
    Node w(6);
    w.addPlans([](uint32_t r) { return build::allBarrier(6, r); },
               {.depth = 8, .slot_memory = bound});
    nbc_plan_info info;
    nbc_plan_query(w.plans[0], &info);
    EXPECT_LT(info.memory, bound + 10000);
    EXPECT_GT(info.memory, bound / 3);
  }
}

TEST(Shm, whoGivesUpTellsThoseWhoWait) {
  for (size_t length : {10, 5000, 100000}) {
    Node w(2);
    w.addPlans(build::ringAllgather(2));
    std::vector<uint8_t> in(length), out(2 * length);
    nbc_request request[2];
    nbc_call call = {.in = in.data(), .out = out.data(), .count = length};
    ASSERT_EQ(nbc_start(w.plans[0], &call, &request[0]), 0);
    EXPECT_EQ(nbc_plan_abandon(w.plans[0]), 0);
    int done = 0;
    EXPECT_EQ(nbc_test(&request[0], &done), NBC_ERROR_ABANDONED);
    // A short message is there, and its sender is gone; of a long one nothing is read any more.
    std::vector<uint8_t> out1(2 * length);
    call.out = out1.data();
    ASSERT_EQ(nbc_start(w.plans[1], &call, &request[1]), 0);
    EXPECT_EQ(nbc_wait(&request[1]), length > 1000 ? NBC_ERROR_DEVICE : 0);
    if (length < 1000) {
      ASSERT_EQ(nbc_start(w.plans[1], &call, &request[1]), 0);
      EXPECT_EQ(nbc_wait(&request[1]), NBC_ERROR_DEVICE);
    }
  }
}

// Plans find each other by their numbers, and one that could not be made has had its own.
TEST(Shm, plansMeetBehindOneThatARankCouldNotMake) {
  Node node(2);
  node.addComms();
  build::Bytes bytes = forShm(build::ringAllgather(2, 0)), damaged = bytes;
  damaged.header()->ranks = 3;
  nbc_plan *plan = nullptr;
  EXPECT_EQ(nbc_plan_create(node.comms[1], damaged.data(), damaged.size(), nullptr, &plan),
            NBC_ERROR_TEMPLATE);
  EXPECT_EQ(nbc_plan_create(node.comms[1], nullptr, 0, nullptr, &plan), NBC_ERROR_TEMPLATE);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(nbc_plan_create(node.comms[0], bytes.data(), bytes.size(), nullptr, &plan), 0);
    EXPECT_EQ(nbc_plan_free(plan), 0);
  }
  node.addPlans(build::ringAllgather(2));
  gatherAll(node, {0, 1, 1024, 70000}, false);
}

TEST(Shm, onlyRanksOfTheNodeAreReachedWithoutAnotherDevice) {
  const uint32_t nodes[] = {0, 0, 1};
  Node w(3, {.nodes = nodes});
  w.addComms();
  for (uint32_t r = 0; r < 3; ++r) {
    build::Bytes b = forShm(build::ringAllgather(3, r));
    nbc_plan *plan = nullptr;
    EXPECT_EQ(nbc_plan_create(w.comms[r], b.data(), b.size(), nullptr, &plan), NBC_ERROR_TEMPLATE);
  }
}

TEST(Shm, aDeviceMayBeMadeInStepsThatDoNotWait) {
  Node w(0);  // its ranks come here
  std::vector<nbc_shm_facts> facts(3);
  w.meeting.ranks = 3;
  w.devices.resize(3);
  for (int r = 0; r < 3; ++r) {
    w.contexts.push_back({&w.meeting, {&w.meeting.board, r}});
    ASSERT_EQ(nbc_shm_begin(r, 3, &facts[size_t(r)], &w.devices[size_t(r)]), 0);
  }
  EXPECT_TRUE(nbc_shm_same_node(&facts[0], &facts[2]));
  nbc_shm_facts none = {};
  EXPECT_FALSE(nbc_shm_same_node(&facts[0], &none));
  for (nbc_device *d : w.devices) ASSERT_EQ(nbc_shm_finish(d, facts.data(), nullptr), 0);
  w.addPlans(build::ringAllgather(3));
  gatherAll(w, {0, 1, 1024, 70000}, 1);
}

TEST(Shm, aDeviceInStepsIsForTheRanksOfTheNode) {
  nbc_shm_facts facts[3];
  nbc_device *device[3];
  for (int r = 0; r < 3; ++r) ASSERT_EQ(nbc_shm_begin(r, 3, &facts[r], &device[r]), 0);
  EXPECT_EQ(nbc_shm_begin(3, 3, &facts[0], &device[0]), NBC_ERROR_ARGUMENT);
  const uint32_t nodes[] = {7, 7, 4};
  const nbc_shm_options options = {.nodes = nodes};
  ASSERT_EQ(nbc_shm_finish(device[0], facts, &options), 0);
  facts[2] = {};  // as of a machine of another name
  ASSERT_EQ(nbc_shm_finish(device[1], facts, nullptr), 0);
  for (int r : {0, 1}) {
    const auto *shm = reinterpret_cast<const nbc_shm *>(device[r]);
    EXPECT_TRUE(shm->ops->near(shm, 1));
    EXPECT_FALSE(shm->ops->near(shm, 2));
  }
  EXPECT_EQ(nbc_shm_finish(nullptr, facts, nullptr), NBC_ERROR_ARGUMENT);
  for (nbc_device *d : device) d->close(d);
}

/// A ring of ranks on these nodes.
MakeTemplate ringOver(const std::vector<uint32_t> &nodes) {
  return [nodes](uint32_t r) {
    build::Bytes b = build::ringAllgather(uint32_t(nodes.size()), r);
    auto *peers = b.table<uint32_t>(b.header()->peers);
    for (uint32_t i = 0; i < b.header()->peers.count; ++i)
      if (nodes[peers[i]] != nodes[r]) peers[i] |= NBC_PEER_REMOTE;
    return b;
  };
}

TEST(Shm, peersOnOtherNodesAreServedByTheOtherDevice) {
  const std::vector<uint32_t> nodes = {0, 0, 1, 1};
  p2p::Fabric fabric({.mode = p2p::Mode::RealTime});
  Node w(4, {.nodes = nodes.data()});
  std::vector<nbc_device *> far;
  for (int r = 0; r < 4; ++r) far.push_back(&fabric.addEndpoint()->device);
  w.addComms(far);
  w.addPlans(ringOver(nodes));
  gatherAll(w, {3, 0, 100, 5000, 70000}, false, 3u);
  EXPECT_EQ(fabric.counters().messages, 5u * 2 * 3);
}

/// Rank 1 waits for rank 0, which has not started, by tests, rests, and tests: how often it lets
/// the other device move.
int movesOfTheOther(const std::vector<uint32_t> &nodes, int tests, int rests = 200,
                    int testsAgain = 0) {
  static int moves;
  moves = 0;
  const auto ranks = static_cast<uint32_t>(nodes.size());
  p2p::Fabric fabric({.mode = p2p::Mode::RealTime});
  Node w(ranks, {.nodes = nodes.data()});
  std::vector<nbc_device *> others;
  for (uint32_t r = 0; r < ranks; ++r) others.push_back(&fabric.addEndpoint()->device);
  auto *other = reinterpret_cast<nbc_p2p *>(others[1]);
  nbc_p2p_ops ops = *other->ops;
  ops.move = [](nbc_p2p *) { ++moves; };
  other->ops = &ops;
  w.addComms(others);
  w.addPlans(ringOver(nodes));
  std::vector<uint8_t> in(10), out(10 * ranks);
  nbc_request request;
  nbc_call call = {.in = in.data(), .out = out.data(), .count = 10};
  EXPECT_EQ(nbc_start(w.plans[1], &call, &request), 0);
  EXPECT_EQ(moves, 0);
  for (int i = 0, done; i < tests; ++i) EXPECT_EQ(nbc_test(&request, &done), 0);
  const int byTests = moves;
  for (int i = 0; i < rests; ++i) EXPECT_EQ(nbc_rest(&request, nullptr), 0);
  EXPECT_EQ(moves, byTests) << "nbc_rest moves nothing";
  for (int i = 0, done; i < testsAgain; ++i) EXPECT_EQ(nbc_test(&request, &done), 0);
  EXPECT_EQ(nbc_plan_abandon(w.plans[1]), 0);
  int done;
  EXPECT_EQ(nbc_test(&request, &done), NBC_ERROR_ABANDONED);
  return moves;
}

TEST(Shm, whoWaitsLetsWhatGoesToOtherNodesMove) {
  EXPECT_GE(movesOfTheOther({0, 0, 1, 1}, 10), 5);  // in turn with the lane
}

TEST(Shm, whoWaitsLetsTheCommunicatorsOtherDeviceMove) {
  EXPECT_EQ(movesOfTheOther({0, 0}, 63), 0);
  EXPECT_EQ(movesOfTheOther({0, 0}, 64), 1);
  EXPECT_EQ(movesOfTheOther({0, 0}, 640), 10);
  constexpr int spins = 5000;  // and then others may have the core
  EXPECT_EQ(movesOfTheOther({0, 0}, 100, spins + 100, 1), 2);
}

}  // namespace
