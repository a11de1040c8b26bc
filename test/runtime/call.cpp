// SPDX-License-Identifier: BSD-3-Clause
// Calls: right data by each protocol, in order, any number ahead, errors as promised.

#include "test/runtime/gather.h"
#include "test/runtime/rank_order.h"
#include "test/runtime/world.h"

namespace {

build::Bytes allgatherOf(uint32_t ranks, uint32_t rank) {
  return build::allgather(ranks, rank);
}

MakeTemplate everyone(uint32_t ranks) {
  return [ranks](uint32_t rank) { return allgatherOf(ranks, rank); };
}

/// All ranks are everyone's neighbours, in order: then it is an allgather.
build::Bytes completeGraph(uint32_t ranks, uint32_t rank) {
  build::Bytes b = build::allgather(ranks, rank);
  b.header()->kind = NBC_NEIGHBOR_ALLGATHER;
  b.table<nbc_buffer>(b.header()->buffers)[1].blocks = ranks;
  b.seal();
  return b;
}

TEST(Call, neighboursAreAsManyAsTheTemplateSays) {
  World w(
      3, [](uint32_t rank) { return completeGraph(3, rank); }, {.eager_bytes = 64},
      World::options(1));
  gatherAll(w, {0, 5, 64, 700});
  nbc_plan_info info;
  nbc_plan_query(w.plans[0], &info);
  EXPECT_EQ(info.in_blocks, 1u);
  EXPECT_EQ(info.out_blocks, 3u);
  EXPECT_EQ(info.data_blocks, 0u);
  uint8_t bytes[3];
  nbc_request request;
  nbc_call call = {.in = NBC_IN_PLACE, .out = bytes, .count = 1};
  EXPECT_EQ(nbc_start(w.plans[0], &call, &request), NBC_ERROR_ARGUMENT);
}

TEST(Call, eagerAndRendezvousOfAnyLength) {
  for (uint32_t ranks : {1, 2, 3, 5})
    for (uint64_t seed : {0, 1, 2, 3}) {
      World w(ranks, everyone(ranks), {.eager_bytes = 64}, World::options(seed));
      gatherAll(w, {0, 1, 64, 65, 3000, 0, 7, 70000, 2});
      gatherAll(w, {5, 100, 0}, true);
      nbc_plan_info info;
      nbc_plan_query(w.plans[0], &info);
      EXPECT_EQ(info.calls, 12u);
      EXPECT_EQ(info.eager, 8u);
      EXPECT_EQ(info.rendezvous, 4u);
      EXPECT_EQ(w.fabric.counters().errors, 0u);
      EXPECT_EQ(w.fabric.counters().rnrNaks, w.fabric.counters().forcedRnr)
          << "a receive was missing";
      EXPECT_TRUE(w.fabric.findings().empty()) << w.fabric.findings()[0];
    }
}

TEST(Call, indicesWrap) {
  // 16 bits of queues and 24 of CQs pass 0 within the first calls.
  for (uint32_t depth : {1, 2, 3, 8}) {
    World w(
        3, everyone(3),
        {.depth = depth, .eager_bytes = 16, .first_sq_index = 65533, .first_cq_index = 0xfffffd},
        World::options(depth));
    for (int i = 0; i < 20; ++i) gatherAll(w, {8, 100, 16, 0, 40, 3, 3, 3, 3, 3});
    EXPECT_TRUE(w.fabric.findings().empty()) << w.fabric.findings()[0];
  }
}

TEST(Call, aRankMayRunAheadByAnyNumberOfCalls) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    World w(2, everyone(2), {.eager_bytes = 16}, World::options(seed));
    constexpr size_t calls = 30;
    std::vector<uint8_t> in(40), out[2];
    std::vector<nbc_request> requests(2 * calls);
    for (size_t r : {0, 1}) {
      out[r].resize(calls * 80);
      for (size_t c = 0; c < calls; ++c) {
        nbc_call call = {.in = in.data(), .out = &out[r][c * 80], .count = c % 5 == 4 ? 40u : 8u};
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
    EXPECT_EQ(w.fabric.counters().rnrNaks, w.fabric.counters().forcedRnr);
    nbc_plan_info info;
    nbc_plan_query(w.plans[0], &info);
    EXPECT_EQ(info.queued, calls - 2);
  }
}

TEST(Call, creditsHoldSendersBack) {
  // Nobody sends to them, so only credits keep ranks 1 and 2 from running into rank 0.
  for (uint32_t depth : {1, 2, 5})
    for (uint64_t seed = 0; seed < 10; ++seed) {
      World w(
          3, [](uint32_t r) { return build::gather(3, r); }, {.depth = depth},
          World::options(seed));
      constexpr size_t calls = 60;
      std::vector<uint32_t> in(3 * calls), out(3 * calls);
      std::vector<nbc_request> requests(3 * calls);
      for (size_t r : {2, 1, 0}) {
        for (size_t c = 0; c < calls; ++c) {
          size_t at = r * calls + c;
          in[at] = uint32_t(at * 3);
          nbc_call call = {
              .in = &in[at], .out = r ? nullptr : &out[3 * c], .count = 1, .type = NBC_U32};
          ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[at]), 0);
        }
        // The senders go as far as they may; the next has not begun.
        std::vector<int> done(requests.size());
        for (int round = 0; round < 100 && r; ++round) {
          w.fabric.run();
          for (size_t at = r * calls; at < (r + 1) * calls; ++at)
            nbc_test(&requests[at], &done[at]);
        }
      }
      // Those that are done answer so again.
      ASSERT_TRUE(w.finish(requests));
      for (size_t at = 0; at < out.size(); ++at)
        ASSERT_EQ(out[at], in[at % 3 * calls + at / 3]) << "call " << at / 3;
      EXPECT_EQ(w.fabric.counters().rnrNaks, w.fabric.counters().forcedRnr);
    }
}

TEST(Call, callsOfAPlanEndInOrder) {
  World w(2, everyone(2), {.depth = 3, .eager_bytes = 16});
  uint8_t in[8] = {}, out[2][16];
  std::vector<nbc_request> requests(20);
  for (size_t i = 0; i < requests.size(); ++i) {
    nbc_call call = {.in = in, .out = out[i % 2], .count = i % 3 ? 8u : 4u};
    ASSERT_EQ(nbc_start(w.plans[i % 2], &call, &requests[i]), 0);
  }
  w.fabric.run();
  // Testing the last moves all; then done ones are a prefix.
  size_t left = requests.size();
  std::vector<int> done(left);
  for (int round = 0; round < 100 && left; ++round) {
    for (size_t r : {0, 1}) {
      bool gap = false;
      for (size_t i = requests.size() - 2 + r + 2; i-- > 0;) {
        if (i % 2 != r || done[i]) continue;
        ASSERT_EQ(nbc_test(&requests[i], &done[i]), 0);
        if (done[i]) --left, gap = true;
        // Walking down: after one that is done all earlier are done, too.
        EXPECT_TRUE(!gap || done[i]) << i;
      }
    }
    w.fabric.run();
  }
  EXPECT_EQ(left, 0u);
}

TEST(Call, twoPlansDoNotWaitForEachOther) {
  World w(2, everyone(2));
  std::vector<nbc_plan *> first = w.plans;
  w.addPlans([](uint32_t rank) { return build::barrier(rank); });
  uint8_t in[4] = {1, 2, 3, 4}, out[2][8];
  nbc_call gather = {.in = in, .out = out[0], .count = 4}, nothing = {};
  std::vector<nbc_request> late(2), barriers(2);
  ASSERT_EQ(nbc_start(first[0], &gather, &late[0]), 0);
  for (size_t r : {0, 1}) ASSERT_EQ(nbc_start(w.plans[r], &nothing, &barriers[r]), 0);
  EXPECT_TRUE(w.finish(barriers));
  gather.out = out[1];
  ASSERT_EQ(nbc_start(first[1], &gather, &late[1]), 0);
  EXPECT_TRUE(w.finish(late));
  EXPECT_EQ(out[1][5], 2);
}

TEST(Call, manyBarriers) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    World w(2, build::barrier, {.depth = 1 + uint32_t(seed % 3)}, World::options(seed));
    std::vector<nbc_request> requests(100);
    nbc_call call = {};
    for (size_t i = 0; i < requests.size(); ++i)
      ASSERT_EQ(nbc_start(w.plans[i / 50], &call, &requests[i]), 0);
    EXPECT_TRUE(w.finish(requests));
  }
}

TEST(Call, hostsReduceInRankOrder) {
  constexpr size_t calls = 7;
  for (uint32_t ranks : {2, 3, 6})
    for (uint64_t seed = 0; seed < 5; ++seed) {
      World w(
          ranks, [&](uint32_t r) { return build::chainAllreduce(ranks, r); }, {},
          World::options(seed));
      reduceInRankOrder(w, ranks, calls);
      nbc_plan_info info;
      nbc_plan_query(w.plans[ranks - 1], &info);
      EXPECT_EQ(info.host_steps, calls);
    }
}

TEST(Call, theAdapterReducesWhatItCan) {
  struct Case {
    nbc_type type;
    nbc_op op;
    bool calc;
  };
  const Case cases[] = {
      {NBC_U64, NBC_SUM, true},  {NBC_I64, NBC_SUM, true},  {NBC_U64, NBC_MIN, true},
      {NBC_I64, NBC_MIN, true},  {NBC_I64, NBC_MAX, true},  {NBC_U64, NBC_MAX, true},
      {NBC_I64, NBC_BAND, true}, {NBC_I64, NBC_BOR, true},  {NBC_U64, NBC_BXOR, true},
      {NBC_U64, NBC_LAND, true}, {NBC_U64, NBC_LOR, true},  {NBC_I64, NBC_LXOR, true},
      {NBC_F64, NBC_SUM, true},  {NBC_F64, NBC_MAX, false}, {NBC_I64, NBC_PROD, false},
      {NBC_U32, NBC_SUM, false}};
  World w(2, build::calcAllreduce);
  uint64_t calcs = 0;
  for (const Case &c : cases)
    for (uint64_t a : {0ull, 1ull, 6ull, 0xfffffffffffffff1ull, 0x8000000000000000ull})
      for (uint64_t b : {0ull, 3ull, 0xfffffffffffffff7ull}) {
        uint64_t in[2] = {a, b}, out[2] = {7, 7}, expected = 7;
        if (c.type == NBC_F64) {
          double values[2] = {double(int64_t(a)), double(int64_t(b)) / 3};
          std::memcpy(in, values, sizeof in);
        }
        std::vector<nbc_request> requests(2);
        for (size_t r : {0, 1}) {
          nbc_call call = {.in = &in[r], .out = &out[r], .count = 1, .type = c.type, .op = c.op};
          ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
        }
        ASSERT_TRUE(w.finish(requests));
        nbc_reduction(c.type, c.op)(&expected, &in[0], &in[1], 1, nullptr);
        EXPECT_EQ(out[0], expected) << c.type << " " << c.op << " " << a << " " << b;
        EXPECT_EQ(out[1], expected) << c.type << " " << c.op << " " << a << " " << b;
        calcs += c.calc;
      }
  nbc_plan_info info;
  nbc_plan_query(w.plans[0], &info);
  EXPECT_EQ(info.calc, calcs);
}

TEST(Call, theAdapterReducesOnlyIfAllCan) {
  // Rank 1's template has no such variant: rank 0 must not use its own.
  World w(2, [](uint32_t r) {
    build::Bytes t = build::calcAllreduce(r);
    if (r == 1) t.table<nbc_variant>(t.header()->variants)->calc = 0, t.seal();
    return t;
  });
  uint64_t in[2] = {4, 5}, out[2];
  std::vector<nbc_request> requests(2);
  for (size_t r : {0, 1}) {
    nbc_call call = {.in = &in[r], .out = &out[r], .count = 1, .type = NBC_U64, .op = NBC_SUM};
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  }
  ASSERT_TRUE(w.finish(requests));
  EXPECT_EQ(out[0], 9u);
  EXPECT_EQ(out[1], 9u);
}

// Vectors of up to `width` elements, as many as all ranks' templates have: longer ones the hosts
// do.
TEST(Call, theAdapterReducesShortVectors) {
  for (auto [mine, theirs] : {std::pair(2u, 2u), {8u, 8u}, {4u, 2u}, {1u, 1u}}) {
    World w(2, [&](uint32_t r) { return build::vectorAllreduce(r, r ? theirs : mine); });
    const uint32_t width = mine == theirs ? mine : 0;
    uint64_t reduced = 0;
    for (uint32_t n = 0; n <= 9; ++n) {
      std::vector<uint64_t> in[2], out[2];
      std::vector<nbc_request> requests(2);
      for (uint32_t r : {0, 1}) {
        for (uint32_t i = 0; i < n; ++i) in[r].push_back(100 * n + 10 * i + r);
        in[r].push_back(0), out[r].assign(n + 1, 77);
        nbc_call call = {
            .in = in[r].data(), .out = out[r].data(), .count = n, .type = NBC_U64, .op = NBC_SUM};
        ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
      }
      ASSERT_TRUE(w.finish(requests));
      for (uint32_t r : {0, 1}) {
        for (uint32_t i = 0; i < n; ++i) EXPECT_EQ(out[r][i], 200 * n + 20 * i + 1) << n;
        EXPECT_EQ(out[r][n], 77u);
      }
      reduced += n && n <= width;
      nbc_plan_info info;
      nbc_plan_query(w.plans[0], &info);
      EXPECT_EQ(info.calc, reduced) << n << " of " << mine << " and " << theirs;
    }
    EXPECT_TRUE(w.fabric.findings().empty()) << w.fabric.findings()[0];
  }
}

// All slots of a vector are sent, so rooms hold them however short blocks are to be.
TEST(Call, roomsHoldTheSlotsOfAVector) {
  nbc_plan_options options{};
  options.eager_bytes = 16;
  World w(2, [](uint32_t r) { return build::vectorAllreduce(r, 2); }, options);
  uint64_t in[2] = {4, 5}, out[2];
  std::vector<nbc_request> requests(2);
  for (size_t r : {0, 1}) {
    nbc_call call = {.in = &in[r], .out = &out[r], .count = 1, .type = NBC_U64, .op = NBC_SUM};
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  }
  ASSERT_TRUE(w.finish(requests));
  EXPECT_EQ(out[0] + out[1], 18u);
  nbc_plan_info info;
  nbc_plan_query(w.plans[0], &info);
  EXPECT_EQ(info.calc, 1u);
}

TEST(Call, partsOfBlocks) {
  // Lengths below the number of parts leave some of them empty.
  for (uint32_t parts : {1, 2, 3, 7})
    for (size_t n : {0, 1, 2, 3, 5, 6, 7, 100, 10007}) {
      World w(
          2, [&](uint32_t r) { return build::partsBcast(r, parts); }, {}, World::options(n % 3));
      for (int again = 0; again < 5; ++again) {
        std::vector<uint16_t> data[2] = {std::vector<uint16_t>(n), std::vector<uint16_t>(n, 77)};
        for (size_t i = 0; i < n; ++i) data[0][i] = uint16_t(i * 3 + size_t(again));
        std::vector<nbc_request> requests(2);
        for (size_t r : {0, 1}) {
          nbc_call call = {.data = n ? data[r].data() : nullptr, .count = n, .type = NBC_U16};
          ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
        }
        ASSERT_TRUE(w.finish(requests));
        ASSERT_EQ(data[1], data[0]) << parts << " parts of " << n;
      }
      EXPECT_TRUE(w.fabric.findings().empty()) << w.fabric.findings()[0];
    }
}

TEST(Call, noSegmentOfNoBytesIsPosted) {
  // Hardware may read a length of 0 as 2^31. 3 elements in 7 parts: 4 parts are empty.
  static std::vector<nbc_hca_qp> seen;
  static const nbc_hca_ops *real;
  static nbc_hca_ops spy;
  World w(2, build::barrier);
  real = w.adapters[0]->ops;
  spy = *real;
  spy.create_qp = [](nbc_hca *h, const nbc_hca_qp_request *r, nbc_hca_qp *qp) {
    int status = real->create_qp(h, r, qp);
    seen.push_back(*qp);
    return status;
  };
  for (nbc_hca *a : w.adapters) a->ops = &spy;
  w.addPlans([](uint32_t r) { return build::partsBcast(r, 7); });
  uint16_t data[3];
  std::vector<nbc_request> requests(2);
  for (size_t r : {0, 1}) {
    nbc_call call = {.data = data, .count = 3, .type = NBC_U16};
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  }
  int receives = 0, sends = 0;
  for (const nbc_hca_qp &qp : seen) {
    if (qp.rq && qp.log_stride > 4) {
      for (int k = 0; k < 4; ++k)
        EXPECT_EQ(mlx5_get32(qp.rq + 16 * k + MLX5_DATA_COUNT), k < 3 ? 2u : 0u);
      EXPECT_EQ(mlx5_get32(qp.rq + 16 * 3 + MLX5_DATA_LKEY), uint32_t(MLX5_INVALID_LKEY));
      ++receives;
    }
    // What is over stands before the send, where nobody waits for less than the send.
    if (qp.sq[64 + MLX5_CTRL_OPCODE] == MLX5_SEND && qp.sq[64 + MLX5_CTRL_DS] > 1) {
      EXPECT_EQ(qp.sq[64 + MLX5_CTRL_DS], 4);
      EXPECT_EQ(qp.sq[MLX5_CTRL_OPCODE], MLX5_NOP);
      EXPECT_EQ(qp.sq[MLX5_CTRL_DS], 1);
      ++sends;
    }
  }
  EXPECT_EQ(receives, 1);
  EXPECT_EQ(sends, 1);
  EXPECT_TRUE(w.finish(requests));
  for (nbc_hca *a : w.adapters) a->ops = real;
}

TEST(Call, whatCannotBeIsRefused) {
  World w(2, everyone(2), {.eager_bytes = 64});
  uint8_t in[64] = {}, out[128];
  nbc_request r;
  nbc_call good = {.in = in, .out = out, .count = 8}, bad;
  EXPECT_EQ(nbc_start(nullptr, &good, &r), NBC_ERROR_ARGUMENT);
  EXPECT_EQ((bad = good, bad.in = nullptr, nbc_start(w.plans[0], &bad, &r)), NBC_ERROR_ARGUMENT);
  EXPECT_EQ((bad = good, bad.out = nullptr, nbc_start(w.plans[0], &bad, &r)), NBC_ERROR_ARGUMENT);
  EXPECT_EQ((bad = good, bad.out = NBC_IN_PLACE, nbc_start(w.plans[0], &bad, &r)),
            NBC_ERROR_ARGUMENT);
  EXPECT_EQ((bad = good, bad.type = NBC_TYPES, nbc_start(w.plans[0], &bad, &r)),
            NBC_ERROR_ARGUMENT);
  EXPECT_EQ((bad = good, bad.count = SIZE_MAX, bad.type = NBC_I64, nbc_start(w.plans[0], &bad, &r)),
            NBC_ERROR_TOO_LONG);
  EXPECT_EQ((bad = good, bad.count = (size_t(1) << 30) + 1, nbc_start(w.plans[0], &bad, &r)),
            NBC_ERROR_TOO_LONG);
  World parts(2, [](uint32_t rank) { return build::partsBcast(rank, 7); });  // in one message
  nbc_call bcast = {.data = out, .count = (size_t(1) << 30) + 100};
  EXPECT_EQ(nbc_start(parts.plans[0], &bcast, &r), NBC_ERROR_TOO_LONG);
  World reduce(2, [](uint32_t rank) { return build::chainAllreduce(2, rank); });
  good.type = NBC_F32;
  EXPECT_EQ((bad = good, bad.op = NBC_BAND, nbc_start(reduce.plans[0], &bad, &r)),
            NBC_ERROR_ARGUMENT);
  EXPECT_EQ((bad = good, bad.op = NBC_USER, nbc_start(reduce.plans[0], &bad, &r)),
            NBC_ERROR_ARGUMENT);
  EXPECT_EQ((bad = good, bad.in = NBC_IN_PLACE, nbc_start(reduce.plans[0], &bad, &r)),
            NBC_ERROR_UNSUPPORTED);
  EXPECT_EQ((bad = good, bad.count = 1000, nbc_start(reduce.plans[0], &bad, &r)),
            NBC_ERROR_TOO_LONG);
}

TEST(Call, aPlanIsBusyWhileCallsAreUnderWay) {
  World w(2, everyone(2), {.eager_bytes = 16});
  std::vector<uint8_t> in(100), out(200);
  std::vector<nbc_request> requests(2);
  nbc_call call = {.in = in.data(), .out = out.data(), .count = 100};
  ASSERT_EQ(nbc_start(w.plans[0], &call, &requests[0]), 0);
  EXPECT_EQ(nbc_plan_free(w.plans[0]), NBC_ERROR_BUSY);
  EXPECT_EQ(nbc_comm_free(w.comms[0]), NBC_ERROR_BUSY);
  EXPECT_EQ(nbc_deregister(w.comms[0], out.data() + 50, 1), NBC_ERROR_BUSY);
  std::vector<uint8_t> other(200);
  call.out = other.data();
  ASSERT_EQ(nbc_start(w.plans[1], &call, &requests[1]), 0);
  EXPECT_TRUE(w.finish(requests));
  EXPECT_EQ(nbc_deregister(w.comms[0], out.data() + 50, 1), 0);
}

TEST(Call, aFailedQueueFailsAllCallsOfThePlan) {
  for (size_t bytes : {8, 1000}) {
    World w(2, everyone(2), {.eager_bytes = 16});
    gatherAll(w, {bytes});
    w.fabric.kill(1);
    std::vector<uint8_t> in(bytes), out(2 * bytes);
    nbc_request requests[5];
    nbc_call call = {.in = in.data(), .out = out.data(), .count = bytes};
    for (nbc_request &r : requests) ASSERT_EQ(nbc_start(w.plans[0], &call, &r), 0);
    w.fabric.run();
    for (nbc_request &r : requests) EXPECT_EQ(nbc_wait(&r), NBC_ERROR_DEVICE);
    nbc_request more;
    EXPECT_EQ(nbc_start(w.plans[0], &call, &more), NBC_ERROR_DEVICE);
  }
}

}  // namespace
