// SPDX-License-Identifier: BSD-3-Clause
// prove.cpp - how long the proof of ring allgather takes, and how much memory.
//
//   bench-prove [ranks]     512 by default: 523,264 communication steps
//
// Made here rather than elaborated, so that only the prover is measured. Prints
// a line per order: steps, milliseconds, nanoseconds a step; then the most memory
// of the process, of which the schedules themselves are most.

#include "compiler/prove/prove.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

namespace nbcc {
namespace {

Schedule ring(int64_t ranks, int64_t rank, Order order) {
  Schedule s;
  s.algorithm = "ring";
  s.kind = ast::Kind::allgather;
  s.ranks = ranks;
  s.rank = rank;
  s.order = order;
  s.rounds = static_cast<int32_t>(ranks - 1);
  s.buffers.resize(2);
  s.buffers[0].name = "in";
  s.buffers[0].role = Role::in;
  s.buffers[0].blocks = 1;
  s.buffers[1].name = "out";
  s.buffers[1].role = Role::out;
  s.buffers[1].blocks = ranks;

  const auto block = [&](BufferId buffer, int64_t i) {
    const Extent e{buffer, 1, i, 1};
    return s.keep(Section(&e, 1));
  };
  Step copy;
  copy.op = Op::copy;
  copy.from = block(0, 0);
  copy.to = block(1, rank);
  s.steps.push_back(copy);
  for (int32_t round = 0; round < s.rounds; ++round) {
    Step step;
    step.round = round;
    step.op = Op::send;
    step.peer = static_cast<int32_t>((rank + 1) % ranks);
    step.from = block(1, (rank - round + ranks) % ranks);
    // It sends what the step before it has received.
    const StepId before = round == 0 ? 0 : static_cast<StepId>(s.steps.size() - 1);
    if (order == Order::waits) step.after = s.keepWaits({before});
    s.steps.push_back(step);

    step.op = Op::recv;
    step.peer = static_cast<int32_t>((rank - 1 + ranks) % ranks);
    step.from = step.after = {};
    step.to = block(1, (rank - 1 - round + ranks) % ranks);
    s.steps.push_back(step);
  }
  return s;
}

int run(int64_t ranks) {
  for (const Order order : {Order::rounds, Order::waits}) {
    std::vector<Schedule> all;
    all.reserve(static_cast<size_t>(ranks));
    size_t steps = 0;
    for (int64_t r = 0; r < ranks; ++r) {
      all.push_back(ring(ranks, r, order));
      steps += all.back().steps.size();
    }
    Diag diag(std::cerr);
    const auto begin = std::chrono::steady_clock::now();
    const Proof proof = prove(all, {}, diag);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (!proof.holds) return 1;
    std::cout << "prove ring allgather, " << ranks << " ranks, " << name(order) << ": " << steps
              << " steps, " << took.count() << " ms, "
              << took.count() * 1e6 / static_cast<double>(steps) << " ns/step\n";
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << "most memory: " << usage.ru_maxrss / 1024 << " MiB\n";
  return 0;
}

}  // namespace
}  // namespace nbcc

int main(int argc, char **argv) {
  return nbcc::run(argc > 1 ? std::atoll(argv[1]) : 512);
}
