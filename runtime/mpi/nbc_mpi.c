// SPDX-License-Identifier: BSD-3-Clause
// nbc_mpi.c - communicators of nbc's from an MPI's: devices, and who is on which node.

#include "runtime/mpi/nbc_mpi.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "nbc/shm.h"
#include "runtime/mpi/endpoint.h"

static void close_endpoint(struct nbc_device *device) {
  struct endpoint *e = (struct endpoint *)device;
  int over = 0;
  bootstrap_close(e);
  if (!PMPI_Finalized(&over) && !over) PMPI_Comm_free(&e->comm);
  free(e);
}

static void close_lent(struct nbc_device *device) {
  free(device);
}

int nbc_mpi_fragment(uint64_t *bytes) {
  const char *text = getenv("NBC_MPI_FRAGMENT");
  char *end;
  *bytes = 0;
  if (!text || !*text) return 0;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || errno) return NBC_ERROR_ARGUMENT;
  *bytes = number;
  return 0;
}

// Errors are returned; the largest tags are the bootstrap's.
static int set_up(struct endpoint *e) {
  int *largest = NULL, found = 0;
  if (PMPI_Comm_set_errhandler(e->comm, MPI_ERRORS_RETURN) ||
      PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&largest, &found) || !found ||
      PMPI_Query_thread(&e->level))
    return NBC_ERROR_DEVICE;
  e->question_tag = *largest;
  e->answer_tag = *largest - 1;
  e->p2p =
      (struct nbc_p2p){.device = {NBC_P2P_TARGET, close_endpoint, e->level < MPI_THREAD_MULTIPLE},
                       .ops = &endpoint_ops,
                       .largest_tag = (uint32_t)*largest - 2,
                       .longest = INT64_MAX};
  return 0;
}

// Both ends of a message cut it alike, so all ranks must be told the same: each bit is set on all,
// or on none. By bits, since MPICH 4.0 takes the largest of MPI_UINT64_T for the largest with a
// sign.
static int agree_on_fragment(struct endpoint *e, uint64_t said) {
  int status = said ? 0 : nbc_mpi_fragment(&said);
  uint64_t both[2] = {status ? 0 : said, status ? 0 : ~said};
  if (PMPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_UINT64_T, MPI_BAND, e->comm))
    return NBC_ERROR_DEVICE;
  e->fragment = said;
  return status || both[0] != ~both[1] ? NBC_ERROR_ARGUMENT : 0;
}

// A number for each rank, the same on one node: the first rank there. Null: no memory, or MPI
// failed.
static uint32_t *find_nodes(const struct endpoint *e, int rank, int ranks) {
  MPI_Comm node;
  uint32_t first = (uint32_t)rank;
  uint32_t *nodes = (uint32_t *)malloc((size_t)ranks * sizeof *nodes);
  int failed = !nodes;
  // Collective, so also without memory.
  if (PMPI_Comm_split_type(e->comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node)) {
    failed = 1;
  } else {
    failed |= PMPI_Bcast(&first, 1, MPI_UINT32_T, 0, node) != 0;
    PMPI_Comm_free(&node);
  }
  failed |= PMPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, e->comm) != 0;
  if (!failed) failed = PMPI_Allgather(&first, 1, MPI_UINT32_T, nodes, 1, MPI_UINT32_T, e->comm);
  if (!failed) return nodes;
  free(nodes);
  return NULL;
}

// On all ranks, or on none.
static struct nbc_device *open_shm(struct endpoint *e, const struct nbc_bootstrap *b,
                                   const uint32_t *given) {
  uint32_t *found = given ? NULL : find_nodes(e, b->rank, b->ranks);
  struct nbc_shm_options options = {.nodes = given ? given : found};
  if (!options.nodes) return NULL;
  struct nbc_device *device = NULL;
  int failed = nbc_shm_open(b, &options, &device) != 0;
  free(found);
  if (PMPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, e->comm)) failed = 1;
  if (!failed) return device;
  if (device) device->close(device);
  return NULL;
}

static int make_comm(struct endpoint *e, const struct nbc_mpi_options *options, nbc_comm **result) {
  int rank = 0, ranks = 0;
  int status = set_up(e);
  if (!status && (PMPI_Comm_rank(e->comm, &rank) || PMPI_Comm_size(e->comm, &ranks)))
    status = NBC_ERROR_DEVICE;
  if (!status) status = agree_on_fragment(e, options->fragment);
  if (status) return status;
  struct nbc_bootstrap b = bootstrap_of(e, rank, ranks);
  struct nbc_device *shm = options->without_shm ? NULL : open_shm(e, &b, options->nodes);
  struct nbc_device *devices[NBC_MOST_DEVICES] = {&e->p2p.device};
  size_t count = 1;
  if (shm) devices[count++] = shm;
  for (size_t i = 0; i < options->device_count; ++i) devices[count++] = options->devices[i];
  status = nbc_comm_create(&b, devices, count, result);
  if (status && shm) shm->close(shm);
  return status;
}

int nbc_comm_create_mpi_with(MPI_Comm from, const struct nbc_mpi_options *options,
                             nbc_comm **result) {
  static const struct nbc_mpi_options none = {0};
  int inter = 0;
  if (!options) options = &none;
  if (!result || from == MPI_COMM_NULL || PMPI_Comm_test_inter(from, &inter) || inter ||
      options->device_count > NBC_MOST_DEVICES - 2 || (options->device_count && !options->devices))
    return NBC_ERROR_ARGUMENT;
  struct endpoint *e = (struct endpoint *)calloc(1, sizeof *e);
  MPI_Comm comm;
  // Collective, so also without memory.
  if (PMPI_Comm_dup(from, &comm)) {
    free(e);
    return NBC_ERROR_DEVICE;
  }
  if (!e) {
    PMPI_Comm_free(&comm);
    return NBC_ERROR_MEMORY;
  }
  e->comm = comm;
  int status = make_comm(e, options, result);
  if (status) close_endpoint(&e->p2p.device);
  return status;
}

int nbc_comm_create_mpi(MPI_Comm from, nbc_comm **result) {
  return nbc_comm_create_mpi_with(from, NULL, result);
}

int nbc_mpi_device(MPI_Comm comm, struct nbc_device **result) {
  int inter = 0;
  if (!result || comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) || inter)
    return NBC_ERROR_ARGUMENT;
  struct endpoint *e = (struct endpoint *)calloc(1, sizeof *e);
  if (!e) return NBC_ERROR_MEMORY;
  e->comm = comm;
  int status = set_up(e);
  if (!status) status = nbc_mpi_fragment(&e->fragment);
  e->p2p.device.close = close_lent;
  if (status)
    free(e);
  else
    *result = &e->p2p.device;
  return status;
}
