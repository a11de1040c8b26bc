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
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "runtime/verbs/adapter.h"

enum {
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
  if (c->all >= 0) close(c->all);
  for (uint32_t i = 0; i < NBC_VERBS_RAILS; ++i) {
    if (c->of[i].cq) ibv_destroy_cq(c->of[i].cq);
    if (c->of[i].channel) ibv_destroy_comp_channel(c->of[i].channel);
  }
  free(c);
}

static bool create_one(struct completions *c, uint32_t rail, uint32_t entries) {
  struct ibv_context *context = c->adapter->rails[rail].place.context;
  struct completion_queue *q = &c->of[rail];
  q->channel = ibv_create_comp_channel(context);
  if (q->channel) q->cq = ibv_create_cq(context, (int)entries, c, q->channel, 0);
  if (!q->cq || c->all < 0) return q->cq;
  struct epoll_event readable = {.events = EPOLLIN};
  return epoll_ctl(c->all, EPOLL_CTL_ADD, q->channel->fd, &readable) == 0;
}

static int create_cq(struct nbc_verbs *base, uint32_t entries, void **cq) {
  struct adapter *a = adapter_of(base);
  struct completions *c = (struct completions *)calloc(1, sizeof *c);
  if (!c) return NBC_ERROR_MEMORY;
  c->adapter = a;
  c->all = a->rail_count > 1 ? epoll_create1(EPOLL_CLOEXEC) : -1;
  bool made = a->rail_count == 1 || c->all >= 0;
  for (uint32_t i = 0; i < a->rail_count && made; ++i) made = create_one(c, i, entries);
  if (made) {
    *cq = c;
    return 0;
  }
  int status = status_of(errno);
  destroy_cq(base, c);
  return status;
}

// Those of several rails in turn, so that none waits for the others.
static int poll_cq(struct nbc_verbs *base, void *cq, int count, struct ibv_wc *wc) {
  struct completions *c = (struct completions *)cq;
  const struct adapter *a = adapter_of(base);
  const uint32_t rails = a->rail_count;
  int found = 0;
  for (uint32_t i = 0; i < rails && found < count; ++i) {
    int more = ibv_poll_cq(c->of[c->next].cq, count - found, wc + found);
    if (more < 0) return NBC_ERROR_DEVICE;
    found += more;
    if (++c->next == rails) c->next = 0;
  }
  if (found) return found;
  return atomic_load_explicit(&c->failed, memory_order_relaxed) ||
                 atomic_load_explicit(&a->gone, memory_order_relaxed)
             ? NBC_ERROR_DEVICE
             : 0;
}

// What the channel tells.
static void take_event(struct completion_queue *q) {
  struct ibv_cq *which;
  void *context;
  if (ibv_get_cq_event(q->channel, &which, &context)) return;
  ibv_ack_cq_events(which, 1);
  q->armed = false;
}

static void request_event(struct completions *c, struct completion_queue *q) {
  if (ibv_req_notify_cq(q->cq, 0)) atomic_store(&c->failed, 1);
  q->armed = true;
}

static int arm_cq(struct nbc_verbs *base, void *cq) {
  struct completions *c = (struct completions *)cq;
  for (uint32_t i = 0; i < adapter_of(base)->rail_count; ++i) {
    struct completion_queue *q = &c->of[i];
    struct pollfd file = {q->channel->fd, POLLIN, 0};
    if (q->armed && poll(&file, 1, 0) > 0) take_event(q);
    if (!q->armed) request_event(c, q);
  }
  return c->all >= 0 ? c->all : c->of[0].channel->fd;
}

// An entry that came before the queue was armed makes no event. So the first sleep arms and
// returns; the caller polls; what comes after that poll ends the second.
static void sleep_cq(struct nbc_verbs *base, void *cq, int64_t nanoseconds) {
  struct adapter *a = adapter_of(base);
  struct completions *c = (struct completions *)cq;
  const uint32_t rails = a->rail_count;
  struct pollfd files[2 * NBC_VERBS_RAILS];
  bool all_armed = true;
  for (uint32_t i = 0; i < rails; ++i) {
    files[i] = (struct pollfd){c->of[i].channel->fd, POLLIN, 0};
    files[rails + i] = (struct pollfd){a->rails[i].place.context->async_fd, POLLIN, 0};
    if (c->of[i].armed) continue;
    request_event(c, &c->of[i]);
    all_armed = false;
  }
  struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  if (!all_armed || nanoseconds < 0 || ppoll(files, 2 * rails, &time, NULL) <= 0) return;
  for (uint32_t i = 0; i < rails; ++i) {
    if (files[rails + i].revents) take_events(a);
    if ((files[i].revents | files[rails + i].revents) & (POLLERR | POLLHUP))
      atomic_store(&a->gone, 1);
    if (files[i].revents & POLLIN) take_event(&c->of[i]);
  }
}

// --- queue pairs ---

static void destroy_qp(struct nbc_verbs *base, void *qp) {
  struct queue_pair *q = (struct queue_pair *)qp;
  (void)base;
  if (!q) return;
  if (q->qp) ibv_destroy_qp(q->qp);
  free(q);
}

static int to_init(const struct queue_pair *q) {
  const struct rail *rail = q->rail;
  struct ibv_qp_attr attributes = {
      .qp_state = IBV_QPS_INIT,
      .port_num = rail->place.port,
      .qp_access_flags =
          IBV_ACCESS_REMOTE_WRITE | (rail->served_reads ? IBV_ACCESS_REMOTE_READ : 0)};
  return ibv_modify_qp(q->qp, &attributes,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int create_qp(struct nbc_verbs *base, const struct nbc_verbs_queue_wish *wish, void **qp,
                     uint32_t *number) {
  struct adapter *a = adapter_of(base);
  if (wish->rail >= a->rail_count) return NBC_ERROR_ARGUMENT;
  struct ibv_cq *cq = ((struct completions *)wish->cq)->of[wish->rail].cq;
  struct queue_pair *q = (struct queue_pair *)calloc(1, sizeof *q);
  if (!q) return NBC_ERROR_MEMORY;
  q->adapter = a;
  q->rail = &a->rails[wish->rail];
  q->rnr_timer = (uint8_t)(wish->rnr_timer ? wish->rnr_timer : RNR_TIMER);
  struct ibv_qp_init_attr attributes = {.qp_context = q,
                                        .send_cq = cq,
                                        .recv_cq = cq,
                                        .qp_type = IBV_QPT_RC,
                                        .cap = {.max_send_wr = wish->sends,
                                                .max_recv_wr = wish->receives,
                                                .max_send_sge = wish->gather,
                                                .max_recv_sge = wish->scatter ? wish->scatter : 1,
                                                .max_inline_data = wish->inline_bytes}};
  q->qp = ibv_create_qp(q->rail->domain, &attributes);
  int error = q->qp ? to_init(q) : errno;
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
  const struct queue_pair *q = (const struct queue_pair *)qp;
  const struct rail *rail = q->rail;
  struct ibv_port_attr port;
  (void)base;
  if (ibv_query_port(rail->place.context, rail->place.port, &port)) return NBC_ERROR_DEVICE;
  struct card card = {.number = q->qp->qp_num,
                      .first_packet = q->first_packet,
                      .lid = port.lid,
                      .version = CARD_VERSION,
                      .link_layer = port.link_layer,
                      .mtu = (uint8_t)rail->mtu,
                      .served_reads = rail->served_reads,
                      .active = port.state == IBV_PORT_ACTIVE};
  memcpy(card.gid, rail->place.gid.raw, sizeof card.gid);
  memset(address, 0, sizeof *address);
  memcpy(address, &card, sizeof card);
  return 0;
}

// What comes from a peer is looked at before it gets anywhere.
static bool believable(const struct adapter *a, const struct rail *rail, const struct card *peer) {
  return peer->version == CARD_VERSION && peer->active &&
         peer->link_layer == rail->place.attributes.link_layer && peer->mtu >= IBV_MTU_256 &&
         peer->mtu <= IBV_MTU_4096 && peer->number <= 0xffffff && peer->first_packet <= PACKETS &&
         (peer->served_reads || a->facts.rendezvous == NBC_VERBS_WRITE);
}

static struct ibv_ah_attr way_to(const struct adapter *a, const struct place *place,
                                 const struct card *peer) {
  struct ibv_ah_attr way = {.dlid = peer->lid, .sl = a->service_level, .port_num = place->port};
  bool roce = place->attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
  bool other_subnet = memcmp(peer->gid, place->gid.raw, 8) != 0;
  if (!roce && !other_subnet) return way;
  way.is_global = 1;
  way.grh.sgid_index = place->gid_index;
  way.grh.hop_limit = HOPS;
  way.grh.traffic_class = a->traffic_class;
  memcpy(way.grh.dgid.raw, peer->gid, sizeof peer->gid);
  return way;
}

static int connect_qp(struct nbc_verbs *base, void *qp, const struct nbc_verbs_address *address) {
  struct adapter *a = adapter_of(base);
  struct queue_pair *q = (struct queue_pair *)qp;
  struct card peer;
  const struct rail *rail = q->rail;
  memcpy(&peer, address, sizeof peer);
  if (!believable(a, rail, &peer)) return NBC_ERROR_DEVICE;
  struct ibv_qp_attr receive = {
      .qp_state = IBV_QPS_RTR,
      .path_mtu = peer.mtu < rail->mtu ? (enum ibv_mtu)peer.mtu : rail->mtu,
      .dest_qp_num = peer.number,
      .rq_psn = peer.first_packet,
      .max_dest_rd_atomic = rail->served_reads,
      .min_rnr_timer = q->rnr_timer,
      .ah_attr = way_to(a, &rail->place, &peer)};
  struct ibv_qp_attr send = {
      .qp_state = IBV_QPS_RTS,
      .sq_psn = q->first_packet,
      .timeout = a->timeout,
      .retry_cnt = a->retry_count,
      .rnr_retry = RNR_FOR_EVER,
      .max_rd_atomic = peer.served_reads < rail->own_reads ? peer.served_reads : rail->own_reads};
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
    .keys = tell_keys,
    .watch = watch_memory,
};
