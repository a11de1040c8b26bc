// SPDX-License-Identifier: BSD-3-Clause
// check.c - templates on an MPI, against its own collectives and against what they mean.
//
//   mpirun -n P check [--in-place] [--nodes=N] [--by-definition] [--lengths=N,N,...] [--DEVICE]
//   FILE...
//
// What is called is in calls.h, of so many elements. With --by-definition the MPI is not asked.
// DEVICE: there is one of target sci or verbs, or for coredirect a software HCA (hca) or an mlx5
// adapter (devx), too. Prints a line on rank 0 and exits with 1 on all ranks if anything was wrong
// on one.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbc/devx.h"
#include "nbc/hca.h"
#include "nbc/sci.h"
#include "nbc/verbs.h"
#include "runtime/mpi/nbc_mpi.h"
#include "test/mpi/calls.h"

static void stop(void) {
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double latest(double mine) {
  double last;
  MPI_Allreduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return last;
}

static void by_mpi(uint32_t kind, int root, const void *in, void *out, size_t elements,
                   enum nbc_type type) {
  MPI_Datatype t = type == NBC_I32 ? MPI_INT32_T : type == NBC_U64 ? MPI_UINT64_T : MPI_DOUBLE;
  int n = (int)elements;
  MPI_Comm all = MPI_COMM_WORLD;
  switch ((enum nbc_kind)kind) {
    case NBC_ALLGATHER:
      MPI_Allgather(in, n, t, out, n, t, all);
      break;
    case NBC_ALLTOALL:
      MPI_Alltoall(in, n, t, out, n, t, all);
      break;
    case NBC_ALLREDUCE:
      MPI_Allreduce(in, out, n, t, MPI_SUM, all);
      break;
    case NBC_REDUCE:
      MPI_Reduce(in, out, n, t, MPI_SUM, root, all);
      break;
    case NBC_BCAST:
      MPI_Bcast(out, n, t, root, all);
      break;
    case NBC_GATHER:
      MPI_Gather(in, n, t, out, n, t, root, all);
      break;
    case NBC_SCATTER:
      MPI_Scatter(in, n, t, out, n, t, root, all);
      break;
    case NBC_REDUCE_SCATTER:
    case NBC_REDUCE_SCATTER_BLOCK:
      MPI_Reduce_scatter_block(in, out, n, t, MPI_SUM, all);
      break;
    case NBC_SCAN:
      MPI_Scan(in, out, n, t, MPI_SUM, all);
      break;
    case NBC_EXSCAN:
      MPI_Exscan(in, out, n, t, MPI_SUM, all);
      break;
    case NBC_BARRIER:
    case NBC_NEIGHBOR_ALLGATHER:
    case NBC_NEIGHBOR_ALLTOALL:
    case NBC_OWN:
    case NBC_KINDS:
      break;
  }
}

static int open_sci(struct nbc_device **device, const char **why) {
  return nbc_sci_open(NULL, device, why);
}
static int open_verbs(struct nbc_device **device, const char **why) {
  return nbc_verbs_open(NULL, device, why);
}
static int open_hca(struct nbc_device **device, const char **why) {
  return nbc_hca_open(NULL, device, why);
}
static int open_devx(struct nbc_device **device, const char **why) {
  return nbc_devx_open(NULL, device, why);
}
static const struct opens {
  const char *name;
  int (*open)(struct nbc_device **, const char **why);
} all_opens[] = {
    {"--sci", open_sci}, {"--verbs", open_verbs}, {"--hca", open_hca}, {"--devx", open_devx}};

static const struct opens *opens_by(const char *name) {
  for (size_t i = 0; i < sizeof all_opens / sizeof *all_opens; ++i)
    if (strcmp(all_opens[i].name, name) == 0) return &all_opens[i];
  return NULL;
}

// With its ranks on so many nodes, one behind the other, as the templates have them.
static nbc_comm *create(int nodes, const struct opens *with) {
  nbc_comm *comm;
  struct nbc_device *device;
  const char *why = "";
  uint32_t *where = (uint32_t *)malloc((size_t)world.ranks * sizeof *where);
  if (!where) must(NBC_ERROR_MEMORY, "nodes");
  for (int r = 0; r < world.ranks; ++r) where[r] = (uint32_t)(r / (world.ranks / nodes));
  struct nbc_mpi_options options = {
      .nodes = nodes > 1 ? where : NULL, .devices = &device, .device_count = with ? 1 : 0};
  if (with && with->open(&device, &why)) {
    fprintf(stderr, "rank %d: %s\n", world.rank, why);
    stop();
  }
  must(nbc_comm_create_mpi_with(MPI_COMM_WORLD, &options, &comm), "create");
  free(where);
  return comm;
}

int main(int argc, char **argv) {
  size_t lengths[MOST_LENGTHS] = {3, 0, 1, 1000, 17, 2, 0, 40001, 5, 63, 1, 4096};
  struct variation all = {
      .options = {.max_bytes = 400000}, .lengths = lengths, .count = 12, .flights = MOST_FLIGHTS};
  int calls = 0, files = 0, nodes = 1, level;
  const struct opens *with = NULL, *opens;
  // NBC_PROGRESS=thread in the environment wants it.
  MPI_Init_thread(&argc, &argv, getenv("NBC_PROGRESS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  world = (struct world){
      .file_name = "communicator", .stop = stop, .latest = latest, .by_another = by_mpi};
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  nbc_comm *comm = NULL;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--in-place") == 0) {
      world.in_place = true;
    } else if (strcmp(argv[i], "--by-definition") == 0) {
      world.by_another = NULL;
    } else if ((opens = opens_by(argv[i]))) {
      with = opens;
    } else if (strncmp(argv[i], "--lengths=", 10) == 0) {
      all.count = read_lengths(argv[i] + 10, lengths);
      if (!all.count) must(NBC_ERROR_ARGUMENT, argv[i]);
    } else if (sscanf(argv[i], "--nodes=%d", &nodes) != 1) {
      if (!comm) comm = create(nodes, with);
      calls += check_file(comm, argv[i], &all);
      ++files;
    }
  }
  must(nbc_comm_free(comm), "free");
  MPI_Allreduce(MPI_IN_PLACE, &world.wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int status = tell(files, calls);
  MPI_Finalize();
  return status;
}
