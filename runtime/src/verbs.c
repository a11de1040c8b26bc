// SPDX-License-Identifier: BSD-3-Clause
// verbs.c - target verbs: what plans on an adapter share, memory of calls, and who is silent.
//
// Memory that is sent from and received into without a copy is registered when a call is started;
// of a call whose messages are all short nothing is. What the adapter does not take goes round by
// memory that it knows (verbs_detour.c). It stays registered (registrations.c) where
// the adapter sees that memory is unmapped, or need not see it, since it pages on demand; else
// until the call is done, unless the program has declared it.
//
// An adapter says nothing of a peer that is gone until something is sent to it. So who waits for
// one that has said nothing for a while writes no bytes to it.

#define _GNU_SOURCE  // sched_yield, clock_gettime

#include "runtime/src/verbs.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/src/progress.h"

// --- an adapter ---

static int add_to(struct nbc_verbs *device, void *begin, size_t bytes, uint32_t access,
                  struct known_memory *as) {
  return device->ops->register_memory(device, begin, bytes, (int)access, &as->region, &as->lkey,
                                      &as->rkey);
}

static int add(void *adapter, void *begin, size_t bytes, uint32_t access, struct known_memory *as) {
  const struct verbs_adapter *a = (const struct verbs_adapter *)adapter;
  const uint32_t on_demand = IBV_ACCESS_ON_DEMAND;
  int status = add_to(a->device, begin, bytes, access | (a->on_demand ? on_demand : 0), as);
  if (status == NBC_ERROR_RESOURCES && !a->on_demand && a->facts.on_demand)
    status = add_to(a->device, begin, bytes, access | on_demand, as);  // no more can be held
  return status;
}

int verbs_know(struct verbs_adapter *a, void *begin, size_t bytes, uint32_t access,
               struct known_memory *as) {
  int status;
  do status = add(a, begin, bytes, access, as);
  while (status == NBC_ERROR_RESOURCES && registrations_make_room(&a->memory));
  return status;
}

static void remove_known(void *adapter, const struct known_memory *as) {
  const struct verbs_adapter *a = (const struct verbs_adapter *)adapter;
  a->device->ops->deregister_memory(a->device, as->region);
}

static void gone(void *context, const void *begin, size_t bytes) {
  registrations_gone((struct registrations *)context, begin, bytes);
}

static bool watches(const struct verbs_adapter *a, nbc_verbs_gone *told, void *context) {
  return a->device->ops->watch && !a->device->ops->watch(a->device, told, context);
}

static int attach(struct nbc_device *device, void **shared) {
  struct verbs_adapter *a = (struct verbs_adapter *)calloc(1, sizeof *a);
  if (!a) return NBC_ERROR_MEMORY;
  a->device = (struct nbc_verbs *)device;
  a->device->ops->facts(a->device, &a->facts);
  if (a->facts.rails == 0) a->facts.rails = 1;
  bool reads = a->facts.rendezvous != NBC_VERBS_WRITE;
  int status = (reads && a->facts.reads == 0) || a->facts.rails > NBC_VERBS_RAILS ||
                       (a->facts.rails > 1 && !a->device->ops->keys) ||
                       (a->facts.memory == NBC_VERBS_ON_DEMAND && !a->facts.on_demand)
                   ? NBC_ERROR_ARGUMENT
                   : 0;
  if (!status) status = registrations_open(&a->memory, (struct registrar){a, add, remove_known});
  if (status) {
    free(a);
    return status;
  }
  const bool always = a->facts.memory == NBC_VERBS_ON_DEMAND;
  const bool watched = !always && watches(a, gone, &a->memory);
  a->on_demand = a->facts.on_demand && !watched;
  a->memory.keep = watched || a->on_demand;
  *shared = a;
  return 0;
}

static enum nbc_transfer transfer(const void *shared) {
  return ((const struct verbs_adapter *)shared)->facts.transfer;
}

static void detach(void *shared) {
  struct verbs_adapter *a = (struct verbs_adapter *)shared;
  watches(a, NULL, NULL);
  registrations_close(&a->memory);
  free(a);
}

static int make_known(void *shared, void *begin, size_t bytes) {
  struct verbs_adapter *a = (struct verbs_adapter *)shared;
  // Whether its peers write or read each plan says.
  const uint32_t remote = IBV_ACCESS_REMOTE_WRITE | (a->facts.reads ? IBV_ACCESS_REMOTE_READ : 0);
  return registrations_declare(&a->memory, begin, bytes, IBV_ACCESS_LOCAL_WRITE | remote);
}

static int forget(void *shared, const void *begin, size_t bytes) {
  return registrations_forget(&((struct verbs_adapter *)shared)->memory, begin, bytes);
}

void nbc_verbs_query(const nbc_plan *plan, struct nbc_verbs_counts *counts) {
  plan_lock((nbc_plan *)plan);
  const struct verbs *v = strcmp(plan->target->name, NBC_VERBS_TARGET) ? NULL : verbs_of(plan);
  *counts = v ? v->counts : (struct nbc_verbs_counts){0};
  plan_unlock((nbc_plan *)plan);
}

// --- memory of a call ---

static void release(nbc_plan *plan, struct call *c) {
  if (!plan->on) return;  // there are no peers, and there was nothing to acquire
  struct verbs_adapter *a = (struct verbs_adapter *)plan->on->shared;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role)
    if (c->registration[role] >= 0) registrations_release(&a->memory, c->registration[role]);
}

// Whether a message that lies there, some of it, may be long. It may be said of one that is not.
static bool may_be_long(const struct verbs *v, const struct call *c, uint32_t key) {
  const struct verbs_longest *longest =
      v->longest + (size_t)(c->variant - v->plan->variants) * KEYS + key;
  __extension__ typedef unsigned __int128 wide;
  // Blocks with lengths of their own may have elements of any size.
  const wide rounded = (wide)longest->parts * (v->plan->own_lengths ? c->block : c->size);
  return ((wide)longest->blocks * c->block >> 16) + rounded > v->eager_bytes;
}

void verbs_put_keys(const struct verbs *v, struct verbs_keys *keys, const void *begin,
                    uint64_t bytes, const struct known_memory *as) {
  keys->begin = (uintptr_t)begin;
  keys->end = keys->begin + bytes;
  keys->lkey[0] = as->lkey;
  keys->rkey[0] = as->rkey;
  for (uint32_t rail = 1; rail < v->rails; ++rail)
    v->ops->keys(v->adapter->device, as->region, rail, &keys->lkey[rail], &keys->rkey[rail]);
}

// Of the instance that the call is about to get, as much as it lays its scratch in; more, where
// calls get longer. All of it would be pages by the gigabyte, held for calls that never come.
static int know_staging(struct verbs *v, const struct call *c, struct verbs_keys *keys) {
  const nbc_plan *plan = v->plan;
  struct verbs_staging *s = &v->staging[plan->instance];
  uint8_t *begin = plan->staging + plan->instance * plan->staging_instance;
  const uint64_t all = plan->staging_instance;
  const uint64_t used = all / plan->stride[NBC_RENDEZVOUS] * c->stride;
  if (used > s->bytes) {
    uint64_t bytes = s->bytes ? s->bytes : 4096;
    while (bytes < used) bytes *= 2;
    if (bytes > all) bytes = all;
    if (s->bytes) remove_known(v->adapter, &s->as);
    s->bytes = 0;
    int status = verbs_know(v->adapter, begin, bytes, v->access[STAGING_KEY], &s->as);
    if (status) return status;
    s->bytes = bytes;
  }
  verbs_put_keys(v, keys, begin, s->bytes, &s->as);
  return 0;
}

static int acquire(nbc_plan *plan, struct call *c) {
  struct verbs *v = verbs_of(plan);
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) c->registration[role] = -1;
  if (!v) return 0;
  int status = 0;
  for (uint32_t role = 0; role < CALLER_ROLES && !status; ++role) {
    const void *begin;
    uint64_t bytes = may_be_long(v, c, role) ? touched_bytes(plan, c, role, &begin) : 0;
    if (bytes == 0) continue;
    bool made = false;
    int r = registrations_acquire(&v->adapter->memory, begin, bytes, v->access[role], v->hint[role],
                                  &made);
    if (r >= 0) {
      c->registration[role] = v->hint[role] = r;
      ++*(made ? &v->counts.registered : &v->counts.found);
    } else if (r == NBC_ERROR_RESOURCES || r == NBC_ERROR_DEVICE) {
      c->registration[role] = NOT_REGISTERED;
    } else {
      status = r;
    }
  }
  if (status) release(plan, c);
  return status;
}

static int prepare(nbc_plan *plan, struct call *c) {
  struct verbs *v = verbs_of(plan);
  int status = messages_prepare(plan, c);
  if (!v || status) return status;
  struct verbs_keys *keys = v->keys + (size_t)plan->instance * KEYS;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) {
    keys[role] = (struct verbs_keys){0};
    if (c->registration[role] < 0) continue;
    const void *begin;
    uint64_t bytes = touched_bytes(plan, c, role, &begin);
    verbs_put_keys(v, &keys[role], begin, bytes,
                   &v->adapter->memory.slots[c->registration[role]].as);
  }
  keys[STAGING_KEY] = keys[DETOUR_KEY] = (struct verbs_keys){0};
  if (plan->staging_instance && may_be_long(v, c, STAGING_KEY))
    status = know_staging(v, c, &keys[STAGING_KEY]);
  return status ? status : verbs_make_detours(v, c);
}

// --- who is about to start ---

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// Offers, for all messages at once.
static bool expects(nbc_plan *plan, bool first) {
  struct verbs *v = verbs_of(plan);
  return v && !v->status && v->way != NBC_VERBS_DIRECT &&
         is_patient(&v->patience, v->adapter->facts.patience, first, v->stalled != 0);
}

static void leave(nbc_plan *plan) {
  struct verbs *v = verbs_of(plan);
  if (v && !v->status && v->stalled && v->way == NBC_VERBS_DIRECT) verbs_send_unoffered(v);
}

// --- who is silent ---

#define SILENCE INT64_C(200000000)  // nanoseconds

static void probe_the_silent(struct verbs *v) {
  int64_t time = now();
  if (v->looked && time - v->looked < SILENCE) return;
  const bool first = v->looked == 0;
  v->looked = time;
  if (first) return;
  for (uint32_t i = 0; i < v->queue_count; ++i) {
    struct verbs_lane *l = &v->lanes[i];
    if (!l->heard && !l->probing && verbs_waits(l)) verbs_probe(l);
    l->heard = false;
  }
  verbs_settle(messages_of(v->plan));
}

// While nbc_wait yields, it looks at all lanes now and then; once it sleeps, each time.
enum { YIELDS = 64, SELDOM_IDLE = 16 };

static bool failed(nbc_plan *plan) {
  struct verbs *v = verbs_of(plan);
  if (!v || messages_failed(plan)) return messages_failed(plan);
  if (v->idle % SELDOM_IDLE) return v->status < 0;
  for (uint32_t i = 0; i < v->queue_count && !v->status; ++i)
    if (v->ops->failed(v->adapter->device, v->lanes[i].qp)) v->status = NBC_ERROR_DEVICE;
  if (!v->status) probe_the_silent(v);
  return v->status < 0;
}

static bool glance(nbc_plan *plan) {
  enum { SELDOM = 256 };
  struct verbs *v = verbs_of(plan);
  if (v && ++v->glances % SELDOM == 0) return failed(plan);
  return messages_failed(plan) || (v && v->status < 0);
}

// What came before the queue was armed it does not tell of.
static int arm(nbc_plan *plan) {
  struct verbs *v = verbs_of(plan);
  if (!v || v->status || !v->ops->arm) return -1;
  int descriptor = v->ops->arm(v->adapter->device, v->cq);
  if (descriptor >= 0 && (verbs_take_in(v) < 0 || verbs_settle(messages_of(plan)) < 0)) return -1;
  return descriptor;
}

static bool sleep_a_while(nbc_plan *plan) {
  enum { A_WHILE = 1000000 /* nanoseconds */ };
  struct verbs *v = verbs_of(plan);
  if (!v) return false;
  if (v->idle < YIELDS) {
    ++v->idle;
    sched_yield();
  } else {
    v->ops->sleep(v->adapter->device, v->cq, A_WHILE);
  }
  return true;
}

// --- the target ---

// Whatever is longer than the adapter can send goes in several.
static uint64_t longest(const nbc_plan *plan) {
  (void)plan;
  return INT64_MAX;
}

static void keep_lanes_warm(nbc_plan *plan) {
  enum { FEW = 4 };  // lanes: a call with more waits for them as they come
  const struct verbs *v = verbs_of(plan);
  struct warm *w = &plan->warm;
  messages_keep_warm(plan);
  if (!v) return;
  keep_warm(w, v, sizeof *v);
  keep_warm(w, v->adapter, offsetof(struct verbs_adapter, memory));
  keep_warm(w, v->ops, sizeof *v->ops);
  keep_warm(w, &verbs_lane_ops, sizeof verbs_lane_ops);
  for (uint32_t i = 0; i < v->lane_count && i < FEW; ++i)
    keep_warm(w, &v->lanes[i], sizeof v->lanes[i]);
}

const struct target verbs = {
    .name = NBC_VERBS_TARGET,
    .attach = attach,
    .detach = detach,
    .transfers = 1u << NBC_TRANSFER_EAGER | 1u << NBC_TRANSFER_WRITE | 1u << NBC_TRANSFER_READ |
                 1u << NBC_TRANSFER_SEND | 1u << NBC_TRANSFER_DIRECT,
    .transfer = transfer,
    .make_known = make_known,
    .forget = forget,
    // The host's work is done at once: nobody would ring the doorbell behind it.
    .host_waits = false,
    .last_waits = true,
    .longest = longest,
    .check = messages_check,
    .create = verbs_create,
    .connect = verbs_connect,
    .keep_warm = keep_lanes_warm,
    .acquire = acquire,
    .release = release,
    .prepare = prepare,
    .admit = messages_admit,
    .enable = messages_enable,
    .poll = messages_poll,
    .lingers = messages_linger,
    .complete = messages_complete,
    .failed = failed,
    .glance = glance,
    .expects = expects,
    .leave = leave,
    .arm = arm,
    .sleep = sleep_a_while,
    .destroy = verbs_destroy,
};
