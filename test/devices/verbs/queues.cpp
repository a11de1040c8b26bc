// SPDX-License-Identifier: BSD-3-Clause
// What queues hold: unsignalled sends, full and wrapping rings, what is refused; facts.

#include <algorithm>

#include "test/devices/verbs/rig.h"

namespace verbs::test {
namespace {

TEST(Queues, oneSignalledSendRetiresThoseBeforeIt) {
  Rig rig(simulated);
  End &a = rig.end(0, {.sends = 4}), &b = rig.end(1, {.receives = 64});
  rig.connect(a, b);
  for (uint64_t i = 0; i < 48; ++i) b.receive(i);
  for (uint64_t lap = 0; lap < 12; ++lap) {
    a.post({send(1), send(2), send(3), send(4 + lap).signal()});
    EXPECT_EQ(a.tryPost({send(9)}), NBC_ERROR_RESOURCES);
    EXPECT_EQ(a.await().wr_id, 4 + lap);
    EXPECT_TRUE(a.poll().empty());
    EXPECT_EQ(b.poll().size(), 4u);
  }
}

TEST(Queues, aChainCostsOneDoorbell) {
  Rig rig(simulated);
  End &a = rig.end(0, {.sends = 8}), &b = rig.end(1);
  rig.connect(a, b);
  for (uint64_t i = 0; i < 8; ++i) b.receive(i);
  a.post(std::vector<Request>(7, send(0)));
  a.post(send(7).signal());
  a.await();
  EXPECT_EQ(rig.fabric.counters().messages, 8u);
  auto trace = rig.fabric.trace();
  EXPECT_EQ(std::ranges::count(trace, hca::Event::Doorbell, &hca::Record::event), 2);
}

TEST(Queues, entriesOfSeveralBlocksWrap) {
  for (uint32_t first : {0u, 1u, 2u, 3u, 0xfffdu}) {
    Rig rig({"", hca::Mode::Simulated, false, first}, {.inlineBytes = 400});
    End &a = rig.end(0, {.sends = 3, .gather = 30, .inlineBytes = 400}), &b = rig.end(1);
    rig.connect(a, b);
    Memory from(a.verbs, 400), to(b.verbs, 400);
    for (uint8_t i = 0; i < 40; ++i) {
      from.fill(i);
      b.receive(1, to.all());
      if (i % 3 == 1) {  // 2, 7 and 9 blocks
        std::vector<ibv_sge> bytes;
        for (size_t at = 0; at < 90; at += 9) bytes.push_back(from.part(at, 9));
        for (size_t at = 90; at < 390; at += 20) bytes.push_back(from.part(at, 20));
        a.post(send(i, bytes).signal());
        EXPECT_EQ(b.await().byte_len, 390u);
      } else {
        a.post(send(i, {from.part(0, i % 3 ? 400 : 90)}).inlined().signal());
        EXPECT_EQ(b.await().byte_len, i % 3 ? 400u : 90u);
      }
      EXPECT_EQ(a.await().wr_id, i);
      EXPECT_EQ(0, memcmp(from.bytes.data(), to.bytes.data(), 90));
    }
    EXPECT_EQ(rig.fabric.findings(), std::vector<std::string>{});
  }
}

TEST(Queues, theLongestEntriesFitAsOftenAsWasAskedFor) {
  Rig rig(simulated);
  End &a = rig.end(0, {.sends = 4, .gather = 3, .inlineBytes = 0}), &b = rig.end(1);
  rig.connect(a, b);
  Memory from(a.verbs, 12), to(b.verbs, 12);
  from.fill(1);
  std::vector<Request> chain;  // of five segments each: two blocks
  for (size_t i = 0; i < 12; i += 3)
    chain.push_back(
        write(i, {from.part(i, 1), from.part(i + 1, 1), from.part(i + 2, 1)}).remote(to, i));
  chain.back().signal();
  a.post(chain);
  EXPECT_EQ(a.await().wr_id, 9u);
  EXPECT_EQ(from.bytes, to.bytes);
}

TEST(Queues, pollGivesNoMoreThanItIsAskedFor) {
  Rig rig(simulated);
  End &a = rig.end(0), &b = rig.end(1);
  rig.connect(a, b);
  for (uint64_t i = 0; i < 5; ++i) b.receive(i);
  a.post(std::vector<Request>(5, send(0)));
  rig.fabric.run();
  EXPECT_EQ(b.poll(3).size(), 3u);
  EXPECT_EQ(b.poll(3).size(), 2u);
  EXPECT_EQ(b.poll(3).size(), 0u);
}

TEST(Queues, whatCannotBeIsRefusedAndEndsTheChain) {
  Rig rig(simulated);
  End &a = rig.end(0, {.gather = 2, .inlineBytes = 8}), &b = rig.end(1);
  Memory m(a.verbs, 64);
  EXPECT_EQ(a.tryPost({send(1)}), NBC_ERROR_ARGUMENT) << "not connected";
  rig.connect(a, b);
  for (uint64_t i = 0; i < 4; ++i) b.receive(i, {});
  Request tooMany = send(1, {m.part(0, 1), m.part(1, 1), m.part(2, 1)});
  EXPECT_EQ(a.tryPost({send(1), tooMany, send(2)}), NBC_ERROR_ARGUMENT);
  rig.fabric.run();
  EXPECT_EQ(b.poll().size(), 1u);
  EXPECT_EQ(a.tryPost({send(1, {m.part(0, 9)}).inlined()}), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(a.tryPost({read(1, {m.part(0, 1)}).remote(m).inlined()}), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(a.tryPost({Request(1, IBV_WR_ATOMIC_CMP_AND_SWP, {m.part(0, 8)})}), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(a.tryPost({send(1, {{m.part(0, 1).addr, 1u << 31, m.lkey}})}), NBC_ERROR_ARGUMENT);
  Request solicited = send(1);
  solicited.wr.send_flags = IBV_SEND_SOLICITED;
  EXPECT_EQ(a.tryPost({solicited}), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(a.failed(), NBC_OK);
}

TEST(Queues, aReceiveMayHaveSeveralSegments) {
  for (const uint32_t scatter : {1u, 2u, 3u}) {
    Rig rig(simulated);
    End &a = rig.end(0), &b = rig.end(1, {.scatter = scatter});
    rig.connect(a, b);
    Memory from(a.verbs, 12), to(b.verbs, 40);
    from.fill(1);
    const std::vector<ibv_sge> three = {to.part(20, 5), to.part(0, 3), to.part(30, 9)};
    EXPECT_EQ(b.tryReceive(1, three), scatter < 3 ? NBC_ERROR_ARGUMENT : 0);
    if (scatter < 3) continue;
    EXPECT_EQ(b.tryReceive(2, three[2]), 0);
    a.post({send(1, {from.all()}), send(2, {from.part(0, 2)}).signal()});
    a.await();
    const uint8_t *at = from.bytes.data();
    EXPECT_EQ(0, memcmp(at, &to.bytes[20], 5));
    EXPECT_EQ(0, memcmp(at + 5, &to.bytes[0], 3));
    EXPECT_EQ(0, memcmp(at, &to.bytes[30], 2)) << "the second, over the first";
    EXPECT_EQ(at[10], to.bytes[32]);
  }
}

TEST(Queues, whatFindsNoReceiveComesAgainWhenTheReceiverSays) {
  // Microseconds: code 12 where nothing is said.
  for (const auto &[timer, pause] : {std::pair{0u, 640u}, {1u, 10u}, {31u, 491520u}}) {
    Rig rig(simulated);
    End &a = rig.end(0), &b = rig.end(1, {.rnrTimer = timer});
    rig.connect(a, b);
    a.post(send(1));
    rig.fabric.run();
    EXPECT_EQ(rig.fabric.counters().rnrNaks, 1u);
    b.receive(1);
    EXPECT_EQ(b.await().wr_id, 1u);
    EXPECT_GE(rig.fabric.now(), pause * hca::microsecond);
    EXPECT_LT(rig.fabric.now(), (pause + 10) * hca::microsecond);
  }
}

TEST(Queues, aFenceWaitsForWhatIsRead) {
  for (const Way &way : ways) {
    Rig rig(way);
    End &a = rig.end(0), &b = rig.end(1);
    rig.connect(a, b);
    Memory mine(a.verbs, 8), theirs(b.verbs, 16);
    theirs.fill(3);
    a.post({read(1, {mine.all()}).remote(theirs),
            write(2, {mine.all()}).remote(theirs, 8).fenced().signal()});
    EXPECT_EQ(a.await().wr_id, 2u);
    EXPECT_EQ(0, memcmp(&theirs.bytes[0], &theirs.bytes[8], 8))
        << "what was read is what was written";
  }
}

TEST(Queues, receivesAreAsManyAsWereAskedFor) {
  Rig rig(simulated);
  End &a = rig.end(0, {.receives = 3});
  for (uint64_t i = 0; i < 3; ++i) a.receive(i);
  EXPECT_EQ(a.tryReceive(3, ibv_sge{}), NBC_ERROR_RESOURCES);
}

TEST(Queues, factsAreTheOptionsWithinWhatTheAdapterCan) {
  auto factsOf = [](const Options &options) {
    Rig rig(simulated, options);
    nbc_verbs_facts f;
    rig.ranks[0]->ops->facts(rig.ranks[0].get(), &f);
    return f;
  };
  nbc_verbs_facts usual = factsOf({});
  EXPECT_EQ(usual.gather, 30u);
  EXPECT_EQ(usual.queue, 4095u);
  EXPECT_EQ(usual.inline_bytes, 220u);
  EXPECT_EQ(usual.longest, 1u << 30);
  EXPECT_EQ(usual.rendezvous, NBC_VERBS_WRITE);
  nbc_verbs_facts small = factsOf({.rendezvous = NBC_VERBS_READ,
                                   .longest = 100,
                                   .gather = 1,
                                   .queue = 5,
                                   .completions = 64,
                                   .inlineBytes = 0,
                                   .reads = 2});
  EXPECT_EQ(small.gather, 1u);
  EXPECT_EQ(small.queue, 5u);
  EXPECT_EQ(small.completions, 64u);
  EXPECT_EQ(small.inline_bytes, 0u);
  EXPECT_EQ(small.reads, 2u);
  EXPECT_EQ(small.longest, 100u);
  EXPECT_EQ(small.rendezvous, NBC_VERBS_READ);
  nbc_verbs_facts large = factsOf({.longest = UINT64_MAX, .gather = 1000, .inlineBytes = 100000});
  EXPECT_EQ(large.gather, 30u);
  EXPECT_EQ(large.inline_bytes, 972u);
  EXPECT_EQ(large.longest, 1u << 30);
}

TEST(Queues, theLongestQueueCanBeFilled) {
  Rig rig(simulated);
  nbc_verbs_facts f;
  rig.ranks[0]->ops->facts(rig.ranks[0].get(), &f);
  Shape shape = {.sends = f.queue,
                 .receives = f.queue,
                 .gather = f.gather,
                 .inlineBytes = f.inline_bytes,
                 .entries = f.queue};
  End &a = rig.end(0, shape), &b = rig.end(1, shape);
  rig.connect(a, b);
  Memory from(a.verbs, f.gather), to(b.verbs, f.gather);
  std::vector<ibv_sge> bytes;
  for (uint32_t i = 0; i < f.gather; ++i) bytes.push_back(from.part(i, 1));
  for (uint64_t i = 0; i < f.queue; ++i) b.receive(i, to.all());
  a.post(std::vector<Request>(f.queue, send(1, bytes)));
  rig.fabric.run();
  EXPECT_EQ(b.poll(1 << 16).size(), f.queue);

  nbc_verbs_queue_wish wish = {a.cq, f.queue + 1, 1, 1, 0};
  void *qp;
  uint32_t number;
  EXPECT_EQ(a.verbs->ops->create_qp(a.verbs, &wish, &qp, &number), NBC_ERROR_RESOURCES);
  wish = {a.cq, 1, 1, f.gather + 1, 0};
  EXPECT_EQ(a.verbs->ops->create_qp(a.verbs, &wish, &qp, &number), NBC_ERROR_RESOURCES);
  wish = {a.cq, 1, 1, 1, f.inline_bytes + 1};
  EXPECT_EQ(a.verbs->ops->create_qp(a.verbs, &wish, &qp, &number), NBC_ERROR_RESOURCES);
}

TEST(Queues, whatAQueuePairLeavesBehindIsPassedOver) {
  Rig rig(simulated);
  End &a = rig.end(0), &b = rig.end(1), &c = rig.end(1, {.shares = &b}), &d = rig.end(0);
  rig.connect(a, b);
  rig.connect(d, c);
  b.receive(1);
  c.receive(2);
  a.post(send(1));
  rig.fabric.run();
  d.post(send(1));
  rig.fabric.run();
  b.verbs->ops->destroy_qp(b.verbs, b.qp);
  b.qp = nullptr;
  auto wc = b.poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].wr_id, 2u);
  b.verbs->ops->destroy_cq(b.verbs, nullptr);
}

}  // namespace
}  // namespace verbs::test
