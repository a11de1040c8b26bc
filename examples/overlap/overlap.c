// SPDX-License-Identifier: BSD-3-Clause
// overlap.c - an allgather is under way while the program computes.
//
//     mpirun -n 4 ./overlap [ELEMENTS]
//
// The algorithm is Bruck's, from the library that CMakeLists.txt has nbcc make. For 2 and 4 ranks a
// finished template lies in it; for any other number nbc_build_template() makes one, with no
// compiler around. Both are the same from there on.
//
// Over an MPI the host moves messages on, in nbc_test and nbc_wait. So the computation is done in
// slices, with a test behind each: enough of them for the rounds that the algorithm has, so few
// that the tests cost nothing beside the work. A coredirect adapter would need none.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "gather.h"  // made by nbcc: what the library holds
#include "nbc/build.h"
#include "nbc_mpi.h"

enum { SLICES = 64, WORK = 20000, MOST_ELEMENTS = 1 << 24 };

static int rank, ranks;

// Any error ends all ranks: none may be left waiting for the others.
static void must(int status, const char *what) {
  if (status == NBC_OK) return;
  fprintf(stderr, "overlap: rank %d: %s: %s\n", rank, what, nbc_status_text(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static nbc_plan *make_plan(nbc_comm *comm) {
  const struct nbc_library *library = nbc_library_gather();
  const char *why = "";
  if (nbc_library_use(library, &why)) must(NBC_ERROR_LIBRARY, why);

  size_t bytes = 0;
  void *built = NULL;
  const void *held = nbc_library_find(library, NBC_GATHER_ALLGATHER_BRUCK, "mpi", NBC_LENGTHS_EQUAL,
                                      (uint32_t)ranks, (uint32_t)rank, 0, &bytes);
  if (!held) {
    struct nbc_build_request request = {.algorithm = NBC_GATHER_ALLGATHER_BRUCK,
                                        .target = "mpi",
                                        .ranks = (uint32_t)ranks,
                                        .rank = (uint32_t)rank};
    char mistake[256];
    must(nbc_build_template(library, &request, &built, &bytes, mistake, sizeof mistake), mistake);
  }
  nbc_plan *plan = NULL;
  must(nbc_plan_create(comm, held ? held : built, bytes, NULL, &plan), "plan");
  must(nbc_plan_connect(plan), "connect");
  free(built);  // the plan has a copy of what it needs
  return plan;
}

// What there is to do meanwhile: one slice of the sum of 0, 1, 2, ...
static double compute(int slice) {
  double sum = 0;
  for (int i = 0; i < WORK; ++i) sum += (double)slice * WORK + i;
  return sum;
}

static long elements_of(int argc, char **argv) {
  if (argc == 1) return 1000;
  char *end = NULL;
  long n = strtol(argv[1], &end, 10);
  if (argc == 2 && end != argv[1] && !*end && n >= 0 && n <= MOST_ELEMENTS) return n;
  if (rank == 0)
    fprintf(stderr,
            "overlap: '%s' is not a number of elements, 0 to %d\nusage: overlap [ELEMENTS]\n",
            argv[argc - 1], MOST_ELEMENTS);
  MPI_Finalize();
  exit(2);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size_t n = (size_t)elements_of(argc, argv);

  nbc_comm *comm = NULL;
  must(nbc_comm_create_mpi(MPI_COMM_WORLD, &comm), "communicator");
  nbc_plan *plan = make_plan(comm);

  double *in = malloc((n + 1) * sizeof *in), *out = malloc((n * (size_t)ranks + 1) * sizeof *out);
  if (!in || !out) must(NBC_ERROR_MEMORY, "buffers");
  for (size_t i = 0; i < n; ++i) in[i] = rank + 0.5 * (double)i;

  struct nbc_call call = {.in = in, .out = out, .count = n, .type = NBC_F64};
  nbc_request request;  // must stay where it is, as the buffers, until the call is done
  must(nbc_start(plan, &call, &request), "start");
  double sum = 0;
  int done = 0, under_way = 0;
  for (int slice = 0; slice < SLICES; ++slice) {
    under_way += !done;
    sum += compute(slice);
    if (!done) must(nbc_test(&request, &done), "test");
  }
  if (!done) must(nbc_wait(&request), "wait");

  long wrong = sum != (double)WORK * SLICES * ((double)WORK * SLICES - 1) / 2, all = 0;
  for (size_t i = 0; i < n * (size_t)ranks; ++i)
    wrong += out[i] != (double)(i / n) + 0.5 * (double)(i % n);
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks, %zu elements of each: %ld wrong; under way for %d of %d slices of work\n",
           ranks, n, all, under_way, SLICES);

  // No rank may free its plan before all ranks' calls are done: nobody has left MPI_Allreduce
  // before. Plans go before their communicator, and that before MPI_Finalize.
  must(nbc_plan_free(plan), "free the plan");
  must(nbc_comm_free(comm), "free the communicator");
  free(in);
  free(out);
  MPI_Finalize();
  return all != 0;
}
