// SPDX-License-Identifier: BSD-3-Clause
// over_mpi.c - processes are ranks: an allgather from a library that is opened by name; the
// template is held for 2 ranks and built for any other number.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "nbc/build.h"
#include "nbc_mpi.h"

static int must(int status, const char *what) {
  if (status == 0) return 0;
  printf("%s: %s\n", what, nbc_status_text(status));
  return MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
  const char *algorithm = "allgather.bruck", *why;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct nbc_library *lib;
  int status = nbc_library_open(argc > 1 ? argv[1] : NULL, &lib, &why);
  must(status, why);

  size_t bytes;
  void *built = NULL;
  const void *made = nbc_library_find(lib, algorithm, "mpi", NBC_LENGTHS_EQUAL, (uint32_t)ranks,
                                      (uint32_t)rank, 0, &bytes);
  if (!made) {
    struct nbc_build_request request = {.algorithm = algorithm, .target = "mpi"};
    request.ranks = (uint32_t)ranks;
    request.rank = (uint32_t)rank;
    char said[256];
    must(nbc_build_template(lib, &request, &built, &bytes, said, sizeof said), said);
  }
  nbc_comm *comm;
  nbc_plan *plan;
  must(nbc_comm_create_mpi(MPI_COMM_WORLD, &comm), "communicator");
  must(nbc_plan_create(comm, made ? made : built, bytes, NULL, &plan), "plan");
  must(nbc_plan_connect(plan), "connect");
  free(built);
  must(nbc_library_close(lib), "library");  // the plan has what it needs of it

  int in = 100 + rank, *out = calloc((size_t)ranks, sizeof *out), wrong = 0, all = 0;
  struct nbc_call call = {.in = &in, .out = out, .count = 1, .type = NBC_I32};
  nbc_request request;
  must(nbc_start(plan, &call, &request), "start");
  must(nbc_wait(&request), "wait");
  for (int i = 0; i < ranks; ++i) wrong += out[i] != 100 + i;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %s: %d wrong\n", ranks, made ? "held" : "built", all);
  must(nbc_plan_free(plan), "plan");
  must(nbc_comm_free(comm), "communicator");
  free(out);
  return MPI_Finalize();
}
