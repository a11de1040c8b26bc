// SPDX-License-Identifier: BSD-3-Clause
// nbc_mpi.c - the functions of nbc/p2p.h, on a duplicate of an MPI communicator.
//
// Compiled once for each MPI. An MPI_Request is kept in the runtime's word for a message, and
// goes back and forth by memcpy, be it an int or a pointer.

#include "runtime/mpi/nbc_mpi.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nbc/shm.h"
#include "runtime/mpi/endpoint.h"

// What is longer is sent in units of so many bytes. Smaller in a test.
#ifndef NBC_MPI_UNIT
#define NBC_MPI_UNIT (UINT64_C(1) << 30)
#endif

_Static_assert(sizeof(MPI_Request) <= sizeof(union nbc_p2p_message), "a message holds a request");

enum { SPINS = 64 };        // tests before a waiting thread yields; then between each
#define CANCEL_SECONDS 1.0  // for a receive that has begun and cannot be cancelled any more

static struct endpoint *self(struct nbc_p2p *p2p) {
  return (struct endpoint *)p2p;
}

static void keep(union nbc_p2p_message *m, MPI_Request request) {
  memcpy(m, &request, sizeof request);
}

static MPI_Request request_of(const union nbc_p2p_message *m) {
  MPI_Request request;
  memcpy(&request, m, sizeof request);
  return request;
}

// A type that is `bytes` long: units, and what is left.
static int make_type(uint64_t bytes, MPI_Datatype *type) {
  MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_BYTE};
  int counts[2] = {(int)(bytes / NBC_MPI_UNIT), (int)(bytes % NBC_MPI_UNIT)};
  MPI_Aint places[2] = {0, (MPI_Aint)(bytes - bytes % NBC_MPI_UNIT)};
  if (bytes / NBC_MPI_UNIT > INT32_MAX) return NBC_ERROR_TOO_LONG;
  if (PMPI_Type_contiguous((int)NBC_MPI_UNIT, MPI_BYTE, &types[0])) return NBC_ERROR_DEVICE;
  int failed = PMPI_Type_create_struct(2, counts, places, types, type);
  PMPI_Type_free(&types[0]);
  return failed || PMPI_Type_commit(type) ? NBC_ERROR_DEVICE : 0;
}

static int post(struct nbc_p2p *p2p, int sent, void *memory, uint64_t bytes, uint32_t rank,
                uint32_t tag, union nbc_p2p_message *m) {
  MPI_Comm comm = self(p2p)->comm;
  MPI_Datatype type = MPI_BYTE;
  MPI_Request request;
  bool large = bytes > NBC_MPI_UNIT;
  int count = large ? 1 : (int)bytes;
  int status = large ? make_type(bytes, &type) : 0;
  if (status) return status;
  int failed = sent ? PMPI_Isend(memory, count, type, (int)rank, (int)tag, comm, &request)
                    : PMPI_Irecv(memory, count, type, (int)rank, (int)tag, comm, &request);
  if (large) PMPI_Type_free(&type);  // MPI does so once the message is done
  if (failed) return NBC_ERROR_DEVICE;
  keep(m, request);
  return 0;
}

static int post_send(struct nbc_p2p *p2p, const void *from, uint64_t bytes, uint32_t rank,
                     uint32_t tag, union nbc_p2p_message *m) {
  return post(p2p, 1, (void *)from, bytes, rank, tag, m);
}

static int post_receive(struct nbc_p2p *p2p, void *to, uint64_t bytes, uint32_t rank, uint32_t tag,
                        union nbc_p2p_message *m) {
  return post(p2p, 0, to, bytes, rank, tag, m);
}

static int test(struct nbc_p2p *p2p, union nbc_p2p_message *m) {
  MPI_Request request = request_of(m);
  int done = 0;
  (void)p2p;
  if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE)) return NBC_ERROR_DEVICE;
  if (!done) keep(m, request);
  return done;
}

// MPI promises that a cancelled receive ends soon, whatever other ranks do; but one whose message
// is already on its way may need its sender.
static int forget(struct nbc_p2p *p2p, union nbc_p2p_message *m, int sent) {
  MPI_Request request = request_of(m);
  int done = 0, over = 0;
  (void)p2p;
  if (PMPI_Finalized(&over) || over) return 1;
  if (!sent) PMPI_Cancel(&request);
  double begin = PMPI_Wtime();
  do {
    if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE)) return 0;  // failed, and gone
    if (done) return 0;
    sched_yield();
  } while (!sent && PMPI_Wtime() < begin + CANCEL_SECONDS);
  PMPI_Request_free(&request);
  return 1;
}

// Nothing to sleep on: a few tests at once, then others may run between them.
static void sleep_a_while(struct nbc_p2p *p2p, int64_t nanoseconds) {
  struct endpoint *e = self(p2p);
  (void)nanoseconds;
  unsigned idle = __atomic_add_fetch(&e->idle, 1, __ATOMIC_RELAXED);
  if (idle % SPINS == 0) sched_yield();
}

// An MPI that finds no message looks at all it has under way. Nobody sends with this tag but to who
// has posted a receive.
static void move(struct nbc_p2p *p2p) {
  struct endpoint *e = self(p2p);
  int yes = e->level != MPI_THREAD_SERIALIZED, found;
  if (e->level < MPI_THREAD_SERIALIZED && PMPI_Is_thread_main(&yes)) return;
  if (yes) PMPI_Iprobe(0, e->answer_tag, e->comm, &found, MPI_STATUS_IGNORE);
}

static const struct nbc_p2p_ops endpoint_ops = {
    .name = "mpi",
    .send = post_send,
    .receive = post_receive,
    .test = test,
    .forget = forget,
    .sleep = sleep_a_while,
    .move = move,
};

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
  e->p2p.device.close = close_lent;
  if (status)
    free(e);
  else
    *result = &e->p2p.device;
  return status;
}
