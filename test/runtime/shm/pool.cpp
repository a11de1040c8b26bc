// SPDX-License-Identifier: BSD-3-Clause
// Plans of a process share its memory: used anew, found by who comes later, given back.

#include <sys/stat.h>

#include <vector>

#include "test/runtime/shm/node.h"
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
      Process::must(nbc_plan_reachable(plan) == 1, "its peers have mapped it when they met");
      gather(plan, p.files.rank, 3, 1);
      Process::must(piecesMapped() == 3, "one piece for each process");
      Process::must(reserved() < 3 << 20, "no more than a plan or two need");
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
    Process::must(reserved() < 7 << 20, "what is not needed is given back");
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

// A plan that is freed early keeps its memory until its peers have come, and freed theirs.
TEST(ShmPool, nothingIsUsedAnewThatAPeerStillHas) {
  Node node(2);
  const uint32_t other[] = {1, 0};
  nbc_shm *shm[2];
  for (int r : {0, 1}) shm[r] = reinterpret_cast<nbc_shm *>(node.devices[size_t(r)]);
  const auto make = [&](int r) {
    nbc_shm_wish wish = {&other[r], 1, 4, 1024, 1 << 20};
    nbc_shm_lanes *lanes = nullptr;
    const char *why;
    EXPECT_EQ(shm[r]->ops->make(shm[r], &wish, &lanes, &why), 0);
    return lanes;
  };
  const auto address = [&](nbc_shm_lanes *lanes) {
    nbc_shm_address a;
    shm[0]->ops->describe(lanes, 0, &a);
    return a;
  };
  nbc_shm_lanes *first[2] = {make(0), make(1)};
  const nbc_shm_address of_first = address(first[0]);
  const nbc_shm_address of_peer = address(first[1]);
  EXPECT_EQ(shm[0]->ops->connect(first[0], 0, &of_peer), 0);
  shm[0]->ops->close(first[0]);
  // The peer is late, and finds it.
  nbc_shm_lanes *second = make(0);
  EXPECT_NE(address(second).offset, of_first.offset);
  EXPECT_EQ(shm[1]->ops->connect(first[1], 0, &of_first), 0);
  nbc_shm_lanes *another = make(0);
  EXPECT_NE(address(another).offset, of_first.offset);
  shm[1]->ops->close(first[1]);
  nbc_shm_lanes *third = make(0);
  EXPECT_EQ(address(third).offset, of_first.offset);
  EXPECT_NE(address(third).ticket, of_first.ticket);
  // Whoever comes too late for the first does not get the third.
  nbc_shm_lanes *late = make(1);
  EXPECT_EQ(shm[1]->ops->connect(late, 0, &of_first), NBC_ERROR_BOOTSTRAP);
  for (nbc_shm_lanes *lanes : {second, another, third, late}) shm[0]->ops->close(lanes);
}

// Lanes may be closed long after their device. Meanwhile the processes have met again.
TEST(ShmPool, whatWasForgottenIsRememberedByTheNextDevice) {
  Processes all(2, [](Process &p) {
    const uint32_t other = uint32_t(1 - p.files.rank);
    const auto lanes_on = [&](nbc_device *device, const char *key) {
      auto *shm = reinterpret_cast<nbc_shm *>(device);
      nbc_shm_wish wish = {&other, 1, 4, 1024, 1 << 20};
      nbc_shm_lanes *lanes = nullptr;
      nbc_shm_address mine, theirs;
      const char *why;
      size_t bytes;
      Process::must(shm->ops->make(shm, &wish, &lanes, &why) == 0, "lanes are made");
      shm->ops->describe(lanes, 0, &mine);
      Files::put(&p.files, key, &mine, sizeof mine);
      Files::get(&p.files, int(other), key, &theirs, sizeof theirs, &bytes);
      Process::must(shm->ops->connect(lanes, 0, &theirs) == 0, "lanes are connected");
      Files::fence(&p.files);
      return lanes;
    };
    Process again = group(p, "again", 2);
    nbc_bootstrap b = p.bootstrap(), c = again.bootstrap();
    nbc_device *first = nullptr, *second = nullptr;
    Process::must(nbc_shm_open(&b, nullptr, &first) == 0, "a device");
    const nbc_shm_ops *ops = reinterpret_cast<nbc_shm *>(first)->ops;
    nbc_shm_lanes *late = lanes_on(first, "first");
    first->close(first);
    Files::fence(&p.files);
    Process::must(nbc_shm_open(&c, nullptr, &second) == 0, "another device");
    ops->close(late);
    Process::must(piecesMapped() == 2, "the peer's memory is still mapped");
    ops->close(lanes_on(second, "second"));
    Files::fence(&p.files);
    second->close(second);
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
