// SPDX-License-Identifier: BSD-3-Clause
// elements.cpp - the C type behind each type of nbc.h, and the operators on it. Cost: linear.

#include "compiler/driver/elements.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#include "compiler/driver/block_lengths.h"

namespace nbcc {
namespace {

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
T combined(T l, T r, nbc_op op) {
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

void contribute(nbc_type type, nbc_op op, int64_t rank, uint64_t seed, size_t count,
                std::byte *to) {
  withType(type, [&](auto t) {
    for (size_t e = 0; e < count; ++e) {
      t = contribution<decltype(t)>(mix(seed ^ e), rank, op);
      std::memcpy(to + e * sizeof t, &t, sizeof t);
    }
  });
}

void combine(nbc_type type, nbc_op op, std::byte *left, const std::byte *right, size_t count) {
  withType(type, [&](auto l) {
    for (size_t e = 0; e < count; ++e) {
      auto r = l;
      std::memcpy(&l, left + e * sizeof l, sizeof l);
      std::memcpy(&r, right + e * sizeof r, sizeof r);
      l = combined(l, r, op);
      std::memcpy(left + e * sizeof l, &l, sizeof l);
    }
  });
}

}  // namespace nbcc
