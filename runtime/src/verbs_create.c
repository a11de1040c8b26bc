// SPDX-License-Identifier: BSD-3-Clause
// verbs_create.c - the lanes of a plan: how long their queues are, memory, and all taken down.
//
// All follows from how many messages a call sends to a peer at most, and receives from it, and how
// many calls may be under way: S and R.
//
//   control receives   offers and answers of both directions, WINDOW each at most, and CREDIT
//   eager receives     2 R, so that credits come back while others are used; of messages of several
//                      parts more, so that a block of max_bytes needs nothing of the receiver
//   work requests      2 (S + R): more do not go before completions have come; of parts likewise
//   second queue pairs receives of 2 R, work requests of 3 S: what a message of one part takes
//
// The last two are cut, for all lanes alike, until they fit into the completion queue and into
// slot_memory: each lane works with two eager slots and a few requests.

#define _GNU_SOURCE  // MAP_ANONYMOUS
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/src/verbs.h"

enum { FEW_SLOTS = 2, FEW_REQUESTS = 8, MANY_REQUESTS = 128, INLINE = 256 };

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

// --- how much of everything, for what all calls under way send and receive ---

// Of a message of a block, at most.
static uint64_t parts(const struct verbs *v) {
  const uint64_t longest = least(v->plan->max_bytes, v->eager_bytes);
  return longest ? (longest + v->part_bytes - 1) / v->part_bytes : 1;
}

static uint32_t control_receives(const struct traffic *t) {
  enum { CREDITS = 3 };
  return (uint32_t)(least(t->sends, WINDOW) + least(t->receives, WINDOW) + CREDITS);
}

static uint32_t eager_slots(const struct verbs *v, const struct traffic *t, uint32_t limit) {
  return (uint32_t)least(2 * t->receives * parts(v), limit);
}

// A power of two.
static uint32_t ring(uint64_t wanted, uint32_t limit) {
  uint32_t n = FEW_REQUESTS;
  while (n < wanted && 2 * n <= limit && n < MANY_REQUESTS) n *= 2;
  return n;
}

// How many places a peer keeps: of all calls that may be under way, and of as many with other
// buffers; with room, as each has a few places in the table. 0 where it keeps none. Both ends count
// the same messages.
static uint32_t kept_offers(const struct verbs *v, uint64_t offered) {
  if (offered == 0 || v->way == NBC_VERBS_SEND || v->adapter->facts.offers == NBC_VERBS_ANEW)
    return 0;
  uint32_t n = 8;
  while (n < 4 * offered && n < MOST_KEPT) n *= 2;
  return n;
}

// Sets the lengths of all lanes' queues, with so many eager slots and requests at most. False: they
// do not fit.
static bool fits(struct verbs *v, const struct traffic *t, uint32_t limit) {
  const struct nbc_verbs_facts *facts = &v->adapter->facts;
  uint64_t entries = 0, slots = 0;
  bool fit = true;
  for (uint32_t i = 0; i < v->lane_count; ++i) {
    struct verbs_lane *l = &v->lanes[i];
    const struct traffic all = {t[i].sends * v->plan->depth, t[i].receives * v->plan->depth};
    l->slot_count = eager_slots(v, &all, limit);
    l->receive_count = l->slot_count + control_receives(&all);
    l->request_count = ring(2 * (all.sends * parts(v) + all.receives), limit);
    // Who offers is who receives, unless the receiver reads.
    l->known_count = kept_offers(v, v->way == NBC_VERBS_READ ? all.sends : all.receives);
    l->kept_count = kept_offers(v, v->way == NBC_VERBS_READ ? all.receives : all.sends);
    struct verbs_lane *second = l->second;
    if (second) {
      second->receive_count = ring(2 * all.receives, limit);
      second->request_count = ring(3 * all.sends, limit);
      entries += second->receive_count + second->request_count;
    }
    for (const struct verbs_lane *of = l; of; of = of->second)
      fit = fit && of->receive_count <= facts->queue && of->request_count <= facts->queue;
    entries += l->receive_count + l->request_count;
    slots += l->slot_count + (v->eager_bytes == UINT64_MAX ? l->request_count : 0);
  }
  return fit && entries <= facts->completions &&
         (slots * v->slot_bytes <= v->plan->slot_memory || limit == FEW_SLOTS);
}

static int size_lanes(struct verbs *v) {
  struct traffic *t = messages_traffic(v->plan);
  if (!t) return NBC_ERROR_MEMORY;
  uint32_t limit = (INT16_MAX + 1) / 2;  // peers count slots by 16 bits with a sign
  while (limit > FEW_SLOTS && !fits(v, t, limit)) limit /= 2;
  int status = fits(v, t, limit) ? 0 : NBC_ERROR_RESOURCES;
  free(t);
  return status;
}

// --- memory ---

static void *cut(uintptr_t *at, size_t bytes) {
  enum { LINE = 64 };
  const uintptr_t begin = *at;
  *at += (bytes + LINE - 1) / LINE * LINE;
  return (void *)begin;
}

// Where the lane's arrays are, from `at` on, behind which the next lane's begin.
static void place_arrays(struct verbs_lane *l, uintptr_t *at) {
  const size_t requests = l->request_count, receives = l->receive_count;
  const uint32_t runs = l->of->way == NBC_VERBS_READ ? MOST_OFFERED : 1;
  l->offers_room = l->of->way == NBC_VERBS_SEND || is_second(l) ? 0 : (uint32_t)offer_bytes(runs);
  l->requests = (struct ibv_send_wr *)cut(at, requests * sizeof *l->requests);
  l->segments = (struct ibv_sge *)cut(at, requests * l->of->gather * sizeof *l->segments);
  l->purposes = (struct purpose *)cut(at, requests * sizeof *l->purposes);
  l->receives = (struct ibv_recv_wr *)cut(at, receives * sizeof *l->receives);
  l->receive_segments =
      (struct ibv_sge *)cut(at, receives * scatter_of(l) * sizeof *l->receive_segments);
  l->held = (struct held *)cut(at, l->slot_count * sizeof *l->held);
  l->offers = (uint8_t *)cut(at, (size_t)WINDOW * l->offers_room);
  l->known_there = (struct offered_run *)cut(at, l->known_count * sizeof *l->known_there);
  l->kept = (struct offered_run *)cut(at, l->kept_count * sizeof *l->kept);
  if (is_second(l)) l->placed = (struct placed *)cut(at, receives * sizeof *l->placed);
}

static int make_memory(struct verbs *v) {
  uintptr_t arena = 0;
  size_t slots = 0;
  for (uint32_t i = 0; i < v->queue_count; ++i) place_arrays(&v->lanes[i], &arena);
  for (uint32_t i = 0; i < v->lane_count; ++i)
    slots += v->lanes[i].request_count + v->lanes[i].receive_count;
  v->arena = aligned_alloc(64, arena + 64);
  if (!v->arena) return NBC_ERROR_MEMORY;
  memset(v->arena, 0, arena);
  v->plan->queue_bytes += arena;
  const size_t bytes = slots * v->slot_bytes + 2 * sizeof *v->words;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NBC_ERROR_MEMORY;
  v->memory = (uint8_t *)memory;
  v->memory_bytes = bytes;
  v->words = (uint64_t *)(void *)(v->memory + slots * v->slot_bytes);
  v->plan->queue_bytes += v->memory_bytes;
  arena = (uintptr_t)v->arena;
  uint8_t *slot = v->memory;
  for (uint32_t i = 0; i < v->lane_count; ++i) {
    struct verbs_lane *l = &v->lanes[i];
    place_arrays(l, &arena);
    l->slots = slot;
    l->arrivals = slot + (size_t)l->request_count * v->slot_bytes;
    slot = l->arrivals + (size_t)l->receive_count * v->slot_bytes;
    if (l->second) place_arrays(l->second, &arena);
  }
  int status = v->ops->register_memory(v->adapter->device, v->memory, v->memory_bytes,
                                       IBV_ACCESS_LOCAL_WRITE, &v->known.region, &v->known.lkey,
                                       &v->known.rkey);
  v->memory_known = !status;
  if (status || !verbs_places(v->way)) return status;
  status = v->ops->register_memory(v->adapter->device, v->words, sizeof *v->words,
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, &v->word.region,
                                   &v->word.lkey, &v->word.rkey);
  v->word_known = !status;
  return status;
}

// --- ports ---
//
// A message names a port of its own rank's; that of its other end may have another number, as a
// child's towards its parent. So the lower rank of a lane says which, and both learn it when they
// meet: until then there is a queue pair on each.

// By the port of the first variant's first message to the lane's peer; or from it, if there is
// none.
static void deal_ports(struct verbs *v) {
  const struct tables *t = &v->plan->tables;
  v->rails = v->adapter->facts.rails;
  if (v->rails <= 1) return;
  for (uint32_t k = t->header->variants.count; k-- > 0;) {
    const struct nbc_segment *g = records_of_variant(t, &t->variants[k]);
    if (!g) continue;
    const struct nbc_message_record *records =
        (const struct nbc_message_record *)(v->plan->code + g->offset);
    // The last that is written is what counts: backwards, what is received before what is sent.
    for (uint32_t pass = 0; pass < 2; ++pass)
      for (uint32_t i = g->entries; i-- > 0;)
        if (records[i].op == (pass ? NBC_MESSAGE_SEND : NBC_MESSAGE_RECV))
          v->lanes[records[i].peer].rail = records[i].port % v->rails;
  }
}

void verbs_choose_rail(struct verbs_lane *l) {
  struct verbs *v = l->of;
  uint32_t rkey;
  l->qp = l->on_rail[l->rail];
  for (uint32_t rail = 0; rail < NBC_VERBS_RAILS; ++rail) {
    if (rail != l->rail) v->ops->destroy_qp(v->adapter->device, l->on_rail[rail]);
    l->on_rail[rail] = NULL;
  }
  l->lkey = v->known.lkey;
  if (l->rail) v->ops->keys(v->adapter->device, v->known.region, l->rail, &l->lkey, &rkey);
  verbs_lay_out(l);
}

// --- lanes ---

// When a peer's message comes again that has found no receive, where nobody has said: by the code
// of the InfiniBand specification (min_rnr_timer), after 0.01 ms for each peer or a little more, at
// most 10.24 ms. A rank that is late refuses one message of each, again and again, and all of them
// together not more often than of one.
static uint8_t rnr_timer(uint32_t peers) {
  enum { MOST = 20 };
  uint8_t code = 1;
  // In 0.01 ms: 1, 2, 3, 4, 6, 8, 12, 16, ...
  for (uint32_t time = 1; time < peers && code < MOST;) {
    ++code;
    time = code % 2 ? 3u << (code - 3) / 2 : 1u << code / 2;
  }
  return code;
}

static uint32_t rnr_timer_of(const struct verbs_lane *l) {
  const uint32_t said = l->of->adapter->facts.rnr_timer;
  if (!is_second(l)) return 0;
  return said ? said : rnr_timer(l->of->lane_count);
}

static int make_lane(struct verbs *v, struct verbs_lane *l) {
  struct nbc_verbs *device = v->adapter->device;
  int status = 0;
  for (uint32_t rail = 0; rail < v->rails && !status; ++rail) {
    const struct nbc_verbs_queue_wish wish = {.cq = v->cq,
                                              .sends = l->request_count,
                                              .receives = l->receive_count,
                                              .gather = v->gather,
                                              .scatter = scatter_of(l),
                                              .rnr_timer = rnr_timer_of(l),
                                              .inline_bytes = v->inline_bytes,
                                              .rail = rail};
    uint32_t number;
    status = v->ops->create_qp(device, &wish, &l->on_rail[rail], &number);
    if (status)
      l->on_rail[rail] = NULL;
    else
      status = v->ops->address(device, l->on_rail[rail], &l->address[rail]);
  }
  return status;
}

static int make_lanes(struct verbs *v) {
  struct messages *s = messages_of(v->plan);
  const struct tables *t = &v->plan->tables;
  uint32_t entries = 0;
  for (uint32_t i = 0; i < v->queue_count; ++i)
    v->lanes[i] = (struct verbs_lane){.of = v, .index = i, .longest = v->adapter->facts.longest};
  for (uint32_t i = 0; i < v->lane_count; ++i) {
    struct verbs_lane *l = &v->lanes[i];
    if (verbs_places(v->way)) l->second = &v->lanes[v->lane_count + i];
    s->lanes[i] = (struct lane){&verbs_lane_ops, l, t->peers[i], i};
  }
  deal_ports(v);
  int status = size_lanes(v);
  if (!status) status = make_memory(v);
  for (uint32_t i = 0; i < v->queue_count; ++i)
    entries += v->lanes[i].receive_count + v->lanes[i].request_count;
  if (!status) status = v->ops->create_cq(v->adapter->device, entries, &v->cq);
  if (status) v->cq = NULL;
  for (uint32_t i = 0; i < v->queue_count && !status; ++i) status = make_lane(v, &v->lanes[i]);
  return status;
}

// Receives are posted before any peer sends: no call begins before all ranks have been here.
int verbs_connect(nbc_plan *plan) {
  const int status = messages_connect(plan);
  return status || !verbs_of(plan) ? status : verbs_settle(messages_of(plan));
}

// --- messages ---

// Of one message: what it says of the roles that it lies in.
static void measure(struct verbs *v, const struct nbc_reloc *r, const struct step *m,
                    struct verbs_longest *longest) {
  const struct tables *t = &v->plan->tables;
  const uint32_t local = m->op == NBC_MESSAGE_RECV ? IBV_ACCESS_LOCAL_WRITE : 0;
  const uint32_t moves = m->op == NBC_MESSAGE_RECV ? IBV_ACCESS_REMOTE_WRITE : 0;
  const uint32_t remote = v->way == NBC_VERBS_SEND    ? 0
                          : v->way != NBC_VERBS_READ  ? moves
                          : m->op == NBC_MESSAGE_SEND ? IBV_ACCESS_REMOTE_READ
                                                      : 0;
  const uint32_t access = local | remote;
  __extension__ typedef unsigned __int128 wide;
  uint64_t blocks = 0;
  uint32_t parts = 0;
  for (uint32_t k = r->what; k <= r->what + r->extra; ++k) {
    const struct nbc_piece *p = &t->pieces[k];
    wide n = (((wide)p->count << 16) + p->parts - 1) / p->parts;
    blocks = n > UINT64_MAX - blocks ? UINT64_MAX : blocks + (uint64_t)n;
    parts += p->parts > 1;
  }
  for (uint32_t k = r->what; k <= r->what + r->extra; ++k) {
    uint32_t role = t->buffers[t->pieces[k].buffer].role;
    uint32_t key = role < CALLER_ROLES ? role : STAGING_KEY;
    if (blocks > longest[key].blocks) longest[key].blocks = blocks;
    if (parts > longest[key].parts) longest[key].parts = parts;
    v->access[key] |= access;
    v->access[DETOUR_KEY] |= IBV_ACCESS_LOCAL_WRITE | access;
  }
  if (r->rule == NBC_RELOC_PIECES && r->extra + 1 > v->gather) v->gather = r->extra + 1;
}

static int measure_messages(struct verbs *v) {
  const struct messages *s = messages_of(v->plan);
  const struct tables *t = &v->plan->tables;
  const size_t messages = (size_t)v->plan->depth * s->most;
  v->under_way = (struct verbs_message *)calloc(messages + 1, sizeof *v->under_way);
  v->keys = (struct verbs_keys *)calloc((size_t)v->plan->depth * KEYS, sizeof *v->keys);
  v->longest = (struct verbs_longest *)calloc((size_t)t->header->variants.count * KEYS + 1,
                                              sizeof *v->longest);
  v->staging = (struct verbs_staging *)calloc(v->plan->depth, sizeof *v->staging);
  if (!v->under_way || !v->keys || !v->longest || !v->staging) return NBC_ERROR_MEMORY;
  v->plan->queue_bytes += messages * sizeof *v->under_way;
  v->gather = 1;
  for (uint32_t i = 0; i < t->header->variants.count; ++i) {
    const struct nbc_variant *from = &t->variants[i];
    for (uint32_t k = from->relocs.begin; k < from->relocs.begin + from->relocs.count; ++k) {
      const struct nbc_reloc *r = &t->relocs[k];
      const uint32_t record = (uint32_t)((r->at - t->segments[from->segments.begin].offset) /
                                         sizeof(struct nbc_message_record));
      measure(v, r, &s->variants[i].steps[record], v->longest + (size_t)i * KEYS);
    }
  }
  // Both ends have to cut a message into the same parts.
  const uint32_t most = v->way == NBC_VERBS_SEND ? v->adapter->facts.gather : MOST_OFFERED;
  return !verbs_writes(v->way) && v->gather > most ? NBC_ERROR_RESOURCES : 0;
}

// --- the plan ---

// By a message's length, or all alike.
static void choose_way(struct verbs *v) {
  const nbc_plan *plan = v->plan;
  v->way = v->adapter->facts.rendezvous;
  v->eager_bytes = v->part_bytes = (uint32_t)plan->eager_bytes;
  if (plan->transfer == NBC_TRANSFER_AUTO) {
    if (plan->persistent && v->way == NBC_VERBS_WRITE && v->adapter->facts.reads)
      v->way = NBC_VERBS_DIRECT;
    return;
  }
  v->way = plan->transfer == NBC_TRANSFER_READ     ? NBC_VERBS_READ
           : plan->transfer == NBC_TRANSFER_SEND   ? NBC_VERBS_SEND
           : plan->transfer == NBC_TRANSFER_DIRECT ? NBC_VERBS_DIRECT
                                                   : NBC_VERBS_WRITE;
  v->eager_bytes = plan->transfer == NBC_TRANSFER_EAGER ? UINT64_MAX : 0;
  if (v->eager_bytes == 0) v->part_bytes = 0;
}

static int set_facts(struct verbs *v) {
  const struct nbc_verbs_facts *facts = &v->adapter->facts;
  const uint64_t offer = offer_bytes(v->way == NBC_VERBS_READ ? MOST_OFFERED : 1);
  const uint64_t longest = v->part_bytes > offer ? v->part_bytes : offer;
  if (longest > facts->longest || facts->queue < FEW_REQUESTS) return NBC_ERROR_RESOURCES;
  v->slot_bytes = (uint32_t)((longest + 15) / 16 * 16);
  v->inline_bytes = (uint32_t)least(least(facts->inline_bytes, INLINE), v->slot_bytes);
  v->gather = (uint32_t)least(v->gather, facts->gather);
  for (int role = 0; role < CALLER_ROLES; ++role) v->hint[role] = -1;
  return 0;
}

int verbs_create(nbc_plan *plan) {
  int status = messages_create(plan, plan->tables.header->peers.count);
  if (status || plan->tables.header->peers.count == 0) return status;
  struct messages *s = messages_of(plan);
  struct verbs *v = (struct verbs *)calloc(1, sizeof *v);
  if (!v) return NBC_ERROR_MEMORY;
  s->own = v;
  s->settle = verbs_settle;
  v->plan = plan;
  v->adapter = (struct verbs_adapter *)plan->on->shared;
  v->ops = v->adapter->device->ops;
  choose_way(v);
  v->lane_count = plan->tables.header->peers.count;
  v->queue_count = verbs_places(v->way) ? 2 * v->lane_count : v->lane_count;
  v->lanes = (struct verbs_lane *)calloc(v->queue_count, sizeof *v->lanes);
  if (v->way != NBC_VERBS_WRITE && v->adapter->facts.reads == 0) return NBC_ERROR_UNSUPPORTED;
  status = v->lanes ? measure_messages(v) : NBC_ERROR_MEMORY;
  if (!status) status = set_facts(v);
  if (!status) status = make_lanes(v);
  return status ? status : messages_publish(plan);
}

void verbs_destroy(nbc_plan *plan) {
  struct verbs *v = verbs_of(plan);
  if (v) {
    struct nbc_verbs *device = v->adapter->device;
    for (uint32_t i = 0; v->lanes && i < v->queue_count; ++i) {
      v->ops->destroy_qp(device, v->lanes[i].qp);
      for (uint32_t rail = 0; rail < NBC_VERBS_RAILS; ++rail)
        v->ops->destroy_qp(device, v->lanes[i].on_rail[rail]);
    }
    v->ops->destroy_cq(device, v->cq);
    if (v->memory_known) v->ops->deregister_memory(device, v->known.region);
    if (v->word_known) v->ops->deregister_memory(device, v->word.region);
    for (uint32_t i = 0; v->staging && i < plan->depth; ++i)
      if (v->staging[i].bytes) v->ops->deregister_memory(device, v->staging[i].as.region);
    for (uint32_t i = 0; v->places && i < plan->depth; ++i) verbs_forget_place(v, &v->places[i]);
    if (v->memory) munmap(v->memory, v->memory_bytes);
    free(v->arena);
    free(v->lanes);
    free(v->under_way);
    free(v->keys);
    free(v->detours);
    free(v->places);
    free(v->staging);
    free(v->longest);
    free(v);
  }
  messages_destroy(plan);
}
