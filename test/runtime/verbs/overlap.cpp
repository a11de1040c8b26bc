// SPDX-License-Identifier: BSD-3-Clause
// What goes on while nobody looks, in simulated time: how much of a call is hidden behind as long a
// computation without a test, NBCBench's 1 - (T - C) / L. Prints the figures of DESIGN.md.
//
// A look costs no time here, and a microsecond passes between two ranks; so `anew` is a rendezvous
// as of a start that goes home at once, `kept` one of which the start looks for those that start
// with it, and `told` one with a thread that looks whenever its adapter tells it to.

#include <chrono>
#include <set>
#include <thread>

#include "test/runtime/verbs/world.h"

namespace {

constexpr size_t ranks = 2;
constexpr hca::Time patience = 4 * hca::microsecond;

enum class How { anew, kept, told };

struct Gather {
  VerbsWorld w;
  size_t length;
  std::vector<std::vector<uint8_t>> in, out;
  std::vector<nbc_request> requests{ranks};
  std::vector<int> done;
  hca::Time still = 0;  // computed while nothing happened: the fabric's clock stands then

  Gather(size_t bytes, verbs::Options options)
      : w(ranks, options),
        length(bytes),
        in(ranks, std::vector<uint8_t>(bytes, 1)),
        out(ranks, std::vector<uint8_t>(ranks * bytes)) {
    w.addPlans(build::ringAllgather(ranks));
    for (int i = 0; i < 3; ++i) latency();  // what can be kept is
  }
  void look(size_t r) {
    if (!done[r]) {
      EXPECT_EQ(nbc_test(&requests[r], &done[r]), 0);
    }
  }
  void start(How how) {
    done.assign(ranks, 0);
    for (size_t r = 0; r < ranks; ++r) {
      nbc_call call = {.in = in[r].data(), .out = out[r].data(), .count = length};
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
    }
    if (how != How::kept) return;
    std::set<uint32_t> heard;
    w.fabric.run(
        [&](const hca::Completion &c) {
          look(c.rank);
          heard.insert(c.rank);
          return heard.size() < ranks;
        },
        {.until = w.fabric.now() + patience});
  }
  void compute(hca::Time time, How how) {
    const hca::Time end = w.fabric.now() + time;
    w.fabric.run(
        [&](const hca::Completion &c) {
          if (how == How::told) look(c.rank);
          return true;
        },
        {.until = end});
    still += end - w.fabric.now();
  }
  /// Looks whenever there is something to see, until all is done.
  void wait() {
    for (size_t r = 0; r < ranks; ++r) look(r);
    const auto left = [&] { return std::ranges::count(done, 0) > 0; };
    while (left() && w.fabric.run([&](const hca::Completion &c) {
      look(c.rank);
      return left();
    }) == hca::Run::Stopped)
      continue;
    EXPECT_FALSE(left());
  }
  hca::Time latency() {
    w.fabric.run();
    const hca::Time begin = w.fabric.now();
    start(How::anew);
    wait();
    return w.fabric.now() - begin;
  }
  double overlap(How how) {
    const auto all = double(latency());
    w.fabric.run();
    const hca::Time begin = w.fabric.now();
    still = 0;
    start(how);
    const auto computing = hca::Time(all);
    compute(computing, how);
    wait();
    return 1 - (double(w.fabric.now() + still - begin) - double(computing)) / all;
  }
};

double overlapOf(size_t length, verbs::Options options, How how) {
  Gather g(length, options);
  return g.overlap(how);
}

TEST(VerbsOverlap, withoutATestOfTheApplication) {
  for (size_t length : {8, 1024, 16384, 65536, 1 << 20}) {
    const bool brief = length <= 1024;
    const double anew = overlapOf(length, {.offers = NBC_VERBS_ANEW}, How::anew),
                 read = overlapOf(length, {.rendezvous = NBC_VERBS_READ}, How::anew),
                 kept = overlapOf(length, {}, brief ? How::anew : How::kept),
                 told = overlapOf(length, {}, How::told),
                 copied = overlapOf(length, {.transfer = NBC_TRANSFER_EAGER}, How::anew),
                 sent = overlapOf(length, {.rendezvous = NBC_VERBS_SEND}, How::anew),
                 direct = overlapOf(length, {.rendezvous = NBC_VERBS_DIRECT}, How::anew);
    std::printf(
        "%7zu bytes: goes home at once %.2f, by reads %.2f; looks for 4 us %.2f; thread %.2f; "
        "copied %.2f, sent into place %.2f, direct %.2f\n",
        length, anew, read, kept, told, copied, sent, direct);
    if (brief) {
      EXPECT_GT(anew, 0.9) << length;
    } else {
      EXPECT_LT(anew, 0.5) << length;
    }
    EXPECT_GT(told, 0.9) << length;
    EXPECT_GT(copied, 0.9) << length;
    EXPECT_GT(sent, 0.9) << length;
    EXPECT_GT(direct, 0.9) << length;
    if (length >= 65536) {
      EXPECT_GT(kept, length > 65536 ? 0.95 : 0.85) << length;
    }
  }
}

/// allgather of two ranks; nothing stands behind the copy of what is their own.
build::Bytes exchange(uint32_t r) {
  build::Messages t("exchange", NBC_ALLGATHER, ranks, r);
  const uint32_t in = t.b.buffer(NBC_ROLE_IN), out = t.b.buffer(NBC_ROLE_OUT);
  t.beginVariant();
  t.receive(1 - r, t.b.piece(out, 1 - r));
  t.send(1 - r, t.b.piece(in, 0));
  t.stage();
  t.b.copy(t.b.piece(in, 0), t.b.piece(out, r));
  t.stage();
  t.endVariant();
  return forVerbs(t.finish());
}

TEST(VerbsOverlap, aStartCopiesNothingThatNobodyWaitsFor) {
  for (size_t length : {100, 5000}) {
    VerbsWorld w(2);
    w.addPlans(exchange);
    std::vector<uint8_t> in(length, 7),
        out[2] = {std::vector<uint8_t>(2 * length), std::vector<uint8_t>(2 * length)};
    std::vector<nbc_request> requests(2);
    for (size_t r : {0, 1}) {
      nbc_call call = {.in = in.data(), .out = out[r].data(), .count = length};
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
      EXPECT_EQ(out[r][r * length], length == 100 ? 7 : 0) << "a little it does";
    }
    ASSERT_TRUE(w.finish(requests));
    for (const auto &o : out) EXPECT_EQ(o, std::vector<uint8_t>(2 * length, 7));
  }
}

/// A start of rank 0 in real time, with this patience; rank 1 comes a little later.
void startTogether(VerbsWorld &w, std::vector<uint8_t> (&in)[2], std::vector<uint8_t> (&out)[2],
                   nbc_request (&requests)[2]) {
  const auto start = [&](size_t r) {
    nbc_call call = {.in = in[r].data(), .out = out[r].data(), .count = in[r].size()};
    EXPECT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  };
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    start(1);
  });
  start(0);
  other.join();
}

TEST(VerbsOverlap, aStartLooksForThoseThatStartWithIt) {
  VerbsWorld w(std::vector<verbs::Options>(2, {.patience = 2000000000}), 0, hca::Mode::RealTime);
  w.healthy = false;
  w.addPlans(exchange);
  std::vector<uint8_t> in[2], out[2];
  nbc_request requests[2];
  for (size_t r : {0, 1}) in[r].assign(100000, uint8_t(r + 1)), out[r].resize(200000);
  startTogether(w, in, out, requests);
  // Both have posted all they have to send, so nobody needs rank 0 to look.
  EXPECT_EQ(nbc_wait(&requests[1]), 0);
  EXPECT_EQ(out[1][0], 1);
  EXPECT_EQ(out[1][199999], 2);
  EXPECT_EQ(nbc_wait(&requests[0]), 0);
}

TEST(VerbsOverlap, butNotForThoseThatNeverCome) {
  constexpr auto little = std::chrono::milliseconds(50);
  VerbsWorld w(std::vector<verbs::Options>(
                   2, {.patience = uint32_t(std::chrono::nanoseconds(little).count())}),
               0, hca::Mode::RealTime);
  w.healthy = false;
  w.addPlans(build::ringAllgather(2), {.depth = 64});
  constexpr size_t calls = 60;
  std::vector<uint8_t> in(5000);
  std::vector<std::vector<uint8_t>> out(calls, std::vector<uint8_t>(10000));
  std::vector<nbc_request> requests(calls);
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < calls; ++i) {
    nbc_call call = {.in = in.data(), .out = out[i].data(), .count = in.size()};
    ASSERT_EQ(nbc_start(w.plans[0], &call, &requests[i]), 0);
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, 4 * little);
  EXPECT_LT(took, calls / 2 * little);
  EXPECT_EQ(nbc_plan_abandon(w.plans[0]), 0);
  for (nbc_request &r : requests) EXPECT_EQ(nbc_wait(&r), NBC_ERROR_ABANDONED);
}

}  // namespace
