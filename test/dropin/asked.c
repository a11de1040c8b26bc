// SPDX-License-Identifier: BSD-3-Clause
// asked.c - how often the MPI is asked for something while a collective of ours waits for a rank
// that comes late: what it has under way itself, a long message's parts for one, moves only then.
// And whether a wait for several calls sleeps meanwhile.
//
//   mpirun -n P asked

#define _GNU_SOURCE  // RTLD_NEXT
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static atomic_long asked, slept;

// In front of the MPI's, for whoever calls it.
int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  static int (*next)(MPI_Request *, int *, MPI_Status *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Test");
  ++asked;
  return next(request, done, status);
}

// Of ours: usleep() calls the C library's own.
int nanosleep(const struct timespec *time, struct timespec *left) {
  static int (*next)(const struct timespec *, struct timespec *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "nanosleep");
  ++slept;
  return next(time, left);
}

// Tests that have something between them, in which a rank that comes late is not waited for.
static int test_now_and_then(int rank, int late) {
  enum { BETWEEN = 500 };
  int one = 1, sum = 0, done = 0;
  long tests = 0, before = asked;
  MPI_Request request;
  if (rank == 1) usleep((unsigned)late);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  for (; !done; ++tests) {
    usleep(BETWEEN);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  return rank == 0 && asked - before < tests - 1;  // the last one may find it done
}

// A rank that waits for one that comes late; returns how often it asked, by the first rank. Each
// time that it has slept, and a core may be another's for a while.
static long wait_for_late(int rank, int late, int *wrong) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1) usleep((unsigned)late);
  const long asked_before = asked, slept_before = slept;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  long asks = asked - asked_before;
  const long sleeps = slept - slept_before;
  *wrong += rank == 0 && asks < sleeps - 1;  // it may be over behind the last one
  MPI_Bcast(&asks, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  return asks;
}

// How often the first rank has slept in a wait for several calls, one of which comes late.
static long sleep_for_late(int rank, int late, int way) {
  enum { CALLS = 2 };
  int one = 1, sums[CALLS] = {0}, index, found, indices[CALLS];
  MPI_Request requests[CALLS];
  MPI_Status statuses[CALLS];
  MPI_Allreduce(&one, sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1) usleep((unsigned)late);
  const long before = slept;
  for (int i = 0; i < CALLS; ++i)
    MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  if (way == 0) MPI_Waitany(CALLS, requests, &index, MPI_STATUS_IGNORE);
  if (way == 1) MPI_Waitsome(CALLS, requests, &found, indices, statuses);
  MPI_Waitall(CALLS, requests, statuses);
  long sleeps = slept - before;
  MPI_Bcast(&sleeps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  return sleeps;
}

int main(int argc, char **argv) {
  enum { LATE = 300000, LATEST = 8 * LATE };
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    // On a busy machine it may not have run for so long.
    long asks = 0;
    for (int late = LATE; asks == 0 && late <= LATEST; late *= 2)
      asks = wait_for_late(rank, late, &wrong);
    wrong += rank == 0 && asks == 0;
  }
  for (int way = 0; way < 3; ++way) {
    long sleeps = 0;
    for (int late = LATE; sleeps == 0 && late <= LATEST; late *= 2)
      sleeps = sleep_for_late(rank, late, way);
    wrong += rank == 0 && sleeps == 0;
  }
  wrong += test_now_and_then(rank, LATE);
  if (rank == 0) printf("asked: %d wrong, %s\n", wrong, slept ? "has slept" : "has not slept");
  MPI_Finalize();
  return 0;
}
