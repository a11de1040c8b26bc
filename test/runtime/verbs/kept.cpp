// SPDX-License-Identifier: BSD-3-Clause
// Buffers that come again are not described again; and whoever is the last to start needs no look.

#include "test/runtime/gather.h"
#include "test/runtime/verbs/world.h"

namespace kept {
namespace {

constexpr nbc_verbs_rendezvous ways[] = {NBC_VERBS_WRITE, NBC_VERBS_READ};
constexpr size_t ranks = 2, length = 5000, offered = 40;  // bytes: of a block; of an offer

/// Allgathers of two ranks, in the same buffers each time.
struct Again {
  VerbsWorld w;
  std::vector<std::vector<uint8_t>> in{ranks, std::vector<uint8_t>(length)},
      out{ranks, std::vector<uint8_t>(ranks *length)};
  std::vector<nbc_request> requests{ranks};

  explicit Again(const std::vector<verbs::Options> &options, uint32_t depth = 1) : w(options) {
    w.addPlans(build::ringAllgather(ranks), {.depth = depth});
  }
  void start(size_t r, uint8_t salt) {
    std::ranges::fill(in[r], uint8_t(salt + r));
    std::ranges::fill(out[r], uint8_t(0));
    nbc_call call = {.in = in[r].data(), .out = out[r].data(), .count = length};
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  }
  bool has(size_t r, uint8_t salt) const {
    for (size_t i = 0; i < ranks * length; ++i)
      if (out[r][i] != uint8_t(salt + i / length)) return false;
    return true;
  }
  /// Bytes that have travelled for it.
  uint64_t call(uint8_t salt) {
    const uint64_t before = w.fabric.counters().bytes;
    for (size_t r = 0; r < ranks; ++r) start(r, salt);
    EXPECT_TRUE(w.finish(requests));
    for (size_t r = 0; r < ranks; ++r) EXPECT_TRUE(has(r, salt)) << "rank " << r;
    return w.fabric.counters().bytes - before;
  }
};

TEST(VerbsKept, whatComesAgainIsNamedByAByte) {
  for (auto way : ways)
    for (auto offers : {NBC_VERBS_KEPT, NBC_VERBS_ANEW}) {
      Again a({ranks, {.rendezvous = way, .offers = offers}});
      EXPECT_EQ(a.call(1), ranks * (length + offered));
      for (uint8_t salt = 2; salt < 6; ++salt)
        EXPECT_EQ(a.call(salt), ranks * (length + (offers == NBC_VERBS_KEPT ? 1 : offered)));
    }
}

TEST(VerbsKept, whoeverKeepsNothingIsTold) {
  for (auto way : ways)
    for (size_t who : {0, 1}) {
      std::vector<verbs::Options> options(ranks, {.rendezvous = way});
      options[who].offers = NBC_VERBS_ANEW;
      Again a(options);
      for (uint8_t salt = 1; salt < 4; ++salt) EXPECT_EQ(a.call(salt), ranks * (length + offered));
    }
}

TEST(VerbsKept, otherBuffersMeanwhileChangeNothing) {
  for (auto way : ways) {
    Again a({ranks, {.rendezvous = way}}, 2);
    a.call(1);
    for (uint8_t salt = 2; salt < 30; ++salt) {
      gatherAll(a.w, {salt * 100u, 6000, length});
      a.call(salt);
    }
  }
}

TEST(VerbsKept, memoryThatIsRegisteredAnewIsOfferedAnew) {
  for (auto way : ways) {
    Again a({ranks, {.rendezvous = way}});
    for (uint8_t salt = 1; salt < 9; ++salt) {
      const size_t who = salt % ranks;
      EXPECT_EQ(a.call(salt), ranks * length + (salt == 1 ? ranks * offered : offered + 1));
      const size_t next = (who + 1) % ranks;
      ASSERT_EQ(nbc_deregister(a.w.comms[next], a.in[next].data(), length), 0);
      ASSERT_EQ(nbc_deregister(a.w.comms[next], a.out[next].data(), ranks * length), 0);
    }
  }
}

TEST(VerbsKept, theLastToStartMovesItAllWithoutALook) {
  // Rank 0 has said that it has started; what rank 1 sends it posts in its own start.
  Again a({ranks, verbs::Options()});
  a.call(1);
  a.start(0, 2);
  a.w.fabric.run();
  a.start(1, 2);
  a.w.fabric.run();
  EXPECT_TRUE(
      std::all_of(a.out[0].begin() + length, a.out[0].end(), [](uint8_t b) { return b == 3; }));
  ASSERT_TRUE(a.w.finish(a.requests));
  EXPECT_TRUE(a.has(0, 2) && a.has(1, 2));
}

TEST(VerbsKept, manyAtOnceTakeFewMessages) {
  constexpr size_t bytes = 200000;
  VerbsWorld w(2);
  w.addPlans(build::manyBcast, {.depth = 1});
  std::vector<std::vector<uint8_t>> data(2, std::vector<uint8_t>(bytes));
  uint64_t messages[4] = {};
  for (size_t call = 0; call < 4; ++call) {
    const uint64_t before = w.fabric.counters().messages;
    std::vector<nbc_request> requests(2);
    for (size_t r = 0; r < 2; ++r) {
      std::ranges::fill(data[r], uint8_t(r * 7 + call));
      nbc_call c = {.data = data[r].data(), .count = bytes};
      ASSERT_EQ(nbc_start(w.plans[r], &c, &requests[r]), 0);
    }
    ASSERT_TRUE(w.finish(requests));
    ASSERT_EQ(data[0], data[1]);
    messages[call] = w.fabric.counters().messages - before;
  }
  EXPECT_EQ(messages[0], 200u);
  // 32 of them, the window, in each; but the few for which the table has no place.
  EXPECT_LT(messages[3], 130u);
}

}  // namespace
}  // namespace kept
