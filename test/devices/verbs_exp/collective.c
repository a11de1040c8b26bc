// SPDX-License-Identifier: BSD-3-Clause
// collective.c - verbs-exp-collective RANKS ROUNDS: cross-channel work queues between processes.
//
// Each rank has a managed queue pair for each peer and one to itself, a CQ for the receives of
// each, and a master that is looped. For a collective it posts all work at once, waits for the last
// entry of the master's CQ, and calls nothing in between. Round by round a barrier, and a sum by
// recursive doubling: the NIC adds what has come to what it has. RANKS is a power of two.

#include <infiniband/arch.h>
#include <infiniband/verbs.h>
#include <infiniband/verbs_exp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16, DEPTH = 64, SLOT = 16, STEPS = 4 };

struct place {
  uint64_t memory;
  uint32_t rkey;
  uint32_t qpn[MOST];  // for each peer
  uint16_t lid;
};

static int rank, ranks;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static uint64_t *memory;  // slots: for each step what one has, and what has come; then the result
static struct ibv_cq *master_cq, *send_cq, *recv_cq[MOST];
static struct ibv_qp *master, *qp[MOST];
static struct place places[MOST];

static void demand(int fine, const char *what, int line) {
  if (fine) return;
  fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, line, what);
  exit(1);
}
#define DEMAND(x) demand((x) != 0, #x, __LINE__)

static struct ibv_qp *make(struct ibv_cq *send, struct ibv_cq *recv, uint32_t receives,
                           uint32_t flags) {
  struct ibv_exp_qp_init_attr a;
  memset(&a, 0, sizeof a);
  a.send_cq = send;
  a.recv_cq = recv;
  a.cap.max_send_wr = DEPTH;
  a.cap.max_recv_wr = receives;
  a.cap.max_send_sge = a.cap.max_recv_sge = 2;
  a.qp_type = IBV_QPT_RC;
  a.pd = pd;
  a.comp_mask = IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS | IBV_EXP_QP_INIT_ATTR_PD;
  a.exp_create_flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL | IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW |
                       IBV_EXP_QP_CREATE_IGNORE_RQ_OVERFLOW | flags;
  struct ibv_qp *made = ibv_exp_create_qp(context, &a);
  DEMAND(made);
  return made;
}

static void join(struct ibv_qp *q, uint16_t lid, uint32_t qpn) {
  struct ibv_qp_attr a;
  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  DEMAND(
      !ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_RTR;
  a.path_mtu = IBV_MTU_1024;
  a.dest_qp_num = qpn;
  a.max_dest_rd_atomic = 1;
  a.min_rnr_timer = 12;
  a.ah_attr.dlid = lid;
  a.ah_attr.port_num = 1;
  DEMAND(!ibv_modify_qp(q, &a,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
  memset(&a, 0, sizeof a);
  a.qp_state = IBV_QPS_RTS;
  a.timeout = 14;
  a.retry_cnt = 7;
  a.rnr_retry = 7;
  a.max_rd_atomic = 1;
  DEMAND(!ibv_modify_qp(q, &a,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void receive(struct ibv_qp *q, int count) {
  struct ibv_recv_wr wr, *bad;
  memset(&wr, 0, sizeof wr);
  while (count--) DEMAND(!ibv_post_recv(q, &wr, &bad));
}

// Nobody polls it: the device alone counts.
static struct ibv_cq *uncounted(void) {
  struct ibv_cq *cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
  struct ibv_exp_cq_attr a;
  memset(&a, 0, sizeof a);
  a.comp_mask = IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS;
  a.cq_cap_flags = IBV_EXP_CQ_IGNORE_OVERRUN;
  DEMAND(cq && !ibv_exp_modify_cq(cq, &a, IBV_EXP_CQ_CAP_FLAGS));
  return cq;
}

static void begin(int to_parent) {
  struct ibv_device **list = ibv_get_device_list(NULL);
  struct ibv_port_attr port;
  DEMAND(list && *list);
  context = ibv_open_device(*list);
  DEMAND(context);
  ibv_free_device_list(list);
  pd = ibv_alloc_pd(context);
  memory = aligned_alloc(SLOT, 64 * SLOT);
  DEMAND(pd && memory);
  memset(memory, 0, 64 * SLOT);
  mr = ibv_reg_mr(pd, memory, 64 * SLOT, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  DEMAND(mr && !ibv_query_port(context, 1, &port));
  master_cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
  send_cq = uncounted();
  DEMAND(master_cq);
  master = make(master_cq, master_cq, 0, 0);
  join(master, 0, master->qp_num);

  struct place mine;
  memset(&mine, 0, sizeof mine);
  mine.memory = (uintptr_t)memory;
  mine.rkey = mr->rkey;
  mine.lid = port.lid;
  for (int i = 0; i < ranks; ++i) {
    recv_cq[i] = uncounted();
    qp[i] = make(send_cq, recv_cq[i], DEPTH, IBV_EXP_QP_CREATE_MANAGED_SEND);
    mine.qpn[i] = qp[i]->qp_num;
  }
  DEMAND(write(to_parent, &mine, sizeof mine) == sizeof mine);
  DEMAND(recv(to_parent, places, sizeof places, MSG_WAITALL) == sizeof places);
  for (int i = 0; i < ranks; ++i) join(qp[i], places[i].lid, places[i].qpn[rank]);
  for (int i = 0; i < ranks; ++i) receive(qp[i], DEPTH / 2);
}

static void control(struct ibv_exp_send_wr *wr) {
  wr->exp_send_flags |= IBV_EXP_SEND_WAIT_EN_LAST;
  DEMAND(!ibv_exp_post_send(master, wr, NULL));
}

static void start(int peer) {
  struct ibv_exp_send_wr wr;
  memset(&wr, 0, sizeof wr);
  wr.exp_opcode = IBV_EXP_WR_SEND_ENABLE;
  wr.task.wqe_enable.qp = qp[peer];
  wr.task.wqe_enable.wqe_count = 1;
  control(&wr);
}

static void await(int peer, int last) {
  struct ibv_exp_send_wr wr;
  memset(&wr, 0, sizeof wr);
  wr.exp_opcode = IBV_EXP_WR_CQE_WAIT;
  wr.task.cqe_wait.cq = recv_cq[peer];
  wr.task.cqe_wait.cq_count = 1;
  if (last) wr.exp_send_flags = IBV_EXP_SEND_SIGNALED;
  control(&wr);
}

// From so many slots at `from` to one at `to` there, and a notice.
static void put(int peer, int from, int slots, int to) {
  struct ibv_sge sge = {(uintptr_t)(memory + 2 * from), (uint32_t)(slots * SLOT), mr->lkey};
  struct ibv_exp_send_wr wr;
  memset(&wr, 0, sizeof wr);
  wr.exp_opcode = IBV_EXP_WR_RDMA_WRITE_WITH_IMM;
  wr.sg_list = &sge;
  wr.num_sge = slots ? 1 : 0;
  wr.wr.rdma.remote_addr = places[peer].memory + (uint64_t)(to * SLOT);
  wr.wr.rdma.rkey = places[peer].rkey;
  if (slots > 1) {
    wr.exp_send_flags = IBV_EXP_SEND_WITH_CALC;
    wr.op.calc.calc_op = IBV_EXP_CALC_OP_ADD;
    wr.op.calc.data_type = IBV_EXP_CALC_DATA_TYPE_INT;
    wr.op.calc.data_size = IBV_EXP_CALC_DATA_SIZE_64_BIT;
  }
  DEMAND(!ibv_exp_post_send(qp[peer], &wr, NULL));
}

static void finish(void) {
  struct ibv_wc wc;
  int found;
  while ((found = ibv_poll_cq(master_cq, 1, &wc)) == 0) continue;
  DEMAND(found == 1);
  if (wc.status != IBV_WC_SUCCESS) fprintf(stderr, "%s\n", ibv_wc_status_str(wc.status));
  DEMAND(wc.status == IBV_WC_SUCCESS);
}

static void barrier(void) {
  for (int bit = 1; bit < ranks; bit *= 2) {
    int peer = rank ^ bit;
    put(peer, 0, 0, 0);
    start(peer);
    await(peer, 2 * bit >= ranks);
    receive(qp[peer], 1);
  }
  if (ranks > 1) finish();
}

// Step k: slot 2k is what one has, slot 2k + 1 what the peer has. Their sum is put to slot 2k + 2
// of one's own, and to slot 2k + 3 of the next peer.
static uint64_t sum(uint64_t value) {
  int step = 0;
  memory[0] = htonll(value);
  for (int bit = 1; bit < ranks; bit *= 2, ++step) {
    int peer = rank ^ bit;
    if (step == 0) {
      put(peer, 0, 1, 1);
    } else {
      put(peer, 2 * step - 2, 2, 2 * step + 1);
      put(rank, 2 * step - 2, 2, 2 * step);
      start(rank);
    }
    start(peer);
    await(peer, 0);
    receive(qp[peer], 1);
    if (step == 0) continue;
    await(rank, 0);
    receive(qp[rank], 1);
  }
  if (ranks == 1) return value;
  put(rank, 2 * step - 2, 2, 2 * step);
  start(rank);
  await(rank, 1);
  receive(qp[rank], 1);
  finish();
  return ntohll(memory[2 * 2 * step]);
}

static int run(int to_parent, int rounds) {
  begin(to_parent);
  for (int round = 0; round < rounds; ++round) {
    barrier();
    uint64_t mine = (uint64_t)round * 1000 + (uint64_t)rank * 3 - 5, all = 0;
    for (int i = 0; i < ranks; ++i) all += (uint64_t)round * 1000 + (uint64_t)i * 3 - 5;
    uint64_t got = sum(mine);
    if (got != all)
      fprintf(stderr, "rank %d, round %d: %lld, not %lld\n", rank, round, (long long)got,
              (long long)all);
    DEMAND(got == all);
  }
  barrier();
  char done = 1;  // nobody ends before all have
  DEMAND(write(to_parent, &done, 1) == 1 && recv(to_parent, &done, 1, 0) == 1);
  DEMAND(!ibv_close_device(context));
  free(memory);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  ranks = atoi(argv[1]);
  DEMAND(ranks >= 1 && ranks <= MOST && (ranks & (ranks - 1)) == 0);
  int to[MOST];
  for (rank = 0; rank < ranks; ++rank) {
    int pair[2];
    DEMAND(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    pid_t child = fork();
    DEMAND(child >= 0);
    if (child == 0) return run(pair[1], atoi(argv[2]));
    close(pair[1]);
    to[rank] = pair[0];
  }
  char done;
  for (int i = 0; i < ranks; ++i)
    DEMAND(recv(to[i], &places[i], sizeof places[i], MSG_WAITALL) == sizeof places[i]);
  for (int i = 0; i < ranks; ++i) DEMAND(write(to[i], places, sizeof places) == sizeof places);
  for (int i = 0; i < ranks; ++i) DEMAND(recv(to[i], &done, 1, 0) == 1);
  for (int i = 0; i < ranks; ++i) DEMAND(write(to[i], &done, 1) == 1);
  int failed = 0, status;
  while (wait(&status) > 0) failed += status != 0;
  printf("%d ranks, %s rounds, %d failed\n", ranks, argv[2], failed);
  return failed != 0;
}
