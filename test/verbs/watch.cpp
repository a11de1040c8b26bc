// SPDX-License-Identifier: BSD-3-Clause
// Whoever unmaps memory, the device tells of it before it is gone.

#include <sys/mman.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "test/verbs/ends.h"

namespace {

/// Counts what overlaps one range.
struct Told {
  const char *begin = nullptr;
  size_t bytes = 0;
  int times = 0;

  static void gone(void *context, const void *begin, size_t bytes) {
    auto *t = static_cast<Told *>(context);
    const auto *from = static_cast<const char *>(begin);
    t->times += from < t->begin + t->bytes && t->begin < from + bytes;
  }
};

nbc_verbs *opened() {
  nbc_device *device = nullptr;
  EXPECT_EQ(nbc_verbs_open(nullptr, &device, nullptr), 0);
  return reinterpret_cast<nbc_verbs *>(device);
}

constexpr size_t size = 1 << 16;

char *mapped() {
  return static_cast<char *>(
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

TEST(Watch, TellsOfMemoryThatGoes) {
  nbc_verbs *v = opened();
  Told told;
  ASSERT_EQ(v->ops->watch(v, Told::gone, &told), 0);
  const auto tells = [&](const char *what, const std::function<void(char *)> &end) {
    told = {mapped(), size, 0};
    end(const_cast<char *>(told.begin));
    EXPECT_GE(told.times, 1) << what;
  };
  tells("munmap", [](char *m) { munmap(m, size); });
  tells("munmap of a part", [](char *m) { munmap(m + size / 2, 4096); });
  tells("munmap of more", [](char *m) { munmap(m, size); });
  tells("mremap", [](char *m) { mremap(m, size, 4 * size, MREMAP_MAYMOVE); });
  tells("madvise", [](char *m) { madvise(m, size, MADV_DONTNEED); });
  tells("mmap over it",
        [](char *m) { mmap(m, size, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); });
  tells("another thread", [](char *m) { std::thread([=] { munmap(m, size); }).join(); });
  // The C library's own calls.
  auto *large = static_cast<char *>(std::malloc(8 << 20));
  told = {large, 8 << 20, 0};
  void (*volatile end)(void *) = std::free;  // of itself, compilers know that it changes nothing
  end(large);
  EXPECT_GE(told.times, 1);
  v->device.close(&v->device);
  told = {mapped(), size, 0};
  munmap(const_cast<char *>(told.begin), size);
  EXPECT_EQ(told.times, 0) << "closed";
}

TEST(Watch, TwoDevicesAreToldBoth) {
  nbc_verbs *a = opened(), *b = opened();
  Told first, second;
  ASSERT_EQ(a->ops->watch(a, Told::gone, &first), 0);
  ASSERT_EQ(b->ops->watch(b, Told::gone, &second), 0);
  first = second = {mapped(), size, 0};
  munmap(const_cast<char *>(first.begin), size);
  EXPECT_EQ(first.times, 1);
  EXPECT_EQ(second.times, 1);
  EXPECT_EQ(a->ops->watch(a, nullptr, nullptr), 0);
  first = second = {mapped(), size, 0};
  munmap(const_cast<char *>(first.begin), size);
  EXPECT_EQ(first.times, 0);
  EXPECT_EQ(second.times, 1);
  a->device.close(&a->device);
  b->device.close(&b->device);
}

TEST(Watch, NotWhereTheUserSaysSo) {
  setenv("NBC_VERBS_WATCH", "no", 1);
  nbc_verbs *v = opened();
  Told told;
  EXPECT_EQ(v->ops->watch(v, Told::gone, &told), NBC_ERROR_UNSUPPORTED);
  unsetenv("NBC_VERBS_WATCH");
  v->device.close(&v->device);
}

}  // namespace
