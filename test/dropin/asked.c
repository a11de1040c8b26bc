// SPDX-License-Identifier: BSD-3-Clause
// asked.c - how often the MPI is asked for something while a collective of ours waits for a rank
// that comes late: what it has under way itself, a long message's parts for one, moves only then.
//
//   mpirun -n P asked

#define _GNU_SOURCE  // RTLD_NEXT
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_long asked;

// In front of the MPI's, for whoever calls it.
int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  static int (*next)(MPI_Request *, int *, MPI_Status *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Test");
  ++asked;
  return next(request, done, status);
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

int main(int argc, char **argv) {
  enum { LATE = 300000, SLEEPS = 500 /* at most, in us */ };
  int rank, one = 1, sum = 0, wrong = 0;
  long before;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1) usleep(LATE);
    before = asked;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    // Each time that it has slept, and a core may be another's for a while.
    wrong += rank == 0 && asked - before < LATE / SLEEPS / 2;
  }
  wrong += test_now_and_then(rank, LATE);
  if (rank == 0) printf("asked: %d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
