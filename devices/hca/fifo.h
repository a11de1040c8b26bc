// SPDX-License-Identifier: BSD-3-Clause
// fifo.h - a queue in one block that is indexed from its front; no memory until the first push.
//
// std::deque would take some 600 bytes for each of tens of thousands of empty queues.

#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace hca {

template <class T>
class Fifo {
 public:
  bool empty() const { return count_ == 0; }
  uint32_t size() const { return count_; }
  T &operator[](uint32_t i) { return items_[(first_ + i) & (room_ - 1)]; }
  const T &operator[](uint32_t i) const { return items_[(first_ + i) & (room_ - 1)]; }
  T &front() { return (*this)[0]; }
  T &back() { return (*this)[count_ - 1]; }

  void push(T item) {
    if (count_ == room_) grow();
    (*this)[count_++] = std::move(item);
  }

  T pop() {
    T item = std::move(front());
    front() = T();
    first_ = (first_ + 1) & (room_ - 1);
    --count_;
    return item;
  }

  void clear() { *this = Fifo(); }

 private:
  void grow() {
    uint32_t room = room_ ? 2 * room_ : 2;
    std::unique_ptr<T[]> items = std::make_unique<T[]>(room);
    for (uint32_t i = 0; i < count_; ++i) items[i] = std::move((*this)[i]);
    items_ = std::move(items);
    room_ = room;
    first_ = 0;
  }

  std::unique_ptr<T[]> items_;
  uint32_t room_ = 0, first_ = 0, count_ = 0;
};

}  // namespace hca
