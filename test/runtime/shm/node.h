// SPDX-License-Identifier: BSD-3-Clause
// node.h - ranks of one node, in one process: their devices, communicators and plans.
//
// They meet in threads of their own; after that one thread may play them all.

#pragma once

#include <gtest/gtest.h>

#include <thread>

#include "nbc/shm.h"
#include "test/runtime/board.h"
#include "test/runtime/messages.h"

/// A template of target mpi for target shm: the records mean the same.
inline build::Bytes forShm(build::Bytes b) {
  std::strcpy(b.header()->target, "shm");
  b.seal();
  return b;
}

class Node {
 public:
  Meeting meeting;
  std::vector<Meeting::Context> contexts;
  std::vector<nbc_device *> devices;
  std::vector<nbc_comm *> comms;
  std::vector<nbc_plan *> plans;

  explicit Node(uint32_t ranks, nbc_shm_options options = {}) : devices(ranks) {
    meeting.ranks = int(ranks);
    for (uint32_t r = 0; r < ranks; ++r) contexts.push_back({&meeting, {&meeting.board, int(r)}});
    std::vector<std::thread> threads;
    for (uint32_t r = 0; r < ranks; ++r)
      threads.emplace_back([this, r, &options] {
        nbc_bootstrap b = bootstrap(r, true);
        EXPECT_EQ(nbc_shm_open(&b, &options, &devices[r]), 0);
      });
    for (std::thread &t : threads) t.join();
  }

  /// Communicators of these devices, with what else each rank has.
  void addComms(const std::vector<nbc_device *> &far = {}) {
    for (uint32_t r = 0; r < devices.size(); ++r) {
      nbc_bootstrap b = bootstrap(r, false);
      nbc_device *both[] = {devices[r], far.empty() ? nullptr : far[r]};
      nbc_comm *comm = nullptr;
      EXPECT_EQ(nbc_comm_create(&b, both, far.empty() ? 1 : 2, &comm), 0);
      comms.push_back(comm);
    }
  }

  void addPlans(const MakeTemplate &make, nbc_plan_options options = {}) {
    if (comms.empty()) addComms();
    plans = connectedPlans(comms, [&](uint32_t r) { return forShm(make(r)); }, options);
    all_.insert(all_.end(), plans.begin(), plans.end());
  }

  /// Whether all requests end well, however they are looked at.
  static bool finish(std::vector<nbc_request> &requests, unsigned seed = 0) {
    std::vector<int> done(requests.size());
    size_t left = requests.size();
    for (unsigned looks = 0; left && looks < 50'000'000; ++looks) {
      seed = seed * 1664525 + 1013904223;
      size_t i = (seed >> 8) % requests.size();
      if (done[i]) continue;
      if (int status = nbc_test(&requests[i], &done[i])) {
        ADD_FAILURE() << "request " << i << ": " << nbc_status_text(status);
        return false;
      }
      left -= size_t(done[i]);
    }
    return left == 0;
  }

  ~Node() {
    for (nbc_plan *p : all_) EXPECT_EQ(nbc_plan_free(p), 0);
    for (nbc_comm *c : comms) EXPECT_EQ(nbc_comm_free(c), 0);
    if (comms.empty())
      for (nbc_device *d : devices) d->close(d);
  }

 private:
  nbc_bootstrap bootstrap(uint32_t r, bool fence) {
    return {int(r),       int(devices.size()), &contexts[r],
            Meeting::put, Meeting::get,        fence ? Meeting::fence : nullptr};
  }
  std::vector<nbc_plan *> all_;
};
