// SPDX-License-Identifier: BSD-3-Clause
// queues.c - completion queues and queue pairs: made, connected, used, slept on.
//
//   RESET --create_qp--> INIT --connect--> RTR -> RTS
//
// A card says where a queue pair is found, and what its side is able to do; the weaker of two
// decides, so both ends set up the same.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "runtime/verbs/adapter.h"

enum {
  TIMEOUT = 14,       // of a packet: 4.096 us * 2^14 = 67 ms
  RNR_TIMER = 12,     // 0.64 ms: when a sender comes again that has found no receive
  RNR_FOR_EVER = 7,   // retries
  HOPS = 64,          // between subnets
  CARD_VERSION = 1,   // of struct card
  PACKETS = 0xffffff  // packet sequence numbers have 24 bits
};

struct card {
  uint8_t gid[16];
  uint32_t number, first_packet;
  uint16_t lid;
  uint8_t version, link_layer, mtu, served_reads, active;
};
_Static_assert(sizeof(struct card) <= sizeof(struct nbc_verbs_address), "what travels");

int status_of(int error) {
  switch (error) {
    case 0:
      return 0;
    case ENOMEM:
    case ENOSPC:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
      return NBC_ERROR_RESOURCES;
    default:
      return NBC_ERROR_DEVICE;
  }
}

// --- completion queues ---

static void destroy_cq(struct nbc_verbs *base, void *cq) {
  struct completions *c = (struct completions *)cq;
  (void)base;
  if (!c) return;
  if (c->cq) ibv_destroy_cq(c->cq);
  if (c->channel) ibv_destroy_comp_channel(c->channel);
  free(c);
}

static int create_cq(struct nbc_verbs *base, uint32_t entries, void **cq) {
  struct adapter *a = adapter_of(base);
  struct completions *c = (struct completions *)calloc(1, sizeof *c);
  if (!c) return NBC_ERROR_MEMORY;
  c->adapter = a;
  c->channel = ibv_create_comp_channel(a->place.context);
  if (c->channel) c->cq = ibv_create_cq(a->place.context, (int)entries, c, c->channel, 0);
  if (c->cq) {
    *cq = c;
    return 0;
  }
  int status = status_of(errno);
  destroy_cq(base, c);
  return status;
}

static int poll_cq(struct nbc_verbs *base, void *cq, int count, struct ibv_wc *wc) {
  struct completions *c = (struct completions *)cq;
  (void)base;
  int found = ibv_poll_cq(c->cq, count, wc);
  if (found < 0) return NBC_ERROR_DEVICE;
  return found == 0 && atomic_load_explicit(&c->failed, memory_order_relaxed) ? NBC_ERROR_DEVICE
                                                                              : found;
}

// What the channel tells.
static void take_event(struct completions *c) {
  struct ibv_cq *which;
  void *context;
  if (ibv_get_cq_event(c->channel, &which, &context)) return;
  ibv_ack_cq_events(which, 1);
  c->armed = false;
}

static void request_event(struct completions *c) {
  if (ibv_req_notify_cq(c->cq, 0)) atomic_store(&c->failed, 1);
  c->armed = true;
}

static int arm_cq(struct nbc_verbs *base, void *cq) {
  struct completions *c = (struct completions *)cq;
  struct pollfd file = {c->channel->fd, POLLIN, 0};
  (void)base;
  if (c->armed && poll(&file, 1, 0) > 0) take_event(c);
  if (!c->armed) request_event(c);
  return c->channel->fd;
}

// An entry that came before the queue was armed makes no event. So the first sleep arms and
// returns; the caller polls; what comes after that poll ends the second.
static void sleep_cq(struct nbc_verbs *base, void *cq, int64_t nanoseconds) {
  struct adapter *a = adapter_of(base);
  struct completions *c = (struct completions *)cq;
  if (!c->armed) {
    request_event(c);
    return;
  }
  struct pollfd files[] = {{c->channel->fd, POLLIN, 0}, {a->place.context->async_fd, POLLIN, 0}};
  struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  if (nanoseconds < 0 || ppoll(files, 2, &time, NULL) <= 0) return;
  if (files[1].revents) take_events(a);
  if ((files[0].revents | files[1].revents) & (POLLERR | POLLHUP)) atomic_store(&a->gone, 1);
  if (files[0].revents & POLLIN) take_event(c);
}

// --- queue pairs ---

static void destroy_qp(struct nbc_verbs *base, void *qp) {
  struct queue_pair *q = (struct queue_pair *)qp;
  (void)base;
  if (!q) return;
  if (q->qp) ibv_destroy_qp(q->qp);
  free(q);
}

static int to_init(struct adapter *a, struct queue_pair *q) {
  struct ibv_qp_attr attributes = {
      .qp_state = IBV_QPS_INIT,
      .port_num = a->place.port,
      .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | (a->served_reads ? IBV_ACCESS_REMOTE_READ : 0)};
  return ibv_modify_qp(q->qp, &attributes,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int create_qp(struct nbc_verbs *base, const struct nbc_verbs_queue_wish *wish, void **qp,
                     uint32_t *number) {
  struct adapter *a = adapter_of(base);
  struct ibv_cq *cq = ((struct completions *)wish->cq)->cq;
  struct queue_pair *q = (struct queue_pair *)calloc(1, sizeof *q);
  if (!q) return NBC_ERROR_MEMORY;
  q->adapter = a;
  struct ibv_qp_init_attr attributes = {.qp_context = q,
                                        .send_cq = cq,
                                        .recv_cq = cq,
                                        .qp_type = IBV_QPT_RC,
                                        .cap = {.max_send_wr = wish->sends,
                                                .max_recv_wr = wish->receives,
                                                .max_send_sge = wish->gather,
                                                .max_recv_sge = 1,
                                                .max_inline_data = wish->inline_bytes}};
  q->qp = ibv_create_qp(a->domain, &attributes);
  int error = q->qp ? to_init(a, q) : errno;
  if (!error && getrandom(&q->first_packet, sizeof q->first_packet, 0) < 0) error = errno;
  if (error) {
    destroy_qp(base, q);
    return status_of(error);
  }
  q->first_packet &= PACKETS;
  *number = q->qp->qp_num;
  *qp = q;
  return 0;
}

static int address_qp(struct nbc_verbs *base, void *qp, struct nbc_verbs_address *address) {
  struct adapter *a = adapter_of(base);
  const struct queue_pair *q = (const struct queue_pair *)qp;
  struct ibv_port_attr port;
  if (ibv_query_port(a->place.context, a->place.port, &port)) return NBC_ERROR_DEVICE;
  struct card card = {.number = q->qp->qp_num,
                      .first_packet = q->first_packet,
                      .lid = port.lid,
                      .version = CARD_VERSION,
                      .link_layer = port.link_layer,
                      .mtu = (uint8_t)a->mtu,
                      .served_reads = a->served_reads,
                      .active = port.state == IBV_PORT_ACTIVE};
  memcpy(card.gid, a->place.gid.raw, sizeof card.gid);
  memset(address, 0, sizeof *address);
  memcpy(address, &card, sizeof card);
  return 0;
}

// What comes from a peer is looked at before it gets anywhere.
static bool believable(const struct adapter *a, const struct card *peer) {
  return peer->version == CARD_VERSION && peer->active &&
         peer->link_layer == a->place.attributes.link_layer && peer->mtu >= IBV_MTU_256 &&
         peer->mtu <= IBV_MTU_4096 && peer->number <= 0xffffff && peer->first_packet <= PACKETS &&
         (peer->served_reads || a->facts.rendezvous == NBC_VERBS_WRITE);
}

static struct ibv_ah_attr way_to(const struct adapter *a, const struct card *peer) {
  struct ibv_ah_attr way = {.dlid = peer->lid, .sl = a->service_level, .port_num = a->place.port};
  bool roce = a->place.attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
  bool other_subnet = memcmp(peer->gid, a->place.gid.raw, 8) != 0;
  if (!roce && !other_subnet) return way;
  way.is_global = 1;
  way.grh.sgid_index = a->place.gid_index;
  way.grh.hop_limit = HOPS;
  way.grh.traffic_class = a->traffic_class;
  memcpy(way.grh.dgid.raw, peer->gid, sizeof peer->gid);
  return way;
}

static int connect_qp(struct nbc_verbs *base, void *qp, const struct nbc_verbs_address *address) {
  struct adapter *a = adapter_of(base);
  struct queue_pair *q = (struct queue_pair *)qp;
  struct card peer;
  memcpy(&peer, address, sizeof peer);
  if (!believable(a, &peer)) return NBC_ERROR_DEVICE;
  struct ibv_qp_attr receive = {.qp_state = IBV_QPS_RTR,
                                .path_mtu = peer.mtu < a->mtu ? (enum ibv_mtu)peer.mtu : a->mtu,
                                .dest_qp_num = peer.number,
                                .rq_psn = peer.first_packet,
                                .max_dest_rd_atomic = a->served_reads,
                                .min_rnr_timer = RNR_TIMER,
                                .ah_attr = way_to(a, &peer)};
  struct ibv_qp_attr send = {
      .qp_state = IBV_QPS_RTS,
      .sq_psn = q->first_packet,
      .timeout = TIMEOUT,
      .retry_cnt = a->retry_count,
      .rnr_retry = RNR_FOR_EVER,
      .max_rd_atomic = peer.served_reads < a->own_reads ? peer.served_reads : a->own_reads};
  int error = ibv_modify_qp(q->qp, &receive,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (!error)
    error = ibv_modify_qp(q->qp, &send,
                          IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                              IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
  return status_of(error);
}

static int post_send(struct nbc_verbs *base, void *qp, struct ibv_send_wr *first) {
  struct ibv_send_wr *bad;
  (void)base;
  return ibv_post_send(((struct queue_pair *)qp)->qp, first, &bad) ? NBC_ERROR_DEVICE : 0;
}

static int post_receive(struct nbc_verbs *base, void *qp, struct ibv_recv_wr *first) {
  struct ibv_recv_wr *bad;
  (void)base;
  return ibv_post_recv(((struct queue_pair *)qp)->qp, first, &bad) ? NBC_ERROR_DEVICE : 0;
}

static int failed_qp(struct nbc_verbs *base, void *qp) {
  struct adapter *a = adapter_of(base);
  const struct queue_pair *q = (const struct queue_pair *)qp;
  glance_events(a);
  return atomic_load(&a->gone) || atomic_load(&q->failed) ? NBC_ERROR_DEVICE : 0;
}

const struct nbc_verbs_ops adapter_ops = {
    .name = "libibverbs",
    .facts = tell_facts,
    .create_cq = create_cq,
    .create_qp = create_qp,
    .address = address_qp,
    .connect = connect_qp,
    .post_send = post_send,
    .post_receive = post_receive,
    .poll = poll_cq,
    .sleep = sleep_cq,
    .arm = arm_cq,
    .failed = failed_qp,
    .destroy_qp = destroy_qp,
    .destroy_cq = destroy_cq,
    .register_memory = register_memory,
    .deregister_memory = deregister_memory,
    .watch = watch_memory,
};
