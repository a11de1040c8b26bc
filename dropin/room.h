// SPDX-License-Identifier: BSD-3-Clause
/// room.h - memory for data, during one call.

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace nbcc::dropin {

class Room {
 public:
  /// Of a cache's line: as much as any type wants to be aligned, and a program's own vectors.
  static constexpr std::size_t alignment = 64;
  /// Of what a call leaves to the next.
  static constexpr std::size_t most_kept = 16 << 20;

  Room() = default;
  Room(const Room &) = delete;
  Room &operator=(const Room &) = delete;
  ~Room() { clear(); }

  /// Aligned, in place of what there was. Of malloc(): for a few bytes aligned_alloc() takes longer
  /// than a short message. Throws std::bad_alloc.
  std::byte *take(std::size_t bytes) {
    if (!memory_ || bytes > bytes_) {
      clear();
      memory_ = std::malloc(bytes + alignment);
      if (!memory_) throw std::bad_alloc();
      bytes_ = bytes;
      if (bytes > most_kept) ask_for_huge_pages();
    }
    const std::size_t over = address() % alignment;
    return static_cast<std::byte *>(memory_) + (alignment - over);
  }
  void clear() {
    std::free(memory_);
    memory_ = nullptr;
  }
  /// To the next call: it takes longer to get new pages than to pack what is in them.
  void leave() {
    if (bytes_ > most_kept) clear();
  }

 private:
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_); }

  // Where the system has none, it stays as it is.
  void ask_for_huge_pages() {
    constexpr std::uintptr_t page = 4096;
    const std::uintptr_t first = (address() + page - 1) / page * page;
    ::madvise(reinterpret_cast<void *>(first), bytes_ / page * page, MADV_HUGEPAGE);
  }

  void *memory_ = nullptr;
  std::size_t bytes_ = 0;  // there, if any
};

}  // namespace nbcc::dropin
