// SPDX-License-Identifier: BSD-3-Clause
// exchange.h - the bootstrap (nbc.h) of ranks that live in one process.

#pragma once

#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "nbc.h"

namespace nbcc {

inline constexpr auto kExchangePatience = std::chrono::seconds(60);

/// What ranks tell each other, as a process manager would.
class Exchange {
 public:
  explicit Exchange(int ranks)
      : ranks_(ranks), fence_(ranks), values_(static_cast<size_t>(ranks)) {}

  struct End {
    Exchange *exchange;
    int rank;
  };
  nbc_bootstrap bootstrap(End *end, bool threads) {
    nbc_bootstrap b{};
    b.rank = end->rank;
    b.ranks = ranks_;
    b.context = end;
    b.put = [](void *context, const char *key, const void *data, size_t bytes) {
      auto *e = static_cast<End *>(context);
      return e->exchange->put(e->rank, key, data, bytes);
    };
    b.get = [](void *context, int rank, const char *key, void *data, size_t capacity,
               size_t *bytes) {
      return static_cast<End *>(context)->exchange->get(rank, key, data, capacity, bytes);
    };
    if (threads)
      b.fence = [](void *context) {
        static_cast<End *>(context)->exchange->fence_.arrive_and_wait();
        return 0;
      };
    return b;
  }

 private:
  int put(int rank, const char *key, const void *data, size_t bytes) {
    const std::byte *begin = static_cast<const std::byte *>(data);
    std::lock_guard lock(mutex_);
    values_[static_cast<size_t>(rank)][key] = std::vector<std::byte>(begin, begin + bytes);
    changed_.notify_all();
    return 0;
  }
  int get(int rank, const char *key, void *data, size_t capacity, size_t *bytes) {
    std::unique_lock lock(mutex_);
    auto &of = values_[static_cast<size_t>(rank)];
    auto it = of.end();
    auto there = [&] { return (it = of.find(key)) != of.end(); };
    if (!changed_.wait_for(lock, kExchangePatience, there) || it->second.size() > capacity)
      return -1;
    *bytes = it->second.size();
    std::copy(it->second.begin(), it->second.end(), static_cast<std::byte *>(data));
    return 0;
  }

  int ranks_;
  std::barrier<> fence_;
  std::mutex mutex_;
  std::condition_variable changed_;
  /// Of each rank: what thousands of ranks ask of each other takes most of the time of making
  /// plans.
  std::vector<std::unordered_map<std::string, std::vector<std::byte>>> values_;
};

}  // namespace nbcc
