// SPDX-License-Identifier: BSD-3-Clause
// board.h - what ranks of one process tell each other.

#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

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
