// SPDX-License-Identifier: BSD-3-Clause
// processes.h - ranks as processes, which meet over files.

#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "nbc/shm.h"
#include "test/runtime/files.h"
#include "test/runtime/gather.h"
#include "test/runtime/messages.h"

/// In a rank: its end of what all meet over; `must` ends the process with a word.
struct Process {
  Files files;
  nbc_bootstrap bootstrap() { return files.bootstrap(); }
  static void must(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "process %d: not so: %s\n", int(getpid()), what);
    _exit(1);
  }
  nbc_comm *open(nbc_shm_options options = {}) {
    nbc_bootstrap b = bootstrap();
    nbc_device *device = nullptr;
    nbc_comm *comm = nullptr;
    must(nbc_shm_open(&b, &options, &device) == 0, "the device opens");
    must(nbc_comm_create(&b, &device, 1, &comm) == 0, "there is a communicator");
    return comm;
  }
  static nbc_plan *plan(nbc_comm *comm, build::Bytes bytes, nbc_plan_options options = {}) {
    std::strcpy(bytes.header()->target, "shm");
    bytes.seal();
    nbc_plan *plan = nullptr;
    must(nbc_plan_create(comm, bytes.data(), bytes.size(), &options, &plan) == 0, "create");
    must(nbc_plan_connect(plan) == 0, "connect");
    return plan;
  }
  /// All is well here: nobody leaves before the others.
  void close(nbc_comm *comm, nbc_plan *plan) {
    Files::fence(&files);
    must(nbc_plan_free(plan) == 0, "free");
    must(nbc_comm_free(comm) == 0, "free");
  }
};

class Processes {
 public:
  using Body = std::function<void(Process &)>;

  Processes(int ranks, const Body &body) {
    char name[] = "/tmp/nbc-ranks-XXXXXX";
    folder_ = mkdtemp(name);
    for (int r = 0; r < ranks; ++r) {
      std::fflush(nullptr);
      const pid_t pid = fork();
      if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        Process p = {{folder_, r, ranks}};
        body(p);
        _exit(0);
      }
      pids.push_back(pid);
    }
  }
  ~Processes() {
    for (pid_t p : pids)
      if (p > 0) kill(p, SIGKILL), waitpid(p, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }
  /// How a rank ended: its exit status, -SIGNAL, or -1000 where it did not within so long.
  int status(int rank, std::chrono::seconds patience = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + patience;
    int how = 0;
    while (waitpid(pids[size_t(rank)], &how, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) return -1000;
      usleep(1000);
    }
    pids[size_t(rank)] = -1;
    return WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
  }
  /// Whether the rank has put this, within a minute.
  bool has(int rank, const char *key) const {
    const Files files = {folder_, 0, 0};
    for (int i = 0; i < 60000; ++i, usleep(1000))
      if (std::filesystem::exists(files.file(rank, key))) return true;
    return false;
  }
  std::vector<pid_t> pids;

 private:
  std::filesystem::path folder_;
};

/// Calls of all lengths, one after the other, each checked.
inline void gather(nbc_plan *plan, int rank, int ranks, size_t rounds = 3) {
  const size_t lengths[] = {8, 0, 1, 48, 49, 1000, 2048, 2049, 8192, 5003, 70001, 1 << 20, 3};
  for (size_t call = 0; call < rounds * std::size(lengths); ++call) {
    const size_t n = lengths[call % std::size(lengths)];
    std::vector<uint8_t> in = sentBy(size_t(rank), call, n), out(n * size_t(ranks) + 1, 0x77);
    nbc_call c = {.in = in.data(), .out = out.data(), .count = n};
    nbc_request request;
    Process::must(nbc_start(plan, &c, &request) == 0, "a call starts");
    Process::must(nbc_wait(&request) == 0, "a call ends well");
    for (int from = 0; from < ranks; ++from) {
      const std::vector<uint8_t> wanted = sentBy(size_t(from), call, n);
      Process::must(std::equal(wanted.begin(), wanted.end(), &out[size_t(from) * n]),
                    "the data are right");
    }
    Process::must(out.back() == 0x77, "nothing is written beside them");
  }
}

/// Objects of this library in /dev/shm.
inline int namesInSharedMemory() {
  int count = 0;
  DIR *folder = opendir("/dev/shm");
  while (const dirent *e = readdir(folder)) count += std::strncmp(e->d_name, "nbc-", 4) == 0;
  closedir(folder);
  return count;
}

inline void expectAllWell(Processes &all) {
  for (size_t r = 0; r < all.pids.size(); ++r) EXPECT_EQ(all.status(int(r)), 0) << "rank " << r;
  EXPECT_EQ(namesInSharedMemory(), 0);
}
