// SPDX-License-Identifier: BSD-3-Clause
// Reductions: every type and operation against one written for 128 bits.

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "nbc.h"

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
