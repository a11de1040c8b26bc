// SPDX-License-Identifier: BSD-3-Clause
// reference.cpp - the collectives by their definition.

#include "compiler/driver/reference.h"

#include <complex>
#include <cstring>
#include <type_traits>
#include <utility>

namespace nbcc {
namespace {

/// What is in a buffer that nobody has written.
constexpr std::byte kGarbage{0xa5};

/// Of NBC_BOOL; a type of its own, that others' contributions are not taken for it.
enum class Bool : uint8_t {};

/// MPI's pairs, those without bytes in between.
template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

template <class T>
constexpr bool kIsPair = false;
template <class V, class I>
constexpr bool kIsPair<Pair<V, I>> = true;
template <class T>
constexpr bool kIsComplex = false;
template <class V>
constexpr bool kIsComplex<std::complex<V>> = true;

uint64_t key(int call, int64_t rank, int64_t index, uint64_t element) {
  return mix(mix(mix(static_cast<uint64_t>(call) << 32 ^ static_cast<uint64_t>(rank)) ^
                 static_cast<uint64_t>(index)) ^
             element);
}

template <class T>
T contribution(uint64_t k, int64_t rank, nbc_op op) {
  if constexpr (std::is_floating_point_v<T>) {
    if (op == NBC_PROD && rank > 0) return k & 1 ? T(1) : T(-1);
    return static_cast<T>(static_cast<int>(k % 201) - 100);
  } else if constexpr (kIsComplex<T>) {
    const float sign = k & 1 ? 1.0f : -1.0f;
    if (op == NBC_PROD && rank > 0) return k & 2 ? T(sign, 0) : T(0, sign);
    return T(static_cast<float>(k % 201) - 100, static_cast<float>(k / 201 % 201) - 100);
  } else if constexpr (kIsPair<T>) {  // of few values, so that many are equal
    return {static_cast<decltype(T::value)>(k % 5), static_cast<decltype(T::index)>(k / 5 % 1000)};
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<Bool>(k & 1);
  } else {
    if (op == NBC_LAND || op == NBC_LOR || op == NBC_LXOR) return static_cast<T>(k % 3);
    if (op == NBC_PROD) return static_cast<T>(k | 1);  // odd: never stuck at zero
    return static_cast<T>(k);
  }
}

uint64_t compose(uint64_t left, uint64_t right) {
  uint32_t a = static_cast<uint32_t>(left >> 32), b = static_cast<uint32_t>(left);
  uint32_t c = static_cast<uint32_t>(right >> 32), d = static_cast<uint32_t>(right);
  return static_cast<uint64_t>(a * c) << 32 | static_cast<uint32_t>(b * c + d);
}

template <class T>
T combine(T l, T r, nbc_op op) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case NBC_SUM:
        return l + r;
      case NBC_PROD:
        return l * r;
      case NBC_MIN:
        return r < l ? r : l;
      case NBC_MAX:
        return l < r ? r : l;
      default:
        return l;
    }
  } else if constexpr (kIsComplex<T>) {
    return op == NBC_PROD ? l * r : l + r;
  } else if constexpr (kIsPair<T>) {
    if (l.value == r.value) return {l.value, std::min(l.index, r.index)};
    return (l.value < r.value) == (op == NBC_MINLOC) ? l : r;
  } else if constexpr (std::is_same_v<T, Bool>) {
    const bool a = l == Bool{1}, b = r == Bool{1};
    return static_cast<Bool>(op == NBC_LAND ? a && b : op == NBC_LOR ? a || b : a != b);
  } else {
    using U = std::make_unsigned_t<T>;
    uint64_t a = static_cast<U>(l), b = static_cast<U>(r);
    switch (op) {
      case NBC_SUM:
        return static_cast<T>(a + b);
      case NBC_PROD:
        return static_cast<T>(a * b);
      case NBC_MIN:
        return r < l ? r : l;
      case NBC_MAX:
        return l < r ? r : l;
      case NBC_BAND:
        return static_cast<T>(a & b);
      case NBC_BOR:
        return static_cast<T>(a | b);
      case NBC_BXOR:
        return static_cast<T>(a ^ b);
      case NBC_LAND:
        return static_cast<T>(l && r);
      case NBC_LOR:
        return static_cast<T>(l || r);
      case NBC_LXOR:
        return static_cast<T>(!l != !r);
      default:
        return static_cast<T>(compose(a, b));  // affine: u64 only
    }
  }
}

/// Calls f with a value of the C type.
template <class F>
auto withType(nbc_type type, F f) {
  switch (type) {
    case NBC_I8:
      return f(int8_t());
    case NBC_I16:
      return f(int16_t());
    case NBC_U16:
      return f(uint16_t());
    case NBC_I32:
      return f(int32_t());
    case NBC_U32:
      return f(uint32_t());
    case NBC_I64:
      return f(int64_t());
    case NBC_U64:
      return f(uint64_t());
    case NBC_F32:
      return f(float());
    case NBC_F64:
      return f(double());
    case NBC_BOOL:
      return f(Bool());
    case NBC_CF32:
      return f(std::complex<float>());
    case NBC_CF64:
      return f(std::complex<double>());
    case NBC_I32_I32:
      return f(Pair<int32_t, int32_t>());
    case NBC_F32_I32:
      return f(Pair<float, int32_t>());
    case NBC_F32_F32:
      return f(Pair<float, float>());
    case NBC_F64_F64:
      return f(Pair<double, double>());
    default:
      return f(uint8_t());
  }
}

void affine(void *to, const void *left, const void *right, size_t n, void *) {
  for (size_t i = 0; i < n; ++i) {
    uint64_t l, r;
    std::memcpy(&l, static_cast<const char *>(left) + 8 * i, 8);
    std::memcpy(&r, static_cast<const char *>(right) + 8 * i, 8);
    l = compose(l, r);
    std::memcpy(static_cast<char *>(to) + 8 * i, &l, 8);
  }
}

}  // namespace

std::optional<nbc_type> typeNamed(std::string_view name) {
  for (int i = 0; i < NBC_TYPES; ++i)
    if (name == nbc_type_name(static_cast<nbc_type>(i))) return static_cast<nbc_type>(i);
  return std::nullopt;
}

bool hasBytesThatMeanNothing(nbc_type type) {
  return withType(type, [&](auto t) { return sizeof t != nbc_type_size(type); });
}

std::optional<nbc_op> operatorNamed(std::string_view name) {
  if (name == "affine" || name.find(':') != std::string_view::npos) return NBC_USER;
  for (int i = 0; i < NBC_USER; ++i)
    if (name == nbc_op_name(static_cast<nbc_op>(i))) return static_cast<nbc_op>(i);
  return std::nullopt;
}

nbc_reduce_function *userOperator() {
  return affine;
}

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
  withType(type_, [&](auto t) {
    for (uint64_t e = 0; e < elements(from, index); ++e) {
      auto v = contribution<decltype(t)>(key(call, from, index, e), from, op_);
      std::memcpy(&t, bytes.data() + e * sizeof t, sizeof t);
      if (user_)
        user_(&t, &t, &v, 1, nullptr);
      else
        t = combine(t, v, op_);
      std::memcpy(bytes.data() + e * sizeof t, &t, sizeof t);
    }
  });
}

/// What rank `from` has for `index`: its block, or the block for rank or destination `index`.
std::vector<std::byte> Reference::block(int64_t from, int64_t index, int call) const {
  const uint64_t count = elements(from, index);
  std::vector<std::byte> bytes;
  withType(type_, [&](auto t) {
    bytes.resize(count * sizeof t);
    for (uint64_t e = 0; e < count; ++e) {
      auto v = contribution<decltype(t)>(key(call, from, index, e), from, op_);
      std::memcpy(bytes.data() + e * sizeof v, &v, sizeof v);
    }
  });
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
