// SPDX-License-Identifier: BSD-3-Clause
// The cache of registrations: hits, room made for others, memory forgotten.

#include <gtest/gtest.h>

#include <set>

#include "nbc.h"
#include "nbc/hca.h"
#include "test/runtime/builder.h"

namespace {

/// An adapter that only registers, and counts.
struct Fake : nbc_hca {
  nbc_hca_ops table = {};
  int registered = 0;
  std::set<uint32_t> keys;
  nbc_comm *comm = nullptr;

  Fake() {
    table.facts = [](nbc_hca *, nbc_hca_facts *) {};
    table.address = [](nbc_hca *, uint8_t *) { return 0; };
    table.register_memory = [](nbc_hca *h, void *, size_t, uint32_t, uint32_t *l, uint32_t *r) {
      auto *self = static_cast<Fake *>(h);
      *l = *r = uint32_t(++self->registered);
      self->keys.insert(*l);
      return 0;
    };
    table.deregister_memory = [](nbc_hca *h, uint32_t key) {
      return static_cast<Fake *>(h)->keys.erase(key) ? 0 : NBC_ERROR_ARGUMENT;
    };
    device = {NBC_HCA_TARGET, nullptr};
    ops = &table;
    nbc_bootstrap alone = {0, 1, nullptr, nullptr, nullptr, nullptr};
    nbc_device *devices[] = {&device};
    EXPECT_EQ(nbc_comm_create(&alone, devices, 1, &comm), 0);
  }
  ~Fake() {
    EXPECT_EQ(nbc_comm_free(comm), 0);
    EXPECT_TRUE(keys.empty());
  }
};

char registered[4096];

TEST(Comm, memoryIsRegisteredOnce) {
  Fake hca;
  EXPECT_EQ(nbc_register(hca.comm, registered + 100, 1000), 0);
  EXPECT_EQ(nbc_register(hca.comm, registered + 100, 1000), 0);
  EXPECT_EQ(nbc_register(hca.comm, registered + 200, 900), 0);
  EXPECT_EQ(hca.registered, 1);
  EXPECT_EQ(nbc_register(hca.comm, registered + 200, 901), 0);
  EXPECT_EQ(hca.registered, 2);
}

TEST(Comm, theOldestMakesRoom) {
  Fake hca;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(nbc_register(hca.comm, registered, 1), 0);  // used again and again: it stays
    EXPECT_EQ(nbc_register(hca.comm, registered + 1 + i, 1), 0);
  }
  EXPECT_EQ(hca.registered, 1001);
  EXPECT_EQ(hca.keys.size(), 256u);
  EXPECT_TRUE(hca.keys.contains(1));
}

TEST(Comm, whatOverlapsIsForgotten) {
  Fake hca;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(nbc_register(hca.comm, registered + 10 * i, 10), 0);
  EXPECT_EQ(nbc_deregister(hca.comm, registered + 19, 2), 0);
  EXPECT_EQ(hca.keys.size(), 8u);
  EXPECT_EQ(nbc_register(hca.comm, registered, 10), 0);
  EXPECT_EQ(hca.registered, 10);
  EXPECT_EQ(nbc_register(hca.comm, registered + 10, 10), 0);
  EXPECT_EQ(hca.registered, 11);
}

TEST(Comm, withoutDevicesNothingHasToBeKnown) {
  nbc_comm *comm = nullptr;
  nbc_bootstrap alone = {0, 1, nullptr, nullptr, nullptr, nullptr};
  ASSERT_EQ(nbc_comm_create(&alone, nullptr, 0, &comm), 0);
  EXPECT_EQ(nbc_register(comm, registered, 10), 0);
  EXPECT_EQ(nbc_deregister(comm, registered, 10), 0);
  EXPECT_EQ(nbc_comm_free(comm), 0);
}

TEST(Comm, aTemplateNeedsTheDeviceOfItsTarget) {
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  nbc_bootstrap alone = {0, 1, nullptr, nullptr, nullptr, nullptr};
  ASSERT_EQ(nbc_comm_create(&alone, nullptr, 0, &comm), 0);
  build::Bytes b = build::allgather(1, 0);  // only the host has work
  EXPECT_EQ(nbc_plan_create(comm, b.data(), b.size(), nullptr, &plan), 0);
  EXPECT_EQ(nbc_plan_free(plan), 0);
  build::Builder queued("queued", NBC_ALLGATHER, 1, 0);
  queued.queue(NBC_QUEUE_MANAGEMENT);
  b = queued.finish();
  EXPECT_EQ(nbc_plan_create(comm, b.data(), b.size(), nullptr, &plan), NBC_ERROR_TEMPLATE);
  EXPECT_EQ(nbc_comm_free(comm), 0);
}

TEST(Comm, whatCannotBeIsRefused) {
  Fake hca;
  nbc_comm *comm;
  nbc_device *devices[] = {&hca.device, &hca.device};
  nbc_bootstrap two = {0, 2, nullptr, nullptr, nullptr, nullptr};
  EXPECT_EQ(nbc_comm_create(&two, devices, 1, &comm), NBC_ERROR_ARGUMENT);  // nobody to ask
  EXPECT_EQ(nbc_comm_create(nullptr, devices, 1, &comm), NBC_ERROR_ARGUMENT);
  nbc_bootstrap one = {0, 1, nullptr, nullptr, nullptr, nullptr};
  EXPECT_EQ(nbc_comm_create(&one, nullptr, 1, &comm), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_comm_create(&one, devices, 2, &comm), NBC_ERROR_ARGUMENT);  // two of a target
  nbc_device tin = {"tin"}, *unknown = &tin;
  EXPECT_EQ(nbc_comm_create(&one, &unknown, 1, &comm), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_register(hca.comm, nullptr, 1), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_register(hca.comm, registered, SIZE_MAX), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_comm_free(nullptr), 0);
}

}  // namespace
