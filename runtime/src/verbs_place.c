// SPDX-License-Identifier: BSD-3-Clause
// verbs_place.c - long messages sent, or written, into their place: by the lane's second queue
// pair, whose receives are posted where messages are to be.
//
//   who receives   a receive of no bytes, and one for each part of the message, in place
//   who sends      PLACED of no bytes; a read of the peer's word; the parts, behind a fence
//
// Both ends know which message is the k-th, so receives find theirs, and who sends posts all of it
// in its start, whether the peer has started or not. What finds no receive is refused and comes
// again (RNR), for ever, by the adapters alone: neither host has to look. The peer's adapter
// answers the read once the message of no bytes has found its receive, and the fence holds the
// parts back until then: so while the peer is late one packet without bytes goes to and fro, and
// not the data.
//
// No address and no key of such a message leaves its rank. A part is as long as both ends can send;
// what a receive is to take is known, and anything else ends the plan.
//
// Direct, where the peer has offered the place: the same receives take PLACED of no bytes, without
// the read, and a write with immediate of each part, which may be cut to what a work request
// gathers.
//
// Costs: a round trip before the bytes that are sent, and up to a turn of the RNR timer where the
// peer is late; a message of no bytes where they are written.

#include <arpa/inet.h>

#include "runtime/src/verbs.h"

static struct verbs_lane *first_of(const struct verbs_lane *l) {
  return &l->of->lanes[l->index - l->of->lane_count];
}

// What is left of the part that the message is at.
static uint64_t part(const struct verbs_lane *l, const struct verbs_message *x) {
  const uint64_t left = x->of->bytes - x->moved, whole = l->longest - x->moved % l->longest;
  return left < whole ? left : whole;
}

// Of the part as much as a work request has; all of it, unless it is written. Counted as moved.
static void take_segments(const struct verbs_lane *l, struct verbs_message *x, struct ibv_sge *to,
                          int *count) {
  const uint64_t most = part(l, x);
  const uint64_t bytes = verbs_segments(l, x->of, x->moved, most, to, count);
  if (!x->written && bytes != most) verbs_fail(l->of, NBC_ERROR_DEVICE);
  x->moved += bytes;
}

// --- who receives ---

static struct ibv_recv_wr *post_receive(struct verbs_lane *l, uint32_t *at) {
  *at = l->placed_count++ & (l->receive_count - 1);
  l->receives[*at].num_sge = 0;
  l->placed[*at] = (struct placed){0};
  verbs_receive_again(l, *at);
  return &l->receives[*at];
}

static uint32_t room(const struct verbs_lane *l) {
  return l->receive_count - (l->placed_count - l->placed_came);
}

// False: there is no room for all of them.
static bool post_places(struct verbs_lane *l, struct verbs_message *x) {
  while (x->moved < x->of->bytes && !l->of->status) {
    uint32_t at;
    if (room(l) == 0) return false;
    if (x->moved == 0) post_receive(l, &at);
    struct ibv_recv_wr *wr = post_receive(l, &at);
    l->placed[at].bytes = part(l, x);
    take_segments(l, x, wr->sg_list, &wr->num_sge);
    if (x->moved == x->of->bytes) l->placed[at].ends = x;
  }
  return true;
}

// Whether it is what the receive is for. Of what is written, that there are bytes is all that is
// known.
static bool is_placed(const struct verbs_lane *l, const struct placed *p, const struct ibv_wc *wc,
                      enum verbs_kind kind) {
  if (wc->opcode == IBV_WC_RECV) return kind == VERBS_PLACED && wc->byte_len == p->bytes;
  return wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM && kind == VERBS_DATA && p->bytes &&
         l->of->way == NBC_VERBS_DIRECT;
}

// It has come, whether its place was offered or not yet.
static void drop_offer(struct verbs_lane *l, const struct verbs_message *x) {
  if (l->offered.first == x) {
    list_take(&l->offered);
  } else {
    list_take(&l->unoffered);
    ++l->offers_made;
    l->skipped = true;
  }
}

bool verbs_place_came(struct verbs_lane *l, uint32_t at, const struct ibv_wc *wc) {
  struct verbs_lane *of = first_of(l);
  const uint32_t immediate = ntohl(wc->imm_data);
  if (l->placed_came == l->placed_count || at != (l->placed_came & (l->receive_count - 1)) ||
      !is_placed(l, &l->placed[at], wc, (enum verbs_kind)(immediate >> KIND_SHIFT)) ||
      !verbs_in_order(immediate, of->offers_answered))
    return false;
  ++l->placed_came;
  struct verbs_message *x = l->placed[at].ends;
  if (!x) return true;
  x->done = true;
  ++of->offers_answered;
  if (l->of->way == NBC_VERBS_DIRECT) drop_offer(of, x);
  return true;
}

// --- who sends ---

// What is refused while the peer has posted no receive; and, where it is not known to have, what
// tells.
static void post_knock(struct verbs_lane *l, bool known) {
  verbs_say(l, verbs_request(l), VERBS_PLACED, first_of(l)->offers_taken, 0);
  if (known) return;
  struct ibv_send_wr *wr = verbs_request(l);
  wr->opcode = IBV_WR_RDMA_READ;
  wr->wr.rdma.remote_addr = l->word;
  wr->wr.rdma.rkey = l->word_rkey;
  wr->sg_list[0] = (struct ibv_sge){(uintptr_t)(l->of->words + 1), sizeof(uint64_t), l->lkey};
  wr->num_sge = 1;
}

// Direct: whether the message is written, as the peer has offered its place, or sent. False: it
// stays, as an offer may come while somebody looks.
static bool choose(struct verbs_lane *l, struct verbs_message *x) {
  struct verbs *v = l->of;
  const struct offer *o = verbs_next_offer(first_of(l));
  if (!o) return v->leaves && x->of->runs <= v->gather;
  if (o->bytes != x->of->bytes) {
    verbs_fail(v, NBC_ERROR_DEVICE);
    return false;
  }
  return x->written = true;
}

// The part of it, or a piece of the part, to the place that was offered.
static void write_part(struct verbs_lane *l, struct verbs_message *x, struct ibv_send_wr *wr) {
  const struct offered_run *there = &verbs_next_offer(first_of(l))->run[0];
  wr->wr.rdma.remote_addr = there->address + x->moved;
  wr->wr.rdma.rkey = there->rkey;
  take_segments(l, x, wr->sg_list, &wr->num_sge);
  if (x->moved == x->of->bytes || x->moved % l->longest == 0)
    verbs_say(l, wr, VERBS_DATA, first_of(l)->offers_taken, 0);
  else
    wr->opcode = IBV_WR_RDMA_WRITE;
}

// False: there is no room for all of it.
static bool post_parts(struct verbs_lane *l, struct verbs_message *x) {
  while (x->moved < x->of->bytes && !l->of->status) {
    const bool first = x->moved == 0;
    const uint32_t needs = !first ? 1 : x->written ? 2 : 3;
    if (l->request_count - (l->made - l->done) < needs) return false;
    if (first) post_knock(l, x->written);
    struct ibv_send_wr *wr = verbs_request(l);
    if (x->written) {
      write_part(l, x, wr);
    } else {
      take_segments(l, x, wr->sg_list, &wr->num_sge);
      verbs_say(l, wr, VERBS_PLACED, first_of(l)->offers_taken, 0);
      if (first) wr->send_flags |= IBV_SEND_FENCE;
    }
    if (x->moved < x->of->bytes) continue;
    verbs_purpose(l, wr)->ends = x;
    verbs_signal(l, wr);
  }
  return true;
}

void verbs_move_places(struct verbs_lane *l) {
  const bool direct = l->of->way == NBC_VERBS_DIRECT;
  struct verbs_lane *of = first_of(l);
  for (;;) {
    if (!l->placing && l->unoffered.first && room(l) >= 2) {
      l->placing = list_take(&l->unoffered);
      // Its turn comes behind this one's, so the receives are there before the offer.
      if (direct) list_put(&of->unoffered, l->placing), verbs_mark_busy(of);
    }
    if (!l->placing || !post_places(l, l->placing)) break;
    l->placing = NULL;
  }
  for (struct verbs_message *x = l->unmoved.first; x; x = l->unmoved.first) {
    if (direct && x->moved == 0 && !choose(l, x)) break;
    if (!post_parts(l, x)) break;
    list_take(&l->unmoved);
    ++of->offers_taken;
    if (direct) --l->of->stalled;
  }
}

void verbs_send_unoffered(struct verbs *v) {
  for (uint32_t i = v->lane_count; i < v->queue_count; ++i)
    if (v->lanes[i].unmoved.first) verbs_mark_busy(&v->lanes[i]);
  v->leaves = true;
  // What has ended by it is for whoever looks next, and so is a failure.
  if (verbs_settle(messages_of(v->plan)) > 0) v->ended = true;
  v->leaves = false;
}
