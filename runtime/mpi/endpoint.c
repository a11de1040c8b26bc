// SPDX-License-Identifier: BSD-3-Clause
// endpoint.c - the functions of nbc/p2p.h, on a communicator of an MPI.
//
// Compiled once for each MPI. An MPI_Request is kept in the runtime's word for a message, and
// goes back and forth by memcpy, be it an int or a pointer.

#include "runtime/mpi/endpoint.h"

#include <sched.h>
#include <stdbool.h>
#include <string.h>

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

const struct nbc_p2p_ops endpoint_ops = {
    .name = "mpi",
    .send = post_send,
    .receive = post_receive,
    .test = test,
    .forget = forget,
    .sleep = sleep_a_while,
    .move = move,
};
