// SPDX-License-Identifier: BSD-3-Clause
// enable.c - rules of SEND_ENABLE, RECV_ENABLE and managed queue pairs: E1, E4-E9, E13-E15; and
// tasks.

#include "bed.h"

enum {
  SENDS = 10,
  LAST = IBV_EXP_SEND_WAIT_EN_LAST,
  MANAGED = IBV_EXP_QP_CREATE_CROSS_CHANNEL | IBV_EXP_QP_CREATE_MANAGED_SEND
};

static const struct wish managed = {.flags = MANAGED},
                         receiving = {.flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL |
                                               IBV_EXP_QP_CREATE_MANAGED_RECV};

static void sends(struct bed *bed, int count) {
  for (int i = 0; i < count; ++i) DEMAND(post(bed, bed->qp, (uint64_t)i, IBV_EXP_WR_SEND) == 0);
}

static void start(struct bed *bed, int count, uint64_t flags) {
  struct ibv_exp_send_wr wr = enable(bed->qp, count, 99, flags);
  DEMAND(ibv_exp_post_send(bed->master, &wr, NULL) == 0);
}

// What is posted to a managed queue pair stays where it is.
static void dormant(void) {
  struct bed bed = make_bed(&managed);
  sends(&bed, SENDS);
  demand_quiet(&bed, bed.send_cq);
  demand_quiet(&bed, bed.recv_cq);
  end_bed(&bed);
}

// Enabled one by one, one by one they go.
static void one_by_one(void) {
  struct bed bed = make_bed(&managed);
  sends(&bed, SENDS);
  for (uint64_t i = 0; i < SENDS; ++i) {
    start(&bed, 1, LAST);
    await_entries(&bed, bed.send_cq, 1);
    DEMAND(bed.wc[0].wr_id == i);
    demand_quiet(&bed, bed.send_cq);
  }
  demand_quiet(&bed, bed.master_cq);
  end_bed(&bed);
}

// A count of 0 enables all that is posted by then, and no more.
static void all(void) {
  struct bed bed = make_bed(&managed);
  sends(&bed, SENDS);
  start(&bed, 0, LAST | IBV_EXP_SEND_SIGNALED);
  sends(&bed, 1);
  await_entries(&bed, bed.send_cq, SENDS);
  await_entries(&bed, bed.recv_cq, SENDS);
  await_entries(&bed, bed.master_cq, 1);
  DEMAND(bed.wc[0].wr_id == 99);
  demand_quiet(&bed, bed.send_cq);
  start(&bed, 0, LAST);
  await_entries(&bed, bed.send_cq, 1);
  end_bed(&bed);
}

// Within a group counts are from its beginning, and what was enabled stays so.
static void group(void) {
  struct bed bed = make_bed(&managed);
  sends(&bed, SENDS);
  start(&bed, 4, 0);
  await_entries(&bed, bed.send_cq, 4);
  start(&bed, 2, 0);
  demand_quiet(&bed, bed.send_cq);
  start(&bed, 5, LAST);
  await_entries(&bed, bed.send_cq, 1);
  demand_quiet(&bed, bed.send_cq);
  start(&bed, 2, LAST);
  await_entries(&bed, bed.send_cq, 2);
  demand_quiet(&bed, bed.send_cq);
  end_bed(&bed);
}

// An enable completes when it is executed, whatever becomes of what it starts.
static void at_once(void) {
  struct wish wish = managed;
  wish.receives = -1;
  struct bed bed = make_bed(&wish);
  sends(&bed, 1);
  start(&bed, 1, LAST | IBV_EXP_SEND_SIGNALED);
  await_entries(&bed, bed.master_cq, 1);
  demand_quiet(&bed, bed.send_cq);
  post_receives(&bed, bed.qp, 1);
  await_entries(&bed, bed.send_cq, 1);
  end_bed(&bed);
}

// More than is posted is refused, and so is a queue pair that is not managed.
static void refused(void) {
  struct bed bed = make_bed(&managed);
  struct ibv_exp_send_wr wr = enable(bed.qp, 3, 1, LAST), *bad = NULL;
  sends(&bed, 2);
  DEMAND(ibv_exp_post_send(bed.master, &wr, &bad) == EINVAL && bad == &wr);
  wr = enable(bed.qp, -1, 1, LAST);
  DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == EINVAL);
  wr = enable(bed.master, 0, 1, LAST);
  DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == EINVAL);
  start(&bed, 2, LAST);
  await_entries(&bed, bed.send_cq, 2);
  end_bed(&bed);
}

// A managed queue pair may hold enables and waits itself; they, too, wait to be enabled.
static void of_itself(void) {
  struct bed bed = make_bed(&managed);
  sends(&bed, 2);
  struct ibv_exp_send_wr own = enable(bed.qp, 0, 21, LAST | IBV_EXP_SEND_SIGNALED);
  DEMAND(ibv_exp_post_send(bed.qp, &own, NULL) == 0);
  sends(&bed, 1);
  demand_quiet(&bed, bed.send_cq);
  // The first two and the enable, which by then has no more to enable than was posted before it.
  struct ibv_exp_send_wr begin = enable(bed.qp, 1, 22, LAST);
  DEMAND(ibv_exp_post_send(bed.master, &begin, NULL) == 0);
  await_entries(&bed, bed.send_cq, 3);
  DEMAND(bed.wc[2].wr_id == 21);
  demand_quiet(&bed, bed.send_cq);
  begin = enable(bed.qp, 1, 23, LAST);
  DEMAND(ibv_exp_post_send(bed.master, &begin, NULL) == 0);
  await_entries(&bed, bed.send_cq, 1);
  end_bed(&bed);
}

// Entries of several blocks are enabled as requests, not as blocks.
static void long_entries(void) {
  struct bed bed = make_bed(&managed);
  struct ibv_sge sge[16];
  struct ibv_exp_send_wr wr;
  for (unsigned i = 0; i < 16; ++i)
    sge[i] = (struct ibv_sge){(uintptr_t)bed.memory + 8 * i, 8, bed.mr->lkey};
  memset(&wr, 0, sizeof wr);
  wr.exp_opcode = IBV_EXP_WR_SEND;
  wr.exp_send_flags = IBV_EXP_SEND_SIGNALED;
  wr.sg_list = sge;
  for (int i = 0; i < SENDS; ++i) {
    wr.wr_id = (uint64_t)i;
    wr.num_sge = i % 2 ? 16 : 1;
    DEMAND(ibv_exp_post_send(bed.qp, &wr, NULL) == 0);
  }
  for (int i = 0; i < SENDS; ++i) {
    start(&bed, 1, LAST);
    await_entries(&bed, bed.send_cq, 1);
    await_entries(&bed, bed.recv_cq, 1);
    DEMAND(bed.wc[0].byte_len == (i % 2 ? 128u : 8u));
    demand_quiet(&bed, bed.send_cq);
  }
  end_bed(&bed);
}

// Who lets a queue be overrun may post on and on while one of each round is enabled: the adapter
// goes on through what the ring holds by then.
static void overrun(void) {
  struct wish wish = managed;
  wish.flags |= IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW;
  struct bed bed = make_bed(&wish);
  for (int round = 0; round < 1000; ++round) {
    sends(&bed, SENDS);
    start(&bed, 1, 0);
    start(&bed, 1, LAST | IBV_EXP_SEND_SIGNALED);
    await_entries(&bed, bed.master_cq, 1);
    await_entries(&bed, bed.send_cq, 1);
    await_entries(&bed, bed.recv_cq, 1);
    post_receives(&bed, bed.qp, 1);
  }
  demand_quiet(&bed, bed.send_cq);
  start(&bed, 3, LAST);
  await_entries(&bed, bed.send_cq, 3);
  demand_quiet(&bed, bed.send_cq);
  end_bed(&bed);
}

// --- receives ---

static void admit(struct bed *bed, int count, uint64_t flags) {
  struct ibv_exp_send_wr wr = enable(bed->qp, count, 99, flags);
  wr.exp_opcode = IBV_EXP_WR_RECV_ENABLE;
  DEMAND(ibv_exp_post_send(bed->master, &wr, NULL) == 0);
}

// Receives of a managed queue are as if they were not there, until one by one they are.
static void receives(void) {
  struct bed bed = make_bed(&receiving);
  sends(&bed, SENDS);
  demand_quiet(&bed, bed.send_cq);
  demand_quiet(&bed, bed.recv_cq);
  for (uint64_t i = 0; i < SENDS; ++i) {
    admit(&bed, 1, LAST);
    await_entries(&bed, bed.recv_cq, 1);
    DEMAND(bed.wc[0].wr_id == 0x1000 + i);
    await_entries(&bed, bed.send_cq, 1);
    DEMAND(bed.wc[0].wr_id == i);
  }
  sends(&bed, 1);
  demand_quiet(&bed, bed.recv_cq);
  demand_quiet(&bed, bed.master_cq);
  end_bed(&bed);
}

// Counted as sends are: within a group from its beginning, 0 is all that are posted by then.
static void receive_groups(void) {
  struct bed bed = make_bed(&receiving);
  sends(&bed, SENDS);
  for (int i = 0; i < 3; ++i) admit(&bed, 2, i == 2 ? LAST : IBV_EXP_SEND_SIGNALED);
  await_entries(&bed, bed.recv_cq, 2);
  await_entries(&bed, bed.master_cq, 2);
  demand_quiet(&bed, bed.recv_cq);
  for (int i = 0; i < 2; ++i) admit(&bed, 2, LAST);
  await_entries(&bed, bed.recv_cq, 4);
  demand_quiet(&bed, bed.recv_cq);
  admit(&bed, 0, LAST | IBV_EXP_SEND_SIGNALED);
  await_entries(&bed, bed.recv_cq, SENDS - 6);
  await_entries(&bed, bed.send_cq, SENDS);
  await_entries(&bed, bed.master_cq, 1);
  post_receives(&bed, bed.qp, 1);
  sends(&bed, DEPTH - SENDS + 1);  // the last of them needs the one that came after
  await_entries(&bed, bed.recv_cq, DEPTH - SENDS);
  demand_quiet(&bed, bed.recv_cq);
  admit(&bed, 1, LAST);
  await_entries(&bed, bed.recv_cq, 1);
  end_bed(&bed);
}

// A queue pair that is to enable its own receives behind a send that needs them is stuck.
static void own_receives(void) {
  struct bed bed = make_bed(&receiving);
  sends(&bed, 1);
  struct ibv_exp_send_wr own = enable(bed.qp, 1, 21, IBV_EXP_SEND_SIGNALED);
  own.exp_opcode = IBV_EXP_WR_RECV_ENABLE;
  DEMAND(ibv_exp_post_send(bed.qp, &own, NULL) == 0);
  demand_quiet(&bed, bed.send_cq);
  demand_quiet(&bed, bed.recv_cq);
  admit(&bed, 1, LAST);
  await_entries(&bed, bed.send_cq, 2);
  DEMAND(bed.wc[1].wr_id == 21);
  await_entries(&bed, bed.recv_cq, 1);
  end_bed(&bed);
}

// Work for two queue pairs in one call: sends; and an enable of one, a wait for its own entry, an
// enable of the rest, a wait for what has come.
static void task(void) {
  struct bed bed = make_bed(&managed);
  struct ibv_exp_send_wr send[SENDS], control[4];
  struct ibv_exp_task tasks[2], *bad = NULL;
  memset(send, 0, sizeof send);
  memset(tasks, 0, sizeof tasks);
  for (int i = 0; i < SENDS; ++i) {
    send[i].wr_id = (uint64_t)i;
    send[i].next = i + 1 < SENDS ? &send[i + 1] : NULL;
    send[i].exp_opcode = IBV_EXP_WR_SEND;
    send[i].exp_send_flags = IBV_EXP_SEND_SIGNALED;
  }
  control[0] = enable(bed.qp, 1, 0, IBV_EXP_SEND_SIGNALED);
  control[1] = wait_for(bed.master_cq, 1, 1, IBV_EXP_SEND_SIGNALED);
  control[2] = enable(bed.qp, 0, 2, 0);
  control[3] = wait_for(bed.recv_cq, SENDS, 3, IBV_EXP_SEND_SIGNALED | LAST);
  for (int i = 0; i < 3; ++i) control[i].next = &control[i + 1];
  tasks[0].task_type = tasks[1].task_type = IBV_EXP_TASK_SEND;
  tasks[0].item.qp = bed.qp;
  tasks[0].item.send_wr = send;
  tasks[0].next = &tasks[1];
  tasks[1].item.qp = bed.master;
  tasks[1].item.send_wr = control;
  DEMAND(ibv_exp_post_task(bed.context, tasks, &bad) == 0);
  await_entries(&bed, bed.master_cq, 3);
  DEMAND(bed.wc[0].wr_id == 0 && bed.wc[1].wr_id == 1 && bed.wc[2].wr_id == 3);
  await_entries(&bed, bed.send_cq, SENDS);
  await_entries(&bed, bed.recv_cq, SENDS);
  end_bed(&bed);
}

// Tasks end at the first that cannot be; those before it are under way.
static void bad_task(void) {
  const struct wish plain = {.flags = 0};
  struct bed bed = make_bed(&plain);
  struct ibv_exp_send_wr send, wrong = enable(bed.qp, 1, 0, LAST);
  struct ibv_recv_wr receive;
  struct ibv_exp_task tasks[4], *bad = NULL;
  memset(tasks, 0, sizeof tasks);
  memset(&send, 0, sizeof send);
  memset(&receive, 0, sizeof receive);
  send.exp_opcode = IBV_EXP_WR_SEND;
  send.exp_send_flags = IBV_EXP_SEND_SIGNALED;
  for (int i = 0; i < 4; ++i) {
    tasks[i].item.qp = bed.qp;
    tasks[i].next = i < 3 ? &tasks[i + 1] : NULL;
  }
  tasks[0].task_type = IBV_EXP_TASK_SEND;
  tasks[0].item.send_wr = &send;
  tasks[1].task_type = IBV_EXP_TASK_RECV;
  tasks[1].item.recv_wr = &receive;
  tasks[2].item.send_wr = &wrong;
  tasks[3].item.send_wr = &send;
  // The queue of receives is full: the task that posts one more is the bad one.
  struct ibv_recv_wr *none;
  while (ibv_post_recv(bed.qp, &receive, &none) == 0) continue;
  DEMAND(ibv_exp_post_task(bed.context, tasks, &bad) == ENOMEM && bad == &tasks[1]);
  await_entries(&bed, bed.recv_cq, 1);
  await_entries(&bed, bed.send_cq, 1);
  DEMAND(ibv_exp_post_task(bed.context, tasks + 1, &bad) == EINVAL && bad == &tasks[2]);
  demand_quiet(&bed, bed.send_cq);
  DEMAND(ibv_exp_post_task(bed.context, tasks + 3, NULL) == 0);
  await_entries(&bed, bed.send_cq, 1);
  end_bed(&bed);
}

const struct rule enable_rules[] = {{"enable-dormant", dormant},
                                    {"enable-one-by-one", one_by_one},
                                    {"enable-all", all},
                                    {"enable-group", group},
                                    {"enable-at-once", at_once},
                                    {"enable-refused", refused},
                                    {"enable-of-itself", of_itself},
                                    {"enable-long-entries", long_entries},
                                    {"enable-overrun", overrun},
                                    {"enable-receives", receives},
                                    {"enable-receive-groups", receive_groups},
                                    {"enable-own-receives", own_receives},
                                    {"task", task},
                                    {"task-bad", bad_task},
                                    {NULL, NULL}};
