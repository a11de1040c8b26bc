// SPDX-License-Identifier: BSD-3-Clause
// world.h - all ranks of a test, on the software HCA in simulated time, in one thread.

#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "devices/hca/hca.h"
#include "nbc.h"
#include "test/runtime/board.h"
#include "test/runtime/plans.h"

class World {
 public:
  Board board;
  hca::Fabric fabric;
  std::vector<Board::Context> contexts;
  std::vector<nbc_hca *> adapters;
  std::vector<nbc_comm *> comms;
  std::vector<nbc_plan *> plans;

  static hca::Options options(uint64_t seed) {
    return {.mode = hca::Mode::Simulated, .seed = seed, .adversarial = seed != 0};
  }

  World(uint32_t ranks, const MakeTemplate &make, nbc_plan_options plan = {},
        hca::Options o = options(0))
      : fabric(o) {
    for (uint32_t r = 0; r < ranks; ++r) contexts.push_back({&board, int(r)});
    for (uint32_t r = 0; r < ranks; ++r) {
      adapters.push_back(fabric.addAdapter());
      nbc_bootstrap b = {int(r), int(ranks), &contexts[r], Board::put, Board::get, nullptr};
      nbc_comm *comm = nullptr;
      nbc_device *device = &adapters.back()->device;
      EXPECT_EQ(nbc_comm_create(&b, &device, 1, &comm), 0);
      comms.push_back(comm);
    }
    addPlans(make, plan);
  }

  /// One more plan on each rank; `plans` are the latest.
  void addPlans(const MakeTemplate &make, nbc_plan_options options = {}) {
    plans = connectedPlans(comms, make, options);
    all_.insert(all_.end(), plans.begin(), plans.end());
  }

  ~World() {
    for (nbc_plan *p : all_) EXPECT_EQ(nbc_plan_free(p), 0);
    for (nbc_comm *c : comms) EXPECT_EQ(nbc_comm_free(c), 0);
  }

  /// Lets everything happen that can; returns whether all requests are done, with 0.
  bool finish(std::vector<nbc_request> &requests) {
    std::vector<int> done(requests.size());
    for (size_t left = requests.size(), before = left + 1; left && left < before;) {
      before = left;
      fabric.run([&](const hca::Completion &) {
        poke(requests, done, left);
        return true;
      });
      poke(requests, done, left);
      if (!left) return true;
    }
    return requests.empty();
  }

 private:
  static void poke(std::vector<nbc_request> &requests, std::vector<int> &done, size_t &left) {
    for (size_t i = 0; i < requests.size(); ++i) {
      if (done[i]) continue;
      EXPECT_EQ(nbc_test(&requests[i], &done[i]), 0);
      left -= size_t(done[i]);
    }
  }
  std::vector<nbc_plan *> all_;
};
