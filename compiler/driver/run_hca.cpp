// SPDX-License-Identifier: BSD-3-Clause
// run_hca.cpp - the software HCA under a run: of coredirect itself, of verbs below its work
// requests.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "compiler/driver/run_device.h"
#include "devices/hca/hca.h"
#include "devices/hca/node.h"
#include "devices/verbs/verbs.h"

namespace nbcc {
namespace {

hca::Time time(double us) {
  return static_cast<hca::Time>(us * 1e3 * hca::nanosecond);
}

hca::Options hcaOptions(const Options &o, uint64_t seed) {
  hca::Options h;
  h.mode = o.clock == Clock::simulated ? hca::Mode::Simulated : hca::Mode::RealTime;
  h.seed = seed;
  h.adversarial = o.adversarial;
  h.trace = !o.timeline.empty();
  if (o.target && o.targetOptions.device) hca::factsOf(o.targetOptions.device->name, h.facts);
  h.cost.latency = time(o.latency);
  h.cost.overhead = time(o.overhead);
  h.cost.gap = time(o.gap);
  h.cost.perByte = time(o.gapPerByte);
  h.cost.perEntry = time(o.nic);
  h.cost.loopbackLatency = time(o.loopback);
  h.facts.ports = o.ports;
  return h;
}

/// Waits of queues, and messages: those of one size between two ranks arrive in order.
Timeline timelineOf(const std::vector<hca::Record> &trace) {
  Timeline t;
  std::map<std::pair<uint32_t, uint32_t>, double> waits;  // (rank, queue pair): since when
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::deque<double>> sent;
  for (const hca::Record &e : trace) {
    double at = nanoseconds(e.at);
    int rank = static_cast<int>(e.rank);
    if (e.event == hca::Event::WaitBegin) waits[{e.rank, e.qp}] = at;
    if (e.event == hca::Event::WaitEnd)
      if (auto w = waits.find({e.rank, e.qp}); w != waits.end() && at > w->second)
        t.bars.push_back({rank, Timeline::Activity::wait, w->second, at});
    if (e.event == hca::Event::SendStart) sent[{e.rank, e.peer, e.bytes}].push_back(at);
    if (e.event != hca::Event::Deliver || e.peer == e.rank) continue;
    if (auto &queue = sent[{e.peer, e.rank, e.bytes}]; !queue.empty()) {
      t.messages.push_back({static_cast<int>(e.peer), rank, queue.front(), at, e.bytes});
      queue.pop_front();
    }
  }
  return t;
}

/// Messages within a node.
hca::NodeOptions nodeOptions(const Options &o, uint64_t seed) {
  hca::NodeOptions n;
  n.nodes = nodesOf(o);
  n.latency = time(o.memoryLatency);
  n.overhead = time(o.memoryOverhead);
  n.adversarial = o.adversarial;
  n.seed = seed;
  return n;
}

struct HcaState {
  HcaState(const hca::Options &options, const Options &o, uint64_t seed) : fabric(options) {
    const std::vector<uint32_t> nodes = nodesOf(o);
    shares = o.targetOptions.within &&
             std::set<uint32_t>(nodes.begin(), nodes.end()).size() < nodes.size();
    if (shares && options.mode == hca::Mode::Simulated)
      memory.emplace(fabric, nodeOptions(o, seed));
    else if (shares)
      opened = openMemory(nodes, nodes.size());
  }
  /// What the next rank has beside its adapter.
  nbc_device *nextMemory() { return memory ? &memory->add()->device : opened[added++]; }

  hca::Fabric fabric;
  bool shares = false;  // nodes have memory that ranks exchange through
  std::optional<hca::NodeMemory> memory;
  std::vector<nbc_device *> opened;  // in real time; communicators close them
  size_t added = 0;
  std::vector<nbc_hca *> adapters;
  std::deque<verbs::Device> devices;
  bool sends = false;  // what finds no receive comes again until it does
};

/// All but what ranks are given and what is reported.
RunDevice onFabric(const std::shared_ptr<HcaState> &s, const Options &o) {
  RunDevice d;
  using Seen = std::function<bool(uint32_t)>;
  const auto run = [s](const Seen &seen, const hca::RunLimits &limits) {
    return s->fabric.run([&](const hca::Completion &c) { return !seen || seen(c.rank); }, limits);
  };
  d.run = [run](const Seen &seen, uint64_t events) {
    return run(seen, {.events = events}) == hca::Run::Quiet;
  };
  d.runUntil = [run](double until, const Seen &seen) {
    run(seen, {.until = static_cast<hca::Time>(until * hca::nanosecond)});
  };
  d.events = [s] { return s->fabric.counters().events; };
  d.now = [s] { return nanoseconds(s->fabric.now()); };
  d.hostBusy = [s](uint32_t rank, double ns) {
    s->fabric.hostBusy(rank, static_cast<hca::Time>(ns * hca::nanosecond));
  };
  d.hostFree = [s](uint32_t rank) { return nanoseconds(s->fabric.hostFree(rank)); };
  d.sleep = [s](uint32_t rank, int64_t ns) {
    s->adapters[rank]->ops->sleep(s->adapters[rank], ns);
  };
  d.waiting = [s] { return s->fabric.waiting(); };
  d.wrong = [s] {
    std::vector<std::string> all = s->fabric.findings();
    hca::Counters n = s->fabric.counters();
    if (n.rnrNaks > n.forcedRnr && !s->sends)
      all.push_back(
          cat(n.rnrNaks - n.forcedRnr, " messages came where no receive was posted (RNR)"));
    return all;
  };
  d.cost = cat("L ", o.latency, ", o ", o.overhead, ", g ", o.gap, ", G ", o.gapPerByte, ", ",
               o.nic, " an entry");
  d.timeline = [s] { return timelineOf(s->fabric.trace()); };
  return d;
}

/// Messages of the schedule, and those beside them.
std::string messagesLine(const hca::Counters &n, int64_t messages, const char *others) {
  return cat(messages, " in all, with ", n.bytes, " bytes; and ",
             static_cast<int64_t>(n.messages) - messages, " of the adapters' own (", others, ")");
}

/// An adapter as --device says; with --vary of another kind for each seed and rank.
verbs::Options hcaAdapterOptions(const Options &o, uint64_t seed, uint64_t rank) {
  verbs::Options v;
  v.gather = static_cast<uint32_t>(o.targetOptions.device->maxGather);
  v.inlineBytes = static_cast<uint32_t>(o.targetOptions.device->inlineBytes);
  v.firstIndex = o.firstIndex;
  constexpr nbc_verbs_rendezvous rendezvous[] = {NBC_VERBS_WRITE, NBC_VERBS_READ, NBC_VERBS_SEND,
                                                 NBC_VERBS_DIRECT};
  v.rendezvous = rendezvous[int(o.rendezvous.value_or(Rendezvous::write))];
  if (o.vary) {
    std::mt19937_64 random(seed);
    // All ranks alike, as the next.
    if (!o.rendezvous) v.rendezvous = rendezvous[random() % std::size(rendezvous)];
    constexpr nbc_transfer ways[] = {NBC_TRANSFER_AUTO, NBC_TRANSFER_EAGER, NBC_TRANSFER_WRITE,
                                     NBC_TRANSFER_READ, NBC_TRANSFER_SEND,  NBC_TRANSFER_DIRECT};
    if (!o.transfer) v.transfer = ways[random() % std::size(ways)];
    random.seed(seed ^ (rank + 1) << 32);
    auto below = [&](uint64_t n) { return static_cast<uint32_t>(random() % n); };
    // Never so little that a plan is refused: what says where memory lies goes in one message.
    if (below(2)) v.longest = 1024 + below(2000);
    if (below(2)) v.inlineBytes = below(v.inlineBytes + 1);
    if (below(2)) v.queue = 72 + below(100);
    v.reads = 1 + below(16);
    if (below(3) == 0) v.firstIndex = (1u << 24) - 1 - below(48);
  }
  if (o.transfer) v.transfer = *o.transfer;
  return v;
}

}  // namespace

RunDevice hcaDevice(const Options &o, uint64_t seed) {
  auto s = std::make_shared<HcaState>(hcaOptions(o, seed), o, seed);
  RunDevice d = onFabric(s, o);
  d.add = [s] {
    std::vector devices = {&s->adapters.emplace_back(s->fabric.addAdapter())->device};
    if (s->shares) devices.push_back(s->nextMemory());
    return devices;
  };
  d.report = [s](int64_t messages) {
    hca::Counters n = s->fabric.counters();
    if (s->memory) n.messages += s->memory->messages();
    return std::vector<std::pair<std::string, std::string>>{
        {"messages", messagesLine(n, messages, "clear-to-send, credits, tokens, loopback")},
        {"entries", cat(n.entries, " carried out by the adapters, of these ", n.waits,
                        " waits and ", n.enables, " enables")}};
  };
  return d;
}

RunDevice verbsDevice(const Options &o, uint64_t seed) {
  Options apart = o;  // verbs has no other way
  apart.targetOptions.within = false;
  auto s = std::make_shared<HcaState>(hcaOptions(o, seed), apart, seed);
  RunDevice d = onFabric(s, o);
  d.add = [s, o, seed] {
    nbc_hca *hca = s->adapters.emplace_back(s->fabric.addAdapter());
    verbs::Options options = hcaAdapterOptions(o, seed, s->adapters.size());
    s->sends |= options.rendezvous >= NBC_VERBS_SEND || options.transfer >= NBC_TRANSFER_SEND;
    return std::vector{&s->devices.emplace_back(verbs::deviceOn(hca, options))->device};
  };
  d.report = [s](int64_t messages) {
    hca::Counters n = s->fabric.counters();
    return std::vector<std::pair<std::string, std::string>>{
        {"messages", messagesLine(n, messages, "clear-to-send, credits, parts")},
        {"work requests",
         cat(n.entries, ", with ", n.doorbells, n.doorbells == 1 ? " doorbell" : " doorbells")}};
  };
  return d;
}

}  // namespace nbcc
