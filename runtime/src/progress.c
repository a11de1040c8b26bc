// SPDX-License-Identifier: BSD-3-Clause
// progress.c - the thread: look at all plans, pause, look again; without calls, sleep.
//
//   calls under way            looks again after PAUSE; at once, if the look has moved something on
//   none, IDLE looks in a row  asleep, until nbc_start wakes it
//
// MPI has nothing to sleep on, so there are pauses: short ones take the core away from the
// application, long ones leave the network without work. This one is less than a socket's buffers
// last, and longer than a short call, which then never sees the thread (DESIGN.md has figures). It
// does not sleep as soon as there is nothing to do, since waking it is a system call, which
// nbc_start would pay between any two calls in a row.

#define _GNU_SOURCE  // prctl
#include "runtime/src/progress.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { PAUSE = 200000 /* nanoseconds */, IDLE = 10 };

struct seen {
  bool busy, moved;
};

// With the mutex held. A plan that somebody else is moving on is busy.
static struct seen look_at_all(struct progress *p) {
  struct seen seen = {false, false};
  for (nbc_plan *plan = p->plans; plan; plan = plan->next_of_thread) {
    if (pthread_mutex_trylock(&plan->lock)) {
      seen.busy = true;
      continue;
    }
    seen.moved |= plan_move(plan);
    seen.busy |= plan->oldest != NULL;
    pthread_mutex_unlock(&plan->lock);
  }
  return seen;
}

// With the mutex held, which others get meanwhile.
static void wait_a_while(struct progress *p) {
  const struct timespec t = {0, PAUSE};
  pthread_mutex_unlock(&p->mutex);
  nanosleep(&t, NULL);
  pthread_mutex_lock(&p->mutex);
}

// Whoever starts a call after the look finds `asleep` set, since both have held the plan's lock.
static void sleep_until_woken(struct progress *p) {
  atomic_store(&p->asleep, true);
  if (!look_at_all(p).busy)
    while (atomic_load(&p->asleep) && !p->stop) pthread_cond_wait(&p->wakes, &p->mutex);
  atomic_store(&p->asleep, false);
}

static void *run(void *context) {
  struct progress *p = (struct progress *)context;
  int idle = 0;
  prctl(PR_SET_TIMERSLACK, 1000);  // or pauses would be longer by 50 us
  pthread_mutex_lock(&p->mutex);
  while (!p->stop) {
    struct seen seen = look_at_all(p);
    if (seen.moved) {
      pthread_mutex_unlock(&p->mutex);  // for who makes or frees a plan
      sched_yield();
      pthread_mutex_lock(&p->mutex);
      continue;
    }
    idle = seen.busy ? 0 : idle + 1;
    if (idle == IDLE) {
      sleep_until_woken(p);
      idle = 0;
    }
    wait_a_while(p);
  }
  pthread_mutex_unlock(&p->mutex);
  return NULL;
}

void progress_wake_up(struct progress *p) {
  pthread_mutex_lock(&p->mutex);
  atomic_store(&p->asleep, false);
  pthread_cond_signal(&p->wakes);
  pthread_mutex_unlock(&p->mutex);
}

// The application's signals are not for this thread.
static int create_thread(struct progress *p) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_BLOCK, &all, &before)) return NBC_ERROR_RESOURCES;
  int failed = pthread_create(&p->thread, NULL, run, p);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed ? NBC_ERROR_RESOURCES : 0;
}

int progress_start(nbc_comm *comm) {
  if (comm->progress) return 0;
  for (size_t i = 0; i < comm->device_count; ++i)
    if (comm->devices[i].device->one_thread) return NBC_ERROR_THREADS;
  struct progress *p = (struct progress *)calloc(1, sizeof *p);
  if (!p) return NBC_ERROR_MEMORY;
  pthread_mutex_init(&p->mutex, NULL);  // cannot fail on Linux, nor the next
  pthread_cond_init(&p->wakes, NULL);
  int status = create_thread(p);
  if (status) {
    pthread_cond_destroy(&p->wakes);
    pthread_mutex_destroy(&p->mutex);
    free(p);
    return status;
  }
  comm->progress = p;
  return 0;
}

void progress_stop(nbc_comm *comm) {
  struct progress *p = comm->progress;
  if (!p) return;
  comm->progress = NULL;
  pthread_mutex_lock(&p->mutex);
  p->stop = true;
  pthread_cond_signal(&p->wakes);
  pthread_mutex_unlock(&p->mutex);
  pthread_join(p->thread, NULL);
  pthread_cond_destroy(&p->wakes);
  pthread_mutex_destroy(&p->mutex);
  free(p);
}

void progress_add(nbc_plan *plan) {
  struct progress *p = plan->progress;
  if (!p) return;
  pthread_mutex_lock(&p->mutex);
  plan->next_of_thread = p->plans;
  p->plans = plan;
  pthread_mutex_unlock(&p->mutex);
}

void progress_remove(nbc_plan *plan) {
  struct progress *p = plan->progress;
  if (!p) return;
  pthread_mutex_lock(&p->mutex);
  nbc_plan **at = &p->plans;
  while (*at && *at != plan) at = &(*at)->next_of_thread;
  if (*at) *at = plan->next_of_thread;
  pthread_mutex_unlock(&p->mutex);
}
