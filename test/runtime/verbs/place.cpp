// SPDX-License-Identifier: BSD-3-Clause
// Long messages that are sent into their place: what goes on without a look of either host, what
// waits for a receive, and what a peer may not send.

#include <set>

#include "test/runtime/gather.h"
#include "test/runtime/verbs/stranger.h"

namespace {

using stranger::brief, stranger::longer, stranger::Stranger, stranger::unit;

TEST(VerbsPlace, theProtocolByHand) {
  Stranger s(NBC_VERBS_SEND);
  ASSERT_EQ(s.start(), 0);
  s.place(0, 0);
  s.place(0, longer);
  EXPECT_TRUE(s.all(stranger::longIn, longer, 7)) << "it is there before anybody looks";
  std::vector<Stranger::Heard> heard = s.hear();
  ASSERT_EQ(heard.size(), 1u) << "the short message, and nothing that says where anything is";
  EXPECT_EQ(heard[0].kind, stranger::Eager);
  EXPECT_EQ(s.memory[Stranger::large], 7) << "there was no receive for the long one";
  s.expectPlaced();
  s.hear();
  EXPECT_EQ(s.memory[Stranger::large], 1) << "which came as soon as there was";
  s.say(stranger::Eager, 0, brief);
  int done = 0;
  for (int looks = 0; looks < 3 && !done; ++looks) EXPECT_EQ(s.test(&done), 0);
  EXPECT_TRUE(done);
}

TEST(VerbsPlace, whatIsRefusedMeanwhileHasNoBytes) {
  Stranger s(NBC_VERBS_SEND);
  ASSERT_EQ(s.start(), 0);
  s.hear();
  EXPECT_GT(s.w.fabric.counters().rnrNaks, 0u);
  EXPECT_LT(s.w.fabric.counters().bytes, longer) << "what is kept back goes nowhere";
  EXPECT_EQ(nbc_plan_abandon(s.plan), 0);
}

TEST(VerbsPlace, whatDoesNotFitEndsThePlan) {
  stranger::refuses(
      NBC_VERBS_SEND,
      {
          {"bytes without what goes before", [](Stranger &s) { s.place(0, longer); }},
          {"too short", [](Stranger &s) { s.place(0, 0), s.place(0, longer - 1); }},
          {"too long", [](Stranger &s) { s.place(0, 0), s.place(0, longer + 1); }},
          {"of no bytes", [](Stranger &s) { s.place(0, 0), s.place(0, 0); }},
          {"the second first", [](Stranger &s) { s.place(1, 0); }},
          {"in two", [](Stranger &s) { s.place(0, 0), s.place(1, longer); }},
          {"of another kind", [](Stranger &s) { s.place(0, 0, stranger::Eager); }},
          {"written",
           [](Stranger &s) { s.place(0, 0, stranger::Placed, IBV_WR_RDMA_WRITE_WITH_IMM); }},
          {"among the short ones", [](Stranger &s) { s.say(stranger::Placed, 0, 0); }},
          {"an offer", [](Stranger &s) { s.offer(0, longer); }},
      });
}

TEST(VerbsPlace, neitherHostLooksWhoeverStartsFirst) {
  for (const size_t first : {0u, 1u}) {
    constexpr size_t length = 100000;
    VerbsWorld w(2, {.rendezvous = NBC_VERBS_SEND, .longest = 30000});
    w.sends = true;
    w.addPlans(build::ringAllgather(2));
    std::vector<uint8_t> in[2], out[2];
    nbc_request requests[2];
    for (size_t r : {0u, 1u}) in[r].assign(length, uint8_t(r + 1)), out[r].resize(2 * length);
    for (size_t r : {first, 1 - first}) {
      nbc_call call = {.in = in[r].data(), .out = out[r].data(), .count = length};
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
      w.fabric.run();
    }
    EXPECT_GT(w.fabric.counters().rnrNaks, 0u) << "the first has come too early";
    EXPECT_EQ(out[0][length], 2);
    EXPECT_EQ(out[0][2 * length - 1], 2);
    EXPECT_EQ(out[1][0], 1);
    EXPECT_EQ(out[1][length - 1], 1);
    for (nbc_request &r : requests) {
      int done = 0;
      EXPECT_EQ(nbc_test(&r, &done), 0);
      EXPECT_TRUE(done);
    }
  }
}

TEST(VerbsPlace, moreRunsThanAnAdapterGathersAreRefused) {
  for (const uint32_t gather : {1u, 2u}) {
    VerbsWorld w(2, {.gather = gather});
    build::Messages t("two", NBC_ALLGATHER, 2, 0);
    const uint32_t out = t.b.buffer(NBC_ROLE_OUT);
    t.beginVariant();
    const uint32_t first = t.b.piece(out, 1);
    t.b.piece(out, 0);
    t.send(1, first, 1);
    t.stage();
    t.endVariant();
    t.b.relocs.back().rule = NBC_RELOC_PIECES;
    const build::Bytes bytes = forVerbs(t.finish());
    const nbc_plan_options options = {.transfer = NBC_TRANSFER_SEND};
    nbc_plan *plan = nullptr;
    EXPECT_EQ(nbc_plan_create(w.comms[0], bytes.data(), bytes.size(), &options, &plan),
              gather == 1 ? NBC_ERROR_RESOURCES : 0)
        << nbc_plan_why();
    EXPECT_EQ(nbc_plan_free(plan), 0);
  }
}

/// Of queue pairs that are to have one of their own.
std::set<uint32_t> timers;
const nbc_verbs_ops *without;

int noteTimer(nbc_verbs *v, const nbc_verbs_queue_wish *wish, void **qp, uint32_t *number) {
  if (wish->rnr_timer) timers.insert(wish->rnr_timer);
  return without->create_qp(v, wish, qp, number);
}

void watchTimers(nbc_verbs &v) {
  static nbc_verbs_ops with;
  if (v.ops != &with) without = v.ops;
  with = *without;
  with.create_qp = noteTimer;
  v.ops = &with;
}

TEST(VerbsPlace, theMorePeersTheLaterEachComesAgain) {
  // 0.01, 0.04, 0.06, 0.08 and 0.12 ms, and ten that are 0.12, by InfiniBand's codes.
  const std::pair<uint32_t, uint32_t> expected[] = {{2, 1}, {5, 4},  {6, 5},  {7, 5},
                                                    {8, 6}, {10, 7}, {13, 7}, {14, 8}};
  for (const auto &[ranks, code] : expected)
    for (const uint32_t said : {0u, 12u}) {
      timers.clear();
      VerbsWorld w(ranks, {.rendezvous = NBC_VERBS_SEND, .rnrTimer = said}, 0, watchTimers);
      w.addPlans([&](uint32_t r) { return build::allBarrier(ranks, r); });
      EXPECT_EQ(timers, std::set{said ? said : code}) << ranks;
    }
}

}  // namespace
