// SPDX-License-Identifier: BSD-3-Clause
// mpi.c - a program for an MPI and the vendor's verbs, as the public ones are: MPI says who is
// where, cross-channel work queues do the rest. An MPI has ways of its own to adapters, which stay
// what they are beside this library.
//
// A token goes round the ranks: each waits for it by its queue, which sends it on.

#include <infiniband/verbs.h>
#include <infiniband/verbs_exp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demand(int fine, const char *what) {
  if (fine) return;
  fprintf(stderr, "not so: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define DEMAND(x) demand((x) != 0, #x)

static struct ibv_context *context;
static struct ibv_pd *pd;

static struct ibv_qp *make(struct ibv_cq *send, struct ibv_cq *recv, uint32_t flags) {
  struct ibv_exp_qp_init_attr a;
  memset(&a, 0, sizeof a);
  a.send_cq = send;
  a.recv_cq = recv;
  a.cap.max_send_wr = a.cap.max_recv_wr = 8;
  a.cap.max_send_sge = a.cap.max_recv_sge = 1;
  a.qp_type = IBV_QPT_RC;
  a.pd = pd;
  a.comp_mask = IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS | IBV_EXP_QP_INIT_ATTR_PD;
  a.exp_create_flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL | flags;
  struct ibv_qp *qp = ibv_exp_create_qp(context, &a);
  DEMAND(qp);
  return qp;
}

static void join(struct ibv_qp *qp, int lid, int number) {
  struct ibv_qp_attr a;
  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  DEMAND(
      !ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
  a.qp_state = IBV_QPS_RTR;
  a.path_mtu = IBV_MTU_1024;
  a.dest_qp_num = (uint32_t)number;
  a.max_dest_rd_atomic = 1;
  a.min_rnr_timer = 12;
  a.ah_attr.dlid = (uint16_t)lid;
  a.ah_attr.port_num = 1;
  DEMAND(!ibv_modify_qp(qp, &a,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
  a.qp_state = IBV_QPS_RTS;
  a.timeout = 14;
  a.retry_cnt = a.rnr_retry = 7;
  a.max_rd_atomic = 1;
  DEMAND(!ibv_modify_qp(qp, &a,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;

  struct ibv_device **list = ibv_get_device_list(NULL);
  struct ibv_port_attr port;
  context = ibv_open_device(list[0]);
  DEMAND(context && !ibv_query_port(context, 1, &port));
  pd = ibv_alloc_pd(context);
  struct ibv_cq *master_cq = ibv_create_cq(context, 8, NULL, NULL, 0);
  struct ibv_cq *cq = ibv_create_cq(context, 8, NULL, NULL, 0);
  struct ibv_cq *from_previous = ibv_create_cq(context, 8, NULL, NULL, 0);
  DEMAND(pd && master_cq && cq && from_previous);
  struct ibv_qp *master = make(master_cq, master_cq, 0);
  struct ibv_qp *to = make(cq, cq, IBV_EXP_QP_CREATE_MANAGED_SEND);
  struct ibv_qp *from = make(cq, from_previous, 0);
  struct ibv_recv_wr receive = {.wr_id = 3}, *bad;
  DEMAND(!ibv_post_recv(from, &receive, &bad));

  // LID, and the number of the end towards the next rank, or the previous.
  int mine[2] = {port.lid, (int)to->qp_num}, theirs[2];
  int back[2] = {port.lid, (int)from->qp_num}, ahead[2];
  MPI_Sendrecv(mine, 2, MPI_INT, next, 0, theirs, 2, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(back, 2, MPI_INT, previous, 1, ahead, 2, MPI_INT, next, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  join(master, port.lid, (int)master->qp_num);
  join(to, ahead[0], ahead[1]);
  join(from, theirs[0], theirs[1]);
  MPI_Barrier(MPI_COMM_WORLD);

  struct ibv_exp_send_wr token, steps[2];
  memset(&token, 0, sizeof token);
  memset(steps, 0, sizeof steps);
  token.exp_opcode = IBV_EXP_WR_SEND;
  DEMAND(!ibv_exp_post_send(to, &token, NULL));
  int waits = rank == 0 ? 1 : 0;  // rank 0 sends first
  steps[waits].exp_opcode = IBV_EXP_WR_CQE_WAIT;
  steps[waits].exp_send_flags = IBV_EXP_SEND_WAIT_EN_LAST;
  steps[waits].task.cqe_wait.cq = from_previous;
  steps[waits].task.cqe_wait.cq_count = 1;
  steps[1 - waits].exp_opcode = IBV_EXP_WR_SEND_ENABLE;
  steps[1 - waits].exp_send_flags = IBV_EXP_SEND_WAIT_EN_LAST;
  steps[1 - waits].task.wqe_enable.qp = to;
  steps[0].next = &steps[1];
  steps[1].exp_send_flags |= IBV_EXP_SEND_SIGNALED;
  DEMAND(!ibv_exp_post_send(master, steps, NULL));
  struct ibv_wc wc;
  int found;
  while ((found = ibv_poll_cq(master_cq, 1, &wc)) == 0) continue;
  DEMAND(found == 1 && wc.status == IBV_WC_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("the token has gone round %d ranks\n", ranks);
  DEMAND(!ibv_close_device(context));
  ibv_free_device_list(list);
  MPI_Finalize();
  return 0;
}
