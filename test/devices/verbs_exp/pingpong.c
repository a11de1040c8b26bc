// SPDX-License-Identifier: BSD-3-Clause
// pingpong.c - a program for verbs that knows nothing of nbcc: two processes, connected by LID or
// GID, and queue pair number, which they tell each other by a socket of their own.
//
//   verbs-exp-pingpong serve FILE ROUNDS [events] [gid]     writes its port to FILE
//   verbs-exp-pingpong call FILE ROUNDS [events] [gid] [die]
//
// In each round the caller sends, and the server answers by a write with immediate data, a READ of
// what the caller has, and an atomic addition. Who is told to dies in the middle; the other hears
// of it.

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <infiniband/verbs_exp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 200000, DEPTH = 16, SUM = BYTES };

static struct {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_mr *mr;
  struct ibv_comp_channel *channel;
  struct ibv_cq *cq;
  struct ibv_qp *qp;
  unsigned char *memory;  // BYTES, and a word that is summed up
  int events, by_gid;
  int heard;  // a message has come
} my;

// What one tells the other.
struct place {
  uint64_t address;
  union ibv_gid gid;
  uint32_t qpn, psn, rkey;
  uint16_t lid;
};

static void demand(int fine, const char *what) {
  if (fine) return;
  perror(what);
  exit(1);
}
#define DEMAND(x) demand(x, #x)

static void pause_shortly(void) {
  struct timespec time = {0, 1000 * 1000};
  nanosleep(&time, NULL);
}

static int meet(int server, const char *file) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t bytes = sizeof at;
  int s = socket(AF_INET, SOCK_STREAM, 0);
  DEMAND(s >= 0);
  if (server) {
    char temporary[256];
    snprintf(temporary, sizeof temporary, "%s.new", file);
    DEMAND(bind(s, (struct sockaddr *)&at, sizeof at) == 0 && listen(s, 1) == 0);
    DEMAND(getsockname(s, (struct sockaddr *)&at, &bytes) == 0);
    FILE *f = fopen(temporary, "w");
    DEMAND(f && fprintf(f, "%d\n", ntohs(at.sin_port)) > 0 && fclose(f) == 0);
    DEMAND(rename(temporary, file) == 0);
    int peer = accept(s, NULL, NULL);
    DEMAND(peer >= 0);
    close(s);
    return peer;
  }
  FILE *f;
  while (!(f = fopen(file, "r"))) pause_shortly();
  int port;
  DEMAND(fscanf(f, "%d", &port) == 1 && fclose(f) == 0);
  at.sin_port = htons((uint16_t)port);
  DEMAND(connect(s, (struct sockaddr *)&at, sizeof at) == 0);
  return s;
}

static struct place exchange(int s, struct place mine) {
  struct place theirs;
  DEMAND(write(s, &mine, sizeof mine) == sizeof mine);
  DEMAND(recv(s, &theirs, sizeof theirs, MSG_WAITALL) == sizeof theirs);
  return theirs;
}

static void open_all(void) {
  struct ibv_device **list = ibv_get_device_list(NULL);
  DEMAND(list && *list);
  my.context = ibv_open_device(*list);
  DEMAND(my.context != NULL);
  ibv_free_device_list(list);
  my.pd = ibv_alloc_pd(my.context);
  my.memory = aligned_alloc(4096, (BYTES / 4096 + 2) * 4096);
  DEMAND(my.pd && my.memory);
  memset(my.memory, 0, BYTES + 8);
  my.mr = ibv_reg_mr(my.pd, my.memory, BYTES + 8,
                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                         IBV_ACCESS_REMOTE_ATOMIC);
  if (my.events) my.channel = ibv_create_comp_channel(my.context);
  my.cq = ibv_create_cq(my.context, 2 * DEPTH, NULL, my.channel, 0);
  DEMAND(my.mr && my.cq && (!my.events || my.channel));
  if (my.events) DEMAND(ibv_req_notify_cq(my.cq, 0) == 0);
  struct ibv_qp_init_attr init = {
      .send_cq = my.cq,
      .recv_cq = my.cq,
      .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1},
      .qp_type = IBV_QPT_RC};
  my.qp = ibv_create_qp(my.pd, &init);
  DEMAND(my.qp != NULL);
}

static struct place place(void) {
  struct ibv_port_attr port;
  struct place p;
  memset(&p, 0, sizeof p);
  p.address = (uintptr_t)my.memory;
  p.qpn = my.qp->qp_num;
  p.rkey = my.mr->rkey;
  DEMAND(ibv_query_port(my.context, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE);
  DEMAND(ibv_query_gid(my.context, 1, 0, &p.gid) == 0);
  p.lid = port.lid;
  p.psn = (uint32_t)getpid() & 0xffffff;
  return p;
}

static void connect_to(const struct place *mine, const struct place *theirs) {
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
                          .port_num = 1,
                          .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                             IBV_ACCESS_REMOTE_ATOMIC};
  DEMAND(ibv_modify_qp(my.qp, &a,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
                            .path_mtu = IBV_MTU_1024,
                            .dest_qp_num = theirs->qpn,
                            .rq_psn = theirs->psn,
                            .max_dest_rd_atomic = 1,
                            .min_rnr_timer = 12,
                            .ah_attr = {.dlid = my.by_gid ? 0 : theirs->lid, .port_num = 1}};
  if (my.by_gid) {
    rtr.ah_attr.is_global = 1;
    rtr.ah_attr.grh.dgid = theirs->gid;
    rtr.ah_attr.grh.hop_limit = 1;
  }
  DEMAND(ibv_modify_qp(my.qp, &rtr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
                            .sq_psn = mine->psn,
                            .timeout = 12,
                            .retry_cnt = 7,
                            .rnr_retry = 7,
                            .max_rd_atomic = 1};
  DEMAND(ibv_modify_qp(my.qp, &rts,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

static struct ibv_wc next(void) {
  struct ibv_wc wc;
  for (;;) {
    int found = ibv_poll_cq(my.cq, 1, &wc);
    DEMAND(found >= 0);
    if (found) return wc;
    if (!my.events) continue;
    struct ibv_cq *cq;
    void *said;
    DEMAND(ibv_get_cq_event(my.channel, &cq, &said) == 0 && cq == my.cq);
    ibv_ack_cq_events(cq, 1);
    DEMAND(ibv_req_notify_cq(cq, 0) == 0);
  }
}

static enum ibv_wc_opcode succeeded(void) {
  struct ibv_wc wc = next();
  if (wc.status == IBV_WC_SUCCESS) return wc.opcode;
  if (wc.status == IBV_WC_RETRY_EXC_ERR) {
    printf("nobody answers any more\n");
    exit(0);
  }
  fprintf(stderr, "%s\n", ibv_wc_status_str(wc.status));
  exit(1);
}

// A peer's next message may come before one's own last request is acknowledged.
static void expect(enum ibv_wc_opcode opcode) {
  enum ibv_wc_opcode came = succeeded();
  if (came == IBV_WC_RECV && !my.heard) {
    my.heard = 1;
    came = succeeded();
  }
  if (came == opcode) return;
  fprintf(stderr, "opcode %d where %d should be\n", (int)came, (int)opcode);
  exit(1);
}

static void receive(void) {
  struct ibv_sge sge = {(uintptr_t)my.memory, BYTES, my.mr->lkey};
  struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
  DEMAND(ibv_post_recv(my.qp, &wr, &bad) == 0);
}

static void post_send(enum ibv_wr_opcode opcode, const struct place *to, uint32_t bytes) {
  struct ibv_sge sge = {(uintptr_t)my.memory, bytes, my.mr->lkey};
  struct ibv_send_wr wr = {.sg_list = &sge,
                           .num_sge = 1,
                           .opcode = opcode,
                           .send_flags = IBV_SEND_SIGNALED,
                           .imm_data = htonl(5)};
  wr.wr.rdma.remote_addr = to->address;
  wr.wr.rdma.rkey = to->rkey;
  struct ibv_send_wr *bad;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    sge.addr += SUM;  // the peer's next message may be here before the answer
    wr.wr.atomic.remote_addr = to->address + SUM;
    wr.wr.atomic.compare_add = 3;
    wr.wr.atomic.rkey = to->rkey;
  }
  DEMAND(ibv_post_send(my.qp, &wr, &bad) == 0);
}

static void fill(int seed) {
  for (int i = 0; i < BYTES; ++i) my.memory[i] = (unsigned char)(i * 7 + seed);
}
static void verify(int seed) {
  for (int i = 0; i < BYTES; ++i) DEMAND(my.memory[i] == (unsigned char)(i * 7 + seed));
}

// Who only receives hears nothing of a peer's death, as with hardware: the server asks, now and
// then, by a write of nothing.
static void hear(const struct place *to) {
  for (; !my.heard; pause_shortly()) {
    post_send(IBV_WR_RDMA_WRITE, to, 0);
    while (succeeded() == IBV_WC_RECV) my.heard = 1;
  }
  my.heard = 0;
}

static void serve(const struct place *to, int round) {
  hear(to);
  verify(round);
  receive();
  fill(round + 1);
  post_send(IBV_WR_RDMA_WRITE_WITH_IMM, to, BYTES);
  expect(IBV_WC_RDMA_WRITE);
  memset(my.memory, 0, BYTES);
  post_send(IBV_WR_RDMA_READ, to, BYTES);
  expect(IBV_WC_RDMA_READ);
  verify(round + 1);
  post_send(IBV_WR_ATOMIC_FETCH_AND_ADD, to, 8);
  expect(IBV_WC_FETCH_ADD);
}

static void call(const struct place *to, int round) {
  fill(round);
  post_send(IBV_WR_SEND, to, BYTES);
  // The acknowledgement may come behind the answer.
  if (succeeded() == IBV_WC_SEND)
    expect(IBV_WC_RECV_RDMA_WITH_IMM);
  else
    expect(IBV_WC_SEND);
  verify(round + 1);
  receive();
  volatile uint64_t *sum = (volatile uint64_t *)(my.memory + SUM);
  while (__atomic_load_n(sum, __ATOMIC_ACQUIRE) != 3 * ((uint64_t)round + 1)) pause_shortly();
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  int server = strcmp(argv[1], "serve") == 0, rounds = atoi(argv[3]), dies = 0;
  for (int i = 4; i < argc; ++i) {
    if (strcmp(argv[i], "events") == 0) my.events = 1;
    if (strcmp(argv[i], "gid") == 0) my.by_gid = 1;
    if (strcmp(argv[i], "die") == 0) dies = 1;
  }
  open_all();
  int s = meet(server, argv[2]);
  struct place mine = place(), theirs = exchange(s, mine);
  DEMAND(mine.lid != theirs.lid);
  connect_to(&mine, &theirs);
  receive();
  exchange(s, mine);  // both are connected
  for (int round = 0; round < rounds; ++round) {
    if (dies && round == rounds / 2) kill(getpid(), SIGKILL);
    server ? serve(&theirs, round) : call(&theirs, round);
  }
  exchange(s, mine);  // both are done
  DEMAND(ibv_destroy_qp(my.qp) == 0 && ibv_destroy_cq(my.cq) == 0 && ibv_dereg_mr(my.mr) == 0);
  if (my.channel) DEMAND(ibv_destroy_comp_channel(my.channel) == 0);
  DEMAND(ibv_dealloc_pd(my.pd) == 0 && ibv_close_device(my.context) == 0);
  free(my.memory);
  printf("%d rounds\n", rounds);
  return 0;
}
