// SPDX-License-Identifier: BSD-3-Clause
// wraps.cpp - indices may pass their end at any entry of a call: those of queues, of 16 bits, and
// those of CQs, of 24; and the middle, up to which they compare.
//
// Where the queues begin is moved back one by one, so that each entry of some calls is the one at
// which an index wraps, of send queues, receive queues and CQs at the same time.

#include <gtest/gtest.h>

#include "compiler/driver/run.h"
#include "test/runs/compiled.h"

namespace nbcc {
namespace {

struct Case {
  const char *algorithm;
  int64_t ranks;
  Protocol protocol;
  uint64_t count;
};

constexpr Case kCases[] = {
    {"allgather/ring", 3, Protocol::eager, 3},
    {"allgather/ring", 3, Protocol::rendezvous, 3},
    {"allgather/bruck", 5, Protocol::automatic, 3},
    {"allgather/bruck", 5, Protocol::rendezvous, 0},  // data segments of no bytes become NOPs
    {"allreduce/recursive_doubling", 4, Protocol::automatic, 1},   // reduced by the adapter
    {"allreduce/recursive_doubling", 4, Protocol::rendezvous, 5},  // copies on the loopback queue
    {"alltoall/bruck", 4, Protocol::rendezvous, 2},
    {"barrier/dissemination", 5, Protocol::eager, 1},
    {"allgather/bruck", 5, Protocol::direct, 3},
    {"allreduce/recursive_doubling", 4, Protocol::direct, 0},
};

TEST(Wraps, mayComeAtAnyEntry) {
  for (const Case &c : kCases) {
    Compiled compiled(c.algorithm, c.ranks, c.protocol);
    ASSERT_EQ(compiled.said.str(), "");
    Options &o = compiled.options;
    o.adversarial = o.quiet = true;
    o.count = c.count;
    o.calls = 5;
    o.targetOptions.depth = 2;
    for (const uint32_t end : {1u << 24, 1u << 23, 1u << 15})
      for (uint32_t before = 0; before < (end == 1u << 24 ? 48 : 6); ++before) {
        o.firstIndex = (end - before) & 0xffffff;
        std::ostringstream said;
        Diag diag(said);
        runTemplates(*compiled.compilation, compiled.templates, {}, 1 + before, o, said, diag);
        EXPECT_TRUE(diag.ok()) << c.algorithm << " from " << o.firstIndex << ": " << said.str();
      }
  }
}

}  // namespace
}  // namespace nbcc
