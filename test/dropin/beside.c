// SPDX-License-Identifier: BSD-3-Clause
// beside.c - messages to and from a rank that has gone on into a collective call, which they need.
//
// The other takes and sends them before it joins the call. What of them the first one's MPI has not
// sent or received yet, it only does when it is asked for something, by who waits in our call, or
// looks again and again whether it has ended. A message that nobody receives lies there meanwhile.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8, WAYS = 6 };

// A call that has begun, until it has ended.
static void look_again(int way, MPI_Request *request) {
  int done = 0, index, found = 0;
  MPI_Status status;
  while (!done) {
    switch (way) {
      case 1:
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        break;
      case 2:
        MPI_Testall(1, request, &done, &status);
        break;
      case 3:
        MPI_Testany(1, request, &index, &done, MPI_STATUS_IGNORE);
        break;
      case 4:
        MPI_Testsome(1, request, &found, &index, &status);
        done = found > 0;
        break;
      default:
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    }
  }
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

// What is wrong.
static int exchange(int rank, int length, int way) {
  int *data = (int *)malloc((size_t)length * sizeof *data), first = rank;
  int *back = (int *)calloc((size_t)length, sizeof *back);
  MPI_Request requests[MOST], request;
  for (int i = 0; i < length; ++i) data[i] = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < MOST && rank == 0; ++i)
    MPI_Isend(data, length, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[i]);
  if (rank == 0) MPI_Irecv(back, length, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Ssend(data, length, MPI_INT, 0, 5, MPI_COMM_WORLD);
  for (int i = 0; i < MOST && rank == 1; ++i)
    MPI_Recv(data, length, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (way == 0) {
    MPI_Bcast(&first, 1, MPI_INT, 1, MPI_COMM_WORLD);
  } else {
    MPI_Request call;
    MPI_Ibcast(&first, 1, MPI_INT, 1, MPI_COMM_WORLD, &call);
    look_again(way, &call);
  }
  for (int i = 0; i < MOST && rank == 0; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  int wrong = first != 1 || (rank == 1 && data[length - 1] != 0);
  wrong += rank == 0 && back[length - 1] != 1;
  free(back);
  free(data);
  return wrong;
}

int main(int count, char **words) {
  int rank, early = 7, wrong = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Send(&early, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  for (int length = 100; length <= 400000; length *= 2)
    for (int way = 0; way < WAYS; ++way) wrong += exchange(rank, length, way);
  early = 0;
  if (rank == 0) MPI_Recv(&early, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wrong += rank == 0 && early != 7;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("beside: %d wrong\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
