// SPDX-License-Identifier: BSD-3-Clause
// prove_ahead.cpp - threads that take the next number of ranks, from small to large.
//
// From small to large, because the smallest that fails is what one wants to know,
// and nothing above it is worth proving. The largest takes about 3/P of a range's
// time, so that the others wait for it at the end is of no account.
//
// Threads share the checked tree and the compiled code, which nobody changes; a
// Diag and the schedules of peers each has for itself.

#include "compiler/driver/prove_ahead.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <new>
#include <ostream>
#include <thread>
#include <vector>

namespace nbcc {
namespace {

/// A proof takes this many times the bytes of the schedules as written: those to be
/// called in place, what the passes add, and the rows of the prover.
constexpr double kPerByte = 6;

size_t halfOfTheMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<size_t>(pages) / 2 * static_cast<size_t>(size)
                               : size_t{1} << 30;
}

class Ahead {
 public:
  Ahead(const Compilation &c, int64_t from, int64_t to)
      : c_(c), next_(from), to_(to), room_(halfOfTheMemory()) {}

  void work() {
    std::ostream nowhere(nullptr);
    Diag diag(nowhere);
    Compilation mine(c_, diag);
    while (const std::optional<int64_t> ranks = take()) {
      NumberProof proof;
      try {
        proof = proveNumber(mine, *ranks, diag);
      } catch (const std::bad_alloc &) {
        proof = {};  // alone it may have room
      }
      if (!give(*ranks, proof)) return;
    }
  }

  std::map<int64_t, NumberProof> result() { return std::move(proofs_); }

 private:
  std::optional<int64_t> take() {
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return next_ > to_ || room_.isFor(next_); });
    if (next_ > to_) return std::nullopt;
    room_.enter(next_);
    return next_++;
  }

  /// False: nothing above is worth proving.
  bool give(int64_t ranks, const NumberProof &proof) {
    const std::scoped_lock lock(mutex_);
    const bool fine =
        proof.result == NumberProof::Result::proven || proof.result == NumberProof::Result::skipped;
    room_.leave(ranks, proof);
    proofs_[ranks] = proof;
    if (!fine) to_ = std::min(to_, ranks);
    left_.notify_all();
    return fine;
  }

  const Compilation &c_;
  std::mutex mutex_;
  std::condition_variable left_;  // a proof has ended
  int64_t next_, to_;
  Room room_;
  std::map<int64_t, NumberProof> proofs_;
};

}  // namespace

size_t Room::need(int64_t ranks) const {
  if (measuredRanks_ == 0) return std::numeric_limits<size_t>::max();
  // All ranks, each with messages to all, of sections with an extent for each block, are P^3.
  const double times = static_cast<double>(ranks) / static_cast<double>(measuredRanks_);
  const double bytes = kPerByte * static_cast<double>(measuredBytes_) * times * times * times;
  return bytes < 1e18 ? static_cast<size_t>(bytes) : std::numeric_limits<size_t>::max();
}

void Room::enter(int64_t ranks) {
  const size_t bytes = std::min(need(ranks), bytes_);
  needs_[ranks] = bytes;
  taken_ += bytes;
  ++inside_;
}

void Room::leave(int64_t ranks, const NumberProof &proof) {
  const auto entered = needs_.find(ranks);
  taken_ -= entered->second;
  needs_.erase(entered);
  --inside_;
  if (proof.result != NumberProof::Result::proven || ranks < measuredRanks_) return;
  measuredRanks_ = ranks;
  measuredBytes_ = proof.bytes;
}

std::map<int64_t, NumberProof> proveAhead(const Compilation &c, int64_t from, int64_t to,
                                          const Options &o) {
  const int64_t wanted = o.jobs ? o.jobs : std::thread::hardware_concurrency();
  const int64_t jobs = std::min(wanted, to - from + 1);
  if (jobs < 2 || !c.algorithm()) return {};
  Ahead ahead(c, from, to);
  {
    std::vector<std::jthread> threads;
    for (int64_t i = 0; i < jobs; ++i) threads.emplace_back([&] { ahead.work(); });
  }
  return ahead.result();
}

}  // namespace nbcc
