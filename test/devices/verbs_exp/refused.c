// SPDX-License-Identifier: BSD-3-Clause
// refused.c - what cannot be is refused, with the error that says so.

#include "bed.h"

static const struct wish plain = {.flags = 0},
                         crossing = {.flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL};

// WAIT, ENABLE and calc want a queue pair for it.
static void not_crossing(void) {
  struct bed bed = make_bed(&plain);
  struct ibv_exp_send_wr wr = wait_for(bed.send_cq, 1, 1, 0), *bad = NULL;
  DEMAND(ibv_exp_post_send(bed.qp, &wr, &bad) == EINVAL && bad == &wr);
  wr = enable(bed.qp, 0, 1, 0);
  DEMAND(ibv_exp_post_send(bed.qp, &wr, NULL) == EINVAL);
  wr.exp_opcode = IBV_EXP_WR_RECV_ENABLE;
  DEMAND(ibv_exp_post_send(bed.qp, &wr, NULL) == EINVAL);
  DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == EINVAL);
  struct ibv_sge sge = {(uintptr_t)bed.memory, 16, bed.mr->lkey};
  memset(&wr, 0, sizeof wr);
  wr.exp_opcode = IBV_EXP_WR_SEND;
  wr.exp_send_flags = IBV_EXP_SEND_WITH_CALC;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  DEMAND(ibv_exp_post_send(bed.qp, &wr, NULL) == EINVAL);
  demand_quiet(&bed, bed.send_cq);
  end_bed(&bed);
}

// Counts that cannot be counted, and queues of another context.
static void counts(void) {
  struct bed bed = make_bed(&crossing), other = make_bed(&crossing);
  struct ibv_exp_send_wr wr = wait_for(bed.send_cq, -1, 1, 0);
  DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == EINVAL);
  wr = wait_for(bed.send_cq, 1 << 23, 1, 0);
  DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == EINVAL);
  wr = wait_for(other.send_cq, 1, 1, 0);
  DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == EINVAL);
  wr = wait_for(NULL, 1, 1, 0);
  DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == EINVAL);
  wr = enable(other.qp, 0, 1, 0);
  DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == EINVAL);
  const int none[] = {IBV_EXP_WR_SEND_WITH_INV, IBV_EXP_WR_LOCAL_INV, IBV_EXP_WR_BIND_MW,
                      IBV_EXP_WR_UMR_FILL, 100000};
  for (unsigned i = 0; i < sizeof none / sizeof *none; ++i) {
    wr.exp_opcode = (enum ibv_exp_wr_opcode)none[i];
    DEMAND(ibv_exp_post_send(bed.master, &wr, NULL) == EINVAL);
  }
  end_bed(&bed);
  end_bed(&other);
}

static struct ibv_exp_qp_init_attr good(struct bed *bed) {
  struct ibv_exp_qp_init_attr a;
  memset(&a, 0, sizeof a);
  a.send_cq = a.recv_cq = bed->send_cq;
  a.cap.max_send_wr = a.cap.max_recv_wr = 4;
  a.cap.max_send_sge = a.cap.max_recv_sge = 1;
  a.qp_type = IBV_QPT_RC;
  a.pd = bed->pd;
  a.comp_mask = IBV_EXP_QP_INIT_ATTR_PD | IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS;
  return a;
}

static void queue_pairs(void) {
  struct bed bed = make_bed(&plain), other = make_bed(&plain);
  struct ibv_exp_qp_init_attr a;
  struct ibv_device_attr limits;
  DEMAND(ibv_query_device(bed.context, &limits) == 0);
#define REFUSED(change, error) \
  a = good(&bed);              \
  change;                      \
  errno = 0;                   \
  DEMAND(!ibv_exp_create_qp(bed.context, &a) && errno == error)
  REFUSED(a.exp_create_flags = 1u << 30, EOPNOTSUPP);
  REFUSED(a.qp_type = IBV_QPT_UD, EOPNOTSUPP);
  REFUSED(a.srq = (struct ibv_srq *)&a, EOPNOTSUPP);
  REFUSED(a.comp_mask = IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS, EINVAL);
  REFUSED(a.comp_mask |= IBV_EXP_QP_INIT_ATTR_RESERVED, EINVAL);
  REFUSED(a.comp_mask |= IBV_EXP_QP_INIT_ATTR_XRCD, EOPNOTSUPP);
  REFUSED(a.pd = other.pd, EINVAL);
  REFUSED(a.recv_cq = other.recv_cq, EINVAL);
  REFUSED(a.send_cq = NULL, EINVAL);
  REFUSED(a.cap.max_send_wr = (uint32_t)limits.max_qp_wr + 1, EINVAL);
  REFUSED(a.cap.max_send_sge = (uint32_t)limits.max_sge + 1, EINVAL);
  REFUSED(a.cap.max_inline_data = 100000, EINVAL);
#undef REFUSED
  a = good(&bed);
  struct ibv_qp *qp = ibv_exp_create_qp(bed.context, &a);
  DEMAND(qp && ibv_destroy_cq(bed.send_cq) == EBUSY && ibv_dealloc_pd(bed.pd) == EBUSY);
  DEMAND(ibv_destroy_qp(qp) == 0);
  end_bed(&bed);
  end_bed(&other);
}

// From state to state in order, each with what it must say.
static void states(void) {
  struct bed bed = make_bed(&plain);
  struct ibv_exp_qp_init_attr init = good(&bed);
  struct ibv_qp *qp = ibv_exp_create_qp(bed.context, &init);
  struct ibv_qp_attr a;
  struct ibv_sge sge = {(uintptr_t)bed.memory, 8, bed.mr->lkey};
  struct ibv_recv_wr receive = {.sg_list = &sge, .num_sge = 1}, *bad;
  int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  memset(&a, 0, sizeof a);
  DEMAND(post(&bed, qp, 1, IBV_EXP_WR_SEND) == EINVAL);
  // Receives are taken before all else: the vendor's own programs post them so early.
  DEMAND(ibv_post_recv(qp, &receive, &bad) == 0);
  a.qp_state = IBV_QPS_RTR;
  DEMAND(ibv_modify_qp(qp, &a, to_rtr) == EINVAL);
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 2;
  DEMAND(ibv_modify_qp(qp, &a, to_init) == EINVAL);
  a.port_num = 1;
  DEMAND(ibv_modify_qp(qp, &a, to_init & ~IBV_QP_PORT) == EINVAL);
  DEMAND(ibv_modify_qp(qp, &a, to_init | IBV_QP_TIMEOUT) == EINVAL);
  DEMAND(ibv_modify_qp(qp, &a, to_init) == 0 && qp->state == IBV_QPS_INIT);
  DEMAND(ibv_post_recv(qp, &receive, &bad) == 0);
  DEMAND(post(&bed, qp, 1, IBV_EXP_WR_SEND) == EINVAL);

  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_RTR;
  a.path_mtu = IBV_MTU_1024;
  a.dest_qp_num = qp->qp_num;
  a.min_rnr_timer = 32;
  DEMAND(ibv_modify_qp(qp, &a, to_rtr) == EINVAL);
  a.min_rnr_timer = 12;
  a.path_mtu = (enum ibv_mtu)9;
  DEMAND(ibv_modify_qp(qp, &a, to_rtr) == EINVAL);
  a.path_mtu = IBV_MTU_1024;
  a.ah_attr.is_global = 1;  // to a GID that is none of the software HCA's
  DEMAND(ibv_modify_qp(qp, &a, to_rtr) == EHOSTUNREACH);
  a.ah_attr.is_global = 0;
  a.dest_qp_num = 0xfffffe;
  DEMAND(ibv_modify_qp(qp, &a, to_rtr) == EINVAL);
  a.dest_qp_num = qp->qp_num;
  DEMAND(ibv_query_gid(bed.context, 1, 0, &a.ah_attr.grh.dgid) == 0);
  a.ah_attr.is_global = 1;
  DEMAND(ibv_modify_qp(qp, &a, to_rtr) == 0);
  DEMAND(post(&bed, qp, 1, IBV_EXP_WR_SEND) == EINVAL);

  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_SQD;
  DEMAND(ibv_modify_qp(qp, &a, IBV_QP_STATE) == EOPNOTSUPP);
  a.qp_state = IBV_QPS_RESET;
  DEMAND(ibv_modify_qp(qp, &a, IBV_QP_STATE) == EOPNOTSUPP);
  a.qp_state = (enum ibv_qp_state)99;
  DEMAND(ibv_modify_qp(qp, &a, IBV_QP_STATE) == EINVAL);
  DEMAND(ibv_destroy_qp(qp) == 0);
  end_bed(&bed);
}

static void memory(void) {
  struct bed bed = make_bed(&plain);
#define REFUSED(access, error) \
  errno = 0;                   \
  DEMAND(!ibv_reg_mr(bed.pd, bed.memory, 8, access) && errno == error)
  REFUSED(IBV_ACCESS_REMOTE_WRITE, EINVAL);
  REFUSED(IBV_ACCESS_REMOTE_ATOMIC, EINVAL);
  REFUSED(IBV_ACCESS_MW_BIND, EOPNOTSUPP);
  REFUSED(IBV_ACCESS_ON_DEMAND, EOPNOTSUPP);
#undef REFUSED
  DEMAND(!ibv_reg_mr(bed.pd, bed.memory, 0, 0) && errno == EINVAL);
  DEMAND(!ibv_reg_mr_iova(bed.pd, bed.memory, 8, 0, 0) && errno == EOPNOTSUPP);
  struct ibv_exp_reg_mr_in in = {.pd = bed.pd,
                                 .addr = bed.memory,
                                 .length = 8,
                                 .exp_access = IBV_EXP_ACCESS_LOCAL_WRITE,
                                 .comp_mask = 0};
  struct ibv_mr *mr = ibv_exp_reg_mr(&in);
  DEMAND(mr && ibv_dereg_mr(mr) == 0);
  end_bed(&bed);
}

// Objects that the device has not.
static void objects(void) {
  struct bed bed = make_bed(&plain);
  struct ibv_srq_init_attr srq;
  struct ibv_ah_attr ah;
  memset(&srq, 0, sizeof srq);
  memset(&ah, 0, sizeof ah);
  DEMAND(!ibv_create_srq(bed.pd, &srq) && errno == EOPNOTSUPP);
  DEMAND(!ibv_create_ah(bed.pd, &ah) && errno == EOPNOTSUPP);
  DEMAND(!ibv_alloc_mw(bed.pd, IBV_MW_TYPE_1) && errno == EOPNOTSUPP);
  DEMAND(ibv_resize_cq(bed.send_cq, 100) == EOPNOTSUPP);
  DEMAND(ibv_attach_mcast(bed.qp, &(union ibv_gid){{0}}, 1) == EOPNOTSUPP);
  DEMAND(!ibv_create_cq(bed.context, 0, NULL, NULL, 0) && errno == EINVAL);
  DEMAND(!ibv_create_cq(bed.context, 1 << 24, NULL, NULL, 0) && errno == EINVAL);
  DEMAND(!ibv_create_cq(bed.context, 8, NULL, NULL, 1) && errno == EINVAL);
  struct ibv_exp_cq_attr a;
  memset(&a, 0, sizeof a);
  DEMAND(ibv_exp_modify_cq(bed.send_cq, &a, IBV_EXP_CQ_MODERATION) == EOPNOTSUPP);
  DEMAND(ibv_exp_modify_cq(bed.send_cq, &a, IBV_EXP_CQ_CAP_FLAGS) == EINVAL);
  struct ibv_port_attr port;
  DEMAND(ibv_query_port(bed.context, 2, &port) == EINVAL);
  union ibv_gid gid;
  DEMAND(ibv_query_gid(bed.context, 1, 1, &gid) == -1);
  DEMAND(ibv_fork_init() == 0 && ibv_get_device_guid(bed.context->device) != 0);
  DEMAND(strcmp(ibv_wc_status_str(IBV_WC_SUCCESS), "success") == 0);
  DEMAND(strcmp(ibv_node_type_str(IBV_NODE_CA), "InfiniBand channel adapter") == 0);
  DEMAND(strcmp(ibv_port_state_str(IBV_PORT_ACTIVE), "active") == 0);
  end_bed(&bed);
}

const struct rule refused_rules[] = {{"refused-not-crossing", not_crossing},
                                     {"refused-counts", counts},
                                     {"refused-queue-pairs", queue_pairs},
                                     {"refused-states", states},
                                     {"refused-memory", memory},
                                     {"refused-objects", objects},
                                     {NULL, NULL}};
