// SPDX-License-Identifier: BSD-3-Clause
// quiet.c - whether a collective ends while the program calls nothing.
//
//   mpirun -n P quiet [--hca | --devx] [--node=N] SECONDS FILE   (templates of an allgather, of all
//   ranks)
//
// Each rank starts a call and then only looks at its own memory, for so many seconds at most, until
// all blocks are there; then it rests a second, and asks once. Says what it found:
//
//   data came: 1, done at the first test: 1
//
// With N ranks on a node it is the first of each that does so. The others start some milliseconds
// later, and wait.

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nbc/devx.h"
#include "nbc/hca.h"
#include "runtime/mpi/nbc_mpi.h"
#include "test/runtime/template_file.h"

enum { ELEMENTS = 1 << 16, LOOKS_A_SECOND = 100, LATE = 20000 /* microseconds */ };

static void must(int status, const char *what) {
  if (!status) return;
  fprintf(stderr, "quiet: %s: %s\n", what, nbc_status_text(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Written by others: each look is one at memory.
static int all_came(const volatile uint64_t *out, int ranks) {
  for (size_t i = 0; i < (size_t)ranks * ELEMENTS; ++i)
    if (out[i] != i / ELEMENTS * 1000000 + i % ELEMENTS + 1) return 0;
  return 1;
}

int main(int argc, char **argv) {
  int rank, ranks;
  const int with_hca = argc > 1 && strcmp(argv[1], "--hca") == 0;
  const int with_devx = argc > 1 && strcmp(argv[1], "--devx") == 0, with = with_hca || with_devx;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int node = 1;
  const int more = with + (argc > 1 + with && sscanf(argv[1 + with], "--node=%d", &node) == 1);
  if (argc != 3 + more || node < 1)
    must(NBC_ERROR_ARGUMENT, "[--hca | --devx] [--node=N] SECONDS FILE");
  const bool leads = rank % node == 0;

  struct nbc_device *hca = NULL;
  if (with_hca) must(nbc_hca_open(NULL, &hca, NULL), "hca");
  if (with_devx) must(nbc_devx_open(NULL, &hca, NULL), "devx");
  uint32_t *nodes = (uint32_t *)calloc((size_t)ranks, sizeof *nodes);
  if (!nodes) must(NBC_ERROR_MEMORY, "nodes");
  for (int r = 0; r < ranks; ++r) nodes[r] = (uint32_t)(r / node);
  const struct nbc_mpi_options options = {
      .nodes = node > 1 ? nodes : NULL, .devices = &hca, .device_count = (size_t)with};
  nbc_comm *comm;
  must(nbc_comm_create_mpi_with(MPI_COMM_WORLD, &options, &comm), "communicator");
  uint64_t *in = (uint64_t *)calloc(ELEMENTS, 8);
  uint64_t *out = (uint64_t *)calloc((size_t)ranks * ELEMENTS, 8);
  if (!in || !out) must(NBC_ERROR_MEMORY, "buffers");
  for (size_t i = 0; i < ELEMENTS; ++i) in[i] = (size_t)rank * 1000000 + i + 1;
  struct nbc_call call = {.in = in, .out = out, .count = ELEMENTS, .type = NBC_U64};

  size_t bytes;
  char *all = read_templates(argv[2 + more], &bytes);
  if (!all) must(NBC_ERROR_ARGUMENT, argv[2 + more]);
  struct nbc_template *t = template_of(all, bytes, ranks, rank);
  if (!t) must(NBC_ERROR_TEMPLATE, argv[2 + more]);
  const struct nbc_variant *first =
      (const struct nbc_variant *)((const char *)t + t->variants.offset);
  const bool direct = t->variants.count && first->protocol == NBC_DIRECT;
  const struct nbc_plan_options for_this = {.call = direct ? &call : NULL};
  nbc_plan *plan;
  must(nbc_plan_create(comm, t, t->bytes, &for_this, &plan), "plan");
  must(nbc_plan_connect(plan), "connect");
  nbc_request request;
  int found[2] = {0, 0}, of_all[2];
  MPI_Barrier(MPI_COMM_WORLD);
  if (!leads) usleep(LATE);
  must(nbc_start(plan, &call, &request), "start");
  if (leads) {
    int looks = atoi(argv[1 + more]) * LOOKS_A_SECOND;
    while (!(found[0] = all_came(out, ranks)) && looks-- > 0) usleep(1000000 / LOOKS_A_SECOND);
    sleep(1);
    must(nbc_test(&request, &found[1]), "test");
  } else {
    found[0] = found[1] = 1;
  }
  must(nbc_wait(&request), "wait");

  MPI_Allreduce(found, of_all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) printf("data came: %d, done at the first test: %d\n", of_all[0], of_all[1]);
  must(nbc_plan_free(plan), "free");
  must(nbc_comm_free(comm), "free");
  free(nodes);
  MPI_Finalize();
  return 0;
}
