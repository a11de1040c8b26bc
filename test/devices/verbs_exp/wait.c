// SPDX-License-Identifier: BSD-3-Clause
// wait.c - rules of waits: W1-W9, W13 of cross-channel work queues.

#include "bed.h"

enum { SENDS = 10, LAST = IBV_EXP_SEND_SIGNALED | IBV_EXP_SEND_WAIT_EN_LAST };

static const struct wish crossing = {.flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL};

static void send_all(struct bed *bed, int sends) {
  for (int i = 0; i < sends; ++i) DEMAND(post(bed, bed->qp, (uint64_t)i, IBV_EXP_WR_SEND) == 0);
  await_entries(bed, bed->send_cq, sends);
  await_entries(bed, bed->recv_cq, sends);
}

static void post_master(struct bed *bed, struct ibv_exp_send_wr *wr) {
  DEMAND(ibv_exp_post_send(bed->master, wr, NULL) == 0);
}

// A wait for fewer than come passes, and completes once.
static void fewer(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr = wait_for(bed.recv_cq, 1, 77, LAST);
  post_master(&bed, &wr);
  demand_quiet(&bed, bed.master_cq);
  send_all(&bed, SENDS);
  await_entries(&bed, bed.master_cq, 1);
  DEMAND(bed.wc[0].status == IBV_WC_SUCCESS && bed.wc[0].wr_id == 77);
  demand_quiet(&bed, bed.master_cq);
  end_bed(&bed);
}

// One for exactly as many passes with the last of them, and not before.
static void exactly(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr = wait_for(bed.recv_cq, SENDS, 1, LAST);
  post_master(&bed, &wr);
  send_all(&bed, SENDS - 1);
  demand_quiet(&bed, bed.master_cq);
  send_all(&bed, 1);
  await_entries(&bed, bed.master_cq, 1);
  end_bed(&bed);
}

// One for more than ever come holds its queue, and only that.
static void more(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr = wait_for(bed.recv_cq, SENDS + 1, 1, LAST);
  post_master(&bed, &wr);
  DEMAND(post(&bed, bed.master, 2, IBV_EXP_WR_NOP) == 0);
  send_all(&bed, SENDS);
  demand_quiet(&bed, bed.master_cq);
  end_bed(&bed);
}

// Several wait for the same entry: nothing is used up, and all pass, in their order.
static void several(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr[3] = {wait_for(bed.recv_cq, SENDS, 3, IBV_EXP_SEND_SIGNALED),
                                  wait_for(bed.recv_cq, SENDS, 2, IBV_EXP_SEND_SIGNALED),
                                  wait_for(bed.recv_cq, SENDS, 1, LAST)};
  wr[0].next = &wr[1];
  wr[1].next = &wr[2];
  post_master(&bed, wr);
  send_all(&bed, SENDS);
  await_entries(&bed, bed.master_cq, 3);
  for (int i = 0; i < 3; ++i)
    DEMAND(bed.wc[i].wr_id == 3 - (uint64_t)i && bed.wc[i].qp_num == bed.master->qp_num);
  end_bed(&bed);
}

// Within a group counts are from its beginning: of one less, as many, one more, two pass.
static void group(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr[3] = {wait_for(bed.recv_cq, SENDS - 1, 3, IBV_EXP_SEND_SIGNALED),
                                  wait_for(bed.recv_cq, SENDS, 2, IBV_EXP_SEND_SIGNALED),
                                  wait_for(bed.recv_cq, SENDS + 1, 1, LAST)};
  wr[0].next = &wr[1];
  wr[1].next = &wr[2];
  post_master(&bed, wr);
  send_all(&bed, SENDS);
  await_entries(&bed, bed.master_cq, 2);
  DEMAND(bed.wc[0].wr_id == 3 && bed.wc[1].wr_id == 2);
  demand_quiet(&bed, bed.master_cq);
  // The group was so long as its longest: the next entry ends it, and the one after the next.
  struct ibv_exp_send_wr next = wait_for(bed.recv_cq, 1, 9, LAST);
  post_master(&bed, &next);
  send_all(&bed, 1);
  await_entries(&bed, bed.master_cq, 1);
  DEMAND(bed.wc[0].wr_id == 1);
  demand_quiet(&bed, bed.master_cq);
  send_all(&bed, 1);
  await_entries(&bed, bed.master_cq, 1);
  DEMAND(bed.wc[0].wr_id == 9);
  end_bed(&bed);
}

// Groups that are one wait each count on: the n-th passes with the n-th entry.
static void onward(void) {
  struct bed bed = make_bed(&crossing);
  for (uint64_t i = 0; i < SENDS; ++i) {
    struct ibv_exp_send_wr wr = wait_for(bed.recv_cq, 1, i, LAST);
    post_master(&bed, &wr);
  }
  for (uint64_t i = 0; i < SENDS; ++i) {
    send_all(&bed, 1);
    await_entries(&bed, bed.master_cq, 1);
    DEMAND(bed.wc[0].wr_id == i);
    demand_quiet(&bed, bed.master_cq);
  }
  end_bed(&bed);
}

// Entries that the program has not polled count, and those that it has.
static void unpolled(void) {
  struct bed bed = make_bed(&crossing);
  for (uint64_t i = 0; i < SENDS; ++i) DEMAND(post(&bed, bed.qp, i, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.send_cq, SENDS);
  struct ibv_exp_send_wr wr = wait_for(bed.recv_cq, SENDS, 5, LAST);
  post_master(&bed, &wr);
  await_entries(&bed, bed.master_cq, 1);
  await_entries(&bed, bed.recv_cq, SENDS);
  end_bed(&bed);
}

// For the CQ of one's own sends: the entry of a signalled request before it lets it pass, and its
// own would never come.
static void own_cq(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr[2] = {wait_for(bed.master_cq, 1, 1, IBV_EXP_SEND_WAIT_EN_LAST),
                                  wait_for(bed.master_cq, 1, 2, LAST)};
  DEMAND(post(&bed, bed.master, 0, IBV_EXP_WR_NOP) == 0);
  wr[0].next = &wr[1];
  post_master(&bed, wr);
  await_entries(&bed, bed.master_cq, 1);
  DEMAND(bed.wc[0].wr_id == 0 && bed.wc[0].opcode == IBV_WC_DRIVER1);
  demand_quiet(&bed, bed.master_cq);
  end_bed(&bed);
}

// One that is not signalled leaves no entry; what is behind it shows that it has passed.
static void unsignalled(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr = wait_for(bed.recv_cq, 1, 1, IBV_EXP_SEND_WAIT_EN_LAST);
  post_master(&bed, &wr);
  DEMAND(post(&bed, bed.master, 2, IBV_EXP_WR_NOP) == 0);
  demand_quiet(&bed, bed.master_cq);
  send_all(&bed, 1);
  await_entries(&bed, bed.master_cq, 1);
  DEMAND(bed.wc[0].wr_id == 2);
  end_bed(&bed);
}

// Sends that are not signalled count in no CQ.
static void only_entries(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr = wait_for(bed.send_cq, 1, 1, LAST), plain;
  post_master(&bed, &wr);
  memset(&plain, 0, sizeof plain);
  plain.exp_opcode = IBV_EXP_WR_SEND;
  for (int i = 0; i < 3; ++i) DEMAND(ibv_exp_post_send(bed.qp, &plain, NULL) == 0);
  await_entries(&bed, bed.recv_cq, 3);
  demand_quiet(&bed, bed.master_cq);
  DEMAND(post(&bed, bed.qp, 4, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.master_cq, 1);
  end_bed(&bed);
}

// A count of 0 is passed at once on a fresh CQ.
static void none(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr = wait_for(bed.recv_cq, 0, 1, LAST);
  post_master(&bed, &wr);
  await_entries(&bed, bed.master_cq, 1);
  end_bed(&bed);
}

// Farther than the CQ is long, where that may overrun: it is the entries ever written that count.
static void beyond_a_lap(void) {
  struct wish wish = crossing;
  wish.recv_cq = 7, wish.ignore_recv = 1;
  struct bed bed = make_bed(&wish);
  struct ibv_exp_send_wr wr = wait_for(bed.recv_cq, 20, 1, LAST);
  post_master(&bed, &wr);
  for (uint64_t i = 0; i < 19; ++i) DEMAND(post(&bed, bed.qp, i, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.send_cq, 19);
  demand_quiet(&bed, bed.master_cq);
  DEMAND(post(&bed, bed.qp, 19, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.master_cq, 1);
  end_bed(&bed);
}

// An entry that says a failure counts like any other.
static void by_error(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_send_wr wr = wait_for(bed.send_cq, 1, 1, LAST);
  post_master(&bed, &wr);
  bed.mr->rkey ^= 1;
  DEMAND(post(&bed, bed.qp, 4, IBV_EXP_WR_RDMA_WRITE) == 0);
  bed.mr->rkey ^= 1;
  await_entries(&bed, bed.master_cq, 1);
  await_entries(&bed, bed.send_cq, 1);
  // It is looped: the end that was written to may fail before the other is answered.
  DEMAND(bed.wc[0].status == IBV_WC_REM_ACCESS_ERR || bed.wc[0].status == IBV_WC_WR_FLUSH_ERR);
  end_bed(&bed);
}

const struct rule wait_rules[] = {{"wait-fewer", fewer},
                                  {"wait-exactly", exactly},
                                  {"wait-more", more},
                                  {"wait-several", several},
                                  {"wait-group", group},
                                  {"wait-onward", onward},
                                  {"wait-unpolled", unpolled},
                                  {"wait-own-cq", own_cq},
                                  {"wait-unsignalled", unsignalled},
                                  {"wait-only-entries", only_entries},
                                  {"wait-none", none},
                                  {"wait-beyond-a-lap", beyond_a_lap},
                                  {"wait-by-error", by_error},
                                  {NULL, NULL}};
