// SPDX-License-Identifier: BSD-3-Clause
// near.c - lanes to the peers of a plan that are on the same node: of target shm, and of coredirect
// for what does not leave the node.
//
// Somebody has to move what goes through a lane. A test moves the lane of its message, and each
// poll one other, in turn, what goes to other nodes as if it were one: as with an MPI, whose tests
// move everything, no peer waits for this rank because it happens to wait for another.

#include "runtime/src/near.h"

#include <stdlib.h>
#include <string.h>

#include "nbc/shm.h"
#include "runtime/src/messages.h"

struct near {
  const struct nbc_shm_ops *ops;
  struct nbc_shm_lanes *lanes;
  struct nbc_shm_message *under_way;  // [instance][record], as messages are
  const struct message *messages;
  uint32_t count, turn;
  struct nbc_shm *shm;  // null: there is none
  struct nbc_p2p *p2p;  // likewise
};

static struct near *near_of(const nbc_plan *plan) {
  const struct messages *s = messages_of(plan);
  return s ? (struct near *)s->own : NULL;
}

// --- a lane ---

static struct nbc_shm_message *under_way(const struct near *n, const struct message *m) {
  return &n->under_way[m - n->messages];
}

static struct nbc_shm_message *describe_message(const struct near *n, const struct message *m) {
  struct nbc_shm_message *x = under_way(n, m);
  x->bytes = m->bytes;
  x->run_count = m->runs ? m->runs : 1;
  x->run = (struct iovec){(void *)(uintptr_t)m->address, m->bytes};
  x->runs = m->runs ? (const struct iovec *)(uintptr_t)m->address : &x->run;
  return x;
}

static int post_send(const struct lane *lane, struct message *m) {
  const struct near *n = (const struct near *)lane->device;
  return n->ops->send(n->lanes, lane->number, describe_message(n, m));
}

static int post_receive(const struct lane *lane, struct message *m) {
  const struct near *n = (const struct near *)lane->device;
  return n->ops->receive(n->lanes, lane->number, describe_message(n, m));
}

static int test(const struct lane *lane, struct message *m) {
  const struct near *n = (const struct near *)lane->device;
  const struct nbc_shm_message *x = under_way(n, m);
  int status = x->open ? n->ops->move(n->lanes, lane->number) : 0;
  return status ? status : !x->open;
}

// All of them at once: see destroy.
static int forget(const struct lane *lane, struct message *m) {
  (void)lane, (void)m;
  return 0;
}

static size_t describe(const struct lane *lane, void *card) {
  const struct near *n = (const struct near *)lane->device;
  struct nbc_shm_address address;
  _Static_assert(sizeof address <= MOST_CARD, "a card holds an address");
  n->ops->describe(n->lanes, lane->number, &address);
  memcpy(card, &address, sizeof address);
  return sizeof address;
}

static int connect_lane(const struct lane *lane, const void *card, size_t bytes) {
  const struct near *n = (const struct near *)lane->device;
  struct nbc_shm_address address;
  if (bytes != sizeof address) return NBC_ERROR_BOOTSTRAP;
  memcpy(&address, card, sizeof address);
  return n->ops->connect(n->lanes, lane->number, &address);
}

static const struct lane_ops lane_ops = {
    .send = post_send,
    .receive = post_receive,
    .test = test,
    .forget = forget,
    .describe = describe,
    .connect = connect_lane,
};

static int move_next(struct messages *s) {
  struct near *n = (struct near *)s->own;
  const bool far = n->count < s->peers && n->p2p->ops->move;
  if (++n->turn >= n->count + far) n->turn = 0;
  if (n->turn < n->count) return n->ops->move(n->lanes, n->turn);
  n->p2p->ops->move(n->p2p);
  return 0;
}

// --- a plan ---

enum { MORE_CELLS = 2 };  // than messages of a call, so that a rank may be ahead by some

// Messages that one call sends to a peer, at most.
static uint32_t most_messages(const nbc_plan *plan) {
  struct traffic *t = messages_traffic(plan);
  uint64_t most = 1;
  for (uint32_t i = 0; t && i < messages_of(plan)->peers; ++i)
    if (t[i].sends > most) most = t[i].sends;
  free(t);
  return (uint32_t)most;
}

// A lane for each peer; `ranks`: of those that shared memory reaches.
static int make_lanes(const nbc_plan *plan, struct near *n, uint32_t *ranks) {
  struct messages *s = messages_of(plan);
  int status = 0;
  for (uint32_t i = 0; i < s->peers && !status; ++i) {
    const uint32_t peer = plan->tables.peers[i], rank = peer & ~(NBC_PEER_REMOTE | NBC_PEER_NEAR);
    if (n->shm && n->ops->near(n->shm, rank)) {
      s->lanes[i] = (struct lane){&lane_ops, n, rank, n->count};
      ranks[n->count++] = rank;
    } else if (n->p2p && peer & NBC_PEER_REMOTE) {
      status = p2p_lane(plan, n->p2p, rank, &s->lanes[i]);
    } else {
      status = NBC_ERROR_TEMPLATE;  // not for these nodes, or nothing leads there
    }
  }
  return status;
}

static int make_near(nbc_plan *plan, struct near *n) {
  struct messages *s = messages_of(plan);
  uint32_t peers = s->peers;
  size_t messages = (size_t)plan->depth * s->most;
  n->messages = s->messages;
  n->under_way =
      (struct nbc_shm_message *)arena_take(&plan->arena, messages * sizeof *n->under_way);
  uint32_t *ranks = (uint32_t *)calloc((size_t)peers + 1, sizeof *ranks);
  int status = n->under_way && ranks ? make_lanes(plan, n, ranks) : NBC_ERROR_MEMORY;
  if (!status && n->count) {
    struct nbc_shm_wish wish = {.ranks = ranks,
                                .count = n->count,
                                .cells = MORE_CELLS * plan->depth * most_messages(plan),
                                .eager_bytes = plan->eager_bytes,
                                .memory = plan->slot_memory};
    status = n->ops->make(n->shm, &wish, &n->lanes, &plan->why);
    if (!status) plan->queue_bytes += n->ops->memory(n->lanes);
  }
  plan->queue_bytes += messages * sizeof *n->under_way;
  if (n->count > 1 || n->count < peers) s->others = n->count ? move_next : NULL;
  free(ranks);
  return status;
}

int near_create(nbc_plan *plan, uint32_t peers) {
  int status = messages_create(plan, peers);
  if (status || peers == 0) return status;
  struct near *n = (struct near *)arena_take(&plan->arena, sizeof *n);
  if (!n) return NBC_ERROR_MEMORY;
  messages_of(plan)->own = n;
  n->shm = (struct nbc_shm *)comm_device_for(plan->comm, NBC_SHM_TARGET);
  n->p2p = (struct nbc_p2p *)comm_device_for(plan->comm, NBC_P2P_TARGET);
  n->ops = n->shm ? n->shm->ops : NULL;
  status = make_near(plan, n);
  return status ? status : messages_publish(plan);
}

// What leaves the node is the p2p device's, and has nothing to connect.
bool near_reachable(const nbc_plan *plan) {
  const struct near *n = near_of(plan);
  return !n || !n->lanes || (n->ops->reachable && n->ops->reachable(n->lanes));
}

void near_destroy(nbc_plan *plan) {
  struct near *n = near_of(plan);
  if (n && n->lanes && n->ops->close(n->lanes)) plan->memory_in_use = true;
  messages_destroy(plan);
}

bool near_failed(nbc_plan *plan) {
  const struct near *n = near_of(plan);
  return messages_failed(plan) || (n && n->lanes && n->ops->lost(n->lanes) < 0);
}

void near_rest(nbc_plan *plan) {
  const struct near *n = near_of(plan);
  if (n && n->lanes)
    n->ops->rest(n->lanes);
  else if (n && n->p2p)
    n->p2p->ops->sleep(n->p2p, 1000000);
}

uint64_t near_longest(const nbc_plan *plan) {
  const struct nbc_p2p *p2p = (struct nbc_p2p *)comm_device_for(plan->comm, NBC_P2P_TARGET);
  for (uint32_t i = 0; i < plan->tables.header->peers.count; ++i)
    if (plan->tables.peers[i] & NBC_PEER_REMOTE && p2p) return p2p->longest;
  return INT64_MAX;
}

void near_keep_warm(nbc_plan *plan) {
  const struct near *n = near_of(plan);
  messages_keep_warm(plan);
  if (!n || !n->lanes) return;
  struct warm *w = &plan->warm;
  uint32_t most = messages_of(plan)->most;
  keep_warm(w, n, sizeof *n);
  for (uint32_t i = 0; i < plan->depth; ++i)
    keep_warm(w, n->under_way + (size_t)i * most, (most < 4 ? most : 4) * sizeof *n->under_way);
  size_t bytes;
  const void *hot = n->ops->hot(n->lanes, &bytes);
  keep_warm(w, hot, bytes);
  keep_warm(w, n->ops, 2 * sizeof n->ops->send);
  keep_warm(w, &lane_ops, 2 * sizeof lane_ops.send);
}
