// SPDX-License-Identifier: BSD-3-Clause
// error.c - what fails, and what becomes of the queues then: RNR, access, lengths, flush.

#include <time.h>

#include "bed.h"

static const struct wish crossing = {.flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL};

static enum ibv_qp_state state(struct ibv_qp *qp) {
  struct ibv_qp_attr a;
  struct ibv_qp_init_attr init;
  DEMAND(ibv_query_qp(qp, &a, IBV_QP_STATE, &init) == 0);
  return a.qp_state;
}

// Without a receive a send waits as long as it was told to, and holds what is behind it.
static void rnr_waits(void) {
  struct wish wish = crossing;
  wish.receives = -1;
  struct bed bed = make_bed(&wish);
  DEMAND(post(&bed, bed.qp, 1, IBV_EXP_WR_SEND) == 0);
  DEMAND(post(&bed, bed.qp, 2, IBV_EXP_WR_RDMA_WRITE) == 0);
  demand_quiet(&bed, bed.send_cq);
  post_receives(&bed, bed.qp, 1);
  await_entries(&bed, bed.send_cq, 2);
  DEMAND(bed.wc[0].wr_id == 1 && bed.wc[1].wr_id == 2);
  end_bed(&bed);
}

// With patience that ends, it fails; what is behind it is flushed, and what is posted later.
static void rnr_fails(void) {
  struct wish wish = crossing;
  wish.receives = -1;
  wish.rnr_retry = 1 + 2;
  struct bed bed = make_bed(&wish);
  for (uint64_t i = 0; i < 3; ++i) DEMAND(post(&bed, bed.qp, i, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.send_cq, 3);
  DEMAND(bed.wc[0].status == IBV_WC_RNR_RETRY_EXC_ERR && bed.wc[0].wr_id == 0);
  for (uint64_t i = 1; i < 3; ++i)
    DEMAND(bed.wc[i].status == IBV_WC_WR_FLUSH_ERR && bed.wc[i].wr_id == i);
  DEMAND(state(bed.qp) == IBV_QPS_ERR);
  DEMAND(post(&bed, bed.qp, 9, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.send_cq, 1);
  DEMAND(bed.wc[0].status == IBV_WC_WR_FLUSH_ERR && bed.wc[0].wr_id == 9);
  post_receives(&bed, bed.qp, 1);
  await_entries(&bed, bed.recv_cq, 1);
  DEMAND(bed.wc[0].status == IBV_WC_WR_FLUSH_ERR);
  end_bed(&bed);
}

// Moved to the error state by its owner: sends that are under way, waits, receives, all are
// flushed.
static void moved(void) {
  struct wish wish = crossing;
  wish.receives = 4;
  struct bed bed = make_bed(&wish);
  struct ibv_exp_send_wr wr = wait_for(bed.master_cq, 5, 1, IBV_EXP_SEND_WAIT_EN_LAST);
  DEMAND(ibv_exp_post_send(bed.qp, &wr, NULL) == 0);
  DEMAND(post(&bed, bed.qp, 2, IBV_EXP_WR_SEND) == 0);
  demand_quiet(&bed, bed.send_cq);
  struct ibv_qp_attr a;
  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_ERR;
  DEMAND(ibv_modify_qp(bed.qp, &a, IBV_QP_STATE) == 0);
  await_entries(&bed, bed.send_cq, 2);  // unsignalled ones, too
  DEMAND(bed.wc[0].wr_id == 1 && bed.wc[0].status == IBV_WC_WR_FLUSH_ERR);
  DEMAND(bed.wc[1].wr_id == 2 && bed.wc[1].status == IBV_WC_WR_FLUSH_ERR);
  await_entries(&bed, bed.recv_cq, 4);
  for (uint64_t i = 0; i < 4; ++i)
    DEMAND(bed.wc[i].wr_id == 0x1000 + i && bed.wc[i].status == IBV_WC_WR_FLUSH_ERR);
  end_bed(&bed);
}

// Requests of a managed queue pair that has failed are flushed when they are enabled.
static void managed(void) {
  struct wish wish = crossing;
  wish.flags |= IBV_EXP_QP_CREATE_MANAGED_SEND;
  struct bed bed = make_bed(&wish);
  struct ibv_qp_attr a;
  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_ERR;
  DEMAND(post(&bed, bed.qp, 1, IBV_EXP_WR_SEND) == 0);
  DEMAND(ibv_modify_qp(bed.qp, &a, IBV_QP_STATE) == 0);
  struct ibv_exp_send_wr wr = enable(bed.qp, 1, 2, IBV_EXP_SEND_WAIT_EN_LAST);
  DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == 0);
  await_entries(&bed, bed.send_cq, 1);
  DEMAND(bed.wc[0].wr_id == 1 && bed.wc[0].status == IBV_WC_WR_FLUSH_ERR);
  end_bed(&bed);
}

// More than the receive has room for.
static void too_long(void) {
  struct wish wish = crossing;
  wish.receives = -1;
  struct bed bed = make_bed(&wish);
  struct ibv_sge sge = {(uintptr_t)bed.memory + BYTES / 2, 7, bed.mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = 6, .sg_list = &sge, .num_sge = 1}, *bad;
  DEMAND(ibv_post_recv(bed.qp, &wr, &bad) == 0);
  DEMAND(post(&bed, bed.qp, 1, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.recv_cq, 1);
  DEMAND(bed.wc[0].status == IBV_WC_LOC_LEN_ERR && bed.wc[0].wr_id == 6);
  // It is looped: the failure of one end may come before the answer to the other.
  await_entries(&bed, bed.send_cq, 1);
  DEMAND(bed.wc[0].status == IBV_WC_REM_INV_REQ_ERR || bed.wc[0].status == IBV_WC_WR_FLUSH_ERR);
  end_bed(&bed);
}

static enum ibv_wc_status one_write(unsigned access, int offset, unsigned key) {
  struct wish wish = crossing;
  wish.access = access;
  struct bed bed = make_bed(&wish);
  // From a queue pair of its own, whose completion is not the flush of the failed end.
  struct ibv_qp *from = make_qp(&bed, bed.master_cq, bed.master_cq, 4, 0, 0);
  struct ibv_qp *to = make_qp(&bed, bed.send_cq, bed.recv_cq, 4, 4, 0);
  loop_qp(&bed, from, to, 0, 7);
  loop_qp(&bed, to, from, access, 7);
  struct ibv_sge sge = {(uintptr_t)bed.memory, 8, bed.mr->lkey};
  struct ibv_exp_send_wr wr;
  memset(&wr, 0, sizeof wr);
  wr.exp_opcode = IBV_EXP_WR_RDMA_WRITE;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.exp_send_flags = IBV_EXP_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = (uintptr_t)(bed.memory + offset);
  wr.wr.rdma.rkey = bed.mr->rkey + key;
  DEMAND(ibv_exp_post_send(from, &wr, NULL) == 0);
  await_entries(&bed, bed.master_cq, 1);
  enum ibv_wc_status status = bed.wc[0].status;
  DEMAND(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0);
  end_bed(&bed);
  return status;
}

// What a peer may is said by the key and by the queue pair, both.
static void access(void) {
  DEMAND(one_write(IBV_ACCESS_REMOTE_WRITE, BYTES - 8, 0) == IBV_WC_SUCCESS);
  DEMAND(one_write(IBV_ACCESS_REMOTE_WRITE, BYTES - 7, 0) == IBV_WC_REM_ACCESS_ERR);
  DEMAND(one_write(IBV_ACCESS_REMOTE_WRITE, 0, 1) == IBV_WC_REM_ACCESS_ERR);
  DEMAND(one_write(IBV_ACCESS_REMOTE_READ, 0, 0) == IBV_WC_REM_INV_REQ_ERR);
}

// Memory that is not one's own is not read.
static void protection(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_mr *mr = ibv_reg_mr(bed.pd, bed.memory, 8, 0);
  DEMAND(mr);
  struct ibv_sge sge = {(uintptr_t)bed.memory + 1, 8, mr->lkey};
  struct ibv_exp_send_wr wr;
  memset(&wr, 0, sizeof wr);
  wr.exp_opcode = IBV_EXP_WR_SEND;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  DEMAND(ibv_exp_post_send(bed.qp, &wr, NULL) == 0);
  await_entries(&bed, bed.send_cq, 1);  // not signalled, but failed
  DEMAND(bed.wc[0].status == IBV_WC_LOC_PROT_ERR);
  DEMAND(ibv_dealloc_pd(bed.pd) == EBUSY);
  DEMAND(ibv_dereg_mr(mr) == 0);
  end_bed(&bed);
}

// Nobody answers: the peer's queue pair is gone.
static void nobody(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_qp *a = make_qp(&bed, bed.send_cq, bed.recv_cq, 8, 8, 0);
  struct ibv_qp *b = make_qp(&bed, bed.send_cq, bed.recv_cq, 8, 8, 0);
  loop_qp(&bed, a, b, 0, 7);
  loop_qp(&bed, b, a, 0, 7);
  DEMAND(ibv_destroy_qp(b) == 0);
  DEMAND(post(&bed, a, 1, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.send_cq, 1);  // after 8 times 67 ms
  DEMAND(bed.wc[0].status == IBV_WC_RETRY_EXC_ERR);
  DEMAND(ibv_destroy_qp(a) == 0);
  end_bed(&bed);
}

const struct rule error_rules[] = {
    {"rnr-waits", rnr_waits},   {"rnr-fails", rnr_fails}, {"flush-moved", moved},
    {"flush-managed", managed}, {"too-long", too_long},   {"access", access},
    {"protection", protection}, {"nobody", nobody},       {NULL, NULL}};
