// SPDX-License-Identifier: BSD-3-Clause
// plans.cpp - plans of target verbs over real queue pairs: ranks are processes, which meet over
// files.
//
//   verbs-plans RANKS [--read | --copied] [--eager=BYTES] [--depth=N] [--thread] [--flights=N]
//   [--lengths=N,N,...] [--here=A..B --meeting=FOLDER] FILE...
//
// --here: of the ranks these are on this machine, and others elsewhere; all see FOLDER, which is
// empty. What is called of each file is in test/mpi/calls.h, half of it in place. Prints a line if
// all was right; ends with 1 if anything was wrong on one rank, and when a rank dies.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "nbc/verbs.h"
#include "test/mpi/calls.h"
#include "test/runtime/files.h"

namespace {

struct Wish {
  int ranks = 0, first = 0, last = -1;  // on this machine
  const char *meeting = nullptr;
  nbc_verbs_options device = {};
  bool thread = false;
  variation calls = {};
  std::vector<size_t> lengths = {3, 0, 1, 257, 1000};
  std::vector<const char *> files;
};

Files *meeting;

void stop() {
  _exit(1);
}

double latest(double mine) {
  static int number = 0;
  const std::string key = "latest." + std::to_string(number++);
  Files::put(meeting, key.c_str(), &mine, sizeof mine);
  for (int r = 0; r < meeting->ranks; ++r) {
    double theirs = 0;
    size_t bytes = 0;
    Files::get(meeting, r, key.c_str(), &theirs, sizeof theirs, &bytes);
    mine = std::max(mine, theirs);
  }
  return mine;
}

/// Ranks on other machines have other clocks: of a barrier only is seen that it ends.
double unknown(double mine) {
  return mine;
}

int carryOut(const Wish &wish, Files files) {
  meeting = &files;
  world.rank = files.rank;
  world.ranks = files.ranks;
  world.in_place = true;
  world.file_name = "device";
  world.stop = stop;
  world.latest = wish.meeting ? unknown : latest;
  nbc_device *device = nullptr;
  nbc_comm *comm = nullptr;
  const char *why = "";
  const int status = nbc_verbs_open(&wish.device, &device, &why);
  must(status, why);
  const nbc_bootstrap bootstrap = files.bootstrap();
  must(nbc_comm_create(&bootstrap, &device, 1, &comm), "communicator");
  if (wish.thread) must(nbc_comm_progress(comm, NBC_PROGRESS_THREAD), "thread");
  int calls = 0;
  for (const char *file : wish.files) calls += check_file(comm, file, &wish.calls);
  world.file_name = "end";
  must(nbc_comm_free(comm), "free");
  world.wrong = int(latest(world.wrong));
  return tell(int(wish.files.size()), calls);
}

bool read(int argc, char **argv, Wish &wish) {
  wish.calls.flights = 2;
  for (int i = 1; i < argc; ++i) {
    const char *word = argv[i];
    unsigned eager;
    if (i == 1) {
      wish.ranks = std::atoi(word);
    } else if (!std::strcmp(word, "--read")) {
      wish.device.rendezvous = NBC_VERBS_READ;
    } else if (!std::strcmp(word, "--send")) {
      wish.device.rendezvous = NBC_VERBS_SEND;
    } else if (!std::strcmp(word, "--direct")) {
      wish.device.rendezvous = NBC_VERBS_DIRECT;
    } else if (!std::strcmp(word, "--copied")) {
      wish.device.transfer = NBC_TRANSFER_EAGER;
    } else if (!std::strcmp(word, "--thread")) {
      wish.thread = true;
    } else if (std::sscanf(word, "--eager=%u", &eager) == 1) {
      wish.calls.options.eager_bytes = eager;
    } else if (std::sscanf(word, "--depth=%u", &wish.calls.options.depth) == 1 ||
               std::sscanf(word, "--flights=%d", &wish.calls.flights) == 1) {
      continue;
    } else if (!std::strncmp(word, "--meeting=", 10)) {
      wish.meeting = word + 10;
    } else if (std::sscanf(word, "--here=%d..%d", &wish.first, &wish.last) == 2) {
      continue;
    } else if (!std::strncmp(word, "--lengths=", 10)) {
      wish.lengths.resize(MOST_LENGTHS);
      wish.lengths.resize(size_t(read_lengths(word + 10, wish.lengths.data())));
      if (wish.lengths.empty()) return false;
    } else if (word[0] == '-') {
      return false;
    } else {
      wish.files.push_back(word);
    }
  }
  wish.calls.lengths = wish.lengths.data();
  wish.calls.count = int(wish.lengths.size());
  wish.calls.options.max_bytes =
      8 * *std::max_element(wish.lengths.begin(), wish.lengths.end()) + 8;
  if (wish.last < 0) wish.last = wish.ranks - 1;
  if (wish.first < 0 || wish.first > wish.last || wish.last >= wish.ranks) return false;
  return wish.ranks > 0 && wish.calls.flights >= 2 && wish.calls.flights <= MOST_FLIGHTS;
}

}  // namespace

int main(int argc, char **argv) {
  Wish wish;
  if (!read(argc, argv, wish)) {
    std::fprintf(stderr, "verbs-plans: see the head of its source\n");
    return 2;
  }
  char own[] = "/dev/shm/verbs-plans-XXXXXX";
  if (!wish.meeting && !mkdtemp(own)) return 2;
  const char *folder = wish.meeting ? wish.meeting : own;
  std::vector<pid_t> pids;
  for (int r = wish.first; r <= wish.last; ++r) {
    pids.push_back(fork());
    if (pids.back() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int status = carryOut(wish, {folder, r, wish.ranks});
    std::fflush(nullptr);
    _exit(status);
  }
  // The first that ends badly ends all: the others would wait for it.
  bool wrong = false;
  for (size_t left = pids.size(); left > 0; --left) {
    int how = 0;
    wait(&how);
    if (how && !wrong) {
      wrong = true;
      if (WIFSIGNALED(how)) std::fprintf(stderr, "a rank has ended by signal %d\n", WTERMSIG(how));
      for (pid_t pid : pids) kill(pid, SIGKILL);
    }
  }
  if (!wish.meeting) std::filesystem::remove_all(folder);
  return wrong;
}
