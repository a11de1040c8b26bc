// SPDX-License-Identifier: BSD-3-Clause
// Simulated time: what things cost, when it is quiet, and that a seed decides everything.

#include <gtest/gtest.h>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

Options traced() {
  Options options = Rig::simulated();
  options.trace = true;
  return options;
}

Time at(const Rig &rig, Event event, uint32_t rank, int which = 0) {
  for (const Record &r : rig.fabric.trace())
    if (r.event == event && r.rank == rank && which-- == 0) return r.at;
  return -1;
}

TEST(Simulated, aMessageCostsWhatLogGpSays) {
  Rig rig(2, traced());
  Queue &a = rig.queue(0), &b = rig.queue(1);
  rig.connect(a, b);
  uint8_t data[1000];
  b.receive({{data, 1000, rig.key(1, data, 1000)}});
  a.post(send().data(data, 1000, rig.key(0, data, 1000)).signal());
  a.ring();
  rig.fabric.run();
  const LogGp cost;
  EXPECT_EQ(at(rig, Event::Doorbell, 0), cost.overhead);
  EXPECT_EQ(at(rig, Event::SendStart, 0), cost.overhead + cost.perEntry);
  Time arrival = cost.overhead + cost.perEntry + cost.latency + 1000 * cost.perByte;
  EXPECT_EQ(at(rig, Event::Deliver, 1), arrival);
  EXPECT_EQ(at(rig, Event::Completion, 0), arrival + cost.latency);
}

TEST(Simulated, whatIsReadComesFromThePeer) {
  Rig rig(2, traced());
  Queue &a = rig.queue(0), &b = rig.queue(1);
  rig.connect(a, b);
  uint8_t from[1000], to[1000];
  uint32_t key = rig.key(1, from, 1000, NBC_HCA_REMOTE_READ);
  a.post(Wqe(MLX5_READ).remote(from, key).data(to, 1000, rig.key(0, to, 1000)).signal());
  a.ring();
  rig.fabric.run();
  using Seen = std::tuple<Event, uint32_t, uint32_t, uint64_t>;
  std::vector<Seen> seen;
  for (const Record &r : rig.fabric.trace())
    if (r.event == Event::SendStart || r.event == Event::Deliver)
      seen.emplace_back(r.event, r.rank, r.peer, r.bytes);
  EXPECT_EQ(seen, (std::vector<Seen>{{Event::SendStart, 0, 1, 0},
                                     {Event::Deliver, 1, 0, 0},
                                     {Event::SendStart, 1, 0, 1000},
                                     {Event::Deliver, 0, 1, 1000}}));
}

TEST(Simulated, messagesShareThePorts) {
  Rig rig(3, traced());
  uint8_t data[10000];
  const LogGp cost;
  for (int rank : {1, 2}) {  // two send to one: the second waits for the port
    Queue &a = rig.queue(rank), &b = rig.queue(0);
    rig.connect(a, b);
    b.receive({{data, 10000, rig.key(0, data, 10000)}});
    a.post(send().data(data, 10000, rig.key(rank, data, 10000)));
    a.ring();
  }
  rig.fabric.run();
  EXPECT_EQ(at(rig, Event::Deliver, 0, 1) - at(rig, Event::Deliver, 0, 0), 10000 * cost.perByte);
}

TEST(Simulated, hostsAreBusyOneThingAfterTheOther) {
  Rig rig(1, traced());
  Queue &q = rig.management(0);
  rig.fabric.hostBusy(0, 5 * microsecond);
  q.post(nop());
  q.ring();
  q.post(nop());
  q.ring();
  rig.fabric.run();
  const LogGp cost;
  EXPECT_EQ(at(rig, Event::Doorbell, 0, 0), 5 * microsecond + cost.overhead);
  EXPECT_EQ(at(rig, Event::Doorbell, 0, 1), 5 * microsecond + 2 * cost.overhead);
}

TEST(Simulated, tellsHostsOfTheCqsTheyLookAt) {
  Rig rig(2);
  Cq &watched = rig.cq(0, 4, NBC_HCA_CQ_OVERRUN_IGNORE | NBC_HCA_CQ_HOST);
  Queue &a = rig.queue(0, {.receiveCq = &watched}), &b = rig.queue(1);
  rig.connect(a, b);
  a.receive();
  b.receive();
  a.post(send().signal());
  a.ring();
  b.post(send().signal());
  b.ring();
  std::vector<std::pair<uint32_t, uint32_t>> seen;
  rig.fabric.run([&](const Completion &c) { return seen.emplace_back(c.rank, c.cq), true; });
  // Rank 0 has said what it looks at; rank 1 has not and hears of everything.
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::pair<uint32_t, uint32_t>>{
                      {0, watched.number()}, {1, b.sendCq->number()}, {1, b.receiveCq->number()}}));
}

TEST(Simulated, callbackMayRingAndStop) {
  Rig rig(1);
  Queue &q = rig.management(0);
  q.post(nop().signal());
  q.ring();
  int entries = 0;
  hca::Run run = rig.fabric.run([&](const Completion &) {
    q.post(nop().signal());
    q.ring();
    return ++entries < 5;
  });
  EXPECT_EQ(run, Run::Stopped);
  EXPECT_EQ(entries, 5);
}

TEST(Simulated, endlessQueuesEndAtALimit) {
  Rig rig(1);
  Queue &q =
      rig.queue(0, {.flags = NBC_HCA_QP_MANAGED_SEND | NBC_HCA_QP_CROSS_CHANNEL, .logSend = 0});
  Queue &mq = rig.management(0);
  rig.connect(q, q);
  // One block that enables 2^15 - 1 further ones, which are itself.
  q.post(enable(q, 0x7fff));
  mq.post(enable(q, 1));
  mq.ring();
  EXPECT_EQ(rig.fabric.run({}, {.events = 1000}), Run::Limit);
  EXPECT_EQ(rig.fabric.run({}, {.until = 100 * microsecond}), Run::Limit);
  EXPECT_EQ(rig.fabric.now(), 100 * microsecond);
  EXPECT_EQ(rig.fabric.run(), Run::Quiet);
  EXPECT_EQ(rig.fabric.counters().enables, 0x7fffu + 1);
}

TEST(Simulated, sleepRunsToTheNextEntry) {
  Rig rig(1);
  Queue &q = rig.management(0);
  q.post(nop().signal());
  q.ring();
  q.hca->ops->sleep(q.hca, 1'000'000);
  EXPECT_LT(rig.fabric.now(), microsecond);
  EXPECT_EQ(q.sendCq->count(), 1);
  q.hca->ops->sleep(q.hca, 1'000'000);
  EXPECT_GE(rig.fabric.now(), millisecond);
}

// Four ranks, all to all, with waits: enough to leave the adversary choices.
std::vector<Record> exchange(uint64_t seed, bool adversarial) {
  Options options = traced();
  options.seed = seed;
  options.adversarial = adversarial;
  Rig rig(4, options);
  static uint8_t data[64];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j) {
      Queue &a = rig.queue(i, {.flags = NBC_HCA_QP_CROSS_CHANNEL});
      Queue &b = rig.queue(j, {.flags = NBC_HCA_QP_CROSS_CHANNEL});
      rig.connect(a, b);
      for (Queue *q : {&a, &b}) {
        int rank = q == &a ? i : j;
        uint32_t key = rig.key(rank, data, 64);
        q->receive({{data, 64, key}});
        q->receive({{data, 64, key}});
        q->post(send().data(data, 16, key).signal());
        q->post(wait(*q->receiveCq, 0));
        q->post(send().data(data, 32, key).signal());
        q->ring();
      }
    }
  EXPECT_EQ(rig.fabric.run(), Run::Quiet);
  EXPECT_TRUE(rig.fabric.waiting().empty());
  EXPECT_EQ(rig.fabric.counters().messages, 24u);
  return rig.fabric.trace();
}

TEST(Simulated, sameSeedSameTrace) {
  EXPECT_EQ(exchange(1, false), exchange(2, false));
  EXPECT_EQ(exchange(1, true), exchange(1, true));
  EXPECT_NE(exchange(1, true), exchange(2, true));
}

TEST(Simulated, adversaryKeepsTheOrderOfEachQueuePair) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::map<uint32_t, std::vector<uint64_t>> delivered;
    for (const Record &r : exchange(seed, true))
      if (r.event == Event::Deliver) delivered[r.qp].push_back(r.bytes);
    for (auto &[qp, bytes] : delivered) EXPECT_EQ(bytes, (std::vector<uint64_t>{16, 32})) << seed;
  }
}

TEST(Simulated, adversaryReordersAcrossQueues) {
  // Two messages to one rank by two queue pairs arrive in either order.
  int swapped = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Options options = traced();
    options.adversarial = true;
    options.seed = seed;
    Rig rig(2, options);
    uint32_t first = 0;
    for (int i = 0; i < 2; ++i) {
      Queue &a = rig.queue(0), &b = rig.queue(1);
      if (i == 0) first = b.number();
      rig.connect(a, b);
      b.receive();
      a.post(send());
      a.ring();
    }
    rig.fabric.run();
    for (const Record &r : rig.fabric.trace())
      if (r.event == Event::Deliver) {
        swapped += r.qp != first;
        break;
      }
  }
  EXPECT_GT(swapped, 10);
  EXPECT_LT(swapped, 90);
}

TEST(Simulated, adversaryReadsASendsBytesEarlyOrLate) {
  int early = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Options options = Rig::simulated();
    options.adversarial = true;
    options.seed = seed;
    Rig rig(2, options);
    Queue &a = rig.queue(0), &b = rig.queue(1);
    rig.connect(a, b);
    uint8_t from = 1, to = 0;
    b.receive({{&to, 1, rig.key(1, &to, 1)}});
    a.post(send().data(&from, 1, rig.key(0, &from, 1)).signal());
    a.ring();
    while (rig.fabric.counters().messages == 0) rig.fabric.run({}, {.events = 1});
    from = 2;  // before the completion: a mistake
    rig.fabric.run();
    early += to == 1;
  }
  EXPECT_GT(early, 10);
  EXPECT_LT(early, 90);
}

}  // namespace
}  // namespace hca::test
