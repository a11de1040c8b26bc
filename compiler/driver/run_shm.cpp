// SPDX-License-Identifier: BSD-3-Clause
// run_shm.cpp - shared memory under a run: the device itself, between ranks of this process.
//
// Ranks are threads. With --seed one thread plays them all, and the seed says whose turn it is:
// then a run can be repeated.

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "compiler/driver/exchange.h"
#include "compiler/driver/run_device.h"
#include "nbc/shm.h"

namespace nbcc {
namespace {

/// Looks of each rank in which nothing ends: then nothing is expected any more.
constexpr uint64_t kSharedLooks = 2000;

/// Between nodes, too, time is simulated only where one thread plays all ranks.
Options inTime(Options o) {
  o.clock = o.adversarial ? Clock::simulated : Clock::real;
  return o;
}

struct ShmState {
  explicit ShmState(const Options &o, uint64_t seed)
      : ranks(static_cast<size_t>(o.ranks)), random(seed) {
    if (o.topology.ranks() == 0) return;
    nodes = nodesOf(o);
    if (std::ranges::any_of(nodes, [&](uint32_t node) { return node != nodes[0]; }))
      far = p2pDevice(inTime(o), seed);
  }

  size_t ranks, added = 0;
  std::vector<uint32_t> nodes;
  std::vector<nbc_device *> devices;  // a communicator closes its own
  RunDevice far;                      // between nodes
  std::mt19937_64 random;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  uint64_t events = 0;
};

}  // namespace

std::vector<uint32_t> nodesOf(const Options &o) {
  std::vector<uint32_t> nodes;
  for (int64_t r = 0; r < o.topology.ranks(); ++r)
    nodes.push_back(static_cast<uint32_t>(o.topology.nodeOf(r)));
  return nodes;
}

std::vector<nbc_device *> openMemory(const std::vector<uint32_t> &nodes, size_t ranks) {
  Exchange exchange(static_cast<int>(ranks));
  std::vector<Exchange::End> ends;
  for (size_t r = 0; r < ranks; ++r) ends.push_back({&exchange, static_cast<int>(r)});
  std::vector<nbc_device *> devices(ranks);
  std::vector<std::thread> threads;
  for (size_t r = 0; r < ranks; ++r)  // ranks meet, so each in a thread of its own
    threads.emplace_back([&, r] {
      const nbc_bootstrap bootstrap = exchange.bootstrap(&ends[r], true);
      const nbc_shm_options options = {.nodes = nodes.empty() ? nullptr : nodes.data()};
      if (nbc_shm_open(&bootstrap, &options, &devices[r])) devices[r] = nullptr;
    });
  for (std::thread &t : threads) t.join();
  return devices;
}

RunDevice shmDevice(const Options &o, uint64_t seed) {
  auto s = std::make_shared<ShmState>(o, seed);
  RunDevice d;
  d.threads = !o.adversarial;
  d.add = [s] {
    if (s->added == 0) s->devices = openMemory(s->nodes, s->ranks);
    std::vector<nbc_device *> devices = {s->devices[s->added++]};
    if (s->far.add) devices.push_back(s->far.add().front());
    return devices;
  };
  d.run = [s](const std::function<bool(uint32_t)> &seen, uint64_t events) {
    uint64_t looks = 0;
    for (; looks < std::min(events, kSharedLooks * s->ranks); ++looks) {
      if (s->far.run) s->far.run([](uint32_t) { return true; }, 4);
      if (!seen(static_cast<uint32_t>(s->random() % s->ranks))) return false;
    }
    if (looks == events) s->events += looks;
    return looks < events;
  };
  d.events = [s] { return s->events; };
  d.now = [s] {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - s->begin)
        .count();
  };
  d.hostBusy = [](uint32_t, double) {};
  d.sleep = [](uint32_t, int64_t) { std::this_thread::yield(); };
  d.waiting = [] { return std::vector<std::string>(); };
  d.wrong = [s] { return s->far.wrong ? s->far.wrong() : std::vector<std::string>(); };
  d.report = [](int64_t messages) {
    return std::vector<std::pair<std::string, std::string>>{{"messages", cat(messages, " in all")}};
  };
  d.timeline = [] { return Timeline(); };
  return d;
}

}  // namespace nbcc
