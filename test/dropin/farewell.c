// SPDX-License-Identifier: BSD-3-Clause
// farewell.c - communicators that are freed by each rank as soon as its own call on them is done.
//
//   mpirun -n P farewell TIMES

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, ranks, wrong = 0, errors = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int times = argc > 1 ? atoi(argv[1]) : 1;
  int *all = (int *)calloc((size_t)ranks, sizeof *all);
  for (int i = 0; i < times && all; ++i) {
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    const int mine = 1000 * i + rank;
    errors += MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, own) != MPI_SUCCESS;
    MPI_Comm_free(&own);
    for (int r = 0; r < ranks; ++r) wrong += all[r] != 1000 * i + r;
  }
  int mine[2] = {errors, wrong}, sum[2] = {0, 0};
  MPI_Reduce(mine, sum, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d communicators: %d errors, %d wrong\n", times, sum[0], sum[1]);
  free(all);
  MPI_Finalize();
  return 0;
}
