// SPDX-License-Identifier: BSD-3-Clause
// verbs_place.c - long messages sent into their place: by the lane's second queue pair, whose
// receives are posted where messages are to be.
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
// No address and no key of a message leaves its rank. A part is as long as both ends can send; what
// a receive is to take is known, and anything else ends the plan.
//
// Costs: a round trip before the bytes, and up to a turn of the RNR timer where the peer is late.

#include <arpa/inet.h>

#include "runtime/src/verbs.h"

static uint64_t part(const struct verbs_lane *l, const struct verbs_message *x) {
  const uint64_t left = x->of->bytes - x->moved;
  return left < l->longest ? left : l->longest;
}

// The next part of the message is all that a work request has. Counted as moved.
static void take_segments(const struct verbs_lane *l, struct verbs_message *x, struct ibv_sge *to,
                          int *count) {
  const uint64_t bytes = part(l, x);
  if (verbs_segments(l, x->of, x->moved, bytes, to, count) != bytes)
    verbs_fail(l->of, NBC_ERROR_DEVICE);
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

// False: there is no room for all of them.
static bool post_places(struct verbs_lane *l, struct verbs_message *x) {
  while (x->moved < x->of->bytes && !l->of->status) {
    const bool first = x->moved == 0;
    uint32_t at;
    if (l->receive_count - (l->placed_count - l->placed_came) < (first ? 2u : 1u)) return false;
    if (first) post_receive(l, &at);
    struct ibv_recv_wr *wr = post_receive(l, &at);
    l->placed[at].bytes = part(l, x);
    take_segments(l, x, wr->sg_list, &wr->num_sge);
    if (x->moved == x->of->bytes) l->placed[at].ends = x;
  }
  return true;
}

bool verbs_place_came(struct verbs_lane *l, uint32_t at, const struct ibv_wc *wc) {
  const uint32_t immediate = ntohl(wc->imm_data);
  if (l->placed_came == l->placed_count || at != (l->placed_came & (l->receive_count - 1)) ||
      wc->opcode != IBV_WC_RECV || wc->byte_len != l->placed[at].bytes ||
      immediate >> KIND_SHIFT != VERBS_PLACED || !verbs_in_order(immediate, l->offers_answered))
    return false;
  ++l->placed_came;
  if (!l->placed[at].ends) return true;
  l->placed[at].ends->done = true;
  ++l->offers_answered;
  return true;
}

// --- who sends ---

// What is refused while the peer has posted no receive, and what tells that it has.
static void post_knock(struct verbs_lane *l) {
  verbs_say(l, verbs_request(l), VERBS_PLACED, l->offers_taken, 0);
  struct ibv_send_wr *wr = verbs_request(l);
  wr->opcode = IBV_WR_RDMA_READ;
  wr->wr.rdma.remote_addr = l->word;
  wr->wr.rdma.rkey = l->word_rkey;
  wr->sg_list[0] = (struct ibv_sge){(uintptr_t)(l->of->words + 1), sizeof(uint64_t), l->lkey};
  wr->num_sge = 1;
}

// False: there is no room for all of it.
static bool post_sends(struct verbs_lane *l, struct verbs_message *x) {
  while (x->moved < x->of->bytes && !l->of->status) {
    const bool first = x->moved == 0;
    if (l->request_count - (l->made - l->done) < (first ? 3u : 1u)) return false;
    if (first) post_knock(l);
    struct ibv_send_wr *wr = verbs_request(l);
    take_segments(l, x, wr->sg_list, &wr->num_sge);
    verbs_say(l, wr, VERBS_PLACED, l->offers_taken, 0);
    if (first) wr->send_flags |= IBV_SEND_FENCE;
    if (x->moved < x->of->bytes) continue;
    verbs_purpose(l, wr)->ends = x;
    verbs_signal(l, wr);
  }
  return true;
}

void verbs_move_places(struct verbs_lane *l) {
  while (l->unoffered.first && post_places(l, l->unoffered.first)) list_take(&l->unoffered);
  while (l->unmoved.first && post_sends(l, l->unmoved.first)) {
    list_take(&l->unmoved);
    ++l->offers_taken;
  }
}
