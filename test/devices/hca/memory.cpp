// SPDX-License-Identifier: BSD-3-Clause
// Keys: of freed registrations never valid again, looked at when bytes move.

#include <gtest/gtest.h>

#include <set>

#include "test/devices/hca/rig.h"

namespace hca::test {
namespace {

TEST(Memory, keysAreNeverUsedTwice) {
  Rig rig(2);
  uint8_t byte;
  std::set<uint32_t> seen;
  for (int i = 0; i < 20000; ++i) {
    int rank = i % 2;
    uint32_t key = rig.key(rank, &byte, 1);
    EXPECT_TRUE(seen.insert(key).second);
    EXPECT_NE(key, uint32_t{MLX5_INVALID_LKEY});
    EXPECT_EQ(0, rig.ranks[rank]->ops->deregister_memory(rig.ranks[rank], key));
    EXPECT_NE(0, rig.ranks[rank]->ops->deregister_memory(rig.ranks[rank], key));
  }
}

TEST(Memory, freedKeysOpenNothing) {
  Rig rig(1);
  Queue &q = rig.management(0);
  uint8_t bytes[8];
  uint32_t old = rig.key(0, bytes, 8);
  rig.ranks[0]->ops->deregister_memory(rig.ranks[0], old);
  rig.key(0, bytes, 8);
  q.post(send().data(bytes, 8, old));
  q.ring();
  rig.fabric.run();
  EXPECT_EQ(q.failed(), MLX5_LOCAL_PROT);
}

TEST(Memory, freedUnderWayIsSeen) {
  Rig rig(1);
  Queue &q = rig.management(0);
  std::vector<uint8_t> big(2 << 20);  // gathered on arrival
  uint32_t key = rig.key(0, big.data(), big.size());
  uint8_t there[8];
  uint32_t target = rig.key(0, there, 8);
  q.post(Wqe(MLX5_WRITE).remote(there, target).data(big.data(), 2 << 20, key));
  q.ring();
  rig.fabric.run({}, {.until = 400 * nanosecond});
  rig.ranks[0]->ops->deregister_memory(rig.ranks[0], key);
  rig.fabric.run();
  EXPECT_EQ(q.failed(), MLX5_LOCAL_PROT);
}

TEST(Memory, registrationsMustBeSane) {
  Rig rig(1);
  uint32_t lkey, rkey;
  const nbc_hca_ops &ops = *rig.ranks[0]->ops;
  EXPECT_NE(0, ops.register_memory(rig.ranks[0], nullptr, 1, 0, &lkey, &rkey));
  EXPECT_NE(
      0, ops.register_memory(rig.ranks[0], reinterpret_cast<void *>(8), SIZE_MAX, 0, &lkey, &rkey));
  EXPECT_EQ(0, ops.register_memory(rig.ranks[0], nullptr, 0, 0, &lkey, &rkey));
}

}  // namespace
}  // namespace hca::test
