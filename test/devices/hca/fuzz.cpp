// SPDX-License-Identifier: BSD-3-Clause
// Hostile bytes: whatever stands in rings, nothing outside registered memory is touched, nothing
// crashes, and it comes to an end. Most of its worth is under ASan.

#include <gtest/gtest.h>

#include <random>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

struct Fuzz {
  static constexpr size_t bytes = 4096, guard = 512;
  std::mt19937_64 random;
  Rig rig;
  std::vector<uint8_t> memory[2];
  uint32_t keys[2];
  std::vector<Queue *> queues;

  static Options options(uint64_t seed) {
    Options o = Rig::simulated();
    o.seed = seed;
    o.adversarial = seed % 2;
    o.trace = seed % 5 == 0;
    return o;
  }

  explicit Fuzz(uint64_t seed) : random(seed), rig(2, options(seed)) {
    for (int r = 0; r < 2; ++r) {
      memory[r].assign(bytes + 2 * guard, 0xa5);
      keys[r] = rig.key(r, memory[r].data() + guard, bytes);
    }
    for (int i = 0; i < 4; ++i) {
      uint32_t both = NBC_HCA_QP_CROSS_CHANNEL | NBC_HCA_QP_MANAGED_SEND;
      Shape shape = {.flags = static_cast<uint32_t>(random()) & both,
                     .logSend = static_cast<uint32_t>(random() % 6),
                     .logReceive = static_cast<uint32_t>(random() % 4),
                     .logStride = 4 + static_cast<uint32_t>(random() % 3)};
      Queue &a = rig.queue(0, shape);
      if (random() % 2) shape.sendCq = &rig.cq(1, 0, 0);  // soon full
      Queue &b = rig.queue(1, shape);
      rig.fabric.setRetry(a.number(),
                          {.rnrRetry = static_cast<uint32_t>(random() % 8), .ackTimeout = 2});
      rig.connect(a, b);
      queues.push_back(&a);
      queues.push_back(&b);
    }
  }

  uint64_t pick(std::initializer_list<uint64_t> likely) {
    return random() % 8 == 0 ? random() : likely.begin()[random() % likely.size()];
  }

  void dataSegment(uint8_t *s) {
    int r = static_cast<int>(random() % 2);
    uint64_t at = reinterpret_cast<uintptr_t>(memory[r].data()) + guard + random() % bytes;
    mlx5_put32(s,
               static_cast<uint32_t>(pick({0, 1, 8, 16, 32, bytes, MLX5_INLINE | random() % 80})));
    mlx5_put32(s + 4, static_cast<uint32_t>(pick({keys[0], keys[1], MLX5_INVALID_LKEY})));
    mlx5_put64(s + 8, pick({at, at & ~15u, at - 100}));
  }

  void fill(Queue &q) {
    for (uint32_t block = 0; block < 1u << q.qp.log_sq; ++block) {
      uint8_t *w = q.qp.sq + block * MLX5_WQEBB;
      for (int i = 0; i < MLX5_WQEBB; ++i) w[i] = static_cast<uint8_t>(random());
      w[MLX5_CTRL_OPMOD] = static_cast<uint8_t>(pick({0, 0, 0, 1, 3}));
      w[MLX5_CTRL_OPCODE] = static_cast<uint8_t>(
          pick({MLX5_NOP, MLX5_WRITE, MLX5_WRITE_IMM, MLX5_SEND, MLX5_SEND_IMM, MLX5_WAIT,
                MLX5_READ, MLX5_ATOMIC_CS, MLX5_ATOMIC_FA, MLX5_SEND_EN}));
      w[MLX5_CTRL_DS] = static_cast<uint8_t>(pick({1, 2, 2, 3, 3, 4, 4, 6, 8}));
      w[MLX5_CTRL_FLAGS] = static_cast<uint8_t>(pick({0, MLX5_CE_ALWAYS, MLX5_FENCE_SMALL}));
      const Queue &other = *queues[random() % queues.size()];
      for (int s = 16; s < 64; s += 16) dataSegment(w + s);
      if (w[MLX5_CTRL_OPCODE] == MLX5_WAIT || w[MLX5_CTRL_OPCODE] == MLX5_SEND_EN) {
        bool waits = w[MLX5_CTRL_OPCODE] == MLX5_WAIT;
        mlx5_put32(w + 24, static_cast<uint32_t>(pick({0, 1, 2, 5, 100})));
        mlx5_put32(w + 28, static_cast<uint32_t>(
                               pick({waits ? other.receiveCq->number() : other.number()})));
      } else if (w[MLX5_CTRL_OPCODE] != MLX5_SEND && random() % 4) {
        int r = static_cast<int>(random() % 2);
        mlx5_put64(w + 16,
                   reinterpret_cast<uintptr_t>(memory[r].data()) + guard + random() % bytes);
        mlx5_put32(w + 24, keys[r]);
      }
    }
    for (uint32_t i = 0; i < 1u << q.qp.log_rq; ++i)
      for (uint32_t s = 0; s < 1u << q.qp.log_stride; s += 16)
        dataSegment(q.qp.rq + (size_t(i) << q.qp.log_stride) + s);
  }

  void check() {
    for (const std::vector<uint8_t> &m : memory)
      for (size_t i = 0; i < guard; ++i) {
        ASSERT_EQ(m[i], 0xa5);
        ASSERT_EQ(m[m.size() - 1 - i], 0xa5);
      }
  }
};

TEST(Fuzz, randomBytesInRings) {
  uint64_t executed = 0, messages = 0, errors = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Fuzz f(seed);
    for (int turn = 0; turn < 3; ++turn) {
      for (Queue *q : f.queues) f.fill(*q);
      for (Queue *q : f.queues) {
        q->qp.doorbell[0] = static_cast<uint32_t>(f.pick({0, __builtin_bswap32(3)}));
        q->posted = static_cast<uint16_t>(f.pick({1, 2, 8, 40, 0x7fff}));
        q->ring();
      }
      f.rig.fabric.run({}, {.events = 20000});
      f.rig.fabric.waiting();
    }
    f.check();
    executed += f.rig.fabric.counters().entries;
    messages += f.rig.fabric.counters().messages;
    errors += f.rig.fabric.counters().errors;
  }
  // The bytes are not so random that nothing happens.
  EXPECT_GT(executed, 20000u);
  EXPECT_GT(messages, 5000u);
  EXPECT_GT(errors, 1000u);
}

}  // namespace
}  // namespace hca::test
