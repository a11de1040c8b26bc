// SPDX-License-Identifier: BSD-3-Clause
// message.c - plain verbs: what a queue pair with or without cross-channel does as ever.

#include "bed.h"

static const struct wish plain = {.flags = 0},
                         crossing = {.flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL};

static void operations_on(const struct wish *wish) {
  struct bed bed = make_bed(wish);
  unsigned char *there = bed.memory + BYTES / 2;
  struct ibv_sge sge = {(uintptr_t)bed.memory, 100, bed.mr->lkey};
  struct ibv_send_wr wr, *bad;
  for (unsigned i = 0; i < 100; ++i) bed.memory[i] = (unsigned char)(3 * i + 1);
  memset(&wr, 0, sizeof wr);
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = (uintptr_t)there;
  wr.wr.rdma.rkey = bed.mr->rkey;
  wr.imm_data = htonl(0x12345678);
  static const struct {
    enum ibv_wr_opcode opcode;
    enum ibv_wc_opcode sent, received;
    int receives;
  } cases[] = {{IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, 1},
               {IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV, 2},
               {IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, IBV_WC_RECV, 0},
               {IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE, IBV_WC_RECV_RDMA_WITH_IMM, 2}};
  for (unsigned i = 0; i < 4; ++i) {
    memset(there, 0, 100);
    wr.opcode = cases[i].opcode;
    wr.wr_id = i;
    DEMAND(ibv_post_send(bed.qp, &wr, &bad) == 0);
    await_entries(&bed, bed.send_cq, 1);
    DEMAND(bed.wc[0].status == IBV_WC_SUCCESS && bed.wc[0].wr_id == i &&
           bed.wc[0].opcode == cases[i].sent);
    DEMAND(memcmp(bed.memory, there, 100) == 0);
    if (!cases[i].receives) continue;
    await_entries(&bed, bed.recv_cq, 1);
    DEMAND(bed.wc[0].opcode == cases[i].received && bed.wc[0].byte_len == 100);
    DEMAND(bed.wc[0].qp_num == bed.qp->qp_num);
    if (cases[i].receives == 2)
      DEMAND(bed.wc[0].wc_flags & IBV_WC_WITH_IMM && bed.wc[0].imm_data == wr.imm_data);
  }
  demand_quiet(&bed, bed.recv_cq);

  memset(bed.memory, 0, 100);
  wr.opcode = IBV_WR_RDMA_READ;
  DEMAND(ibv_post_send(bed.qp, &wr, &bad) == 0);
  await_entries(&bed, bed.send_cq, 1);
  DEMAND(bed.wc[0].opcode == IBV_WC_RDMA_READ && memcmp(bed.memory, there, 100) == 0);

  uint64_t *word = (uint64_t *)there, *before = (uint64_t *)bed.memory;
  *word = 40;
  sge.length = 8;
  wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  wr.wr.atomic.remote_addr = (uintptr_t)word;
  wr.wr.atomic.rkey = bed.mr->rkey;
  wr.wr.atomic.compare_add = 2;
  DEMAND(ibv_post_send(bed.qp, &wr, &bad) == 0);
  await_entries(&bed, bed.send_cq, 1);
  DEMAND(bed.wc[0].opcode == IBV_WC_FETCH_ADD && *before == 40 && *word == 42);
  wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  wr.wr.atomic.compare_add = 42;
  wr.wr.atomic.swap = 7;
  DEMAND(ibv_post_send(bed.qp, &wr, &bad) == 0);
  await_entries(&bed, bed.send_cq, 1);
  DEMAND(bed.wc[0].opcode == IBV_WC_COMP_SWAP && *before == 42 && *word == 7);
  end_bed(&bed);
}

static void operations(void) {
  operations_on(&plain);
  operations_on(&crossing);
}

// A queue is at least as long as was asked for, and says how long; it is full until completions are
// polled; unsignalled requests end with the next that is signalled.
static void full(void) {
  struct bed bed = make_bed(&plain);
  struct ibv_qp_attr attributes;
  struct ibv_qp_init_attr init;
  DEMAND(ibv_query_qp(bed.qp, &attributes, IBV_QP_CAP, &init) == 0);
  int most = (int)init.cap.max_send_wr;
  DEMAND(most >= DEPTH && init.cap.max_recv_wr >= DEPTH);
  struct ibv_exp_send_wr wr, *bad = NULL;
  memset(&wr, 0, sizeof wr);
  wr.exp_opcode = IBV_EXP_WR_NOP;
  for (int lap = 0; lap < 5; ++lap) {
    wr.exp_send_flags = 0;
    for (int i = 0; i < most - 1; ++i) DEMAND(ibv_exp_post_send(bed.qp, &wr, &bad) == 0);
    wr.exp_send_flags = IBV_EXP_SEND_SIGNALED;
    wr.wr_id = 5;
    DEMAND(ibv_exp_post_send(bed.qp, &wr, &bad) == 0);
    DEMAND(ibv_exp_post_send(bed.qp, &wr, &bad) == ENOMEM && bad == &wr);
    await_entries(&bed, bed.send_cq, 1);
    DEMAND(bed.wc[0].wr_id == 5);
  }
  struct ibv_recv_wr receive = {.wr_id = 1}, *bad_receive = NULL;
  for (int i = DEPTH; i < (int)init.cap.max_recv_wr; ++i)
    DEMAND(ibv_post_recv(bed.qp, &receive, &bad_receive) == 0);
  DEMAND(ibv_post_recv(bed.qp, &receive, &bad_receive) == ENOMEM && bad_receive == &receive);
  end_bed(&bed);
}

// Where nobody is to be told of it, a master's waits are never polled.
static void unbounded(void) {
  struct bed bed = make_bed(&plain);
  struct ibv_qp *qp =
      make_qp(&bed, bed.master_cq, bed.master_cq, 8, 0,
              IBV_EXP_QP_CREATE_CROSS_CHANNEL | IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW);
  loop_qp(&bed, qp, qp, 0, 7);
  for (uint64_t i = 0; i < 200; ++i) {
    struct ibv_exp_send_wr wr = wait_for(bed.master_cq, 0, i, IBV_EXP_SEND_WAIT_EN_LAST);
    DEMAND(ibv_exp_post_send(qp, &wr, NULL) == 0);
    if (i % 4) continue;
    DEMAND(post(&bed, qp, i, IBV_EXP_WR_NOP) == 0);
    await_entries(&bed, bed.master_cq, 1);
    DEMAND(bed.wc[0].wr_id == i);
  }
  DEMAND(ibv_destroy_qp(qp) == 0);
  end_bed(&bed);
}

// Inline bytes may change once they are posted, and need no key.
static void inlined(void) {
  struct bed bed = make_bed(&plain);
  struct ibv_qp_init_attr init;
  memset(&init, 0, sizeof init);
  init.send_cq = bed.send_cq;
  init.recv_cq = bed.recv_cq;
  init.cap.max_send_wr = init.cap.max_recv_wr = 8;
  init.cap.max_send_sge = init.cap.max_recv_sge = 1;
  init.cap.max_inline_data = 200;
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = 1;
  struct ibv_qp *qp = ibv_create_qp(bed.pd, &init);
  DEMAND(qp);
  loop_qp(&bed, qp, qp, 0, 7);
  post_receives(&bed, qp, 1);
  char text[200];
  memset(text, 'x', sizeof text);
  struct ibv_sge sge = {(uintptr_t)text, sizeof text, 0};
  struct ibv_send_wr wr, *bad;
  memset(&wr, 0, sizeof wr);
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_INLINE;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  DEMAND(ibv_post_send(qp, &wr, &bad) == 0);
  memset(text, 'y', sizeof text);
  await_entries(&bed, bed.send_cq, 1);  // all are signalled
  await_entries(&bed, bed.recv_cq, 1);
  for (int i = 0; i < 200; ++i) DEMAND(bed.memory[BYTES / 2 + i] == 'x');
  sge.length = 201;
  DEMAND(ibv_post_send(qp, &wr, &bad) == EINVAL);
  DEMAND(ibv_destroy_qp(qp) == 0);
  end_bed(&bed);
}

// As much of a completion as there is room for, and which queue pair it is of.
static void exp_poll(void) {
  struct bed bed = make_bed(&plain);
  struct ibv_exp_wc wc[2];
  int found = 0;
  DEMAND(post(&bed, bed.qp, 3, IBV_EXP_WR_SEND) == 0);
  DEMAND(post(&bed, bed.qp, 4, IBV_EXP_WR_SEND) == 0);
  while (found < 2) {
    int n = ibv_exp_poll_cq(bed.send_cq, 2 - found, wc + found, sizeof wc[0]);
    DEMAND(n >= 0);
    found += n;
  }
  DEMAND(wc[0].wr_id == 3 && wc[1].wr_id == 4 && wc[1].exp_opcode == IBV_EXP_WC_SEND);
  DEMAND(wc[0].exp_wc_flags & IBV_EXP_WC_QP && wc[0].qp == bed.qp);
  end_bed(&bed);
}

// Two contexts of a process do not see each other's keys, but their queue pairs may be connected.
static void two_contexts(void) {
  struct bed one = make_bed(&plain), other = make_bed(&plain);
  struct ibv_qp *a = make_qp(&one, one.send_cq, one.recv_cq, 8, 8, 0);
  struct ibv_qp *b = make_qp(&other, other.send_cq, other.recv_cq, 8, 8, 0);
  loop_qp(&one, a, b, 0, 7);
  loop_qp(&other, b, a, IBV_ACCESS_REMOTE_WRITE, 7);
  post_receives(&other, b, 1);
  DEMAND(post(&one, a, 1, IBV_EXP_WR_SEND) == 0);
  await_entries(&one, one.send_cq, 1);
  await_entries(&other, other.recv_cq, 1);
  DEMAND(post(&one, a, 2, IBV_EXP_WR_RDMA_WRITE) == 0);  // with a key of the wrong context
  await_entries(&one, one.send_cq, 1);
  DEMAND(one.wc[0].status == IBV_WC_REM_ACCESS_ERR);
  DEMAND(ibv_destroy_qp(a) == 0 && ibv_destroy_qp(b) == 0);
  end_bed(&one);
  end_bed(&other);
}

const struct rule message_rules[] = {{"operations", operations},
                                     {"queue-full", full},
                                     {"queue-unbounded", unbounded},
                                     {"inline", inlined},
                                     {"exp-poll", exp_poll},
                                     {"two-contexts", two_contexts},
                                     {NULL, NULL}};
