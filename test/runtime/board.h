// SPDX-License-Identifier: BSD-3-Clause
// board.h - what ranks of one process tell each other, in one thread or in one each.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nbc.h"

/// A bootstrap in memory.
struct Board {
  std::map<std::pair<int, std::string>, std::vector<uint8_t>> entries;
  struct Context {
    Board *board;
    int rank;
  };
  static int put(void *context, const char *key, const void *data, size_t bytes) {
    auto *c = static_cast<Context *>(context);
    const auto *b = static_cast<const uint8_t *>(data);
    c->board->entries[{c->rank, key}].assign(b, b + bytes);
    return 0;
  }
  static int get(void *context, int rank, const char *key, void *data, size_t capacity,
                 size_t *bytes) {
    auto *c = static_cast<Context *>(context);
    auto found = c->board->entries.find({rank, key});
    if (found == c->board->entries.end() || found->second.size() > capacity) return -1;
    *bytes = found->second.size();
    std::memcpy(data, found->second.data(), *bytes);
    return 0;
  }
};

/// A bootstrap between threads: `get` waits, `fence` counts.
struct Meeting {
  Board board;
  std::mutex mutex;
  std::condition_variable changed;
  int ranks = 0, arrived = 0, fences = 0;
  struct Context {
    Meeting *meeting;
    Board::Context board;
  };
  static int put(void *context, const char *key, const void *data, size_t bytes) {
    auto *c = static_cast<Context *>(context);
    std::lock_guard lock(c->meeting->mutex);
    c->meeting->changed.notify_all();
    return Board::put(&c->board, key, data, bytes);
  }
  static int get(void *context, int rank, const char *key, void *data, size_t capacity,
                 size_t *bytes) {
    auto *c = static_cast<Context *>(context);
    std::unique_lock lock(c->meeting->mutex);
    while (Board::get(&c->board, rank, key, data, capacity, bytes)) c->meeting->changed.wait(lock);
    return 0;
  }
  static int fence(void *context) {
    auto *m = static_cast<Context *>(context)->meeting;
    std::unique_lock lock(m->mutex);
    int mine = m->fences;
    if (++m->arrived == m->ranks) ++m->fences, m->arrived = 0, m->changed.notify_all();
    while (m->fences == mine) m->changed.wait(lock);
    return 0;
  }
};

/// Plays each rank in a thread of its own: part(rank, bootstrap). Returns when all have come back.
template <class Part>
void asThreads(int ranks, const Part &part) {
  Meeting meeting;
  meeting.ranks = ranks;
  std::vector<std::thread> threads;
  for (int me = 0; me < ranks; ++me)
    threads.emplace_back([&, me] {
      Meeting::Context context = {&meeting, {&meeting.board, me}};
      const nbc_bootstrap b = {me, ranks, &context, Meeting::put, Meeting::get, Meeting::fence};
      part(me, b);
    });
  for (std::thread &t : threads) t.join();
}
