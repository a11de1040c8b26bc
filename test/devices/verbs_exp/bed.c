// SPDX-License-Identifier: BSD-3-Clause
// bed.c - makes and ends what each case begins with.

#include "bed.h"

#include <time.h>

struct ibv_qp *make_qp(struct bed *bed, struct ibv_cq *send, struct ibv_cq *recv, int sends,
                       int receives, uint32_t flags) {
  struct ibv_exp_qp_init_attr init;
  memset(&init, 0, sizeof init);
  init.send_cq = send;
  init.recv_cq = recv;
  init.cap.max_send_wr = (uint32_t)sends;
  init.cap.max_recv_wr = (uint32_t)receives;
  init.cap.max_send_sge = 16;
  init.cap.max_recv_sge = 16;
  init.qp_type = IBV_QPT_RC;
  init.pd = bed->pd;
  init.comp_mask = IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS | IBV_EXP_QP_INIT_ATTR_PD;
  init.exp_create_flags = flags;
  struct ibv_qp *qp = ibv_exp_create_qp(bed->context, &init);
  DEMAND(qp);
  return qp;
}

void loop_qp(struct bed *bed, struct ibv_qp *qp, struct ibv_qp *peer, unsigned access,
             int rnr_retry) {
  struct ibv_port_attr port;
  DEMAND(ibv_query_port(bed->context, 1, &port) == 0 && port.lid != 0);
  struct ibv_qp_attr a;
  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  a.qp_access_flags = access;
  DEMAND(ibv_modify_qp(qp, &a,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_RTR;
  a.path_mtu = IBV_MTU_1024;
  a.dest_qp_num = peer->qp_num;
  a.max_dest_rd_atomic = 4;
  a.min_rnr_timer = 1;
  // A queue pair that is looped to itself need not know where it is.
  a.ah_attr.dlid = qp == peer ? 0 : port.lid;
  a.ah_attr.port_num = 1;
  DEMAND(ibv_modify_qp(qp, &a,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_RTS;
  a.timeout = 14;
  a.retry_cnt = 7;
  a.rnr_retry = (uint8_t)rnr_retry;
  a.max_rd_atomic = 4;
  DEMAND(ibv_modify_qp(qp, &a,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

void post_receives(struct bed *bed, struct ibv_qp *qp, int count) {
  struct ibv_sge sge = {(uintptr_t)bed->memory + BYTES / 2, BYTES / 2, bed->mr->lkey};
  struct ibv_recv_wr wr, *bad;
  memset(&wr, 0, sizeof wr);
  wr.sg_list = &sge;
  wr.num_sge = 1;
  for (int i = 0; i < count; ++i) {
    wr.wr_id = 0x1000 + (uint64_t)i;
    DEMAND(ibv_post_recv(qp, &wr, &bad) == 0);
  }
}

static void ignore_overrun(struct ibv_cq *cq) {
  struct ibv_exp_cq_attr a;
  memset(&a, 0, sizeof a);
  a.comp_mask = IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS;
  a.cq_cap_flags = IBV_EXP_CQ_IGNORE_OVERRUN;
  DEMAND(ibv_exp_modify_cq(cq, &a, IBV_EXP_CQ_CAP_FLAGS) == 0);
}

struct bed make_bed(const struct wish *wish) {
  struct bed bed;
  memset(&bed, 0, sizeof bed);
  int count;
  struct ibv_device **list = ibv_get_device_list(&count);
  DEMAND(list && count == 1);
  bed.context = ibv_open_device(list[0]);
  DEMAND(bed.context);
  ibv_free_device_list(list);
  bed.pd = ibv_alloc_pd(bed.context);
  DEMAND(bed.pd);
  bed.memory = aligned_alloc(BYTES, BYTES);
  DEMAND(bed.memory);
  memset(bed.memory, 0, BYTES);
  bed.mr = ibv_reg_mr(bed.pd, bed.memory, BYTES,
                      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                          IBV_ACCESS_REMOTE_ATOMIC);
  DEMAND(bed.mr);

  int depth = wish->depth ? wish->depth : DEPTH;
  bed.master_cq = ibv_create_cq(bed.context, 16, NULL, NULL, 0);
  bed.send_cq = ibv_create_cq(bed.context, wish->send_cq ? wish->send_cq : DEPTH, NULL, NULL, 0);
  bed.recv_cq = ibv_create_cq(bed.context, wish->recv_cq ? wish->recv_cq : DEPTH, NULL, NULL, 0);
  DEMAND(bed.master_cq && bed.send_cq && bed.recv_cq);
  if (wish->ignore_send) ignore_overrun(bed.send_cq);
  if (wish->ignore_recv) ignore_overrun(bed.recv_cq);
  bed.master = make_qp(&bed, bed.master_cq, bed.master_cq, 64, 0, IBV_EXP_QP_CREATE_CROSS_CHANNEL);
  loop_qp(&bed, bed.master, bed.master, 0, 7);
  bed.qp = make_qp(&bed, bed.send_cq, bed.recv_cq, depth, depth, wish->flags);
  unsigned all = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  loop_qp(&bed, bed.qp, bed.qp, wish->access ? wish->access : all,
          wish->rnr_retry ? wish->rnr_retry - 1 : 7);
  if (wish->receives >= 0) post_receives(&bed, bed.qp, wish->receives ? wish->receives : depth);
  return bed;
}

void end_bed(struct bed *bed) {
  DEMAND(ibv_destroy_qp(bed->master) == 0);
  DEMAND(ibv_destroy_qp(bed->qp) == 0);
  DEMAND(ibv_destroy_cq(bed->master_cq) == 0);
  DEMAND(ibv_destroy_cq(bed->send_cq) == 0);
  DEMAND(ibv_destroy_cq(bed->recv_cq) == 0);
  DEMAND(ibv_dereg_mr(bed->mr) == 0);
  DEMAND(ibv_dealloc_pd(bed->pd) == 0);
  DEMAND(ibv_close_device(bed->context) == 0);
  free(bed->memory);
}

int post(struct bed *bed, struct ibv_qp *qp, uint64_t id, enum ibv_exp_wr_opcode opcode) {
  return post_as(bed, qp, id, opcode, IBV_EXP_SEND_SIGNALED);
}

int post_as(struct bed *bed, struct ibv_qp *qp, uint64_t id, enum ibv_exp_wr_opcode opcode,
            uint64_t flags) {
  struct ibv_sge sge = {(uintptr_t)bed->memory, 8, bed->mr->lkey};
  struct ibv_exp_send_wr wr, *bad;
  memset(&wr, 0, sizeof wr);
  wr.wr_id = id;
  wr.exp_opcode = opcode;
  wr.exp_send_flags = flags;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.wr.rdma.remote_addr = (uintptr_t)bed->memory + BYTES / 2;
  wr.wr.rdma.rkey = bed->mr->rkey;
  return ibv_exp_post_send(qp, &wr, &bad);
}

struct ibv_exp_send_wr wait_for(struct ibv_cq *cq, int count, uint64_t id, uint64_t flags) {
  struct ibv_exp_send_wr wr;
  memset(&wr, 0, sizeof wr);
  wr.wr_id = id;
  wr.exp_opcode = IBV_EXP_WR_CQE_WAIT;
  wr.exp_send_flags = flags;
  wr.task.cqe_wait.cq = cq;
  wr.task.cqe_wait.cq_count = count;
  return wr;
}

struct ibv_exp_send_wr enable(struct ibv_qp *qp, int count, uint64_t id, uint64_t flags) {
  struct ibv_exp_send_wr wr;
  memset(&wr, 0, sizeof wr);
  wr.wr_id = id;
  wr.exp_opcode = IBV_EXP_WR_SEND_ENABLE;
  wr.exp_send_flags = flags;
  wr.task.wqe_enable.qp = qp;
  wr.task.wqe_enable.wqe_count = count;
  return wr;
}

void await_entries(struct bed *bed, struct ibv_cq *cq, int count) {
  time_t until = time(NULL) + 20;
  for (int seen = 0; seen < count;) {
    int found = ibv_poll_cq(cq, count - seen, bed->wc + seen);
    DEMAND(found >= 0);
    seen += found;
    if (found == 0 && time(NULL) > until) {
      fprintf(stderr, "%d completions of %d\n", seen, count);
      exit(1);
    }
  }
}

void demand_quiet(struct bed *bed, struct ibv_cq *cq) {
  struct timespec time = {0, 10 * 1000 * 1000};
  nanosleep(&time, NULL);
  DEMAND(ibv_poll_cq(cq, 1, bed->wc) == 0);
}
