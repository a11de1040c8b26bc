// SPDX-License-Identifier: BSD-3-Clause
// bed.h - what each case of verbs-exp-rules begins with: a queue pair that is looped to itself, and
// a master, looped too, whose queue holds waits and enables. As the vendor's own tests have it, and
// by the vendor's API alone.

#ifndef BED_H
#define BED_H

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/arch.h>
#include <infiniband/verbs.h>
#include <infiniband/verbs_exp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, DEPTH = 31 };

struct wish {
  uint32_t flags;        // of the queue pair
  int depth;             // of its queues; 0: DEPTH
  int send_cq, recv_cq;  // entries; 0: DEPTH
  int ignore_send, ignore_recv;
  int receives;     // posted; negative: none; 0: all
  int rnr_retry;    // 0: 7; otherwise one less than this
  unsigned access;  // 0: remote read and write and atomics
};

struct bed {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_mr *mr;
  unsigned char *memory;  // BYTES
  struct ibv_cq *master_cq, *send_cq, *recv_cq;
  struct ibv_qp *master, *qp;
  struct ibv_wc wc[256];
};

struct bed make_bed(const struct wish *);
void end_bed(struct bed *);

struct ibv_qp *make_qp(struct bed *, struct ibv_cq *send, struct ibv_cq *recv, int sends,
                       int receives, uint32_t flags);
// From RESET to RTS, connected to that one.
void loop_qp(struct bed *, struct ibv_qp *, struct ibv_qp *peer, unsigned access, int rnr_retry);
void post_receives(struct bed *, struct ibv_qp *, int count);

// Signalled, of 8 bytes; what ibv_exp_post_send says.
int post(struct bed *, struct ibv_qp *, uint64_t id, enum ibv_exp_wr_opcode);  // signalled
int post_as(struct bed *, struct ibv_qp *, uint64_t id, enum ibv_exp_wr_opcode, uint64_t flags);
struct ibv_exp_send_wr wait_for(struct ibv_cq *, int count, uint64_t id, uint64_t flags);
struct ibv_exp_send_wr enable(struct ibv_qp *, int count, uint64_t id, uint64_t flags);

// Polls until there are so many completions, into bed->wc; fails where they do not come.
void await_entries(struct bed *, struct ibv_cq *, int count);
// Nothing more comes: the device was given time.
void demand_quiet(struct bed *, struct ibv_cq *);

#define DEMAND(condition)                                                                       \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

struct rule {
  const char *name;
  void (*hold)(void);
};
extern const struct rule calc_rules[], enable_rules[], error_rules[], event_rules[],
    message_rules[], random_rules[], refused_rules[], wait_rules[];

#endif
