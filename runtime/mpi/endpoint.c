// SPDX-License-Identifier: BSD-3-Clause
// endpoint.c - the functions of nbc/p2p.h, on a communicator of an MPI.
//
// Compiled once for each MPI. An MPI_Request is kept in the runtime's word for a message, and
// goes back and forth by memcpy, be it an int or a pointer. Of a message in fragments there are
// several, on the heap: those of one message follow each other on both ends, so they meet in order.

#include "runtime/mpi/endpoint.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
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

struct fragments {
  bool sent;
  size_t count, done;  // the first so many are
  MPI_Request requests[];
};
// Neither an int nor a pointer of a process has this bit.
#define IN_FRAGMENTS (UINT64_C(1) << 63)

static void keep(union nbc_p2p_message *m, MPI_Request request) {
  if (sizeof request == sizeof(uint32_t)) {
    uint32_t number;
    memcpy(&number, &request, sizeof number);
    m->number = number;
  } else {
    memcpy(m, &request, sizeof request);
  }
}

static MPI_Request request_of(const union nbc_p2p_message *m) {
  const uint32_t number = (uint32_t)m->number;
  MPI_Request request;
  if (sizeof request == sizeof number)
    memcpy(&request, &number, sizeof number);
  else
    memcpy(&request, m, sizeof request);
  return request;
}

static struct fragments *fragments_of(const union nbc_p2p_message *m) {
  return m->number & IN_FRAGMENTS ? (struct fragments *)(uintptr_t)(m->number & ~IN_FRAGMENTS)
                                  : NULL;
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

static int post(MPI_Comm comm, bool sent, void *memory, uint64_t bytes, uint32_t rank, uint32_t tag,
                MPI_Request *request) {
  MPI_Datatype type = MPI_BYTE;
  bool large = bytes > NBC_MPI_UNIT;
  int count = large ? 1 : (int)bytes;
  int status = large ? make_type(bytes, &type) : 0;
  if (status) return status;
  int failed = sent ? PMPI_Isend(memory, count, type, (int)rank, (int)tag, comm, request)
                    : PMPI_Irecv(memory, count, type, (int)rank, (int)tag, comm, request);
  if (large) PMPI_Type_free(&type);  // MPI does so once the message is done
  return failed ? NBC_ERROR_DEVICE : 0;
}

// MPI promises that a cancelled receive ends soon, whatever other ranks do; but one whose message
// is already on its way may need its sender.
static bool forget_request(MPI_Request request, bool sent, double deadline) {
  int done = 0;
  if (!sent) PMPI_Cancel(&request);
  do {
    if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE)) return false;  // failed, and gone
    if (done) return false;
    sched_yield();
  } while (!sent && PMPI_Wtime() < deadline);
  PMPI_Request_free(&request);
  return true;
}

static bool forget_fragments(struct fragments *f, double deadline) {
  bool stays = false;
  for (; f->done < f->count; ++f->done)
    stays |= forget_request(f->requests[f->done], f->sent, deadline);
  free(f);
  return stays;
}

static int post_fragments(const struct endpoint *e, bool sent, char *memory, uint64_t bytes,
                          uint32_t rank, uint32_t tag, union nbc_p2p_message *m) {
  const uint64_t count = bytes / e->fragment + (bytes % e->fragment != 0);
  if (count > SIZE_MAX / 2 / sizeof(MPI_Request)) return NBC_ERROR_MEMORY;
  struct fragments *f = (struct fragments *)malloc(sizeof *f + (size_t)count * sizeof *f->requests);
  if (!f) return NBC_ERROR_MEMORY;
  *f = (struct fragments){.sent = sent};
  for (uint64_t at = 0; at < bytes; at += e->fragment) {
    const uint64_t left = bytes - at;
    const int status = post(e->comm, sent, memory + at, left < e->fragment ? left : e->fragment,
                            rank, tag, &f->requests[f->count]);
    if (status) {
      forget_fragments(f, PMPI_Wtime() + CANCEL_SECONDS);
      return status;
    }
    ++f->count;
  }
  m->number = (uintptr_t)f | IN_FRAGMENTS;
  return 0;
}

static int post_message(struct nbc_p2p *p2p, bool sent, void *memory, uint64_t bytes, uint32_t rank,
                        uint32_t tag, union nbc_p2p_message *m) {
  const struct endpoint *e = self(p2p);
  if (e->fragment && bytes > e->fragment)
    return post_fragments(e, sent, (char *)memory, bytes, rank, tag, m);
  MPI_Request request;
  const int status = post(e->comm, sent, memory, bytes, rank, tag, &request);
  if (!status) keep(m, request);
  return status;
}

static int post_send(struct nbc_p2p *p2p, const void *from, uint64_t bytes, uint32_t rank,
                     uint32_t tag, union nbc_p2p_message *m) {
  return post_message(p2p, true, (void *)from, bytes, rank, tag, m);
}

static int post_receive(struct nbc_p2p *p2p, void *to, uint64_t bytes, uint32_t rank, uint32_t tag,
                        union nbc_p2p_message *m) {
  return post_message(p2p, false, to, bytes, rank, tag, m);
}

// In their order, so that a look costs what one request does.
static int test_fragments(struct fragments *f) {
  for (; f->done < f->count; ++f->done) {
    int done = 0;
    if (PMPI_Test(&f->requests[f->done], &done, MPI_STATUS_IGNORE)) {
      ++f->done;
      forget_fragments(f, PMPI_Wtime() + CANCEL_SECONDS);
      return NBC_ERROR_DEVICE;
    }
    if (!done) return 0;
  }
  free(f);
  return 1;
}

static int test(struct nbc_p2p *p2p, union nbc_p2p_message *m) {
  struct fragments *f = fragments_of(m);
  (void)p2p;
  if (f) return test_fragments(f);
  MPI_Request request = request_of(m);
  int done = 0;
  if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE)) return NBC_ERROR_DEVICE;
  if (!done) keep(m, request);
  return done;
}

static int forget(struct nbc_p2p *p2p, union nbc_p2p_message *m, int sent) {
  struct fragments *f = fragments_of(m);
  int over = 0;
  (void)p2p;
  if (PMPI_Finalized(&over) || over) return 1;
  const double deadline = PMPI_Wtime() + CANCEL_SECONDS;
  return f ? forget_fragments(f, deadline) : forget_request(request_of(m), sent, deadline);
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
