// SPDX-License-Identifier: BSD-3-Clause
// threads.cpp - MPI_THREAD_MULTIPLE: each thread has a communicator; requests are waited for by
// others.

#include <algorithm>
#include <thread>

#include "test/dropin/expect.h"

namespace {

enum { threads = 3, turns = 60 };

// Counts by itself: `expect` is for one thread.
int work(MPI_Comm comm, int which) {
  int wrong = 0;
  std::vector<int> all(static_cast<std::size_t>(ranks));
  for (int turn = 0; turn < turns; ++turn) {
    int mine = element(me, turn, which), sum = 0, wanted = 0, other = which * 1000 + turn;
    MPI_Request r[2];
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &r[0]);
    MPI_Iallgather(&other, 1, MPI_INT, all.data(), 1, MPI_INT, comm, &r[1]);
    if (turn % 3 == 0) MPI_Barrier(comm);
    if (turn % 2) {
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    } else {
      std::thread waiter([&] { MPI_Wait(&r[1], MPI_STATUS_IGNORE); });
      MPI_Wait(&r[0], MPI_STATUS_IGNORE);
      waiter.join();
    }
    for (int p = 0; p < ranks; ++p) {
      wanted += element(p, turn, which);
      wrong += all[static_cast<std::size_t>(p)] != other;
    }
    wrong += sum != wanted;
    // Messages of this thread beside collectives of the others.
    int next = (me + 1) % ranks, last = (me + ranks - 1) % ranks, got = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, next, 0, &got, 1, MPI_INT, last, 0, comm, MPI_STATUS_IGNORE);
    wrong += got != element(last, turn, which);
  }
  return wrong;
}

// Communicators of one group, made and freed by all threads at once, in each rank's own order.
int construct(MPI_Comm comm, int which) {
  enum { alive = 4, rounds = 40 };
  MPI_Comm made[alive];
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < alive; ++i) {
      MPI_Comm_dup(comm, &made[i]);
      if (i % (2 + which) != 0) continue;  // it stays unused
      int mine = me + which + round, sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, made[i]);
      wrong += sum != ranks * (ranks - 1) / 2 + ranks * (which + round);
    }
    for (int i = 0; i < alive; ++i) MPI_Comm_free(&made[(i + me) % alive]);
  }
  return wrong;
}

// One thread waits for a call while another frees its communicator.
int free_meanwhile(MPI_Comm comm, int which) {
  enum { rounds = 40, length = 3000 };
  const int wanted = ranks * (ranks - 1) / 2 + ranks * which;
  std::vector<int> mine(length, me + which), sum(length);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm made;
    MPI_Request request;
    MPI_Comm_dup(comm, &made);
    std::fill(sum.begin(), sum.end(), -1);
    MPI_Iallreduce(mine.data(), sum.data(), length, MPI_INT, MPI_SUM, made, &request);
    std::thread waiter([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
    MPI_Comm_free(&made);
    waiter.join();
    wrong += std::count(sum.begin(), sum.end(), wanted) != length;
  }
  return wrong;
}

}  // namespace

int main(int argc, char **argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  expect(level == MPI_THREAD_MULTIPLE, "level %d", level);
  MPI_Comm comms[threads];
  int wrong[threads] = {};
  for (MPI_Comm &c : comms) MPI_Comm_dup(MPI_COMM_WORLD, &c);
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([i, &wrong, &comms] {
      wrong[i] = work(comms[i], i) + construct(comms[i], i) + free_meanwhile(comms[i], i);
    });
  for (std::thread &t : all) t.join();
  for (int i = 0; i < threads; ++i) expect(wrong[i] == 0, "thread %d: %d wrong", i, wrong[i]);
  for (MPI_Comm &c : comms) MPI_Comm_free(&c);
  return end_program("threads");
}
