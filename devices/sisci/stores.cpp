// SPDX-License-Identifier: BSD-3-Clause
// stores.cpp - the shadow of a mapped remote segment: pages are opened, closed and compared.

#include "devices/sisci/stores.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>

namespace sisci {

namespace {

constexpr size_t wordBytes = sizeof(uint64_t);

uint64_t bitsOf(uint8_t mask) {
  uint64_t bits = 0;
  for (unsigned b = 0; b < wordBytes; ++b)
    if (mask >> b & 1) bits |= uint64_t{0xff} << 8 * b;
  return bits;
}

uint8_t differing(uint64_t a, uint64_t b) {
  uint8_t mask = 0;
  for (unsigned i = 0; i < wordBytes; ++i)
    if ((a ^ b) >> 8 * i & 0xff) mask |= static_cast<uint8_t>(1u << i);
  return mask;
}

uint64_t merged(uint64_t old, uint64_t value, uint8_t mask) {
  const uint64_t bits = bitsOf(mask);
  return (old & ~bits) | (value & bits);
}

uint8_t *pages(size_t bytes) {
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<uint8_t *>(at);
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "bit b of a mask is byte b of its word");

void Batch::arrive(Word &word) {
  auto *there = reinterpret_cast<uint64_t *>(memory->base + offset) + word.index;
  word.arrived = true;
  --left;
  if (word.mask == 0xff) {
    __atomic_store_n(there, word.value, __ATOMIC_RELEASE);
    return;
  }
  uint64_t old = __atomic_load_n(there, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(there, &old, merged(old, word.value, word.mask), false,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

std::unique_ptr<Shadow> Shadow::make(std::shared_ptr<Memory> memory, size_t offset, size_t bytes,
                                     void *fixed, bool readOnly) {
  std::unique_ptr<Shadow> s(new Shadow);
  s->memory_ = std::move(memory);
  s->offset_ = offset;
  s->bytes_ = bytes;
  s->readOnly_ = readOnly;
  Memory own;
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  own.base = static_cast<uint8_t *>(at);
  own.bytes = bytes;
  s->view_ = own.again(0, bytes, fixed, false);
  s->alias_ = std::exchange(own.base, nullptr);
  s->twin_ = pages(bytes);
  s->held_ = pages(bytes);
  s->mask_ = pages(wholePages(bytes / wordBytes));
  if (!s->view_ || !s->twin_ || !s->held_ || !s->mask_) return nullptr;
  mprotect(s->view_, bytes, PROT_NONE);
  s->isOpen_.resize(bytes / pageSize());
  s->open_.reserve(bytes / pageSize());  // open() runs in a signal handler
  s->isDirty_.resize(bytes / pageSize());
  return s;
}

Shadow::~Shadow() {
  for (uint8_t *at : {view_, alias_, twin_, held_})
    if (at) munmap(at, bytes_);
  if (mask_) munmap(mask_, wholePages(bytes_ / wordBytes));
}

bool Shadow::contains(const void *address) const {
  auto *at = static_cast<const uint8_t *>(address);
  return at >= view_ && at < view_ + bytes_;
}

/// What a word of the remote memory holds once all that is under way is there.
uint64_t Shadow::expected(size_t word) const {
  uint64_t value = __atomic_load_n(at(memory_->base + offset_, word), __ATOMIC_ACQUIRE);
  for (const auto &batch : underWay) {
    auto found = std::ranges::lower_bound(batch->words, word, {}, &Word::index);
    if (found != batch->words.end() && found->index == word && !found->arrived)
      value = merged(value, found->value, found->mask);
  }
  return merged(value, *at(held_, word), mask_[word]);
}

void Shadow::fill(size_t page) {
  const size_t words = pageSize() / wordBytes;
  for (size_t w = page * words; w < (page + 1) * words; ++w)
    *at(alias_, w) = *at(twin_, w) = expected(w);
}

bool Shadow::open(const void *address, bool writes) {
  if (readOnly_ && writes) return false;
  auto page = static_cast<uint32_t>(
      static_cast<size_t>(static_cast<const uint8_t *>(address) - view_) / pageSize());
  if (isOpen_[page]) return true;  // another thread was faster
  fill(page);
  mprotect(view_ + page * pageSize(), pageSize(), readOnly_ ? PROT_READ : PROT_READ | PROT_WRITE);
  isOpen_[page] = 1;
  open_.push_back(page);
  return true;
}

void Shadow::hold(size_t word, uint64_t value, uint8_t mask) {
  *at(held_, word) = merged(*at(held_, word), value, mask);
  mask_[word] |= mask;
  auto page = static_cast<uint32_t>(word * wordBytes / pageSize());
  if (isDirty_[page]) return;
  isDirty_[page] = 1;
  dirty_.push_back(page);
}

void Shadow::close() {
  if (open_.empty()) return;
  mprotect(view_, bytes_, PROT_NONE);
  const size_t words = pageSize() / wordBytes;
  for (uint32_t page : open_) {
    isOpen_[page] = 0;
    for (size_t w = page * words; w < (page + 1) * words; ++w)
      if (uint8_t mask = differing(*at(alias_, w), *at(twin_, w))) hold(w, *at(alias_, w), mask);
  }
  open_.clear();
}

void Shadow::store(size_t offset, const void *from, size_t bytes) {
  close();
  auto *source = static_cast<const uint8_t *>(from);
  while (bytes) {
    const size_t first = offset % wordBytes, n = std::min(bytes, wordBytes - first);
    uint64_t value = 0;
    std::memcpy(reinterpret_cast<uint8_t *>(&value) + first, source, n);
    hold(offset / wordBytes, value, static_cast<uint8_t>(((1u << n) - 1) << first));
    offset += n;
    source += n;
    bytes -= n;
  }
}

void Shadow::load(size_t offset, void *to, size_t bytes) {
  close();
  auto *target = static_cast<uint8_t *>(to);
  while (bytes) {
    const size_t first = offset % wordBytes, n = std::min(bytes, wordBytes - first);
    const uint64_t value = expected(offset / wordBytes);
    std::memcpy(target, reinterpret_cast<const uint8_t *>(&value) + first, n);
    offset += n;
    target += n;
    bytes -= n;
  }
}

std::shared_ptr<Batch> Shadow::batchOf(std::vector<Word> words) const {
  auto batch = std::make_shared<Batch>();
  batch->memory = memory_;
  batch->offset = offset_;
  batch->left = words.size();
  batch->words = std::move(words);
  return batch;
}

std::shared_ptr<Batch> Shadow::take() {
  close();
  std::vector<Word> words;
  const size_t perPage = pageSize() / wordBytes;
  std::ranges::sort(dirty_);
  for (uint32_t page : dirty_) {
    isDirty_[page] = 0;
    for (size_t w = page * perPage; w < (page + 1) * perPage; ++w)
      if (mask_[w]) {
        words.push_back({static_cast<uint32_t>(w), mask_[w], false, *at(held_, w)});
        mask_[w] = 0;
      }
  }
  dirty_.clear();
  return batchOf(std::move(words));
}

void Shadow::takeSome(uint64_t oneIn, const std::function<uint64_t(uint64_t)> &below,
                      std::vector<Word> &words) {
  close();
  const size_t perPage = pageSize() / wordBytes;
  for (uint32_t page : dirty_)
    for (size_t w = page * perPage; w < (page + 1) * perPage; ++w)
      if (mask_[w] && below(oneIn) == 0) {
        words.push_back({static_cast<uint32_t>(w), mask_[w], false, *at(held_, w)});
        mask_[w] = 0;
      }
}

}  // namespace sisci
