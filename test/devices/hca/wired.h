// SPDX-License-Identifier: BSD-3-Clause
// wired.h - two fabrics with a wire between them, and a queue pair at each end.

#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "test/devices/hca/rig.h"

namespace hca::test {

/// Of a fabric that others can reach; seed 0: without the adversary.
inline Options wired(uint64_t seed = 0) {
  Options o;
  o.wire = true;
  o.adversarial = seed != 0;
  o.seed = seed;
  return o;
}

inline Cqe await(Queue &q, Cq &cq) {
  for (;;) {
    if (auto e = cq.poll()) return *e;
    q.hca->ops->sleep(q.hca, 1'000'000'000);
  }
}

/// The queue is said to have failed just behind its completion.
inline uint32_t whyFailed(Queue &q) {
  while (!q.failed()) std::this_thread::yield();
  return q.failed();
}

/// One half: `other` may not know of it yet.
inline void connectTo(Queue &q, const Queue &other) {
  uint8_t address[32];
  other.hca->ops->address(other.hca, address);
  demand(q.hca->ops->connect_qp(q.hca, q.number(), address, other.number()) == 0);
}

inline void connectRigs(Rig &, Queue &a, Rig &, Queue &b) {
  connectTo(a, b);
  connectTo(b, a);
}

struct Wired {
  Rig here, there;
  Queue &a, &b;
  explicit Wired(uint32_t flags = 0, const std::function<void(Wired &)> &before = {},
                 uint64_t seed = 0)
      : here(1, wired(seed)),
        there(1, wired(seed ? seed + 1000 : 0)),
        a(here.queue(0, {.flags = flags})),
        b(there.queue(0, {.flags = flags})) {
    if (before) before(*this);
    connectTo(a, b);
    connectTo(b, a);
  }
  /// What the adapters have done until now is over, also for tsan, which does not see it from
  /// packets. Before memory goes that they have read.
  void settle() const {
    here.fabric.counters();
    there.fabric.counters();
  }
};

}  // namespace hca::test
