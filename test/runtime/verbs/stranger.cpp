// SPDX-License-Identifier: BSD-3-Clause
// What a peer says is believed as far as the protocol goes: else the plan ends, and nothing is
// written.

#include "test/runtime/verbs/stranger.h"

namespace {

using namespace stranger;

TEST(VerbsStranger, theProtocolByHandWriting) {
  Stranger s(NBC_VERBS_WRITE);
  ASSERT_EQ(s.start(), 0);
  // Its short message, and where to: in one chain.
  auto heard = s.hear();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].kind, Eager);
  EXPECT_EQ(heard[0].bytes, std::vector<uint8_t>(brief, 1));
  EXPECT_EQ(heard[1].kind, Offer);
  OneOffer o;
  ASSERT_EQ(heard[1].bytes.size(), sizeof o);
  std::memcpy(&o, heard[1].bytes.data(), sizeof o);
  EXPECT_EQ(o.number, 0u);
  EXPECT_EQ(o.runs, 1u);
  EXPECT_EQ(o.bytes, longer);
  EXPECT_EQ(o.run.address, reinterpret_cast<uintptr_t>(s.data.data() + longIn));

  s.say(Eager, 0, brief);
  s.offer(0, longer);
  s.write(o, longer, 0);
  int done = 1;
  EXPECT_EQ(s.test(&done), 0);  // takes it all in, and writes
  EXPECT_FALSE(done);
  heard = s.hear();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].kind, Data);
  EXPECT_EQ(heard[0].given, 1u);  // the slot of the short message
  EXPECT_TRUE(std::all_of(s.memory.begin() + Stranger::large,
                          s.memory.begin() + Stranger::large + longer,
                          [](uint8_t b) { return b == 1; }));
  EXPECT_EQ(s.test(&done), 0);
  EXPECT_TRUE(done);
  EXPECT_TRUE(s.all(0, shortOut, 7));
  EXPECT_TRUE(s.all(shortOut, brief + longer, 1));
}

TEST(VerbsStranger, theProtocolByHandReading) {
  Stranger s(NBC_VERBS_READ);
  ASSERT_EQ(s.start(), 0);
  auto heard = s.hear();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[1].kind, Offer);
  OneOffer o;
  ASSERT_EQ(heard[1].bytes.size(), sizeof o);
  std::memcpy(&o, heard[1].bytes.data(), sizeof o);
  EXPECT_EQ(o.run.address, reinterpret_cast<uintptr_t>(s.data.data() + longOut));

  std::memset(s.memory.data() + Stranger::large, 7, longer);
  s.say(Eager, 0, brief);
  s.offer(0, longer);
  int done = 1;
  EXPECT_EQ(s.test(&done), 0);  // reads
  EXPECT_EQ(s.test(&done), 0);  // has read, and says so
  EXPECT_FALSE(done);
  heard = s.hear();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].kind, Finished);
  s.say(Finished, 0, 0);
  EXPECT_EQ(s.test(&done), 0);
  EXPECT_TRUE(done);
  EXPECT_TRUE(s.all(0, shortOut, 7));
}

void refuses(nbc_verbs_rendezvous way, const std::vector<stranger::Lie> &lies) {
  stranger::refuses(way, lies, [](const Stranger &s, const char *what) {
    EXPECT_TRUE(s.all(0, unit, 1)) << what;
  });
}

TEST(VerbsStranger, whatCannotBeEndsThePlan) {
  refuses(
      NBC_VERBS_WRITE,
      {{"too short", [](Stranger &s) { s.say(Eager, 0, brief - 1); }},
       {"too long", [](Stranger &s) { s.say(Eager, 0, brief + 1); }},
       {"longer than eager_bytes", [](Stranger &s) { s.say(Eager, 0, eagerBytes + 1); }},
       {"longer than a slot", [](Stranger &s) { s.say(Eager, 0, 2000); }},
       {"of no bytes", [](Stranger &s) { s.say(Eager, 0, 0); }},
       {"the second first", [](Stranger &s) { s.say(Eager, 1, brief); }},
       {"no such kind", [](Stranger &s) { s.say(Kind(0), 0, brief); }},
       {"nor this", [](Stranger &s) { s.say(Kind(7), 0, brief); }},
       {"credits that nobody had", [](Stranger &s) { s.say(Credit, 0, 0, 2); }},
       {"a credit with bytes", [](Stranger &s) { s.say(Credit, 0, 8); }},
       {"data that are sent", [](Stranger &s) { s.say(Data, 0, brief); }},
       {"finished, of what is written", [](Stranger &s) { s.say(Finished, 0, 0); }},
       {"an offer that is too short", [](Stranger &s) { s.say(Offer, 0, sizeof(OneOffer) - 1); }},
       {"of another number", [](Stranger &s) { s.offer(1, longer); }},
       {"of less than is sent", [](Stranger &s) { s.offer(0, longer - 1); }},
       {"of more", [](Stranger &s) { s.offer(0, longer + 1); }},
       {"of two places", [](Stranger &s) { s.offer(0, longer, 2); }},
       {"of none", [](Stranger &s) { s.offer(0, longer, 0); }},
       {"to be kept where there is no place", [](Stranger &s) { s.offer(0, longer, 1, 9); }},
       {"again, of nothing", [](Stranger &s) { s.say(Again, 0, 0); }},
       {"what was not offered before", [](Stranger &s) { s.say(Again, 1, 1, 0, "\0"); }},
       {"or cannot have been", [](Stranger &s) { s.say(Again, 1, 1, 0, "\x08"); }},
       {"as often as it was not", [](Stranger &s) { s.say(Again, 33, 33); }},
       {"that overflows", [](Stranger &s) { s.offer(0, UINT64_MAX); }},
       {"a place that is not its own", [](Stranger &s) {
          OneOffer o = {0, 1, 0, longer, {4096, longer, 0x1234, 0}};
          s.say(Offer, 0, sizeof o, 0, &o);
          int done = 0;
          EXPECT_EQ(s.test(&done), 0);  // posted; the adapter finds out
        }}});
}

TEST(VerbsStranger, whatCannotBeWhereOneReads) {
  const auto twoRuns = [](uint64_t first, uint64_t second, uint64_t all) {
    return [=](Stranger &s) {
      struct {
        uint32_t number;
        uint16_t runs, kept;
        uint64_t bytes;
        OfferedRun run[2];
      } o = {0, 2, 0, all, {{0, first, s.rkey, 0}, {0, second, s.rkey, 0}}};
      s.say(Offer, 0, sizeof o, 0, &o);
    };
  };
  refuses(NBC_VERBS_READ, {{"runs that are less", twoRuns(400, 500, longer)},
                           {"runs that are more", twoRuns(UINT64_MAX, longer + 1, longer)},
                           {"a run of no bytes", twoRuns(longer, 0, longer)},
                           {"more than its runs",
                            [](Stranger &s) {
                              const OneOffer o[2] = {{0, 1, 0, longer, {0, longer, s.rkey, 0}}, {}};
                              s.say(Offer, 0, sizeof o[0] + sizeof o[0].run, 0, o);
                            }},
                           {"finished too early", [](Stranger &s) { s.say(Finished, 1, 0); }},
                           {"finished with bytes", [](Stranger &s) { s.say(Finished, 0, 1); }}});
}

TEST(VerbsStranger, whatItIsToKeepItKeeps) {
  Stranger s(NBC_VERBS_WRITE);
  OneOffer o;
  uint8_t number = 0;
  for (uint32_t call = 0; call < 3; ++call) {
    ASSERT_EQ(s.start(), 0);
    auto heard = s.hear();
    ASSERT_EQ(heard.size(), 2u);
    EXPECT_EQ(heard[1].kind, call ? Again : Offer);
    if (call) {
      EXPECT_EQ(heard[1].bytes, std::vector<uint8_t>{number});
      EXPECT_EQ(heard[1].count, call + 1);
      const uint8_t again = 3;
      s.say(Again, call + 1, 1, call, &again);
    } else {
      ASSERT_EQ(heard[1].bytes.size(), sizeof o);
      std::memcpy(&o, heard[1].bytes.data(), sizeof o);
      ASSERT_TRUE(o.kept >= 1 && o.kept <= 8);
      number = uint8_t(o.kept - 1);
      s.offer(0, longer, 1, 4);
    }
    s.say(Eager, call, brief, call);
    s.write(o, longer, call, call);
    std::memset(s.memory.data() + Stranger::large, 0, longer);
    int done = 0;
    for (int i = 0; i < 3 && !done; ++i) ASSERT_EQ(s.test(&done), 0);
    EXPECT_TRUE(done);
    EXPECT_TRUE(std::all_of(s.memory.begin() + Stranger::large,
                            s.memory.begin() + Stranger::large + longer,
                            [](uint8_t b) { return b == 1; }));
    for (const auto &h : s.hear()) EXPECT_EQ(h.kind, Data);
  }
  // Not twice in a call, and nothing beside what it keeps.
  ASSERT_EQ(s.start(), 0);
  const uint8_t other = 4;
  s.say(Again, 4, 1, 3, &other);
  int done = 0;
  EXPECT_EQ(s.test(&done), NBC_ERROR_DEVICE);
}

TEST(VerbsStranger, offersThatNobodyWaitsForAreCounted) {
  // All that a window holds before the call; one more is a lie.
  for (uint32_t offers : {32u, 33u}) {
    Stranger s(NBC_VERBS_WRITE, 40);
    for (uint32_t i = 0; i < offers; ++i) s.offer(i, longer);
    ASSERT_EQ(s.start(), 0);
    int done = 0;
    for (int i = 0; i < 20 && !done; ++i)
      if (int status = s.test(&done)) {
        EXPECT_EQ(status, NBC_ERROR_DEVICE);
        break;
      }
    EXPECT_EQ(done, offers == 33) << offers;
    if (!done) {
      EXPECT_EQ(nbc_plan_abandon(s.plan), 0);
    }
  }
}

TEST(VerbsStranger, withoutCreditsNothingShortIsSent) {
  Stranger s(NBC_VERBS_WRITE, 1, 0);
  ASSERT_EQ(s.start(), 0);
  for (const auto &h : s.hear()) EXPECT_EQ(h.kind, Offer);
  EXPECT_EQ(nbc_plan_abandon(s.plan), 0);
}

TEST(VerbsStranger, whateverIsSaidEndsTheCallOrThePlan) {
  constexpr size_t sizes[] = {0, 1, 2, brief, brief + 1, sizeof(OneOffer), longer};
  int ended[2] = {};
  for (unsigned seed = 1; seed <= 1000 && !testing::Test::HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
    Stranger s(nbc_verbs_rendezvous(seed % 4), 1 + below(3));
    s.mayFail = true;
    std::vector<OneOffer> offers;
    ASSERT_EQ(s.start(), 0);
    int done = 0;
    for (int step = 0; step < 40 && !done; ++step) {
      // More often right than anything else.
      const size_t bytes = below(2) ? brief : sizes[below(std::size(sizes))];
      const size_t large = below(4) ? longer : sizes[below(std::size(sizes))];
      const uint32_t count = below(3) ? 0 : below(3);
      switch (below(8)) {
        case 0:
          s.say(Kind(below(4) ? Eager : below(8)), count, bytes, below(3));
          break;
        case 1:
          s.offer(count, large, uint16_t(below(8) ? 1 : below(3)), uint16_t(below(10)));
          break;
        case 2:
          for (const Stranger::Heard &h : s.hear())
            if (h.kind == Offer && h.bytes.size() >= sizeof(OneOffer))
              std::memcpy(&offers.emplace_back(), h.bytes.data(), sizeof(OneOffer));
          break;
        case 3:
          if (!offers.empty()) s.write(offers[below(uint32_t(offers.size()))], longer, count);
          break;
        case 4:
          if (!offers.empty() && below(4) == 0) s.writeAmongShortOnes(offers[0], count);
          break;
        case 5:
          if (s.second) s.place(count, below(2) ? 0 : large, below(8) ? Placed : Kind(below(8)));
          break;
        case 6:
          if (s.second && below(2)) s.expectPlaced();
          break;
        default: {
          const int status = s.test(&done);
          ASSERT_TRUE(status == 0 || status == NBC_ERROR_DEVICE) << seed;
          ++ended[status != 0];
        }
      }
    }
    if (!done) {
      EXPECT_EQ(nbc_plan_abandon(s.plan), 0);
    }
  }
  EXPECT_GT(ended[0], 250);
  EXPECT_GT(ended[1], 250);
}

}  // namespace
