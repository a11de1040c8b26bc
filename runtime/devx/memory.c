// SPDX-License-Identifier: BSD-3-Clause
// memory.c - memory that queues are made in, and queues by number.

#define _GNU_SOURCE  // MAP_ANONYMOUS, madvise
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/devx/adapter.h"

bool devx_take_memory(struct devx_adapter *a, size_t bytes, struct devx_memory *m) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  *m = (struct devx_memory){.bytes = (bytes + page - 1) / page * page};
  void *at = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  m->at = (uint8_t *)at;
  // The pages that the adapter knows stay this process's when it forks.
  if (madvise(at, m->bytes, MADV_DONTFORK) == 0)
    m->known = a->libraries.make_known(a->context, at, m->bytes, IBV_ACCESS_LOCAL_WRITE);
  if (m->known) return true;
  const int error = errno;
  devx_give_memory(a, m);
  errno = error;
  return false;
}

void devx_give_memory(struct devx_adapter *a, struct devx_memory *m) {
  if (m->known) a->libraries.forget(m->known);
  if (m->at) munmap(m->at, m->bytes);
  *m = (struct devx_memory){0};
}

// --- by number ---

static _Atomic(_Atomic(void *) *) *half_of(struct devx_table *t, uint32_t number) {
  return &t->halves[number / DEVX_HALF % DEVX_HALF];
}

bool devx_enter(struct devx_table *t, uint32_t number, void *what) {
  _Atomic(_Atomic(void *) *) *place = half_of(t, number);
  _Atomic(void *) *half = atomic_load(place);
  if (!half) {
    _Atomic(void *) *mine = (_Atomic(void *) *)calloc(DEVX_HALF, sizeof *mine);
    if (!mine) return false;
    if (atomic_compare_exchange_strong(place, &half, mine))
      half = mine;
    else
      free((void *)mine);  // another thread was faster
  }
  atomic_store(&half[number % DEVX_HALF], what);
  return true;
}

void *devx_find(struct devx_table *t, uint32_t number) {
  _Atomic(void *) *half = atomic_load_explicit(half_of(t, number), memory_order_acquire);
  return half ? atomic_load_explicit(&half[number % DEVX_HALF], memory_order_acquire) : NULL;
}

void devx_for_all(struct devx_adapter *a, struct devx_table *t,
                  void (*each)(struct devx_adapter *, void *)) {
  for (uint32_t i = 0; i < DEVX_HALF; ++i) {
    _Atomic(void *) *half = atomic_load(&t->halves[i]);
    for (uint32_t k = 0; half && k < DEVX_HALF; ++k) {
      void *what = atomic_load(&half[k]);
      if (what) each(a, what);
    }
  }
}

void devx_free_table(struct devx_table *t) {
  for (uint32_t i = 0; i < DEVX_HALF; ++i) free((void *)atomic_load(&t->halves[i]));
}
