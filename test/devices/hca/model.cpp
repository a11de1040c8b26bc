// SPDX-License-Identifier: BSD-3-Clause
// Random programs of waits, enables and operations of each kind against a model that is obviously
// right: try each queue in turn until none gets on. Where every message finds a receive, nothing
// that one queue does can undo what lets another go on; so any order, the adversary's too, ends in
// the same state. What operations move has a place of its own each, or is added up, so what is in
// memory then says which were carried out, in which order messages came, and that each was once.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

constexpr int ranks = 2, cqsOfRank = 3, queuesOfRank = 4;
constexpr int cqCount = ranks * cqsOfRank, queueCount = ranks * queuesOfRank;
constexpr int mostOperations = 10;

struct Operation {
  uint8_t opcode;
  bool signalled, fenced = false, adds = false;  // adds: two operands, by the adapter
  int what = 0;                                  // WAIT: CQ, SEND_EN: queue
  uint32_t index = 0;  // WAIT: entries before the one waited for, SEND_EN: limit; from the start
  bool usesReceive() const { return opcode == MLX5_SEND || opcode == MLX5_WRITE_IMM; }
};

/// What an operation sends: never 0, and no other's.
uint64_t valueOf(int queue, size_t operation) {
  return 1 + 16 * static_cast<uint64_t>(queue) + operation;
}

/// What has been moved, by queue.
struct Moved {
  uint64_t received[queueCount][mostOperations] = {};  // by this one's peer
  uint64_t written[queueCount][mostOperations] = {};   // likewise
  uint64_t read[queueCount][mostOperations] = {};
  uint64_t added[ranks] = {};
  bool operator==(const Moved &) const = default;
};
constexpr uint64_t addend = 1000, readable = 77;

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
        const uint8_t opcodes[] = {MLX5_NOP,     MLX5_WAIT,      MLX5_WAIT,     MLX5_SEND_EN,
                                   MLX5_SEND_EN, MLX5_SEND,      MLX5_SEND,     MLX5_WRITE,
                                   MLX5_READ,    MLX5_WRITE_IMM, MLX5_ATOMIC_FA};
        Operation o = {.opcode = opcodes[below(std::size(opcodes))],
                       .signalled = signalled,
                       .fenced = below(4) == 0,
                       .adds = below(2) != 0};
        if (o.opcode == MLX5_WAIT) {
          o.what = cq();
          o.index = static_cast<uint32_t>(below(6));
        } else if (o.opcode == MLX5_SEND_EN) {
          o.what = rank * queuesOfRank + below(queuesOfRank);
          o.index = static_cast<uint32_t>(below(11));
        }
        line.operations.push_back(o);
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
  Moved moved;
  bool operator==(const Outcome &) const = default;
};

/// The model's effect of one; `came`: messages of the queue so far that used a receive.
void carryOut(const Operation &o, int q, size_t n, Moved &moved, size_t &came) {
  const uint64_t value = valueOf(q, n);
  if (o.opcode == MLX5_SEND) moved.received[q][came] = o.adds ? value + addend : value;
  if (o.opcode == MLX5_WRITE || o.opcode == MLX5_WRITE_IMM) moved.written[q][n] = value;
  if (o.opcode == MLX5_READ) moved.read[q][n] = readable;
  if (o.opcode == MLX5_ATOMIC_FA) moved.added[peer(q) / queuesOfRank] += value;
  came += o.usesReceive();
}

Outcome model(const Program &p) {
  Outcome out;
  uint32_t next[queueCount] = {}, limit[queueCount];
  size_t came[queueCount] = {};
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
      const size_t n = next[q]++;
      const Operation &o = p.lines[q].operations[n];
      if (o.opcode == MLX5_SEND_EN) limit[o.what] = std::max(limit[o.what], o.index);
      carryOut(o, q, n, out.moved, came[q]);
      out.entries[p.lines[peer(q)].receiveCq] += o.usesReceive();
      if (o.signalled) ++out.entries[p.lines[q].sendCq];
      moved = true;
    }
  }
  for (int q = 0; q < queueCount; ++q) out.waiting += waits(q);
  return out;
}

/// All of all ranks, and what operations begin with.
struct alignas(16) Memory {
  Moved moved;
  uint64_t slots[queueCount][mostOperations][2] = {};  // received: 8 bytes, or a slot
  uint64_t operands[queueCount][mostOperations][2][2] = {};
  uint64_t values[queueCount][mostOperations] = {}, before[queueCount][mostOperations] = {};
  uint64_t constant = readable;
  Memory() {
    for (int q = 0; q < queueCount; ++q)
      for (size_t n = 0; n < mostOperations; ++n) {
        values[q][n] = valueOf(q, n);
        operands[q][n][0][0] = __builtin_bswap64(valueOf(q, n));
        operands[q][n][1][0] = __builtin_bswap64(addend);
      }
  }
};

/// The entry of an operation that carries data; `own`, `there`: keys of the memory.
Wqe carrying(const Operation &o, int q, size_t n, Memory &m, uint32_t own, uint32_t there) {
  Wqe wqe(o.opcode, o.opcode == MLX5_SEND && o.adds ? MLX5_CALC_ADD_U64 : 0);
  if (o.opcode == MLX5_WRITE || o.opcode == MLX5_WRITE_IMM)
    wqe.remote(&m.moved.written[q][n], there);
  if (o.opcode == MLX5_READ) wqe.remote(&m.constant, there).data(&m.moved.read[q][n], 8, own);
  if (o.opcode == MLX5_ATOMIC_FA)
    wqe.remote(&m.moved.added[peer(q) / queuesOfRank], there)
        .operands(valueOf(q, n), 0)
        .data(&m.before[q][n], 8, own);
  if (o.opcode == MLX5_SEND && o.adds)
    wqe.data(m.operands[q][n], sizeof m.operands[q][n], own);
  else if (o.usesReceive() || o.opcode == MLX5_WRITE)
    wqe.data(&m.values[q][n], 8, own);
  return wqe;
}

/// A slot that was received into holds 8 bytes of the host's, or a sum of the adapter's.
void takeReceived(const Program &p, Memory &m) {
  for (int q = 0; q < queueCount; ++q) {
    size_t came = 0;
    for (const Operation &o : p.lines[q].operations) {
      if (!o.usesReceive()) continue;
      const uint64_t value = m.slots[q][came][0];
      m.moved.received[q][came++] =
          o.opcode == MLX5_SEND && o.adds ? __builtin_bswap64(value) : value;
    }
  }
}

Outcome execute(const Program &p, std::mt19937_64 &random) {
  Options options = Rig::simulated();
  options.adversarial = random() % 4 != 0;
  options.seed = random();
  Rig rig(ranks, options);
  Memory memory;
  uint32_t keys[ranks];
  for (int r = 0; r < ranks; ++r) keys[r] = rig.key(r, &memory, sizeof memory);
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
    const int from = peer(static_cast<int>(q));
    const uint32_t own = keys[q / queuesOfRank], there = keys[from / queuesOfRank];
    for (auto &slot : memory.slots[from]) queues[q]->receive({{slot, sizeof slot, own}});
    for (size_t n = 0; n < p.lines[q].operations.size(); ++n) {
      const Operation &o = p.lines[q].operations[n];
      size_t what = static_cast<size_t>(o.what);
      Wqe wqe = o.opcode == MLX5_WAIT ? wait(*cqs[what], (firstEntry[what] + o.index) & 0xffffff)
                : o.opcode == MLX5_SEND_EN
                    ? enable(*queues[what], static_cast<uint16_t>(first[what] + o.index))
                    : carrying(o, static_cast<int>(q), n, memory, own, there);
      if (o.signalled) wqe.signal();
      if (o.fenced) wqe.fence();
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
  takeReceived(p, memory);
  out.moved = memory.moved;
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
