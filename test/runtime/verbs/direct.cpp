// SPDX-License-Identifier: BSD-3-Clause
// Direct: who sends writes where the peer has said that it may, and else sends into the receive
// that the peer posts in any case. Neither host has to look, and whatever was offered too late is
// nobody's.

#include "test/runtime/verbs/posted.h"
#include "test/runtime/verbs/stranger.h"

namespace {

using stranger::longer, stranger::Stranger;

/// Calls of few ranks, which start when they are told to.
struct Calls {
  VerbsWorld w;
  std::vector<std::vector<uint8_t>> in, out;
  std::vector<nbc_request> requests;

  Calls(uint32_t ranks, size_t length, verbs::Options options, nbc_plan_options plan = {})
      : w(ranks, options, 0, posted::watch),
        in(ranks, std::vector<uint8_t>(length)),
        out(ranks, std::vector<uint8_t>(ranks * length)),
        requests(ranks) {
    w.sends = true;
    w.addPlans(build::ringAllgather(ranks), plan);
    posted::all.clear();
  }
  void start(size_t r, uint8_t salt) {
    std::ranges::fill(in[r], uint8_t(salt + r));
    std::ranges::fill(out[r], uint8_t(0));
    nbc_call call = {.in = in[r].data(), .out = out[r].data(), .count = in[r].size()};
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  }
  bool has(size_t r, size_t from, uint8_t salt) const {
    const auto at = out[r].begin() + ptrdiff_t(from * in[r].size());
    return std::all_of(at, at + ptrdiff_t(in[r].size()),
                       [&](uint8_t b) { return b == uint8_t(salt + from); });
  }
};

TEST(VerbsDirect, whoIsLateWritesWhoIsEarlySendsAndNeitherLooks) {
  for (const size_t longest : {30000u, 1u << 20})
    for (const size_t first : {0u, 1u}) {
      constexpr size_t length = 100000;
      const int parts = longest == 30000 ? 4 : 1;
      Calls c(2, length, {.rendezvous = NBC_VERBS_DIRECT, .longest = longest});
      for (uint8_t salt = 1; salt < 4; ++salt) {
        const uint64_t refused = c.w.fabric.counters().rnrNaks;
        posted::all.clear();
        c.start(first, salt);
        c.w.fabric.run();
        EXPECT_EQ(posted::all[IBV_WR_RDMA_WRITE_WITH_IMM], 0);
        EXPECT_EQ(posted::all[IBV_WR_RDMA_READ], 1) << "the peer is not there, so it knocks";
        posted::all.clear();
        c.start(1 - first, salt);
        c.w.fabric.run();
        EXPECT_EQ(posted::all[IBV_WR_RDMA_WRITE_WITH_IMM], parts);
        EXPECT_EQ(posted::all[IBV_WR_SEND_WITH_IMM], 2)
            << "its offer, and what goes before the data";
        EXPECT_EQ(posted::all[IBV_WR_RDMA_READ], 0);
        EXPECT_GT(c.w.fabric.counters().rnrNaks, refused);
        EXPECT_TRUE(c.has(0, 1, salt) && c.has(1, 0, salt)) << "call " << int(salt);
        ASSERT_TRUE(c.w.finish(c.requests));
      }
    }
}

/// Parts of `data`: one to rank 1, then two back, of which rank 0 receives the second behind a look
/// at the first.
build::Bytes thereAndBack(uint32_t me) {
  build::Messages t("back", NBC_BCAST, 2, me);
  const uint32_t data = t.b.buffer(NBC_ROLE_DATA);
  const auto part = [&](uint32_t i) { return t.b.piece(data, i, 1, 3); };
  t.beginVariant();
  if (me == 0) {
    t.send(1, part(0));
    t.wait(t.receive(1, part(1)));
    t.receive(1, part(2));
  } else {
    t.wait(t.receive(0, part(0)));
    t.send(0, part(1));
    t.send(0, part(2));
  }
  t.stage();
  t.endVariant();
  return t.finish();
}

TEST(VerbsDirect, whatATestPostsNeedsNoSecondOne) {
  constexpr size_t part = 5000;
  VerbsWorld w(2, {.rendezvous = NBC_VERBS_DIRECT}, 0, posted::watch);
  w.sends = true;
  w.addPlans(thereAndBack);
  std::vector<uint8_t> data[2] = {std::vector<uint8_t>(3 * part, 1),
                                  std::vector<uint8_t>(3 * part, 2)};
  std::vector<nbc_request> requests(2);
  int done = 0;
  for (size_t r : {0, 1}) {
    nbc_call call = {.data = data[r].data(), .count = 3 * part};
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  }
  for (size_t r : {1, 0}) {
    w.fabric.run();
    ASSERT_EQ(nbc_test(&requests[r], &done), 0);
    EXPECT_FALSE(done);
  }
  EXPECT_EQ(posted::all[IBV_WR_RDMA_WRITE_WITH_IMM], 1) << "the first back was expected";
  EXPECT_EQ(posted::all[IBV_WR_RDMA_READ], 2) << "there, and the second back";
  EXPECT_EQ(data[0][3 * part - 1], 1);
  w.fabric.run();
  EXPECT_EQ(data[0][3 * part - 1], 2) << "rank 1 has not looked again";
  ASSERT_TRUE(w.finish(requests));
}

TEST(VerbsDirect, isHowLongMessagesOfPersistentCallsGo) {
  for (const uint32_t reads : {0u, 4u})
    for (const auto &[said, way] : {std::pair{NBC_VERBS_WRITE, NBC_TRANSFER_AUTO},
                                    {NBC_VERBS_WRITE, NBC_TRANSFER_WRITE},
                                    {NBC_VERBS_SEND, NBC_TRANSFER_AUTO}}) {
      if (reads == 0 && said == NBC_VERBS_SEND) continue;  // there is no such device
      for (const size_t length : {10u, 5000u}) {
        Calls c(2, length, {.rendezvous = said, .reads = reads},
                {.transfer = way, .persistent = 1});
        c.start(0, 1);
        c.w.fabric.run();
        c.start(1, 1);
        const bool sends =
            (length == 10 || said == NBC_VERBS_SEND || reads) && way == NBC_TRANSFER_AUTO;
        const bool writes = length == 5000 && reads && said == NBC_VERBS_WRITE;
        EXPECT_EQ(posted::all[IBV_WR_RDMA_READ], length == 10 || !sends ? 0 : writes ? 1 : 2);
        EXPECT_EQ(posted::all[IBV_WR_RDMA_WRITE_WITH_IMM],
                  writes || (length == 5000 && !sends) || (way && length == 10));
        ASSERT_TRUE(c.w.finish(c.requests));
      }
    }
}

TEST(VerbsDirect, whatHasComeIsNotOfferedAndTheNextIs) {
  constexpr size_t bytes = 200000;
  VerbsWorld w(2, {.rendezvous = NBC_VERBS_DIRECT}, 0, posted::watch);
  w.sends = true;
  w.addPlans(build::manyBcast, {.depth = 1});
  std::vector<std::vector<uint8_t>> data(2, std::vector<uint8_t>(bytes));
  // Who begins: the one whose messages then need no offers, or the one that offers.
  for (const size_t first : {1, 0, 1, 1, 0, 0}) {
    posted::all.clear();
    std::vector<nbc_request> requests(2);
    for (const size_t r : {first, 1 - first}) {
      std::ranges::fill(data[r], uint8_t(r * 7 + first));
      nbc_call c = {.data = data[r].data(), .count = bytes};
      ASSERT_EQ(nbc_start(w.plans[r], &c, &requests[r]), 0);
      w.fabric.run();
    }
    ASSERT_TRUE(w.finish(requests));
    ASSERT_EQ(data[0], data[1]);
    EXPECT_EQ(posted::all[IBV_WR_RDMA_WRITE_WITH_IMM] + posted::all[IBV_WR_RDMA_READ], 100);
    if (first == 0) {
      EXPECT_GE(posted::all[IBV_WR_RDMA_WRITE_WITH_IMM], 32) << "those that fit into the window";
    }
  }
}

/// Of what rank 0 has said since the last time, the last one.
stranger::OneOffer offerOf(Stranger &s) {
  stranger::OneOffer offer = {};
  for (const Stranger::Heard &h : s.hear())
    if (h.kind == stranger::Offer) std::memcpy(&offer, h.bytes.data(), sizeof offer);
  return offer;
}

TEST(VerbsDirect, aStrangersWriteAndItsSendTakeTheSameReceives) {
  for (const bool writes : {false, true}) {
    Stranger s(NBC_VERBS_DIRECT);
    ASSERT_EQ(s.start(), 0);
    const stranger::OneOffer offer = offerOf(s);
    ASSERT_EQ(offer.bytes, longer);
    s.place(0, 0);
    if (writes)
      s.write(offer, longer, 0);
    else
      s.place(0, longer);
    EXPECT_TRUE(s.all(stranger::longIn, longer, 7));
    s.say(stranger::Eager, 0, stranger::brief);
    s.expectPlaced();
    int done = 0;
    for (int looks = 0; looks < 3 && !done; ++looks) EXPECT_EQ(s.test(&done), 0);
    EXPECT_TRUE(done);
  }
}

TEST(VerbsDirect, whatDoesNotFitEndsThePlan) {
  stranger::refuses(
      NBC_VERBS_DIRECT,
      {
          {"written in place of what goes before",
           [](Stranger &s) { s.write(offerOf(s), longer, 0); }},
          {"written, the second first",
           [](Stranger &s) {
             const stranger::OneOffer offer = offerOf(s);
             s.place(0, 0), s.write(offer, longer, 1);
           }},
          {"written among short ones", [](Stranger &s) { s.writeAmongShortOnes(offerOf(s), 0); }},
          {"too short", [](Stranger &s) { s.place(0, 0), s.place(0, longer - 1); }},
          {"sent as if it were written",
           [](Stranger &s) { s.place(0, 0), s.place(0, longer, stranger::Data); }},
          {"written as if it were sent",
           [](Stranger &s) {
             s.place(0, 0), s.place(0, longer, stranger::Placed, IBV_WR_RDMA_WRITE_WITH_IMM);
           }},
          {"an answer", [](Stranger &s) { s.say(stranger::Finished, 0, 0); }},
          {"an offer of what was not sent", [](Stranger &s) { s.offer(2, longer); }},
          {"an offer of two runs", [](Stranger &s) { s.offer(0, longer, 2); }},
          {"the same offer twice", [](Stranger &s) { s.offer(0, longer), s.offer(0, longer); }},
          {"again, of nothing kept", [](Stranger &s) { s.say(stranger::Again, 1, 1); }},
      });
}

TEST(VerbsDirect, anOfferOfAnotherLengthIsSeenWhereItIsUsed) {
  for (const uint64_t bytes : {longer - 1, longer, longer + 1}) {
    Stranger s(NBC_VERBS_DIRECT);
    s.offer(0, bytes);
    s.expectPlaced();
    ASSERT_EQ(s.start(), 0);
    s.w.fabric.run();
    if (bytes == longer) {
      EXPECT_EQ(s.memory[Stranger::large], 1) << "written, by what was offered before the start";
    }
    s.place(0, 0);
    s.place(0, longer);
    s.say(stranger::Eager, 0, stranger::brief);
    int done = 0, status = 0;
    for (int looks = 0; looks < 3 && !done && !status; ++looks) status = s.test(&done);
    EXPECT_EQ(status, bytes == longer ? 0 : NBC_ERROR_DEVICE);
    EXPECT_TRUE(done);
  }
}

}  // namespace
