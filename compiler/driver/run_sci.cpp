// SPDX-License-Identifier: BSD-3-Clause
// run_sci.cpp - SISCI in software under a run: one adapter for each rank, in one process.

#include <map>
#include <memory>
#include <random>
#include <thread>

#include "compiler/driver/run_device.h"
#include "devices/sisci/sisci.h"
#include "nbc/sci.h"
#include "nbc/sci_segment.h"

namespace nbcc {
namespace {

/// Looks of each rank in which nothing happens: then nothing is expected any more. Whoever stores
/// has to ask again after a fault, of which no event tells.
constexpr int kLooks = 200;

/// What the device model says.
sisci::Options sciOptions(const Options &o, uint64_t seed) {
  const Device &device = *o.targetOptions.device;
  sisci::Options s;
  s.mode = o.clock == Clock::simulated ? sisci::Mode::Simulated : sisci::Mode::RealTime;
  s.seed = seed;
  s.cost = {device.pace.latency, device.pace.store,    device.pace.storeByte,
            device.pace.check,   device.pace.dmaStart, device.pace.dmaByte};
  s.adversarial = o.adversarial;
  s.trace = !o.timeline.empty();
  s.facts.alignment = static_cast<uint32_t>(device.dma.align);
  s.facts.longestVector = static_cast<uint32_t>(device.dma.vector);
  s.facts.longestTransfer = static_cast<uint32_t>(device.dma.longest);
  if (!o.vary) return s;
  // Engines that take little, and places that have to be even.
  std::mt19937_64 random(seed);
  auto below = [&](uint64_t n) { return static_cast<uint32_t>(random() % n); };
  if (below(2)) s.facts.longestVector = 1 + below(4);
  if (below(2)) s.facts.longestTransfer = 64 * (1 + below(8));
  if (below(3) == 0) s.facts.alignment = 8u << below(5);
  s.facts.dmaChannels = 1 + below(4);
  return s;
}

/// Of a rank; ranks may differ in how they send.
nbc_sci_options sciAdapterOptions(const Options &o, uint64_t seed, unsigned adapter,
                                  uint32_t rank) {
  nbc_sci_options s{};
  s.adapter = adapter + 1;
  s.dma_bytes = static_cast<uint64_t>(o.targetOptions.device->dma.worth);
  s.transfer = o.transfer.value_or(NBC_TRANSFER_AUTO);
  if (o.vary) {
    std::mt19937_64 random(seed ^ uint64_t{rank + 1} << 32);
    s.dma_bytes = 1 + random() % 400;
    s.queues = 1 + static_cast<uint32_t>(random() % 4);
    if (!o.transfer) s.transfer = static_cast<nbc_transfer>(random() % 3);
    if (random() % 4 == 0) s.waiting = NBC_SCI_INTERRUPT;
    s.patience = s.waiting == NBC_SCI_INTERRUPT ? 1 : INT32_MAX;
  }
  return s;
}

const nbc_sci_api &software() {
  static const nbc_sci_api api = {
#define NBC_SCI_LINKED(name) .name = &::name,
      NBC_SCI_FUNCTIONS(NBC_SCI_LINKED)
#undef NBC_SCI_LINKED
  };
  return api;
}

struct SciState {
  explicit SciState(const sisci::Options &options) : fabric(options) {}
  sisci::Fabric fabric;
  uint32_t ranks = 0;
  std::vector<std::string> problems;

  std::vector<nbc_device *> add(const Options &o, uint64_t seed) {
    const nbc_sci_options options = sciAdapterOptions(o, seed, fabric.addAdapter(), ranks++);
    nbc_device *device = nullptr;
    const char *why = "";
    if (nbc_sci_open_with(&software(), &options, &device, &why))
      problems.push_back(cat("rank ", ranks - 1, ": ", why));
    else if (o.clock == Clock::simulated)
      reinterpret_cast<nbc_sci *>(device)->facts.sleep = 0;
    return {device};
  }

  /// True: nothing is left to happen, however often all look.
  bool run(const std::function<bool(uint32_t)> &seen, uint64_t events) {
    for (int looks = 0; looks < kLooks; ++looks) {
      const uint64_t before = fabric.counters().events;
      if (fabric.run(seen, {.events = events}) != sisci::Run::Quiet) return false;
      if (fabric.counters().events != before) looks = 0;
      for (uint32_t rank = 0; rank < ranks; ++rank)
        if (!seen(rank)) return false;
    }
    return true;
  }
};

}  // namespace

RunDevice sciDevice(const Options &o, uint64_t seed) {
  auto s = std::make_shared<SciState>(sciOptions(o, seed));
  RunDevice d;
  d.slotBytes = NBC_SCI_SLOT_BYTES;
  d.rests = o.vary;
  d.add = [s, o, seed] { return s->add(o, seed); };
  d.run = [s](const std::function<bool(uint32_t)> &seen, uint64_t events) {
    return s->run(seen, events);
  };
  d.events = [s] { return s->fabric.counters().events; };
  d.now = [s] { return nanoseconds(s->fabric.now()); };
  d.hostBusy = [s](uint32_t rank, double ns) {
    s->fabric.hostBusy(rank, static_cast<sisci::Time>(ns * sisci::nanosecond));
  };
  d.sleep = [](uint32_t, int64_t) { std::this_thread::yield(); };
  d.waiting = [s] { return s->problems; };
  d.wrong = [s] { return s->problems; };
  d.report = [s](int64_t messages) {
    const sisci::Counters n = s->fabric.counters();
    return std::vector<std::pair<std::string, std::string>>{
        {"messages", cat(messages, " in all")},
        {"stores", cat(n.storedBytes, " bytes, flags and credits among them")},
        {"transfers", cat(n.transfers, ", of ", n.transferBytes, " bytes")}};
  };
  d.cost = "as measured of the device";
  d.timeline = [s] {
    Timeline t;
    for (const sisci::Moved &m : s->fabric.trace())
      t.messages.push_back({static_cast<int>(m.from), static_cast<int>(m.to),
                            nanoseconds(m.started), nanoseconds(m.arrived), m.bytes});
    return t;
  };
  return d;
}

}  // namespace nbcc
