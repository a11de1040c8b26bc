// SPDX-License-Identifier: BSD-3-Clause
// coredirect_direct.c - of a plan for one call: where messages are to go, told to the peers when
// the plan is made.
//
// create   the call's memory becomes known to the adapter and stays so; addresses and lengths are
//          filled into the code; then each peer is told address, length and key of the place of
//          each of its messages
// connect  what peers have told goes into the code, where it stays; lengths have to be those that
//          this rank sends
//
// So a write that is too long for its place leaves no rank, and what a key allows is the buffer and
// nothing else.
//
// RECV segments of DIRECT queues say where messages go (template.h); nothing of them is posted.

#include <stdio.h>
#include <stdlib.h>

#include "runtime/src/coredirect.h"

// What a rank tells of one message. PLACES of them are put under one key.
struct place_told {
  uint64_t address, bytes;
  uint32_t rkey, pad;
};
enum { PLACES = 1024 / sizeof(struct place_told) };

static struct coredirect *state_of(const nbc_plan *plan) {
  return (struct coredirect *)plan->state;
}

static const struct nbc_segment *segment_of(const nbc_plan *plan, uint32_t queue,
                                            enum nbc_ring ring) {
  const struct nbc_range range = state_of(plan)->bound->variant->v->segments;
  for (uint32_t i = range.begin; i < range.begin + range.count; ++i)
    if (plan->tables.segments[i].queue == queue && plan->tables.segments[i].ring == ring)
      return &plan->tables.segments[i];
  return NULL;
}

static uint32_t segments_of(const uint8_t *entry) {
  return entry[MLX5_CTRL_DS] & 0x3f;
}

static uint32_t count_writes(const nbc_plan *plan, uint32_t queue) {
  const struct nbc_segment *g = segment_of(plan, queue, NBC_RING_SEND);
  uint32_t count = 0;
  for (uint32_t block = 0; g && block < g->entries;) {
    const uint8_t *entry = plan->code + g->offset + (size_t)block * MLX5_WQEBB;
    count += entry[MLX5_CTRL_OPCODE] == MLX5_WRITE_IMM;
    block += (segments_of(entry) + 3) / 4;
  }
  return count;
}

// The first receive is for the token where this rank sends messages.
static uint32_t tokens(const nbc_plan *plan, uint32_t queue) {
  return count_writes(plan, queue) > 0;
}

uint32_t coredirect_messages(const nbc_plan *plan, uint32_t queue, enum nbc_ring ring) {
  if (ring == NBC_RING_SEND) return count_writes(plan, queue);
  const struct nbc_segment *g = segment_of(plan, queue, NBC_RING_RECV);
  const uint32_t received = g ? g->entries : 0, before = tokens(plan, queue);
  return received > before ? received - before : 0;
}

// Peers write into what this rank receives.
static void allow_writes(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  const struct nbc_variant *v = s->bound->variant->v;
  for (uint32_t i = v->relocs.begin; i < v->relocs.begin + v->relocs.count; ++i) {
    const struct nbc_reloc *r = &plan->tables.relocs[i];
    if (r->rule != NBC_RELOC_SGE) continue;
    const uint32_t role = plan->places[r->what].role;
    const struct nbc_segment *g = segment_at(&plan->tables, v->segments, r->at, MLX5_SEGMENT);
    if (role < CALLER_ROLES && g && g->ring == NBC_RING_RECV)
      s->access[role] |= NBC_HCA_REMOTE_WRITE;
  }
}

int coredirect_bind_call(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  if (!plan->direct) return 0;
  struct call *c = (struct call *)calloc(1, sizeof *c);
  if (!c) return NBC_ERROR_MEMORY;
  int status = plan_describe_bound(plan, c);
  if (status) {
    free(c);
    return status;
  }
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) c->registration[role] = -1;
  s->bound = c;
  allow_writes(plan);
  status = plan->on ? coredirect_acquire(plan, c) : 0;
  return status ? status : coredirect_prepare(plan, c);
}

void coredirect_unbind_call(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  if (!s->bound) return;
  if (plan->on) coredirect_release(plan, s->bound);
  free(s->bound);
  s->bound = NULL;
}

// A message without bytes goes nowhere.
static int place_of_receive(const struct keys *keys, const uint8_t *receive,
                            struct place_told *place) {
  const uint32_t lkey = mlx5_get32(receive + MLX5_DATA_LKEY);
  *place = (struct place_told){.bytes = mlx5_get32(receive + MLX5_DATA_COUNT)};
  if (lkey == MLX5_INVALID_LKEY || place->bytes == 0) {
    place->bytes = 0;
    return 0;
  }
  place->address = mlx5_get64(receive + MLX5_DATA_ADDR);
  for (uint32_t role = 0; role < ROLES; ++role)
    if (keys->l[role] == lkey) place->rkey = keys->r[role];
  return place->rkey ? 0 : NBC_ERROR_TEMPLATE;
}

int coredirect_tell_places(nbc_plan *plan, uint32_t queue) {
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  const struct nbc_segment *g = segment_of(plan, queue, NBC_RING_RECV);
  const uint32_t count = coredirect_messages(plan, queue, NBC_RING_RECV);
  const uint32_t first = tokens(plan, queue);
  const struct keys keys = coredirect_keys(plan, state_of(plan)->bound);
  struct place_told places[PLACES];
  int status = 0;
  for (uint32_t i = 0; i < count && !status; ++i) {
    const uint8_t *receive = plan->code + g->offset + (size_t)(first + i) * MLX5_SEGMENT;
    status = place_of_receive(&keys, receive, &places[i % PLACES]);
    if (status || ((i + 1) % PLACES && i + 1 < count)) continue;
    char key[64];
    snprintf(key, sizeof key, "nbc.%u.%u.at.%u", plan->number,
             plan->tables.peers[plan->tables.queues[queue].peer], i / PLACES);
    if (b->put(b->context, key, places, (i % PLACES + 1) * sizeof *places))
      status = NBC_ERROR_BOOTSTRAP;
  }
  return status;
}

// Bytes that an entry writes.
static uint64_t bytes_of(const uint8_t *entry) {
  uint64_t bytes = 0;
  for (uint32_t k = 2; k < segments_of(entry); ++k)
    bytes += mlx5_get32(entry + (size_t)k * MLX5_SEGMENT + MLX5_DATA_COUNT);
  return bytes;
}

static int fill_in(nbc_plan *plan, uint32_t queue, uint32_t first, const struct place_told *places,
                   uint32_t count) {
  const struct nbc_range relocs = state_of(plan)->bound->variant->v->relocs;
  for (uint32_t i = relocs.begin; i < relocs.begin + relocs.count; ++i) {
    const struct nbc_reloc *r = &plan->tables.relocs[i];
    if (r->rule != NBC_RELOC_TOLD || r->what != queue) continue;
    if (r->addend < first || r->addend - first >= count) continue;
    const struct place_told *place = &places[r->addend - first];
    uint8_t *at = plan->code + r->at;
    if (bytes_of(at - MLX5_SEGMENT) != place->bytes) return NBC_ERROR_ARGUMENT;
    mlx5_put64(at + MLX5_RADDR_ADDR, place->address);
    mlx5_put32(at + MLX5_RADDR_RKEY, place->rkey);
  }
  return 0;
}

int coredirect_hear_places(nbc_plan *plan, uint32_t queue, uint32_t told) {
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  const uint32_t count = coredirect_messages(plan, queue, NBC_RING_SEND);
  const uint32_t peer = plan->tables.peers[plan->tables.queues[queue].peer];
  if (told != count) return NBC_ERROR_TEMPLATE;
  struct place_told places[PLACES];
  int status = 0;
  for (uint32_t first = 0; first < count && !status; first += PLACES) {
    const uint32_t some = count - first < PLACES ? count - first : PLACES;
    char key[64];
    size_t bytes = 0;
    snprintf(key, sizeof key, "nbc.%u.%d.at.%u", plan->number, b->rank, first / PLACES);
    if (b->get(b->context, (int)peer, key, places, sizeof places, &bytes) ||
        bytes != some * sizeof *places)
      return NBC_ERROR_BOOTSTRAP;
    status = fill_in(plan, queue, first, places, some);
  }
  return status;
}
