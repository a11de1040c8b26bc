// SPDX-License-Identifier: BSD-3-Clause
// memory.h - the bytes of a segment, in as many places of address spaces as one likes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sisci {

/// Whole pages, zeroed; a file without a name, so nothing of it can be left behind. Another process
/// of the same user opens it by way of its owner's table of files.
struct Memory {
  uint8_t *base = nullptr;
  size_t bytes = 0;
  int file = -1;  // the owner's, while others may want to open it
  uint64_t device = 0, inode = 0;

  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory();

  /// Null: there is no room. `reachable`: by other processes.
  static std::shared_ptr<Memory> make(size_t bytes, bool reachable);
  /// Another process's; null: it has gone, or the system does not allow it.
  static std::shared_ptr<Memory> open(int32_t pid, int32_t file, uint64_t device, uint64_t inode,
                                      size_t bytes);

  /// The same pages at a second place; at `fixed`, unless that is null. Null: not possible.
  uint8_t *again(size_t offset, size_t length, void *fixed, bool readOnly) const;
};

size_t pageSize();
size_t wholePages(size_t bytes);

}  // namespace sisci
