// SPDX-License-Identifier: BSD-3-Clause
// killed.c - a rank is killed at a time of the clock, so anywhere in a collective.
//
//   killed MICROSECONDS make     communicators come and go; the launcher ends whoever is left
//   killed MICROSECONDS stay     calls of all lengths on one communicator, whose plans are there;
//                                whoever is left is told, and says so (the launcher has to leave it
//                                alone)

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST = 1 << 20, LENGTHS = 8 };
static const int lengths[LENGTHS] = {1, 0, 100, 5000, 70001, 8, MOST, 300};
static char *in, *out;

static void die(int number) {
  (void)number;
  kill(getpid(), SIGKILL);
}

static int call(MPI_Comm comm, int n) {
  int failed = MPI_Allgather(in, n, MPI_CHAR, out, n, MPI_CHAR, comm);
  if (!failed) failed = MPI_Bcast(in, n, MPI_CHAR, 0, comm);
  if (!failed) failed = MPI_Allreduce(in, out, n, MPI_CHAR, MPI_MAX, comm);
  MPI_Request request;
  if (!failed) failed = MPI_Iallreduce(in, out, n, MPI_CHAR, MPI_MAX, comm, &request);
  if (!failed) failed = MPI_Wait(&request, MPI_STATUS_IGNORE);
  return failed;
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const long after = atol(argv[1]);
  const int stay = strcmp(argv[2], "stay") == 0;
  in = (char *)calloc(1, MOST);
  out = (char *)calloc((size_t)ranks, MOST);
  if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // Plans are agreed on by the MPI's own calls, which wait for the dead.
  for (unsigned i = 0; stay && i < LENGTHS; ++i) call(MPI_COMM_WORLD, lengths[i]);
  if (rank == after % ranks) {
    const struct itimerval timer = {{0, 0}, {after / 1000000, after % 1000000}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &timer, NULL);
  }
  for (unsigned i = 0;; ++i) {
    MPI_Comm comm = MPI_COMM_WORLD;
    if (!stay) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int failed = call(comm, lengths[i % LENGTHS]);
    if (failed) {
      char text[MPI_MAX_ERROR_STRING];
      int length;
      MPI_Error_string(failed, text, &length);
      printf("rank %d of %d was told: %s\n", rank, ranks, text);
      fflush(stdout);
      if (stay) sleep(2);  // the others are to be told, too, before the launcher ends them
      _exit(1);            // MPI_Finalize would wait for the dead
    }
    if (!stay) MPI_Comm_free(&comm);
  }
}
