// SPDX-License-Identifier: BSD-3-Clause
// coredirect_create.c - queues for a template, and patches out of its relocations.
//
// How long queues must be, coredirect_needs.c knows.
//
// Receives are posted when the plan is created, before any peer can know the queue. Those of peers'
// pairs stay when a pair fails: a WAIT counts errors, too, and would let the adapter send on what
// never came.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/src/coredirect.h"

static struct coredirect *state_of(const nbc_plan *plan) {
  return (struct coredirect *)plan->state;
}

// log2 of the least power of two that is at least n; UINT32_MAX if above 2^most.
static uint32_t log_of(uint64_t n, uint32_t most) {
  uint32_t log = 0;
  while (log <= most && UINT64_C(1) << log < n) ++log;
  return log <= most ? log : UINT32_MAX;
}

// --- queues ---

static int make_cq(nbc_plan *plan, uint32_t log, uint32_t flags, struct nbc_hca_cq *cq) {
  struct nbc_hca *hca = state_of(plan)->hca;
  int status = hca->ops->create_cq(hca, log, flags | NBC_HCA_CQ_OVERRUN_IGNORE, cq);
  if (status || !plan->first_cq_index) return status;
  if (!hca->ops->start_cq_at) status = NBC_ERROR_UNSUPPORTED;
  if (!status) status = hca->ops->start_cq_at(hca, cq->number, plan->first_cq_index);
  if (status) hca->ops->destroy_cq(hca, cq->number);
  return status;
}

static int make_done_cq(nbc_plan *plan, uint64_t entries) {
  struct coredirect *s = state_of(plan);
  uint32_t log = log_of(entries, endpoint_of(plan)->facts.max_log_cq);
  int status = make_cq(plan, log, NBC_HCA_CQ_HOST, &s->done);
  if (status) return status;
  s->done_made = true;
  s->polled = plan->first_cq_index;
  return 0;
}

static uint32_t flags_of(uint32_t kind) {
  return NBC_HCA_QP_CROSS_CHANNEL | (kind == NBC_QUEUE_MANAGEMENT ? 0 : NBC_HCA_QP_MANAGED_SEND) |
         (kind >= NBC_QUEUE_EAGER ? NBC_HCA_QP_SHARED_RECEIVES : 0);
}

static int make_queue(nbc_plan *plan, uint32_t index, const struct need *n) {
  struct coredirect *s = state_of(plan);
  struct nbc_hca *hca = s->hca;
  const struct nbc_hca_facts *facts = &endpoint_of(plan)->facts;
  struct queue *q = &s->queues[index];
  uint32_t kind = plan->tables.queues[index].kind;
  bool receiving = n->room != 0;
  struct nbc_hca_qp_request request = {
      .log_sq = log_of(n->sends, facts->max_log_sq),
      .log_rq = receiving ? log_of(n->room, facts->max_log_rq) : UINT32_MAX,
      .log_stride = n->stride ? log_of(n->stride, 31) : 4,
      .flags = is_chained_by_words(&plan->tables) ? 0 : flags_of(kind),
      .port = facts->ports ? plan->tables.queues[index].port % facts->ports : 0};
  for (int side = 0; side < 2; ++side) {
    q->cq[side] = s->done.number;
    if (!n->completes[side] || kind == NBC_QUEUE_MANAGEMENT) continue;
    struct nbc_hca_cq cq;
    int status = make_cq(plan, 0, 0, &cq);
    if (status) return status;
    q->own_cq[side] = true;
    q->cq[side] = cq.number;
    q->last[side] = cq.entries + MLX5_CQE_OP_OWN;
  }
  request.send_cq = q->cq[NBC_SIDE_SEND];
  request.recv_cq = q->cq[NBC_SIDE_RECV];
  struct nbc_hca_qp qp;
  int status = hca->ops->create_qp(hca, &request, &qp);
  if (status) return status;
  q->made = true;
  q->number = qp.number;
  q->sq = qp.sq;
  q->rq = qp.rq;
  q->doorbell = qp.doorbell;
  q->sq_mask = (MLX5_WQEBB << qp.log_sq) - 1;
  q->stride = 1u << qp.log_stride;
  q->room = 1u << request.log_stride;
  q->plain = n->stride == 0;
  plan->queue_bytes += (size_t)q->sq_mask + 1;
  if (plan->first_sq_index) {
    if (!hca->ops->start_queue_at) return NBC_ERROR_UNSUPPORTED;
    status = hca->ops->start_queue_at(hca, q->number, plan->first_sq_index, plan->first_sq_index);
    if (status) return status;
  }
  q->received = plan->first_sq_index;
  if (!receiving) return 0;

  q->rq_mask = (q->stride << qp.log_rq) - 1;
  plan->queue_bytes += (size_t)q->rq_mask + 1;
  for (uint32_t i = 0; i >> qp.log_rq == 0; ++i) {
    mlx5_put32(q->rq + (size_t)i * q->stride + MLX5_DATA_COUNT, 0);
    mlx5_put32(q->rq + (size_t)i * q->stride + MLX5_DATA_LKEY, MLX5_INVALID_LKEY);
    mlx5_put64(q->rq + (size_t)i * q->stride + MLX5_DATA_ADDR, 0);
  }
  if (kind == NBC_QUEUE_CTS || kind == NBC_QUEUE_DIRECT) {
    q->received += (uint32_t)n->receives;
    __atomic_store_n(&q->doorbell[0], __builtin_bswap32(q->received & 0xffff), __ATOMIC_RELEASE);
  }
  return 0;
}

// Vectors of as many elements are reduced by the adapter as its queues are long enough for.
static int find_needs(nbc_plan *plan, struct need *needs, uint64_t *polled) {
  uint32_t scalars = NBC_MOST_SCALARS;
  int status;
  for (;; scalars /= 2) {
    memset(needs, 0, plan->tables.header->queues.count * sizeof *needs);
    status = coredirect_needs(&plan->tables, plan->depth, scalars, needs, polled);
    if (!status)
      status = coredirect_fits(&plan->tables, plan->depth, needs, *polled,
                               &endpoint_of(plan)->facts, &plan->why);
    if (status != NBC_ERROR_RESOURCES || scalars == 1) break;
  }
  for (uint32_t i = 0; i < plan->tables.header->variants.count; ++i)
    if (plan->tables.variants[i].scalars > scalars) plan->variants[i].calc = 0;
  return status;
}

static int make_queues(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  uint32_t count = plan->tables.header->queues.count;
  if (count == 0) return 0;
  struct need *needs = (struct need *)calloc(count, sizeof *needs);
  if (!needs) return NBC_ERROR_MEMORY;
  uint64_t polled;
  int status = find_needs(plan, needs, &polled);
  if (!status) status = make_done_cq(plan, polled);
  for (uint32_t i = 0; i < count && !status; ++i) {
    if (plan->tables.queues[i].kind == NBC_QUEUE_MESSAGES) continue;
    status = make_queue(plan, i, &needs[i]);
    uint64_t *of = s->counters + COUNTERS * i;
    of[POSTED] = plan->first_sq_index;
    of[SENT] = of[RECEIVED] = plan->first_cq_index;
    of[CREDIT] = of[RECEIVED] - 1;  // before the first window none is waited for
    if (plan->tables.queues[i].kind == NBC_QUEUE_MANAGEMENT) s->mq = i;
  }
  s->rung = plan->first_sq_index;
  free(needs);
  return status;
}

// --- patches ---

// All arrays of one variant, in one piece of memory with room for the worst case.
static int make_arrays(struct patches *v, uint32_t relocs, uint32_t segments, uint32_t queues) {
  size_t bytes =
      relocs * (4 * sizeof(struct counter_patch) + 2 * sizeof(struct place_patch) +
                sizeof(struct slot_patch) + sizeof(struct word_patch) + 2 * sizeof(uint32_t)) +
      segments * 2 * sizeof(struct ring_copy) + queues * sizeof(struct use) + 64;
  uint8_t *next = (uint8_t *)malloc(bytes);
  if (!next) return NBC_ERROR_MEMORY;
  v->arena = next;
#define TAKE(field, count) \
  v->field = (void *)next; \
  next += (count) * sizeof *v->field;
  TAKE(sges, relocs)
  TAKE(slots, relocs)
  TAKE(raddrs, relocs)
  TAKE(indices, relocs)
  TAKE(enables, relocs)
  TAKE(waits, relocs)
  TAKE(credits, relocs)
  TAKE(words, relocs)
  TAKE(slow, relocs)
  TAKE(modes, relocs)
  TAKE(sends, segments)
  TAKE(receives, segments)
  TAKE(uses, queues)
#undef TAKE
  return 0;
}

static void add_place(const nbc_plan *plan, struct patches *v, const struct nbc_reloc *r,
                      uint32_t index) {
  struct place_patch patch;
  bool whole = place_of(plan, r, &patch);
  if (!whole && r->rule != NBC_RELOC_SLOT)
    v->slow[v->slow_count++] = index;
  else if (r->rule == NBC_RELOC_SGE)
    v->sges[v->sge_count++] = patch;
  else if (r->rule == NBC_RELOC_SLOT)
    v->slots[v->slot_count++] = (struct slot_patch){patch, r->addend, r->extra + 1};
  else
    v->raddrs[v->raddr_count++] = patch;
}

static void add_reloc(const nbc_plan *plan, struct patches *v, const struct nbc_reloc *r,
                      uint32_t index) {
  uint32_t cq = COUNTERS * r->what + (r->side == NBC_SIDE_SEND ? SENT : RECEIVED);
  switch ((enum nbc_reloc_rule)r->rule) {
    case NBC_RELOC_INDEX:
      v->indices[v->index_count++] =
          (struct counter_patch){r->at, COUNTERS * r->what + POSTED, r->addend};
      break;
    case NBC_RELOC_ENABLE:
      v->enables[v->enable_count++] =
          (struct counter_patch){r->at, COUNTERS * r->what + POSTED, r->addend};
      break;
    case NBC_RELOC_WAIT:
      v->waits[v->wait_count++] = (struct counter_patch){r->at, cq, r->addend};
      break;
    case NBC_RELOC_CREDIT:
      v->credits[v->credit_count++] = (struct counter_patch){r->at, r->what, 0};
      break;
    case NBC_RELOC_OPMOD:
      v->modes[v->mode_count++] = r->at;
      break;
    case NBC_RELOC_SGE:
    case NBC_RELOC_RADDR:
    case NBC_RELOC_SLOT:
      if (r->rule == NBC_RELOC_RADDR && plan->places[r->what].role < CALLER_ROLES)
        state_of(plan)->access[plan->places[r->what].role] |= NBC_HCA_REMOTE_WRITE;
      add_place(plan, v, r, index);
      break;
    case NBC_RELOC_QPN:
    case NBC_RELOC_CQN:
    case NBC_RELOC_ENABLE_QPN:
    case NBC_RELOC_ROOM:
      break;  // bound once, not at a call
    case NBC_RELOC_TOLD:
      break;  // when the peer has told, for good
    case NBC_RELOC_WORD_WAIT:
    case NBC_RELOC_WORD_TOLD:
    case NBC_RELOC_WORD_OWN:
    case NBC_RELOC_WORD_INTO:
    case NBC_RELOC_WORD_VALUE:
      v->words[v->word_count++] = (struct word_patch){r->at, r->rule, r->what, r->addend};
      break;
    case NBC_RELOC_PIECES:
      break;  // of records
    case NBC_RELOC_RULES:
      break;  // none
  }
}

// `use_of`: for each queue its place in uses, from 1 on; 0 before and after.
static struct use *use_of_queue(struct patches *v, uint32_t *use_of, uint32_t queue) {
  if (!use_of[queue]) {
    v->uses[v->use_count++] = (struct use){.queue = queue};
    use_of[queue] = v->use_count;
  }
  return &v->uses[use_of[queue] - 1];
}

static int add_segment(const nbc_plan *plan, struct patches *v, const struct nbc_segment *g,
                       uint32_t *use_of) {
  if (plan->tables.queues[g->queue].kind == NBC_QUEUE_MESSAGES) return 0;
  struct use *u = use_of_queue(v, use_of, g->queue);
  struct ring_copy copy = {g->queue, g->offset, g->bytes, g->entries};
  if (g->entries == 0) return 0;
  uint32_t kind = plan->tables.queues[g->queue].kind;
  if (g->ring == NBC_RING_SEND) {
    if (u->posted) return NBC_ERROR_TEMPLATE;  // one segment a queue and ring
    u->posted = g->entries;
    u->sent = g->send_cqes;
    v->sends[v->send_count++] = copy;
    if (kind == NBC_QUEUE_MANAGEMENT) v->managed = g->entries;
  } else {
    if (u->received) return NBC_ERROR_TEMPLATE;
    u->received = g->entries;
    if (kind == NBC_QUEUE_DATA || kind == NBC_QUEUE_LOOPBACK || kind == NBC_QUEUE_CHAIN)
      v->receives[v->receive_count++] = copy;
  }
  return 0;
}

static int make_patches(nbc_plan *plan, const struct nbc_variant *from, struct patches *v,
                        uint32_t *use_of) {
  const struct tables *s = &plan->tables;
  const struct nbc_range ahead = s->header->ahead_segments;
  const struct nbc_segment *records = records_of_variant(s, from);
  bool eager = from->protocol == NBC_EAGER && !(from->flags & NBC_VARIANT_CREDIT);
  uint32_t segments = from->segments.count + (eager ? ahead.count : 0);
  int status = make_arrays(v, from->relocs.count, segments, segments);
  for (uint32_t i = 0; i < from->relocs.count && !status; ++i) {
    uint32_t index = from->relocs.begin + i;
    if (!is_in(records, &s->relocs[index])) add_reloc(plan, v, &s->relocs[index], index);
  }
  for (uint32_t i = 0; i < from->segments.count && !status; ++i)
    status = add_segment(plan, v, &s->segments[from->segments.begin + i], use_of);
  for (uint32_t i = 0; i < ahead.count && eager && !status; ++i)
    status = add_segment(plan, v, &s->segments[ahead.begin + i], use_of);
  for (uint32_t i = 0; i < v->use_count; ++i) use_of[v->uses[i].queue] = 0;
  return status;
}

static int make_rooms(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  const struct nbc_range relocs = plan->tables.header->ahead_relocs;
  s->rooms = (struct room_patch *)malloc(((size_t)relocs.count + 1) * sizeof *s->rooms);
  if (!s->rooms) return NBC_ERROR_MEMORY;
  for (uint32_t i = 0; i < relocs.count; ++i) {
    const struct nbc_reloc *r = &plan->tables.relocs[relocs.begin + i];
    uint64_t first = plan->tables.buffers[r->what].first, stride = plan->stride[NBC_EAGER];
    if (r->extra > INT32_MAX / stride) return NBC_ERROR_RESOURCES;
    mlx5_put32(plan->code + r->at + MLX5_DATA_COUNT, (uint32_t)(r->extra * stride));
    mlx5_put32(plan->code + r->at + MLX5_DATA_LKEY, s->lkey);
    s->rooms[s->room_count++] = (struct room_patch){r->at, (first + r->addend) * stride};
  }
  return 0;
}

static int make_all_patches(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  const struct nbc_template *t = plan->tables.header;
  uint32_t *use_of = (uint32_t *)calloc((size_t)t->queues.count + 1, sizeof *use_of);
  if (!use_of) return NBC_ERROR_MEMORY;
  int status = 0;
  for (uint32_t i = 0; i < t->variants.count && !status; ++i) {
    status = make_patches(plan, &plan->tables.variants[i], &s->variants[i], use_of);
    plan->variants[i].target = &s->variants[i];
    if (plan->tables.variants[i].flags & NBC_VARIANT_CREDIT) s->credit = &s->variants[i];
  }
  free(use_of);
  return status;
}

// --- peers ---

// What a rank puts for each peer: where its queues are, and what both must agree on.
struct record {
  uint8_t address[32];
  uint64_t identity;
  uint32_t numbers[NBC_DIRECTIONS][NBC_QUEUE_KINDS];  // by kind; UINT32_MAX: none
  uint32_t places;                                    // direct: that are told
  struct row_told row;                                // chained by words
};

// The queues of a peer: indices, UINT32_MAX where none.
struct ends {
  uint32_t queues[NBC_DIRECTIONS][NBC_QUEUE_KINDS];
};

// Of each peer. Null: no memory.
static struct ends *queues_of_peers(const nbc_plan *plan, int *status) {
  const struct nbc_template *t = plan->tables.header;
  struct ends *table = (struct ends *)malloc(((size_t)t->peers.count + 1) * sizeof *table);
  *status = table ? 0 : NBC_ERROR_MEMORY;
  if (!table) return NULL;
  memset(table, 0xff, t->peers.count * sizeof *table);
  for (uint32_t i = 0; i < t->queues.count; ++i) {
    const struct nbc_queue *q = &plan->tables.queues[i];
    if (q->peer == UINT32_MAX) continue;
    uint32_t *place = &table[q->peer].queues[q->direction][q->kind];
    if (*place != UINT32_MAX) *status = NBC_ERROR_TEMPLATE;  // two of a kind
    *place = i;
  }
  return table;
}

static int publish(nbc_plan *plan) {
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  int status;
  struct ends *table = queues_of_peers(plan, &status);
  for (uint32_t i = near_peers(plan); i < plan->tables.header->peers.count && !status; ++i) {
    struct record record = {.identity = plan_identity(plan)};
    memcpy(record.address, endpoint_of(plan)->address, sizeof record.address);
    for (int way = 0; way < NBC_DIRECTIONS; ++way)
      for (int kind = 0; kind < NBC_QUEUE_KINDS; ++kind) {
        uint32_t queue = table[i].queues[way][kind];
        record.numbers[way][kind] =
            queue == UINT32_MAX ? UINT32_MAX : state_of(plan)->queues[queue].number;
      }
    const uint32_t direct = table[i].queues[NBC_BOTH_WAYS][NBC_QUEUE_DIRECT];
    if (direct != UINT32_MAX) {
      record.places = coredirect_messages(plan, direct, NBC_RING_RECV);
      status = coredirect_tell_places(plan, direct);
    }
    const uint32_t chain = table[i].queues[NBC_BOTH_WAYS][NBC_QUEUE_CHAIN];
    if (chain != UINT32_MAX) record.row = coredirect_tell_row(plan, chain);
    char key[48];
    snprintf(key, sizeof key, "nbc.%u.%u", plan->number, plan->tables.peers[i]);
    if (b->put(b->context, key, &record, sizeof record)) status = NBC_ERROR_BOOTSTRAP;
  }
  free(table);
  return status;
}

static int meet(nbc_plan *plan, uint32_t peer, const struct ends *ends) {
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  struct nbc_hca *hca = state_of(plan)->hca;
  char key[48];
  snprintf(key, sizeof key, "nbc.%u.%u", plan->number, (uint32_t)b->rank);
  struct record record;
  size_t bytes = 0;
  if (b->get(b->context, (int)plan->tables.peers[peer], key, &record, sizeof record, &bytes) ||
      bytes != sizeof record)
    return NBC_ERROR_BOOTSTRAP;
  if (record.identity != plan_identity(plan)) return NBC_ERROR_ARGUMENT;
  static const enum nbc_direction mirror[NBC_DIRECTIONS] = {[NBC_BOTH_WAYS] = NBC_BOTH_WAYS,
                                                            [NBC_TO_PEER] = NBC_FROM_PEER,
                                                            [NBC_FROM_PEER] = NBC_TO_PEER};
  for (int way = 0; way < NBC_DIRECTIONS; ++way)
    for (int kind = NBC_QUEUE_EAGER; kind < NBC_QUEUE_KINDS; ++kind) {
      uint32_t queue = ends->queues[way][kind], there = record.numbers[mirror[way]][kind];
      if ((queue == UINT32_MAX) != (there == UINT32_MAX)) return NBC_ERROR_TEMPLATE;
      if (queue == UINT32_MAX) continue;
      int status =
          hca->ops->connect_qp(hca, state_of(plan)->queues[queue].number, record.address, there);
      if (!status && kind == NBC_QUEUE_DIRECT)
        status = coredirect_hear_places(plan, queue, record.places);
      if (!status && kind == NBC_QUEUE_CHAIN)
        status = coredirect_hear_row(plan, queue, &record.row);
      if (status) return status;
    }
  return 0;
}

static void bind(nbc_plan *plan, const struct nbc_reloc *r) {
  const struct queue *q = &state_of(plan)->queues[r->what];
  uint8_t *at = plan->code + r->at;
  if (r->rule == NBC_RELOC_QPN)
    mlx5_put32(at, q->number << 8 | at[3]);
  else
    mlx5_put32(at, r->rule == NBC_RELOC_CQN ? q->cq[r->side] : q->number);
}

int coredirect_connect(nbc_plan *plan) {
  struct nbc_hca *hca = state_of(plan)->hca;
  const struct nbc_template *t = plan->tables.header;
  int status;
  struct ends *table = queues_of_peers(plan, &status);
  for (uint32_t i = near_peers(plan); i < t->peers.count && !status; ++i)
    status = meet(plan, i, &table[i]);
  free(table);
  for (uint32_t i = 0; i < t->queues.count && !status; ++i) {
    uint32_t number = state_of(plan)->queues[i].number;
    if (plan->tables.queues[i].kind < NBC_QUEUE_EAGER)
      status = hca->ops->connect_qp(hca, number, endpoint_of(plan)->address, number);
  }
  if (!status && plan->messages) status = messages_connect(plan);
  return status ? status : coredirect_agree_on_calc(plan);
}

// Records, where some peers are on this node.
static int create_near(nbc_plan *plan) {
  const uint32_t peers = near_peers(plan);
  const int status = peers ? near_create(plan, peers) : 0;
  if (status == NBC_ERROR_TEMPLATE)
    plan->why =
        "ranks of one node exchange through its memory here: beside the adapter the communicator "
        "needs a device of target shm that has them on this node";
  return status;
}

int coredirect_create(nbc_plan *plan) {
  const struct nbc_template *t = plan->tables.header;
  struct coredirect *s = (struct coredirect *)calloc(1, sizeof *s);
  if (!s) return NBC_ERROR_MEMORY;
  plan->state = s;
  s->hca = plan->on ? endpoint_of(plan)->hca : NULL;
  for (int role = 0; role < CALLER_ROLES; ++role) s->hint[role] = -1;
  s->mq = UINT32_MAX;
  plan->first_cq_index &= MLX5_CQ_INDEX_MASK;
  s->queues = (struct queue *)calloc((size_t)t->queues.count + 1, sizeof *s->queues);
  s->counters = (uint64_t *)calloc((size_t)t->queues.count + 1, COUNTERS * sizeof *s->counters);
  s->variants = (struct patches *)calloc((size_t)t->variants.count + 1, sizeof *s->variants);
  if (!s->queues || !s->counters || !s->variants) return NBC_ERROR_MEMORY;
  int status = 0;
  if (plan->memory && t->queues.count) {
    status = s->hca->ops->register_memory(s->hca, plan->memory, plan->memory_bytes,
                                          NBC_HCA_REMOTE_WRITE, &s->lkey, &s->rkey);
    s->memory_known = !status;
  }
  if (!status) status = make_queues(plan);
  if (!status) status = coredirect_make_words(plan);
  if (!status) status = make_rooms(plan);
  if (!status) status = make_all_patches(plan);
  for (uint32_t i = 0; i < t->variants.count && !status; ++i) {
    const struct nbc_range relocs = plan->tables.variants[i].bind;
    for (uint32_t r = 0; r < relocs.count; ++r) bind(plan, &plan->tables.relocs[relocs.begin + r]);
  }
  if (status) return status;
  for (uint32_t set = 0; set < plan->sets; ++set) coredirect_post_set(plan, set);
  status = coredirect_bind_call(plan);
  if (!status) status = publish(plan);
  if (!status) status = create_near(plan);
  return status ? status : coredirect_publish_calc(plan);
}

void coredirect_destroy(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  if (!s) return;
  coredirect_unbind_call(plan);
  near_destroy(plan);
  struct nbc_hca *hca = s->hca;
  for (uint32_t i = 0; i < plan->tables.header->queues.count && s->queues; ++i)
    if (s->queues[i].made) hca->ops->destroy_qp(hca, s->queues[i].number);
  for (uint32_t i = 0; i < plan->tables.header->queues.count && s->queues; ++i)
    for (int side = 0; side < 2; ++side)
      if (s->queues[i].own_cq[side]) hca->ops->destroy_cq(hca, s->queues[i].cq[side]);
  if (s->done_made) hca->ops->destroy_cq(hca, s->done.number);
  coredirect_free_words(plan);
  if (s->memory_known) hca->ops->deregister_memory(hca, s->lkey);
  s->memory_known = false;
  for (uint32_t i = 0; i < plan->tables.header->variants.count && s->variants; ++i)
    free(s->variants[i].arena);
  free(s->variants);
  free(s->counters);
  free(s->queues);
  free(s->rooms);
  free(s);
  plan->state = NULL;
}
