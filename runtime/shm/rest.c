// SPDX-License-Identifier: BSD-3-Clause
// rest.c - waiting, and who has died meanwhile.
//
// spin    while it may be a matter of nanoseconds, if nobody else wants the core
// yield   then, or at once where ranks outnumber cores
// sleep   when that has not helped: twice as long from time to time, up to half a millisecond

#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "runtime/shm/shm.h"

enum {
  SPINS = 5000,
  YIELDS = 2000,
  SLEEPS = 16,  // before they get longer
  SHORTEST = 10000,
  LONGEST = 500000,
  LOOK_EACH = 8  // calls: even the coarse clock costs a little
};
#define LOOK_AFTER INT64_C(200000000)  // ns

void lanes_rest(struct nbc_shm_lanes *lanes) {
  // Once, if others want the core: where something has moved there may be more, as of a long
  // message the next part.
  uint32_t spins = lanes->shm->own_cores ? SPINS : 1;
  uint32_t idle = lanes->idle;
  if (idle < UINT32_MAX) ++lanes->idle;
  lanes->looks = WAITS;
  if (idle < spins) {
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
    return;
  }
  idle -= spins;
  if (idle < YIELDS) {
    sched_yield();
    return;
  }
  uint32_t doubled = (idle - YIELDS) / SLEEPS;
  long ns = doubled < 6 ? SHORTEST << doubled : LONGEST;
  nanosleep(&(struct timespec){.tv_nsec = ns < LONGEST ? ns : LONGEST}, NULL);
}

static bool gone(const struct lane *l) {
  if (process_died(l->peer->process)) return true;
  return (l->receives.first && atomic_load(&l->in.supply->closed)) ||
         ((l->posted.first || l->owed.first || l->waiting.first) &&
          atomic_load(&l->out.note->closed));
}

int lanes_lost(struct nbc_shm_lanes *lanes) {
  if (++lanes->glances % LOOK_EACH) return 0;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  int64_t now = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
  if (now - lanes->looked < LOOK_AFTER) return 0;
  lanes->looked = now;
  for (uint32_t i = 0; i < lanes->count; ++i) {
    struct lane *l = &lanes->lanes[i];
    if (!lane_busy(l) || !gone(l)) continue;
    // What it has left behind may be all that was missing.
    if (lane_move(lanes, i) || lane_busy(l)) return NBC_ERROR_DEVICE;
  }
  return 0;
}
