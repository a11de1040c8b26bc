// SPDX-License-Identifier: BSD-3-Clause
// event.c - completion channels, asynchronous events, and CQs that overrun.

#include <fcntl.h>
#include <poll.h>

#include "bed.h"

enum { SHORT = 15 };  // a CQ has one more

static const struct wish plain = {.flags = 0};

static int readable(int file, int milliseconds) {
  struct pollfd p = {file, POLLIN, 0};
  return poll(&p, 1, milliseconds);
}

static void send_all(struct bed *bed, int sends) {
  for (int i = 0; i < sends; ++i) DEMAND(post(bed, bed->qp, (uint64_t)i, IBV_EXP_WR_SEND) == 0);
}

// A CQ that may not overrun does: what it holds is good, it and its queue pair are lost, and both
// are told of.
static void overrun(void) {
  struct wish wish = plain;
  wish.send_cq = SHORT;
  struct bed bed = make_bed(&wish);
  DEMAND(bed.send_cq->cqe == SHORT);
  int flags = fcntl(bed.context->async_fd, F_GETFL);
  DEMAND(fcntl(bed.context->async_fd, F_SETFL, flags | O_NONBLOCK) == 0);
  struct ibv_async_event event;
  DEMAND(ibv_get_async_event(bed.context, &event) == -1 && errno == EAGAIN);
  send_all(&bed, 2);
  await_entries(&bed, bed.send_cq, 2);
  await_entries(&bed, bed.recv_cq, 2);
  send_all(&bed, SHORT + 2);
  DEMAND(readable(bed.context->async_fd, 20000) == 1);
  int cq = 0, qp = 0;
  while (cq + qp < 2) {
    DEMAND(readable(bed.context->async_fd, 20000) == 1);
    DEMAND(ibv_get_async_event(bed.context, &event) == 0);
    if (event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == bed.send_cq) ++cq;
    if (event.event_type == IBV_EVENT_QP_FATAL && event.element.qp == bed.qp) ++qp;
    ibv_ack_async_event(&event);
  }
  DEMAND(cq == 1 && qp == 1);
  await_entries(&bed, bed.send_cq, SHORT + 1);
  DEMAND(bed.wc[SHORT].status == IBV_WC_SUCCESS && bed.wc[SHORT].wr_id == SHORT);
  demand_quiet(&bed, bed.send_cq);
  end_bed(&bed);
}

// One that may loses what it held, and nothing else happens.
static void ignored(void) {
  struct wish wish = plain;
  wish.send_cq = SHORT;
  wish.ignore_send = 1;
  struct bed bed = make_bed(&wish);
  send_all(&bed, 2);
  await_entries(&bed, bed.send_cq, 2);
  await_entries(&bed, bed.recv_cq, 2);
  send_all(&bed, SHORT + 2);
  await_entries(&bed, bed.recv_cq, SHORT + 2);
  demand_quiet(&bed, bed.send_cq);
  DEMAND(readable(bed.context->async_fd, 0) == 0);
  end_bed(&bed);
}

// Likewise of receives.
static void ignored_receives(void) {
  struct wish wish = plain;
  wish.recv_cq = SHORT;
  wish.ignore_recv = 1;
  struct bed bed = make_bed(&wish);
  send_all(&bed, SHORT + 2);
  await_entries(&bed, bed.send_cq, SHORT + 2);
  demand_quiet(&bed, bed.recv_cq);
  DEMAND(readable(bed.context->async_fd, 0) == 0);
  end_bed(&bed);
}

// Armed, a CQ tells of its next entry, once; of one that lies there unseen, at once.
static void channel(void) {
  struct bed bed = make_bed(&plain);
  struct ibv_comp_channel *channel = ibv_create_comp_channel(bed.context);
  DEMAND(channel);
  int said = 0;
  struct ibv_cq *cq = ibv_create_cq(bed.context, DEPTH, &said, channel, 0), *of;
  DEMAND(cq && ibv_destroy_comp_channel(channel) == EBUSY);
  void *context;
  struct ibv_qp *qp = make_qp(&bed, bed.send_cq, cq, 8, 8, 0);
  loop_qp(&bed, qp, qp, 0, 7);
  post_receives(&bed, qp, 8);

  DEMAND(ibv_req_notify_cq(cq, 0) == 0);
  DEMAND(readable(channel->fd, 10) == 0);
  DEMAND(post(&bed, qp, 1, IBV_EXP_WR_SEND) == 0 && post(&bed, qp, 2, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.send_cq, 2);
  DEMAND(ibv_get_cq_event(channel, &of, &context) == 0 && of == cq && context == &said);
  await_entries(&bed, cq, 1);
  DEMAND(readable(channel->fd, 10) == 0);
  DEMAND(ibv_req_notify_cq(cq, 0) == 0);  // the second lies there
  DEMAND(readable(channel->fd, 20000) == 1);
  DEMAND(ibv_get_cq_event(channel, &of, &context) == 0);
  await_entries(&bed, cq, 1);
  ibv_ack_cq_events(cq, 2);

  // Of solicited ones alone: errors, and what the sender asks for. Others lie there unseen.
  DEMAND(ibv_req_notify_cq(cq, 1) == 0);
  DEMAND(post(&bed, qp, 3, IBV_EXP_WR_SEND) == 0);
  await_entries(&bed, bed.send_cq, 1);
  DEMAND(readable(channel->fd, 10) == 0);
  DEMAND(ibv_req_notify_cq(cq, 1) == 0);
  DEMAND(readable(channel->fd, 10) == 0);
  DEMAND(post_as(&bed, qp, 4, IBV_EXP_WR_SEND, IBV_EXP_SEND_SOLICITED) == 0);
  DEMAND(ibv_get_cq_event(channel, &of, &context) == 0);
  DEMAND(ibv_req_notify_cq(cq, 1) == 0);  // that one lies there
  DEMAND(readable(channel->fd, 20000) == 1);
  DEMAND(ibv_get_cq_event(channel, &of, &context) == 0);
  await_entries(&bed, cq, 2);
  ibv_ack_cq_events(cq, 2);

  // One that nobody took goes with its CQ.
  DEMAND(ibv_req_notify_cq(cq, 0) == 0);
  DEMAND(post(&bed, qp, 3, IBV_EXP_WR_SEND) == 0);
  DEMAND(readable(channel->fd, 20000) == 1);
  DEMAND(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
  DEMAND(readable(channel->fd, 0) == 0);
  DEMAND(ibv_destroy_comp_channel(channel) == 0);
  end_bed(&bed);
}

// Whose queue pair a peer has asked too much of is told.
static void access_event(void) {
  struct bed bed = make_bed(&plain);
  bed.mr->rkey ^= 1;
  DEMAND(post(&bed, bed.qp, 1, IBV_EXP_WR_RDMA_WRITE) == 0);
  bed.mr->rkey ^= 1;
  struct ibv_async_event event;
  DEMAND(ibv_get_async_event(bed.context, &event) == 0);
  DEMAND(event.event_type == IBV_EVENT_QP_ACCESS_ERR && event.element.qp == bed.qp);
  DEMAND(strcmp(ibv_event_type_str(event.event_type), "unknown") != 0);
  ibv_ack_async_event(&event);
  end_bed(&bed);
}

const struct rule event_rules[] = {{"cq-overrun", overrun},
                                   {"cq-overrun-ignored", ignored},
                                   {"cq-overrun-of-receives", ignored_receives},
                                   {"channel", channel},
                                   {"access-event", access_event},
                                   {NULL, NULL}};
