// SPDX-License-Identifier: BSD-3-Clause
// own.cpp - promises as numbers of contributions, and as classes of blocks that are equally long.

#include "compiler/prove/own.h"

#include <algorithm>
#include <numeric>

namespace nbcc {

namespace {

/// The buffer that contributions lie in; null: there is none.
const Buffer *given(const Schedule &s) {
  for (const Buffer &buffer : s.buffers)
    if (buffer.role == Role::in || buffer.role == Role::data) return &buffer;
  return nullptr;
}

}  // namespace

int64_t contributionsOfRank(const Schedule &s) {
  const Buffer *buffer = given(s);
  return buffer ? buffer->blocks : 0;
}

std::vector<Value> promised(const Schedule &s, const Promise &promise, int64_t block) {
  const int64_t each = contributionsOfRank(s);
  std::vector<Value> result;
  for (const Source &source : s.sources(promise))
    for (int64_t r = source.rank; r < int64_t{source.rank} + source.ranks; ++r)
      result.push_back(static_cast<Value>(r * each + source.block + block));
  return result;
}

std::string nameOfContribution(const Schedule &s, Value v) {
  const Buffer &buffer = *given(s);
  return cat(buffer.name, buffer.blocks == 1 ? "" : cat("[", v % buffer.blocks, "]"), " of rank ",
             v / buffer.blocks);
}

OwnLengths::OwnLengths(std::span<const Schedule> ranks) {
  for (const Buffer &buffer : ranks[0].buffers) {
    if (!buffer.ofCaller()) continue;
    begin_[static_cast<int>(buffer.role)] = perRank_;
    perRank_ += buffer.blocks;
  }
  like_.resize(ranks.size() * static_cast<size_t>(perRank_));
  std::iota(like_.begin(), like_.end(), int64_t{0});
  for (const Schedule &s : ranks) {
    for (const Buffer &buffer : s.buffers)
      if (buffer.vector) unite(number(0, buffer.role, 0), number(s.rank, buffer.role, 0));
    for (const Promise &promise : s.promises)
      for (int64_t i = 0; i < promise.to.count; ++i)
        for (const Source &source : s.sources(promise))
          for (int64_t r = 0; r < source.ranks; ++r)
            unite(number(s.rank, s.buffers[promise.to.buffer].role, promise.to.first + i),
                  number(source.rank + r, source.role, source.block + i));
  }
}

int64_t OwnLengths::of(int64_t rank, Role role, int64_t block) const {
  return find(number(rank, role, block));
}

int64_t OwnLengths::number(int64_t rank, Role role, int64_t block) const {
  return rank * perRank_ + begin_[static_cast<int>(role)] + block;
}

int64_t OwnLengths::find(int64_t i) const {
  while (like_[i] != i) i = like_[i] = like_[like_[i]];
  return i;
}

void OwnLengths::unite(int64_t a, int64_t b) {
  a = find(a);
  b = find(b);
  like_[std::max(a, b)] = std::min(a, b);
}

}  // namespace nbcc
