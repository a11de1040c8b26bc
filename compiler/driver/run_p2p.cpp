// SPDX-License-Identifier: BSD-3-Clause
// run_p2p.cpp - messages between the ranks of a process under a run.

#include <memory>

#include "compiler/driver/run_device.h"
#include "devices/p2p/p2p.h"

namespace nbcc {
namespace {

p2p::Options p2pOptions(const Options &o, uint64_t seed) {
  auto time = [](double us) { return static_cast<p2p::Time>(us * 1e6); };
  return {.mode = o.clock == Clock::simulated ? p2p::Mode::Simulated : p2p::Mode::RealTime,
          .seed = seed,
          .cost = {.latency = time(o.latency),
                   .overhead = time(o.overhead),
                   .gap = time(o.gap),
                   .perByte = time(o.gapPerByte)},
          .adversarial = o.adversarial,
          .trace = !o.timeline.empty()};
}

}  // namespace

RunDevice p2pDevice(const Options &o, uint64_t seed) {
  struct State {
    explicit State(const p2p::Options &options) : fabric(options) {}
    p2p::Fabric fabric;
    std::vector<nbc_p2p *> ends;
  };
  auto s = std::make_shared<State>(p2pOptions(o, seed));
  RunDevice d;
  d.add = [s] { return std::vector{&s->ends.emplace_back(s->fabric.addEndpoint())->device}; };
  d.run = [s](const std::function<bool(uint32_t)> &seen, uint64_t events) {
    return s->fabric.run(seen, {.events = events}) == p2p::Run::Quiet;
  };
  d.events = [s] { return s->fabric.counters().events; };
  d.now = [s] { return nanoseconds(s->fabric.now()); };
  d.hostBusy = [s](uint32_t rank, double ns) {
    s->fabric.hostBusy(rank, static_cast<p2p::Time>(ns * p2p::nanosecond));
  };
  d.sleep = [s](uint32_t rank, int64_t ns) { s->ends[rank]->ops->sleep(s->ends[rank], ns); };
  d.waiting = [s] { return s->fabric.waiting(); };
  d.wrong = [s] { return s->fabric.findings(); };
  d.report = [s](int64_t messages) {
    p2p::Counters n = s->fabric.counters();
    return std::vector<std::pair<std::string, std::string>>{
        {"messages", cat(messages, " in all, with ", n.bytes, " bytes; ", n.buffered,
                         " were buffered where they were sent")}};
  };
  d.cost = cat("L ", o.latency, ", o ", o.overhead, ", g ", o.gap, ", G ", o.gapPerByte);
  d.timeline = [s] {
    Timeline t;
    for (const p2p::Transfer &m : s->fabric.trace())
      t.messages.push_back({static_cast<int>(m.from), static_cast<int>(m.to), nanoseconds(m.sent),
                            nanoseconds(m.arrived), m.bytes});
    return t;
  };
  return d;
}

}  // namespace nbcc
