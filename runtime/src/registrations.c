// SPDX-License-Identifier: BSD-3-Clause
// registrations.c - what memory an adapter knows.
//
// Registering is slow and calls tend to use the same buffers, so what was
// registered stays so, in a table of fixed size, until the caller deregisters it or
// the room is needed for others; then the one goes that no call uses and that was
// used longest ago. The same where the adapter can hold no more. Plans of several threads look
// it up without a lock: a user first becomes one, then looks again whether the entry is still what
// it wanted.
//
// Memory that is unmapped takes its registration's addresses out of the table at once
// (registrations_gone), so that nobody finds it; that the adapter holds its pages a while longer
// hurts nobody. It is told by the next who registers.

#define _GNU_SOURCE  // PTHREAD_MUTEX_RECURSIVE
#include "runtime/src/registrations.h"

#include "nbc.h"

// Who looks under the mutex may be the last user of what it did not want, and let go of it.
static int make_mutex(pthread_mutex_t *mutex) {
  pthread_mutexattr_t recursive;
  if (pthread_mutexattr_init(&recursive)) return NBC_ERROR_MEMORY;
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  int failed = pthread_mutex_init(mutex, &recursive);
  pthread_mutexattr_destroy(&recursive);
  return failed ? NBC_ERROR_MEMORY : 0;
}

int registrations_open(struct registrations *all, struct registrar registrar) {
  all->registrar = registrar;
  all->keep = true;
  atomic_init(&all->clock, 0);
  for (int i = 0; i < REGISTRATIONS; ++i) atomic_init(&all->slots[i].users, -1);
  return make_mutex(&all->mutex);
}

void registrations_close(struct registrations *all) {
  registrations_forget(all, NULL, SIZE_MAX);
  pthread_mutex_destroy(&all->mutex);
}

static bool holds(const struct registration *r, uintptr_t begin, uintptr_t end, uint32_t access) {
  return atomic_load_explicit(&r->begin, memory_order_relaxed) <= begin &&
         atomic_load_explicit(&r->end, memory_order_relaxed) >= end &&
         (atomic_load_explicit(&r->access, memory_order_relaxed) & access) == access;
}

// Becomes a user of it if it is what is wanted.
static bool use(struct registrations *all, int i, uintptr_t begin, uintptr_t end, uint32_t access) {
  struct registration *r = &all->slots[i];
  if (!holds(r, begin, end, access)) return false;
  int users = atomic_load_explicit(&r->users, memory_order_relaxed);
  do {
    if (users < 0) return false;
  } while (!atomic_compare_exchange_weak_explicit(&r->users, &users, users + 1,
                                                  memory_order_acquire, memory_order_relaxed));
  if (!holds(r, begin, end, access)) {
    registrations_release(all, i);
    return false;
  }
  atomic_store_explicit(&r->used, atomic_load_explicit(&all->clock, memory_order_relaxed),
                        memory_order_relaxed);
  return true;
}

static int find(struct registrations *all, uintptr_t begin, uintptr_t end, uint32_t access) {
  for (int i = 0; i < REGISTRATIONS; ++i)
    if (use(all, i, begin, end, access)) return i;
  return -1;
}

static bool overlaps(const struct registration *r, uintptr_t begin, uintptr_t end) {
  return atomic_load(&r->users) >= 0 && atomic_load(&r->end) > begin &&
         atomic_load(&r->begin) < end;
}

// Nobody finds it any more.
static void hide(struct registration *r) {
  atomic_store(&r->begin, 0);
  atomic_store(&r->end, 0);
}

// Takes a registration without users out of the table. Under the mutex.
static bool forget(struct registrations *all, struct registration *r) {
  int none = 0;
  if (!atomic_compare_exchange_strong(&r->users, &none, -1)) return false;
  hide(r);
  all->registrar.remove(all->registrar.adapter, &r->as);
  return true;
}

// Tells the adapter of what has gone. Under the mutex.
static void clear_up(struct registrations *all) {
  for (int i = 0; i < REGISTRATIONS; ++i) {
    struct registration *r = &all->slots[i];
    if (atomic_load(&r->users) == 0 && atomic_load(&r->end) == 0) forget(all, r);
  }
}

// The slot of what was used longest ago, which is empty now; null: calls use all that there is.
// Under the mutex.
static struct registration *forget_oldest(struct registrations *all) {
  for (int attempt = 0; attempt < REGISTRATIONS; ++attempt) {
    struct registration *oldest = NULL;
    for (int i = 0; i < REGISTRATIONS; ++i) {
      struct registration *r = &all->slots[i];
      if (atomic_load(&r->users) == 0 &&
          (!oldest || atomic_load(&r->used) < atomic_load(&oldest->used)))
        oldest = r;
    }
    if (!oldest) return NULL;
    if (forget(all, oldest)) return oldest;
  }
  return NULL;
}

// An empty slot, or one made empty; null: calls use all of them. Under the mutex.
static struct registration *empty_slot(struct registrations *all) {
  for (int i = 0; i < REGISTRATIONS; ++i)
    if (atomic_load(&all->slots[i].users) < 0) return &all->slots[i];
  return forget_oldest(all);
}

bool registrations_make_room(struct registrations *all) {
  pthread_mutex_lock(&all->mutex);
  const bool made = forget_oldest(all) != NULL;
  pthread_mutex_unlock(&all->mutex);
  return made;
}

static int add(struct registrations *all, uintptr_t begin, uintptr_t end, uint32_t access) {
  clear_up(all);
  struct registration *r = empty_slot(all);
  if (!r) return NBC_ERROR_RESOURCES;
  int status;
  do
    status = all->registrar.add(all->registrar.adapter, (void *)begin, end - begin, access, &r->as);
  while (status == NBC_ERROR_RESOURCES && registrations_make_room(all));
  if (status) return status;
  atomic_store(&r->access, access);
  atomic_store(&r->declared, false);
  atomic_store(&r->used, atomic_fetch_add(&all->clock, 1) + 1);
  atomic_store(&r->end, end);
  atomic_store(&r->begin, begin);
  atomic_store_explicit(&r->users, 1, memory_order_release);
  return (int)(r - all->slots);
}

int registrations_acquire(struct registrations *all, const void *memory, size_t bytes,
                          uint32_t access, int hint, bool *made) {
  uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
  *made = false;
  if (end < begin) return NBC_ERROR_ARGUMENT;
  if (hint >= 0 && use(all, hint, begin, end, access)) return hint;
  int i = find(all, begin, end, access);
  if (i >= 0) return i;
  pthread_mutex_lock(&all->mutex);
  i = find(all, begin, end, access);  // another thread may have been faster
  if (i < 0) {
    i = add(all, begin, end, access);
    *made = i >= 0;
  }
  pthread_mutex_unlock(&all->mutex);
  return i;
}

void registrations_release(struct registrations *all, int registration) {
  struct registration *r = &all->slots[registration];
  int others = atomic_fetch_sub_explicit(&r->users, 1, memory_order_release) - 1;
  if (others || all->keep || atomic_load(&r->declared)) return;
  pthread_mutex_lock(&all->mutex);
  forget(all, r);  // unless somebody has become a user
  pthread_mutex_unlock(&all->mutex);
}

int registrations_declare(struct registrations *all, void *begin, size_t bytes, uint32_t access) {
  bool made;
  int i = registrations_acquire(all, begin, bytes, access, -1, &made);
  if (i < 0) return i;
  atomic_store(&all->slots[i].declared, true);
  registrations_release(all, i);
  return 0;
}

int registrations_forget(struct registrations *all, const void *memory, size_t bytes) {
  uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
  if (end < begin) return NBC_ERROR_ARGUMENT;
  int status = 0;
  pthread_mutex_lock(&all->mutex);
  for (int i = 0; i < REGISTRATIONS; ++i) {
    struct registration *r = &all->slots[i];
    if (overlaps(r, begin, end) && !forget(all, r)) status = NBC_ERROR_BUSY;
  }
  pthread_mutex_unlock(&all->mutex);
  return status;
}

void registrations_gone(struct registrations *all, const void *memory, size_t bytes) {
  uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
  for (int i = 0; i < REGISTRATIONS; ++i) {
    struct registration *r = &all->slots[i];
    if (overlaps(r, begin, end)) hide(r);
  }
}
