// SPDX-License-Identifier: BSD-3-Clause
// rest.c - waiting, and who has died meanwhile.
//
// spin    while it may be a matter of nanoseconds, if nobody else wants the core
// yield   then, or at once where ranks outnumber cores
// sleep   when that has not helped: twice as long from time to time, up to half a millisecond
//
// Ranks that outnumber cores are known by their masks; of ranks in other communicators, of threads
// and other programs the system tells how often it has given the core away.

#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime/shm/shm.h"

enum {
  SPINS = 5000,
  YIELDS = 2000,
  AT_ONCE = 4,     // of these, as long as nothing has come
  FEW_LANES = 16,  // which are quickly looked at
  SLEEPS = 64,     // before they get longer: 1 or 2 % of what has been waited
  SHORTEST = 10000,
  LONGEST = 500000,
  LOOK_EACH = 8  // calls: even the coarse clock costs a little
};
#define LOOK_AFTER INT64_C(200000000)  // ns

// --- who else wants the core ---

enum {
  LONG_WAIT = 32,  // rests, some microseconds
  FEW_WAITS = 4,   // after which the system is asked
  MANY_WAITS = 64,
  FEW_SWITCHES = 2,
  MANY_YIELDS = 64
};

struct crowd {
  bool crowded;
  uint32_t waits, yields;
  long switches;  // of the thread's, when these began to be counted
};
static _Thread_local struct crowd crowd;

// Whether the thread has lost its core that often: sched_yield() counts if another has run. `anew`:
// even if not, counting begins anew.
static void judge(struct crowd *c, long switches, bool anew) {
  struct rusage u;
  if (getrusage(RUSAGE_THREAD, &u)) return;
  c->crowded = u.ru_nivcsw - c->switches >= switches;
  if (!c->crowded && !anew) return;
  c->switches = u.ru_nivcsw;
  c->waits = c->yields = 0;
}

// One that is wrong about it spins in vain a few times, or yields in vain.
static bool is_crowded(struct crowd *c, uint32_t idle) {
  if (c->crowded && c->yields >= MANY_YIELDS)
    judge(c, MANY_YIELDS / 4, true);
  else if (!c->crowded && idle == LONG_WAIT && ++c->waits % FEW_WAITS == 0)
    judge(c, FEW_SWITCHES, c->waits >= MANY_WAITS);
  return c->crowded;
}

// Whether there may be something to move, by a look at one word of each lane that only receives.
static bool stirs(const struct nbc_shm_lanes *lanes) {
  if (lanes->owed || lanes->count > FEW_LANES) return true;
  for (uint32_t i = 0; i < lanes->count; ++i) {
    const struct lane *l = &lanes->lanes[i];
    if (l->posted.first || l->owed.first || l->waiting.first) return true;
    if (l->receives.first && lane_filled(l)) return true;
  }
  return false;
}

int lanes_rest(struct nbc_shm_lanes *lanes) {
  uint32_t idle = lanes->idle;
  // Once, if others want the core: where something has moved there may be more, as of a long
  // message the next part.
  uint32_t spins = lanes->shm->own_cores && !is_crowded(&crowd, idle) ? SPINS : 1;
  if (idle < UINT32_MAX) ++lanes->idle;
  lanes->looks = WAITS;
  if (idle < spins) {
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
    return 0;
  }
  idle -= spins;
  if (idle < YIELDS) {
    // The way up to who waits, and back by all that may move, takes as long as a rank that shares
    // the core may need to send.
    uint32_t yields = 0;
    do {
      ++crowd.yields;
      sched_yield();
    } while (++yields < AT_ONCE && !stirs(lanes));
    lanes->idle += yields - 1;
    return 1;
  }
  uint32_t doubled = (idle - YIELDS) / SLEEPS;
  long ns = doubled < 6 ? SHORTEST << doubled : LONGEST;
  nanosleep(&(struct timespec){.tv_nsec = ns < LONGEST ? ns : LONGEST}, NULL);
  return 1;
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
