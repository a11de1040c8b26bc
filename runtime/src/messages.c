// SPDX-License-Identifier: BSD-3-Clause
// messages.c - a call as messages: post, test, and see it end.
//
// prepare: addresses and lengths of all messages, into the instance that the call gets.
// enable:  the cursor may go on, and does.
// poll:    the cursor again: one test of the message that it stands at.
// lingers: after the last stage, messages that no WAIT has named may be under way.
//
// nbc_test costs one test of a message where nothing is done, two where the oldest call has
// passed its last stage; however many messages there are.

#include "runtime/src/messages.h"

static const struct records *records_of(const struct call *c) {
  return (const struct records *)c->variant->records;
}

static struct message *instance_of(const struct messages *s, const struct call *c) {
  return s->messages + (size_t)c->target[INSTANCE] * s->most;
}

// Pieces that lie behind one another become one run.
static int lay_runs(const nbc_plan *plan, const struct call *c, const struct nbc_reloc *r,
                    struct iovec *runs, struct message *m) {
  uint32_t count = 0;
  uint64_t bytes = 0;
  for (uint32_t k = r->what; k <= r->what + r->extra; ++k) {
    uint64_t n = piece_bytes(plan, c, k);
    if (n == 0) continue;
    uint8_t *at = piece_address(plan, c, k);
    if (!at) return NBC_ERROR_TEMPLATE;
    bytes += n;
    if (count && (uint8_t *)runs[count - 1].iov_base + runs[count - 1].iov_len == at)
      runs[count - 1].iov_len += n;
    else
      runs[count++] = (struct iovec){at, n};
  }
  m->bytes = bytes;
  m->layout = layout_of_piece(plan, c, r->what);
  m->runs = count > 1 ? count : 0;
  m->address = count > 1 ? (uintptr_t)runs : count ? (uintptr_t)runs[0].iov_base : 0;
  return 0;
}

// Messages that are parts of blocks, or of several pieces.
__attribute__((noinline)) static int lay_slow(const nbc_plan *plan, const struct call *c) {
  const struct messages *s = messages_of(plan);
  const struct records *v = records_of(c);
  struct message *messages = instance_of(s, c);
  for (uint32_t i = 0; i < v->slow_count; ++i) {
    struct message *m = &messages[v->slow[i].record];
    int status =
        run_address(plan, c, &plan->tables.relocs[v->slow[i].reloc], &m->address, &m->bytes);
    if (status) return status;
    m->runs = 0;
    m->layout = layout_of_piece(plan, c, plan->tables.relocs[v->slow[i].reloc].what);
  }
  for (uint32_t i = 0; i < v->scattered_count; ++i) {
    const struct scattered *scattered = &v->scattered[i];
    struct iovec *runs = s->runs + (size_t)plan->instance * s->most_runs + scattered->first;
    int status = lay_runs(plan, c, &plan->tables.relocs[scattered->reloc], runs,
                          &messages[scattered->record]);
    if (status) return status;
  }
  return 0;
}

int messages_prepare(nbc_plan *plan, struct call *c) {
  const struct records *v = records_of(c);
  c->target[INSTANCE] = plan->instance;
  struct message *messages = instance_of(messages_of(plan), c);
  int status = v->slow_count || v->scattered_count ? lay_slow(plan, c) : 0;
  if (status) return status;
  for (const struct place_patch *p = v->places, *end = p + v->place_count; p < end; ++p) {
    messages[p->at].address = place_address(c, p);
    messages[p->at].bytes = p->count * c->block;
    messages[p->at].runs = 0;
    messages[p->at].layout = layout_of(c, p->role);
  }
  return 0;
}

void messages_admit(nbc_plan *plan, struct call *c) {
  (void)plan;
  c->target[ENABLED] = c->target[CARRIED] = 0;
}

// Whether it is done, or a negative status; then it is closed.
static int test(const struct messages *s, struct message *m) {
  if (!m->open) return 1;
  const struct lane *lane = &s->lanes[m->peer];
  int done = lane->ops->test(lane, m);
  if (done) m->open = false;
  return done;
}

// The same; but a start leaves what is under way alone.
static int look(const nbc_plan *plan, struct message *m) {
  return plan->starting && m->open ? 0 : test(messages_of(plan), m);
}

static int post(const struct messages *s, const struct step *r, struct message *m) {
  const struct lane *lane = &s->lanes[r->other];
  m->peer = r->other;
  m->sent = r->op == NBC_MESSAGE_SEND;
  int status = m->sent ? lane->ops->send(lane, m) : lane->ops->receive(lane, m);
  m->open = status == 0;
  return status;
}

// Moves the cursor as far as it goes.
static void go_on(nbc_plan *plan) {
  struct messages *s = messages_of(plan);
  while (s->posting && !s->status) {
    struct call *c = s->posting;
    const struct records *v = records_of(c);
    struct message *messages = instance_of(s, c);
    for (uint32_t *next = &c->target[CARRIED]; *next < c->target[ENABLED]; ++*next) {
      const struct step *r = &v->steps[*next];
      int status = r->op == NBC_MESSAGE_WAIT ? look(plan, &messages[r->other])
                                             : post(s, r, &messages[*next]);
      if (status < 0) s->status = status;
      if (status < 0 || (status == 0 && r->op == NBC_MESSAGE_WAIT)) return;
    }
    if (c->target[CARRIED] < v->count) return;  // what follows is of a later stage
    s->posting = c->next && c->next->state == CALL_ADMITTED ? c->next : NULL;
  }
}

// True: a message has ended by it, which nothing else will tell of.
static bool settle(struct messages *s) {
  int ended = s->settle && !s->status ? s->settle(s) : 0;
  if (ended < 0) s->status = ended;
  return ended > 0;
}

static uint32_t end_of_stage(const struct call *c) {
  return c->variant->stages[c->stage].records;
}

bool messages_enable(nbc_plan *plan, struct call *c) {
  struct messages *s = messages_of(plan);
  c->target[ENABLED] = end_of_stage(c);
  if (!s->posting) s->posting = c;
  do go_on(plan);
  while (settle(s));
  return s->status || c->target[CARRIED] < c->target[ENABLED];
}

// Tests what no WAIT has; only of the oldest call.
static int finish_messages(nbc_plan *plan, const struct call *c) {
  struct messages *s = messages_of(plan);
  const struct records *v = records_of(c);
  for (; s->ended < v->unwaited_count; ++s->ended) {
    int done = look(plan, &instance_of(s, c)[v->unwaited[s->ended]]);
    if (done <= 0) return done;
  }
  return 1;
}

uint64_t messages_most_at_once(const nbc_plan *plan, const struct variant *of) {
  const struct records *v = (const struct records *)of->records;
  // Slots of elements are longer than their blocks.
  uint64_t most = v->scattered_count || of->flags & NBC_VARIANT_CALC ? 0 : UINT64_MAX;
  for (uint32_t i = 0; i < v->count && most; ++i) {
    if (v->steps[i].op == NBC_MESSAGE_WAIT) continue;
    const uint64_t now = messages_of(plan)->lanes[v->steps[i].other].ops->most_now;
    if (now < most) most = now;
  }
  return most / of->longest;
}

// Of a message that is one run.
static inline int find_run(const nbc_plan *plan, const struct call *c, const struct step *r,
                           uint64_t *at, uint64_t *bytes) {
  const struct records *v = records_of(c);
  if (r->slow)
    return run_address(plan, c, &plan->tables.relocs[v->slow[r->place].reloc], at, bytes);
  const struct place_patch *p = &v->places[r->place];
  *at = place_address(c, p);
  *bytes = p->count * c->block;
  return 0;
}

int messages_at_once(nbc_plan *plan, struct call *c) {
  struct messages *s = messages_of(plan);
  const struct records *v = records_of(c);
  const struct stage *stages = c->variant->stages;
  uint32_t next = 0;
  for (c->stage = 0; c->stage < c->variant->stage_count; ++c->stage) {
    int status = stages[c->stage].hosts_count ? host_run(plan, c) : 0;
    if (status) return status;
    for (; next < stages[c->stage].records; ++next) {
      const struct step *r = &v->steps[next];
      if (r->op == NBC_MESSAGE_WAIT) continue;  // what stands before it is done
      const struct lane *lane = &s->lanes[r->other];
      uint64_t address, bytes;
      status = find_run(plan, c, r, &address, &bytes);
      if (status) return status;
      void *at = (void *)(uintptr_t)address;
      // One that fails does so again where it is waited for.
      if ((r->op == NBC_MESSAGE_SEND ? lane->ops->send_now(lane, at, bytes)
                                     : lane->ops->receive_now(lane, at, bytes)) != 1) {
        s->ahead = next;
        return 0;
      }
    }
  }
  return 1;
}

// Nothing stands before the call, so the cursor is at its first record, or as far ahead as the call
// has come at once.
int messages_begin(nbc_plan *plan, struct call *c) {
  struct messages *s = messages_of(plan);
  const struct records *v = records_of(c);
  int status = messages_prepare(plan, c);
  if (status) return status;
  struct message *messages = instance_of(s, c);
  uint32_t next = 0;
  const uint32_t enabled = end_of_stage(c);
  for (; next < s->ahead; ++next) messages[next].open = false;
  s->ahead = 0;
  for (bool stands = false; next < enabled && !stands && !s->status; next += !stands) {
    const struct step *r = &v->steps[next];
    if (r->op == NBC_MESSAGE_WAIT) {
      stands = messages[r->other].open;
    } else {
      status = post(s, r, &messages[next]);
      if (status < 0) s->status = status;
    }
  }
  c->target[CARRIED] = next;
  c->target[ENABLED] = enabled;
  s->posting = next < v->count ? c : NULL;
  if (next < enabled || s->status) return 1;
  if (c->stage + 1 < c->variant->stage_count) return 0;
  ++c->stage;
  return finish_messages(plan, c) != 1;
}

int messages_poll(nbc_plan *plan) {
  struct messages *s = messages_of(plan);
  const struct call *c = plan->oldest;
  int over = 0;
  do {
    if (s->posting) go_on(plan);
    if (s->others && !s->status) s->status = s->others(s);
    if (!s->status)
      over = c->stage == c->variant->stage_count ? finish_messages(plan, c)
                                                 : c->target[CARRIED] >= end_of_stage(c);
  } while (settle(s));
  return s->status ? NBC_ERROR_DEVICE : over;
}

bool messages_linger(nbc_plan *plan, struct call *c) {
  struct messages *s = messages_of(plan);
  int done;
  do {
    done = finish_messages(plan, c);
    if (done < 0) s->status = done;
  } while (settle(s));
  return done != 1;
}

int messages_complete(nbc_plan *plan, struct call *c) {
  (void)c;
  messages_of(plan)->ended = 0;
  return 0;
}

bool messages_take_layouts(const nbc_plan *plan) {
  const struct messages *s = messages_of(plan);
  const struct place *places = plan->places;
  for (uint32_t i = 0; s && i < plan->tables.header->variants.count; ++i) {
    const struct records *v = &s->variants[i];
    for (uint32_t k = 0; k < v->scattered_count; ++k) {
      const struct nbc_reloc *r = &plan->tables.relocs[v->scattered[k].reloc];
      for (uint32_t piece = r->what; piece <= r->what + r->extra; ++piece)
        if (places[piece].role != places[r->what].role) return false;
    }
  }
  return true;
}

void messages_keep_warm(nbc_plan *plan) {
  const struct messages *s = messages_of(plan);
  struct warm *w = &plan->warm;
  enum { FEW = 8 };  // peers, records: a call that has more waits for them as they come
  uint32_t peers = plan->tables.header->peers.count;
  uint32_t most = s->most < FEW ? s->most : FEW;
  keep_warm(w, s, sizeof *s);
  keep_warm(w, s->lanes, (peers < FEW ? peers : FEW) * sizeof *s->lanes);
  keep_warm(w, s->variants, sizeof *s->variants);
  keep_warm(w, s->variants[0].steps, most * sizeof *s->variants[0].steps);
  keep_warm(w, s->variants[0].places, most * sizeof *s->variants[0].places);
  for (uint32_t i = 0; i < plan->depth; ++i)
    keep_warm(w, s->messages + (size_t)i * s->most, most * sizeof *s->messages);
}

// Whatever fails is seen by whoever tests it.
bool messages_failed(nbc_plan *plan) {
  return messages_of(plan)->status < 0;
}
