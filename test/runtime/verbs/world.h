// SPDX-License-Identifier: BSD-3-Clause
// world.h - all ranks of a test on adapters of software, in simulated time, in one thread.
//
// At its end: no adapter has ever missed a receive, but where receives come late, none has failed,
// and nothing is under way.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "devices/hca/hca.h"
#include "devices/verbs/verbs.h"
#include "test/runtime/board.h"
#include "test/runtime/messages.h"

/// A template of target mpi for target verbs: the records mean the same.
inline build::Bytes forVerbs(build::Bytes b) {
  std::strcpy(b.header()->target, "verbs");
  b.seal();
  return b;
}

class VerbsWorld {
 public:
  Board board;
  hca::Fabric fabric;
  std::vector<verbs::Device> devices;
  std::vector<Board::Context> contexts;
  std::vector<nbc_comm *> comms;
  std::vector<nbc_plan *> plans;
  bool healthy = true;  // and looked at in the end
  bool sends = false;   // what finds no receive comes again until it does

  /// `change`: done to each device before it is used.
  explicit VerbsWorld(uint32_t ranks, verbs::Options options = {}, uint64_t seed = 0,
                      const std::function<void(nbc_verbs &)> &change = {})
      : VerbsWorld(std::vector(ranks, options), seed, hca::Mode::Simulated, change) {}

  /// Each rank has a device of its own.
  explicit VerbsWorld(const std::vector<verbs::Options> &options, uint64_t seed = 0,
                      hca::Mode mode = hca::Mode::Simulated,
                      const std::function<void(nbc_verbs &)> &change = {})
      : fabric({.mode = mode, .seed = seed, .adversarial = seed != 0}) {
    const auto ranks = int(options.size());
    for (int r = 0; r < ranks; ++r) contexts.push_back({&board, r});
    for (int r = 0; r < ranks; ++r) {
      devices.push_back(verbs::deviceOn(fabric.addAdapter(), options[size_t(r)]));
      if (change) change(*devices.back());
      nbc_bootstrap b = {r, ranks, &contexts[size_t(r)], Board::put, Board::get, nullptr};
      nbc_device *device = &devices.back()->device;
      nbc_comm *comm = nullptr;
      EXPECT_EQ(nbc_comm_create(&b, &device, 1, &comm), 0);
      comms.push_back(comm);
    }
  }

  void addPlans(const MakeTemplate &make, nbc_plan_options options = {}) {
    plans = connectedPlans(comms, [&](uint32_t r) { return forVerbs(make(r)); }, options);
    all_.insert(all_.end(), plans.begin(), plans.end());
  }

  ~VerbsWorld() {
    if (healthy) fabric.run();
    for (nbc_plan *p : all_) EXPECT_EQ(nbc_plan_free(p), 0);
    for (nbc_comm *c : comms) EXPECT_EQ(nbc_comm_free(c), 0);
    if (!healthy) return;
    const hca::Counters c = fabric.counters();
    if (!sends) {
      EXPECT_EQ(c.rnrNaks, c.forcedRnr) << "a receive was missing";
    }
    EXPECT_EQ(c.errors, 0u);
    for (const std::string &f : fabric.findings()) ADD_FAILURE() << f;
  }

  /// Whether all requests end well. Each look is at one of them; in between, the fabric carries
  /// out a few events, or many.
  bool finish(std::vector<nbc_request> &requests, unsigned seed = 0) {
    std::mt19937 random(seed);
    std::vector<size_t> open(requests.size());
    for (size_t i = 0; i < open.size(); ++i) open[i] = i;
    for (int idle = 0; !open.empty() && idle < 3;) {
      const uint64_t before = fabric.counters().events;
      const size_t left = open.size();
      fabric.run({}, {.events = random() % 4 ? 1 + random() % 40 : UINT64_MAX});
      std::shuffle(open.begin(), open.end(), random);
      size_t looks = random() % 3 ? 1 + random() % open.size() : open.size();
      for (size_t i = 0; i < looks; ++i) {
        int done = 0;
        if (int status = nbc_test(&requests[open[i]], &done)) {
          ADD_FAILURE() << "request " << open[i] << ": " << nbc_status_text(status);
          return false;
        }
        if (done) open[i] = SIZE_MAX;
      }
      std::erase(open, SIZE_MAX);
      bool moved = open.size() < left || fabric.counters().events != before || looks < left;
      idle = moved ? 0 : idle + 1;
    }
    return open.empty();
  }

  /// The same for one request of each rank, which a rank looks at once it is started, and then only
  /// when its adapter has told it of something: as whoever sleeps meanwhile.
  bool finishAsTold(std::vector<nbc_request> &requests) {
    std::vector<int> done(requests.size());
    const auto look = [&](size_t r) {
      if (!done[r]) {
        EXPECT_EQ(nbc_test(&requests[r], &done[r]), 0);
      }
      return true;
    };
    for (size_t r = 0; r < requests.size(); ++r) look(r);
    fabric.run([&](const hca::Completion &c) { return look(c.rank); });
    return std::count(done.begin(), done.end(), 1) == ptrdiff_t(done.size());
  }

 private:
  std::vector<nbc_plan *> all_;
};
