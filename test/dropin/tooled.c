// SPDX-License-Identifier: BSD-3-Clause
// tooled.c - a program whose calls a tool counts: 3 allreduces, 2 waits, and 4 barriers over an
// intercommunicator.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int me, ranks, sum = 0, right = 1;
  MPI_Request request;
  MPI_Comm half, inter;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    right = right && sum == ranks * (ranks - 1) / 2;
  }
  for (int i = 0; i < 2; ++i) {
    int all = 0;
    MPI_Iallreduce(&me, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    right = right && all == ranks - 1;
  }
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 1, &inter);
  for (int i = 0; i < 4; ++i) MPI_Barrier(inter);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  if (me == 0) printf("tooled: %s\n", right ? "right" : "wrong");
  MPI_Finalize();
  return !right;
}
