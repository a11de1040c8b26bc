// SPDX-License-Identifier: BSD-3-Clause
// yield.c - loaded before MPICH, makes its ranks let each other run.
//
// MPICH polls its network, UCX, and never gives the processor away. Where ranks outnumber cores, a
// call of microseconds then takes as many turns of the scheduler as it has rounds. Here each poll
// that found nothing yields. For tests of what is right, not of how long it takes.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
  static unsigned (*progress)(void *);
  if (!progress) *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
  unsigned found = progress(worker);
  if (!found) sched_yield();
  return found;
}
