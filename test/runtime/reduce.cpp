// SPDX-License-Identifier: BSD-3-Clause
// Reductions: every type and operation against one written for 128 bits.

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "runtime/src/kernels.h"

namespace {

template <class T>
T reference(nbc_op op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    __extension__ typedef unsigned __int128 Wide;
    switch (op) {
      case NBC_SUM:
        return T(Wide(a) + Wide(b));
      case NBC_PROD:
        return T(Wide(a) * Wide(b));
      case NBC_BAND:
        return T(a & b);
      case NBC_BOR:
        return T(a | b);
      case NBC_BXOR:
        return T(a ^ b);
      case NBC_LAND:
        return T(a != 0 && b != 0);
      case NBC_LOR:
        return T(a != 0 || b != 0);
      case NBC_LXOR:
        return T((a != 0) != (b != 0));
      default:
        break;
    }
  }
  switch (op) {
    case NBC_SUM:
      return a + b;
    case NBC_PROD:
      return a * b;
    case NBC_MIN:
      return std::min(a, b);
    case NBC_MAX:
      return std::max(a, b);
    default:
      ADD_FAILURE() << "no reference";
      return a;
  }
}

template <class T>
void checkType(nbc_type type, std::initializer_list<nbc_op> ops) {
  std::mt19937_64 random(type);
  std::vector<T> pool = {T(0), T(1), std::numeric_limits<T>::max(),
                         std::numeric_limits<T>::lowest()};
  for (int i = 0; i < 30; ++i) pool.push_back(T(random() % 2 ? random() : random() % 3));
  for (int op = 0; op <= NBC_OPS; ++op) {
    nbc_reduce_function *f = nbc_reduction(type, nbc_op(op));
    bool has = std::find(ops.begin(), ops.end(), op) != ops.end();
    ASSERT_EQ(f != nullptr, has) << "type " << type << " op " << op;
    if (!f) continue;
    // At an odd address, into a third, the left and the right operand.
    size_t n = pool.size() * pool.size();
    std::vector<uint8_t> memory[3];
    for (auto &m : memory) m.resize(n * sizeof(T) + 1);
    for (int target = 0; target < 3; ++target) {
      for (size_t i = 0; i < n; ++i) {
        std::memcpy(&memory[1][1 + i * sizeof(T)], &pool[i / pool.size()], sizeof(T));
        std::memcpy(&memory[2][1 + i * sizeof(T)], &pool[i % pool.size()], sizeof(T));
      }
      f(&memory[target][1], &memory[1][1], &memory[2][1], n, nullptr);
      for (size_t i = 0; i < n; ++i) {
        T expected = reference(nbc_op(op), pool[i / pool.size()], pool[i % pool.size()]);
        ASSERT_EQ(std::memcmp(&memory[target][1 + i * sizeof(T)], &expected, sizeof(T)), 0)
            << "type " << type << " op " << op << " of " << +pool[i / pool.size()] << ", "
            << +pool[i % pool.size()];
      }
    }
  }
}

#define ALL_INTEGER \
  {NBC_SUM, NBC_PROD, NBC_MIN, NBC_MAX, NBC_BAND, NBC_BOR, NBC_BXOR, NBC_LAND, NBC_LOR, NBC_LXOR}

TEST(Reduce, allTypesAndOperations) {
  checkType<uint8_t>(NBC_BYTE, {NBC_BAND, NBC_BOR, NBC_BXOR});
  checkType<int8_t>(NBC_I8, ALL_INTEGER);
  checkType<uint8_t>(NBC_U8, ALL_INTEGER);
  checkType<int16_t>(NBC_I16, ALL_INTEGER);
  checkType<uint16_t>(NBC_U16, ALL_INTEGER);
  checkType<int32_t>(NBC_I32, ALL_INTEGER);
  checkType<uint32_t>(NBC_U32, ALL_INTEGER);
  checkType<int64_t>(NBC_I64, ALL_INTEGER);
  checkType<uint64_t>(NBC_U64, ALL_INTEGER);
  checkType<float>(NBC_F32, {NBC_SUM, NBC_PROD, NBC_MIN, NBC_MAX});
  checkType<double>(NBC_F64, {NBC_SUM, NBC_PROD, NBC_MIN, NBC_MAX});
}

TEST(Reduce, longDouble) {
  const long double a = 1.0L + std::numeric_limits<long double>::epsilon(), b = -3;
  const auto value = [&](nbc_op op) {
    alignas(16) unsigned char to[16] = {};
    nbc_reduction(NBC_F80, op)(to, &a, &b, 1, nullptr);
    long double result;
    std::memcpy(&result, to, sizeof result);
    return result;
  };
  EXPECT_EQ(nbc_type_size(NBC_F80), sizeof a);
  EXPECT_EQ(value(NBC_SUM), a + b);
  EXPECT_EQ(value(NBC_PROD), a * b);
  EXPECT_EQ(value(NBC_MIN), b);
  EXPECT_EQ(value(NBC_MAX), a);
  EXPECT_EQ(nbc_reduction(NBC_F80, NBC_BAND), nullptr);
}

TEST(Reduce, booleansKnowLogicalOperatorsOnly) {
  const bool a[] = {false, false, true, true}, b[] = {false, true, false, true};
  const auto row = [&](nbc_op op) {
    std::vector<uint8_t> to(4);
    nbc_reduction(NBC_BOOL, op)(to.data(), a, b, 4, nullptr);
    return to;
  };
  EXPECT_EQ(row(NBC_LAND), (std::vector<uint8_t>{0, 0, 0, 1}));
  EXPECT_EQ(row(NBC_LOR), (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(row(NBC_LXOR), (std::vector<uint8_t>{0, 1, 1, 0}));
  for (const nbc_op op : {NBC_SUM, NBC_MIN, NBC_BAND, NBC_MAXLOC})
    EXPECT_EQ(nbc_reduction(NBC_BOOL, op), nullptr) << op;
}

template <class T>
void checkComplex(nbc_type type) {
  using C = std::complex<T>;
  const C left[] = {{1, 2}, {-3, 0.5}, {0, 0}}, right[] = {{5, -7}, {0.25, 4}, {1, -1}};
  ASSERT_EQ(nbc_type_size(type), sizeof(C));
  C sum[3], product[3];
  nbc_reduction(type, NBC_SUM)(sum, left, right, 3, nullptr);
  nbc_reduction(type, NBC_PROD)(product, left, right, 3, nullptr);
  for (int i = 0; i < 3; ++i) {  // exact: no rounding here
    EXPECT_EQ(sum[i], left[i] + right[i]);
    EXPECT_EQ(product[i], left[i] * right[i]);
  }
  for (const nbc_op op : {NBC_MIN, NBC_MAX, NBC_LAND, NBC_MINLOC})
    EXPECT_EQ(nbc_reduction(type, op), nullptr) << op;
}

TEST(Reduce, complexNumbers) {
  checkComplex<float>(NBC_CF32);
  checkComplex<double>(NBC_CF64);
  checkComplex<long double>(NBC_CF80);
}

// As MPI defines MINLOC and MAXLOC, for values below, above and equal.
template <class Pair>
void checkPairs(nbc_type type) {
  ASSERT_EQ(nbc_type_size(type), sizeof(Pair));
  const auto pair = [](int value, int index) {
    Pair p{};
    p.value = static_cast<decltype(p.value)>(value);
    p.index = static_cast<decltype(p.index)>(index);
    return p;
  };
  const int values[] = {-2, 0, 7}, indices[] = {3, 0, 9};
  for (const int v : values)
    for (const int w : values)
      for (const int i : indices)
        for (const int j : indices) {
          const Pair left = pair(v, i), right = pair(w, j);
          for (const nbc_op op : {NBC_MINLOC, NBC_MAXLOC}) {
            Pair to;
            nbc_reduction(type, op)(&to, &left, &right, 1, nullptr);
            const int value = op == NBC_MINLOC ? std::min(v, w) : std::max(v, w);
            const int index = v == w ? std::min(i, j) : value == v ? i : j;
            EXPECT_EQ(to.value, pair(value, index).value) << op;
            EXPECT_EQ(to.index, pair(value, index).index) << op;
          }
        }
  EXPECT_EQ(nbc_reduction(type, NBC_SUM), nullptr);
}

TEST(Reduce, pairs) {
  checkPairs<i16_i32>(NBC_I16_I32);
  checkPairs<i32_i32>(NBC_I32_I32);
  checkPairs<i64_i32>(NBC_I64_I32);
  checkPairs<f32_i32>(NBC_F32_I32);
  checkPairs<f64_i32>(NBC_F64_I32);
  checkPairs<f80_i32>(NBC_F80_I32);
  checkPairs<f32_f32>(NBC_F32_F32);
  checkPairs<f64_f64>(NBC_F64_F64);
}

// Ranks on different processors must get the same bits, wherever the result is put. Of random
// bytes, so with NaNs, infinities and numbers that are not normal; but for the types whose bytes do
// not all count.
TEST(Reduce, allLevelsOfTheProcessorGiveTheSameBytes) {
  std::vector<std::pair<const char *, kernel_table *>> levels = {{"any", &kernels_any}};
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v3")) levels.push_back({"v3", &kernels_v3});
#endif
  std::mt19937_64 random(1);
  for (int type = 0; type < NBC_TYPES; ++type) {
    if (type == NBC_F80 || type == NBC_CF80 || type == NBC_F80_I32 || type == NBC_F64_I32 ||
        type == NBC_I64_I32 || type == NBC_I16_I32)
      continue;
    const size_t n = 1000 + random() % 64, bytes = n * nbc_type_size(nbc_type(type));
    std::vector<uint8_t> left(bytes), right(bytes), expected(bytes), found(bytes);
    for (uint8_t &b : left) b = uint8_t(random());
    for (uint8_t &b : right) b = uint8_t(random());
    for (int op = 0; op < NBC_OPS; ++op)
      for (const auto &[name, table] : levels) {
        ASSERT_EQ(!kernels_any[type][op], !(*table)[type][op]);
        if (!kernels_any[type][op]) continue;
        kernels_any[type][op](expected.data(), left.data(), right.data(), n, nullptr);
        (*table)[type][op](found.data(), left.data(), right.data(), n, nullptr);
        std::vector<uint8_t> onLeft = left, onRight = right;
        (*table)[type][op](onLeft.data(), onLeft.data(), right.data(), n, nullptr);
        (*table)[type][op](onRight.data(), left.data(), onRight.data(), n, nullptr);
        for (const auto &result : {found, onLeft, onRight})
          EXPECT_EQ(expected, result)
              << nbc_type_name(nbc_type(type)) << " " << nbc_op_name(nbc_op(op)) << " " << name;
      }
  }
}

TEST(Reduce, namesAreThoseOfTheEnumerators) {
  EXPECT_STREQ(nbc_type_name(NBC_BYTE), "byte");
  EXPECT_STREQ(nbc_type_name(NBC_F64_I32), "f64_i32");
  EXPECT_STREQ(nbc_op_name(NBC_MAXLOC), "maxloc");
  EXPECT_EQ(nbc_type_name(NBC_TYPES), nullptr);
  EXPECT_EQ(nbc_op_name(NBC_OPS), nullptr);
  for (int t = 0; t < NBC_TYPES; ++t) EXPECT_GT(nbc_type_size(nbc_type(t)), 0u) << t;
  for (int o = 0; o < NBC_OPS; ++o) EXPECT_NE(nbc_op_name(nbc_op(o)), nullptr) << o;
}

TEST(Reduce, noTypeOrOperation) {
  EXPECT_EQ(nbc_reduction(NBC_TYPES, NBC_SUM), nullptr);
  EXPECT_EQ(nbc_reduction(nbc_type(-1), NBC_SUM), nullptr);
  EXPECT_EQ(nbc_reduction(NBC_I32, NBC_USER), nullptr);
  EXPECT_EQ(nbc_type_size(NBC_TYPES), 0u);
  EXPECT_EQ(nbc_type_size(NBC_F64), 8u);
}

TEST(Reduce, everyStatusHasItsText) {
  for (int s = NBC_ERROR_BUSY; s <= 0; ++s)
    for (int t = s + 1; t <= 0; ++t) EXPECT_STRNE(nbc_status_text(s), nbc_status_text(t));
  EXPECT_STREQ(nbc_status_text(-100), "no known error");
}

}  // namespace
