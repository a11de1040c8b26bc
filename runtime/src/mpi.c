// SPDX-License-Identifier: BSD-3-Clause
// mpi.c - a call on point-to-point messages: post, test, and see it end.
//
// prepare: addresses and lengths of all messages, into the instance that the call gets.
// enable:  the cursor may go on, and does.
// poll:    the cursor again: one test of the message that it stands at.
// lingers: after the last stage, messages that no WAIT has named may be under way.
//
// nbc_test costs one test of a message where nothing is done, two where the oldest call has
// passed its last stage; however many messages there are.

#include "runtime/src/mpi.h"

static struct mpi *state_of(const nbc_plan *plan) {
  return (struct mpi *)plan->state;
}

static const struct records *records_of(const struct call *c) {
  return (const struct records *)c->variant->target;
}

static struct message *messages_of(const struct mpi *s, const struct call *c) {
  return s->messages + (size_t)c->target[INSTANCE] * s->most;
}

static int prepare(nbc_plan *plan, struct call *c) {
  const struct mpi *s = state_of(plan);
  const struct records *v = records_of(c);
  c->target[INSTANCE] = plan->instance;
  struct message *messages = messages_of(s, c);
  for (uint32_t i = 0; i < v->slow_count; ++i) {
    struct message *m = &messages[v->slow[i].record];
    int status =
        run_address(plan, c, &plan->tables.relocs[v->slow[i].reloc], &m->address, &m->bytes);
    if (status) return status;
  }
  for (const struct place_patch *p = v->places, *end = p + v->place_count; p < end; ++p) {
    messages[p->at].address = place_address(c, p);
    messages[p->at].bytes = p->count * c->block;
  }
  return 0;
}

static void admit(nbc_plan *plan, struct call *c) {
  (void)plan;
  c->target[ENABLED] = c->target[CARRIED] = 0;
}

// Whether it is done, or a negative status; then it is closed.
static int test(const struct mpi *s, struct message *m) {
  if (!m->open) return 1;
  int done = s->p2p->ops->test(s->p2p, &m->handle);
  if (done) m->open = false;
  return done;
}

static int post(const nbc_plan *plan, const struct nbc_message_record *r, struct message *m) {
  const struct mpi *s = state_of(plan);
  uint32_t rank = plan->tables.peers[r->peer];
  void *memory = m->bytes ? (void *)(uintptr_t)m->address : NULL;
  int status = r->op == NBC_MESSAGE_SEND
                   ? s->p2p->ops->send(s->p2p, memory, m->bytes, rank, s->tag, &m->handle)
                   : s->p2p->ops->receive(s->p2p, memory, m->bytes, rank, s->tag, &m->handle);
  m->open = status == 0;
  m->sent = r->op == NBC_MESSAGE_SEND;
  return status;
}

// Moves the cursor as far as it goes.
static void go_on(nbc_plan *plan) {
  struct mpi *s = state_of(plan);
  while (s->posting && !s->status) {
    struct call *c = s->posting;
    const struct records *v = records_of(c);
    struct message *messages = messages_of(s, c);
    for (uint32_t *next = &c->target[CARRIED]; *next < c->target[ENABLED]; ++*next) {
      const struct nbc_message_record *r = &v->record[*next];
      int status = r->op == NBC_MESSAGE_WAIT ? test(s, &messages[r->record])
                                             : post(plan, r, &messages[*next]);
      if (status < 0) s->status = status;
      if (status < 0 || (status == 0 && r->op == NBC_MESSAGE_WAIT)) return;
    }
    if (c->target[CARRIED] < v->count) return;  // what follows is of a later stage
    s->posting = c->next && c->next->state == CALL_ADMITTED ? c->next : NULL;
  }
}

static uint32_t end_of_stage(const nbc_plan *plan, const struct call *c) {
  return plan->tables.stages[c->variant->v->stages.begin + c->stage].enabled;
}

static bool enable(nbc_plan *plan, struct call *c) {
  struct mpi *s = state_of(plan);
  c->target[ENABLED] = end_of_stage(plan, c);
  if (!s->posting) s->posting = c;
  go_on(plan);
  return s->status || c->target[CARRIED] < c->target[ENABLED];
}

// Tests what no WAIT has; only of the oldest call.
static int finish_messages(nbc_plan *plan, const struct call *c) {
  struct mpi *s = state_of(plan);
  const struct records *v = records_of(c);
  for (; s->ended < v->unwaited_count; ++s->ended) {
    int done = test(s, &messages_of(s, c)[v->unwaited[s->ended]]);
    if (done <= 0) return done;
  }
  return 1;
}

static int poll(nbc_plan *plan) {
  struct mpi *s = state_of(plan);
  const struct call *c = plan->oldest;
  go_on(plan);
  if (s->status) return NBC_ERROR_DEVICE;
  if (c->stage == c->variant->v->stages.count) return finish_messages(plan, c);
  return c->target[CARRIED] >= end_of_stage(plan, c);
}

static bool lingers(nbc_plan *plan, struct call *c) {
  struct mpi *s = state_of(plan);
  int done = finish_messages(plan, c);
  if (done < 0) s->status = done;
  return done != 1;
}

static int complete(nbc_plan *plan, struct call *c) {
  (void)c;
  state_of(plan)->ended = 0;
  return 0;
}

// Whatever fails is seen by whoever tests it.
static bool failed(nbc_plan *plan) {
  return state_of(plan)->status < 0;
}

static void sleep_a_while(nbc_plan *plan) {
  struct nbc_p2p *p2p = state_of(plan)->p2p;
  if (p2p) p2p->ops->sleep(p2p, 1000000);
}

static uint64_t longest(const nbc_plan *plan) {
  return plan->on ? ((struct nbc_p2p *)plan->on->device)->longest : INT64_MAX;
}

const struct target mpi = {
    .name = NBC_P2P_TARGET,
    .longest = longest,
    .check = mpi_check,
    .create = mpi_create,
    .connect = mpi_connect,
    .prepare = prepare,
    .admit = admit,
    .enable = enable,
    .poll = poll,
    .lingers = lingers,
    .complete = complete,
    .failed = failed,
    .glance = failed,
    .sleep = sleep_a_while,
    .destroy = mpi_destroy,
};
