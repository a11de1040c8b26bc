// SPDX-License-Identifier: BSD-3-Clause
// Extents, and the caller's blocks that sections of scratch are as long as.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

#include "compiler/ir/schedule.h"

namespace nbcc {
namespace {

Schedule schedule(const std::string &buffers) {
  std::ostringstream said;
  Diag diag(said);
  const uint16_t file = diag.addFile(
      "t", "schedule @a alltoall rank 0 of 2 root 0 order rounds rounds 0\n" + buffers + "end\n");
  std::vector<Schedule> read = readSchedules(file, diag);
  if (!read.empty()) verify(read[0], diag);
  EXPECT_EQ(said.str(), "");
  return read.empty() ? Schedule() : read[0];
}

std::string resolved(const Schedule &s, Extent e) {
  return toString(s, resolve(s, {&e, 1}));
}

TEST(Extent, LowestTerms) {
  EXPECT_EQ(normalize({0, 8, 2, 4}), (Extent{0, 4, 1, 2}));
  EXPECT_EQ(normalize({0, 8, 8, 16}), (Extent{0, 1, 1, 2}));
  EXPECT_EQ(normalize({0, 8, 0, 3}), (Extent{0, 8, 0, 3}));
  EXPECT_EQ(normalize({0, 7, 5, 0}), (Extent{0, 7, 5, 0}));
}

TEST(Extent, PositionsAreExact) {
  EXPECT_EQ(comparePositions(1, 3, 2, 6), 0);
  EXPECT_LT(comparePositions(1, 3, 3, 8), 0);
  EXPECT_GT(comparePositions(2, 5, 3, 8), 0);
  // 64 bits would overflow, a double would not see the difference.
  EXPECT_LT(comparePositions(4611686018427387903, 2147483647, 4611686018427387904, 2147483647), 0);
  EXPECT_GT(comparePositions(4611686018427387904, 2147483646, 4611686018427387904, 2147483647), 0);
}

TEST(Extent, Overlap) {
  EXPECT_TRUE(overlap({0, 1, 0, 2}, {0, 1, 1, 2}));
  EXPECT_FALSE(overlap({0, 1, 0, 2}, {0, 1, 2, 2}));
  EXPECT_FALSE(overlap({0, 1, 0, 2}, {1, 1, 1, 2}));
  EXPECT_FALSE(overlap({0, 3, 0, 1}, {0, 6, 2, 1}));
  EXPECT_TRUE(overlap({0, 3, 0, 1}, {0, 7, 2, 1}));  // [0,1/3) and [2/7,3/7)
  EXPECT_FALSE(overlap({0, 1, 0, 2}, {0, 1, 1, 0}));
}

TEST(Resolve, SplitsAtTheWrapAndJoinsNeighbours) {
  const Schedule s = schedule("out out[8]\nscratch tmp[8] like out[3 +: 5], out[0 +: 3]\n");
  EXPECT_EQ(resolved(s, {1, 1, 4, 2}), "out[7], out[0]");
  EXPECT_EQ(resolved(s, {1, 1, 0, 5}), "out[3 +: 5]");
  EXPECT_EQ(resolved(s, {1, 2, 9, 2}), "out[15 of 2], out[0 of 2]");
  EXPECT_EQ(resolved(s, {1, 1, 2, 0}), "[]");
}

TEST(Resolve, PartsOfParts) {
  const Schedule s = schedule(
      "out out[4]\nscratch a[8] like out[0 +: 8 of 2]\nscratch b[2] like a[3], a[1 of 2]\n"
      "scratch c[3] like b[1]\n");
  EXPECT_EQ(resolved(s, {1, 1, 3, 2}), "out[3 +: 2 of 2]");
  EXPECT_EQ(resolved(s, {1, 1, 0, 8}), "out[0 +: 4]");
  EXPECT_EQ(resolved(s, {2, 1, 0, 1}), "out[3 of 2]");
  EXPECT_EQ(resolved(s, {2, 1, 1, 1}),
            "out[1 of 4]");  // second half of a[0], the first half of out[0]
  EXPECT_EQ(resolved(s, {3, 3, 4, 1}), "out[4 of 12]");
  EXPECT_EQ(resolved(s, {3, 1, 0, 3}), "out[1 of 4], out[1 of 4], out[1 of 4]");
}

TEST(Amount, AddsUnequalPartsExactly) {
  const Schedule s = schedule("out out[9]\nscratch third[1000] like out[1 of 3]\n");
  const auto sum = [&](std::vector<Extent> section) { return amount(s, section); };
  EXPECT_EQ(sum({}), (Amount{0, 1}));
  EXPECT_EQ(sum({{0, 1, 0, 4}}), (Amount{4, 1}));
  EXPECT_EQ(sum({{0, 2, 0, 1}, {0, 3, 0, 1}}), (Amount{5, 6}));
  EXPECT_EQ(sum({{1, 1, 0, 1000}, {1, 2, 1, 1}}), (Amount{667, 2}));
  // Primes near 2^31: the sum of three needs more than 64 bits.
  EXPECT_EQ(sum({{0, 2147483647, 0, 1}, {0, 2147483629, 0, 1}, {0, 2147483587, 0, 1}}),
            (Amount{0, 0}));
}

TEST(Amount, SaysWhenPartsAreTooFine) {
  Schedule s =
      schedule("out out[1]\nscratch a[1] like out[0 of 65536]\nscratch b[1] like a[0 of 32767]\n");
  EXPECT_EQ(amount(s, std::vector<Extent>{{2, 1, 0, 1}}), (Amount{1, int64_t{65536} * 32767}));
  EXPECT_EQ(amount(s, std::vector<Extent>{{2, 2, 0, 1}}).parts, 0);
}

TEST(Lengths, AreWhatAmountSays) {
  const Schedule s = schedule(
      "out out[9]\nscratch third[4] like out[1 of 3], out[5 +: 3 of 3]\n"
      "scratch mixed[2] like out[0], third[0]\nscratch sixth[1] like third[1 of 2]\n"
      "scratch fine[1] like sixth[0 of 65536]\nscratch none[0]\n");
  const Lengths lengths(s);
  const auto both = [&](std::vector<Extent> section) {
    EXPECT_EQ(lengths(section), amount(s, section));
    return lengths(section);
  };
  EXPECT_EQ(both({}), (Amount{0, 1}));
  EXPECT_EQ(both({{1, 1, 0, 3}}), (Amount{1, 1}));
  EXPECT_EQ(both({{0, 4, 1, 2}}), (Amount{1, 2}));
  EXPECT_EQ(both({{1, 1, 0, 1}, {3, 1, 0, 1}, {0, 6, 5, 1}}), (Amount{2, 3}));
  EXPECT_EQ(both({{3, 1, 0, 1}, {0, 6, 5, 4}}), (Amount{5, 6}));
  EXPECT_EQ(both({{2, 1, 0, 2}}), (Amount{4, 3}));
  EXPECT_EQ(both({{2, 1, 1, 1}}), (Amount{1, 3}));
  EXPECT_EQ(both({{1, 1, 1, 0}, {0, 1, 0, 2}}), (Amount{2, 1}));
  EXPECT_EQ(both({{4, 65536, 0, 1}}), (Amount{0, 0}));  // finer than can be said
}

/// Every block of a scratch resolves to what its unit resolves to.
TEST(Resolve, AgreesWithLookingAtEachBlock) {
  EXPECT_TRUE(rc::check([] {
    Schedule s;
    s.buffers.push_back({.name = "out", .role = Role::out, .blocks = 6});
    std::vector<std::vector<std::vector<Extent>>> blocks(
        1);  // buffer, block -> what it is, resolved
    for (int64_t i = 0; i < 6; ++i) blocks[0].push_back({{0, 1, i, 1}});
    for (BufferId b = 1; b < 4; ++b) {
      Buffer scratch{.name = cat("s", b)};
      blocks.emplace_back();
      const int extents = *rc::gen::inRange(1, 4);
      for (int k = 0; k < extents; ++k) {
        Extent e;
        e.buffer = *rc::gen::inRange<BufferId>(0, b);
        e.parts = *rc::gen::inRange(1, 4);
        const int64_t units = s.buffers[e.buffer].blocks * e.parts;
        e.first = *rc::gen::inRange<int64_t>(0, units);
        e.count = *rc::gen::inRange<int64_t>(1, std::min<int64_t>(units - e.first, 4) + 1);
        scratch.like.push_back(e);
        for (int64_t i = e.first; i < e.first + e.count; ++i) {
          const Extent whole = blocks[e.buffer][i / e.parts][0];
          blocks[b].push_back({{0, whole.parts * e.parts, whole.first * e.parts + i % e.parts, 1}});
        }
      }
      scratch.blocks = static_cast<int64_t>(blocks[b].size());
      s.buffers.push_back(scratch);
    }
    const BufferId b = *rc::gen::inRange<BufferId>(1, 4);
    const int32_t parts = *rc::gen::inRange(1, 4);
    const int64_t units = s.buffers[b].blocks * parts;
    const int64_t first = *rc::gen::inRange<int64_t>(0, units);
    const Extent asked{b, parts, first, *rc::gen::inRange<int64_t>(0, units - first + 1)};
    std::vector<Extent> expected;
    for (int64_t i = first; i < first + asked.count; ++i) {
      const Extent whole = blocks[b][i / parts][0];
      expected.push_back({0, whole.parts * parts, whole.first * parts + i % parts, 1});
    }
    // Joined the same way by resolving the expected pieces, which are the caller's already.
    RC_ASSERT(resolve(s, {&asked, 1}) == resolve(s, expected));
    RC_ASSERT(amount(s, {&asked, 1}) == amount(s, expected));

    // Several at once: of equal parts, of others, of none.
    std::vector<Extent> section{asked};
    for (const int n : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 64))) {
      const BufferId buffer = n % 4;
      section.push_back(
          {buffer, 1 + n / 16, 0, std::min<int64_t>(n / 4 % 4, s.buffers[buffer].blocks)});
    }
    RC_ASSERT(Lengths(s)(section) == amount(s, section));
  }));
}

TEST(Resolve, LongLikeLists) {
  Schedule s;
  const int64_t n = 65536;
  s.buffers.push_back({.name = "out", .role = Role::out, .blocks = n});
  Buffer scratch{.name = "tmp", .blocks = n};
  for (int64_t i = 0; i < n; ++i) scratch.like.push_back({0, 1, i * 7 % n, 1});
  s.buffers.push_back(scratch);
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += resolve(s, std::vector<Extent>{{1, 1, i, 1}})[0].first;
  EXPECT_EQ(sum, n * (n - 1) / 2);
}

}  // namespace
}  // namespace nbcc
