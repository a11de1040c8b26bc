// SPDX-License-Identifier: BSD-3-Clause
// sink_promise.cpp - what `ensures` promises one rank: from equations to rows of blocks.
//
//   out == reduce in of { r in 0 ..< P : even(r) }   =>   promise out == reduce in of 0, 2, 4, ...
//   out[{ i in 0 ..< P : i != me }] == in of me      =>   one promise for each row of blocks
//
// Sections are told as those of operations are; of other ranks they are what they would be here, as
// buffers are alike on all ranks. Cost: the blocks that are promised, times the ranks they are of.

#include <algorithm>
#include <numeric>

#include "compiler/elaborate/sink_refuse.h"

namespace nbcc {

namespace {

/// Whether what is `offset` blocks behind the sources of a promise are these.
bool areSame(std::span<const Source> promised, int64_t offset, std::span<const Source> sources) {
  return std::ranges::equal(promised, sources, [&](Source a, const Source &b) {
    a.block += offset;
    return a == b;
  });
}

}  // namespace

int64_t Sink::promiseBegin(Place at) {
  const View &v = view(operands_[0].view);
  promiseAt_ = at;
  promisedBuffer_ = v.buffer;
  promisedElsewhere_ = v.absentIn >= 0;
  promised_.clear();
  givenBy_.clear();
  givenBlocks_.clear();
  for (const Extent &e : extents(0))
    for (int64_t i = 0; i < e.count; ++i) promised_.push_back(e.first + i);
  iterations -= static_cast<int64_t>(promised_.size());
  close();
  return 0;
}

bool Sink::hasOnRank(Role role, int64_t rank) const {
  return role != Role::in || !(frame().kind & kInAtRoot) || rank == frame().root;
}

/// The operand, on one rank.
int64_t Sink::addSource(int64_t rank, Place at) {
  const View &v = view(operands_[0].view);
  given_ = schedule_.buffers[static_cast<size_t>(v.buffer)].role;
  if (rank < 0 || rank >= frame().ranks)
    return refuse(at, "promises what rank ", rank, " has, which is not in 0..", frame().ranks - 1,
                  where());
  if (!hasOnRank(given_, rank))
    return refuse(at, "promises what rank ", rank, " has in ", v.name,
                  ", which is significant only at the root", where());
  const int64_t blocks = units(0), wanted = static_cast<int64_t>(promised_.size());
  if (blocks != wanted)
    return refuse(promiseAt_, "promises ", plural(wanted, "block"), " to be ",
                  plural(blocks, "block"), where());
  iterations -= blocks;
  extents_ += blocks;
  if (extents_ > limits_.extents)
    return refuse(promiseAt_, "more than ", limits_.extents, " extents and promises", where());
  givenBy_.push_back(static_cast<int32_t>(rank));
  for (const Extent &e : extents(0))
    for (int64_t i = 0; i < e.count; ++i) givenBlocks_.push_back(e.first + i);
  return 0;
}

int64_t Sink::promiseOf(int64_t rank, Place at) {
  if (addSource(rank, at)) return 1;
  close();
  return 0;
}

int64_t Sink::promiseOfGroup(int64_t of, Place at) {
  for (int64_t i = 0; i < groupSize(of); ++i)
    if (addSource(of < 0 ? i : group(of).members[static_cast<size_t>(i)], at)) return 1;
  close();
  return 0;
}

/// What one of the promised blocks is to be, by ascending rank: each is there once.
void Sink::sourcesOf(size_t block, std::vector<Source> &sources) const {
  sources.clear();
  std::vector<size_t> order(givenBy_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return givenBy_[i]; });
  for (size_t i : order) {
    const Source next{given_, givenBy_[i], 1, givenBlocks_[i * promised_.size() + block]};
    if (!sources.empty() && sources.back().block == next.block &&
        sources.back().rank + sources.back().ranks == next.rank)
      ++sources.back().ranks;
    else
      sources.push_back(next);
  }
}

/// A block that has a promise. Twice the same is no harm.
int64_t Sink::promisedAlready(const Promise &before, int64_t block,
                              std::span<const Source> sources) {
  if (areSame(schedule_.sources(before), block - before.to.first, sources)) return 0;
  const Extent e{promisedBuffer_, 1, block, 1};
  refuse(promiseAt_, toString(schedule_, Section(&e, 1)), " has another promise already", where());
  mistake_->other = before.loc;
  mistake_->why = "here";
  return 1;
}

int64_t Sink::promiseEnd() {
  if (promisedElsewhere_) return 0;  // it is said of the rank that has the buffer
  if (givenBy_.empty())
    return refuse(promiseAt_, "promises a reduction of no rank, which has no value", where());
  const Buffer &buffer = schedule_.buffers[static_cast<size_t>(promisedBuffer_)];
  std::vector<int32_t> &by = promisedBy_[static_cast<size_t>(buffer.role)];
  by.resize(static_cast<size_t>(buffer.blocks), -1);
  const size_t first = schedule_.promises.size();
  std::vector<Source> sources;
  for (size_t i = 0; i < promised_.size(); ++i) {
    const int64_t block = promised_[i];
    sourcesOf(i, sources);
    int32_t &promise = by[static_cast<size_t>(block)];
    if (promise >= 0) {
      if (promisedAlready(schedule_.promises[static_cast<size_t>(promise)], block, sources))
        return 1;
      continue;
    }
    std::vector<Promise> &all = schedule_.promises;
    const bool goesOn = all.size() > first && all.back().to.first + all.back().to.count == block &&
                        areSame(schedule_.sources(all.back()), all.back().to.count, sources);
    if (goesOn)
      ++all.back().to.count;
    else
      all.push_back(
          {{promisedBuffer_, 1, block, 1}, schedule_.keepSources(sources), toLoc(promiseAt_)});
    promise = static_cast<int32_t>(all.size() - 1);
  }
  return 0;
}

}  // namespace nbcc
