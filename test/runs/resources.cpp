// SPDX-License-Identifier: BSD-3-Clause
// resources.cpp - no receive is ever missing, however long a host does not look; and none is posted
// in vain, but for those that are said to be spare.
//
// The hosts of some ranks start as many calls as may be under way and then look at nothing, until
// nothing else can happen: their adapters go on alone, and their peers run as far ahead as they
// may. A message that finds no receive would be sent again (RNR), so all would still end well;
// hence the adapter's own count of those is looked at.

#include <gtest/gtest.h>

#include "compiler/driver/exchange.h"
#include "devices/hca/hca.h"
#include "nbc/template.h"
#include "test/runs/compiled.h"

namespace nbcc {
namespace {

struct Rank {
  Exchange::End end{};
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  std::vector<int64_t> in, out;
  std::vector<nbc_request> requests;
  size_t looked = 0;  // calls that were done
};

class World {
 public:
  Compiled compiled;
  Exchange exchange;
  hca::Fabric fabric;
  std::vector<Rank> ranks;

  World(const char *algorithm, int64_t count, Protocol protocol, uint32_t depth, size_t calls,
        uint64_t seed)
      : compiled(algorithm, count, protocol),
        exchange(static_cast<int>(count)),
        fabric({.mode = hca::Mode::Simulated, .seed = seed, .adversarial = seed != 0}),
        ranks(static_cast<size_t>(count)) {
    EXPECT_EQ(compiled.said.str(), "");
    for (size_t r = 0; r < ranks.size(); ++r) {
      Rank &rank = ranks[r];
      rank.end = {&exchange, static_cast<int>(r)};
      rank.in.assign(ranks.size(), 7);
      rank.out.assign(ranks.size(), 0);
      rank.requests.resize(calls);
      nbc_bootstrap b = exchange.bootstrap(&rank.end, false);
      nbc_hca *hca = fabric.addAdapter();
      observe(hca);
      nbc_device *device = &hca->device;
      EXPECT_EQ(nbc_comm_create(&b, &device, 1, &rank.comm), 0);
      const nbc_plan_options options = {.depth = depth, .eager_bytes = 64};
      const Template &t = compiled.templates[r];
      EXPECT_EQ(nbc_plan_create(rank.comm, t.data(), t.bytes, &options, &rank.plan), 0);
    }
    for (Rank &rank : ranks) EXPECT_EQ(nbc_plan_connect(rank.plan), 0);
    for (Rank &rank : ranks)
      for (nbc_request &request : rank.requests) {
        const nbc_call call = {.in = rank.in.data(),
                               .out = rank.out.data(),
                               .data = rank.out.data(),
                               .count = 1,
                               .type = NBC_I64,
                               .op = NBC_SUM};
        EXPECT_EQ(nbc_start(rank.plan, &call, &request), 0);
      }
  }
  ~World() {
    self = nullptr;
    for (Rank &rank : ranks) EXPECT_EQ(nbc_plan_free(rank.plan), 0);
    for (Rank &rank : ranks) EXPECT_EQ(nbc_comm_free(rank.comm), 0);
  }

  /// Messages that came where no receive was.
  uint64_t missing() const {
    const hca::Counters n = fabric.counters();
    return n.rnrNaks - n.forcedRnr;
  }

  void look(Rank &rank) {
    for (int done = 1; done && rank.looked < rank.requests.size(); rank.looked += size_t(done))
      EXPECT_EQ(nbc_test(&rank.requests[rank.looked], &done), 0);
  }

  /// Until nothing happens any more; hosts that `sleep` look only then.
  void finish(const std::function<bool(size_t)> &sleeps) {
    for (uint64_t before = UINT64_MAX; before != fabric.counters().events;) {
      before = fabric.counters().events;
      fabric.run([&](const hca::Completion &c) {
        if (!sleeps(c.rank)) look(ranks[c.rank]);
        return true;
      });
      for (Rank &rank : ranks) look(rank);
    }
    for (Rank &rank : ranks) EXPECT_EQ(rank.looked, rank.requests.size());
  }

  std::vector<std::vector<uint32_t>> made;  // by rank: queue pairs, in the order of the template

 private:
  /// Sees queue pairs on their way to the adapter.
  void observe(nbc_hca *hca) {
    below = hca->ops;
    ops = *below;
    ops.create_qp = [](nbc_hca *h, const nbc_hca_qp_request *request, nbc_hca_qp *qp) {
      const int status = below->create_qp(h, request, qp);
      if (self && !status) self->made.back().push_back(qp->number);
      return status;
    };
    hca->ops = &ops;
    self = this;
    made.emplace_back();
  }
  nbc_hca_ops ops{};
  static inline const nbc_hca_ops *below = nullptr;
  static inline World *self = nullptr;
};

TEST(Resources, noReceiveIsMissing) {
  for (const char *algorithm : {"allgather/ring", "allgather/bruck", "alltoall/linear"})
    for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous, Protocol::automatic})
      for (const uint32_t depth : {1, 2, 5})
        for (const uint64_t seed : {0, 1}) {
          World w(algorithm, 7, protocol, depth, 6 * depth, seed);
          w.finish([](size_t rank) { return rank == 3; });
          EXPECT_EQ(w.missing(), 0u) << algorithm << ", depth " << depth << ", seed " << seed;
          EXPECT_TRUE(w.fabric.findings().empty()) << w.fabric.findings()[0];
        }
}

/// Of a bcast between two ranks one host has seen the end of `over` calls and then looks no more;
/// so many of the receives that its rank posts on the queue of this kind are taken away.
uint64_t missing(Protocol protocol, uint32_t depth, size_t sleeper, size_t over,
                 nbc_queue_kind kind, uint32_t taken) {
  World w("bcast/binomial", 2, protocol, depth, over + 4 * depth, 0);
  const nbc_template &t = *static_cast<const nbc_template *>(w.compiled.templates[sleeper].data());
  const auto *queues = reinterpret_cast<const nbc_queue *>(
      static_cast<const char *>(w.compiled.templates[sleeper].data()) + t.queues.offset);
  for (uint32_t q = 0; q < t.queues.count; ++q)
    if (queues[q].kind == uint32_t(kind)) w.fabric.dropReceives(w.made[sleeper][q], taken);
  w.finish([&](size_t rank) { return rank == sleeper && w.ranks[rank].looked >= over; });
  return w.missing();
}

/// Calls have one message. The receiver sees the end of the first of window 1, and so puts the
/// first of window 3 into its rings, whose credit lets the sender go through windows 3 and 4.
TEST(Resources, oneSetOfSlotsIsSpare) {
  for (const uint32_t depth : {1, 2, 3, 7}) {
    const auto taken = [=](uint32_t count) {
      return missing(Protocol::eager, depth, 1, depth + 1, NBC_QUEUE_EAGER, count);
    };
    EXPECT_EQ(taken(0), 0u) << depth;
    EXPECT_EQ(taken(1), 0u) << depth;
    EXPECT_GT(taken(2), 0u) << depth;
  }
}

/// The sender has calls 5 up to 4 + depth in its rings; the receiver sends leave for those and the
/// next.
TEST(Resources, threeClearToSendsAreSpare) {
  for (const uint32_t depth : {1, 2, 3, 7}) {
    const auto taken = [=](uint32_t count) {
      return missing(Protocol::rendezvous, depth, 0, 5, NBC_QUEUE_CTS, count);
    };
    EXPECT_EQ(taken(3), 0u) << depth;
    EXPECT_GT(taken(4), 0u) << depth;
  }
}

/// What legalize counts before there are bytes is what the runtime counts in them: the same depths
/// are refused on the same adapters, with the same numbers.
TEST(Resources, compilerAndRuntimeCountAlike) {
  size_t fit = 0, refused = 0;
  for (const char *algorithm : {"allgather/ring", "allgather/bruck", "allreduce/recursive_doubling",
                                "gather/linear", "barrier/dissemination"})
    for (const Protocol protocol :
         {Protocol::eager, Protocol::rendezvous, Protocol::direct, Protocol::automatic}) {
      Compiled all(algorithm, 5, protocol);
      ASSERT_EQ(all.said.str(), "");
      for (const int log : {5, 6, 8}) {
        Device device = all.options.target->devices.front();
        device.logQueue = log;
        const nbc_hca_facts facts = {.max_gather = 30,
                                     .max_scatter = 32,
                                     .max_log_sq = uint32_t(log),
                                     .max_log_rq = uint32_t(log),
                                     .max_log_cq = 22,
                                     .calc = device.calc,
                                     .waits = NBC_HCA_WAITS_CQ};
        for (int depth = 1; depth < 16; ++depth) {
          const char *why = "";
          const int status = nbc_hca_fits(all.templates[0].data(), all.templates[0].bytes,
                                          uint32_t(depth), &facts, &why);
          std::ostringstream said;
          Diag diag(said);
          all.options.targetOptions.device = &device;
          all.options.targetOptions.depth = depth;
          Compilation(*all.compilation, diag).compile(5, 0, 0, true);
          ++(status ? refused : fit);
          EXPECT_EQ(said.str().empty(), status == 0)
              << algorithm << ", depth " << depth << " of 2^" << log << ": " << said.str() << why;
          // What is too long by its messages alone is refused before the rest is counted.
          if (status && said.str().find(": a queue holds") == std::string::npos) {
            const std::string text = why;
            const std::string needs = text.substr(text.find("needs ") + 6);
            EXPECT_NE(said.str().find("needs " + needs.substr(0, needs.find(':'))),
                      std::string::npos)
                << said.str() << why;
          }
        }
      }
    }
  EXPECT_GT(fit, 100u);
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace nbcc
