// SPDX-License-Identifier: BSD-3-Clause
// Which way long messages go, of made-up times, and between processes where reading is slow.

#include "runtime/shm/ways.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "test/runtime/shm/processes.h"

namespace {

constexpr uint64_t LENGTH = 100000;

bool reads(const ways &w, uint64_t bytes = LENGTH) {
  return ways_read(&w) & ways_bit(bytes);
}

/// How many messages come until the way changes, and what they take by either.
int until(ways &w, uint64_t window, uint64_t read, int most = 100000) {
  const bool before = reads(w);
  int n = 0;
  for (; n < most && reads(w) == before; ++n) ways_took(&w, LENGTH, before, before ? read : window);
  return n;
}

void took(ways &w, bool read, std::initializer_list<uint64_t> times) {
  for (uint64_t ns : times) ways_took(&w, LENGTH, read, ns);
}

/// Those that are not timed, of which a short program has no more.
ways begun() {
  ways w{};
  for (int i = 0; i < 16; ++i) ways_took(&w, LENGTH, false, 1);
  return w;
}

TEST(Ways, whatIsQuickerReadIsReadAfterAFew) {
  ways w{};
  EXPECT_FALSE(reads(w));
  EXPECT_EQ(until(w, 20000, 10000), 16 + 4) << "the window is timed, when some have gone by";
  EXPECT_TRUE(reads(w));
  EXPECT_EQ(until(w, 20000, 10000), 4 + 4 + 64 + 4) << "reading is, when it is warm, and stays";
  EXPECT_EQ(until(w, 20000, 10000), 4 + 4) << "the window is tried again";
  EXPECT_TRUE(reads(w));
}

TEST(Ways, whatDoesNotChangeIsComparedLessAndLess) {
  ways w{};
  int pauses[7];
  for (int &pause : pauses) {
    pause = until(w, 10000, 20000);
    EXPECT_EQ(until(w, 10000, 20000), 4 + 4) << "reading is tried";
    EXPECT_FALSE(reads(w));
  }
  const int expected[] = {20, 68, 260, 1028, 1028, 1028, 1028};
  for (size_t i = 0; i < std::size(pauses); ++i) EXPECT_EQ(pauses[i], expected[i]) << i;
  until(w, 10000, 20000);
  EXPECT_EQ(until(w, 10000, 5000), 4 + 4 + 64 + 4) << "reading has become quicker, and stays";
}

TEST(Ways, littleIsNotWorthAChange) {
  ways w{};
  until(w, 10000, 9000);
  EXPECT_EQ(until(w, 10000, 9000), 4 + 4);
  EXPECT_FALSE(reads(w));
}

TEST(Ways, oneThatTookLongDoesNotCount) {
  ways w = begun();
  took(w, false, {10000, 10000, 10000, 10000});
  took(w, true, {9000, 9000, 9000, 9000, 5000, 5000000, 5000, 5000});
  EXPECT_TRUE(reads(w));
}

TEST(Ways, theFirstThatAreReadTakeLongAndDoNotCount) {
  ways w = begun();
  took(w, false, {10000, 10000, 10000, 10000});
  took(w, true, {40000, 30000, 20000, 11000, 8000, 8000, 8000, 8000});
  EXPECT_TRUE(reads(w));
}

TEST(Ways, whatComesOtherwiseThanAskedForDoesNotCount) {
  ways w{};
  for (int i = 0; i < 100; ++i) ways_took(&w, LENGTH, true, 1);
  EXPECT_FALSE(reads(w));
  EXPECT_EQ(until(w, 1000, 1000), 16 + 4);
}

TEST(Ways, lengthsAreApartAndTimesAreOfAByte) {
  ways w{};
  until(w, 1000, 1000);
  for (uint64_t other : {uint64_t{0}, uint64_t{1}, LENGTH / 2, LENGTH * 2, UINT64_MAX})
    EXPECT_FALSE(reads(w, other)) << other;
  // Of one power of two: the second takes longer, not by the byte.
  ways near = begun();
  for (int i = 0; i < 4; ++i) ways_took(&near, 70000, false, 7000);
  for (int i = 0; i < 4 + 4; ++i) ways_took(&near, 130000, true, 10000);
  EXPECT_TRUE(reads(near));
  // What is absurd is no trouble.
  for (int i = 0; i < 1000; ++i)
    ways_took(&w, i % 2 ? UINT64_MAX : 0, i % 3, i % 5 ? UINT64_MAX : 0);
}

std::atomic<long> times{0};
bool slow = false;

}  // namespace

/// Instead of the C library's.
extern "C" ssize_t process_vm_readv(pid_t pid, const iovec *local, unsigned long locals,
                                    const iovec *remote, unsigned long remotes,
                                    unsigned long flags) noexcept {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(slow ? 2 : 0);
  ++times;
  while (std::chrono::steady_clock::now() < until) continue;
  return syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
}

namespace {

/// Of a row of broadcasts, how many were read; all are right. The root looks at each that late.
long readOf(Process &p, nbc_plan *plan, size_t bytes, size_t calls,
            std::chrono::microseconds late = {}) {
  const long before = times;
  std::vector<uint8_t> data(bytes);
  for (size_t call = 0; call < calls; ++call) {
    for (size_t i = 0; i < bytes && p.files.rank == 0; ++i) data[i] = byteOf(0, call, i);
    nbc_call c = {.data = data.data(), .count = bytes};
    nbc_request request;
    Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
    if (p.files.rank == 0 && late.count()) std::this_thread::sleep_for(late);
    Process::must(nbc_wait(&request) == 0, "a call ends well");
    for (size_t i = 0; i < bytes; ++i)
      Process::must(data[i] == byteOf(0, call, i), "the data are right");
  }
  return times - before;
}

/// Who has none of its own reads anyway.
bool haveProcessors() {
  cpu_set_t mine;
  return !sched_getaffinity(0, sizeof mine, &mine) && CPU_COUNT(&mine) >= 2;
}

TEST(Ways, whereReadingIsSlowItIsTriedAndNoMore) {
  if (!haveProcessors()) GTEST_SKIP() << "a processor for each rank is needed";
  slow = true;
  Processes all(2, [&](Process &p) {
    nbc_comm *comm = p.open();
    nbc_plan *plan = Process::plan(comm, build::pairsBcast(2, uint32_t(p.files.rank), 1));
    const auto begin = std::chrono::steady_clock::now();
    long least = 100;
    for (size_t bytes : {70000, 200000}) {
      long sum = 0;
      for (int row = 0; row < 5; ++row) {
        const long read = readOf(p, plan, bytes, 100);
        sum += read;
        least = std::min(least, read);
      }
      Process::must(p.files.rank == 0 || sum >= 4, "it is tried");
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const double had = double(std::clock()) / CLOCKS_PER_SEC / took.count();
    p.close(comm, plan);
    // A root whose processor others have, too, is waited for in vain.
    Process::must(p.files.rank == 0 || least < 50 || had < 0.8, "most of a row go by the window");
  });
  slow = false;
  expectAllWell(all);
}

TEST(Ways, whereItIsWaitedForInVainItIsRead) {
  if (!haveProcessors()) GTEST_SKIP() << "a processor for each rank is needed";
  Processes all(2, [&](Process &p) {
    nbc_comm *comm = p.open();
    nbc_plan *plan = Process::plan(comm, build::pairsBcast(2, uint32_t(p.files.rank), 1));
    long read = 0;
    for (int round = 0; round < 5; ++round) {  // one comparison may see other programs' noise
      readOf(p, plan, 1000000, 116, std::chrono::milliseconds(2));
      read = std::max(read, readOf(p, plan, 1000000, 20));
    }
    Process::must(p.files.rank == 0 || read >= 16, "the receiver waits no more");
    p.close(comm, plan);
  });
  expectAllWell(all);
}

/// One end tells it of both, by its rounds; the other reads slowly.
TEST(Ways, messagesBothWaysAreRightWhicheverWayTheyGo) {
  Processes all(2, [&](Process &p) {
    constexpr size_t bytes = 300000, calls = 100;
    slow = p.files.rank == 1;
    nbc_comm *comm = p.open();
    nbc_plan *plan = Process::plan(comm, build::ringAllgather(2, uint32_t(p.files.rank)));
    std::vector<uint8_t> in(bytes), out(2 * bytes);
    for (size_t call = 0; call < calls; ++call) {
      for (size_t i = 0; i < bytes; ++i) in[i] = byteOf(size_t(p.files.rank), call, i);
      nbc_call c = {.in = in.data(), .out = out.data(), .count = bytes};
      nbc_request request;
      Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
      Process::must(nbc_wait(&request) == 0, "a call ends well");
      for (size_t i = 0; i < 2 * bytes; ++i)
        Process::must(out[i] == byteOf(i / bytes, call, i % bytes), "the data are right");
    }
    Process::must(times > 0, "it is tried to read them");
    p.close(comm, plan);
  });
  slow = false;
  expectAllWell(all);
}

}  // namespace
