// SPDX-License-Identifier: BSD-3-Clause
// Short calls that are over when nbc_start returns: right data, and on from where one had to stop.

#include <algorithm>
#include <cstring>
#include <random>

#include "test/runtime/again.h"
#include "test/runtime/gather.h"
#include "test/runtime/shm/node.h"

namespace {

/// bcast from rank 0, which sends to each of the others, and waits for none.
build::Bytes star(uint32_t ranks, uint32_t me) {
  build::Messages m("star", NBC_BCAST, ranks, me);
  uint32_t data = m.b.buffer(NBC_ROLE_DATA), all = m.b.piece(data, 0, 1);
  m.beginVariant();
  for (uint32_t r = 1; r < ranks; ++r) {
    if (me == 0) m.send(r, all);
    if (me == r) m.receive(0, all);
  }
  m.stage();
  m.endVariant();
  return m.finish();
}

/// gather to rank 0 in place there, which waits for none either.
build::Bytes gatherInPlace(uint32_t ranks, uint32_t me) {
  build::Messages m("gather", NBC_GATHER, ranks, me);
  uint32_t in = m.b.buffer(NBC_ROLE_IN);
  uint32_t out = me == 0 ? m.b.buffer(NBC_ROLE_OUT, ranks) : 0;
  m.beginVariant(me == 0 ? NBC_VARIANT_IN_PLACE : 0);
  for (uint32_t r = 1; r < ranks; ++r) {
    if (me == 0) m.receive(r, m.b.piece(out, r, 1));
    if (me == r) m.send(0, m.b.piece(in, 0, 1));
  }
  m.stage();
  m.endVariant();
  return m.finish();
}

bool isOver(nbc_request &request) {
  int done = 0;
  EXPECT_EQ(nbc_test(&request, &done), 0);
  return done;
}

/// One rank's calls, each with a buffer of its own.
struct Calls {
  nbc_plan *plan;
  std::vector<std::vector<uint8_t>> data;
  std::vector<nbc_request> requests;

  Calls(nbc_plan *p, const std::vector<size_t> &lengths) : plan(p), requests(lengths.size()) {
    for (size_t n : lengths) data.emplace_back(n);
  }
  void start(size_t k) {
    nbc_call call = {.data = data[k].data(), .count = data[k].size()};
    ASSERT_EQ(nbc_start(plan, &call, &requests[k]), 0) << k;
  }
};

TEST(ShmAtOnce, nothingIsLeftOfACallThatIsOverWhenItHasStarted) {
  Node w(3);
  w.addPlans([](uint32_t r) { return star(3, r); });
  uint8_t sent[3] = {1, 2, 3}, out[2][3] = {};
  nbc_request request;
  nbc_call from = {.data = sent, .count = 3};
  for (int i = 0; i < 3; ++i) {  // the first is like none before
    ASSERT_EQ(nbc_start(w.plans[0], &from, &request), 0);
    EXPECT_TRUE(isOver(request));
    sent[0] = 9;
    for (int r : {1, 2}) {
      nbc_call to = {.data = out[r - 1], .count = 3};
      ASSERT_EQ(nbc_start(w.plans[size_t(r)], &to, &request), 0);
      ASSERT_EQ(nbc_wait(&request), 0);
      EXPECT_EQ(out[r - 1][0], i == 0 ? 1 : 9);
    }
  }
  nbc_plan_info info;
  for (nbc_plan *p : w.plans) {
    nbc_plan_query(p, &info);
    EXPECT_EQ(info.calls, 3u);
  }
}

TEST(ShmAtOnce, whatStopsHalfwayGoesOnFromThere) {
  std::mt19937 random(7);
  for (uint32_t last : {1, 2})  // who comes late
    for (size_t slots : {0, 64, 20000}) {
      Node w(3);
      w.addPlans([](uint32_t r) { return star(3, r); }, {.depth = 2, .slot_memory = slots});
      for (int round = 0; round < 30; ++round) {
        std::vector<size_t> lengths(1 + random() % 150);
        for (size_t &n : lengths) n = random() % 4 ? random() % 64 : random() % 3000;
        Calls root(w.plans[0], lengths), soon(w.plans[3 - last], lengths);
        Calls late(w.plans[last], lengths);
        for (size_t k = 0; k < lengths.size(); ++k) {
          for (size_t i = 0; i < lengths[k]; ++i) root.data[k][i] = byteOf(0, k, i);
          root.start(k);
          soon.start(k);
          isOver(soon.requests[random() % (k + 1)]);
        }
        for (size_t k = 0; k < lengths.size(); ++k) {
          late.start(k);
          isOver(root.requests[random() % lengths.size()]);
        }
        std::vector<nbc_request *> left;
        for (Calls *c : {&root, &soon, &late})
          for (nbc_request &q : c->requests) left.push_back(&q);
        for (int looks = 0; !left.empty() && looks < 1'000'000; ++looks) {
          const size_t i = random() % left.size();
          if (isOver(*left[i])) left.erase(left.begin() + ptrdiff_t(i));
        }
        ASSERT_TRUE(left.empty());
        ASSERT_EQ(soon.data, root.data) << "round " << round;
        ASSERT_EQ(late.data, root.data) << "round " << round;
      }
    }
}

TEST(ShmAtOnce, whatTheHostDoesIsDoneOnceWhereverACallStops) {
  std::mt19937 random(11);
  for (uint32_t ranks : {1, 2, 3, 5}) {
    Node w(ranks);
    w.addPlans([&](uint32_t r) { return build::messageAllreduce(ranks, r); }, {.in_turn = true});
    uint64_t over = 0;
    for (int k = 0; k < 300; ++k) {
      const size_t n = k % 50 ? random() % 40 : 3000;
      std::vector<std::vector<int64_t>> in(ranks), out(ranks, std::vector<int64_t>(n));
      std::vector<nbc_request> requests(ranks);
      std::vector<uint32_t> order(ranks);
      for (uint32_t r = 0; r < ranks; ++r) order[r] = r;
      std::ranges::shuffle(order, random);
      for (uint32_t r : order) {
        for (size_t i = 0; i < n; ++i) in[r].push_back(int64_t(r * 1000 + i) + k);
        nbc_call call = {
            .in = in[r].data(), .out = out[r].data(), .count = n, .type = NBC_I64, .op = NBC_SUM};
        ASSERT_EQ(nbc_start_attended(w.plans[r], &call, &requests[r]), 0);
        over += isOver(requests[r]);
        for (size_t i = 0; i < random() % 3; ++i) isOver(requests[order[random() % ranks]]);
      }
      ASSERT_TRUE(Node::finish(requests, unsigned(k)));
      for (auto &o : out)
        for (size_t i = 0; i < n; ++i) {
          int64_t sum = 0;
          for (uint32_t r = 0; r < ranks; ++r) sum += in[r][i];
          ASSERT_EQ(o[i], sum) << ranks << " ranks, call " << k << ", element " << i;
        }
    }
    EXPECT_GT(over, 0u);
    nbc_plan_info info;
    for (nbc_plan *p : w.plans) {
      nbc_plan_query(p, &info);
      EXPECT_EQ(info.calls, 300u);
    }
  }
}

TEST(ShmAtOnce, whatOneCallOfOwnLengthsHasFoundOutServesThoseLikeItAlone) {
  const auto make = [](uint32_t ranks, uint32_t r) {
    build::Bytes b = build::ringAllgather(ranks, r);
    b.header()->lengths = NBC_LENGTHS_EACH;
    b.seal();
    return b;
  };
  for (uint32_t ranks : {1, 2, 3, 9})
    for (uint32_t depth : {1, 3}) {
      Node w(ranks);
      w.addPlans([&](uint32_t r) { return make(ranks, r); }, {.depth = depth});
      gatherAgainAndAgain(w, ranks, 10 * ranks + depth);
    }
}

/// bcast from rank 0 into room of the plan's.
build::Bytes dropped(uint32_t me) {
  build::Messages m("dropped", NBC_BCAST, 2, me);
  uint32_t data = m.b.buffer(NBC_ROLE_DATA), staging = m.b.buffer(NBC_ROLE_STAGING, 1);
  uint32_t all = m.b.piece(data, 0, 1), room = m.b.inRoom(staging, 0, data);
  m.beginVariant();
  if (me == 0)
    m.send(1, all);
  else
    m.receive(0, room);
  m.stage();
  m.endVariant();
  return m.finish();
}

TEST(ShmAtOnce, whatIsPutIntoRoomOfThePlansIsNowhereElse) {
  Node w(2);
  w.addPlans(dropped);
  std::vector<uint8_t> sent(100, 7), kept(100, 1);
  nbc_request request;
  for (int i = 0; i < 3; ++i)
    for (auto start : {nbc_start, nbc_start_attended}) {
      nbc_call from = {.data = sent.data(), .count = 100}, to = {.data = kept.data(), .count = 100};
      ASSERT_EQ(start(w.plans[0], &from, &request), 0);
      EXPECT_TRUE(isOver(request));
      std::memset(&request, 0x5a, sizeof request);  // as a program may leave it
      ASSERT_EQ(start(w.plans[1], &to, &request), 0);
      ASSERT_EQ(nbc_wait(&request), 0);
      EXPECT_EQ(kept[99], 1);
    }
}

TEST(ShmAtOnce, buffersAreLookedAtInEachCall) {
  Node w(2);
  w.addPlans([](uint32_t r) { return gatherInPlace(2, r); });
  uint8_t all[2][4] = {}, mine[4] = {5, 6, 7, 8};
  nbc_request request;
  for (int i = 0; i < 3; ++i) {
    nbc_call leaf = {.in = mine, .count = 4};
    nbc_call root = {.in = NBC_IN_PLACE, .out = all, .count = 4};
    ASSERT_EQ(nbc_start(w.plans[1], &leaf, &request), 0);
    EXPECT_TRUE(isOver(request));
    // What differs from the calls before is refused as ever, and takes no message.
    for (void *wrong : {static_cast<void *>(nullptr), NBC_IN_PLACE}) {
      leaf.in = wrong;
      EXPECT_EQ(nbc_start(w.plans[1], &leaf, &request), NBC_ERROR_ARGUMENT);
      nbc_call nowhere = {.in = NBC_IN_PLACE, .out = wrong, .count = 4};
      EXPECT_EQ(nbc_start(w.plans[0], &nowhere, &request), NBC_ERROR_ARGUMENT);
    }
    nbc_call apart = {.in = mine, .out = all, .count = 4};
    EXPECT_EQ(nbc_start(w.plans[0], &apart, &request), NBC_ERROR_UNSUPPORTED);
    const size_t counts[2] = {4, 4};
    leaf = {.in = mine, .count = 4, .in_counts = counts};
    EXPECT_EQ(nbc_start(w.plans[1], &leaf, &request), NBC_ERROR_UNSUPPORTED);
    ASSERT_EQ(nbc_start(w.plans[0], &root, &request), 0);
    ASSERT_EQ(nbc_wait(&request), 0);
    EXPECT_EQ(all[1][3], 8);
  }
}

}  // namespace
