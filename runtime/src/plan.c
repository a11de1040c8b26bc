// SPDX-License-Identifier: BSD-3-Clause
// plan.c - a template becomes a plan: a copy of it, memory, and the target's queues.
//
// Here is worked out whatever does not depend on a call: how long blocks may be, how
// much room slots and staging take, where each piece lies but for the caller's
// addresses and lengths. Linear in the template.

#include "runtime/src/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/src/progress.h"

enum {
  DEFAULT_DEPTH = 2,
  MOST_DEPTH = 1024,
  DEFAULT_EAGER = 1024,
  DEFAULT_EAGER_ALONE = 65536,  // where long messages go so, too
  DEFAULT_SLOT_MEMORY = 16 << 20,
  DEFAULT_MAX_BYTES = 1 << 20,
};
#define MOST_MEMORY (UINT64_C(1) << 40)

static uint64_t round_up(uint64_t n, uint64_t to) {
  return (n + to - 1) / to * to;
}

// The one call that the plan is for, if its template is of such.
static int set_bound(nbc_plan *plan, const struct nbc_call *call) {
  const struct tables *s = &plan->tables;
  plan->direct = is_direct(s);
  if (plan->direct == (call != NULL)) {
    if (!call) return 0;
    const uint64_t size =
        call->type == NBC_OPAQUE ? call->element_bytes : nbc_type_size(call->type);
    plan->bound = *call;
    if (s->header->kind == NBC_BARRIER) return 0;
    return __builtin_mul_overflow(size, call->count, &plan->bound_block) ? NBC_ERROR_TOO_LONG : 0;
  }
  plan->why =
      call ? "a template that is not direct serves any call: nbc_plan_options.call is for one"
           : "a direct template is for one call, which nbc_plan_options.call has to name";
  return NBC_ERROR_ARGUMENT;
}

// The device's word is the first.
static int set_transfer(nbc_plan *plan, enum nbc_transfer wanted) {
  const struct target *target = plan->target;
  if ((unsigned)wanted >= NBC_TRANSFERS) return NBC_ERROR_ARGUMENT;
  if (wanted && !(target->transfers >> wanted & 1)) return NBC_ERROR_UNSUPPORTED;
  const enum nbc_transfer said =
      target->transfer && plan->on ? target->transfer(plan->on->shared) : NBC_TRANSFER_AUTO;
  plan->transfer = said ? said : wanted;
  return 0;
}

static int set_turns(nbc_plan *plan, bool in_turn) {
  if (!in_turn) return 0;
  plan->turns = &plan->comm->turns;
  plan->lock = &plan->turns->lock;
  if (plan->turns->status) plan->why = "a call of a plan that it would take turns with has failed";
  return plan->turns->status;
}

static int set_options(nbc_plan *plan, const struct nbc_plan_options *given) {
  static const struct nbc_plan_options none = {0};
  const struct nbc_plan_options *o = given ? given : &none;
  plan->depth = o->depth ? o->depth : DEFAULT_DEPTH;
  if (plan->depth > MOST_DEPTH) return NBC_ERROR_ARGUMENT;
  int status = set_bound(plan, o->call);
  if (status) return status;
  if (plan->direct) plan->depth = 1;
  plan->sets = 3 * plan->depth;
  plan->persistent = o->persistent != 0;
  status = set_turns(plan, o->in_turn != 0);
  if (status) return status;
  status = set_transfer(plan, o->transfer);
  if (status) return status;
  plan->eager_bytes = o->eager_bytes;
  plan->slot_memory = o->slot_memory ? o->slot_memory : DEFAULT_SLOT_MEMORY;
  if (!plan->eager_bytes) {
    // From what all ranks know alike: they must choose the same protocol.
    uint64_t bytes =
        plan->slot_memory / ((uint64_t)plan->sets * plan->tables.header->ranks) / 16 * 16;
    uint64_t usual = plan->transfer == NBC_TRANSFER_EAGER ? DEFAULT_EAGER_ALONE
                     : plan->target->eager_bytes          ? plan->target->eager_bytes
                                                          : DEFAULT_EAGER;
    plan->eager_bytes = bytes < 16 ? 16 : bytes < usual ? bytes : usual;
  }
  plan->max_bytes = o->max_bytes ? o->max_bytes : DEFAULT_MAX_BYTES;
  if (plan->eager_bytes > INT32_MAX || plan->max_bytes > MOST_MEMORY) return NBC_ERROR_ARGUMENT;
  plan->stride[NBC_EAGER] = round_up(plan->eager_bytes, SLOT_BYTES);
  for (uint32_t i = 0; i < plan->tables.header->variants.count; ++i) {
    const uint64_t vector = plan->tables.variants[i].scalars * SLOT_BYTES;
    if (plan->stride[NBC_EAGER] < vector) plan->stride[NBC_EAGER] = vector;
  }
  plan->stride[NBC_RENDEZVOUS] = round_up(plan->max_bytes, 16);
  if (plan->bound_block > MOST_MEMORY) return NBC_ERROR_TOO_LONG;
  plan->stride[NBC_DIRECT] = round_up(plan->bound_block ? plan->bound_block : 1, 16);
  plan->first_sq_index = o->first_sq_index;
  plan->first_cq_index = o->first_cq_index;
  return 0;
}

// In the order in which a call comes upon them; cold ones behind.
static int make_tables(nbc_plan *plan) {
  const struct nbc_template *t = plan->tables.header;
  struct arena *a = &plan->arena;
  plan->variants = (struct variant *)arena_take(a, t->variants.count * sizeof *plan->variants);
  plan->stages = (struct stage *)arena_take(a, t->stages.count * sizeof *plan->stages);
  plan->fetched = (uint64_t *)arena_take(a, plan->depth * sizeof *plan->fetched);
  plan->places = (struct place *)calloc((size_t)t->pieces.count + 1, sizeof *plan->places);
  return plan->variants && plan->stages && plan->fetched && plan->places ? 0 : NBC_ERROR_MEMORY;
}

static int copy_template(nbc_plan *plan, const void *data, size_t bytes) {
  void *copy = aligned_alloc(64, round_up(bytes, 64));
  if (!copy) return NBC_ERROR_MEMORY;
  memcpy(copy, data, bytes);
  plan->tables = tables_of(copy);
  plan->code = (uint8_t *)copy + plan->tables.header->code.offset;
  return 0;
}

// Whether piece i is behind the last of its `before` as that is behind the others: then where
// that one ends is where this one begins.
static bool follows(const struct tables *s, uint32_t i) {
  const struct nbc_piece *p = &s->pieces[i];
  if (p->before.count == 0) return false;
  uint32_t last = p->before.begin + p->before.count - 1;
  const struct nbc_piece *q = &s->pieces[last];
  return last < i && q->buffer == p->buffer && q->room == p->room &&
         q->before.count + 1 == p->before.count &&
         (q->before.count == 0 || q->before.begin == p->before.begin);
}

static void place_pieces(nbc_plan *plan) {
  const struct tables *s = &plan->tables;
  for (uint32_t i = 0; i < s->header->pieces.count; ++i) {
    const struct nbc_piece *p = &s->pieces[i];
    const struct nbc_buffer *b = &s->buffers[p->buffer];
    struct place *place = &plan->places[i];
    *place = (struct place){
        .role = b->role, .whole = p->parts == 1 && !plan->own_lengths, .count = p->count};
    if (plan->own_lengths) {
      place->block = (uint32_t)(p->first / p->parts);
      place->all = p->first % p->parts == 0 && p->count == p->parts;
    }
    if (b->role < CALLER_ROLES) {
      place->blocks = p->first;
      continue;
    }
    place->rooms = b->first + p->room;
    place->follows = follows(s, i);
    for (uint32_t k = 0; k < p->before.count && place->whole; ++k) {
      const struct nbc_piece *before = &s->pieces[p->before.begin + k];
      place->whole = before->parts == 1;
      place->blocks += before->count;
    }
  }
}

enum {
  SEGMENT = 16,   // bytes, of a data segment
  FINE = 1 << 20  // what a block is counted in, where parts are summed up
};

// What the pieces of a variant say of it, gathered one by one.
struct usage {
  uint64_t staging;                   // blocks of room
  uint64_t longest;                   // blocks in one data segment
  uint64_t message, longest_message;  // in all of an entry's, so far; of the longest: FINE
  uint32_t end;                       // where the latest one ends in the code
  uint32_t first_piece, end_piece;
};

static void use_pieces(struct nbc_range range, struct usage *u) {
  if (range.count == 0) return;
  if (range.begin < u->first_piece) u->first_piece = range.begin;
  if (range.begin + range.count > u->end_piece) u->end_piece = range.begin + range.count;
}

static void use_piece(const nbc_plan *plan, uint32_t piece, struct usage *u) {
  use_pieces((struct nbc_range){piece, 1}, u);
  use_pieces(plan->tables.pieces[piece].before, u);
  const struct nbc_buffer *b = &plan->tables.buffers[plan->tables.pieces[piece].buffer];
  if (b->role == NBC_ROLE_STAGING && b->first + b->blocks > u->staging)
    u->staging = b->first + b->blocks;
}

// `host`: the host fills it in and looks at the memory, not the device.
static void use_reloc(const nbc_plan *plan, const struct nbc_reloc *r, bool host, struct variant *v,
                      struct usage *u) {
  bool several = r->rule == NBC_RELOC_SGE || r->rule == NBC_RELOC_PIECES;
  if (!several && r->rule != NBC_RELOC_RADDR && r->rule != NBC_RELOC_SLOT) return;
  uint64_t blocks = 0, fine = 0;
  for (uint32_t k = r->what; k <= r->what + (several ? r->extra : 0); ++k) {
    const struct nbc_piece *p = &plan->tables.pieces[k];
    const uint32_t role = plan->places[k].role;
    use_piece(plan, k, u);
    if (role < CALLER_ROLES && !host) v->touched |= 1u << role;
    blocks += (p->count + p->parts - 1) / p->parts;
    fine += (uint64_t)p->count * FINE / p->parts;
  }
  if (several && blocks > u->longest) u->longest = blocks;
  if (r->rule != NBC_RELOC_SGE) return;
  // Data segments of an entry stand one behind the other, and in front of the next entry's others.
  u->message = r->at == u->end ? u->message + fine : fine;
  u->end = r->at + SEGMENT;
  if (u->message > u->longest_message) u->longest_message = u->message;
}

static void use_stage(const nbc_plan *plan, const struct nbc_stage *stage, struct usage *u) {
  for (uint32_t h = stage->hosts_begin; h < stage->hosts_begin + stage->hosts_count; ++h) {
    const struct nbc_host *host = &plan->tables.hosts[h];
    const struct nbc_range ranges[] = {host->from, host->with, host->to};
    for (int k = 0; k < 3; ++k)
      for (uint32_t i = 0; i < ranges[k].count; ++i) use_piece(plan, ranges[k].begin + i, u);
  }
}

// How long a block may be, and what the device touches of the caller's memory.
// Returns the bytes of staging.
static uint64_t measure_variant(nbc_plan *plan, struct variant *variant) {
  const struct nbc_variant *v = variant->v;
  const struct nbc_segment *hosts =
      plan->target->hosts_records ? records_of_variant(&plan->tables, v) : NULL;
  struct usage u = {.longest = 1, .longest_message = FINE, .first_piece = UINT32_MAX};
  for (uint32_t i = v->relocs.begin; i < v->relocs.begin + v->relocs.count; ++i) {
    const struct nbc_reloc *r = &plan->tables.relocs[i];
    use_reloc(plan, r, is_in(hosts, r), variant, &u);
  }
  for (uint32_t i = 0; i < v->stages.count; ++i)
    use_stage(plan, &plan->tables.stages[v->stages.begin + i], &u);
  if (u.end_piece) variant->pieces = (struct nbc_range){u.first_piece, u.end_piece - u.first_piece};
  variant->calc = v->calc;
  variant->longest = u.longest;
  // All ranks' blocks together are counted in 63 bits, and all neighbours'.
  uint64_t blocks = plan->tables.header->ranks;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role)
    if (blocks_of(&plan->tables, role, false) > blocks)
      blocks = blocks_of(&plan->tables, role, false);
  variant->limit = (uint64_t)INT64_MAX / blocks;
  uint64_t longest = plan->target->longest(plan) / u.longest;
  if (variant->limit > longest) variant->limit = longest;
  longest = plan->target->longest_message * FINE / u.longest_message;
  if (plan->target->longest_message && variant->limit > longest) variant->limit = longest;
  uint64_t most = v->protocol == NBC_EAGER ? plan->eager_bytes
                  : plan->direct           ? plan->bound_block
                  : u.staging              ? plan->max_bytes
                                           : UINT64_MAX;
  if (v->flags & NBC_VARIANT_CALC) most = v->scalars * sizeof(uint64_t);
  if (variant->limit > most) variant->limit = most;
  if (v->protocol != NBC_EAGER) variant->scratch = u.staging;
  uint64_t bytes;
  return __builtin_mul_overflow(u.staging, plan->stride[v->protocol], &bytes) ? UINT64_MAX : bytes;
}

// How much the host writes in each stage: nbc_start leaves what is much to others.
static void measure_stages(nbc_plan *plan) {
  const struct tables *s = &plan->tables;
  for (uint32_t i = 0; i < s->header->stages.count; ++i) {
    const struct nbc_stage *from = &s->stages[i];
    struct stage *stage = &plan->stages[i];
    *stage = (struct stage){from->enabled, from->records, from->hosts_begin, from->hosts_count, 0};
    for (uint32_t h = 0; h < from->hosts_count; ++h) {
      struct nbc_range to = s->hosts[from->hosts_begin + h].to;
      for (uint32_t k = to.begin; k < to.begin + to.count; ++k)
        stage->writes += (s->pieces[k].count + s->pieces[k].parts - 1) / s->pieces[k].parts;
    }
  }
}

// How often a call of the variant needs the host to go on.
static uint32_t turns_of(const struct variant *v) {
  static const struct stage none;
  uint32_t turns = 0;
  for (uint32_t k = 0; k < v->stage_count; ++k) {
    const struct stage *stage = &v->stages[k], *before = k ? stage - 1 : &none;
    turns += stage->records > before->records || (k && stage->enabled > before->enabled);
  }
  return turns;
}

static uint8_t *take_memory(nbc_plan *plan, size_t bytes) {
  if (!plan->turns || !plan->target->leaves_memory) return map_scratch(bytes);
  plan->scratch = turns_scratch(plan->turns, bytes);
  return plan->scratch ? plan->scratch->memory : NULL;
}

static int make_memory(nbc_plan *plan) {
  const struct nbc_template *t = plan->tables.header;
  uint64_t staging = 0, slots = 0;
  for (uint32_t i = 0; i < t->variants.count; ++i) {
    struct variant *v = &plan->variants[i];
    v->v = &plan->tables.variants[i];
    v->flags = v->v->flags;
    v->protocol = v->v->protocol;
    v->stages = plan->stages + v->v->stages.begin;
    v->stage_count = v->v->stages.count;
    v->begins = plan->target->begin && v->stages->hosts_count == 0;
    if (v->v->flags & NBC_VARIANT_CREDIT) plan->credit = v->v;
    const uint32_t turns = turns_of(v);
    if (turns > plan->info.turns) plan->info.turns = turns;
    uint64_t bytes = measure_variant(plan, v);
    if (bytes > staging) staging = bytes;
  }
  for (uint32_t i = 0; i < t->buffers.count; ++i) {
    const struct nbc_buffer *b = &plan->tables.buffers[i];
    if (b->role == NBC_ROLE_SLOTS && b->first + b->blocks > slots) slots = b->first + b->blocks;
    if (b->role < CALLER_ROLES && b->significant && blocks_of(&plan->tables, b->role, false) > 0)
      plan->significant |= 1u << b->role;
  }
  // What a user declared reduces on the ranks where something is to be reduced.
  plan->reduces = kind_reduces(t->kind);
  for (uint32_t i = 0; t->kind == NBC_OWN && i < t->hosts.count; ++i)
    plan->reduces = plan->reduces || plan->tables.hosts[i].op == NBC_HOST_REDUCE;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role)
    for (int in_place = 0; in_place < 2; ++in_place)
      plan->caller_blocks[in_place][role] = blocks_of(&plan->tables, role, in_place);
  plan->info.in_blocks = plan->caller_blocks[0][NBC_ROLE_IN];
  plan->info.out_blocks = plan->caller_blocks[0][NBC_ROLE_OUT];
  plan->info.data_blocks = plan->caller_blocks[0][NBC_ROLE_DATA];

  uint64_t set, all_slots, all_staging, all;
  if (staging > MOST_MEMORY || __builtin_mul_overflow(slots, plan->stride[NBC_EAGER], &set) ||
      set > MOST_MEMORY)
    return NBC_ERROR_MEMORY;
  plan->slot_set = round_up(set, 64);
  plan->staging_instance = round_up(staging, 64);
  all_slots = plan->slot_set * plan->sets;
  all_staging = plan->staging_instance * plan->depth;
  all = all_slots + all_staging;
  if (all > MOST_MEMORY) return NBC_ERROR_MEMORY;
  plan->memory_bytes = all;
  if (all == 0) return 0;
  // Pages come when they are first touched: most plans never see their longest call.
  plan->memory = take_memory(plan, all);
  if (!plan->memory) return NBC_ERROR_MEMORY;
  plan->staging = plan->memory + all_slots;
  // Of its pages short calls would touch one, and as many of page tables.
  if (staging && plan->target->leaves_memory) {
    plan->little = (uint8_t *)arena_take(&plan->arena, (size_t)plan->depth * LITTLE);
    if (!plan->little) return NBC_ERROR_MEMORY;
  }
  return 0;
}

static void free_plan(nbc_plan *plan) {
  if (plan->target) plan->target->destroy(plan);
  if (plan->scratch)
    plan->scratch->in_use |= plan->memory_in_use;
  else if (plan->memory && !plan->memory_in_use)
    munmap(plan->memory, plan->memory_bytes);
  free(plan->places);
  free((void *)plan->tables.header);
  pthread_mutex_destroy(&plan->own_lock);
  struct arena arena = plan->arena;
  arena_free(&arena);  // and the plan with it
}

static int make_plan(nbc_plan *plan, const void *data, size_t bytes,
                     const struct nbc_plan_options *options) {
  int status = copy_template(plan, data, bytes);
  if (status) return status;
  const struct nbc_template *t = plan->tables.header;
  plan->own_lengths = t->lengths == NBC_LENGTHS_EACH;
  if (t->ranks != (uint32_t)plan->comm->bootstrap.ranks ||
      t->rank != (uint32_t)plan->comm->bootstrap.rank)
    return NBC_ERROR_TEMPLATE;
  plan->target = find_target(t->target);
  plan->on = comm_device(plan->comm, plan->target);
  if ((t->queues.count || t->peers.count) && !plan->on) return NBC_ERROR_TEMPLATE;
  struct nbc_p2p *p2p = (struct nbc_p2p *)comm_device_for(plan->comm, NBC_P2P_TARGET);
  plan->aside = p2p && p2p->ops->move && strcmp(t->target, NBC_P2P_TARGET) ? p2p : NULL;
  status = set_options(plan, options);
  if (status) return status;
  plan->replaced = in_place_role(t);
  status = make_tables(plan);
  if (status) return status;
  place_pieces(plan);
  measure_stages(plan);
  status = make_memory(plan);
  if (!status && plan->own_lengths) status = lengths_make(plan);
  return status ? status : plan->target->create(plan);
}

// Of this thread's latest nbc_plan_create.
static _Thread_local const char *refusal;

const char *nbc_plan_why(void) {
  return refusal ? refusal : nbc_status_text(0);
}

// No number is used twice: plans find each other by it. One that cannot be made takes its own, too,
// so what is created behind it has the same number on all ranks.
static uint32_t take_number(nbc_comm *comm) {
  pthread_mutex_lock(&comm->mutex);
  const uint32_t number = comm->plans_made;
  if (number != UINT32_MAX) ++comm->plans_made;
  pthread_mutex_unlock(&comm->mutex);
  return number;
}

static int create_plan(nbc_comm *comm, const void *data, size_t bytes,
                       const struct nbc_plan_options *options, nbc_plan **result) {
  if (!comm || !result) return NBC_ERROR_ARGUMENT;
  const uint32_t number = take_number(comm);
  int status = nbc_template_check(data, bytes, &refusal);
  if (status) return status;
  refusal = NULL;
  struct arena arena = {0};
  nbc_plan *plan = (nbc_plan *)arena_take(&arena, sizeof *plan);
  if (!plan) return NBC_ERROR_MEMORY;
  plan->arena = arena;
  plan->comm = comm;
  plan->progress = comm->progress;
  plan->number = number;
  pthread_mutex_init(&plan->own_lock, NULL);  // cannot fail on Linux
  plan->lock = &plan->own_lock;
  status = number == UINT32_MAX ? NBC_ERROR_RESOURCES : 0;
  if (!status) status = make_plan(plan, data, bytes, options);
  if (status) {
    refusal = plan->why;
    free_plan(plan);
    return status;
  }
  if (!plan->reduces && plan->target->layouts) plan->layouts = plan->target->layouts(plan);
  plan->info.eager_bytes = plan->eager_bytes;
  plan->info.memory = plan->memory_bytes + plan->queue_bytes;
  plan->info.depth = plan->depth;
  atomic_fetch_add(&comm->plans_alive, 1);
  *result = plan;
  return 0;
}

int nbc_plan_create(nbc_comm *comm, const void *data, size_t bytes,
                    const struct nbc_plan_options *options, nbc_plan **result) {
  refusal = NULL;
  int status = create_plan(comm, data, bytes, options, result);
  if (!refusal) refusal = nbc_status_text(status);
  return status;
}

int nbc_plan_reachable(const nbc_plan *plan) {
  return plan && plan->target->reachable && plan->target->reachable(plan);
}

enum nbc_layouts nbc_plan_layouts(const nbc_plan *plan) {
  return plan ? plan->layouts : NBC_LAYOUTS_REFUSED;
}

static void keep_plan_warm(nbc_plan *plan) {
  struct warm *w = &plan->warm;
  enum { FEW = 2 };  // variants, stages: those behind are seldom used
  keep_warm(w, plan, offsetof(nbc_plan, arena));
  if (plan->turns) keep_warm(w, plan->turns, offsetof(struct turns, lock));
  keep_warm(w, plan->target, offsetof(struct target, poll));
  keep_warm(w, plan->variants, FEW * sizeof *plan->variants);
  keep_warm(w, plan->stages, FEW * sizeof *plan->stages);
  if (plan->target->keep_warm) plan->target->keep_warm(plan);
}

static void find_at_once(nbc_plan *plan) {
  const struct target *t = plan->target;
  if (!t->at_once || t->acquire || plan->direct) return;
  for (uint32_t i = 0; i < plan->tables.header->variants.count; ++i) {
    struct variant *v = &plan->variants[i];
    for (uint32_t k = 0; k < v->stage_count; ++k) v->works |= v->stages[k].hosts_count != 0;
    v->at_once = t->most_at_once(plan, v);
    plan->may_at_once |= v->at_once != 0;
  }
}

int nbc_plan_connect(nbc_plan *plan) {
  if (!plan || plan->connected) return NBC_ERROR_ARGUMENT;
  int status = plan->target->connect(plan);
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  // Also after a failure: others wait here for all.
  if (b->fence && b->fence(b->context) && !status) status = NBC_ERROR_BOOTSTRAP;
  plan->connected = !status;
  if (plan->connected) find_at_once(plan);
  if (plan->connected) keep_plan_warm(plan);
  if (plan->connected && b->fence && b->forget) {  // then all have what they asked for
    char prefix[32];
    snprintf(prefix, sizeof prefix, "nbc.%u.", plan->number);
    b->forget(b->context, prefix);
  }
  if (plan->connected) progress_add(plan);
  return status;
}

int nbc_plan_free(nbc_plan *plan) {
  if (!plan) return 0;
  plan_lock(plan);
  bool busy = plan->oldest != NULL;
  if (!busy && plan->turns && plan->turns->holder == plan) plan->turns->holder = NULL;
  plan_unlock(plan);
  if (busy) return NBC_ERROR_BUSY;
  progress_remove(plan);
  atomic_fetch_sub(&plan->comm->plans_alive, 1);
  free_plan(plan);
  return 0;
}

bool place_of(const nbc_plan *plan, const struct nbc_reloc *r, struct place_patch *patch) {
  const struct place *first = &plan->places[r->what];
  bool whole = first->whole;
  *patch = (struct place_patch){
      .at = r->at, .role = first->role, .rooms = first->rooms, .blocks = first->blocks};
  uint32_t more = r->rule == NBC_RELOC_SGE ? r->extra : 0;
  for (uint32_t k = 0; k <= more; ++k) {
    whole = whole && plan->tables.pieces[r->what + k].parts == 1;
    patch->count += plan->places[r->what + k].count;
  }
  return whole;
}

uint64_t plan_identity(const nbc_plan *plan) {
  const struct nbc_template *t = plan->tables.header;
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *c = t->algorithm; *c; ++c) hash = (hash ^ (uint8_t)*c) * 0x100000001b3u;
  const uint64_t values[] = {t->kind,           t->ranks,           t->root,         t->lengths,
                             plan->depth,       plan->eager_bytes,  plan->max_bytes, plan->direct,
                             plan->bound_block, plan->turns != NULL};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
    hash = (hash ^ values[i]) * 0x100000001b3u;
  return hash;
}

uint64_t touched_bytes(const nbc_plan *plan, const struct call *c, uint32_t role,
                       const void **begin) {
  if (!(c->variant->touched >> role & 1) || c->block == 0) return 0;
  if (plan->own_lengths) {
    *begin = (const void *)c->begin[role];
    return c->end[role] - c->begin[role];
  }
  *begin = c->base[role];
  bool in_place = c->variant->v->flags & NBC_VARIANT_IN_PLACE;
  return c->block * plan->caller_blocks[in_place][role];
}

void nbc_plan_query(const nbc_plan *plan, struct nbc_plan_info *info) {
  plan_lock((nbc_plan *)plan);
  *info = plan->info;
  plan_unlock((nbc_plan *)plan);
}
