// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous events: of an adapter that is gone all are told, of others nobody. soft-RoCE has few
// of its own, so the kernel's end of the descriptor is a pipe here.

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "test/verbs/ends.h"

namespace {

/// Descriptors of events: of a context that is opened the first, of its completion channels others.
std::set<int> eventFiles() {
  std::set<int> found;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) == "anon_inode:[infinibandevent]")
      found.insert(std::atoi(entry.path().filename().c_str()));
  }
  return found;
}

/// Two ends, of which the first hears what is said here.
struct Told {
  std::set<int> before = eventFiles();
  Pair p;
  int kernel = -1;

  Told() {
    int ends[2] = {-1, -1}, own = -1;
    for (int file : eventFiles())
      if (own < 0 && !before.count(file)) own = file;
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    EXPECT_GE(own, 0);
    EXPECT_EQ(dup2(ends[0], own), own);
    close(ends[0]);
    kernel = ends[1];
  }
  ~Told() { close(kernel); }

  /// As struct ib_uverbs_async_event_desc of the kernel.
  void say(ibv_event_type type) const {
    const struct {
      uint64_t element;
      uint32_t type, reserved;
    } event = {1, uint32_t(type), 0};
    EXPECT_EQ(write(kernel, &event, sizeof event), ssize_t(sizeof event));
  }
  int failed() const { return p.a.ops->failed(p.a.verbs, p.a.qp); }
};

TEST(Events, ofAnAdapterThatIsGoneAllAreTold) {
  Told t;
  EXPECT_EQ(t.failed(), 0);
  t.say(IBV_EVENT_DEVICE_FATAL);
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!t.failed() && std::chrono::steady_clock::now() < end) sched_yield();
  EXPECT_EQ(t.failed(), NBC_ERROR_DEVICE);
  ibv_wc wc;
  EXPECT_EQ(t.p.a.ops->poll(t.p.a.verbs, t.p.a.cq, 1, &wc), NBC_ERROR_DEVICE);
  EXPECT_EQ(t.p.b.ops->failed(t.p.b.verbs, t.p.b.qp), 0);
}

TEST(Events, wakeWhoSleeps) {
  Told t;
  std::thread later([&] {
    std::this_thread::sleep_for(100ms);
    t.say(IBV_EVENT_DEVICE_FATAL);
  });
  const auto begin = std::chrono::steady_clock::now();
  while (!t.failed() && std::chrono::steady_clock::now() - begin < 60s)
    t.p.a.ops->sleep(t.p.a.verbs, t.p.a.cq, std::chrono::nanoseconds(20s).count());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
  EXPECT_EQ(t.failed(), NBC_ERROR_DEVICE);
  later.join();
}

TEST(Events, ofOtherKindsFailNothing) {
  Told t;
  for (ibv_event_type type : {IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_GID_CHANGE,
                              IBV_EVENT_SM_CHANGE, IBV_EVENT_LID_CHANGE, ibv_event_type(77)})
    t.say(type);
  const auto end = std::chrono::steady_clock::now() + 200ms;
  while (std::chrono::steady_clock::now() < end) EXPECT_EQ(t.failed(), 0);
  ASSERT_EQ(t.p.b.receive(1, t.p.b.run(0, 10)), 0);
  ASSERT_EQ(t.p.a.send(2, {t.p.a.run(0, 10)}, 0), 0);
  EXPECT_EQ(t.p.b.next().byte_len, 10u);
  EXPECT_EQ(t.p.a.next().status, IBV_WC_SUCCESS);
}

}  // namespace
