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
    if (!memory_ || bytes > bytes_) {
      clear();
      memory_ = std::malloc(bytes + alignment);
      if (!memory_) throw std::bad_alloc();
      bytes_ = bytes;
    }
    const std::size_t over = reinterpret_cast<std::uintptr_t>(memory_) % alignment;
    return static_cast<std::byte *>(memory_) + (alignment - over);
  }
  void clear() {
    std::free(memory_);
    memory_ = nullptr;
  }
  /// What is short may serve the next call.
  void leave() {
    constexpr std::size_t few = 4096;
    if (bytes_ > few) clear();
  }

 private:
  void *memory_ = nullptr;
  std::size_t bytes_ = 0;  // there, if any
};

}  // namespace nbcc::dropin
