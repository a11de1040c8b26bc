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
  static constexpr std::size_t most_kept = 64 << 20;

  Room() = default;
  Room(const Room &) = delete;
  Room &operator=(const Room &) = delete;
  ~Room() { clear(); }

  /// Aligned, in place of what there was. Throws std::bad_alloc.
  std::byte *take(std::size_t bytes) {
    if (!memory_ || bytes > bytes_) {
      clear();
      if (bytes > huge_page)
        map(bytes);
      else
        allocate(bytes);
      if (!memory_) throw std::bad_alloc();
    }
    return at();
  }
  void clear() {
    if (memory_ && bytes_ > huge_page)
      ::munmap(memory_, bytes_ + huge_page);
    else
      std::free(memory_);
    memory_ = nullptr;
  }
  /// To the next call: it takes longer to get new pages than to pack what is in them.
  void leave() {
    if (bytes_ > most_kept) clear();
  }

 private:
  static constexpr std::size_t huge_page = 2 << 20;

  std::byte *at() const {
    const std::size_t unit = bytes_ > huge_page ? huge_page : alignment;
    return static_cast<std::byte *>(memory_) +
           (unit - reinterpret_cast<std::uintptr_t>(memory_) % unit);
  }

  // For a few bytes aligned_alloc() takes longer than a short message.
  void allocate(std::size_t bytes) {
    memory_ = std::malloc(bytes + alignment);
    bytes_ = bytes;
  }

  // In huge pages, where the system has some. Not of malloc(), which takes what is as long as
  // something that was freed from its heap, and there are small ones.
  void map(std::size_t bytes) {
    if (bytes > SIZE_MAX - 2 * huge_page) return;
    bytes = (bytes + huge_page - 1) / huge_page * huge_page;
    void *all = ::mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return;
    memory_ = all;
    bytes_ = bytes;
    ::madvise(at(), bytes_, MADV_HUGEPAGE);
  }

  void *memory_ = nullptr;
  std::size_t bytes_ = 0;  // there, if any
};

}  // namespace nbcc::dropin
