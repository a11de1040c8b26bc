// SPDX-License-Identifier: BSD-3-Clause
// bootstrap.c - put, get and fence over MPI messages.
//
//   asks    who is asked, in get or fence
//   key  ->
//        <- the data, as soon as they were put
//
// A rank answers while it is in get or fence itself. That is enough: all ranks connect a plan
// together, none leaves the fence before all have entered it, and whoever has entered it has all
// that it asked for. So get costs one exchange, and nothing is sent that nobody wants.

#include <stdlib.h>
#include <string.h>

#include "runtime/mpi/endpoint.h"

enum { LONGEST_KEY = 64 };

struct entry {
  struct entry *next;
  size_t bytes;
  char key[LONGEST_KEY];
  unsigned char data[];
};

struct question {
  struct question *next;
  int rank;
  char key[LONGEST_KEY];
};

static int put(void *context, const char *key, const void *data, size_t bytes) {
  struct endpoint *e = (struct endpoint *)context;
  if (strlen(key) >= LONGEST_KEY) return -1;
  struct entry *entry = (struct entry *)calloc(1, sizeof *entry + bytes);
  if (!entry) return -1;
  memcpy(entry->key, key, strlen(key));
  memcpy(entry->data, data, bytes);
  entry->bytes = bytes;
  entry->next = e->entries;
  e->entries = entry;
  return 0;
}

static void forget(void *context, const char *prefix) {
  struct endpoint *e = (struct endpoint *)context;
  for (struct entry **at = &e->entries, *entry; (entry = *at);) {
    if (strncmp(entry->key, prefix, strlen(prefix))) {
      at = &entry->next;
      continue;
    }
    *at = entry->next;
    free(entry);
  }
}

// Takes in one question, if there is any.
static int listen(struct endpoint *e) {
  MPI_Status status;
  int there = 0;
  if (PMPI_Iprobe(MPI_ANY_SOURCE, e->question_tag, e->comm, &there, &status)) return -1;
  if (!there) return 0;
  struct question *q = (struct question *)calloc(1, sizeof *q);
  if (!q) return -1;
  q->rank = status.MPI_SOURCE;
  q->next = e->questions;
  e->questions = q;
  return PMPI_Recv(q->key, LONGEST_KEY - 1, MPI_CHAR, q->rank, e->question_tag, e->comm,
                   MPI_STATUS_IGNORE)
             ? -1
             : 0;
}

// Answers what can be answered. Whoever asks has posted the receive, so the send ends.
static int answer(struct endpoint *e) {
  for (struct question **at = &e->questions, *q; (q = *at);) {
    struct entry *entry = e->entries;
    while (entry && strcmp(entry->key, q->key)) entry = entry->next;
    if (!entry) {
      at = &q->next;
      continue;
    }
    if (PMPI_Send(entry->data, (int)entry->bytes, MPI_BYTE, q->rank, e->answer_tag, e->comm))
      return -1;
    *at = q->next;
    free(q);
  }
  return 0;
}

// Until the request is done.
static int serve_until(struct endpoint *e, MPI_Request *request, MPI_Status *status) {
  for (int done = 0;;) {
    if (PMPI_Test(request, &done, status)) return -1;
    if (done) return 0;
    if (listen(e) || answer(e)) return -1;
    e->p2p.ops->sleep(&e->p2p, 1000);
  }
}

static int get(void *context, int rank, const char *key, void *data, size_t capacity,
               size_t *bytes) {
  struct endpoint *e = (struct endpoint *)context;
  MPI_Request request;
  MPI_Status status;
  int count, length = (int)strlen(key);
  if (length >= LONGEST_KEY || capacity > INT32_MAX) return -1;
  if (PMPI_Irecv(data, (int)capacity, MPI_BYTE, rank, e->answer_tag, e->comm, &request)) return -1;
  if (PMPI_Send(key, length, MPI_CHAR, rank, e->question_tag, e->comm)) return -1;
  if (serve_until(e, &request, &status)) return -1;
  if (PMPI_Get_count(&status, MPI_BYTE, &count) || count < 0) return -1;
  *bytes = (size_t)count;
  return 0;
}

static int fence(void *context) {
  struct endpoint *e = (struct endpoint *)context;
  MPI_Request request;
  return PMPI_Ibarrier(e->comm, &request) || serve_until(e, &request, MPI_STATUS_IGNORE) ? -1 : 0;
}

struct nbc_bootstrap bootstrap_of(struct endpoint *e, int rank, int ranks) {
  return (struct nbc_bootstrap){.rank = rank,
                                .ranks = ranks,
                                .context = e,
                                .put = put,
                                .get = get,
                                .fence = fence,
                                .forget = forget};
}

void bootstrap_close(struct endpoint *e) {
  forget(e, "");
  for (struct question *q = e->questions, *next; q; q = next) {
    next = q->next;
    free(q);
  }
  e->questions = NULL;
}
