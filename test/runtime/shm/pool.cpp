// SPDX-License-Identifier: BSD-3-Clause
// Plans of a process share its memory: used anew, found by who comes later, given back.

#include <sys/stat.h>

#include <vector>

#include "test/runtime/shm/processes.h"

namespace {

/// Objects of shared memory that this process has mapped.
int piecesMapped() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("/dev/shm/nbc-") != line.npos;
  return count;
}

/// Bytes of shared memory that this process has reserved.
size_t reserved() {
  size_t bytes = 0;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code none;
    struct stat now;
    const std::string file = std::filesystem::read_symlink(entry.path(), none);
    if (file.find("/dev/shm/nbc-") != file.npos && stat(entry.path().c_str(), &now) == 0)
      bytes += size_t(now.st_blocks) * 512;
  }
  return bytes;
}

/// Some of a process' ranks, that meet in a place of their own.
Process group(const Process &p, const char *name, int ranks) {
  Process some = {{p.files.folder / name, p.files.rank, ranks}};
  std::filesystem::create_directories(some.files.folder);
  return some;
}

nbc_plan *ring(nbc_comm *comm, const Process &p, nbc_plan_options options = {}) {
  return Process::plan(comm, build::ringAllgather(uint32_t(p.files.ranks), uint32_t(p.files.rank)),
                       options);
}

// What the plan before has left there must not be taken for messages of this one.
TEST(ShmPool, plansUseTheSameMemoryOneAfterTheOther) {
  Processes all(3, [](Process &p) {
    nbc_comm *comm = p.open();
    for (int round = 0; round < 20; ++round) {
      nbc_plan *plan = ring(comm, p, {.depth = uint32_t(1 + round % 3)});
      gather(plan, p.files.rank, 3, 1);
      Process::must(piecesMapped() == 3, "one piece for each process");
      Process::must(reserved() < 2 << 20, "no more than a plan or two need");
      Files::fence(&p.files);
      Process::must(nbc_plan_free(plan) == 0, "free");
    }
    Process::must(nbc_comm_free(comm) == 0, "free");
    Process::must(piecesMapped() == 0, "nothing is left");
  });
  expectAllWell(all);
}

TEST(ShmPool, manyPlansTakeALargerPiece) {
  Processes all(2, [](Process &p) {
    nbc_comm *comm = p.open();
    std::vector<nbc_plan *> plans;
    size_t bytes = 0;
    while (bytes < 40 << 20) {
      plans.push_back(ring(comm, p, {.eager_bytes = 65536}));
      nbc_plan_info info;
      nbc_plan_query(plans.back(), &info);
      bytes += info.memory;
    }
    for (nbc_plan *plan : plans) gather(plan, p.files.rank, 2, 1);
    const int pieces = piecesMapped();
    Process::must(pieces > 2 && pieces <= 6, "few pieces, and not one for each plan");
    Process::must(reserved() > 16 << 20, "they have their memory");
    Process::must(namesInSharedMemory() == 0, "all have mapped them");
    Files::fence(&p.files);
    for (nbc_plan *plan : plans) Process::must(nbc_plan_free(plan) == 0, "free");
    Files::fence(&p.files);
    // Whose peers have left it only now is seen when the next plan is made.
    nbc_plan *plan = ring(comm, p);
    Process::must(reserved() < 3 << 20, "what is not needed is given back");
    gather(plan, p.files.rank, 2, 1);
    p.close(comm, plan);
    Process::must(piecesMapped() == 0, "nothing is left");
  });
  expectAllWell(all);
}

// The name is gone by then.
TEST(ShmPool, whoComesLaterFindsIt) {
  Processes all(4, [](Process &p) {
    nbc_comm *comms[3] = {};
    nbc_plan *plans[3] = {};
    const char *names[] = {"two", "three", "four"};
    std::vector<Process> groups;
    groups.reserve(3);
    for (int i : {0, 1, 2}) {
      if (p.files.rank >= i + 2) continue;
      Process &some = groups.emplace_back(group(p, names[i], i + 2));
      comms[i] = some.open();
      plans[i] = ring(comms[i], some);
      gather(plans[i], p.files.rank, i + 2, 1);
    }
    Files::fence(&p.files);
    for (int i : {0, 1, 2})
      if (plans[i]) gather(plans[i], p.files.rank, i + 2, 1);
    Files::fence(&p.files);
    for (int i : {1, 0, 2}) {
      if (!plans[i]) continue;
      Process::must(nbc_plan_free(plans[i]) == 0 && nbc_comm_free(comms[i]) == 0, "free");
    }
    Process::must(piecesMapped() == 0, "nothing is left");
  });
  expectAllWell(all);
}

// A plan that is freed early keeps its memory until its peers have freed theirs.
TEST(ShmPool, nothingIsUsedAnewThatAPeerStillHas) {
  Processes all(2, [](Process &p) {
    nbc_comm *comm = p.open();
    nbc_plan *first = ring(comm, p), *second = nullptr;
    gather(first, p.files.rank, 2, 1);
    Files::fence(&p.files);
    if (p.files.rank == 0) Process::must(nbc_plan_free(first) == 0, "free");
    const size_t before = reserved();
    second = ring(comm, p);
    Process::must(p.files.rank == 1 || reserved() > before, "it has memory of its own");
    gather(second, p.files.rank, 2, 1);
    Files::fence(&p.files);
    if (p.files.rank == 1) Process::must(nbc_plan_free(first) == 0, "free");
    Files::fence(&p.files);
    const size_t then = reserved();
    nbc_plan *third = ring(comm, p);
    Process::must(reserved() == then, "now it has that of the first");
    gather(third, p.files.rank, 2, 1);
    Files::fence(&p.files);
    Process::must(nbc_plan_free(second) == 0, "free");
    p.close(comm, third);
  });
  expectAllWell(all);
}

// It was forked while its parent had a device.
TEST(ShmPool, aChildHasNothingOfItsParents) {
  Processes parent(1, [](Process &p) {
    nbc_comm *comm = p.open();
    const pid_t child = fork();
    if (child == 0) {
      Process own = group(p, "child", 1);
      Process::must(nbc_comm_free(own.open()) == 0, "free");
      _exit(0);
    }
    int how = 0;
    Process::must(waitpid(child, &how, 0) == child && how == 0, "the child is well");
    Process::must(nbc_comm_free(comm) == 0, "free");
  });
  expectAllWell(parent);
}

}  // namespace
