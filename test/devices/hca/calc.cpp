// SPDX-License-Identifier: BSD-3-Clause
// A send with calc delivers one slot.

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

struct Slot16 {
  uint64_t value, place;  // big-endian
};

struct Calc : testing::Test {
  Rig rig{1};
  Queue &q = rig.management(0);
  alignas(16) Slot16 slots[4] = {}, result = {};
  uint32_t key = rig.key(0, this, sizeof *this);

  void put(int i, uint64_t value) {
    slots[i] = {__builtin_bswap64(value), __builtin_bswap64(i + 1)};
  }
  uint64_t reduce(uint8_t op, int n) {
    q.receive({{&result, 16, key}});
    Wqe wqe(MLX5_SEND, op);
    wqe.data(&slots[0], 16, key);  // a segment of one slot, and one of the others
    if (n > 1) wqe.data(&slots[1], 16 * static_cast<uint32_t>(n - 1), key);
    q.post(wqe);
    q.ring();
    rig.fabric.run();
    std::optional<Cqe> received = q.receiveCq->poll();
    EXPECT_TRUE(received && received->bytes == 16);
    return __builtin_bswap64(result.value);
  }
};

TEST_F(Calc, integers) {
  put(0, 0xff00ff00ff00ff00), put(1, 0x0ff00ff00ff00ff0), put(2, 0xfffffffffffffffe);
  EXPECT_EQ(reduce(MLX5_CALC_ADD_U64, 3), 0xff00ff00ff00ff00 + 0x0ff00ff00ff00ff0 - 2);
  EXPECT_EQ(result.place, 0u);
  EXPECT_EQ(reduce(MLX5_CALC_AND, 2), 0x0f000f000f000f00u);
  EXPECT_EQ(reduce(MLX5_CALC_OR, 2), 0xfff0fff0fff0fff0u);
  EXPECT_EQ(reduce(MLX5_CALC_XOR, 2), 0xf0f0f0f0f0f0f0f0u);
  EXPECT_EQ(reduce(MLX5_CALC_XOR, 1), 0xff00ff00ff00ff00u);
}

TEST_F(Calc, maximumSaysWhereItIsFrom) {
  put(0, 5), put(1, 0x8000000000000000), put(2, 7), put(3, 0x8000000000000000);
  EXPECT_EQ(reduce(MLX5_CALC_MAX_U64, 4), 0x8000000000000000u);
  EXPECT_EQ(__builtin_bswap64(result.place), 2u);
}

TEST_F(Calc, doubles) {
  put(0, std::bit_cast<uint64_t>(1.5)), put(1, std::bit_cast<uint64_t>(-0.25));
  EXPECT_EQ(std::bit_cast<double>(reduce(MLX5_CALC_ADD_F64, 2)), 1.25);
}

// Any operands in any segments: what one slot after the other gives.
TEST(CalcOfAny, operandsInAnySegments) {
  constexpr int most = 40;
  alignas(16) Slot16 slots[most], result;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    std::mt19937_64 random(seed);
    Rig rig(1);
    Queue &q = rig.management(0);
    uint32_t key = rig.key(0, slots, sizeof slots), there = rig.key(0, &result, 16);
    auto op = static_cast<uint8_t>(MLX5_CALC_ADD_U64 + random() % MLX5_CALC_XOR);
    int count = 1 + static_cast<int>(random() % most);
    uint64_t value = 0, place = 0;
    for (int i = 0; i < count; ++i) {
      uint64_t next = op == MLX5_CALC_ADD_F64
                          ? std::bit_cast<uint64_t>(static_cast<double>(random() % 1000) / 8)
                          : random() >> random() % 60;
      slots[i] = {__builtin_bswap64(next), __builtin_bswap64(random())};
      bool takes = i == 0 || (op == MLX5_CALC_MAX_U64 && next > value);
      if (takes && op == MLX5_CALC_MAX_U64) place = __builtin_bswap64(slots[i].place);
      if (i == 0 || takes)
        value = next;
      else if (op == MLX5_CALC_ADD_U64)
        value += next;
      else if (op == MLX5_CALC_ADD_F64)
        value = std::bit_cast<uint64_t>(std::bit_cast<double>(value) + std::bit_cast<double>(next));
      else if (op == MLX5_CALC_AND)
        value &= next;
      else if (op == MLX5_CALC_OR)
        value |= next;
      else if (op == MLX5_CALC_XOR)
        value ^= next;
    }
    Wqe wqe = Wqe(MLX5_WRITE, op).remote(&result, there);
    int segments = 0;
    for (int at = 0; at < count;) {
      int n = ++segments == 20 ? count - at : 1 + static_cast<int>(random() % (count - at));
      wqe.data(&slots[at], 16 * static_cast<uint32_t>(n), key);
      at += n;
    }
    q.post(wqe.signal());
    q.ring();
    rig.fabric.run();
    ASSERT_EQ(q.sendCq->poll()->syndrome, 0) << "seed " << seed;
    ASSERT_EQ(__builtin_bswap64(result.value), value) << "seed " << seed;
    ASSERT_EQ(__builtin_bswap64(result.place), place) << "seed " << seed;
  }
}

TEST_F(Calc, needsACrossChannelQueueAndTheDevice) {
  Queue &plain = rig.queue(0);
  rig.connect(plain, plain);
  plain.post(Wqe(MLX5_SEND, MLX5_CALC_ADD_U64).data(&slots[0], 32, key));
  plain.ring();
  rig.fabric.run();
  EXPECT_EQ(plain.failed(), MLX5_LOCAL_QP_OP);

  Options options = Rig::simulated();
  options.facts.calc = 1u << MLX5_CALC_OR;
  Rig poor(1, options);
  Queue &master = poor.management(0);
  master.post(Wqe(MLX5_SEND, MLX5_CALC_ADD_U64).data(&slots[0], 32, poor.key(0, slots, 64)));
  master.ring();
  poor.fabric.run();
  EXPECT_EQ(master.failed(), MLX5_LOCAL_QP_OP);
}

}  // namespace
}  // namespace hca::test
