// SPDX-License-Identifier: BSD-3-Clause
// allgather.cpp - threads are ranks: a template that the library holds, else one built from it, on
// a device made of software.

#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mine.h"
#include "nbc.h"
#include "nbc/build.h"
#include "nbc/soft/hca.h"
#include "nbc/soft/p2p.h"

namespace {

/// What ranks tell each other.
struct Board {
  explicit Board(int n) : ranks(n), fence(n) {}

  int ranks;
  std::barrier<> fence;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, std::string>, std::vector<char>> values;
};

struct End {
  Board *board;
  int rank;
};

nbc_bootstrap bootstrapOf(End &end) {
  nbc_bootstrap b = {};
  b.rank = end.rank;
  b.ranks = end.board->ranks;
  b.context = &end;
  b.put = [](void *context, const char *key, const void *data, size_t bytes) {
    const End &e = *static_cast<End *>(context);
    const char *begin = static_cast<const char *>(data);
    const std::lock_guard lock(e.board->mutex);
    e.board->values[{e.rank, key}].assign(begin, begin + bytes);
    e.board->changed.notify_all();
    return 0;
  };
  b.get = [](void *context, int rank, const char *key, void *data, size_t capacity, size_t *bytes) {
    Board &board = *static_cast<End *>(context)->board;
    std::unique_lock lock(board.mutex);
    board.changed.wait(lock, [&] { return board.values.contains({rank, key}); });
    const std::vector<char> &value = board.values[{rank, key}];
    if (value.size() > capacity) return -1;
    std::copy(value.begin(), value.end(), static_cast<char *>(data));
    *bytes = value.size();
    return 0;
  };
  b.fence = [](void *context) {
    static_cast<End *>(context)->board->fence.arrive_and_wait();
    return 0;
  };
  return b;
}

void must(int status, const char *what) {
  if (status == 0) return;
  std::printf("%s: %s\n", what, nbc_status_text(status));
  std::exit(1);
}

void run(End end, nbc_device *device, bool *held) {
  const auto ranks = static_cast<uint32_t>(end.board->ranks),
             rank = static_cast<uint32_t>(end.rank);
  const nbc_library *lib = nbc_library_mine();
  size_t bytes = 0;
  const void *made = nbc_library_find(lib, NBC_MINE_ALLGATHER_BRUCK, device->target,
                                      NBC_LENGTHS_EQUAL, ranks, rank, 0, &bytes);
  *held = made != nullptr;
  void *fresh = nullptr;
  if (!made) {
    nbc_build_request request = {};
    request.algorithm = NBC_MINE_ALLGATHER_BRUCK;
    request.target = device->target;
    request.ranks = ranks;
    request.rank = rank;
    char why[256];
    must(nbc_build_template(lib, &request, &fresh, &bytes, why, sizeof why), why);
    made = fresh;
  }

  nbc_bootstrap bootstrap = bootstrapOf(end);
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  must(nbc_comm_create(&bootstrap, &device, 1, &comm), "communicator");
  must(nbc_plan_create(comm, made, bytes, nullptr, &plan), "plan");
  must(nbc_plan_connect(plan), "connect");
  std::free(fresh);

  const int in = 100 + end.rank;
  std::vector<int> out(ranks);
  nbc_call call = {};
  call.in = &in;
  call.out = out.data();
  call.count = 1;
  call.type = NBC_I32;
  nbc_request request;
  must(nbc_start(plan, &call, &request), "start");
  must(nbc_wait(&request), "wait");
  for (uint32_t i = 0; i < ranks; ++i)
    if (out[i] != 100 + static_cast<int>(i)) {
      std::printf("rank %u has %d of rank %u\n", rank, out[i], i);
      std::exit(1);
    }
  end.board->fence.arrive_and_wait();
  must(nbc_plan_free(plan), "plan");
  must(nbc_comm_free(comm), "communicator");
}

template <class Add>
void runAll(int ranks, Add device) {
  Board board(ranks);
  bool held = false;
  std::vector<nbc_device *> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(device());
  std::vector<std::jthread> threads;
  for (int rank = 1; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      bool unused;
      run({&board, rank}, devices[static_cast<size_t>(rank)], &unused);
    });
  run({&board, 0}, devices[0], &held);
  threads.clear();
  std::printf("allgather on %d ranks, %s: %s\n", ranks, devices[0]->target,
              held ? "from the library" : "built");
}

}  // namespace

int main() {
  const char *why = nullptr;
  if (nbc_library_use(nbc_library_mine(), &why)) return std::puts(why);
  for (const int ranks : {4, 5}) {
    hca::Fabric adapters;
    runAll(ranks, [&] { return &adapters.addAdapter()->device; });
    p2p::Fabric messages;
    runAll(ranks, [&] { return &messages.addEndpoint()->device; });
  }
}
