// SPDX-License-Identifier: BSD-3-Clause
// stores.h - stores into a mapped remote segment that are not there yet.
//
// A map is a shadow: pages of its own, which the program may not touch until it does. The first
// access after a barrier faults, and the page is filled with what the remote memory holds, or will
// hold once all that is held back or under way has arrived. What the program then stores is found
// by comparing with what the page was filled with:
//
//   view     the program's address: closed, or open since the first access
//   alias    the same pages, for the library
//   twin     what an open page was filled with
//   held     bytes that were stored and not yet moved; `mask` says which, 8 bits for each word
//
// Words are moved by compare-and-swap of their 8 bytes, of which only those stored change; so
// aligned stores of up to 8 bytes arrive whole, and bytes beside them that another node writes are
// safe.
//
// A store that changes nothing is not seen. That matters in one case: another node changes the same
// bytes after the page was opened, and the program stores, without a barrier in between,
// what they were before. Pages that stay open are closed again from time to time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "devices/sisci/memory.h"
#include "devices/sisci/sisci.h"

namespace sisci {

/// Some of 8 bytes, on their way.
struct Word {
  uint32_t index;
  uint8_t mask;  // which of its bytes
  bool arrived = false;
  uint64_t value;
};

/// What a barrier pushed: sorted by index.
struct Batch {
  std::shared_ptr<Memory> memory;
  size_t offset;  // of word 0 in it
  std::vector<Word> words;
  size_t left;  // that have not arrived
  void arrive(Word &);
};

class Shadow {
 public:
  /// Null: there is no room.
  static std::unique_ptr<Shadow> make(std::shared_ptr<Memory>, size_t offset, size_t bytes,
                                      void *fixed, bool readOnly);
  ~Shadow();
  Shadow(const Shadow &) = delete;
  Shadow &operator=(const Shadow &) = delete;

  uint8_t *view() const { return view_; }
  bool contains(const void *address) const;
  /// The page of this address can be accessed from here on. False: it could be before, and the
  /// access was none that is allowed.
  bool open(const void *address, bool writes);
  /// Finds what was stored, and closes all pages.
  void close();
  bool isOpen() const { return !open_.empty(); }
  bool holds() const { return !dirty_.empty(); }

  /// As a store and a load of the program's would.
  void store(size_t offset, const void *from, size_t bytes);
  void load(size_t offset, void *to, size_t bytes);

  /// Takes out what is held, or of that about one word of `oneIn`.
  std::shared_ptr<Batch> take();
  void takeSome(uint64_t oneIn, const std::function<uint64_t(uint64_t)> &below,
                std::vector<Word> &words);
  std::shared_ptr<Batch> batchOf(std::vector<Word> words) const;

  /// Pushed and not there yet, oldest first.
  std::deque<std::shared_ptr<Batch>> underWay;
  Time fence = 0;   // when all that was pushed by barriers is there
  Time newest = 0;  // when all that was pushed is there

 private:
  Shadow() = default;
  uint64_t expected(size_t word) const;
  void fill(size_t page);
  uint64_t *at(uint8_t *base, size_t word) const {
    return reinterpret_cast<uint64_t *>(base) + word;
  }
  void hold(size_t word, uint64_t value, uint8_t mask);

  std::shared_ptr<Memory> memory_;
  size_t offset_ = 0, bytes_ = 0;
  bool readOnly_ = false;
  uint8_t *view_ = nullptr, *alias_ = nullptr, *twin_ = nullptr, *held_ = nullptr;
  uint8_t *mask_ = nullptr;
  std::vector<uint8_t> isOpen_, isDirty_;  // by page
  std::vector<uint32_t> open_, dirty_;     // pages
};

}  // namespace sisci
