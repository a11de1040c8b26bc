// SPDX-License-Identifier: BSD-3-Clause
// passed.c - blocking collectives that are the MPI's, while some ranks have calls of ours under way
// and others have none.
//
// The table is to have no row for allreduce. An allgather that has begun on all is waited for by
// one half of the ranks before the allreduce and by the others after it, so some can only enter it
// when those inside move the allgather on. The same between two groups.

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LENGTH = 3000, TURNS = 30 };

static int me, ranks, wrong;
static int mine[LENGTH], *all;

static void sleep_at_random(void) {
  nanosleep(&(struct timespec){.tv_nsec = rand() % 3 * 300000}, NULL);
}

// Of `comm` the sum of what its ranks have, or the other group's has, is `right`.
static void meet(MPI_Comm comm, int right, bool wait_first) {
  MPI_Request request;
  int one = me + 1, sum = 0;
  for (int i = 0; i < LENGTH; ++i) mine[i] = me * LENGTH + i;
  sleep_at_random();
  MPI_Iallgather(mine, LENGTH, MPI_INT, all, LENGTH, MPI_INT, MPI_COMM_WORLD, &request);
  if (wait_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
  sleep_at_random();
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (!wait_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
  wrong += sum != right;
  for (int i = 0; i < ranks * LENGTH; ++i) wrong += all[i] != i;
}

// Calls that wait for their plan when the communicator is freed, and are the MPI's after all. Open
// MPI 4.1 forgets communicators that its own nonblocking calls still use.
static void free_early(void) {
#ifdef MPICH
  MPI_Comm comm;
  MPI_Request requests[2];
  int one = me + 1, sum = 0, root = me;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Ibcast(&root, 1, MPI_INT, ranks - 1, comm, &requests[1]);
  MPI_Comm_free(&comm);
  for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  wrong += sum != ranks * (ranks + 1) / 2 || root != ranks - 1;
#endif
}

// A call that waits for its plan, and is the MPI's after all, when a communicator is made of its
// own.
static void split_early(void) {
  MPI_Comm comm, made;
  MPI_Request request;
  int one = 1, sum = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  sleep_at_random();
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Comm_split(comm, 0, -me, &made);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  wrong += sum != ranks;
  MPI_Comm_free(&made);
  MPI_Comm_free(&comm);
}

static void own_sum(void *in, void *out, int *n, MPI_Datatype *type) {
  const int *a = (const int *)in;
  int *b = (int *)out;
  (void)type;
  for (int i = 0; i < 2 * *n; ++i) b[i] += a[i];
}

// The same of an operator and of types that are freed meanwhile, and whose memory others take.
static void free_handles_early(void) {
  enum { COUNT = 3 };
  MPI_Comm comm;
  MPI_Op sum;
  MPI_Datatype pair, others[COUNT];
  MPI_Request request;
  int in[2 * COUNT], out[2 * COUNT] = {0};
  for (int i = 0; i < 2 * COUNT; ++i) in[i] = me + i;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Op_create(own_sum, 1, &sum);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Iallreduce(in, out, COUNT, pair, sum, comm, &request);
  MPI_Op_free(&sum);
  MPI_Type_free(&pair);
  for (int i = 0; i < COUNT; ++i) MPI_Type_vector(2, 1, 5 + i, MPI_CHAR, &others[i]);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2 * COUNT; ++i) wrong += out[i] != ranks * (ranks - 1) / 2 + ranks * i;
  for (int i = 0; i < COUNT; ++i) MPI_Type_free(&others[i]);
  MPI_Comm_free(&comm);
}

int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  srand((unsigned)me);
  all = (int *)malloc((size_t)ranks * sizeof mine);

  MPI_Comm half, between = MPI_COMM_NULL;
  const bool even = me % 2 == 0;
  MPI_Comm_split(MPI_COMM_WORLD, even, me, &half);
  if (ranks > 1) MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, even, 5, &between);
  int of_other = 0;
  for (int r = even; r < ranks; r += 2) of_other += r + 1;

  for (int turn = 0; turn < TURNS; ++turn) {
    const bool first = (me + turn) % 2;
    meet(MPI_COMM_WORLD, ranks * (ranks + 1) / 2, first);
    if (between != MPI_COMM_NULL) meet(between, of_other, me / 2 % 2 == turn % 2);
    free_early();
    split_early();
    free_handles_early();
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("passed on %d: %d wrong\n", ranks, wrong);
  if (between != MPI_COMM_NULL) MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  free(all);
  MPI_Finalize();
  return wrong != 0;
}
