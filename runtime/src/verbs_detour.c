// SPDX-License-Identifier: BSD-3-Clause
// verbs_detour.c - long messages in memory that the adapter does not take: by way of other memory.
//
// A device's memory that is mapped, pages of some file systems, more than may be pinned: that
// cannot be registered, and only this end knows. So such a message is offered or moved from a place
// in memory of the plan's: what is sent is copied there when it is posted, what is received comes
// from there when it is done. The peer sees nothing of it.
//
// Each instance has one place for all such messages of a call. It grows, and stays for the next.
//
// Costs: memory and a copy of the bytes, where there is such a buffer; else a look at a pointer.

#define _GNU_SOURCE  // MAP_ANONYMOUS
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/src/verbs.h"

enum { APART = 64 };  // bytes: messages begin in lines of their own

// Memory of the caller's that cannot be registered.
struct unknown {
  uintptr_t begin[CALLER_ROLES], end[CALLER_ROLES];
};

static bool is_unknown(const struct unknown *u, uint64_t address) {
  for (uint32_t role = 0; role < CALLER_ROLES; ++role)
    if (address >= u->begin[role] && address < u->end[role]) return true;
  return false;
}

static bool has_unknown(const struct unknown *u, const struct message *m) {
  if (m->runs == 0) return is_unknown(u, m->address);
  const struct iovec *run = (const struct iovec *)(uintptr_t)m->address;
  for (uint32_t i = 0; i < m->runs; ++i)
    if (is_unknown(u, (uintptr_t)run[i].iov_base)) return true;
  return false;
}

static int make_room(struct verbs *v, struct verbs_place *place, uint64_t wanted) {
  if (wanted <= place->bytes) return 0;
  uint64_t bytes = 4096;
  while (bytes < wanted && bytes <= UINT64_MAX / 4) bytes *= 2;
  verbs_forget_place(v, place);
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NBC_ERROR_MEMORY;
  const int status = verbs_know(v->adapter, memory, bytes, v->access[DETOUR_KEY], &place->as);
  if (status)
    munmap(memory, bytes);
  else
    place->memory = (uint8_t *)memory, place->bytes = bytes;
  return status;
}

void verbs_forget_place(struct verbs *v, struct verbs_place *place) {
  if (place->bytes == 0) return;
  v->ops->deregister_memory(v->adapter->device, place->as.region);
  munmap(place->memory, place->bytes);
  *place = (struct verbs_place){0};
}

static int make_tables(struct verbs *v) {
  const size_t depth = v->plan->depth;
  if (!v->places) v->places = (struct verbs_place *)calloc(depth, sizeof *v->places);
  if (v->places && !v->detours)
    v->detours =
        (struct verbs_detour *)calloc(depth * messages_of(v->plan)->most, sizeof *v->detours);
  return v->detours ? 0 : NBC_ERROR_MEMORY;
}

int verbs_make_detours(struct verbs *v, const struct call *c) {
  const nbc_plan *plan = v->plan;
  const struct messages *s = messages_of(plan);
  const struct records *records = (const struct records *)c->variant->records;
  struct unknown unknown = {0};
  bool any = false;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) {
    if (c->registration[role] != NOT_REGISTERED) continue;
    const void *begin;
    const uint64_t bytes = touched_bytes(plan, c, role, &begin);
    unknown.begin[role] = (uintptr_t)begin;
    unknown.end[role] = unknown.begin[role] + bytes;
    any = true;
  }
  if (!any && !v->detours) return 0;
  int status = make_tables(v);
  if (status) return status;
  struct message *messages = s->messages + (size_t)plan->instance * s->most;
  struct verbs_detour *detours = v->detours + (size_t)plan->instance * s->most;
  struct verbs_place *place = &v->places[plan->instance];
  memset(detours, 0, s->most * sizeof *detours);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < records->count && any; ++i) {
    struct message *m = &messages[i];
    if (records->steps[i].op == NBC_MESSAGE_WAIT || m->bytes <= v->eager_bytes ||
        !has_unknown(&unknown, m))
      continue;
    detours[i] = (struct verbs_detour){m->address, m->runs};
    bytes += (m->bytes + APART - 1) / APART * APART;
  }
  if (bytes == 0) return 0;
  status = make_room(v, place, bytes);
  if (status) return status;
  uint8_t *at = place->memory;
  for (uint32_t i = 0; i < records->count; ++i) {
    if (detours[i].address == 0) continue;
    messages[i].address = (uintptr_t)at;
    messages[i].runs = 0;
    at += (messages[i].bytes + APART - 1) / APART * APART;
    ++v->counts.detours;
  }
  verbs_put_keys(v, &v->keys[(size_t)plan->instance * KEYS + DETOUR_KEY], place->memory,
                 place->bytes, &place->as);
  return 0;
}
