// SPDX-License-Identifier: BSD-3-Clause
// call.c - one call from nbc_start to done, and the order among those of a plan.
//
// A plan's calls are a list in the order in which they were started:
//
//   oldest ... admitted, at most `depth` ... | waiting ... newest
//
// Admitted calls have their bytes in the device's queues. The device goes through
// them one behind the other: `ringer` is the one whose stages are being enabled; the
// next gets its turn when the last stage of this one is enabled. Stages end in
// the same order, so the one that ends is always the oldest call's; calls end
// in order, too.
//
// Nothing here allocates, locks or enters the system, but for a registration that is
// missing, the sleep in nbc_wait, and where the communicator has a thread (progress.h).
//
// nbc_start takes as long for a long call as for a short one where the target lets the host's work
// wait (host_waits): what a stage has to copy or reduce beyond a little is owed until the next
// nbc_test or nbc_wait, and nothing is looked at that others may have sent. Where the host's work
// stands before a doorbell, nobody would ring it meanwhile, so there it is done at once; but what
// nothing stands behind may be owed (last_waits).

#define _GNU_SOURCE  // MADV_POPULATE_WRITE
#include "nbc/mlx5_wqe.h"
#include "nbc/shm.h"
#include "runtime/common/pages.h"
#include "runtime/src/calc.h"
#include "runtime/src/plan.h"
#include "runtime/src/progress.h"

static void set_state(struct call *c, enum call_state state) {
  __atomic_store_n(&c->state, (uint8_t)state, __ATOMIC_RELEASE);
}

// Under the plan's lock; the communicator's thread looks without it.
static void count_left(nbc_plan *plan, uint32_t change) {
  __atomic_store_n(&plan->left, plan->left + change, __ATOMIC_RELAXED);
}

static void end(struct call *c, int status) {
  if (c->left) count_left(c->plan, -1u);
  c->left = false;
  if (c->acquired) c->plan->target->release(c->plan, c);
  c->acquired = false;
  c->status = status;
  set_state(c, CALL_DONE);
}

// A call that is done may be asked for when its plan is gone.
static bool is_done(const struct call *c) {
  return __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == CALL_DONE;
}

// The device is not to be trusted or waited for any more: all that was asked of it has failed.
static void give_up(nbc_plan *plan, int status) {
  plan->status = status;
  if (plan->turns && plan->oldest) plan->turns->status = status;
  plan->target->destroy(plan);
  for (struct call *c = plan->oldest, *next; c; c = next) {
    next = c->next;
    end(c, status);
  }
  plan->oldest = plan->newest = plan->waiting = plan->ringer = NULL;
  plan->under_way = 0;
}

static void fail(nbc_plan *plan) {
  give_up(plan, NBC_ERROR_DEVICE);
}

// Bytes that the host writes in nbc_start, in front of something for the device to do. Behind all
// of it nothing is written: it would make the start longer and the call no shorter.
enum { LITTLE_BEFORE = 512 };

static bool is_more_than(const struct call *c, uint64_t most) {
  uint64_t bytes;
  return __builtin_mul_overflow(c->variant->stages[c->stage].writes, c->block, &bytes) ||
         bytes > most;
}

static bool may_wait(const nbc_plan *plan, const struct call *c) {
  const struct stage *all = c->variant->stages, *s = &all[c->stage];
  static const struct stage none;
  const struct stage *before = c->stage ? s - 1 : &none;
  if (plan->starting) return is_more_than(c, as_far(s, before) ? 0 : LITTLE_BEFORE);
  return plan->postponing && as_far(before, &all[c->variant->stage_count - 1]) &&
         is_more_than(c, LITTLE_BEFORE);
}

// The host's work of the stage that the call is at, or the debt of it.
static int work(nbc_plan *plan, struct call *c) {
  bool any = c->variant->stages[c->stage].hosts_count != 0;
  c->owes = any && may_wait(plan, c);
  plan->looks = 0;
  return any && !c->owes ? host_run(plan, c) : 0;
}

static int work_off(nbc_plan *plan, struct call *c) {
  if (!c->owes) return 0;
  c->owes = false;
  return host_run(plan, c);
}

// Bytes: of a call that may be long; else 0.
static uint8_t *scratch_of(nbc_plan *plan, uint64_t bytes) {
  if (plan->little && bytes && bytes <= LITTLE) return plan->little + plan->instance * LITTLE;
  uint8_t *scratch = plan->staging + plan->instance * plan->staging_instance;
  uint64_t *fetched = &plan->fetched[plan->instance];
  if (bytes > *fetched) {  // further than any call before
    fetch_pages(scratch + *fetched, bytes - *fetched);
    *fetched = bytes;
  }
  return scratch;
}

static void give_memory(nbc_plan *plan, struct call *c) {
  if (!plan->memory) return;
  c->base[NBC_ROLE_STAGING] = scratch_of(plan, c->variant->scratch * c->stride);
  c->base[NBC_ROLE_SLOTS] = plan->memory + plan->set * plan->slot_set;
}

static int admit(nbc_plan *plan, struct call *c) {
  bool eager = c->variant->protocol == NBC_EAGER;
  give_memory(plan, c);
  c->set = plan->set;
  c->opens_window = eager && plan->credit && plan->window == 0;
  c->stage = 0;
  int status = plan->own_lengths ? lengths_find(plan, c) : 0;
  if (!status) status = plan->target->prepare(plan, c);
  if (!status) status = work(plan, c);
  if (status) return status;

  plan->target->admit(plan, c);
  set_state(c, CALL_ADMITTED);
  c->enabled = c->pending = false;
  if (!plan->ringer) plan->ringer = c;
  ++plan->under_way;
  if (++plan->instance == plan->depth) plan->instance = 0;
  if (eager) {
    if (++plan->set == plan->sets) plan->set = 0;
    if (++plan->window == plan->depth) plan->window = 0;
  }
  return 0;
}

// Enables what may be: stages of the call whose turn it is, then of those behind it. Fails where
// work that was owed does.
static int ring(nbc_plan *plan) {
  for (struct call *c = plan->ringer; c && !c->enabled; c = plan->ringer) {
    if (c->owes && plan->postponing) break;
    int status = work_off(plan, c);
    if (status) return status;
    c->pending = plan->target->enable(plan, c);
    c->enabled = true;
    const struct stage *s = c->variant->stages;
    if (!as_far(&s[c->stage], &s[c->variant->stage_count - 1])) break;
    plan->ringer = c->next && c->next->state == CALL_ADMITTED ? c->next : NULL;
  }
  return 0;
}

// The oldest call has passed its last stage.
static int finish(nbc_plan *plan, struct call *c) {
  int status = plan->target->complete(plan, c);
  if (status) return status;
  plan->oldest = c->next;
  if (!plan->oldest) plan->newest = NULL;
  --plan->under_way;
  end(c, 0);
  while (plan->waiting && plan->under_way < plan->depth && !status) {
    struct call *next = plan->waiting;
    plan->waiting = next->next;
    status = admit(plan, next);
  }
  return status;
}

// Goes on until the device has something to do, or nobody has.
static void advance(nbc_plan *plan) {
  for (;;) {
    int status = ring(plan);
    struct call *c = plan->oldest;
    if (status) {
      fail(plan);
      return;
    }
    if (!c || !c->enabled || c->pending || (c->owes && plan->postponing)) return;
    if (c->owes) {
      status = work_off(plan, c);
    } else if (++c->stage < c->variant->stage_count) {
      status = work(plan, c);
      c->enabled = plan->ringer != c;  // all is enabled already: this stage is over, too
    } else if (c->stage == c->variant->stage_count && plan->target->lingers &&
               plan->target->lingers(plan, c)) {
      c->pending = true;  // as if it were one stage more
    } else {
      status = finish(plan, c);
    }
    if (status) {
      fail(plan);
      return;
    }
  }
}

// Whether the oldest call owes what nothing stands behind, so that its messages may end before.
static bool owes_last(const nbc_plan *plan) {
  const struct call *c = plan->oldest;
  return c && c->owes && c->enabled && plan->target->lingers;
}

// Whether its messages are to be looked at again: a long one from a peer is to be read, now that
// its memory is as the last call has left it. When they do not get on, there is time for the work.
static bool messages_first(nbc_plan *plan) {
  enum { LOOKS = 8 };
  return owes_last(plan) && !plan->postponing && plan->looks++ < LOOKS &&
         plan->target->lingers(plan, plan->oldest);
}

// Takes in what the device has done. Returns whether that was anything.
static bool move(nbc_plan *plan) {
  if (messages_first(plan)) return false;
  bool moved = (plan->oldest && plan->oldest->owes) || (plan->ringer && plan->ringer->owes);
  if (moved) advance(plan);
  while (plan->oldest && plan->oldest->pending) {
    int over = plan->target->poll(plan);
    if (over == 0) break;
    moved = true;
    if (over < 0) {
      fail(plan);
    } else {
      plan->oldest->pending = false;
      advance(plan);
    }
  }
  if (moved) plan->idle = 0;
  return moved;
}

// Likewise within nbc_start: what is owed stays so, and whether messages have ended is looked at as
// if it were done.
static void look(nbc_plan *plan) {
  move(plan);
  if (owes_last(plan)) plan->target->lingers(plan, plan->oldest);
}

// Scratch of a call lies as close as its blocks are long, and not as they may be: so a call
// touches, and an adapter holds, no more memory than it uses. Slots stay where receives were
// posted.
static uint64_t stride_of(const nbc_plan *plan, const struct variant *v, uint64_t block) {
  enum { LINE = 64 };
  uint64_t most = plan->stride[v->protocol], close = (block + LINE - 1) / LINE * LINE;
  return v->protocol == NBC_EAGER || close > most ? most : close;
}

// The first variant that fits, in the template's order.
static int choose(nbc_plan *plan, struct call *c, bool in_place) {
  bool too_long = false;
  for (uint32_t i = 0; i < plan->tables.header->variants.count; ++i) {
    const struct variant *v = &plan->variants[i];
    uint32_t flags = v->flags;
    if (flags & NBC_VARIANT_CREDIT || in_place != !!(flags & NBC_VARIANT_IN_PLACE)) continue;
    if (flags & NBC_VARIANT_CALC &&
        !(c->count && c->count <= v->v->scalars && c->calc && v->calc >> c->calc & 1))
      continue;
    if (c->block > v->limit) {
      too_long = true;
      continue;
    }
    c->variant = v;
    c->stride = stride_of(plan, v, c->block);
    return 0;
  }
  return too_long ? NBC_ERROR_TOO_LONG : NBC_ERROR_UNSUPPORTED;
}

static int set_operation(const nbc_plan *plan, struct call *c, const struct nbc_call *call) {
  c->type = (uint8_t)call->type;
  c->op = (uint8_t)call->op;
  c->calc = MLX5_CALC_NONE;
  c->reduce = NULL;
  if (!plan->reduces) return 0;
  c->reduce = call->op == NBC_USER ? call->user : nbc_reduction(call->type, call->op);
  if (!c->reduce) return NBC_ERROR_ARGUMENT;
  c->calc = (uint8_t)calc_operation(call->type, call->op);
  return 0;
}

// Each by itself: read as a vector, arguments that the caller has just stored would be waited for.
static inline int set_buffer(const nbc_plan *plan, struct call *c, uint32_t role, void *given,
                             bool may_miss, bool *in_place) {
  c->base[role] = NULL;
  if (role == plan->replaced && given == NBC_IN_PLACE) {
    *in_place = true;
    return 0;
  }
  if (!(plan->significant >> role & 1)) return 0;
  if (given == NBC_IN_PLACE || (!given && !may_miss)) return NBC_ERROR_ARGUMENT;
  c->base[role] = (uint8_t *)given;
  return 0;
}

static int set_buffers(const nbc_plan *plan, struct call *c, const struct nbc_call *call,
                       bool *in_place) {
  const bool may_miss = !call->count || plan->own_lengths;
  void *const in = call->in_layout ? NBC_SHM_LAID_OUT : (void *)call->in;
  void *const out = call->out_layout ? NBC_SHM_LAID_OUT : call->out;
  *in_place = false;
  c->laid[NBC_ROLE_IN] = call->in_layout;
  c->laid[NBC_ROLE_OUT] = call->out_layout;
  if (has_layouts(c) && plan->layouts == NBC_LAYOUTS_REFUSED) return NBC_ERROR_UNSUPPORTED;
  int status = set_buffer(plan, c, NBC_ROLE_IN, in, may_miss, in_place);
  if (!status) status = set_buffer(plan, c, NBC_ROLE_OUT, out, may_miss, in_place);
  if (!status) status = set_buffer(plan, c, NBC_ROLE_DATA, call->data, may_miss, in_place);
  return status;
}

static inline void read_rows(struct call *c, const struct nbc_call *call) {
  c->rows[NBC_ROLE_IN] = (struct row){call->in_counts, call->in_displacements, call->in_types};
  c->rows[NBC_ROLE_OUT] = (struct row){call->out_counts, call->out_displacements, call->out_types};
}

// The arrays of nbc_call, if this is a plan for them.
static int set_rows(const nbc_plan *plan, struct call *c, const struct nbc_call *call) {
  bool any = false, types = false;
  read_rows(c, call);
  for (int role = 0; role <= NBC_ROLE_OUT; ++role) {
    const struct row *row = &c->rows[role];
    any |= row->counts || row->displacements || row->types;
    types |= row->types != NULL;
  }
  if (any && !plan->own_lengths) return NBC_ERROR_UNSUPPORTED;
  uint32_t kind = plan->tables.header->kind;
  bool may = kind == NBC_ALLTOALL || kind == NBC_NEIGHBOR_ALLTOALL;
  return types && !may ? NBC_ERROR_ARGUMENT : 0;
}

// Without a branch for each.
static inline bool has_rows(const struct nbc_call *call) {
  return ((uintptr_t)call->in_counts | (uintptr_t)call->out_counts |
          (uintptr_t)call->in_displacements | (uintptr_t)call->out_displacements |
          (uintptr_t)call->in_types | (uintptr_t)call->out_types) != 0;
}

// But for its arrays.
static inline bool is_usual(const struct usual *u, const struct nbc_call *call, bool in_place) {
  return u->variant && call->count - u->least <= u->most - u->least && u->type == call->type &&
         u->op == call->op && u->user == call->user && u->element_bytes == call->element_bytes &&
         u->in_place == in_place;
}

// For which counts choose() comes to the same variant, and so does all else.
static void find_counts(const nbc_plan *plan, const struct call *c, bool in_place,
                        struct usual *u) {
  uint64_t short_of = 0;  // bytes of a block: so many are an earlier one's
  u->least = u->most = c->count;
  for (const struct variant *v = plan->variants; v <= c->variant; ++v) {
    if (v->flags & NBC_VARIANT_CREDIT || in_place != !!(v->flags & NBC_VARIANT_IN_PLACE)) continue;
    if (v->flags & NBC_VARIANT_CALC) return;
    if (v < c->variant && v->limit > short_of) short_of = v->limit;
  }
  if (c->count == 0 || plan->own_lengths) return;
  u->least = short_of / c->size + 1;
  u->most = c->variant->limit / c->size;
}

__attribute__((noinline)) static int set_unusual(nbc_plan *plan, struct call *c,
                                                 const struct nbc_call *call, bool in_place) {
  c->count = plan->tables.header->kind == NBC_BARRIER ? 0 : call->count;
  uint64_t size = call->type == NBC_OPAQUE ? call->element_bytes : nbc_type_size(call->type);
  c->size = c->count || plan->own_lengths ? size : 1;
  if (c->size == 0) return NBC_ERROR_ARGUMENT;
  if (__builtin_mul_overflow(c->count, c->size, &c->block)) return NBC_ERROR_TOO_LONG;
  int status = set_operation(plan, c, call);
  if (!status) status = set_rows(plan, c, call);
  if (!status && plan->own_lengths) {
    c->lengths = ++plan->lengths;
    status = lengths_set(plan, c, in_place);
  }
  if (!status) status = choose(plan, c, in_place);
  if (status) return status;
  if (plan->own_lengths) lengths_keep(plan, call, in_place);
  plan->usual = (struct usual){.variant = c->variant,
                               .element_bytes = call->element_bytes,
                               .user = call->user,
                               .reduce = c->reduce,
                               .size = c->size,
                               .type = c->type,
                               .op = c->op,
                               .calc = c->calc,
                               .in_place = in_place};
  find_counts(plan, c, in_place, &plan->usual);
  return 0;
}

static int set_arguments(nbc_plan *plan, struct call *c, const struct nbc_call *call) {
  bool in_place;
  c->plan = plan;
  c->next = NULL;
  c->base[NBC_ROLE_STAGING] = c->base[NBC_ROLE_SLOTS] = NULL;
  c->empty = false;
  c->found = NULL;
  c->context = call->user_context;
  int status = set_buffers(plan, c, call, &in_place);
  if (status) return status;
  const struct usual *u = &plan->usual;
  if (!is_usual(u, call, in_place)) return set_unusual(plan, c, call, in_place);
  if (plan->own_lengths) {
    if (!lengths_are_kept(plan, call)) return set_unusual(plan, c, call, in_place);
    read_rows(c, call);
    status = lengths_take(plan, c);
  } else if (has_rows(call)) {
    return set_unusual(plan, c, call, in_place);
  } else {
    c->block = call->count * u->size;
  }
  c->variant = u->variant;
  c->count = call->count;
  c->size = u->size;
  c->stride = stride_of(plan, u->variant, c->block);
  c->reduce = u->reduce;
  c->type = u->type;
  c->op = u->op;
  c->calc = u->calc;
  return status;
}

int plan_describe_bound(nbc_plan *plan, struct call *c) {
  int status = set_arguments(plan, c, &plan->bound);
  c->base[NBC_ROLE_STAGING] = plan->staging;
  return status;
}

// Buffers, count and type are those that the peers were told of; operators are the host's.
static bool is_bound(const nbc_plan *plan, const struct nbc_call *call) {
  const struct nbc_call *b = &plan->bound;
  const void *const told[CALLER_ROLES] = {b->in, b->out, b->data};
  const void *const given[CALLER_ROLES] = {call->in, call->out, call->data};
  for (uint32_t role = 0; role < CALLER_ROLES; ++role)
    if (told[role] != given[role] && (plan->significant >> role & 1 || role == plan->replaced))
      return false;
  if (plan->tables.header->kind == NBC_BARRIER) return true;
  return b->count == call->count && b->type == call->type &&
         (b->type != NBC_OPAQUE || b->element_bytes == call->element_bytes);
}

static int acquire(nbc_plan *plan, struct call *c) {
  if (!plan->target->acquire) return 0;
  int status = plan->target->acquire(plan, c);
  c->acquired = !status;
  return status;
}

static int refuse(struct call *c, int status) {
  c->left = false;
  end(c, status);
  c->plan = NULL;
  return status;
}

static inline void count_variant(nbc_plan *plan, const struct variant *v) {
  ++plan->info.calls;
  if (v->flags & NBC_VARIANT_CALC) ++plan->info.calc;
  ++*(v->protocol == NBC_EAGER    ? &plan->info.eager
      : v->protocol == NBC_DIRECT ? &plan->info.direct
                                  : &plan->info.rendezvous);
}

static void count_call(nbc_plan *plan, const struct call *c) {
  if (c->left) count_left(plan, 1);
  count_variant(plan, c->variant);
}

// Of a call that is over before anybody could ask for it.
static void leave_nothing(nbc_plan *plan, struct call *c) {
  count_variant(plan, c->variant);
  c->plan = NULL;
  c->status = 0;
}

static int get_memory_alone(nbc_plan *plan, struct call *c) {
  plan->instance = 0;  // whose memory is warm
  give_memory(plan, c);
  c->stage = 0;
  c->owes = false;
  return plan->own_lengths ? lengths_find(plan, c) : 0;
}

// Where no call stands before it, what admit() and ring() come to is known, and worth having: a
// bcast of 8 bytes within a node takes a third longer step by step. `ahead`: as far as it could it
// has gone at once.
static int start_alone(nbc_plan *plan, struct call *c, bool ahead) {
  const struct variant *v = c->variant;
  const int status = ahead ? 0 : get_memory_alone(plan, c);
  if (status) return refuse(c, status);
  const struct stage *from = &v->stages[c->stage];
  int begun = plan->target->begin(plan, c);
  if (begun < 0) return refuse(c, begun);
  set_state(c, CALL_ADMITTED);
  c->enabled = true;
  c->pending = begun;
  plan->oldest = plan->newest = c;
  plan->ringer = as_far(from, &v->stages[v->stage_count - 1]) ? NULL : c;
  plan->under_way = 1;
  if (++plan->instance == plan->depth) plan->instance = 0;
  count_call(plan, c);
  if (!begun) advance(plan);
  return 0;
}

// 0, or why it is not the plan's.
static int take_turn(nbc_plan *plan) {
  struct turns *t = plan->turns;
  if (t->holder == plan || t->status) return t->status;
  if (t->holder && t->holder->oldest) return NBC_ERROR_BUSY;
  t->holder = plan;
  return 0;
}

static bool is_short(const struct variant *v, uint64_t block) {
  return v->at_once && block <= v->at_once;
}

// What is known of a call when nbc_start begins with it in earnest.
enum known { NOTHING, ARGUMENTS, AHEAD, OVER };

// A short call that nothing stands before, as far as it can be done at once. The host's work is not
// to be looked for where the caller goes on to other things.
static inline enum known run_at_once(nbc_plan *plan, const struct nbc_call *call, struct call *c,
                                     bool attended) {
  if (!plan->may_at_once || plan->oldest || plan->status || !call) return NOTHING;
  if (plan->turns && take_turn(plan)) return NOTHING;
  if (set_arguments(plan, c, call)) return NOTHING;
  const struct variant *v = c->variant;
  if (has_layouts(c) || !is_short(v, c->block) || (v->works && !attended)) return ARGUMENTS;
  if (get_memory_alone(plan, c)) return ARGUMENTS;
  const int over = plan->target->at_once(plan, c);
  if (over < 0) {
    fail(plan);  // others may have had messages of it
    refuse(c, over);
  }
  return over > 0 ? OVER : AHEAD;
}

static int start(nbc_plan *plan, const struct nbc_call *call, struct call *c, bool attended,
                 enum known known) {
  // There may be room by now.
  if (plan->under_way == plan->depth && !plan->starting) move(plan);
  if (plan->status) return plan->status;
  int status = plan->turns ? take_turn(plan) : 0;
  if (status) return status;
  if (plan->direct && plan->oldest) return NBC_ERROR_BUSY;
  if (!call) call = &plan->bound;
  if (plan->direct && !is_bound(plan, call)) return NBC_ERROR_ARGUMENT;
  c->acquired = false;
  c->left = !attended && plan->progress;
  if (known == NOTHING) status = set_arguments(plan, c, call);
  if (!status) status = acquire(plan, c);
  if (status) return refuse(c, status);
  if (!plan->oldest && (c->variant->begins || known == AHEAD))
    return start_alone(plan, c, known == AHEAD);

  if (plan->under_way < plan->depth) {  // then none is waiting
    status = admit(plan, c);
    if (status) return refuse(c, status);
  } else {
    set_state(c, CALL_WAITING);
    if (!plan->waiting) plan->waiting = c;
    ++plan->info.queued;
  }
  if (plan->newest)
    plan->newest->next = c;
  else
    plan->oldest = c;
  plan->newest = c;

  count_call(plan, c);
  advance(plan);
  return 0;
}

// attended: it is not left to the communicator's thread.
static inline int begin(nbc_plan *plan, const struct nbc_call *call, nbc_request *request,
                        bool attended) {
  if (!plan || !request || !plan->connected || (!call && !plan->direct)) return NBC_ERROR_ARGUMENT;
  struct call *c = (struct call *)request;
  fetch_warm(&plan->warm);
  plan_lock(plan);
  const enum known known = run_at_once(plan, call, c, attended);
  if (known == OVER) {
    leave_nothing(plan, c);
    plan_unlock(plan);
    return 0;
  }
  fetch(request, sizeof *c);
  plan->starting = plan->target->host_waits;
  plan->postponing = plan->starting || plan->target->last_waits;
  int status = start(plan, call, c, attended, known);
  plan->starting = false;
  if (plan->target->expects)
    for (bool first = true; plan->target->expects(plan, first); first = false) look(plan);
  if (plan->target->leave) plan->target->leave(plan);
  plan->postponing = false;
  const bool untold = !status && c->left && !plan->armed;
  plan_unlock(plan);
  if (untold) progress_wake(plan);
  return status;
}

int nbc_start(nbc_plan *plan, const struct nbc_call *call, nbc_request *request) {
  return begin(plan, call, request, false);
}

int nbc_start_attended(nbc_plan *plan, const struct nbc_call *call, nbc_request *request) {
  return begin(plan, call, request, true);
}

// Nothing has moved: other ranks may wait for what this one has to send by another device.
static void attend_aside(nbc_plan *plan) {
  enum { BETWEEN = 64 };
  if (!plan->aside) return;
  const uint32_t idle = ++plan->idle;
  // Ranks that share a core yield in the shortest wait.
  if (idle % BETWEEN && !(plan->away && idle > BETWEEN)) return;
  plan->away = false;
  plan->aside->ops->move(plan->aside);
}

bool plan_move(nbc_plan *plan) {
  if (move(plan)) return true;
  attend_aside(plan);
  // What failed may be what the device would have had to wait for.
  if (plan->oldest && plan->target->glance(plan)) fail(plan);
  return false;
}

void plan_look_after(nbc_plan *plan) {
  if (plan->oldest && plan->target->failed(plan)) fail(plan);
}

static int collect(struct call *c) {
  c->plan = NULL;
  return c->status;
}

int nbc_test(nbc_request *request, int *done) {
  struct call *c = (struct call *)request;
  if (!request || !done) return NBC_ERROR_ARGUMENT;
  nbc_plan *plan = c->plan;
  *done = !plan || is_done(c);
  if (!plan) return 0;
  if (!*done && plan_try_lock(plan)) {
    plan_move(plan);
    if (plan->target->leave && !is_done(c)) plan->target->leave(plan);
    *done = is_done(c);
    plan_unlock(plan);
  }
  return *done ? collect(c) : 0;
}

// When nothing has moved. Whether others may have had the processor.
static bool rest(nbc_plan *plan) {
  plan->armed = false;
  if (plan->target->failed(plan)) {
    fail(plan);
    return false;
  }
  plan->away = plan->target->sleep(plan);
  return plan->away;
}

// Who has slept may have been told in the thread's place.
static void unlock_rested(nbc_plan *plan) {
  const bool left = plan->left && !plan->armed;
  plan_unlock(plan);
  if (left) progress_wake(plan);
}

int nbc_wait(nbc_request *request) {
  struct call *c = (struct call *)request;
  if (!request) return NBC_ERROR_ARGUMENT;
  nbc_plan *plan = c->plan;
  if (!plan) return 0;
  if (is_done(c)) return collect(c);
  plan_lock(plan);  // a thread leaves the plan alone: who waits is quicker
  while (!is_done(c)) {
    if (move(plan)) continue;
    attend_aside(plan);
    rest(plan);
  }
  unlock_rested(plan);
  return collect(c);
}

int nbc_rest(nbc_request *request, int *away) {
  struct call *c = (struct call *)request;
  if (away) *away = 0;
  if (!request) return NBC_ERROR_ARGUMENT;
  nbc_plan *plan = c->plan;
  if (!plan || is_done(c)) return 0;
  plan_lock(plan);
  const bool rested = !is_done(c) && rest(plan);
  unlock_rested(plan);
  if (away) *away = rested;
  return 0;
}

int nbc_plan_abandon(nbc_plan *plan) {
  if (!plan) return NBC_ERROR_ARGUMENT;
  plan_lock(plan);
  if (!plan->status) give_up(plan, NBC_ERROR_ABANDONED);
  plan_unlock(plan);
  return 0;
}
