// SPDX-License-Identifier: BSD-3-Clause
// Random programs of NOP, WAIT, SEND_EN and SEND against a model that is obviously right: try each
// queue in turn until none gets on. Where every message finds a receive, nothing that one queue
// does can undo what lets another go on; so any order, the adversary's too, ends in the same state.

#include <gtest/gtest.h>

#include <random>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

constexpr int ranks = 2, cqsOfRank = 3, queuesOfRank = 4;
constexpr int cqCount = ranks * cqsOfRank, queueCount = ranks * queuesOfRank;

struct Operation {
  uint8_t opcode;
  bool signalled;
  int what = 0;        // WAIT: CQ, SEND_EN: queue
  uint32_t index = 0;  // WAIT: entries before the one waited for, SEND_EN: limit; from the start
};

struct Program {
  struct Line {
    bool managed;
    int sendCq, receiveCq;
    std::vector<Operation> operations;
  };
  Line lines[queueCount];

  explicit Program(std::mt19937_64 &random) {
    auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int q = 0; q < queueCount; ++q) {
      int rank = q / queuesOfRank;
      auto cq = [&] { return rank * cqsOfRank + below(cqsOfRank); };
      Line &line = lines[q];
      line = {below(3) != 0, cq(), cq(), {}};
      for (int n = 2 + below(8); n > 0; --n) {
        bool signalled = below(2);
        switch (below(4)) {
          case 0:
            line.operations.push_back({MLX5_NOP, signalled});
            break;
          case 1:
            line.operations.push_back({MLX5_SEND, signalled});
            break;
          case 2:
            line.operations.push_back(
                {MLX5_WAIT, signalled, cq(), static_cast<uint32_t>(below(6))});
            break;
          case 3:
            line.operations.push_back({MLX5_SEND_EN, signalled,
                                       rank * queuesOfRank + below(queuesOfRank),
                                       static_cast<uint32_t>(below(11))});
            break;
        }
      }
    }
    // An enable names a managed queue, and no more than it holds.
    for (Line &line : lines)
      for (Operation &o : line.operations)
        if (o.opcode == MLX5_SEND_EN) {
          if (!lines[o.what].managed) o.opcode = MLX5_NOP;
          o.index = std::min<uint32_t>(o.index, lines[o.what].operations.size());
        }
  }
};

/// Queue q is connected to the one with its place on the other rank.
int peer(int q) {
  return (q + queuesOfRank) % queueCount;
}

struct Outcome {
  int entries[cqCount] = {};
  int waiting = 0;
  bool operator==(const Outcome &) const = default;
};

Outcome model(const Program &p) {
  Outcome out;
  uint32_t next[queueCount] = {}, limit[queueCount];
  for (int q = 0; q < queueCount; ++q)
    limit[q] = p.lines[q].managed ? 0 : static_cast<uint32_t>(p.lines[q].operations.size());
  auto waits = [&](int q) {
    if (next[q] >= limit[q]) return false;
    const Operation &o = p.lines[q].operations[next[q]];
    return o.opcode == MLX5_WAIT && out.entries[o.what] <= static_cast<int>(o.index);
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (int q = 0; q < queueCount; ++q) {
      if (next[q] >= limit[q] || waits(q)) continue;
      const Operation &o = p.lines[q].operations[next[q]++];
      if (o.opcode == MLX5_SEND_EN) limit[o.what] = std::max(limit[o.what], o.index);
      if (o.opcode == MLX5_SEND) ++out.entries[p.lines[peer(q)].receiveCq];
      if (o.signalled) ++out.entries[p.lines[q].sendCq];
      moved = true;
    }
  }
  for (int q = 0; q < queueCount; ++q) out.waiting += waits(q);
  return out;
}

Outcome execute(const Program &p, std::mt19937_64 &random) {
  Options options = Rig::simulated();
  options.adversarial = random() % 4 != 0;
  options.seed = random();
  Rig rig(ranks, options);
  std::vector<Cq *> cqs;
  std::vector<uint32_t> firstEntry;
  std::vector<Queue *> queues;
  std::vector<uint16_t> first;
  for (int c = 0; c < cqCount; ++c) {
    nbc_hca *hca = rig.ranks[static_cast<size_t>(c / cqsOfRank)];
    Cq &cq = rig.cq(c / cqsOfRank, 8);
    firstEntry.push_back((0xffffff - static_cast<uint32_t>(random() % 6)) & MLX5_CQ_INDEX_MASK);
    demand(hca->ops->start_cq_at(hca, cq.number(), firstEntry.back()) == 0);
    cq.next = firstEntry.back();
    cqs.push_back(&cq);
  }
  for (int q = 0; q < queueCount; ++q) {
    const Program::Line &line = p.lines[q];
    Queue &queue = rig.queue(q / queuesOfRank,
                             {.flags = NBC_HCA_QP_CROSS_CHANNEL |
                                       (line.managed ? uint32_t{NBC_HCA_QP_MANAGED_SEND} : 0u),
                              .sendCq = cqs[static_cast<size_t>(line.sendCq)],
                              .receiveCq = cqs[static_cast<size_t>(line.receiveCq)]});
    first.push_back(static_cast<uint16_t>(0xffff - random() % 6));
    uint16_t firstReceive = static_cast<uint16_t>(0xffff - random() % 6);
    demand(queue.hca->ops->start_queue_at(queue.hca, queue.number(), first.back(), firstReceive) ==
           0);
    queue.posted = first.back();
    queue.receives = firstReceive;
    queues.push_back(&queue);
  }
  for (int q = 0; q < queuesOfRank; ++q)
    rig.connect(*queues[static_cast<size_t>(q)], *queues[static_cast<size_t>(peer(q))]);
  for (size_t q = 0; q < queues.size(); ++q) {
    for (int i = 0; i < 10; ++i) queues[q]->receive();
    for (const Operation &o : p.lines[q].operations) {
      size_t what = static_cast<size_t>(o.what);
      Wqe wqe = o.opcode == MLX5_WAIT ? wait(*cqs[what], (firstEntry[what] + o.index) & 0xffffff)
                : o.opcode == MLX5_SEND_EN
                    ? enable(*queues[what], static_cast<uint16_t>(first[what] + o.index))
                    : Wqe(o.opcode);
      if (o.signalled) wqe.signal();
      queues[q]->post(wqe);
    }
  }
  for (size_t q = 0; q < queues.size(); ++q)
    if (!p.lines[q].managed) queues[q]->ring();
  EXPECT_EQ(rig.fabric.run(), Run::Quiet);
  EXPECT_TRUE(rig.fabric.findings().empty()) << rig.fabric.findings()[0];

  Outcome out;
  for (int c = 0; c < cqCount; ++c) out.entries[c] = cqs[static_cast<size_t>(c)]->count();
  out.waiting = static_cast<int>(rig.fabric.waiting().size());
  return out;
}

TEST(Model, randomProgramsEndAsTheModelSays) {
  int stuck = 0, messages = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    Program program(random);
    Outcome expected = model(program);
    ASSERT_EQ(execute(program, random), expected) << "seed " << seed;
    stuck += expected.waiting > 0;
    for (int entries : expected.entries) messages += entries;
  }
  // Both ends occur, and the programs do something.
  EXPECT_GT(stuck, 300);
  EXPECT_LT(stuck, 2900);
  EXPECT_GT(messages, 10000);
}

}  // namespace
}  // namespace hca::test
