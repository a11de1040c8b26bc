// SPDX-License-Identifier: BSD-3-Clause
// worlds.c [without] - processes that MPI_Comm_spawn starts, and which are without the drop-in.
//
// They know nothing of what ours would say to them: collective calls with them are the MPI's, those
// of the communicators made of theirs as well.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHILDREN = 2 };

static int sum_of_ones(MPI_Comm comm) {
  int one = 1, sum = 0;
  MPI_Request request;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  one = sum, sum = 0;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return sum;
}

int main(int count, char **words) {
  MPI_Comm parent, between, all, again;
  int ranks, wrong = 0;
  if (count > 1) {  // started by the other world
    unsetenv("LD_PRELOAD");
    execlp(words[0], words[0], NULL);
    return 2;
  }
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    char *arguments[] = {(char *)"without", NULL};
    wrong += sum_of_ones(MPI_COMM_WORLD) != ranks;
    MPI_Comm_spawn(words[0], arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
  } else {
    between = parent;
  }
  MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
  MPI_Comm_dup(all, &again);
  int size;
  MPI_Comm_size(all, &size);
  wrong += sum_of_ones(all) != size || sum_of_ones(again) != size || size < CHILDREN + 1;
  MPI_Comm_free(&again);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
  wrong += sum_of_ones(MPI_COMM_WORLD) != ranks;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parent == MPI_COMM_NULL && rank == 0) printf("worlds: %s\n", wrong ? "wrong" : "right");
  MPI_Finalize();
  return wrong != 0;
}
