// SPDX-License-Identifier: BSD-3-Clause
// unused.c - grids that are made for the communicators of their rows, and used for nothing else.
//
// What a freed row has left, devices and plans, is for the next row, not for the grid that is made
// before it: its ranks need not meet again. Says how often they did once the grids are known to go
// unused.

#define _GNU_SOURCE  // RTLD_NEXT
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 30, FIRST = 10 };

static int meetings;

// In front of the MPI's, for whoever calls it.
int PMPI_Iallgather(const void *in, int sent, MPI_Datatype type, void *out, int received,
                    MPI_Datatype other, MPI_Comm comm, MPI_Request *request) {
  static int (*next)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                     MPI_Request *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Iallgather");
  ++meetings;
  return next(in, sent, type, out, received, other, comm, request);
}

int main(int count, char **words) {
  int ranks, wrong = 0;
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < ROUNDS; ++round) {
    const int periodic = 0, remain = 1;
    int rank, sum = 0;
    MPI_Comm grid, row;
    if (round == FIRST) meetings = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 1, &grid);
    MPI_Cart_sub(grid, &remain, &row);
    MPI_Comm_free(&grid);
    MPI_Comm_rank(row, &rank);
    rank += round;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
    wrong += sum != ranks * (ranks - 1) / 2 + ranks * round;
    MPI_Comm_free(&row);
  }
  printf("unused: %d wrong, %d meetings\n", wrong, meetings);
  MPI_Finalize();
  return wrong != 0;
}
