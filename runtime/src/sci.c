// SPDX-License-Identifier: BSD-3-Clause
// sci.c - target sci: who is silent, and how nbc_wait waits, and a progress thread.
//
// A peer that is gone is not always told of: so of who is waited for, and has said nothing for a
// while, the connection is checked. That stores nothing.

#define _GNU_SOURCE  // sched_yield, clock_gettime, nanosleep
#include "runtime/src/sci.h"

#include <sched.h>
#include <time.h>

#define SILENCE INT64_C(200000000)  // nanoseconds

int64_t sci_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void check_connection(struct sci_lane *l) {
  sci_error_t error = SCI_ERR_OK;
  if (!l->broken &&
      (l->of->api->SCICheckSequence(l->sequence, 0, &error) != SCI_SEQ_OK || error != SCI_ERR_OK)) {
    l->broken = true;
    l->since = 0;
  }
  sci_holds(l);
}

static void check_the_silent(struct sci *v) {
  const int64_t time = sci_now();
  if (v->looked && time - v->looked < SILENCE) return;
  const bool first = v->looked == 0;
  v->looked = time;
  if (first) return;
  for (uint32_t i = 0; i < v->lane_count && !v->status; ++i) {
    struct sci_lane *l = &v->lanes[i];
    if (!l->heard && sci_waits(l)) check_connection(l);
    l->heard = false;
  }
}

// While nbc_wait yields, it looks at all lanes now and then; once it sleeps, each time.
enum { SELDOM_IDLE = 16, NAP = 20000 /* nanoseconds */ };

static bool failed(nbc_plan *plan) {
  struct sci *v = sci_of(plan);
  if (!v || messages_failed(plan)) return messages_failed(plan);
  if ((v->ready || v->idle % SELDOM_IDLE == 0) && !v->status) check_the_silent(v);
  return v->status < 0;
}

static bool glance(nbc_plan *plan) {
  enum { SELDOM = 256 };
  struct sci *v = sci_of(plan);
  if (v && ++v->glances % SELDOM == 0 && !v->status) check_the_silent(v);
  return messages_failed(plan) || (v && v->status < 0);
}

static bool sleep_a_while(nbc_plan *plan) {
  static const struct timespec nap = {0, NAP};
  struct sci *v = sci_of(plan);
  if (!v) return false;
  if (v->idle++ < v->device->facts.patience)
    sched_yield();
  else if (v->ready)
    v->ready = !sci_sleep(v);
  else if (sci_may_sleep(v))
    v->ready = true;  // after one more look
  else if (v->device->facts.sleep)
    nanosleep(&nap, NULL);
  return true;
}

// Without calls nobody is waited for: whoever starts one wakes the thread.
static int arm(nbc_plan *plan) {
  struct sci *v = sci_of(plan);
  return v && plan->oldest && sci_may_sleep(v) ? v->bell : -1;
}

// --- the target ---

// Whatever is longer than a slot goes in several.
static uint64_t longest(const nbc_plan *plan) {
  (void)plan;
  return INT64_MAX;
}

static void keep_lanes_warm(nbc_plan *plan) {
  enum { FEW = 4 };  // lanes: a call with more waits for them as they come
  const struct sci *v = sci_of(plan);
  struct warm *w = &plan->warm;
  messages_keep_warm(plan);
  if (!v) return;
  keep_warm(w, v, sizeof *v);
  keep_warm(w, v->device, sizeof *v->device);
  keep_warm(w, v->api, sizeof *v->api);
  keep_warm(w, v->lanes, (v->lane_count < FEW ? v->lane_count : FEW) * sizeof *v->lanes);
}

const struct target sci = {
    .name = NBC_SCI_TARGET,
    // The host's work is done at once: nobody else would store what follows it.
    .host_waits = false,
    .eager_bytes = NBC_SCI_SLOT_BYTES,
    .transfers = 1u << NBC_TRANSFER_PIO | 1u << NBC_TRANSFER_DMA,
    .longest = longest,
    .check = messages_check,
    .create = sci_create,
    .connect = messages_connect,
    .keep_warm = keep_lanes_warm,
    .prepare = messages_prepare,
    .admit = messages_admit,
    .enable = messages_enable,
    .poll = messages_poll,
    .lingers = messages_linger,
    .complete = messages_complete,
    .failed = failed,
    .glance = glance,
    .arm = arm,
    .sleep = sleep_a_while,
    .destroy = sci_destroy,
};
