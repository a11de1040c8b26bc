// SPDX-License-Identifier: BSD-3-Clause
// reference.cpp - the collectives by their definition.

#include "compiler/driver/reference.h"

#include <utility>

#include "compiler/driver/elements.h"

namespace nbcc {
namespace {

/// What is in a buffer that nobody has written.
constexpr std::byte kGarbage{0xa5};

uint64_t seed(int call, int64_t rank, int64_t index) {
  return mix(mix(static_cast<uint64_t>(call) << 32 ^ static_cast<uint64_t>(rank)) ^
             static_cast<uint64_t>(index));
}

}  // namespace

Reference::Reference(ast::Kind kind, int64_t ranks, int64_t root, BlockLengths lengths,
                     nbc_type type, nbc_op op, bool inPlace, std::span<const Neighbors> neighbors,
                     std::span<const Schedule> own, nbc_reduce_function *user)
    : kind_(kind),
      ranks_(ranks),
      root_(root),
      lengths_(std::move(lengths)),
      type_(type),
      op_(op),
      inPlace_(inPlace),
      neighbors_(neighbors),
      own_(own),
      user_(user) {
  int64_t slots = 0;
  for (const Neighbors &n : neighbors) {
    firstSlot_.push_back(slots);
    slots += static_cast<int64_t>(n.destinations.size());
  }
}

/// Of what rank `from` has for `index`: see block().
uint64_t Reference::elements(int64_t from, int64_t index) const {
  switch (kind_) {
    case ast::Kind::allgather:
    case ast::Kind::gather:
      return lengths_.of(from);
    case ast::Kind::scatter:
    case ast::Kind::reduce_scatter:
      return lengths_.of(index);
    case ast::Kind::alltoall:
      if (inPlace_ && from > index) std::swap(from, index);
      return lengths_.of(from * ranks_ + index);
    case ast::Kind::allreduce:
    case ast::Kind::reduce:
    case ast::Kind::bcast:
    case ast::Kind::reduce_scatter_block:
    case ast::Kind::scan:
    case ast::Kind::exscan:
    case ast::Kind::own:
      return lengths_.longest();
    case ast::Kind::neighbor_allgather:
      return lengths_.of(from);
    case ast::Kind::neighbor_alltoall:
      return lengths_.of(firstSlot_[static_cast<size_t>(from)] + index);
    case ast::Kind::barrier:
      return 0;
  }
  return 0;
}

/// A block of each rank: what this one receives from it, or has for it.
std::vector<uint64_t> Reference::row(int64_t rank, bool received) const {
  std::vector<uint64_t> result;
  for (int64_t i = 0; i < ranks_; ++i)
    result.push_back(received ? elements(i, rank) : elements(rank, i));
  return result;
}

/// A block of each source; of nobody it is as long as any.
std::vector<uint64_t> Reference::sources(int64_t rank) const {
  std::vector<uint64_t> result;
  for (const auto &[source, slot] : neighbors(rank).sources)
    result.push_back(source == kNobody ? lengths_.longest() : elements(source, slot));
  return result;
}

std::vector<uint64_t> Reference::inBlocks(int64_t rank) const {
  switch (kind_) {
    case ast::Kind::allgather:
    case ast::Kind::gather:
    case ast::Kind::allreduce:
    case ast::Kind::reduce:
    case ast::Kind::scan:
    case ast::Kind::exscan:
    case ast::Kind::neighbor_allgather:
      return {elements(rank, 0)};
    case ast::Kind::neighbor_alltoall: {
      std::vector<uint64_t> result;
      for (size_t slot = 0; slot < neighbors(rank).destinations.size(); ++slot)
        result.push_back(elements(rank, static_cast<int64_t>(slot)));
      return result;
    }
    case ast::Kind::alltoall:
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
      return row(rank, false);
    case ast::Kind::scatter:
      return rank == root_ ? row(rank, false) : std::vector<uint64_t>();
    case ast::Kind::bcast:
    case ast::Kind::barrier:
      return {};
    case ast::Kind::own:
      return ownBlocks(rank, false);
  }
  return {};
}

std::vector<uint64_t> Reference::outBlocks(int64_t rank) const {
  switch (kind_) {
    case ast::Kind::allgather:
    case ast::Kind::alltoall:
      return row(rank, true);
    case ast::Kind::neighbor_allgather:
    case ast::Kind::neighbor_alltoall:
      return sources(rank);
    case ast::Kind::gather:
      return rank == root_ ? row(rank, true) : std::vector<uint64_t>();
    case ast::Kind::reduce:
      if (rank != root_) return {};
      return {elements(0, rank)};
    case ast::Kind::scan:
    case ast::Kind::exscan:
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
    case ast::Kind::allreduce:
    case ast::Kind::scatter:
    case ast::Kind::bcast:
      return {elements(root_, rank)};
    case ast::Kind::barrier:
      return {};
    case ast::Kind::own:
      return ownBlocks(rank, true);
  }
  return {};
}

/// Of `out` or `data`, or else of `in`, where it is significant.
std::vector<uint64_t> Reference::ownBlocks(int64_t rank, bool result) const {
  for (const Buffer &buffer : own_[static_cast<size_t>(rank)].buffers) {
    const bool wanted = result ? buffer.ofResult() : buffer.role == Role::in;
    if (wanted && buffer.significant)
      return std::vector<uint64_t>(static_cast<size_t>(buffer.blocks), lengths_.longest());
  }
  return {};
}

const Promise *Reference::promiseOf(int64_t rank, int64_t block) const {
  for (const Promise &p : own_[static_cast<size_t>(rank)].promises)
    if (p.to.first <= block && block < p.to.first + p.to.count) return &p;
  return nullptr;
}

bool Reference::mayHoldAnything(int64_t rank, int64_t block) const {
  return kind_ == ast::Kind::own && !promiseOf(rank, block);
}

std::vector<std::byte> Reference::promised(int64_t rank, int64_t index, int call) const {
  const Promise *promise = promiseOf(rank, index);
  if (!promise) return block(rank, index, call);  // anything, and as long
  std::vector<std::byte> result;
  for (const Source &source : own_[static_cast<size_t>(rank)].sources(*promise))
    for (int64_t r = source.rank; r < int64_t{source.rank} + source.ranks; ++r) {
      const int64_t from = source.block + index - promise->to.first;
      if (result.empty())
        result = block(r, from, call);
      else
        fold(result, r, from, call);
    }
  return result;
}

/// bytes = bytes op what rank `from` has for `index`.
void Reference::fold(std::vector<std::byte> &bytes, int64_t from, int64_t index, int call) const {
  const std::vector<std::byte> other = block(from, index, call);
  const size_t count = elements(from, index);
  if (user_)
    user_(bytes.data(), bytes.data(), other.data(), count, nullptr);
  else
    combine(type_, op_, bytes.data(), other.data(), count);
}

/// What rank `from` has for `index`: its block, or the block for rank or destination `index`.
std::vector<std::byte> Reference::block(int64_t from, int64_t index, int call) const {
  const uint64_t count = elements(from, index);
  std::vector<std::byte> bytes(count * nbc_type_size(type_));
  contribute(type_, op_, from, seed(call, from, index), count, bytes.data());
  return bytes;
}

void Reference::append(std::vector<std::byte> &to, const std::vector<std::byte> &what) const {
  to.insert(to.end(), what.begin(), what.end());
}

std::vector<std::byte> Reference::in(int64_t rank, int call) const {
  // The one block is number 0, as the first of a row.
  std::vector<std::byte> all;
  const auto blocks = static_cast<int64_t>(inBlocks(rank).size());
  for (int64_t i = 0; i < blocks; ++i) append(all, block(rank, i, call));
  return all;
}

std::vector<std::byte> Reference::before(int64_t rank, int call) const {
  if (kind_ == ast::Kind::bcast && rank == root_) return block(root_, 0, call);
  const std::vector<uint64_t> blocks = outBlocks(rank);
  if (kind_ == ast::Kind::own && collective(own_[0]).data != Shape::none) {
    std::vector<std::byte> all;
    for (size_t i = 0; i < blocks.size(); ++i)
      append(all, block(rank, static_cast<int64_t>(i), call));
    return all;
  }
  size_t elements = 0;
  for (const uint64_t n : blocks) elements += n;
  return std::vector<std::byte>(elements * nbc_type_size(type_), kGarbage);
}

/// in[0] op in[1] op ... op in[ranks - 1] of one block, element by element.
std::vector<std::byte> Reference::reduced(int64_t ranks, int64_t index, int call) const {
  const Reduced what{ranks, index, call};
  if (reducedWhat_ == what) return reduced_;
  reduced_ = block(0, index, call);
  for (int64_t r = 1; r < ranks; ++r) fold(reduced_, r, index, call);
  reducedWhat_ = what;
  return reduced_;
}

std::vector<std::byte> Reference::after(int64_t rank, int call) const {
  const auto blocks = static_cast<int64_t>(outBlocks(rank).size());
  if (blocks == 0) return {};
  std::vector<std::byte> result;
  switch (kind_) {
    case ast::Kind::allgather:
    case ast::Kind::gather:
      for (int64_t i = 0; i < ranks_; ++i) append(result, block(i, 0, call));
      return result;
    case ast::Kind::alltoall:
      for (int64_t i = 0; i < ranks_; ++i) append(result, block(i, rank, call));
      return result;
    case ast::Kind::neighbor_allgather:
    case ast::Kind::neighbor_alltoall:
      for (const auto &[source, slot] : neighbors(rank).sources) {
        const bool toAll = kind_ == ast::Kind::neighbor_allgather;
        const size_t bytes = lengths_.longest() * nbc_type_size(type_);
        append(result, source == kNobody ? std::vector<std::byte>(bytes, kGarbage)
                                         : block(source, toAll ? 0 : slot, call));
      }
      return result;
    case ast::Kind::scatter:
      return block(root_, rank, call);
    case ast::Kind::bcast:
      return block(root_, 0, call);
    case ast::Kind::allreduce:
    case ast::Kind::reduce:
      return reduced(ranks_, 0, call);
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
      return reduced(ranks_, rank, call);
    case ast::Kind::scan:
      return reduced(rank + 1, 0, call);
    case ast::Kind::exscan:
      if (rank > 0) return reduced(rank, 0, call);
      return {};  // undefined: any bytes are right
    case ast::Kind::barrier:
      return {};
    case ast::Kind::own:
      for (int64_t i = 0; i < blocks; ++i) append(result, promised(rank, i, call));
      return result;
  }
  return result;
}

}  // namespace nbcc
