// SPDX-License-Identifier: BSD-3-Clause
// verbs_queue.c - work requests in rings, doorbells, completions.
//
// Requests are made one by one and posted as one chain, with one doorbell, when the cursor has
// stopped (verbs_settle); receives that are free again before them. What a ring has no room for
// stays with the messages: a completion marks the lane busy, and the next settle goes on. A
// completion is asked for where a message ends by it, and for every fourth part of the ring, so
// that a full one always has one under way. It stands for all requests before it.
//
// Costs: a completion queue is polled once a test, whatever the number of lanes; lanes that have
// nothing to do are not looked at.

#include <arpa/inet.h>

#include "runtime/src/verbs.h"

// wr_id: the lane, and in it a request or, with this bit, a receive.
#define RECEIVE UINT32_C(0x80000000)

static uint32_t place(const struct verbs_lane *l, const struct ibv_send_wr *wr) {
  return (uint32_t)(wr - l->requests);
}

struct purpose *verbs_purpose(struct verbs_lane *l, const struct ibv_send_wr *wr) {
  return &l->purposes[place(l, wr)];
}

uint8_t *verbs_slot(struct verbs_lane *l, const struct ibv_send_wr *wr) {
  return l->slots + (size_t)place(l, wr) * l->of->slot_bytes;
}

struct ibv_send_wr *verbs_request(struct verbs_lane *l) {
  if (l->made - l->done == l->request_count) return NULL;
  uint32_t at = l->made++ & (l->request_count - 1);
  struct ibv_send_wr *wr = &l->requests[at];
  wr->num_sge = 0;
  wr->send_flags = 0;
  wr->wr.rdma.remote_addr = 0;
  wr->wr.rdma.rkey = 0;
  l->purposes[at] = (struct purpose){0};
  if (l->made - l->signalled > l->request_count / 4) verbs_signal(l, wr);
  return wr;
}

void verbs_signal(struct verbs_lane *l, struct ibv_send_wr *wr) {
  wr->send_flags |= IBV_SEND_SIGNALED;
  l->signalled = l->made;
}

void verbs_say(struct verbs_lane *l, struct ibv_send_wr *wr, enum verbs_kind kind, uint32_t number,
               size_t bytes) {
  struct purpose *p = verbs_purpose(l, wr);
  p->immediate = (uint32_t)kind << KIND_SHIFT | (number & NUMBER_MASK) << NUMBER_SHIFT;
  p->tells = l->tells = true;
  if (kind == VERBS_DATA) {
    wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    return;
  }
  wr->opcode = IBV_WR_SEND_WITH_IMM;
  if (bytes == 0) return;
  wr->num_sge = 1;
  wr->sg_list[0] = (struct ibv_sge){(uintptr_t)verbs_slot(l, wr), (uint32_t)bytes, l->lkey};
  if (bytes <= l->of->inline_bytes) wr->send_flags |= IBV_SEND_INLINE;
}

void verbs_receive_again(struct verbs_lane *l, uint32_t receive) {
  struct ibv_recv_wr *wr = &l->receives[receive];
  wr->next = NULL;
  if (l->again)
    l->again_last->next = wr;
  else
    l->again = wr;
  l->again_last = wr;
  verbs_mark_busy(l);
}

void verbs_probe(struct verbs_lane *l) {
  struct ibv_send_wr *wr = verbs_request(l);
  if (!wr) return;  // what fills the ring fails as well
  wr->opcode = IBV_WR_RDMA_WRITE;
  verbs_purpose(l, wr)->probes = l->probing = true;
  verbs_signal(l, wr);
  verbs_mark_busy(l);
}

// --- to the adapter ---

// Slots that are free again, where nobody else tells of them.
static void tell_credits(struct verbs_lane *l) {
  if (l->slot_count == 0 || l->tells || (uint16_t)(l->given - l->told) < (l->slot_count + 1) / 2)
    return;
  struct ibv_send_wr *wr = verbs_request(l);
  if (wr) verbs_say(l, wr, VERBS_CREDIT, 0, 0);
}

static int post_receives(struct verbs_lane *l) {
  struct ibv_recv_wr *first = l->again;
  l->again = NULL;
  return first ? l->of->ops->post_receive(l->of->adapter->device, l->qp, first) : 0;
}

static int post_requests(struct verbs_lane *l) {
  if (l->posted == l->made) return 0;
  struct ibv_send_wr *first = NULL, *last = NULL;
  for (uint32_t mask = l->request_count - 1; l->posted != l->made; ++l->posted) {
    struct ibv_send_wr *wr = &l->requests[l->posted & mask];
    const struct purpose *p = &l->purposes[l->posted & mask];
    if (p->tells) wr->imm_data = htonl(p->immediate | l->given);
    *(first ? &last->next : &first) = wr;
    last = wr;
  }
  last->next = NULL;
  if (l->tells) l->told = l->given;
  l->tells = false;
  return l->of->ops->post_send(l->of->adapter->device, l->qp, first);
}

int verbs_settle(struct messages *s) {
  struct verbs *v = (struct verbs *)s->own;
  for (struct verbs_lane *l = v->busy; l && !v->status; l = v->busy) {
    v->busy = l->next_busy;
    l->busy = false;
    verbs_move_on(l);
    tell_credits(l);
    int status = v->status ? 0 : post_receives(l);
    if (!status && !v->status) status = post_requests(l);
    if (status) verbs_fail(v, status);
  }
  const bool ended = v->ended;
  v->ended = false;
  return v->status ? v->status : ended;
}

// --- from the adapter ---

static void retire(struct verbs_lane *l, uint32_t at) {
  const uint32_t mask = l->request_count - 1;
  if (((at - l->done) & mask) >= l->posted - l->done) {
    verbs_fail(l->of, NBC_ERROR_DEVICE);  // nothing such is under way
    return;
  }
  for (bool last = false; !last; ++l->done) {
    const struct purpose *p = &l->purposes[l->done & mask];
    if (p->ends && p->reads)
      list_put(&l->unfinished, p->ends);
    else if (p->ends)
      p->ends->done = true;
    if (p->reads) --l->reads;
    if (p->probes) l->probing = false;
    last = (l->done & mask) == at;
  }
  verbs_mark_busy(l);
}

enum { BATCH = 16 };

// Returns how many there were.
static int take_some(struct verbs *v) {
  struct ibv_wc wc[BATCH];
  int count = v->ops->poll(v->adapter->device, v->cq, BATCH, wc);
  if (count < 0) return verbs_fail(v, count);
  if (count) v->idle = 0;
  for (int i = 0; i < count && !v->status; ++i) {
    struct verbs_lane *l = &v->lanes[wc[i].wr_id >> 32];
    uint32_t at = (uint32_t)wc[i].wr_id;
    l->heard = true;
    if (wc[i].status != IBV_WC_SUCCESS)
      verbs_fail(v, NBC_ERROR_DEVICE);
    else if (at & RECEIVE)
      verbs_arrive(l, at & ~RECEIVE, &wc[i]);
    else
      retire(l, at);
  }
  return count;
}

int verbs_take_in(struct verbs *v) {
  while (!v->status && take_some(v) == BATCH);
  return v->status;
}

// --- made ---

void verbs_lay_out(struct verbs_lane *l) {
  const struct verbs *v = l->of;
  uint64_t id = (uint64_t)l->index << 32;
  for (uint32_t i = 0; i < l->request_count; ++i) {
    l->requests[i].wr_id = id | i;
    l->requests[i].sg_list = &l->segments[(size_t)i * v->gather];
  }
  for (uint32_t i = 0; i < l->receive_count; ++i) {
    struct ibv_sge *segments = &l->receive_segments[(size_t)i * scatter_of(l)];
    l->receives[i] = (struct ibv_recv_wr){.wr_id = id | RECEIVE | i, .sg_list = segments};
    if (is_second(l)) continue;
    *segments = (struct ibv_sge){(uintptr_t)(l->arrivals + (size_t)i * v->slot_bytes),
                                 v->slot_bytes, l->lkey};
    l->receives[i].num_sge = 1;
    verbs_receive_again(l, i);
  }
}
