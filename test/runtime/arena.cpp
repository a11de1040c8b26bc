// SPDX-License-Identifier: BSD-3-Clause
// Memory of a plan: zeroed, aligned, in a row as long as a page lasts.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" {
#include "runtime/src/arena.h"
}

namespace {

TEST(Arena, whatIsTakenInARowLiesInARow) {
  arena a = {};
  auto *first = static_cast<char *>(arena_take(&a, 40));
  EXPECT_EQ(arena_take(&a, 1), first + 48);
  EXPECT_EQ(arena_take(&a, 0), first + 64);
  EXPECT_NE(arena_take(&a, 10000), nullptr);  // on its own
  EXPECT_EQ(arena_take(&a, 16), first + 80);
  arena_free(&a);
}

TEST(Arena, nothingIsTakenTwiceAndAllOfItIsZero) {
  arena a = {};
  std::vector<std::pair<unsigned char *, size_t>> taken;
  for (size_t bytes : {16, 4000, 200, 4080, 4081, 3000, 3000, 70000, 64, 1}) {
    auto *memory = static_cast<unsigned char *>(arena_take(&a, bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 16, 0u);
    EXPECT_EQ(std::count(memory, memory + bytes, 0), ptrdiff_t(bytes));
    std::memset(memory, int(taken.size() + 1), bytes);
    taken.push_back({memory, bytes});
  }
  for (size_t i = 0; i < taken.size(); ++i)
    EXPECT_EQ(std::count(taken[i].first, taken[i].first + taken[i].second, i + 1),
              ptrdiff_t(taken[i].second));
  EXPECT_EQ(arena_take(&a, SIZE_MAX), nullptr);
  arena_free(&a);
}

}  // namespace
