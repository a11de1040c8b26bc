// SPDX-License-Identifier: BSD-3-Clause
// Messages meet in order, end in any order that MPI allows, and what MPI forbids is found.

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>

#include "devices/p2p/p2p.h"

namespace {

struct Rig {
  p2p::Fabric fabric;
  nbc_p2p *a, *b;

  explicit Rig(p2p::Options o = {.mode = p2p::Mode::Simulated})
      : fabric(o), a(fabric.addEndpoint()), b(fabric.addEndpoint()) {}
  static p2p::Options adversary(uint64_t seed) {
    return {.mode = p2p::Mode::Simulated, .seed = seed, .adversarial = true};
  }
  nbc_p2p_message send(const void *from, uint64_t bytes, uint32_t tag = 0) {
    nbc_p2p_message m;
    EXPECT_EQ(a->ops->send(a, from, bytes, 1, tag, &m), 0);
    return m;
  }
  nbc_p2p_message receive(void *to, uint64_t bytes, uint32_t tag = 0) {
    nbc_p2p_message m;
    EXPECT_EQ(b->ops->receive(b, to, bytes, 0, tag, &m), 0);
    return m;
  }
  int test(nbc_p2p_message &m) { return a->ops->test(a, &m); }
};

TEST(Messages, meetInOrderAndByTag) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rig rig(seed ? Rig::adversary(seed) : p2p::Options{.mode = p2p::Mode::Simulated});
    const char sent[6][2] = {"a", "b", "c", "d", "e", "f"};
    char got[6][2] = {};
    std::vector<nbc_p2p_message> open;
    for (uint32_t i = 0; i < 6; ++i) {
      if (seed % 2) open.push_back(rig.send(sent[i], 2, i % 2));
      open.push_back(rig.receive(got[i], 2, i % 2));
      if (seed % 2 == 0) open.push_back(rig.send(sent[i], 2, i % 2));
    }
    EXPECT_EQ(rig.fabric.run(), p2p::Run::Quiet);
    for (nbc_p2p_message &m : open) EXPECT_EQ(rig.test(m), 1);
    EXPECT_EQ(std::memcmp(got, sent, sizeof got), 0);
    EXPECT_TRUE(rig.fabric.waiting().empty());
    EXPECT_TRUE(rig.fabric.findings().empty());
    EXPECT_EQ(rig.fabric.counters().messages, 6u);
    EXPECT_EQ(rig.fabric.counters().bytes, 12u);
  }
}

TEST(Messages, anAdversaryDoesAllThatMpiAllows) {
  std::set<std::string> orders;
  bool early = false, late = false, overwritten = false;
  for (uint64_t seed = 1; seed < 100; ++seed) {
    Rig rig(Rig::adversary(seed));
    char sent = 'x', got[3] = {};
    nbc_p2p_message sends[3], receives[3];
    for (nbc_p2p_message &m : sends) m = rig.send(&sent, 1);
    rig.fabric.run();
    // Nobody has received: only what was buffered may be over.
    int over = 0;
    std::vector<nbc_p2p_message *> rest;
    for (nbc_p2p_message &m : sends) rig.test(m) ? void(++over) : rest.push_back(&m);
    early |= over > 0;
    late |= over < 3;
    EXPECT_EQ(rig.fabric.counters().buffered, uint64_t(over));
    EXPECT_EQ(rig.fabric.waiting().size(), rest.size());
    for (int i = 0; i < 3; ++i) {
      receives[i] = rig.receive(&got[i], 1);
      overwritten |= got[i] != 0;
    }
    std::string order;
    bool done[3] = {};
    rig.fabric.run([&](uint32_t rank) {
      for (int i = 0; rank == 1 && i < 3; ++i)
        if (!done[i] && rig.test(receives[i])) done[i] = true, order += char('0' + i);
      return true;
    });
    orders.insert(order);
    for (nbc_p2p_message *m : rest) EXPECT_EQ(rig.test(*m), 1);
    EXPECT_EQ(std::string(got, 3), "xxx");
  }
  EXPECT_TRUE(early && late && overwritten);
  EXPECT_EQ(orders.size(), 6u);  // any order, and nothing but whole ones
}

TEST(Messages, aSendIsReadLateWhereItIsNotBuffered) {
  bool read_late = false;
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Rig rig(Rig::adversary(seed));
    char sent = 'x', got = 0;
    nbc_p2p_message s = rig.send(&sent, 1), r = rig.receive(&got, 1);
    sent = 'y';  // which no program may do
    rig.fabric.run();
    EXPECT_EQ(rig.test(s) + rig.test(r), 2);
    EXPECT_EQ(got == 'y', rig.fabric.counters().buffered == 0);
    read_late |= got == 'y';
  }
  EXPECT_TRUE(read_late);
}

TEST(Messages, whatMpiForbidsIsFound) {
  Rig rig(Rig::adversary(3));
  char bytes[16] = {};
  nbc_p2p_message a = rig.receive(bytes, 8), b = rig.receive(bytes + 7, 8);
  ASSERT_EQ(rig.fabric.findings().size(), 1u);
  EXPECT_EQ(
      rig.fabric.findings()[0],
      "rank 1: a receive of 8 bytes shares memory with a receive from rank 0 that is under way");
  rig.b->ops->forget(rig.b, &a, 0);
  rig.b->ops->forget(rig.b, &b, 0);
  char two[2];
  nbc_p2p_message s = rig.send("x", 1), t = rig.send("y", 1), r = rig.receive(two, 2);
  EXPECT_EQ(rig.fabric.findings()[1], "rank 1 receives 2 bytes where rank 0 sends 1");
  EXPECT_EQ(rig.test(s), NBC_ERROR_DEVICE);
  EXPECT_EQ(rig.test(r), NBC_ERROR_DEVICE);
  rig.a->ops->forget(rig.a, &t, 1);
}

TEST(Messages, whatIsForgottenTouchesNoMemory) {
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Rig rig(Rig::adversary(seed));
    auto sent = std::make_unique<char>('x'), gone = std::make_unique<char>();
    char got = 0;
    nbc_p2p_message r = rig.receive(gone.get(), 1), unmet = rig.receive(gone.get(), 0);
    EXPECT_EQ(rig.b->ops->forget(rig.b, &unmet, 0), 0);
    nbc_p2p_message s = rig.send(sent.get(), 1), late = rig.send(sent.get(), 1);
    EXPECT_EQ(rig.b->ops->forget(rig.b, &r, 0), 0);
    EXPECT_EQ(rig.a->ops->forget(rig.a, &s, 1), 0);
    EXPECT_EQ(rig.a->ops->forget(rig.a, &late, 1), 0);
    *sent = 'y';
    sent.reset(), gone.reset();
    nbc_p2p_message then = rig.receive(&got, 1);
    rig.fabric.run();
    EXPECT_EQ(rig.test(then), 1);
    EXPECT_EQ(got, 'x');
  }
}

TEST(Messages, whatCannotBeIsRefused) {
  Rig rig({.mode = p2p::Mode::Simulated, .largestTag = 5, .longest = 10});
  nbc_p2p_message m;
  char c[11];
  EXPECT_EQ(rig.a->ops->send(rig.a, c, 1, 2, 0, &m), NBC_ERROR_ARGUMENT);  // there are two
  EXPECT_EQ(rig.a->ops->send(rig.a, c, 1, 0, 0, &m), NBC_ERROR_ARGUMENT);  // oneself
  EXPECT_EQ(rig.a->ops->send(rig.a, c, 1, 1, 6, &m), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(rig.a->ops->send(rig.a, c, 11, 1, 5, &m), NBC_ERROR_TOO_LONG);
  rig.fabric.kill(1);
  EXPECT_EQ(rig.a->ops->receive(rig.a, c, 1, 1, 0, &m), NBC_ERROR_DEVICE);
}

TEST(Messages, whoeverMeetsTheDeadFails) {
  Rig rig;
  char c = 0;
  nbc_p2p_message s = rig.send(&c, 1);
  rig.fabric.run();
  EXPECT_EQ(rig.test(s), 1);  // buffered
  nbc_p2p_message r;
  ASSERT_EQ(rig.a->ops->receive(rig.a, &c, 1, 1, 0, &r), 0);
  rig.fabric.kill(1);
  EXPECT_EQ(rig.test(r), NBC_ERROR_DEVICE);
}

TEST(Messages, timeFollowsLogGp) {
  p2p::LogGp cost = {.latency = 1000, .overhead = 10, .gap = 100, .perByte = 1};
  Rig rig({.mode = p2p::Mode::Simulated, .cost = cost, .trace = true});
  std::vector<char> bytes(500), got(500);
  nbc_p2p_message m[4] = {rig.receive(got.data(), 500), rig.receive(got.data(), 1),
                          rig.send(bytes.data(), 500), rig.send(bytes.data(), 1)};
  rig.fabric.run();
  for (nbc_p2p_message &one : m) EXPECT_EQ(rig.test(one), 1);
  // o, then L and n G; the second leaves when the port is free again, and needs g of the other.
  std::vector<p2p::Transfer> wanted = {{0, 1, 10, 1510, 500}, {0, 1, 510, 1610, 1}};
  EXPECT_EQ(rig.fabric.trace(), wanted);
}

TEST(Messages, betweenThreads) {
  for (bool adversarial : {false, true}) {
    Rig rig({.mode = p2p::Mode::RealTime, .seed = 5, .adversarial = adversarial});
    constexpr int rounds = 300;
    auto ends = [&](nbc_p2p *end, uint32_t peer) {
      for (int i = 0; i < rounds; ++i) {
        int out = i + int(peer), in = -1;
        nbc_p2p_message s, r;
        ASSERT_EQ(end->ops->send(end, &out, sizeof out, peer, 0, &s), 0);
        ASSERT_EQ(end->ops->receive(end, &in, sizeof in, peer, 0, &r), 0);
        for (bool sent = false, got = false; !sent || !got;) {
          if (!got) got = end->ops->test(end, &r) == 1;
          if (!sent) sent = end->ops->test(end, &s) == 1;
          if (!sent || !got) end->ops->sleep(end, 1'000'000);
        }
        ASSERT_EQ(in, i + 1 - int(peer));
      }
    };
    std::thread other(ends, rig.b, 0);
    ends(rig.a, 1);
    other.join();
  }
}

}  // namespace
