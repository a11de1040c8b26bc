// SPDX-License-Identifier: BSD-3-Clause
// measure.cpp - rounds of short batches: latency and start, CPU time, overlap.
//
//   round    contestant 0: batch | contestant 1: batch | ...
//   round    contestant 1: batch | ...                        and so on in turn
//
// So whatever disturbs the machine for longer than a round disturbs all. Batches, not single calls,
// so that each finds its own code and data in the caches, as in an application.

#include "tools/bench/measure.h"

#include <algorithm>

#include "nbc/transfer.h"
#include "tools/bench/clock.h"
#include "tools/bench/together.h"

namespace nbcc::bench {
namespace {

constexpr double batchMicroseconds = 300;
constexpr size_t mostInBatch = 32, leastRounds = 10, warmup = 8;
constexpr double leastComputing = 1;  // microseconds
constexpr size_t mostSamples = 200000;

/// What it takes to read the clock: it is in every time.
double clockCost() {
  std::vector<double> costs;
  for (int i = 0; i < 1000; ++i) {
    const double begin = now();
    costs.push_back(now() - begin);
  }
  return medianOf(costs);
}

class Meter {
 public:
  Meter(const Options &o, const Computation &c, Arguments &a, const std::vector<Contestant> &who)
      : options_(o), arguments_(a), who_(who), computation_(c), clock_(clockCost()) {}

  std::vector<Result> measure() {
    check();
    for (const Contestant &c : who_) {
      Result r = {};
      r.collective = &arguments_.collective();
      r.algorithm = c.algorithm;
      r.target = c.target;
      r.transfer = c.transfer;
      r.nonblocking = !c.blocks;
      r.bytes = arguments_.size();
      results_.push_back(r);
    }
    plan();
    const size_t rounds = inTurns(*std::ranges::min_element(batch_), [&](size_t i) {
      latencyBatch(i, results_[i].starts, results_[i].latencies);
      cpu_[i] += cpuBatch(i);
    });
    for (size_t i = 0; i < who_.size(); ++i) {
      Result &r = results_[i];
      slowest(r.starts.data(), r.starts.size());
      slowest(r.latencies.data(), r.latencies.size());
      r.start = spreadOf(r.starts);
      r.latency = spreadOf(r.latencies);
      r.calls = r.latencies.size();
      r.cpu = average(cpu_[i]) / double(batch_[i] * rounds);
    }
    for (int tests : options_.tests) overlap(tests);
    return std::move(results_);
  }

 private:
  void check() {
    for (const Contestant &c : who_) {
      const bool right = arguments_.isRight(c);
      together([&] {
        if (!right)
          throw Refused("the result of " + c.algorithm + " for " +
                        std::to_string(arguments_.size()) + " bytes is wrong");
      });
    }
  }

  /// How many calls a batch has: the same on all ranks.
  void plan() {
    cpu_.assign(who_.size(), 0);
    batch_.assign(who_.size(), warmup);
    for (size_t i = 0; i < who_.size(); ++i) {
      std::vector<double> starts, latencies;
      latencyBatch(i, starts, latencies);
      latencyBatch(i, starts, latencies);
      slowest(latencies.data(), latencies.size());
      const double latency = std::max(medianOf(latencies), 0.1);
      batch_[i] = std::clamp(size_t(batchMicroseconds / latency), size_t{1}, mostInBatch);
    }
  }

  /// Rounds, until the time is over or there were enough calls; returns how many. Rank 0's clock
  /// is the one that counts, and it is asked a few times only.
  template <class Work>
  size_t inTurns(size_t callsInBatch, const Work &work) {
    const double begin = now(), limit = options_.seconds * 1e6 * double(who_.size());
    size_t rounds = 0;
    for (uint64_t more = 1; more;) {
      for (uint64_t k = 0; k < more; ++k, ++rounds)
        for (size_t i = 0; i < who_.size(); ++i) work((i + rounds) % who_.size());
      if (options_.calls) {
        const size_t wanted = (options_.calls + callsInBatch - 1) / callsInBatch;
        more = wanted > rounds ? wanted - rounds : 0;
        continue;
      }
      const double elapsed = now() - begin, left = limit - elapsed;
      const double most = double(mostSamples / callsInBatch) - double(rounds);
      more = uint64_t(std::max(0.0, std::min(left / elapsed * double(rounds), most)));
      if (rounds < leastRounds) more = std::max(more, leastRounds - rounds);
      more = std::min(more, 4 * rounds);  // the first are no good guess
      MPI_Bcast(&more, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    }
    return rounds;
  }

  void latencyBatch(size_t i, std::vector<double> &starts, std::vector<double> &latencies) {
    if (!options_.barrierEach) MPI_Barrier(MPI_COMM_WORLD);
    for (size_t k = 0; k < batch_[i]; ++k) {
      Flight flight;
      if (options_.barrierEach) MPI_Barrier(MPI_COMM_WORLD);
      const double begin = now();
      flight.start(who_[i], arguments_);
      const double started = now();
      flight.wait(who_[i]);
      const double end = now();
      const double start = std::max(started - begin - clock_, 0.0);
      starts.push_back(start);
      latencies.push_back(who_[i].blocks ? start : std::max(end - begin - 2 * clock_, start));
    }
  }

  double cpuBatch(size_t i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = processTime();
    for (size_t k = 0; k < batch_[i]; ++k) {
      Flight flight;
      flight.start(who_[i], arguments_);
      flight.wait(who_[i]);
    }
    return processTime() - before;
  }

  struct Times {
    std::vector<double> total, computing, latencies, starts;
    double cpu = 0;
  };

  /// One call of each kind, one behind the other.
  void overlapOnce(size_t i, int tests, uint64_t steps, Times &t) {
    const Contestant &who = who_[i];
    const uint64_t part = steps / uint64_t(tests + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double used = processTime();
    double begin = now();
    for (int k = 0; k <= tests; ++k) computation_.run(part);
    t.computing.push_back(now() - begin);
    t.cpu -= processTime() - used;

    Flight flight;
    MPI_Barrier(MPI_COMM_WORLD);
    used = processTime();
    begin = now();
    flight.start(who, arguments_);
    bool done = false;
    for (int k = 0; k < tests; ++k) {
      computation_.run(part);
      if (!done) done = flight.test(who);
    }
    computation_.run(part);
    if (!done) flight.wait(who);
    t.total.push_back(now() - begin);
    t.cpu += processTime() - used;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = now();
    flight.start(who, arguments_);
    flight.wait(who);
    t.latencies.push_back(now() - begin);
  }

  void overlap(int tests) {
    std::vector<Times> times(who_.size());
    std::vector<uint64_t> steps;
    for (const Result &r : results_)
      steps.push_back(
          computation_.stepsFor(std::max(r.latency.median * options_.compute, leastComputing)));
    inTurns(1, [&](size_t i) {
      if (!who_[i].blocks) overlapOnce(i, tests, steps[i], times[i]);
    });
    for (size_t i = 0; i < who_.size(); ++i)
      if (!who_[i].blocks) results_[i].overlaps.push_back(summarize(tests, times[i]));
  }

  static double overlapOf(double total, double computing, double latency) {
    return 1 - (total - computing) / latency;
  }

  static Overlap summarize(int tests, Times &t) {
    const size_t n = t.total.size();
    slowest(t.total.data(), n);
    slowest(t.computing.data(), n);
    slowest(t.latencies.data(), n);
    std::vector<double> single;
    for (size_t k = 0; k < n; ++k)
      single.push_back(overlapOf(t.total[k], t.computing[k], t.latencies[k]));
    Overlap o = {};
    o.tests = tests;
    o.total = spreadOf(t.total);
    o.computing = spreadOf(t.computing);
    o.latency = medianOf(t.latencies);
    o.overlap = overlapOf(o.total.median, o.computing.median, o.latency);
    const Spread spread = spreadOf(single);
    o.low = spread.low, o.high = spread.high;
    o.cpu = average(t.cpu) / double(n);
    o.calls = n;
    return o;
  }

  const Options &options_;
  Arguments &arguments_;
  const std::vector<Contestant> &who_;
  const Computation &computation_;
  const double clock_;
  std::vector<size_t> batch_;
  std::vector<double> cpu_;  // of all batches
  std::vector<Result> results_;
};

}  // namespace

std::string nameOf(const Result &r) {
  std::string name = r.algorithm;
  if (!r.target.empty()) name += ":" + r.target;
  return r.transfer ? name + " by " + nbc_transfer_name(r.transfer) : name;
}

std::vector<Result> measure(const Options &o, const Computation &c, Arguments &a,
                            const std::vector<Contestant> &who) {
  return Meter(o, c, a, who).measure();
}

}  // namespace nbcc::bench
