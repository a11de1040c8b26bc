// SPDX-License-Identifier: BSD-3-Clause
// coredirect.c - a call on CORE-Direct: patch, copy, ring, and see it end.
//
// prepare: addresses and lengths into the plan's copy of the code.
// admit:   indices likewise; then the bytes into the rings, at the producer indices,
//          and receives for data posted. Before the first eager call of a window
//          the credit's own entries.
// enable:  one doorbell, of the management queue; behind the records of the stage, if it has any.
//          Where queues are chained by words, those of the others were rung before.
// poll:    one byte of its CQ; of records a test of the one that the cursor stands at.
// complete: an error anywhere? Then what was received ahead is posted again.
//
// Doorbells are rung in the order of calls, each when the records in front of it are carried out: a
// call behind may be enabled before those of the one in front of it are.

#include "runtime/src/coredirect.h"

#include <string.h>

#include "runtime/src/targets.h"

static struct coredirect *state_of(const nbc_plan *plan) {
  return (struct coredirect *)plan->state;
}

static void store_record(volatile uint32_t *record, uint32_t value) {
  __atomic_store_n(record, __builtin_bswap32(value & 0xffff), __ATOMIC_RELEASE);
}

static void put_data(uint8_t *at, uint64_t bytes, uint32_t key, uint64_t address) {
  mlx5_put64(at, bytes << 32 | key);
  mlx5_put64(at + MLX5_DATA_ADDR, address);
}

// Copies into a ring of mask + 1 bytes, from byte `from` of it on.
static void copy_to_ring(uint8_t *ring, uint32_t mask, uint64_t from, const uint8_t *code,
                         uint32_t bytes) {
  uint32_t begin = (uint32_t)from & mask, first = mask + 1 - begin;
  if (bytes <= first) {
    memcpy(ring + begin, code, bytes);
  } else {
    memcpy(ring + begin, code, first);
    memcpy(ring, code + first, bytes - first);
  }
}

// --- prepare ---

struct keys coredirect_keys(const nbc_plan *plan, const struct call *c) {
  struct keys keys = {{0}, {0}};
  for (int role = 0; role < CALLER_ROLES; ++role) {
    if (c->registration[role] < 0) continue;
    const struct registration *r = &endpoint_of(plan)->memory.slots[c->registration[role]];
    keys.l[role] = r->as.lkey;
    keys.r[role] = r->as.rkey;
  }
  const struct coredirect *s = state_of(plan);
  keys.l[NBC_ROLE_STAGING] = keys.l[NBC_ROLE_SLOTS] = s->lkey;
  keys.r[NBC_ROLE_STAGING] = keys.r[NBC_ROLE_SLOTS] = s->rkey;
  return keys;
}

// Pieces with parts: their ends must be divided out.
static int prepare_slow(nbc_plan *plan, struct call *c, const struct nbc_reloc *r,
                        const struct keys *keys) {
  uint64_t address, bytes;
  int status = run_address(plan, c, r, &address, &bytes);
  if (status) return status;
  if (bytes > INT32_MAX) return NBC_ERROR_TOO_LONG;
  uint32_t role = plan->places[r->what].role;
  uint8_t *at = plan->code + r->at;
  if (r->rule == NBC_RELOC_RADDR) {
    mlx5_put64(at + MLX5_RADDR_ADDR, address);
    mlx5_put32(at + MLX5_RADDR_RKEY, keys->r[role]);
  } else {
    put_data(at, bytes, keys->l[role], address);
    c->empty |= bytes == 0;
  }
  return 0;
}

int coredirect_prepare(nbc_plan *plan, struct call *c) {
  const struct patches *v = (const struct patches *)c->variant->target;
  struct keys keys = coredirect_keys(plan, c);
  uint8_t *code = plan->code;
  for (uint32_t i = 0; i < v->slow_count; ++i) {
    int status = prepare_slow(plan, c, &plan->tables.relocs[v->slow[i]], &keys);
    if (status) return status;
  }
  for (const struct place_patch *p = v->sges, *end = p + v->sge_count; p < end; ++p)
    put_data(code + p->at, p->count * c->block, keys.l[p->role], place_address(c, p));
  for (const struct slot_patch *p = v->slots, *end = p + v->slot_count; p < end; ++p)
    put_data(code + p->vector.at, p->count * SLOT_BYTES, keys.l[p->vector.role],
             place_address(c, &p->vector) + p->first * SLOT_BYTES);
  for (const struct place_patch *p = v->raddrs, *end = p + v->raddr_count; p < end; ++p) {
    mlx5_put64(code + p->at + MLX5_RADDR_ADDR, place_address(c, p));
    mlx5_put32(code + p->at + MLX5_RADDR_RKEY, keys.r[p->role]);
  }
  for (uint32_t i = 0; i < v->mode_count; ++i) code[v->modes[i]] = c->calc;
  c->empty |= c->block == 0;
  return plan->messages ? messages_prepare(plan, c) : 0;
}

// --- data segments of no bytes ---
//
// Hardware may take a length of 0 for 2^31, so such segments are left out of the
// ring's copy. What then remains of an entry's basic blocks becomes NOPs: the indices
// of those behind it stand. The NOPs come first. Nobody waits for them, but for the
// entry somebody does; once it is over they are, and the next call may use their blocks.

// Moves data segments [first, count) with bytes together; returns how many remain.
static uint32_t squeeze(uint8_t *ring, uint32_t mask, uint64_t entry, uint32_t first,
                        uint32_t count) {
  uint32_t kept = first;
  for (uint32_t k = first; k < count; ++k) {
    const uint8_t *from = ring + ((entry + k * MLX5_SEGMENT) & mask);
    uint32_t bytes = mlx5_get32(from);
    if (bytes & MLX5_INLINE) return count;
    if (bytes == 0) continue;
    uint8_t *to = ring + ((entry + kept++ * MLX5_SEGMENT) & mask);
    if (to != from) memcpy(to, from, MLX5_SEGMENT);
  }
  return kept;
}

static void squeeze_sends(const nbc_plan *plan, const struct queue *q, const struct ring_copy *s,
                          uint64_t posted) {
  for (uint32_t entry = 0, blocks; entry < s->entries; entry += blocks) {
    const uint8_t *wqe = plan->code + s->at + (size_t)entry * MLX5_WQEBB;
    uint32_t segments = wqe[MLX5_CTRL_DS] & 0x3f;
    uint8_t opcode = wqe[MLX5_CTRL_OPCODE];
    blocks = (segments + 3) / 4;
    bool writes = opcode == MLX5_WRITE || opcode == MLX5_WRITE_IMM;
    if (!writes && opcode != MLX5_SEND && opcode != MLX5_SEND_IMM) continue;
    uint64_t at = (posted + entry) * MLX5_WQEBB;
    uint32_t kept = squeeze(q->sq, q->sq_mask, at, writes ? 2 : 1, segments);
    uint8_t *ctrl = q->sq + (at & q->sq_mask);
    ctrl[MLX5_CTRL_DS] = (uint8_t)((ctrl[MLX5_CTRL_DS] & 0xc0) | kept);
    uint32_t used = (kept + 3) / 4, nops = blocks - used;
    if (nops == 0) continue;
    mlx5_put16(ctrl + MLX5_CTRL_INDEX, (uint16_t)(posted + entry + nops));
    for (uint32_t b = used; b-- > 0;)
      memcpy(q->sq + ((at + (b + nops) * MLX5_WQEBB) & q->sq_mask),
             q->sq + ((at + b * MLX5_WQEBB) & q->sq_mask), MLX5_WQEBB);
    for (uint32_t b = 0; b < nops; ++b) {
      uint8_t *nop = q->sq + ((at + b * MLX5_WQEBB) & q->sq_mask);
      memset(nop, 0, MLX5_SEGMENT);
      mlx5_put16(nop + MLX5_CTRL_INDEX, (uint16_t)(posted + entry + b));
      nop[MLX5_CTRL_OPCODE] = MLX5_NOP;
      mlx5_put32(nop + MLX5_CTRL_QPN, q->number << 8 | 1);
    }
  }
}

static void end_list(uint8_t *at) {
  put_data(at, 0, MLX5_INVALID_LKEY, 0);
}

static void squeeze_receives(const struct queue *q, uint32_t first, uint32_t entries) {
  for (uint32_t i = 0; i < entries; ++i) {
    uint64_t at = (uint64_t)(first + i) * q->stride;
    uint32_t all = q->room / MLX5_SEGMENT, kept = squeeze(q->rq, q->rq_mask, at, 0, all);
    if (kept < all) end_list(q->rq + ((at + kept * MLX5_SEGMENT) & q->rq_mask));
  }
}

// --- admit ---

void coredirect_post_receives(nbc_plan *plan, const struct ring_copy *r) {
  struct queue *q = &state_of(plan)->queues[r->queue];
  const uint64_t at = (uint64_t)q->received * q->stride;
  const uint32_t bytes = r->bytes / r->entries;
  q->received += r->entries;
  if (bytes == 0 && q->plain) return;
  if (bytes == q->stride) {
    copy_to_ring(q->rq, q->rq_mask, at, plan->code + r->at, r->bytes);
    return;
  }
  for (uint32_t i = 0; i < r->entries; ++i) {
    uint8_t *to = q->rq + ((at + (uint64_t)i * q->stride) & q->rq_mask);
    memcpy(to, plan->code + r->at + i * bytes, bytes);
    if (bytes < q->room) end_list(to + bytes);
  }
}

static void publish_receives(struct queue *q) {
  store_record(&q->doorbell[0], q->received);
}

void coredirect_post_set(nbc_plan *plan, uint32_t set) {
  struct coredirect *s = state_of(plan);
  const struct nbc_range ahead = plan->tables.header->ahead_segments;
  uint64_t base = (uintptr_t)plan->memory + set * plan->slot_set;
  for (uint32_t i = 0; i < s->room_count; ++i)
    mlx5_put64(plan->code + s->rooms[i].at + MLX5_DATA_ADDR, base + s->rooms[i].offset);
  for (uint32_t i = ahead.begin; i < ahead.begin + ahead.count; ++i) {
    const struct nbc_segment *g = &plan->tables.segments[i];
    if (g->entries == 0) continue;
    coredirect_post_receives(plan, &(struct ring_copy){g->queue, g->offset, g->bytes, g->entries});
    publish_receives(&s->queues[g->queue]);
  }
}

// Fills in what depends on the calls before, and puts the bytes into the rings.
static void put_in_rings(nbc_plan *plan, const struct patches *v, bool empty) {
  struct coredirect *s = state_of(plan);
  uint64_t *counters = s->counters;
  uint8_t *code = plan->code;
  for (const struct counter_patch *p = v->indices, *end = p + v->index_count; p < end; ++p)
    mlx5_put16(code + p->at, (uint16_t)(counters[p->counter] + p->addend));
  for (const struct counter_patch *p = v->enables, *end = p + v->enable_count; p < end; ++p)
    mlx5_put32(code + p->at, (uint32_t)(counters[p->counter] + p->addend) & 0xffff);
  for (const struct counter_patch *p = v->waits, *end = p + v->wait_count; p < end; ++p)
    mlx5_put32(code + p->at, (uint32_t)(counters[p->counter] + p->addend) & MLX5_CQ_INDEX_MASK);

  for (const struct ring_copy *r = v->receives, *end = r + v->receive_count; r < end; ++r) {
    struct queue *q = &s->queues[r->queue];
    coredirect_post_receives(plan, r);
    if (empty && r->bytes) squeeze_receives(q, q->received - r->entries, r->entries);
    publish_receives(q);
  }
  for (const struct ring_copy *r = v->sends, *end = r + v->send_count; r < end; ++r) {
    struct queue *q = &s->queues[r->queue];
    uint64_t posted = counters[COUNTERS * r->queue + POSTED];
    copy_to_ring(q->sq, q->sq_mask, posted * MLX5_WQEBB, code + r->at, r->bytes);
    if (empty) squeeze_sends(plan, q, r, posted);
  }
  for (const struct use *u = v->uses, *end = u + v->use_count; u < end; ++u) {
    uint64_t *of = counters + COUNTERS * u->queue;
    of[POSTED] += u->posted;
    of[SENT] += u->sent;
    of[RECEIVED] += u->received;
    // Its record tells how much of the ring holds entries; only the management queue is rung.
    if (u->posted && u->queue != s->mq)
      store_record(&s->queues[u->queue].doorbell[1], (uint32_t)of[POSTED]);
  }
}

static void put_credit(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  for (uint32_t i = 0; i < s->credit->credit_count; ++i) {
    const struct counter_patch *p = &s->credit->credits[i];
    uint64_t *of = s->counters + COUNTERS * p->counter;
    // A credit from long ago, with many clear-to-send behind it: name a later one of
    // those that have come, lest it leave the half window in which indices compare.
    if (of[RECEIVED] - of[CREDIT] > 1 << 20 && of[RECEIVED] > of[CREDIT])
      of[CREDIT] = of[RECEIVED] - (1 << 20);
    mlx5_put32(plan->code + p->at, (uint32_t)of[CREDIT] & MLX5_CQ_INDEX_MASK);
    of[CREDIT] = of[RECEIVED];  // the one that comes now is the next entry
  }
  put_in_rings(plan, s->credit, false);
}

static void admit(nbc_plan *plan, struct call *c) {
  struct coredirect *s = state_of(plan);
  if (c->opens_window) put_credit(plan);
  if (s->mq != UINT32_MAX) c->target[FIRST] = (uint32_t)s->counters[COUNTERS * s->mq + POSTED];
  c->target[MANAGED] = 0;
  if (plan->messages) messages_admit(plan, c);
  const struct patches *v = (const struct patches *)c->variant->target;
  bool words = is_chained_by_words(&plan->tables);
  if (words) coredirect_count_call(plan, v);
  put_in_rings(plan, v, c->empty);
  if (words) coredirect_ring_chains(plan, v);
}

// --- enable, poll, complete ---

static void ring_up_to(struct coredirect *s, uint32_t limit) {
  if ((uint32_t)s->rung == limit) return;
  s->rung = limit;
  struct queue *q = &s->queues[s->mq];
  uint64_t ctrl;
  memcpy(&ctrl, q->sq + (((limit - 1) * MLX5_WQEBB) & q->sq_mask), sizeof ctrl);
  store_record(&q->doorbell[1], limit);
  s->hca->ops->doorbell(s->hca, q->number, ctrl);
}

static bool carried(const nbc_plan *plan, const struct call *c) {
  return !plan->messages || c->target[CARRIED] >= c->target[ENABLED];
}

// Rings for what is enabled and has its records behind it.
static void ring(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  for (struct call *c = s->ringing; c && carried(plan, c); c = s->ringing) {
    const struct stage *all = &c->variant->stages[c->variant->stage_count - 1];
    if (s->mq != UINT32_MAX) ring_up_to(s, c->target[FIRST] + c->target[MANAGED]);
    if (c->target[MANAGED] != all->enabled) return;  // what follows is of a later stage
    if (plan->messages && c->target[ENABLED] != all->records) return;
    s->ringing = c->next && c->next->state == CALL_ADMITTED ? c->next : NULL;
  }
}

// What the stage that the call is at adds to the management queue.
static uint32_t managed(const struct call *c) {
  const struct stage *stage = &c->variant->stages[c->stage];
  return stage->enabled - (c->stage ? stage[-1].enabled : 0);
}

static bool enable(nbc_plan *plan, struct call *c) {
  struct coredirect *s = state_of(plan);
  c->target[MANAGED] = c->variant->stages[c->stage].enabled;
  bool pending = plan->messages && messages_enable(plan, c);
  if (!s->ringing) s->ringing = c;
  ring(plan);
  return pending || managed(c) > 0;
}

static bool is_error(uint8_t op_own) {
  return op_own >> 4 == MLX5_CQE_REQ_ERR || op_own >> 4 == MLX5_CQE_RESP_ERR;
}

// Whether the oldest stage's last entry is there.
static int poll_queue(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  uint32_t mask = (1u << s->done.log_entries) - 1;
  uint8_t op_own = __atomic_load_n(
      s->done.entries + (s->polled & mask) * MLX5_CQE + MLX5_CQE_OP_OWN, __ATOMIC_ACQUIRE);
  if (op_own >> 4 == MLX5_CQE_INVALID || (op_own & 1) != (s->polled >> s->done.log_entries & 1))
    return 0;
  ++s->polled;
  return is_error(op_own) ? NBC_ERROR_DEVICE : 1;
}

static int poll(nbc_plan *plan) {
  const struct call *c = plan->oldest;
  if (!plan->messages) return poll_queue(plan);
  int over = messages_poll(plan);
  if (over >= 0) ring(plan);
  if (over <= 0 || c->stage == c->variant->stage_count || managed(c) == 0) return over;
  return poll_queue(plan);
}

static bool lingers(nbc_plan *plan, struct call *c) {
  return plan->messages && messages_linger(plan, c);
}

// An error completion counts for WAITs like any other, so the call may have ended
// because of one. Once a queue pair has failed, all its later completions are errors.
static bool went_wrong(nbc_plan *plan, const struct use *u) {
  struct coredirect *s = state_of(plan);
  struct queue *q = &s->queues[u->queue];
  for (int side = 0; side < 2; ++side)
    if (q->last[side] && is_error(__atomic_load_n(q->last[side], __ATOMIC_ACQUIRE))) return true;
  return s->hca->ops->failed(s->hca, q->number) != 0;
}

// Clear-to-send and credits that have come, and all of a direct call: room for as many again.
static void repost_plain(nbc_plan *plan, const struct patches *v) {
  struct coredirect *s = state_of(plan);
  for (const struct use *u = v->uses, *end = u + v->use_count; u < end; ++u) {
    const uint32_t kind = plan->tables.queues[u->queue].kind;
    if (!u->received || (kind != NBC_QUEUE_CTS && kind != NBC_QUEUE_DIRECT)) continue;
    s->queues[u->queue].received += u->received;
    publish_receives(&s->queues[u->queue]);
  }
}

static int complete(nbc_plan *plan, struct call *c) {
  struct coredirect *s = state_of(plan);
  const struct patches *v = (const struct patches *)c->variant->target;
  for (const struct use *u = v->uses, *end = u + v->use_count; u < end; ++u)
    if (went_wrong(plan, u)) return NBC_ERROR_DEVICE;
  repost_plain(plan, v);
  if (c->opens_window) repost_plain(plan, s->credit);
  if (c->variant->v->protocol == NBC_EAGER) coredirect_post_set(plan, c->set);
  return plan->messages ? messages_complete(plan, c) : 0;
}

static bool failed(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  if (plan->messages && near_failed(plan)) return true;
  for (uint32_t i = 0; i < plan->tables.header->queues.count; ++i)
    if (s->queues[i].made && s->hca->ops->failed(s->hca, s->queues[i].number) != 0) return true;
  return false;
}

// One queue at a time, so that a test that finds nothing stays short.
static bool glance(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  uint32_t count = plan->tables.header->queues.count;
  if (count == 0) return false;
  if (plan->messages && near_failed(plan)) return true;
  s->glance = s->glance + 1 < count ? s->glance + 1 : 0;
  const struct queue *q = &s->queues[s->glance];
  return q->made && s->hca->ops->failed(s->hca, q->number) != 0;
}

// What ranks of this node have to send before the adapter may go on. It is not told by them.
static bool expects(nbc_plan *plan, bool first) {
  struct coredirect *s = state_of(plan);
  const struct call *c = plan->oldest;
  if (!plan->messages || !plan->on || s->mq == UINT32_MAX) return false;
  const bool lacks = c && c->state == CALL_ADMITTED &&
                     (uint32_t)s->rung !=
                         c->target[FIRST] + c->variant->stages[c->variant->stage_count - 1].enabled;
  return is_patient(&s->patience, endpoint_of(plan)->facts.patience, first, lacks);
}

// Peers within the node wake nobody: who waits for them looks again soon.
static bool sleep_a_while(nbc_plan *plan) {
  struct nbc_hca *hca = state_of(plan)->hca;
  const struct call *c = plan->oldest;
  if (plan->messages && c && (c->stage == c->variant->stage_count || !carried(plan, c)))
    return near_rest(plan);
  if (hca) hca->ops->sleep(hca, 1000000);
  return true;
}

// Of a data segment: its length has 31 bits.
static uint64_t longest(const nbc_plan *plan) {
  (void)plan;
  return INT32_MAX;
}

const struct target coredirect = {
    .name = NBC_HCA_TARGET,
    .hosts_records = true,
    .attach = coredirect_attach,
    .detach = coredirect_detach,
    .make_known = coredirect_make_known,
    .forget = coredirect_forget,
    .longest = longest,
    .longest_message = UINT64_C(1) << 30,  // what reliable connections of mlx5 carry
    .check = coredirect_check,
    .create = coredirect_create,
    .connect = coredirect_connect,
    .acquire = coredirect_acquire,
    .release = coredirect_release,
    .prepare = coredirect_prepare,
    .admit = admit,
    .enable = enable,
    .poll = poll,
    .lingers = lingers,
    .complete = complete,
    .failed = failed,
    .glance = glance,
    .expects = expects,
    .sleep = sleep_a_while,
    .destroy = coredirect_destroy,
};
