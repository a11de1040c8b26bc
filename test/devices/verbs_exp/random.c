// SPDX-License-Identifier: BSD-3-Clause
// random.c - random groups of waits and enables, against a count of what they must let happen.
//
// The master's queue is the only one that lets the managed one go on. So its requests are carried
// out one by one, each as soon as it may, until one waits for what never comes; which is told by
// counting sends that are enabled, and the master's own entries.

#include <time.h>

#include "bed.h"

enum { PROGRAMS = 60, OPERATIONS = 14, SENDS = 20 };

static uint64_t state;
static unsigned below(unsigned n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

// Where counts begin, and the longest of the group that is open.
struct count {
  unsigned base, group;
};

static unsigned counted(struct count *c, unsigned count, int last) {
  unsigned target = c->base + count;
  if (count > c->group) c->group = count;
  if (last) c->base += c->group, c->group = 0;
  return target;
}

static void program(struct bed *bed) {
  struct ibv_cq *cqs[3] = {bed->send_cq, bed->recv_cq, bed->master_cq};
  struct count waits[3] = {{0, 0}, {0, 0}, {0, 0}}, enables = {0, 0};
  unsigned posted = 0, started = 0, told = 0;
  int stuck = 0;
  for (int i = 0; i < OPERATIONS; ++i) {
    for (unsigned more = below(4); more && posted < SENDS; --more, ++posted)
      DEMAND(post(bed, bed->qp, posted, IBV_EXP_WR_SEND) == 0);
    int signalled = below(2) != 0, last = below(3) != 0, passes = 1;
    uint64_t flags = (signalled ? IBV_EXP_SEND_SIGNALED : 0u) |
                     (last ? (uint64_t)IBV_EXP_SEND_WAIT_EN_LAST : 0u);
    struct ibv_exp_send_wr wr;
    if (below(2)) {
      unsigned count = below(5), target;
      wr = enable(bed->qp, (int)count, (uint64_t)i, flags);
      if (count > posted - enables.base) {
        DEMAND(ibv_exp_post_send(bed->master, &wr, NULL) == EINVAL);
        continue;
      }
      target = counted(&enables, count ? count : posted - enables.base, last);
      if (!stuck && target > started) started = target;
    } else {
      unsigned which = below(3), count = below(4);
      wr = wait_for(cqs[which], (int)count, (uint64_t)i, flags);
      unsigned target = counted(&waits[which], count, last);
      passes = target <= (which == 2 ? told : started);
    }
    DEMAND(ibv_exp_post_send(bed->master, &wr, NULL) == 0);
    stuck |= !passes;
    told += !stuck && signalled;
  }
  await_entries(bed, bed->master_cq, (int)told);
  await_entries(bed, bed->send_cq, (int)started);
  await_entries(bed, bed->recv_cq, (int)started);
  struct timespec time = {0, 2 * 1000 * 1000};
  nanosleep(&time, NULL);
  for (int i = 0; i < 3; ++i) DEMAND(ibv_poll_cq(cqs[i], 1, bed->wc) == 0);
}

static void groups(void) {
  const struct wish managed = {.flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL |
                                        IBV_EXP_QP_CREATE_MANAGED_SEND};
  for (state = 1; state <= PROGRAMS;) {
    uint64_t seed = state;
    struct bed bed = make_bed(&managed);
    fprintf(stderr, "  program %d\n", (int)seed);
    program(&bed);
    end_bed(&bed);
    state = seed + 1;
  }
}

const struct rule random_rules[] = {{"random-groups", groups}, {NULL, NULL}};
