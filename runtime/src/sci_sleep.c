// SPDX-License-Identifier: BSD-3-Clause
// sci_sleep.c - who waits for peers sleeps, and is woken by an interrupt.
//
//   who sleeps                          its peer
//   stores n into `asleep`; check: OK   stores words; check: OK
//   looks at its own memory             looks at `asleep`: is it a number not answered yet?
//   sleeps                              then interrupts
//
// Each knows that its store has arrived before it looks, so they cannot both miss what the other
// stored. Nobody is interrupted who does not sleep. Each number is answered once; an interrupt that
// came calls for new numbers, and so do words of the peer's, behind which its answer may be.
//
// Interrupts may be late, or two of them one: then who sleeps looks for nothing, or at both. One
// that is lost, or was of no use, costs the time that one sleep lasts at most.
//
// The bell is an event descriptor, as that is what a progress thread sleeps on. It is rung by an
// interrupt, by the end of a transfer, and by a connection that is lost: on a thread of the
// library's, which knows the descriptor and no memory of the plan.

#define _GNU_SOURCE  // eventfd, nanosleep
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "runtime/src/sci.h"

// --- the bell ---

static void *as_context(int bell) {
  return (void *)(intptr_t)bell;
}

static void ring(void *bell) {
  const uint64_t once = 1;
  // Fails where it has been rung 2^64 times, and nobody has come.
  if (write((int)(intptr_t)bell, &once, sizeof once) < 0) sched_yield();
}

void sci_ring(const struct sci *v) {
  if (v->bell >= 0) ring(as_context(v->bell));
}

static bool was_rung(const struct sci *v) {
  uint64_t rings;
  return read(v->bell, &rings, sizeof rings) > 0;
}

static sci_callback_action_t interrupted(void *bell, sci_local_interrupt_t interrupt,
                                         sci_error_t status) {
  (void)interrupt, (void)status;
  ring(bell);
  return SCI_CALLBACK_CONTINUE;
}

static sci_callback_action_t transfer_ended(void *bell, sci_dma_queue_t queue, sci_error_t status) {
  (void)queue, (void)status;
  ring(bell);
  return SCI_CALLBACK_CONTINUE;
}

struct sci_ending sci_when_transfer_ends(const struct sci *v) {
  if (v->bell < 0) return (struct sci_ending){NULL, NULL, 0};
  return (struct sci_ending){transfer_ended, as_context(v->bell), SCI_FLAG_USE_CALLBACK};
}

bool sci_busy_yet(sci_error_t error, int *tries) {
  static const struct timespec nap = {0, 20000};
  if (error != SCI_ERR_BUSY || ++*tries > 5000) return false;
  nanosleep(&nap, NULL);
  return true;
}

// --- made and taken down ---

int sci_listen(struct sci *v) {
  sci_error_t error = SCI_ERR_OK;
  if (!v->device->facts.interrupts) return 0;
  v->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (v->bell < 0) return NBC_ERROR_RESOURCES;
  v->api->SCICreateInterrupt(v->descriptor, &v->interrupt, v->device->adapter, &v->interrupt_number,
                             interrupted, as_context(v->bell), SCI_FLAG_USE_CALLBACK, &error);
  if (error == SCI_ERR_OK) return 0;
  v->interrupt = NULL;
  return NBC_ERROR_RESOURCES;
}

int sci_connect_interrupt(struct sci_lane *l, unsigned int node, unsigned int number) {
  const struct sci *v = l->of;
  const uint32_t timeout = v->device->facts.timeout;
  const int64_t begin = sci_now();
  sci_error_t error = SCI_ERR_OK;
  do {
    v->api->SCIConnectInterrupt(l->descriptor, &l->interrupt, node, v->device->adapter, number,
                                timeout, 0, &error);
    if (error == SCI_ERR_OK) return 0;
    l->interrupt = NULL;
  } while ((error == SCI_ERR_NO_SUCH_INTNO || error == SCI_ERR_BUSY || error == SCI_ERR_TIMEOUT) &&
           sci_now() - begin < timeout * INT64_C(1000000));
  return NBC_ERROR_DEVICE;
}

// --- the peer's sleep ---

void sci_answer(struct sci_lane *l) {
  const struct sci *v = l->of;
  const uint64_t *at = (const uint64_t *)(v->memory + l->area_at + NBC_SCI_ASLEEP);
  if (!l->interrupt) return;
  const uint64_t asleep = __atomic_load_n(at, __ATOMIC_ACQUIRE);
  for (int i = 0; i < TRIES && asleep != l->answered; ++i) {
    sci_error_t error = SCI_ERR_OK;
    v->api->SCITriggerInterrupt(l->interrupt, 0, &error);
    if (error == SCI_ERR_OK) l->answered = asleep;
  }
}

// --- the own one ---

static bool is_awaited(const struct sci_lane *l) {
  return sci_waits(l) || sci_owes_credit(l);
}

bool sci_may_sleep(struct sci *v) {
  if (v->bell < 0 || v->status) return false;
  const bool anew = was_rung(v);
  v->heard = false;
  ++v->sleeps;
  for (uint32_t i = 0; i < v->lane_count; ++i) {
    struct sci_lane *l = &v->lanes[i];
    if (anew) l->asked = false;
    if (is_awaited(l) && !l->asked) l->asked = sci_tell(l, NBC_SCI_ASLEEP, v->sleeps);
  }
  for (uint32_t i = 0; i < v->lane_count; ++i) {
    struct sci_lane *l = &v->lanes[i];
    if (!is_awaited(l)) continue;
    sci_look(l);
    // What has to be tried again nobody rings for.
    if (v->status || v->heard || !l->asked || sci_has_work(l)) return false;
  }
  return true;
}

bool sci_sleep(const struct sci *v) {
  struct pollfd file = {v->bell, POLLIN, 0};
  return poll(&file, 1, (int)v->device->facts.sleep) != 0;
}

void sci_needs_arming(struct sci *v) {
  v->ready = false;
  if (!v->plan->armed) return;
  v->plan->armed = false;
  sci_ring(v);
}
