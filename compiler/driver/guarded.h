// SPDX-License-Identifier: BSD-3-Clause
// guarded.h - a buffer that notices when something is written beside it.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nbcc {

/// A buffer with guards around it.
class Guarded {
 public:
  explicit Guarded(const std::vector<std::byte> &content) : size_(content.size()) {
    memory_.assign(size_ + 2 * kGuard, kByte);
    std::ranges::copy(content, memory_.begin() + kGuard);
  }
  void *data() { return memory_.data() + kGuard; }
  size_t size() const { return size_; }
  std::byte at(size_t i) const { return memory_[kGuard + i]; }
  bool guardsIntact() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (memory_[i] != kByte || memory_[kGuard + size() + i] != kByte) return false;
    return true;
  }
  bool holds(const std::vector<std::byte> &content) const {
    return std::equal(content.begin(), content.end(), memory_.begin() + kGuard);
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr std::byte kByte{0xcd};
  size_t size_;
  std::vector<std::byte> memory_;
};

}  // namespace nbcc
