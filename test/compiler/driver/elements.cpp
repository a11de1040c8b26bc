// SPDX-License-Identifier: BSD-3-Clause
// elements.cpp - what the reference takes for the elements of a call, and for its operators.

#include "compiler/driver/elements.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace nbcc {
namespace {

template <class T>
std::vector<std::byte> bytesOf(const std::vector<T> &values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> combined(nbc_type type, nbc_op op, const std::vector<T> &left,
                        const std::vector<T> &right) {
  std::vector<std::byte> bytes = bytesOf(left);
  combine(type, op, bytes.data(), bytesOf(right).data(), bytes.size() / nbc_type_size(type));
  std::vector<T> result(left.size());
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

std::vector<std::byte> contributed(nbc_type type, nbc_op op, int64_t rank, uint64_t seed) {
  std::vector<std::byte> bytes(16 * nbc_type_size(type));
  contribute(type, op, rank, seed, 16, bytes.data());
  return bytes;
}

TEST(Elements, areCombinedEachWithItsOwn) {
  EXPECT_EQ(combined<int16_t>(NBC_I16, NBC_SUM, {1, -2, 32767}, {10, 20, 1}),
            (std::vector<int16_t>{11, 18, -32768}));
  EXPECT_EQ(combined<uint8_t>(NBC_U8, NBC_LXOR, {0, 2, 4}, {5, 0, 6}),
            (std::vector<uint8_t>{1, 1, 0}));
  EXPECT_EQ(combined<double>(NBC_F64, NBC_MIN, {1, 5}, {2, -5}), (std::vector<double>{1, -5}));
}

TEST(Elements, ofEqualValueGiveTheLowerIndex) {
  EXPECT_EQ(combined<int32_t>(NBC_I32_I32, NBC_MAXLOC, {7, 3, 7, 3, 1, 0}, {7, 2, 8, 4, 0, 1}),
            (std::vector<int32_t>{7, 2, 8, 4, 1, 0}));
}

TEST(Elements, areCombinedByTheUsersOperatorAsByAffine) {
  const std::vector<uint64_t> left{uint64_t{3} << 32 | 5, 2}, right{uint64_t{7} << 32 | 11, 1};
  const std::vector<uint64_t> result = combined(NBC_U64, NBC_USER, left, right);
  EXPECT_EQ(result[0], uint64_t{21} << 32 | (5 * 7 + 11));
  EXPECT_NE(result, combined(NBC_U64, NBC_USER, right, left));
  std::vector<uint64_t> users = left;
  userOperator()(users.data(), users.data(), right.data(), users.size(), nullptr);
  EXPECT_EQ(users, result);
}

TEST(Elements, dependOnSeedAndPlace) {
  const std::vector<std::byte> one = contributed(NBC_U64, NBC_SUM, 0, 1);
  EXPECT_EQ(one, contributed(NBC_U64, NBC_SUM, 3, 1)) << "a rank has a seed of its own";
  EXPECT_NE(one, contributed(NBC_U64, NBC_SUM, 0, 2));
  EXPECT_NE(std::memcmp(one.data(), one.data() + 8, 8), 0);
}

TEST(Elements, ofProductsAreNeverZero) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (const std::byte b : contributed(NBC_U8, NBC_PROD, 1, seed))
      EXPECT_NE(b & std::byte{1}, std::byte{0});
    const std::vector<std::byte> bytes = contributed(NBC_F32, NBC_PROD, 1, seed);
    float f;
    std::memcpy(&f, bytes.data(), sizeof f);
    EXPECT_EQ(f * f, 1.0f) << "of later ranks no sum of exponents gets out of range";
  }
}

TEST(Elements, areFoundByTheirNames) {
  EXPECT_EQ(typeNamed("cf64"), NBC_CF64);
  EXPECT_EQ(typeNamed("f65"), std::nullopt);
  EXPECT_EQ(operatorNamed("bxor"), NBC_BXOR);
  EXPECT_EQ(operatorNamed("affine"), NBC_USER);
  EXPECT_EQ(operatorNamed("max.cpp:largest"), NBC_USER);
  EXPECT_EQ(operatorNamed("user"), std::nullopt);
  EXPECT_TRUE(hasBytesThatMeanNothing(NBC_F80));
  EXPECT_FALSE(hasBytesThatMeanNothing(NBC_CF64));
}

}  // namespace
}  // namespace nbcc
