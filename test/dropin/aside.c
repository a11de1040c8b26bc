// SPDX-License-Identifier: BSD-3-Clause
// aside.c - `aside FILE`: a collective that passes through a rank which calls nothing meanwhile.
//
// Broadcasts are to go down a chain. Rank 1 starts one and calls nothing until the last rank has
// it, which then makes FILE. Only a thread of rank 1's can pass it on; otherwise patience ends.

#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH = 100000, PATIENCE = 5 /* seconds */ };

static int values[LENGTH];

static void start(int me, int turn, MPI_Request *request) {
  for (int i = 0; i < LENGTH; ++i) values[i] = me == 0 ? turn + i : -1;
  MPI_Ibcast(values, LENGTH, MPI_INT, 0, MPI_COMM_WORLD, request);
}

static int look_for(const char *file) {
  for (int tries = 0; tries < PATIENCE * 1000; ++tries) {
    if (access(file, F_OK) == 0) return 1;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  return 0;
}

int main(int count, char **words) {
  int me, ranks, wrong = 0, passed_on = 1;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int turn = 0; turn < 2; ++turn) {  // after the first there is a plan
    MPI_Request request;
    start(me, turn, &request);
    if (turn && me == 1) passed_on = look_for(words[1]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (turn && me == ranks - 1) {
      FILE *file = fopen(words[1], "w");
      if (file) fclose(file);
    }
    for (int i = 0; i < LENGTH; ++i) wrong += values[i] != turn + i;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(&passed_on, 1, MPI_INT, 1, MPI_COMM_WORLD);
  if (me == 0)
    printf("aside on %d: %d wrong, passed on: %s\n", ranks, wrong, passed_on ? "yes" : "no");
  MPI_Finalize();
  return wrong != 0;
}
