// SPDX-License-Identifier: BSD-3-Clause
/// room.h - memory for data, during one call.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace nbcc::dropin {

class Room {
 public:
  /// Of a cache's line: as much as any type wants to be aligned, and a program's own vectors.
  static constexpr std::size_t alignment = 64;

  Room() = default;
  Room(const Room &) = delete;
  Room &operator=(const Room &) = delete;
  ~Room() { clear(); }

  /// Aligned, in place of what there was. Of malloc(): for a few bytes aligned_alloc() takes longer
  /// than a short message. Throws std::bad_alloc.
  std::byte *take(std::size_t bytes) {
    clear();
    memory_ = std::malloc(bytes + alignment);
    if (!memory_) throw std::bad_alloc();
    const std::size_t over = reinterpret_cast<std::uintptr_t>(memory_) % alignment;
    return static_cast<std::byte *>(memory_) + (alignment - over);
  }
  void clear() {
    std::free(memory_);
    memory_ = nullptr;
  }

 private:
  void *memory_ = nullptr;
};

}  // namespace nbcc::dropin
