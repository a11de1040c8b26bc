// SPDX-License-Identifier: BSD-3-Clause
// eager.c - whether a call ends on one rank while the other, who has started it, calls nothing.
//
//   mpirun -n 2 eager FILE MARK
//
// FILE holds templates of an allgather. Rank 1 starts it and waits for the file MARK, which rank 0
// makes once it has all data, or after two seconds. Says what came of it:
//
//   data came from a rank that calls nothing: yes

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mpi/nbc_mpi.h"
#include "test/runtime/template_file.h"

// Longer than either MPI sends eagerly over TCP; and the first calls find its connections.
enum { BYTES = 70001, FIRST_CALLS = 3, PATIENCE = 2000 /* milliseconds */ };

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "eager: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char value(int rank, int call, int at) {
  return (unsigned char)(rank * 101 + call * 17 + at * 7 + at / 251);
}

int main(int argc, char **argv) {
  int rank;
  size_t bytes;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  must(argc == 3, "FILE MARK");
  const char *mark = argv[2];
  char *all = read_templates(argv[1], &bytes);
  struct nbc_template *t = all ? template_of(all, bytes, 2, rank) : NULL;
  nbc_comm *comm;
  nbc_plan *plan;
  must(t, "no template");
  must(nbc_comm_create_mpi(MPI_COMM_WORLD, &comm) == 0, "communicator");
  must(nbc_plan_create(comm, t, t->bytes, NULL, &plan) == 0, "plan");
  must(nbc_plan_connect(plan) == 0, "connect");
  unsigned char *in = (unsigned char *)malloc(BYTES), *out = (unsigned char *)malloc(2 * BYTES);
  must(in && out, "no memory");

  bool came = false;
  for (int call = 0; call <= FIRST_CALLS; ++call) {
    nbc_request request;
    int done = 0;
    for (int i = 0; i < BYTES; ++i) in[i] = value(rank, call, i);
    MPI_Barrier(MPI_COMM_WORLD);
    const struct nbc_call what = {.in = in, .out = out, .count = BYTES};
    must(nbc_start(plan, &what, &request) == 0, "start");
    if (call == FIRST_CALLS && rank == 0) {
      for (int i = 0; i < PATIENCE && !done; ++i, usleep(1000))
        must(nbc_test(&request, &done) == 0, "test");
      came = done;
      fclose(fopen(mark, "w"));
    } else if (call == FIRST_CALLS) {
      while (access(mark, F_OK)) usleep(1000);
    }
    must(done || nbc_wait(&request) == 0, "wait");
    for (int i = 0; i < 2 * BYTES; ++i)
      must(out[i] == value(i / BYTES, call, i % BYTES), "data are wrong");
  }
  if (rank == 0) printf("data came from a rank that calls nothing: %s\n", came ? "yes" : "no");
  must(nbc_plan_free(plan) == 0 && nbc_comm_free(comm) == 0, "free");
  free(in);
  free(out);
  free(all);
  // In MPICH 4.0's MPI_Finalize over TCP who comes much later may wait for good.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
