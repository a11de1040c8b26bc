// SPDX-License-Identifier: BSD-3-Clause
// Calls in which each block has a length and a place of its own: data, arguments, damage.

#include <numeric>

#include "test/runtime/again.h"
#include "test/runtime/world.h"

namespace {

using Counts = std::vector<size_t>;
using Places = std::vector<ptrdiff_t>;

build::Bytes own(build::Bytes b) {
  b.header()->lengths = NBC_LENGTHS_EACH;
  b.seal();
  return b;
}

MakeTemplate allgatherv(uint32_t ranks) {
  return [ranks](uint32_t rank) { return own(build::allgather(ranks, rank)); };
}

uint16_t valueOf(size_t rank, size_t i) {
  return uint16_t(rank * 997 + i + 1);
}

/// One allgatherv of u16 at these places; whatever lies beside the blocks stays as it was.
void gather(World &w, const Counts &counts, const Places *places, bool inPlace = false) {
  const size_t ranks = counts.size();
  Places at = places ? *places : Places(ranks);
  if (!places) std::exclusive_scan(counts.begin(), counts.end(), at.begin(), ptrdiff_t{0});
  size_t end = 1;
  for (size_t r = 0; r < ranks; ++r) end = std::max(end, size_t(at[r]) + counts[r] + 1);
  std::vector<uint16_t> wanted(end, 0xeeee);
  std::vector<std::vector<uint16_t>> in(ranks), out(ranks, wanted);
  std::vector<nbc_request> requests(ranks);
  for (size_t r = 0; r < ranks; ++r) {
    for (size_t i = 0; i < counts[r]; ++i) in[r].push_back(valueOf(r, i));
    std::copy(in[r].begin(), in[r].end(), wanted.begin() + at[r]);
    if (inPlace) std::copy(in[r].begin(), in[r].end(), out[r].begin() + at[r]);
    nbc_call call = {.in = inPlace ? NBC_IN_PLACE : in[r].data(),
                     .out = out[r].data(),
                     .count = inPlace ? 77 : counts[r],
                     .type = NBC_U16};
    call.out_counts = counts.data();
    if (places) call.out_displacements = places->data();
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  }
  ASSERT_TRUE(w.finish(requests));
  for (size_t r = 0; r < ranks; ++r) EXPECT_EQ(out[r], wanted) << "rank " << r;
}

TEST(Lengths, gapsAnyOrderAndEmptyBlocks) {
  const Places scattered = {40, 0, 13, 31};
  for (uint64_t seed : {0, 1, 2, 3}) {
    World w(4, allgatherv(4), {.eager_bytes = 16, .max_bytes = 4096}, World::options(seed));
    for (const bool inPlace : {false, true})
      for (const Places *places : {&scattered, static_cast<const Places *>(nullptr)}) {
        gather(w, {3, 0, 7, 1}, places, inPlace);  // eager: 14 bytes at most
        gather(w, {0, 0, 0, 0}, places, inPlace);
        gather(w, {0, 9, 0, 0}, places, inPlace);  // rendezvous
        gather(w, {1000, 1, 0, 8}, nullptr, inPlace);
      }
    nbc_plan_info info;
    nbc_plan_query(w.plans[2], &info);
    EXPECT_EQ(info.eager, 8u);
    EXPECT_EQ(info.rendezvous, 8u);
    EXPECT_TRUE(w.fabric.findings().empty()) << w.fabric.findings()[0];
    EXPECT_EQ(w.fabric.counters().rnrNaks, w.fabric.counters().forcedRnr);
  }
}

TEST(Lengths, withoutArraysAllAreAlike) {
  World w(3, allgatherv(3));
  uint8_t in[3][2] = {{1, 2}, {3, 4}, {5, 6}}, out[3][6] = {};
  std::vector<nbc_request> requests(3);
  for (size_t r = 0; r < 3; ++r) {
    nbc_call call = {.in = in[r], .out = out[r], .count = 2};
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  }
  ASSERT_TRUE(w.finish(requests));
  EXPECT_EQ(std::memcmp(out[1], in, 6), 0);
}

TEST(Lengths, manyCallsWaitForTheirTurnEachWithItsOwnArrays) {
  constexpr size_t calls = 9;
  World w(2, allgatherv(2), {.depth = 2, .eager_bytes = 8});
  Counts counts[calls];
  Places places[calls];
  std::vector<uint8_t> in[2][calls], out[2][calls];
  std::vector<nbc_request> requests(2 * calls);
  for (size_t c = 0; c < calls; ++c) {
    counts[c] = {c, 11 - c};
    places[c] = {ptrdiff_t(20 - c), ptrdiff_t(c)};
    for (size_t r : {0, 1}) {
      in[r][c].assign(counts[c][r], uint8_t(16 * c + r + 1));
      out[r][c].assign(32, 0);
      nbc_call call = {.in = in[r][c].data(), .out = out[r][c].data(), .count = counts[c][r]};
      call.out_counts = counts[c].data();
      call.out_displacements = places[c].data();
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r * calls + c]), 0);
    }
  }
  ASSERT_TRUE(w.finish(requests));
  for (size_t c = 0; c < calls; ++c) {
    std::vector<uint8_t> wanted(32);
    for (size_t r : {0, 1})
      std::copy(in[r][c].begin(), in[r][c].end(), wanted.begin() + places[c][r]);
    for (size_t r : {0, 1}) EXPECT_EQ(out[r][c], wanted) << "call " << c << " rank " << r;
  }
}

TEST(Lengths, whatOneCallHasFoundOutServesThoseLikeItAlone) {
  for (uint32_t ranks : {1, 2, 4})
    for (uint32_t depth : {1, 3}) {
      World w(ranks, allgatherv(ranks), {.depth = depth, .eager_bytes = 16});
      gatherAgainAndAgain(w, ranks, 10 * ranks + depth);
    }
}

TEST(Lengths, argumentsThatCannotBe) {
  World w(2, allgatherv(2), {.eager_bytes = 16, .max_bytes = 64});
  uint8_t in[8] = {}, out[64] = {};
  const Counts counts = {3, 4};
  const auto start = [&](auto change) {
    nbc_call call = {.in = in, .out = out, .count = 3};
    call.out_counts = counts.data();
    change(call);
    nbc_request request;
    return nbc_start(w.plans[0], &call, &request);
  };
  // The own block is 3 long in `out`.
  EXPECT_EQ(start([](nbc_call &c) { c.count = 4; }), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(start([](nbc_call &c) { c.out = nullptr; }), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(start([](nbc_call &c) { c.in = nullptr; }), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(start([](nbc_call &c) { c.type = NBC_TYPES; }), NBC_ERROR_ARGUMENT);
  const nbc_type types[] = {NBC_BYTE, NBC_BYTE};
  EXPECT_EQ(start([&](nbc_call &c) { c.out_types = types; }), NBC_ERROR_ARGUMENT);
  // Beyond all addresses, before the first, and where the elements do not fit 64 bits.
  const Places after = {0, PTRDIFF_MAX}, before = {0, PTRDIFF_MIN};
  EXPECT_EQ(start([&](nbc_call &c) {
              c.out_displacements = before.data();
              c.type = NBC_U64;
            }),
            NBC_ERROR_ARGUMENT);
  EXPECT_EQ(start([&](nbc_call &c) { c.out_displacements = before.data(); }), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(start([&](nbc_call &c) {
              c.out_displacements = after.data();
              c.type = NBC_U64;
            }),
            NBC_ERROR_ARGUMENT);
  const Counts beyond = {3, SIZE_MAX / 2}, sum = {SIZE_MAX / 4, SIZE_MAX / 4},
               segment = {3, 1u << 31};
  EXPECT_EQ(start([&](nbc_call &c) {
              c.out_counts = beyond.data();
              c.type = NBC_U64;
            }),
            NBC_ERROR_TOO_LONG);
  EXPECT_NE(start([&](nbc_call &c) { c.out_counts = sum.data(); }), 0);
  EXPECT_EQ(start([&](nbc_call &c) { c.out_counts = segment.data(); }), NBC_ERROR_TOO_LONG);
}

TEST(Lengths, arraysNeedATemplateForThem) {
  World w(2, [](uint32_t rank) { return build::allgather(2, rank); });
  uint8_t in[4] = {}, out[8] = {};
  const Counts counts = {3, 4};
  nbc_call call = {.in = in, .out = out, .count = 3};
  call.out_counts = counts.data();
  nbc_request request;
  EXPECT_EQ(nbc_start(w.plans[0], &call, &request), NBC_ERROR_UNSUPPORTED);
}

void nothingToGather(const nbc_layout *, uint64_t, void *, size_t) {}

TEST(Lengths, layoutsAreForMessagesWithinANode) {
  World w(2, [](uint32_t rank) { return build::allgather(2, rank); });
  uint8_t out[8] = {};
  const nbc_layout layout = {nothingToGather, nullptr};
  nbc_call call = {.out = out, .count = 4};
  call.in_layout = &layout;
  nbc_request request;
  EXPECT_EQ(nbc_plan_layouts(w.plans[0]), NBC_LAYOUTS_REFUSED);
  EXPECT_EQ(nbc_start(w.plans[0], &call, &request), NBC_ERROR_UNSUPPORTED);
}

TEST(Lengths, ranksMustHaveTemplatesForTheSameUse) {
  Board board;
  hca::Fabric fabric(World::options(0));
  Board::Context contexts[] = {{&board, 0}, {&board, 1}};
  nbc_comm *comms[2];
  nbc_plan *plans[2];
  for (int r : {0, 1}) {
    nbc_bootstrap b = {r, 2, &contexts[r], Board::put, Board::get, nullptr};
    nbc_device *device = &fabric.addAdapter()->device;
    ASSERT_EQ(nbc_comm_create(&b, &device, 1, &comms[r]), 0);
    build::Bytes bytes = build::allgather(2, uint32_t(r));
    if (r) bytes = own(bytes);
    ASSERT_EQ(nbc_plan_create(comms[r], bytes.data(), bytes.size(), nullptr, &plans[r]), 0);
  }
  EXPECT_EQ(nbc_plan_connect(plans[0]), NBC_ERROR_ARGUMENT);
  for (int r : {0, 1}) {
    EXPECT_EQ(nbc_plan_free(plans[r]), 0);
    EXPECT_EQ(nbc_comm_free(comms[r]), 0);
  }
}

TEST(Lengths, eagerOnlyWhereAllKnowAllLengths) {
  build::Bytes bytes = own(build::gather(3, 1));
  const char *why = "";
  EXPECT_EQ(nbc_template_check(bytes.data(), bytes.size(), &why), NBC_ERROR_TEMPLATE);
  EXPECT_NE(std::string(why).find("where blocks may differ"), std::string::npos) << why;
}

TEST(Lengths, aRoomTooShortForItsPiecesIsSeenAtTheCall) {
  World w(1,
          [](uint32_t) {
            build::Builder b("packed", NBC_ALLGATHER, 1, 0);
            uint32_t in = b.buffer(NBC_ROLE_IN), out = b.buffer(NBC_ROLE_OUT);
            uint32_t room = b.buffer(NBC_ROLE_STAGING, 1);
            b.beginVariant(NBC_RENDEZVOUS);
            // The second lies behind a whole block: beyond the one block that there is.
            uint32_t first = b.inRoom(room, 0, in),
                     half = b.inRoom(room, 0, in, 0, 1, 2, {first, 1});
            b.copy(b.piece(in, 0, 1, 2), half);
            b.copy(b.piece(in, 0), b.piece(out, 0));
            b.stage();
            b.endVariant();
            return own(b.finish());
          },
          {.max_bytes = 64});
  uint8_t in[64] = {}, out[64] = {};
  const Counts counts = {64}, none = {0};
  nbc_call call = {.in = in, .out = out, .count = 64};
  call.out_counts = counts.data();
  nbc_request request;
  EXPECT_EQ(nbc_start(w.plans[0], &call, &request), NBC_ERROR_TEMPLATE);
  call.count = 0;
  call.out_counts = none.data();
  EXPECT_EQ(nbc_start(w.plans[0], &call, &request), 0);
  int done = 0;
  EXPECT_EQ(nbc_test(&request, &done), 0);
  EXPECT_TRUE(done);
}

TEST(Lengths, damagedTemplates) {
  const auto refused = [](build::Bytes b, const char *part) {
    b.seal();
    const char *why = "";
    EXPECT_EQ(nbc_template_check(b.data(), b.size(), &why), NBC_ERROR_TEMPLATE) << part;
    EXPECT_NE(std::string(why).find(part), std::string::npos) << why;
  };
  build::Bytes flag = build::allgather(3, 0);
  flag.header()->lengths = NBC_LENGTHS;
  refused(flag, "lengths 2 of kind 0");
  refused(own(build::chainAllreduce(3, 1)), "lengths 1 of kind 2");
  build::Bytes two = own(build::allgather(3, 0));
  auto *pieces = two.table<nbc_piece>(two.header()->pieces);
  uint32_t last = two.header()->pieces.count - 1;  // out[2], received
  pieces[last].first = 1;
  pieces[last].count = 2;
  refused(two, "2 parts of 1 from 1 on, where blocks may differ");
  pieces[last].first = 3;
  pieces[last].count = 0;
  refused(two, "0 parts of 1 from 3 on, where blocks may differ");
}

}  // namespace
