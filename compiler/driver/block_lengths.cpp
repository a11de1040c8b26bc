// SPDX-License-Identifier: BSD-3-Clause
// block_lengths.cpp - lengths and places of blocks, from a key.

#include "compiler/driver/block_lengths.h"

#include <algorithm>
#include <numeric>

namespace nbcc {

/// splitmix64.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

BlockLengths BlockLengths::drawn(uint64_t longest, uint64_t key) {
  BlockLengths result(longest);
  result.each_ = true;
  result.key_ = key;
  return result;
}

BlockLengths BlockLengths::given(std::vector<uint64_t> counts) {
  BlockLengths result(*std::max_element(counts.begin(), counts.end()));
  result.each_ = true;
  result.given_ = std::move(counts);
  return result;
}

uint64_t BlockLengths::of(int64_t block) const {
  if (!each_) return longest_;
  const auto number = static_cast<uint64_t>(block);
  if (!given_.empty()) return given_[number % given_.size()];
  const uint64_t random = mix(key_ ^ mix(number)), more = random >> 8;
  switch (random % 6) {
    case 0:
      return 0;
    case 1:
      return std::min<uint64_t>(1, longest_);
    case 2:
      return longest_;
    case 3:
      return longest_ ? (more % longest_) | 1 : 0;  // odd, and not beyond
    default:
      return more % (longest_ + 1);
  }
}

void Layout::spread(const std::vector<std::byte> &packed, std::vector<std::byte> &memory) const {
  auto from = packed.begin();
  for (size_t i = 0; i < at.size(); ++i) {
    std::copy_n(from, bytes[i], memory.begin() + static_cast<ptrdiff_t>(at[i]));
    from += static_cast<ptrdiff_t>(bytes[i]);
  }
}

Layout packedLayout(const std::vector<uint64_t> &elements, nbc_type type) {
  Layout l;
  for (const uint64_t n : elements) {
    l.at.push_back(l.size);
    l.bytes.push_back(n * nbc_type_size(type));
    l.size += l.bytes.back();
  }
  return l;
}

Layout layoutOf(const std::vector<uint64_t> &elements, nbc_type type,
                const std::vector<bool> &isBytes, uint64_t key) {
  const size_t size = nbc_type_size(type), blocks = elements.size();
  Layout l;
  l.at.resize(blocks);
  l.displacements.resize(blocks);
  std::vector<size_t> order(blocks);
  std::iota(order.begin(), order.end(), size_t{0});
  const bool packed = mix(key) % 4 == 0;
  if (!packed)
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return mix(key ^ mix(a)) < mix(key ^ mix(b)); });
  const size_t unit = isBytes.empty() ? size : 1;  // of displacements
  for (const size_t i : order) {
    if (!packed) l.size += unit * (mix(key + i) % 4);
    l.at[i] = l.size;
    l.displacements[i] = static_cast<ptrdiff_t>(l.size / unit);
    l.size += elements[i] * size;
  }
  if (packed)
    l.displacements.clear();
  else
    l.size += unit;
  for (size_t i = 0; i < blocks; ++i) {
    const bool asBytes = !isBytes.empty() && isBytes[i];
    l.bytes.push_back(elements[i] * size);
    l.counts.push_back(asBytes ? elements[i] * size : elements[i]);
    if (!isBytes.empty()) l.types.push_back(asBytes ? NBC_BYTE : type);
  }
  return l;
}

}  // namespace nbcc
