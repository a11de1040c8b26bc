// SPDX-License-Identifier: BSD-3-Clause
// Target shm between processes: right data, and what happens when the system will not.

#include "test/runtime/shm/processes.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <random>

namespace {

/// A /dev/shm of its own for this process; false where the system does not let it.
bool ownSharedMemory(const char *options) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNS)) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";  // else no file can be made
  }
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", "/dev/shm", "tmpfs", 0, options) == 0;
}

/// Names are counted: nobody else's, where the system lets it.
struct NamesOfOurOwn : testing::Environment {
  void SetUp() override { ownSharedMemory(""); }
};
[[maybe_unused]] const auto *const ours = testing::AddGlobalTestEnvironment(new NamesOfOurOwn);

void forbidReading() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {std::size(code), code};
  Process::must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
  Process::must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "a filter");
}

TEST(Processes, exchangeAnything) {
  for (int ranks : {2, 5}) {
    Processes all(ranks, [&](Process &p) {
      nbc_comm *comm = p.open();
      nbc_plan *plan = Process::plan(
          comm, build::ringAllgather(uint32_t(ranks), uint32_t(p.files.rank)), {.depth = 3});
      Process::must(namesInSharedMemory() == 0, "no names are left once all are connected");
      gather(plan, p.files.rank, ranks);
      p.close(comm, plan);
    });
    expectAllWell(all);
  }
}

TEST(Processes, exchangeAnythingWhereMemoryCannotBeRead) {
  enum When { BEFORE, LATER, ONE_ONLY };
  for (When when : {BEFORE, LATER, ONE_ONLY}) {
    Processes all(3, [&](Process &p) {
      if (when == BEFORE || (when == ONE_ONLY && p.files.rank == 1)) forbidReading();
      nbc_comm *comm = p.open();
      nbc_plan *plan = Process::plan(comm, build::ringAllgather(3, uint32_t(p.files.rank)));
      gather(plan, p.files.rank, 3, 1);
      if (when == LATER) forbidReading();
      gather(plan, p.files.rank, 3);
      p.close(comm, plan);
    });
    expectAllWell(all);
  }
}

TEST(Processes, whoDoesNotComeByIsReadFrom) {
  Processes all(2, [&](Process &p) {
    nbc_comm *comm = p.open();
    const int rank = p.files.rank;
    nbc_plan *plan = Process::plan(comm, build::pairsBcast(2, uint32_t(rank), 1));
    for (size_t call = 0; call < 20; ++call) {
      const size_t n = call < 14 ? 2049 + 300 * call : 50000 * call + 1;
      std::vector<uint8_t> data(n);
      for (size_t i = 0; i < n && rank == 0; ++i) data[i] = byteOf(0, call, i);
      nbc_call c = {.data = data.data(), .count = n};
      nbc_request request;
      Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
      // To have looked and not waited is no promise to come by.
      int done = 0;
      if (rank == 0) Process::must(nbc_test(&request, &done) == 0, "a call is looked at");
      // The root looks at its call when the other has the data.
      const std::string has = "has " + std::to_string(call);
      char nothing;
      size_t bytes;
      if (rank == 0) Files::get(&p.files, 1, has.c_str(), &nothing, 1, &bytes);
      // The other waits, or has only rested once.
      if (rank == 1 && call % 2) Process::must(nbc_rest(&request, nullptr) == 0, "a rest");
      while (rank == 1 && call % 2 && !done)
        Process::must(nbc_test(&request, &done) == 0, "a call is looked at");
      Process::must(done || nbc_wait(&request) == 0, "a call ends well");
      if (rank == 0) continue;
      for (size_t i = 0; i < n; ++i)
        Process::must(data[i] == byteOf(0, call, i), "the data are right");
      Files::put(&p.files, has.c_str(), "", 0);
    }
    p.close(comm, plan);
  });
  expectAllWell(all);
}

// Part by part through the window, each would wait for a turn of the processor.
TEST(Processes, whoShareAProcessorReadWhatIsLong) {
  Processes all(2, [&](Process &p) {
    cpu_set_t mine, one;
    Process::must(sched_getaffinity(0, sizeof mine, &mine) == 0, "there are processors");
    int first = 0;
    while (!CPU_ISSET(first, &mine)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    Process::must(sched_setaffinity(0, sizeof one, &one) == 0, "one of them will do");
    nbc_comm *comm = p.open();
    nbc_plan *plan = Process::plan(comm, build::pairsBcast(2, uint32_t(p.files.rank), 1));
    constexpr size_t bytes = 1 << 20, window = 64 << 10, calls = 100;
    std::vector<uint8_t> data(bytes);
    rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (size_t call = 0; call < calls; ++call) {
      for (size_t i = 0; i < bytes && p.files.rank == 0; i += 4096) data[i] = byteOf(0, call, i);
      nbc_call c = {.data = data.data(), .count = bytes};
      nbc_request request;
      Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
      Process::must(nbc_wait(&request) == 0, "a call ends well");
      for (size_t i = 0; i < bytes; i += 4096)
        Process::must(data[i] == byteOf(0, call, i), "the data are right");
    }
    getrusage(RUSAGE_SELF, &after);
    const long switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
    Process::must(switches < long(calls * (bytes / window) / 2),
                  "the processor is seldom given away");
    p.close(comm, plan);
  });
  expectAllWell(all);
}

TEST(Processes, aSenderIsAheadOfWhoSleepsWhateverItSends) {
  const size_t lengths[] = {8,    49, 0,    2048, 1,    64,  500,   4097, 65,
                            8192, 48, 2049, 2800, 8129, 128, 20000, 1200};
  enum { CALLS = 1200 };
  // Of 17000 bytes the ring is less than three times as long as the longest in it.
  for (uint64_t memory : {0, 16384, 17000, 17001, 17002, 17003, 17004, 17005, 17006, 65536}) {
    Processes all(2, [&](Process &p) {
      nbc_comm *comm = p.open();
      const bool root = p.files.rank == 0;
      nbc_plan *plan = Process::plan(comm, build::pairsBcast(2, uint32_t(p.files.rank), 1),
                                     {.depth = 1, .slot_memory = memory});
      std::mt19937 drawn(unsigned(memory) + 1);
      for (size_t call = 0; call < CALLS; ++call) {
        // Now all of one length, now in any order.
        const size_t n = lengths[(call / 20 % 2 ? call / 40 : drawn()) % std::size(lengths)];
        std::vector<uint8_t> data(n + 1, 0x77);
        for (size_t i = 0; i < n && root; ++i) data[i] = byteOf(0, call, i);
        nbc_call c = {.data = data.data(), .count = n};
        nbc_request request;
        if (!root && call % 200 == 0) usleep(10000);
        Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
        Process::must(nbc_wait(&request) == 0, "a call ends well");
        for (size_t i = 0; i < n; ++i)
          Process::must(data[i] == byteOf(0, call, i), "the data are right");
        Process::must(data[n] == 0x77, "nothing is written behind them");
      }
      p.close(comm, plan);
    });
    expectAllWell(all);
  }
}

TEST(Processes, whoeverWaitsForTheDeadIsTold) {
  for (size_t length : {8, 5000, 200000})
    for (bool byTest : {false, true}) {
      Processes all(2, [&](Process &p) {
        nbc_comm *comm = p.open();
        nbc_plan *plan = Process::plan(comm, build::ringAllgather(2, uint32_t(p.files.rank)));
        gather(plan, p.files.rank, 2, 1);
        Files::put(&p.files, "ready", "", 0);
        if (p.files.rank == 1)
          for (;;) pause();
        std::vector<uint8_t> in(length), out(2 * length);
        nbc_call c = {.in = in.data(), .out = out.data(), .count = length};
        nbc_request request;
        Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
        int done = 0, status = 0;
        while (byTest && !done) status = nbc_test(&request, &done);
        if (!byTest) status = nbc_wait(&request);
        Process::must(status == NBC_ERROR_DEVICE, "the call has failed");
        Process::must(nbc_plan_free(plan) == 0 && nbc_comm_free(comm) == 0, "free");
      });
      ASSERT_TRUE(all.has(0, "ready") && all.has(1, "ready"));
      usleep(20000);  // in the middle of the wait
      kill(all.pids[1], SIGKILL);
      EXPECT_EQ(all.status(1), -SIGKILL);
      EXPECT_EQ(all.status(0, std::chrono::seconds(5)), 0);
      EXPECT_EQ(namesInSharedMemory(), 0);
    }
}

TEST(Processes, whoRestsBetweenTestsLeavesTheProcessorToOthers) {
  Processes all(2, [&](Process &p) {
    nbc_comm *comm = p.open();
    nbc_plan *plan = Process::plan(comm, build::ringAllgather(2, uint32_t(p.files.rank)));
    uint8_t in[8] = {}, out[16] = {};
    nbc_call c = {.in = in, .out = out, .count = 8};
    nbc_request request = {};
    Process::must(nbc_rest(nullptr, nullptr) == NBC_ERROR_ARGUMENT, "null is refused");
    int away = 2, sleeps = 0;
    Process::must(nbc_rest(&request, &away) == 0 && away == 0, "of no call, it returns");
    if (p.files.rank == 1) usleep(300000);
    Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
    int done = 0, looks = 0;
    for (; !done; ++looks) {
      Process::must(nbc_test(&request, &done) == 0, "a test");
      if (!done) Process::must(nbc_rest(&request, &away) == 0, "a rest");
      sleeps += !done && away;
    }
    Process::must(looks < 50000, "who sleeps looks seldom");  // else some millions
    // A thousand or so; where others want the processors, too, each rest is a long one.
    Process::must(p.files.rank == 1 || sleeps > 10, "who sleeps says so");
    Process::must(nbc_rest(&request, &away) == 0 && away == 0,
                  "of a call that is done, it returns");
    p.close(comm, plan);
  });
  EXPECT_EQ(all.status(0), 0);
  EXPECT_EQ(all.status(1), 0);
}

// As ranks of other communicators, threads and other programs do: masks do not tell of them.
TEST(Processes, whoSharesACoreUnawaresSoonGivesItAway) {
  Processes all(2, [&](Process &p) {
    nbc_comm *comm = p.open();
    nbc_plan *plan = Process::plan(comm, build::ringAllgather(2, uint32_t(p.files.rank)));
    pid_t other = -1;
    if (p.files.rank == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(sched_getcpu(), &one);
      Process::must(sched_setaffinity(0, sizeof one, &one) == 0, "one processor");
      other = fork();
      while (other == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);  // busy
    }
    uint8_t in[8] = {}, out[16] = {};
    const nbc_call c = {.in = in, .out = out, .count = 8};
    enum { LEARNING = 200, CALLS = 240 };
    long rests = 0;
    for (int call = 0; call < CALLS; ++call) {
      nbc_request request;
      if (p.files.rank == 1) usleep(200);
      Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
      for (int done = 0; !done;) {
        Process::must(nbc_test(&request, &done) == 0, "a test");
        if (!done) Process::must(nbc_rest(&request, nullptr) == 0, "a rest");
        rests += !done && call >= LEARNING;
      }
    }
    if (other > 0) {
      kill(other, SIGKILL);
      waitpid(other, nullptr, 0);
      Process::must(rests < 20 * (CALLS - LEARNING),
                    "it does not spin");  // else some thousand each
    }
    p.close(comm, plan);
  });
  expectAllWell(all);
}

TEST(Processes, whoRestsSeesWhoHasDied) {
  Processes all(2, [&](Process &p) {
    nbc_comm *comm = p.open();
    nbc_plan *plan = Process::plan(comm, build::ringAllgather(2, uint32_t(p.files.rank)));
    Files::put(&p.files, "ready", "", 0);
    if (p.files.rank == 1)
      for (;;) pause();
    uint8_t in[8] = {}, out[16] = {};
    nbc_call c = {.in = in, .out = out, .count = 8};
    nbc_request request;
    Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    while (std::chrono::steady_clock::now() < end)
      Process::must(nbc_rest(&request, nullptr) == 0, "a rest");
    int done = 0;
    Process::must(nbc_test(&request, &done) == NBC_ERROR_DEVICE && done, "the call has failed");
    Process::must(nbc_plan_free(plan) == 0 && nbc_comm_free(comm) == 0, "free");
  });
  ASSERT_TRUE(all.has(0, "ready") && all.has(1, "ready"));
  kill(all.pids[1], SIGKILL);
  EXPECT_EQ(all.status(0, std::chrono::seconds(5)), 0);
}

int descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

TEST(Processes, manyDevicesWatchAPeerByOneDescriptor) {
  Processes all(2, [&](Process &p) {
    const int before = descriptors();
    nbc_comm *comms[20];
    for (nbc_comm *&comm : comms) comm = p.open();
    Process::must(descriptors() <= before + 2, "one for the peer, and one for the memory");
    Files::fence(&p.files);
    for (nbc_comm *comm : comms) Process::must(nbc_comm_free(comm) == 0, "free");
    Process::must(descriptors() == before, "none is left");
  });
  EXPECT_EQ(all.status(0), 0);
  EXPECT_EQ(all.status(1), 0);
}

/// A device whose peers have not been told of it.
nbc_device *begun(Process &p) {
  nbc_shm_facts facts;
  nbc_device *device = nullptr;
  Process::must(nbc_shm_begin(p.files.rank, p.files.ranks, &facts, &device) == 0, "it begins");
  Files::put(&p.files, "facts", &facts, sizeof facts);
  return device;
}

TEST(Processes, whoIsLeftTakesAwayWhatTheKilledHadMade) {
  Processes all(3, [&](Process &p) {
    nbc_device *device = begun(p);
    pid_t victim = getpid();
    size_t bytes = 0;
    Files::put(&p.files, "made", &victim, sizeof victim);
    if (p.files.rank == 1)
      for (;;) pause();
    Process::must(Files::get(&p.files, 1, "made", &victim, sizeof victim, &bytes) == 0, "its pid");
    while (kill(victim, 0) == 0) usleep(1000);
    nbc_shm_facts of[3];
    for (int r : {0, 1, 2})
      Process::must(Files::get(&p.files, r, "facts", &of[r], sizeof of[r], &bytes) == 0, "facts");
    Process::must(nbc_shm_finish(device, of, nullptr) == 0, "a device");
    device->close(device);
  });
  for (int r : {0, 1, 2}) ASSERT_TRUE(all.has(r, "made"));
  EXPECT_EQ(namesInSharedMemory(), 3);
  kill(all.pids[1], SIGKILL);
  EXPECT_EQ(all.status(1), -SIGKILL);
  for (int r : {0, 2}) EXPECT_EQ(all.status(r), 0);
  EXPECT_EQ(namesInSharedMemory(), 0);
}

TEST(Processes, whatTheKilledLeaveBehindTheNextTakesAway) {
  {
    Processes all(2, [&](Process &p) {
      begun(p);
      Files::put(&p.files, "ready", "", 0);
      for (;;) pause();
    });
    ASSERT_TRUE(all.has(0, "ready") && all.has(1, "ready"));
    EXPECT_EQ(namesInSharedMemory(), 2);
    // Who opens a device meanwhile takes nothing away that is in use.
    Processes alone(1, [](Process &p) { Process::must(nbc_comm_free(p.open()) == 0, "free"); });
    EXPECT_EQ(alone.status(0), 0);
    EXPECT_EQ(namesInSharedMemory(), 2);
  }
  EXPECT_EQ(namesInSharedMemory(), 2);
  Processes next(1, [](Process &p) { Process::must(nbc_comm_free(p.open()) == 0, "free"); });
  EXPECT_EQ(next.status(0), 0);
  EXPECT_EQ(namesInSharedMemory(), 0);
}

TEST(Processes, aFullSharedMemoryIsAnErrorInTime) {
  enum { NO_NAMESPACES = 42 };
  Processes all(1, [](Process &p) {
    if (!ownSharedMemory("size=32k")) _exit(NO_NAMESPACES);
    nbc_device *device = nullptr;
    nbc_comm *comm = nullptr;
    // As rank 0 of 2: the other is not there, and is not asked before the plan is connected.
    const uint32_t nodes[] = {0, 0};
    nbc_shm_options options = {.nodes = nodes};
    nbc_bootstrap b = p.bootstrap();
    b.ranks = 2;
    b.fence = nullptr;
    b.get = [](void *context, int, const char *key, void *data, size_t capacity, size_t *bytes) {
      return Files::get(context, 0, key, data, capacity, bytes);  // a second of my kind
    };
    Process::must(nbc_shm_open(&b, &options, &device) == 0, "the device opens");
    Process::must(nbc_comm_create(&b, &device, 1, &comm) == 0, "there is a communicator");
    build::Bytes t = build::ringAllgather(2, 0);
    std::strcpy(t.header()->target, "shm");
    t.seal();
    nbc_plan *plan = nullptr;
    nbc_plan_options large = {.depth = 8, .eager_bytes = 4096},
                     small = {.eager_bytes = 64, .slot_memory = 16384};
    Process::must(nbc_plan_create(comm, t.data(), t.size(), &large, &plan) == NBC_ERROR_MEMORY,
                  "what does not fit is refused");
    const std::string why = nbc_plan_why();
    Process::must(
        why.find("bytes of /dev/shm for its messages: No space left on device") != why.npos,
        "why is said");
    Process::must(namesInSharedMemory() == 0, "nothing is left of it");
    Process::must(nbc_plan_create(comm, t.data(), t.size(), &small, &plan) == 0, "the rest fits");
    Process::must(nbc_plan_free(plan) == 0 && nbc_comm_free(comm) == 0, "free");
  });
  const int status = all.status(0);
  if (status == NO_NAMESPACES) GTEST_SKIP() << "a process here gets no namespaces of its own";
  EXPECT_EQ(status, 0);
}

}  // namespace
