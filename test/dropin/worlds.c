// SPDX-License-Identifier: BSD-3-Clause
// worlds.c [all|one] - processes that MPI_Comm_spawn starts, and which are without the drop-in.
//
// They know nothing of what ours would say to them: collective calls with them are the MPI's, those
// of the communicators made of theirs as well. All start them; or the first does alone, and the
// rest are told of them by MPI_Intercomm_create.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

// Of this rank's own world and of the other, over which the two meet. Collective.
static MPI_Comm with_others(int alone, MPI_Comm between, int is_child) {
  MPI_Comm some, wide, all;
  if (!alone) {
    MPI_Intercomm_merge(between, is_child, &all);
    return all;
  }
  const int other_leader = is_child ? 0 : 1, tag = 7;
  some = MPI_COMM_NULL;
  if (between != MPI_COMM_NULL) MPI_Intercomm_merge(between, is_child, &some);
  MPI_Intercomm_create(MPI_COMM_WORLD, 0, some, other_leader, tag, &wide);
  MPI_Intercomm_merge(wide, is_child, &all);
  MPI_Comm_free(&wide);
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
  return all;
}

int main(int count, char **words) {
  MPI_Comm between = MPI_COMM_NULL, parent;
  int rank, ranks, size, wrong = 0;
  const int alone = count > 1 && strcmp(words[1], "one") == 0;
  if (count > 2) {  // started by the other world
    unsetenv("LD_PRELOAD");
    execlp(words[0], words[0], words[1], NULL);
    return 2;
  }
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_get_parent(&parent);
  const int is_child = parent != MPI_COMM_NULL;
  if (is_child) {
    between = parent;
  } else {
    char *arguments[] = {(char *)(alone ? "one" : "all"), (char *)"without", NULL};
    wrong += sum_of_ones(MPI_COMM_WORLD) != ranks;
    if (!alone || rank == 0)
      MPI_Comm_spawn(words[0], arguments, CHILDREN, MPI_INFO_NULL, 0,
                     alone ? MPI_COMM_SELF : MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  }
  MPI_Comm all = with_others(alone, between, is_child), again;
  MPI_Comm_dup(all, &again);
  MPI_Comm_size(all, &size);
  wrong += sum_of_ones(all) != size || sum_of_ones(again) != size || size < CHILDREN + 1;
  MPI_Comm_free(&again);
  MPI_Comm_free(&all);
  if (between != MPI_COMM_NULL) MPI_Comm_disconnect(&between);
  wrong += sum_of_ones(MPI_COMM_WORLD) != ranks;
  if (!is_child && rank == 0) printf("worlds: %s\n", wrong ? "wrong" : "right");
  MPI_Finalize();
  return wrong != 0;
}
