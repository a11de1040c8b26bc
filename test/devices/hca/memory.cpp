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

TEST(Memory, readOnlyIsSentFromAndNotReceivedInto) {
  Rig rig(2);
  Queue &a = rig.queue(0), &b = rig.queue(1);
  rig.connect(a, b);
  uint8_t from[8] = {1, 2, 3}, to[8] = {};
  uint32_t read = rig.key(0, from, 8, NBC_HCA_READ_ONLY | NBC_HCA_REMOTE_READ);
  uint32_t write = rig.key(1, to, 8), sealed = rig.key(1, to, 8, NBC_HCA_READ_ONLY);
  b.receive({{to, 8, write}});
  a.post(send().data(from, 8, read));
  a.ring();
  rig.fabric.run();
  EXPECT_EQ(0, memcmp(from, to, 8));

  memset(to, 0, 8);
  b.post(Wqe(MLX5_READ).remote(from, read).data(to, 8, sealed));
  b.ring();
  rig.fabric.run();
  EXPECT_EQ(b.failed(), MLX5_LOCAL_PROT);
  EXPECT_EQ(to[0], 0);

  uint32_t lkey, rkey;
  EXPECT_NE(0, rig.ranks[0]->ops->register_memory(
                   rig.ranks[0], to, 8, NBC_HCA_READ_ONLY | NBC_HCA_REMOTE_WRITE, &lkey, &rkey));
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
