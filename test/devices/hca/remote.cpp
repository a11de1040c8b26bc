// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs of different processes, as far as one process can play several: each rig has a fabric
// of its own, and all that is between two is the wire. Runs under TSan.

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "test/devices/hca/wired.h"

namespace hca::test {
namespace {

std::vector<uint8_t> pattern(size_t bytes, uint64_t seed) {
  std::vector<uint8_t> v(bytes);
  std::mt19937_64 random(seed);
  for (uint8_t &b : v) b = static_cast<uint8_t>(random());
  return v;
}

TEST(Remote, everyOperation) {
  Wired w;
  auto mine = pattern(64, 1), theirs = pattern(64, 2);
  const auto before = theirs;
  uint32_t l = w.here.key(0, mine.data(), 64), r = w.there.key(0, theirs.data(), 64);

  w.b.receive({{theirs.data(), 16, r}});
  w.b.receive({{theirs.data(), 16, r}});
  w.b.receive();
  w.a.post(send().data(mine.data(), 16, l).signal());
  w.a.post(Wqe(MLX5_SEND_IMM).immediate(7).data(mine.data() + 16, 16, l).signal());
  w.a.post(Wqe(MLX5_WRITE).remote(theirs.data() + 16, r).data(mine.data() + 32, 8, l).signal());
  w.a.post(Wqe(MLX5_WRITE_IMM)
               .immediate(9)
               .remote(theirs.data() + 24, r)
               .inlined(mine.data() + 40, 8)
               .signal());
  w.a.post(Wqe(MLX5_READ).remote(theirs.data() + 32, r).data(mine.data(), 8, l).signal());
  w.a.ring();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, 0);

  Cqe first = await(w.b, *w.b.receiveCq), second = await(w.b, *w.b.receiveCq),
      third = await(w.b, *w.b.receiveCq);
  EXPECT_EQ(first.opcode, MLX5_CQE_RESP_SEND);
  EXPECT_EQ(first.bytes, 16u);
  EXPECT_EQ(second.opcode, MLX5_CQE_RESP_SEND_IMM);
  EXPECT_EQ(second.immediate, 7u);
  EXPECT_EQ(third.opcode, MLX5_CQE_RESP_WR_IMM);
  EXPECT_EQ(third.immediate, 9u);
  EXPECT_EQ(third.bytes, 8u);
  EXPECT_EQ(memcmp(theirs.data(), mine.data() + 16, 32), 0);
  EXPECT_EQ(memcmp(mine.data(), before.data() + 32, 8), 0);
  w.settle();
}

TEST(Remote, atomics) {
  Wired w;
  alignas(8) uint64_t word = 5, old[2] = {};
  uint32_t l = w.here.key(0, old, 16), r = w.there.key(0, &word, 8);
  w.a.post(Wqe(MLX5_ATOMIC_FA).remote(&word, r).operands(3, 0).data(&old[0], 8, l).signal());
  w.a.post(Wqe(MLX5_ATOMIC_CS).remote(&word, r).operands(100, 8).data(&old[1], 8, l).signal());
  w.a.ring();
  await(w.a, *w.a.sendCq);
  await(w.a, *w.a.sendCq);
  EXPECT_EQ(old[0], 5u);
  EXPECT_EQ(old[1], 8u);
  EXPECT_EQ(word, 100u);
}

TEST(Remote, messagesOfNoBytes) {
  Wired w;
  w.b.receive();
  w.a.post(send().signal());
  w.a.post(Wqe(MLX5_WRITE).remote(nullptr, 0).signal());
  w.a.post(Wqe(MLX5_READ).remote(nullptr, 0).signal());
  w.a.ring();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, 0);
  EXPECT_EQ(await(w.b, *w.b.receiveCq).bytes, 0u);
}

// What arrives releases a WAIT, which enables the answer: no host of `there` has a hand in it.
TEST(Remote, aQueueAnswersByItself) {
  Wired w(NBC_HCA_QP_CROSS_CHANNEL | NBC_HCA_QP_MANAGED_SEND);
  Queue &c = w.here.queue(0);
  Queue &back = w.there.queue(0, {.flags = NBC_HCA_QP_MANAGED_SEND | NBC_HCA_QP_CROSS_CHANNEL});
  connectRigs(w.here, c, w.there, back);
  Queue &management = w.there.management(0);
  uint64_t out = 77, in = 0;
  uint32_t l = w.here.key(0, &in, 8), r = w.there.key(0, &out, 8);
  back.post(send().data(&out, 8, r));
  management.post(wait(*w.b.receiveCq, 0));
  management.post(enable(back, 1));
  management.ring();
  w.b.receive();
  c.receive({{&in, 8, l}});
  w.a.post(send());
  Queue &mine = w.here.management(0);
  mine.post(enable(w.a, 1));
  mine.ring();
  EXPECT_EQ(await(c, *c.receiveCq).bytes, 8u);
  EXPECT_EQ(in, 77u);
}

TEST(Remote, longMessagesOfEveryKind) {
  Wired w;
  constexpr uint32_t bytes = (4u << 20) + 13;
  auto mine = pattern(bytes, 3), theirs = std::vector<uint8_t>(bytes), back = theirs;
  uint32_t l = w.here.key(0, mine.data(), bytes), b = w.here.key(0, back.data(), bytes),
           r = w.there.key(0, theirs.data(), bytes);
  w.b.receive({{theirs.data(), 1u << 20, r}, {theirs.data() + (1u << 20), bytes - (1u << 20), r}});
  w.a.post(send().data(mine.data(), 5, l).data(mine.data() + 5, bytes - 5, l).signal());
  w.a.ring();
  EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, 0);
  EXPECT_EQ(await(w.b, *w.b.receiveCq).bytes, bytes);
  EXPECT_EQ(mine, theirs);

  theirs.assign(bytes, 0);
  w.a.post(Wqe(MLX5_WRITE).remote(theirs.data(), r).data(mine.data(), bytes, l));
  w.a.post(Wqe(MLX5_READ).fence().remote(theirs.data(), r).data(back.data(), bytes, b).signal());
  w.a.ring();
  EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, 0);
  EXPECT_EQ(mine, theirs);
  EXPECT_EQ(mine, back);
  w.settle();
}

// Both read and write as much as they can, both ways: neither waits for the other's reading.
TEST(Remote, floodsBothWaysEnd) {
  Wired w;
  constexpr uint32_t bytes = 3u << 20, turns = 8;
  struct End {
    Queue &q;
    Rig &rig;
    std::vector<uint8_t> memory, read;
    uint32_t own, key;
  };
  End ends[2] = {{w.a, w.here, pattern(bytes, 5), std::vector<uint8_t>(bytes), 0, 0},
                 {w.b, w.there, pattern(bytes, 6), std::vector<uint8_t>(bytes), 0, 0}};
  std::vector<uint8_t> written[2] = {std::vector<uint8_t>(bytes), std::vector<uint8_t>(bytes)};
  uint32_t into[2];
  for (int i = 0; i < 2; ++i) {
    ends[i].key = ends[i].rig.key(0, ends[i].memory.data(), bytes);
    ends[i].own = ends[i].rig.key(0, ends[i].read.data(), bytes);
    into[i] = ends[i].rig.key(0, written[i].data(), bytes);
  }
  for (int i = 0; i < 2; ++i) {
    End &me = ends[i], &other = ends[1 - i];
    for (uint32_t t = 0; t < turns; ++t) {
      me.q.post(Wqe(MLX5_READ)
                    .remote(other.memory.data(), other.key)
                    .data(me.read.data(), bytes, me.own)
                    .signal());
      me.q.post(Wqe(MLX5_WRITE)
                    .remote(written[1 - i].data(), into[1 - i])
                    .data(me.memory.data(), bytes, me.key)
                    .signal());
    }
  }
  w.a.ring();
  w.b.ring();
  for (int i = 0; i < 2; ++i)
    for (uint32_t t = 0; t < 2 * turns; ++t)
      EXPECT_EQ(await(ends[i].q, *ends[i].q.sendCq).syndrome, 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ends[i].read, ends[1 - i].memory);
    EXPECT_EQ(written[i], ends[1 - i].memory);
  }
  w.settle();
}

TEST(Remote, aMessageWaitsForItsReceive) {
  Wired w;
  w.a.post(Wqe(MLX5_SEND_IMM).immediate(1).signal());
  w.a.post(Wqe(MLX5_SEND_IMM).immediate(2).signal());
  w.a.ring();
  while (w.here.fabric.counters().rnrNaks == 0) std::this_thread::yield();
  EXPECT_FALSE(w.a.sendCq->poll());
  w.b.receive();
  w.b.receive();
  await(w.a, *w.a.sendCq);
  await(w.a, *w.a.sendCq);
  EXPECT_EQ(await(w.b, *w.b.receiveCq).immediate, 1u);
  EXPECT_EQ(await(w.b, *w.b.receiveCq).immediate, 2u);
}

TEST(Remote, aReceiverThatIsNeverReady) {
  Wired w(0, [](Wired &v) { v.here.fabric.setRetry(v.a.number(), {.rnrRetry = 2}); });
  w.a.post(send());
  w.a.post(send().signal());
  w.a.ring();
  EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, MLX5_RNR_EXCEEDED);
  EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, MLX5_FLUSHED);
  EXPECT_EQ(w.here.fabric.counters().rnrNaks, 3u);
}

TEST(Remote, keysThatOpenNothing) {
  struct Case {
    const char *what;
    int opcode;
    uint32_t access;
    int64_t shift;
    uint32_t wrong;
    uint8_t syndrome;
  };
  const Case cases[] = {
      {"a key of nobody", MLX5_WRITE, anyAccess, 0, 1, MLX5_REMOTE_ACCESS},
      {"one byte too far", MLX5_WRITE, anyAccess, 1, 0, MLX5_REMOTE_ACCESS},
      {"one byte too early", MLX5_READ, anyAccess, -1, 0, MLX5_REMOTE_ACCESS},
      {"not to be written", MLX5_WRITE, NBC_HCA_REMOTE_READ, 0, 0, MLX5_REMOTE_ACCESS},
      {"not to be read", MLX5_READ, NBC_HCA_REMOTE_WRITE, 0, 0, MLX5_REMOTE_ACCESS},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(c.what);
    Wired w;
    auto mine = pattern(200000, 1), theirs = pattern(200000, 2);
    const auto before = theirs, own = mine;
    uint32_t l = w.here.key(0, mine.data(), 200000),
             r = w.there.key(0, theirs.data(), 200000, c.access);
    w.a.post(Wqe(static_cast<uint8_t>(c.opcode))
                 .remote(theirs.data() + c.shift, r ^ c.wrong)
                 .data(mine.data(), 200000, l));
    w.a.post(send());
    w.a.ring();
    EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, c.syndrome);
    EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, MLX5_FLUSHED);
    EXPECT_EQ(w.b.failed(), c.syndrome);
    EXPECT_EQ(theirs, before);
    EXPECT_EQ(mine, own);
    w.settle();
  }
}

TEST(Remote, aReceiveThatIsTooShort) {
  Wired w;
  auto mine = pattern(200000, 1);
  uint8_t theirs[8] = {};
  uint32_t l = w.here.key(0, mine.data(), 200000), r = w.there.key(0, theirs, 8);
  w.b.receive({{theirs, 8, r}});
  w.a.post(send().data(mine.data(), 200000, l));
  w.a.ring();
  EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, MLX5_REMOTE_INVALID);
  EXPECT_EQ(await(w.b, *w.b.receiveCq).syndrome, MLX5_LOCAL_LENGTH);
}

// A queue pair hears only the one that it was connected to, whoever knows its number.
TEST(Remote, aStrangerIsNotHeard) {
  Wired w;
  Rig third(1, wired());
  Queue &c = third.queue(0);
  third.fabric.setRetry(c.number(), {.retryCount = 1, .ackTimeout = 8});
  connectTo(c, w.b);
  uint64_t mine = 1, theirs = 2;
  uint32_t l = third.key(0, &mine, 8), r = w.there.key(0, &theirs, 8);
  c.post(Wqe(MLX5_WRITE).remote(&theirs, r).data(&mine, 8, l));
  c.ring();
  EXPECT_EQ(await(c, *c.sendCq).syndrome, MLX5_RETRY_EXCEEDED);
  EXPECT_EQ(theirs, 2u);
  EXPECT_EQ(w.b.failed(), 0u);
}

// Connected later than the first message comes: it was not heard, and comes again.
TEST(Remote, aPeerThatConnectsLater) {
  Rig here(1, wired()), there(1, wired());
  Queue &a = here.queue(0), &b = there.queue(0);
  here.fabric.setRetry(a.number(), {.ackTimeout = 10});
  connectTo(a, b);
  a.post(Wqe(MLX5_SEND_IMM).immediate(1).signal());
  a.post(Wqe(MLX5_SEND_IMM).immediate(2).signal());
  a.ring();
  std::this_thread::sleep_for(std::chrono::milliseconds(6));
  b.receive();
  b.receive();
  connectTo(b, a);
  EXPECT_EQ(await(a, *a.sendCq).syndrome, 0);
  EXPECT_EQ(await(a, *a.sendCq).syndrome, 0);
  EXPECT_EQ(await(b, *b.receiveCq).immediate, 1u);
  EXPECT_EQ(await(b, *b.receiveCq).immediate, 2u);
}

TEST(Remote, addressesThatLeadNowhere) {
  Rig here(1, wired());
  Queue &a = here.queue(0);
  uint8_t address[32];
  here.ranks[0]->ops->address(here.ranks[0], address);
  address[0] ^= 1;  // nobody listens there
  EXPECT_EQ(here.ranks[0]->ops->connect_qp(here.ranks[0], a.number(), address, 70),
            NBC_ERROR_DEVICE);
  Rig plain(1, Options{});
  plain.ranks[0]->ops->address(plain.ranks[0], address);
  EXPECT_EQ(here.ranks[0]->ops->connect_qp(here.ranks[0], a.number(), address, 70),
            NBC_ERROR_DEVICE);
  Queue &p = plain.queue(0);
  here.ranks[0]->ops->address(here.ranks[0], address);
  EXPECT_EQ(plain.ranks[0]->ops->connect_qp(plain.ranks[0], p.number(), address, a.number()),
            NBC_ERROR_ARGUMENT);
}

// By the adversary, all seeds alike: order, bytes, and every message once.
TEST(Remote, orderHoldsAgainstTheAdversary) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Wired w(0, {}, seed);
    constexpr uint32_t messages = 400, bytes = 700;
    auto mine = pattern(messages * bytes, seed);
    std::vector<uint8_t> theirs(mine.size()), copy(mine.size());
    uint32_t l = w.here.key(0, mine.data(), mine.size()),
             r = w.there.key(0, theirs.data(), theirs.size()),
             c = w.here.key(0, copy.data(), copy.size());
    uint32_t received = 0, done = 0, posted = 0, receives = 0;
    while (done < messages) {
      while (receives < messages && receives - received < 8) {
        w.b.receive({{theirs.data() + size_t{receives} * bytes, bytes, r}});
        ++receives;
      }
      while (posted < messages && posted - done < 20) {
        size_t at = size_t{posted} * bytes;
        if (posted % 3 == 2)
          w.a.post(Wqe(MLX5_READ).remote(theirs.data(), r).data(copy.data() + at, bytes, c));
        w.a.post(Wqe(MLX5_SEND_IMM).immediate(posted).data(mine.data() + at, bytes, l).signal());
        ++posted;
      }
      w.a.ring();
      while (auto e = w.a.sendCq->poll()) {
        ASSERT_EQ(e->syndrome, 0);
        ++done;
      }
      while (auto e = w.b.receiveCq->poll()) {
        ASSERT_EQ(e->immediate, received);
        ++received;
      }
      w.a.hca->ops->sleep(w.a.hca, 100'000);
    }
    EXPECT_EQ(received, messages);
    EXPECT_EQ(mine, theirs);
    w.settle();
    EXPECT_GT(w.there.fabric.counters().forcedRnr + w.here.fabric.counters().rnrNaks, 0u);
  }
}

// Nobody can be sent to any more; all the same nothing waits for ever.
TEST(Remote, aFabricThatEnds) {
  Rig here(1, wired());
  auto there = std::make_unique<Rig>(1, wired());
  Queue &a = here.queue(0), &b = there->queue(0);
  here.fabric.setRetry(a.number(), {.retryCount = 2, .ackTimeout = 8});
  connectRigs(here, a, *there, b);
  b.receive();
  a.post(send().signal());
  a.ring();
  await(a, *a.sendCq);
  there.reset();
  a.post(send());
  a.ring();
  EXPECT_EQ(await(a, *a.sendCq).syndrome, MLX5_RETRY_EXCEEDED);
  EXPECT_EQ(whyFailed(a), MLX5_RETRY_EXCEEDED);
}

// Only receives wait there, so nothing of its own would ever fail.
TEST(Remote, whoSendsNothingIsToldIfItAsksForThat) {
  for (const bool asks : {true, false})
    for (const bool destroyed : {true, false}) {
      Options options = wired();
      options.keepAlive = asks;
      Rig here(1, options);
      auto there = std::make_unique<Rig>(1, options);
      Queue &a = here.queue(0), &b = there->queue(0);
      here.fabric.setRetry(a.number(), {.retryCount = 2, .ackTimeout = 8});
      connectRigs(here, a, *there, b);
      a.receive();
      b.post(send().signal());
      b.ring();
      EXPECT_EQ(await(b, *b.sendCq).syndrome, 0);
      if (destroyed)
        b.hca->ops->destroy_qp(b.hca, b.number());
      else
        there.reset();
      if (asks) {
        EXPECT_EQ(whyFailed(a), MLX5_RETRY_EXCEEDED);
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(a.failed(), 0u);
      }
      EXPECT_EQ(await(a, *a.receiveCq).syndrome, 0);  // what came before is there
    }
}

TEST(Remote, adaptersComeAndGo) {
  Rig here(1, wired()), there(1, wired());
  for (int i = 0; i < 20; ++i) {
    nbc_hca *x = here.fabric.addAdapter(), *y = there.fabric.addAdapter();
    here.ranks.push_back(x);
    there.ranks.push_back(y);
    int at = static_cast<int>(here.ranks.size()) - 1;
    Queue &a = here.queue(at), &b = there.queue(at);
    connectRigs(here, a, there, b);
    b.receive();
    a.post(send().signal());
    a.ring();
    EXPECT_EQ(await(a, *a.sendCq).syndrome, 0);
    here.fabric.removeAdapter(x);
    there.fabric.removeAdapter(y);
  }
  here.fabric.waiting();
}

TEST(Remote, simulatedTimeIsOfOneProcess) {
  Options o = Rig::simulated();
  o.wire = true;
  EXPECT_THROW(Fabric{o}, std::invalid_argument);
}

}  // namespace
}  // namespace hca::test
