// SPDX-License-Identifier: BSD-3-Clause
// callbacks.c - what the MPI calls in the middle of its functions waits for requests of ours, and
// frees them: error handlers, and the functions by which attributes go. A handler may also leave by
// a jump.

#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif

static int ranks, wrong, told;
static MPI_Comm watched, other;
static MPI_Request pending = MPI_REQUEST_NULL;
static int one = 1, sum;
static jmp_buf back;

// A library's, which keeps a persistent call with a communicator, and another under way.
struct kept {
  MPI_Request again, once;
  int sum;
};

static int end_kept(MPI_Comm comm, int key, void *value, void *state) {
  struct kept *k = value;
  (void)comm, (void)key, (void)state;
  MPI_Wait(&k->once, MPI_STATUS_IGNORE);
  MPI_Request_free(&k->again);
  wrong += k->sum != ranks || k->again != MPI_REQUEST_NULL;
  free(k);
  return MPI_SUCCESS;
}

static void keep(int key) {
  MPI_Comm comm;
  struct kept *k = calloc(1, sizeof *k);
  if (!k) abort();
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Allreduce_init(&one, &k->sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &k->again);
  MPI_Start(&k->again);
  MPI_Wait(&k->again, MPI_STATUS_IGNORE);
  MPI_Iallreduce(&one, &k->sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &k->once);
  MPI_Comm_set_attr(comm, key, k);
  MPI_Comm_free(&comm);
}

static void wait_for_it(MPI_Comm *comm, int *error, ...) {
  (void)error;
  wrong += *comm != watched;
  ++told;
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, other);
  wrong += sum != ranks * ranks;
}

static void jump(MPI_Comm *comm, int *error, ...) {
  (void)comm, (void)error;
  longjmp(back, 1);
}

static void handle(MPI_Comm_errhandler_function *function) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(function, &handler);
  MPI_Comm_set_errhandler(watched, handler);
  MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv) {
  int key, me, several[64] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_kept, &key, NULL);
  for (int i = 0; i < 3; ++i) keep(key);

  // Of an error of ours, each rank sending itself more than it receives, and of one of the MPI's.
  MPI_Comm_dup(MPI_COMM_WORLD, &watched);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  handle(wait_for_it);
  for (int ours = 0; ours < 2; ++ours) {
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &pending);
    if (ours)
      MPI_Alltoall(several, 2, MPI_INT, several + 32, 1, MPI_INT, watched);
    else
      MPI_Send(&one, 1, MPI_INT, ranks, 0, watched);
    wrong += told != ours + 1;
  }
  handle(jump);
  for (volatile int i = 0; i < 2; ++i)
    if (!setjmp(back)) {
      MPI_Alltoall(several, 2, MPI_INT, several + 32, 1, MPI_INT, watched);
      ++wrong;
    }

  // A freed communicator's handler is asked all the same, and there none is called.
  MPI_Comm_set_errhandler(watched, MPI_ERRORS_RETURN);
  MPI_Ialltoall(several, 2, MPI_INT, several + 32, 1, MPI_INT, watched, &pending);
  MPI_Comm_free(&watched);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
  wrong += sum != ranks;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, other);
  MPI_Comm_free(&other);
  MPI_Comm_free_keyval(&key);
  if (me == 0) printf("callbacks on %d: %d wrong\n", ranks, wrong);
  MPI_Finalize();
  return wrong != 0;
}
