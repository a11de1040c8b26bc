// SPDX-License-Identifier: BSD-3-Clause
// left.c - ends without having waited, freed or asked for anything.

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif
#include <stdio.h>

enum { LONG = 300000, MOST_RANKS = 16 };

int main(int argc, char **argv) {
  static int mine[LONG], all[LONG * MOST_RANKS];
  int me, one = 1, sum = 0, same = 0;
  MPI_Comm kept, freed;
  MPI_Request requests[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  MPI_Comm_dup(kept, &freed);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, kept, &requests[0]);
  INIT(Allreduce)(&one, &same, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
  MPI_Request_free(&requests[2]);
  MPI_Iallgather(mine, LONG, MPI_INT, all, LONG, MPI_INT, freed, &requests[3]);
  MPI_Comm_free(&freed);
  MPI_Finalize();
  if (me == 0) puts("left: over");
  return 0;
}
