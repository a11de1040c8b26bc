// SPDX-License-Identifier: BSD-3-Clause
// beside.c - messages whose sender has gone on into a collective call, which they need.
//
// The receiver takes them before it joins the call. What of them their MPI has not sent yet, it
// only sends when it is asked for something, on the rank that waits in our call.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
  enum { MOST = 8 };
  int rank, wrong = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int length = 100; length <= 400000; length *= 2) {
    int *data = (int *)malloc((size_t)length * sizeof *data), first = rank;
    MPI_Request requests[MOST];
    for (int i = 0; i < length; ++i) data[i] = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MOST && rank == 0; ++i)
      MPI_Isend(data, length, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < MOST && rank == 1; ++i)
      MPI_Recv(data, length, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&first, 1, MPI_INT, 1, MPI_COMM_WORLD);
    for (int i = 0; i < MOST && rank == 0; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    wrong += first != 1 || (rank == 1 && data[length - 1] != 0);
    free(data);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("beside: %d wrong\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
