// SPDX-License-Identifier: BSD-3-Clause
// Target mpi: right data on messages that end in any order, in order, any number ahead.

#include <sys/mman.h>

#include "test/runtime/gather.h"
#include "test/runtime/messages.h"
#include "test/runtime/rank_order.h"

namespace {

TEST(Mpi, anyLengthSeveralInFlight) {
  for (uint32_t ranks : {1, 2, 3, 5})
    for (uint64_t seed = 0; seed < 12; ++seed) {
      nbc_plan_options options = {.depth = 1 + uint32_t(seed % 3)};
      MessageWorld w(ranks, build::ringAllgather(ranks), options, MessageWorld::options(seed));
      gatherAll(w, {0, 1, 64, 65, 3000, 0, 7, 70000, 2});
      gatherAll(w, {5, 100, 0}, true);
      nbc_plan_info info;
      nbc_plan_query(w.plans[0], &info);
      EXPECT_EQ(info.calls, 12u);
      EXPECT_EQ(info.rendezvous, 12u);
      EXPECT_EQ(w.fabric.counters().messages, 12u * ranks * (ranks - 1));
    }
}

TEST(Mpi, aRankMayRunAheadByAnyNumberOfCalls) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    MessageWorld w(2, build::ringAllgather(2), {}, MessageWorld::options(seed));
    constexpr size_t calls = 30;
    std::vector<uint8_t> in[2], out[2];
    std::vector<nbc_request> requests(2 * calls);
    for (size_t r : {0, 1}) {
      in[r].assign(calls, uint8_t(r + 1));
      out[r].resize(calls * 2);
      for (size_t c = 0; c < calls; ++c) {
        nbc_call call = {.in = &in[r][c], .out = &out[r][c * 2], .count = 1};
        ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r * calls + c]), 0);
      }
      if (r == 0) {  // the other has not begun; whatever may happen happens
        w.fabric.run();
        int done = 1;
        EXPECT_EQ(nbc_test(&requests[0], &done), 0);
        EXPECT_FALSE(done);
      }
    }
    EXPECT_TRUE(w.finish(requests));
    for (size_t i = 0; i < 2 * calls; ++i) {
      EXPECT_EQ(out[0][i], 1 + i % 2);
      EXPECT_EQ(out[1][i], 1 + i % 2);
    }
  }
}

TEST(Mpi, hostsReduceBetweenStages) {
  for (uint32_t ranks : {1, 2, 3, 6})
    for (uint64_t seed = 0; seed < 8; ++seed) {
      MessageWorld w(
          ranks, [&](uint32_t r) { return build::messageAllreduce(ranks, r); },
          {.depth = 1 + uint32_t(seed % 4)}, MessageWorld::options(seed));
      reduceInRankOrder(w, ranks, 7);
    }
}

void takeLeft(void *to, const void *left, const void *, size_t n, void *element) {
  std::memmove(to, left, n * *static_cast<size_t *>(element));
}
void takeRight(void *to, const void *, const void *right, size_t n, void *element) {
  std::memmove(to, right, n * *static_cast<size_t *>(element));
}

TEST(Mpi, aCallMayDifferFromTheOneBeforeInOneArgument) {
  MessageWorld w(2, [](uint32_t r) { return build::messageAllreduce(2, r); });
  struct Arguments {
    size_t count;
    nbc_type type;
    nbc_op op;
    nbc_reduce_function *user;
    size_t element;
  };
  const Arguments all[] = {
      {1, NBC_I64, NBC_SUM, nullptr, 0},       {3, NBC_I64, NBC_SUM, nullptr, 0},
      {3, NBC_I32, NBC_SUM, nullptr, 0},       {3, NBC_I32, NBC_MAX, nullptr, 0},
      {2, NBC_OPAQUE, NBC_USER, takeLeft, 8},  {2, NBC_OPAQUE, NBC_USER, takeRight, 8},
      {2, NBC_OPAQUE, NBC_USER, takeRight, 16}};
  const std::vector<uint64_t> in[2] = {{0xffffffff, 2, 3, 4}, {1, 20, 30, 40}};
  for (const Arguments &a : all) {
    size_t bytes = a.element ? a.element : nbc_type_size(a.type);
    std::vector<uint64_t> out[2] = {{9, 9, 9, 9}, {9, 9, 9, 9}}, wanted = out[0];
    std::vector<nbc_request> requests(2);
    for (size_t r : {0, 1}) {
      nbc_call call = {.in = in[r].data(), .out = out[r].data(), .count = a.count};
      call.type = a.type, call.op = a.op, call.user = a.user, call.user_context = &bytes;
      call.element_bytes = a.element;
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
    }
    ASSERT_TRUE(w.finish(requests));
    auto *reduce = a.user ? a.user : nbc_reduction(a.type, a.op);
    reduce(wanted.data(), in[0].data(), in[1].data(), a.count, &bytes);
    for (size_t r : {0, 1}) EXPECT_EQ(out[r], wanted) << &a - all;
  }
}

TEST(Mpi, partsOfBlocks) {
  // Lengths below the number of parts leave some messages, or parts of them, empty.
  for (uint32_t parts : {1, 2, 3, 7})
    for (size_t n : {0, 1, 2, 3, 5, 6, 7, 100, 10007}) {
      MessageWorld w(
          3, [&](uint32_t r) { return build::pairsBcast(3, r, parts); }, {},
          MessageWorld::options(n));
      for (size_t again = 0; again < 3; ++again) {
        std::vector<std::vector<uint16_t>> data(3, std::vector<uint16_t>(n, 77));
        for (size_t i = 0; i < n; ++i) data[0][i] = uint16_t(i * 3 + again);
        std::vector<nbc_request> requests(3);
        for (size_t r : {0, 1, 2}) {
          nbc_call call = {.data = n ? data[r].data() : nullptr, .count = n, .type = NBC_U16};
          ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
        }
        ASSERT_TRUE(w.finish(requests));
        ASSERT_EQ(data[1], data[0]) << parts << " parts of " << n;
        ASSERT_EQ(data[2], data[0]) << parts << " parts of " << n;
      }
    }
}

TEST(Mpi, aCallIsDoneWhenAllItsMessagesAre) {
  // No WAIT says so: a barrier that ends before the other has begun would be none.
  for (uint64_t seed = 0; seed < 20; ++seed) {
    MessageWorld w(
        3, [](uint32_t r) { return build::allBarrier(3, r); }, {}, MessageWorld::options(seed));
    std::vector<nbc_request> requests(3 * 10);
    nbc_call call = {};
    for (size_t r : {0, 1}) {
      for (size_t c = 0; c < 10; ++c)
        ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r * 10 + c]), 0);
      w.fabric.run();
      for (nbc_request *q = &requests[r * 10], *end = q + 10; q < end; ++q) {
        int done = 1;
        EXPECT_EQ(nbc_test(q, &done), 0);
        EXPECT_FALSE(done);
      }
    }
    for (size_t c = 0; c < 10; ++c) ASSERT_EQ(nbc_start(w.plans[2], &call, &requests[20 + c]), 0);
    EXPECT_TRUE(w.finish(requests));
  }
}

TEST(Mpi, aMessageOfNoBytesHasNoneAfterAnyOtherCall) {
  // The record that carries data in the one variant signals in the other, in the same place.
  MessageWorld w(2,
                 [](uint32_t me) {
                   build::Messages m("signals", NBC_ALLGATHER, 2, me);
                   uint32_t in = m.b.buffer(NBC_ROLE_IN), out = m.b.buffer(NBC_ROLE_OUT);
                   m.beginVariant();
                   m.b.copy(m.b.piece(in, 0), m.b.piece(out, me));
                   m.receive(1 - me, m.b.piece(out, 1 - me));
                   m.send(1 - me, m.b.piece(in, 0));
                   m.stage();
                   m.endVariant();
                   m.beginVariant(NBC_VARIANT_IN_PLACE);
                   m.receive(1 - me);
                   m.send(1 - me);
                   m.receive(1 - me, m.b.piece(out, 1 - me));
                   m.send(1 - me, m.b.piece(out, me));
                   m.stage();
                   m.endVariant();
                   return m.finish();
                 },
                 {.depth = 1});
  gatherAll(w, {100});
  gatherAll(w, {10}, true);
  EXPECT_EQ(w.fabric.counters().messages, 2u + 4u);
  EXPECT_EQ(w.fabric.counters().bytes, 2u * 100 + 2u * 10);
}

TEST(Mpi, twoPlansDoNotMeetEachOthersMessages) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    MessageWorld w(2, build::ringAllgather(2), {}, MessageWorld::options(seed));
    std::vector<nbc_plan *> first = w.plans;
    w.addPlans(build::ringAllgather(2));
    uint8_t in[4] = {1, 2, 3, 4}, out[4][2];
    std::vector<nbc_request> requests(4);
    // One rank starts those of the one plan first, the other those of the other.
    nbc_plan *order[] = {first[0], w.plans[0], w.plans[1], first[1]};
    for (size_t i : {0, 1, 2, 3}) {
      nbc_call call = {.in = &in[i], .out = out[i], .count = 1};
      ASSERT_EQ(nbc_start(order[i], &call, &requests[i]), 0);
    }
    EXPECT_TRUE(w.finish(requests));
    EXPECT_EQ(out[0][1], 4);
    EXPECT_EQ(out[1][1], 3);
    EXPECT_EQ(out[2][0], 2);
    EXPECT_EQ(out[3][0], 1);
  }
}

/// The functions of an endpoint with some replaced; counts the tests.
struct Spy {
  nbc_p2p_ops ops;
  static inline const nbc_p2p_ops *real;
  static inline int tests;

  explicit Spy(MessageWorld &w) : ops(*w.ends[0]->ops) {
    real = w.ends[0]->ops;
    tests = 0;
    ops.test = [](nbc_p2p *p, nbc_p2p_message *m) { return ++tests, real->test(p, m); };
    for (nbc_p2p *e : w.ends) e->ops = &ops;
  }
};

TEST(Mpi, aTestThatFindsNothingTestsOneMessage) {
  constexpr uint32_t ranks = 20;
  MessageWorld w(ranks, build::ringAllgather(ranks));
  Spy spy(w);
  uint8_t in = 1, out[2][ranks] = {};
  nbc_request requests[2];
  for (size_t i : {0, 1}) {
    nbc_call call = {.in = &in, .out = out[i], .count = 1};
    ASSERT_EQ(nbc_start(w.plans[0], &call, &requests[i]), 0);
  }
  Spy::tests = 0;
  int done;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(nbc_test(&requests[i % 2], &done), 0);
  EXPECT_EQ(Spy::tests, 10);
  EXPECT_EQ(nbc_plan_abandon(w.plans[0]), 0);
  for (nbc_request &r : requests) EXPECT_EQ(nbc_test(&r, &done), NBC_ERROR_ABANDONED);
}

TEST(Mpi, aTestOfACallThatOnlyHasToEndTestsTwo) {
  MessageWorld w(5, [](uint32_t r) { return build::allBarrier(5, r); }, {.depth = 3});
  Spy spy(w);
  nbc_request requests[3];
  nbc_call call = {};
  for (nbc_request &r : requests) ASSERT_EQ(nbc_start(w.plans[0], &call, &r), 0);
  Spy::tests = 0;
  int done;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(nbc_test(&requests[0], &done), 0);
  EXPECT_LE(Spy::tests, 20);
  EXPECT_EQ(nbc_plan_abandon(w.plans[0]), 0);
  for (nbc_request &r : requests) nbc_test(&r, &done);
}

TEST(Mpi, whatWasAbandonedTouchesNoMemoryAndMeetsNobody) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    MessageWorld w(2, build::ringAllgather(2), {}, MessageWorld::options(seed));
    {
      auto in = std::make_unique<uint8_t[]>(1), out = std::make_unique<uint8_t[]>(2);
      nbc_request request;
      nbc_call call = {.in = in.get(), .out = out.get(), .count = 1};
      ASSERT_EQ(nbc_start(w.plans[0], &call, &request), 0);
      EXPECT_EQ(nbc_plan_free(w.plans[0]), NBC_ERROR_BUSY);
      EXPECT_EQ(nbc_plan_abandon(w.plans[0]), 0);
      int done = 0;
      EXPECT_EQ(nbc_test(&request, &done), NBC_ERROR_ABANDONED);
      EXPECT_TRUE(done);
      EXPECT_EQ(nbc_start(w.plans[0], &call, &request), NBC_ERROR_ABANDONED);
    }
    w.fabric.run();
    w.addPlans(build::ringAllgather(2));
    gatherAll(w, {1, 1});
  }
}

TEST(Mpi, memoryThatADeviceCannotGiveBackStays) {
  MessageWorld w(2, [](uint32_t r) { return build::messageAllreduce(2, r); });
  Spy spy(w);
  spy.ops.forget = [](nbc_p2p *p, nbc_p2p_message *m, int sent) {
    EXPECT_FALSE(sent);
    Spy::real->forget(p, m, sent);
    return 1;
  };
  static uint8_t *room;  // where rank 1 would receive
  spy.ops.receive = [](nbc_p2p *p, void *to, uint64_t n, uint32_t rank, uint32_t tag,
                       nbc_p2p_message *m) {
    room = static_cast<uint8_t *>(to);
    return Spy::real->receive(p, to, n, rank, tag, m);
  };
  int64_t in = 1, out;
  nbc_request request;
  nbc_call call = {.in = &in, .out = &out, .count = 1, .type = NBC_I64, .op = NBC_SUM};
  ASSERT_EQ(nbc_start(w.plans[1], &call, &request), 0);
  EXPECT_EQ(nbc_plan_abandon(w.plans[1]), 0);
  int done;
  nbc_test(&request, &done);
  ASSERT_TRUE(room);
  w.freePlan(1);
  auto page = reinterpret_cast<uintptr_t>(room) & ~uintptr_t{4095};
  unsigned char resident;
  EXPECT_EQ(mincore(reinterpret_cast<void *>(page), 1, &resident), 0) << "it is not mapped";
  for (nbc_p2p *e : w.ends) e->ops = Spy::real;
}

TEST(Mpi, aStartIsShortWhateverItsLength) {
  // The copy of the own block is left to the first test; of a short block it is done at once.
  for (size_t n : {100, 100000}) {
    MessageWorld w(2, build::ringAllgather(2), {.depth = 1});
    Spy spy(w);
    std::vector<uint8_t> in(n, 5), out[2];
    std::vector<nbc_request> requests(2);
    for (std::vector<uint8_t> &o : out) o.resize(2 * n);
    Spy::tests = 0;
    for (size_t i : {0, 1}) {
      nbc_call call = {.in = in.data(), .out = out[i].data(), .count = n};
      ASSERT_EQ(nbc_start(w.plans[0], &call, &requests[i]), 0);
    }
    EXPECT_EQ(Spy::tests, 0);
    EXPECT_EQ(out[0][n - 1], n < 1000 ? 5 : 0);
    int done;
    ASSERT_EQ(nbc_test(&requests[0], &done), 0);
    EXPECT_EQ(out[0][n - 1], 5);
    EXPECT_EQ(nbc_plan_abandon(w.plans[0]), 0);
    for (nbc_request &r : requests) nbc_test(&r, &done);
  }
}

TEST(Mpi, aFailedMessageFailsAllCallsOfThePlan) {
  for (int killedAfter : {0, 1, 5}) {
    MessageWorld w(2, build::ringAllgather(2), {.depth = 3});
    gatherAll(w, {100});
    uint8_t in[10] = {}, out[5][20];
    nbc_request requests[5];
    for (int i = 0; i < 5; ++i) {
      if (i == killedAfter) w.fabric.kill(1);
      nbc_call call = {.in = in, .out = out[i], .count = 10};
      EXPECT_EQ(nbc_start(w.plans[0], &call, &requests[i]), 0);
    }
    if (killedAfter == 5) w.fabric.kill(1);
    for (nbc_request &r : requests) EXPECT_EQ(nbc_wait(&r), NBC_ERROR_DEVICE);
    nbc_request more;
    nbc_call call = {.in = in, .out = out[0], .count = 10};
    EXPECT_EQ(nbc_start(w.plans[0], &call, &more), NBC_ERROR_DEVICE);
  }
}

TEST(Mpi, tagsAreNotUsedTwice) {
  p2p::Options few = MessageWorld::options(0);
  few.largestTag = 2;
  MessageWorld w(2, build::ringAllgather(2), {}, few);
  for (int i = 0; i < 2; ++i) w.addPlans(build::ringAllgather(2));
  gatherAll(w, {3});
  for (uint32_t r : {0, 1}) {
    build::Bytes b = build::ringAllgather(2, r);
    nbc_plan *plan = nullptr;
    EXPECT_EQ(nbc_plan_create(w.comms[r], b.data(), b.size(), nullptr, &plan), NBC_ERROR_RESOURCES);
  }
}

TEST(Mpi, whatIsTooLongForAMessageIsRefusedByAll) {
  p2p::Options tight = MessageWorld::options(0);
  tight.longest = 100;
  MessageWorld w(3, build::ringAllgather(3), {}, tight);
  gatherAll(w, {100});
  std::vector<uint8_t> in(101), out(303);
  for (nbc_plan *p : w.plans) {
    nbc_request r;
    nbc_call call = {.in = in.data(), .out = out.data(), .count = 101};
    EXPECT_EQ(nbc_start(p, &call, &r), NBC_ERROR_TOO_LONG);
  }
  // Nor is it cut at what an int holds.
  MessageWorld open(1, build::ringAllgather(1));
  nbc_request r;
  nbc_call call = {.in = NBC_IN_PLACE, .out = out.data(), .count = size_t{5} << 30};
  EXPECT_EQ(nbc_start(open.plans[0], &call, &r), 0);
}

TEST(Mpi, plansThatDoNotFitTogetherDoNotConnect) {
  MessageWorld w(2, build::ringAllgather(2));
  struct Pair {
    build::Bytes a, b;
    int status;
  };
  build::Bytes other = build::ringAllgather(2, 1);
  std::strcpy(other.header()->algorithm, "bruck");
  other.seal();
  const Pair pairs[] = {
      {build::ringAllgather(2, 0), other, NBC_ERROR_ARGUMENT},
      {build::pairsBcast(2, 0, 2), build::pairsBcast(2, 1, 4), NBC_ERROR_TEMPLATE}};
  for (const Pair &p : pairs) {
    nbc_plan *plans[2];
    ASSERT_EQ(nbc_plan_create(w.comms[0], p.a.data(), p.a.size(), nullptr, &plans[0]), 0);
    ASSERT_EQ(nbc_plan_create(w.comms[1], p.b.data(), p.b.size(), nullptr, &plans[1]), 0);
    for (nbc_plan *plan : plans) EXPECT_EQ(nbc_plan_connect(plan), p.status);
    for (nbc_plan *plan : plans) EXPECT_EQ(nbc_plan_free(plan), 0);
  }
}

}  // namespace
