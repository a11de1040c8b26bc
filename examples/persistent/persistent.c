// SPDX-License-Identifier: BSD-3-Clause
// persistent.c - one plan, started again and again, with several calls in flight.
//
//     mpirun -n 5 ./persistent [CALLS]
//
// Each call is an allreduce with an operator of the program's own: elements are maps x -> a x + b
// of integers modulo 2^32, and two of them are composed. That is associative, but does not commute.
// So the program asks the library whether the algorithm was proven to combine contributions in the
// order of ranks, as MPI wants it for such operators.
//
// A plan is what MPI calls a persistent request, but for the buffers, which are named at each
// start. Calls of a plan end in the order in which they were started, and all ranks start the same;
// how many are under way at once, `depth`, is the plan's. More may be started: they wait for their
// turn.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbc/build.h"
#include "nbc_mpi.h"
#include "reduce.h"  // made by nbcc: what the library holds

enum { FLIGHTS = 4, MAPS = 100, MOST_CALLS = 1000000 };

struct map {
  uint32_t a, b;
};

struct flight {
  struct map in[MAPS], out[MAPS];
  nbc_request request;
};

static int rank, ranks;

static void must(int status, const char *what) {
  if (status == NBC_OK) return;
  fprintf(stderr, "persistent: rank %d: %s: %s\n", rank, what, nbc_status_text(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// First left, then right. `to` may be either, and nothing has to be aligned: hence the copies.
static void compose(void *to, const void *left, const void *right, size_t n, void *context) {
  (void)context;
  for (size_t i = 0; i < n * sizeof(struct map); i += sizeof(struct map)) {
    struct map l, r;
    memcpy(&l, (const char *)left + i, sizeof l);
    memcpy(&r, (const char *)right + i, sizeof r);
    struct map both = {r.a * l.a, r.a * l.b + r.b};
    memcpy((char *)to + i, &both, sizeof both);
  }
}

static struct map map_of(int of_rank, int call, int i) {
  return (struct map){2u * (uint32_t)(of_rank + call) + 3, (uint32_t)(i * 7 + of_rank)};
}

static nbc_plan *make_plan(nbc_comm *comm) {
  const struct nbc_library *library = nbc_library_reduce();
  const char *algorithm = NBC_REDUCE_ALLREDUCE_RECURSIVE_DOUBLING, *why = "";
  if (nbc_library_use(library, &why)) must(NBC_ERROR_LIBRARY, why);
  const struct nbc_library_algorithm *facts = nbc_library_named(library, algorithm);
  if (!facts || !(facts->flags & NBC_LIBRARY_RANK_ORDER))
    must(NBC_ERROR_UNSUPPORTED, "an operator that does not commute");

  struct nbc_build_request request = {
      .algorithm = algorithm, .target = "mpi", .ranks = (uint32_t)ranks, .rank = (uint32_t)rank};
  struct nbc_plan_options options = {.depth = FLIGHTS};  // the same on all ranks
  void *template = NULL;
  size_t bytes = 0;
  char mistake[256];
  nbc_plan *plan = NULL;
  must(nbc_build_template(library, &request, &template, &bytes, mistake, sizeof mistake), mistake);
  must(nbc_plan_create(comm, template, bytes, &options, &plan), "plan");
  must(nbc_plan_connect(plan), "connect");
  free(template);
  return plan;
}

static void start(nbc_plan *plan, struct flight *f, int call) {
  for (int i = 0; i < MAPS; ++i) f->in[i] = map_of(rank, call, i);
  const struct nbc_call what = {
      .in = f->in,
      .out = f->out,
      .count = MAPS,
      .type = NBC_OPAQUE,
      .element_bytes = sizeof(struct map),
      .op = NBC_USER,
      .user = compose};  // `what` itself is not needed any more afterwards
  must(nbc_start(plan, &what, &f->request), "start");
}

static long finish(struct flight *f, int call) {
  must(nbc_wait(&f->request), "wait");
  long wrong = 0;
  for (int i = 0; i < MAPS; ++i) {
    struct map all = map_of(0, call, i), next;
    for (int r = 1; r < ranks; ++r) next = map_of(r, call, i), compose(&all, &all, &next, 1, NULL);
    wrong += memcmp(&all, &f->out[i], sizeof all) != 0;
  }
  return wrong;
}

static int calls_of(int argc, char **argv) {
  if (argc == 1) return 1000;
  char *end = NULL;
  long n = strtol(argv[1], &end, 10);
  if (argc == 2 && end != argv[1] && !*end && n >= 1 && n <= MOST_CALLS) return (int)n;
  if (rank == 0)
    fprintf(stderr,
            "persistent: '%s' is not a number of calls, 1 to %d\nusage: persistent [CALLS]\n",
            argv[argc - 1], MOST_CALLS);
  MPI_Finalize();
  exit(2);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int calls = calls_of(argc, argv);

  nbc_comm *comm = NULL;
  must(nbc_comm_create_mpi(MPI_COMM_WORLD, &comm), "communicator");
  nbc_plan *plan = make_plan(comm);
  static struct flight flights[FLIGHTS];
  long wrong = 0, all = 0;
  for (int call = 0; call < calls; ++call) {
    if (call >= FLIGHTS) wrong += finish(&flights[call % FLIGHTS], call - FLIGHTS);
    start(plan, &flights[call % FLIGHTS], call);
  }
  for (int call = calls < FLIGHTS ? 0 : calls - FLIGHTS; call < calls; ++call)
    wrong += finish(&flights[call % FLIGHTS], call);
  // Also the barrier that has to be between the last call and nbc_plan_free.
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks, %d calls of one plan, %d in flight: %ld wrong\n", ranks, calls, FLIGHTS, all);
  must(nbc_plan_free(plan), "free the plan");
  must(nbc_comm_free(comm), "free the communicator");
  MPI_Finalize();
  return all != 0;
}
