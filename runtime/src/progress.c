// SPDX-License-Identifier: BSD-3-Clause
// progress.c - the thread: look at all plans, pause, look again; where it is told, or without
// calls, sleep.
//
//   calls under way            pauses, then looks again; without, if a look has moved something on
//   all of them tell           asleep, until the device has something (arm in targets.h)
//   none, IDLE looks in a row  asleep, until nbc_start wakes it
//
// Calls that somebody stays with (nbc_start_attended) count for none.
//
// MPI has nothing to sleep on, so there are pauses: short ones take the core away from the
// application, long ones leave the network without work. The first is longer than a short call,
// which then never sees the thread; the more time passes without anything to do, the longer they
// are, up to what a socket's buffers last (DESIGN.md has figures). It does not sleep as soon as
// there is nothing to do, since waking it is a system call, which nbc_start would pay between any
// two calls in a row. An adapter wakes it by itself, so there it sleeps whenever there is nothing
// to do, and nbc_start wakes nobody.
//
// No wake-up is lost. `asleep` is set first; then each plan is armed under its lock, and
// looked at once more. Who starts a call later finds it armed, or wakes the thread. Who waits for a
// call may be told in its place, and then no plan is armed: whoever leaves calls under way
// behind wakes it. A plan that is being moved on by somebody else is not armed, so then it does not
// sleep.

#define _GNU_SOURCE  // prctl
#include "runtime/src/progress.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { IDLE = 10 };
// Nanoseconds; PART: a pause is that part of the time in which nothing has happened.
enum { SHORTEST = 200000, LONGEST = 2000000, PART = 4 };

struct seen {
  bool busy, moved;
  bool attended;   // somebody else is moving a plan on
  uint64_t calls;  // that plans have had, if none is attended
};

// With the mutex held. A plan that somebody else is moving on is busy.
static struct seen look_at_all(struct progress *p) {
  struct seen seen = {0};
  for (nbc_plan *plan = p->plans; plan; plan = plan->next_of_thread) {
    if (!__atomic_load_n(&plan->left, __ATOMIC_RELAXED)) continue;
    if (pthread_mutex_trylock(plan->lock)) {
      seen.busy = seen.attended = true;
      continue;
    }
    seen.calls += plan->info.calls;
    seen.moved |= plan_move(plan);
    seen.busy |= plan->left != 0;
    pthread_mutex_unlock(plan->lock);
  }
  return seen;
}

// With the mutex held, which others get meanwhile.
static void wait_a_while(struct progress *p, long pause) {
  const struct timespec t = {0, pause};
  pthread_mutex_unlock(&p->mutex);
  nanosleep(&t, NULL);
  pthread_mutex_lock(&p->mutex);
}

// Room for what `count` plans tell by.
static bool make_room(struct progress *p, size_t count) {
  if (count + 1 <= p->file_room) return true;
  struct pollfd *files = (struct pollfd *)realloc(p->files, 2 * (count + 1) * sizeof *files);
  if (!files) return false;
  p->files = files;
  p->file_room = 2 * (count + 1);
  return true;
}

enum readiness { NOT_YET, MAY_SLEEP, MAY_SLEEP_BUSY };

// With the mutex held. A plan without calls that tells of nothing is left to who starts one.
static enum readiness arm_all(struct progress *p, nfds_t *count) {
  enum readiness ready = MAY_SLEEP;
  size_t plans = 0;
  for (nbc_plan *plan = p->plans; plan; plan = plan->next_of_thread) ++plans;
  if (!make_room(p, plans)) return NOT_YET;
  *count = 0;
  p->files[(*count)++] = (struct pollfd){p->bell, POLLIN, 0};
  for (nbc_plan *plan = p->plans; plan && ready != NOT_YET; plan = plan->next_of_thread) {
    if (pthread_mutex_trylock(plan->lock)) return NOT_YET;
    const int descriptor = plan->target->arm ? plan->target->arm(plan) : -1;
    plan->armed = descriptor >= 0;
    if (plan->armed) p->files[(*count)++] = (struct pollfd){descriptor, POLLIN, 0};
    if (plan->left) ready = plan->armed && !plan_move(plan) ? MAY_SLEEP_BUSY : NOT_YET;
    pthread_mutex_unlock(plan->lock);
  }
  p->tells = *count > 1;
  return ready;
}

// An adapter says nothing of a peer that is gone. So with calls under way it looks now and then.
enum { SELDOM = 100 /* milliseconds */ };

static void look_after_all(struct progress *p) {
  for (nbc_plan *plan = p->plans; plan; plan = plan->next_of_thread) {
    if (pthread_mutex_trylock(plan->lock)) continue;
    plan_look_after(plan);
    pthread_mutex_unlock(plan->lock);
  }
}

// With the mutex held, which others get meanwhile. False: it must not sleep now. *called: a call
// was started of a plan that does not tell.
static bool sleep_until_woken(struct progress *p, bool *called) {
  nfds_t count = 0;
  uint64_t rings;
  *called = false;
  atomic_store(&p->asleep, true);
  const enum readiness ready = p->stop ? NOT_YET : arm_all(p, &count);
  if (ready != NOT_YET) {
    pthread_mutex_unlock(&p->mutex);
    const int told = poll(p->files, count, ready == MAY_SLEEP ? -1 : SELDOM);
    *called = told > 0 && p->files[0].revents && read(p->bell, &rings, sizeof rings) > 0;
    pthread_mutex_lock(&p->mutex);
    if (told == 0) look_after_all(p);
  }
  atomic_store(&p->asleep, false);
  return ready != NOT_YET;
}

static long pause_after(long quiet) {
  const long pause = quiet / PART;
  return pause < SHORTEST ? SHORTEST : pause > LONGEST ? LONGEST : pause;
}

static void *run(void *context) {
  struct progress *p = (struct progress *)context;
  const struct nbc_bootstrap *b = &p->comm->bootstrap;
  int idle = 0;
  long quiet = 0;      // nanoseconds in which nothing has happened
  uint64_t calls = 0;  // at the last look
  if (b->thread) b->thread(b->context);
  prctl(PR_SET_TIMERSLACK, 1000);  // or pauses would be longer by 50 us
  pthread_mutex_lock(&p->mutex);
  while (!p->stop) {
    const struct seen seen = look_at_all(p);
    if (seen.moved || seen.attended || !seen.busy || seen.calls != calls) quiet = 0;
    calls = seen.calls;
    if (seen.moved) {
      pthread_mutex_unlock(&p->mutex);  // for who makes or frees a plan
      sched_yield();
      pthread_mutex_lock(&p->mutex);
      continue;
    }
    idle = seen.busy ? 0 : idle + 1;
    if (seen.busy || idle >= IDLE) {
      bool called;
      bool slept = sleep_until_woken(p, &called);
      if (slept && !called) continue;
      idle = 0;
      // Those that are armed next need no pause.
      if (called && p->tells) continue;
    }
    const long pause = pause_after(quiet);
    quiet += pause;
    wait_a_while(p, pause);
  }
  pthread_mutex_unlock(&p->mutex);
  return NULL;
}

void progress_wake_up(struct progress *p) {
  const uint64_t once = 1;
  // Fails where it has been rung 2^64 times, and nobody has come.
  if (atomic_exchange(&p->asleep, false) && write(p->bell, &once, sizeof once) < 0) sched_yield();
}

// The application's signals are not for this thread. Those of its own accesses are: a handler may
// know what to do, as SISCI in software does, and blocked they end the process.
static int create_thread(struct progress *p) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  sigset_t all, before;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof own / sizeof *own; ++i) sigdelset(&all, own[i]);
  if (pthread_sigmask(SIG_BLOCK, &all, &before)) return NBC_ERROR_RESOURCES;
  int failed = pthread_create(&p->thread, NULL, run, p);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed ? NBC_ERROR_RESOURCES : 0;
}

static void end(struct progress *p) {
  if (p->bell >= 0) close(p->bell);
  pthread_mutex_destroy(&p->mutex);
  free(p->files);
  free(p);
}

int progress_start(nbc_comm *comm) {
  if (comm->progress) return 0;
  for (size_t i = 0; i < comm->device_count; ++i)
    if (comm->devices[i].device->one_thread) return NBC_ERROR_THREADS;
  struct progress *p = (struct progress *)calloc(1, sizeof *p);
  if (!p) return NBC_ERROR_MEMORY;
  p->comm = comm;
  pthread_mutex_init(&p->mutex, NULL);  // cannot fail on Linux
  p->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int status = p->bell < 0 ? NBC_ERROR_RESOURCES : create_thread(p);
  if (status) {
    end(p);
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
  pthread_mutex_unlock(&p->mutex);
  progress_wake_up(p);
  pthread_join(p->thread, NULL);
  end(p);
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
