// SPDX-License-Identifier: BSD-3-Clause
// comm.c - a communicator: its bootstrap, its adapter, its cache of registrations.
//
// Registering is slow and calls tend to use the same buffers, so what was
// registered stays so, in a table of fixed size, until the caller deregisters it or
// the room is needed for others; then the one goes that no call uses and that was
// used longest ago. Plans of several threads look it up without a lock: a user
// first becomes one, then looks again whether the entry is still what it wanted.

#include "runtime/src/comm.h"

#include <stdlib.h>

int nbc_comm_create(const struct nbc_bootstrap *bootstrap, struct nbc_hca *hca, nbc_comm **result) {
  if (!bootstrap || !result || bootstrap->ranks < 1 || bootstrap->rank < 0 ||
      bootstrap->rank >= bootstrap->ranks)
    return NBC_ERROR_ARGUMENT;
  if (bootstrap->ranks > 1 && (!hca || !bootstrap->put || !bootstrap->get))
    return NBC_ERROR_ARGUMENT;
  nbc_comm *comm = (nbc_comm *)calloc(1, sizeof *comm);
  if (!comm) return NBC_ERROR_MEMORY;
  comm->bootstrap = *bootstrap;
  comm->hca = hca;
  for (int i = 0; i < REGISTRATIONS; ++i) atomic_init(&comm->cache[i].users, -1);
  int status = 0;
  if (hca) {
    hca->ops->facts(hca, &comm->facts);
    status = hca->ops->address(hca, comm->address);
  }
  if (!status && pthread_mutex_init(&comm->mutex, NULL)) status = NBC_ERROR_MEMORY;
  if (status) {
    free(comm);
    return status;
  }
  *result = comm;
  return 0;
}

int nbc_comm_free(nbc_comm *comm) {
  if (!comm) return 0;
  if (atomic_load(&comm->plans_alive)) return NBC_ERROR_BUSY;
  int status = nbc_deregister(comm, NULL, SIZE_MAX);
  if (status) return status;
  pthread_mutex_destroy(&comm->mutex);
  free(comm);
  return 0;
}

static bool holds(const struct registration *r, uintptr_t begin, uintptr_t end, uint32_t access) {
  return atomic_load_explicit(&r->begin, memory_order_relaxed) <= begin &&
         atomic_load_explicit(&r->end, memory_order_relaxed) >= end &&
         (atomic_load_explicit(&r->access, memory_order_relaxed) & access) == access;
}

// Becomes a user of it if it is what is wanted.
static bool use(nbc_comm *comm, int i, uintptr_t begin, uintptr_t end, uint32_t access) {
  struct registration *r = &comm->cache[i];
  if (!holds(r, begin, end, access)) return false;
  int users = atomic_load_explicit(&r->users, memory_order_relaxed);
  do {
    if (users < 0) return false;
  } while (!atomic_compare_exchange_weak_explicit(&r->users, &users, users + 1,
                                                  memory_order_acquire, memory_order_relaxed));
  if (!holds(r, begin, end, access)) {
    comm_release(comm, i);
    return false;
  }
  atomic_store_explicit(&r->used, atomic_load_explicit(&comm->clock, memory_order_relaxed),
                        memory_order_relaxed);
  return true;
}

static int find(nbc_comm *comm, uintptr_t begin, uintptr_t end, uint32_t access) {
  for (int i = 0; i < REGISTRATIONS; ++i)
    if (use(comm, i, begin, end, access)) return i;
  return -1;
}

// Takes a registration without users out of the table. Under the mutex.
static bool forget(nbc_comm *comm, struct registration *r) {
  int none = 0;
  if (!atomic_compare_exchange_strong(&r->users, &none, -1)) return false;
  atomic_store(&r->begin, 0);
  atomic_store(&r->end, 0);
  comm->hca->ops->deregister_memory(comm->hca, r->lkey);
  return true;
}

// An empty slot, or one made empty; null: calls use all of them. Under the mutex.
static struct registration *empty_slot(nbc_comm *comm) {
  for (int attempt = 0; attempt < REGISTRATIONS; ++attempt) {
    struct registration *oldest = NULL;
    for (int i = 0; i < REGISTRATIONS; ++i) {
      struct registration *r = &comm->cache[i];
      int users = atomic_load(&r->users);
      if (users < 0) return r;
      if (users == 0 && (!oldest || atomic_load(&r->used) < atomic_load(&oldest->used))) oldest = r;
    }
    if (!oldest) return NULL;
    if (forget(comm, oldest)) return oldest;
  }
  return NULL;
}

static int add(nbc_comm *comm, uintptr_t begin, uintptr_t end, uint32_t access) {
  struct registration *r = empty_slot(comm);
  if (!r) return NBC_ERROR_RESOURCES;
  int status = comm->hca->ops->register_memory(comm->hca, (void *)begin, end - begin, access,
                                               &r->lkey, &r->rkey);
  if (status) return status;
  atomic_store(&r->access, access);
  atomic_store(&r->used, atomic_fetch_add(&comm->clock, 1) + 1);
  atomic_store(&r->end, end);
  atomic_store(&r->begin, begin);
  atomic_store_explicit(&r->users, 1, memory_order_release);
  return (int)(r - comm->cache);
}

int comm_acquire(nbc_comm *comm, const void *memory, size_t bytes, uint32_t access, int hint) {
  uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
  if (end < begin) return NBC_ERROR_ARGUMENT;
  if (hint >= 0 && use(comm, hint, begin, end, access)) return hint;
  int i = find(comm, begin, end, access);
  if (i >= 0) return i;
  pthread_mutex_lock(&comm->mutex);
  i = find(comm, begin, end, access);  // another thread may have been faster
  if (i < 0) i = add(comm, begin, end, access);
  pthread_mutex_unlock(&comm->mutex);
  return i;
}

void comm_release(nbc_comm *comm, int registration) {
  atomic_fetch_sub_explicit(&comm->cache[registration].users, 1, memory_order_release);
}

int nbc_register(nbc_comm *comm, void *begin, size_t bytes) {
  if (!comm || !comm->hca || !begin || bytes == 0) return NBC_ERROR_ARGUMENT;
  int i = comm_acquire(comm, begin, bytes, NBC_HCA_REMOTE_WRITE, -1);
  if (i < 0) return i;
  comm_release(comm, i);
  return 0;
}

int nbc_deregister(nbc_comm *comm, void *memory, size_t bytes) {
  if (!comm) return NBC_ERROR_ARGUMENT;
  uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
  if (end < begin) return NBC_ERROR_ARGUMENT;
  int status = 0;
  pthread_mutex_lock(&comm->mutex);
  for (int i = 0; i < REGISTRATIONS; ++i) {
    struct registration *r = &comm->cache[i];
    if (atomic_load(&r->users) < 0 || atomic_load(&r->end) <= begin ||
        atomic_load(&r->begin) >= end)
      continue;
    if (!forget(comm, r)) status = NBC_ERROR_BUSY;
  }
  pthread_mutex_unlock(&comm->mutex);
  return status;
}
