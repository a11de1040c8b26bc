// SPDX-License-Identifier: BSD-3-Clause
// progress.h - a thread that moves the calls of a communicator on while the application computes.
//
// Where there is one, a plan has two users, and its lock is taken by both: in nbc_start, nbc_test
// and nbc_wait, for as long as they last, and by the thread for one look at a time. Without one
// nothing is locked. The thread never waits for a plan: who holds its lock moves it on.

#pragma once

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/src/plan.h"

struct progress {
  nbc_comm *comm;
  pthread_t thread;
  pthread_mutex_t mutex;  // of what follows; taken before a plan's lock
  atomic_bool asleep;     // and somebody has to wake it
  bool stop;
  nbc_plan *plans;  // connected
  int bell;         // an event descriptor: wakes it
  // The thread's own: what it sleeps on, the bell first.
  struct pollfd *files;
  size_t file_room;
  bool tells;  // some plan did, when it slept last
};

// NBC_ERROR_THREADS: a device of the communicator cannot have one.
int progress_start(nbc_comm *);
// There are no plans any more. Does nothing where there is no thread; likewise the others.
void progress_stop(nbc_comm *);
void progress_add(nbc_plan *);
void progress_remove(nbc_plan *);
void progress_wake_up(struct progress *);

static inline void plan_lock(nbc_plan *plan) {
  if (plan->progress) pthread_mutex_lock(plan->lock);
}
// False: it is being moved on.
static inline bool plan_try_lock(nbc_plan *plan) {
  return !plan->progress || pthread_mutex_trylock(plan->lock) == 0;
}
static inline void plan_unlock(nbc_plan *plan) {
  if (plan->progress) pthread_mutex_unlock(plan->lock);
}
// After a call was started, and the plan unlocked.
static inline void progress_wake(nbc_plan *plan) {
  struct progress *p = plan->progress;
  if (p && atomic_load_explicit(&p->asleep, memory_order_relaxed)) progress_wake_up(p);
}
