// SPDX-License-Identifier: BSD-3-Clause
// near.c - lanes to the peers of a plan that are on the same node: of target shm, and of coredirect
// for what does not leave the node.
//
// Somebody has to move what goes through a lane. A test moves the lane of its message, and each
// poll one other, in turn, what goes to other nodes as if it were one: as with an MPI, whose tests
// move everything, no peer waits for this rank because it happens to wait for another.
//
// Plans that take turns have one lane to each peer together. A call has sent and received all that
// is its own before it ends, so messages of the next one, of whichever plan, are behind it.

#include "runtime/src/near.h"

#include <stdlib.h>
#include <string.h>

#include "nbc/shm.h"
#include "runtime/src/messages.h"
#include "runtime/src/progress.h"

// Of a communicator's plans that take turns.
struct shared {
  const struct nbc_shm_ops *ops;
  struct nbc_shm_lanes *lanes;  // null: there are none yet
  uint32_t count;
  uint32_t *numbers;  // by rank: of its lane, from 1 on; 0: it has none
};

struct near {
  const struct nbc_shm_ops *ops;
  struct nbc_shm_lanes *lanes;
  struct nbc_shm_message *under_way;  // [instance][record], as messages are
  const struct message *messages;
  uint32_t *numbers;  // of the plan's lanes among those
  uint32_t count, turn;
  struct shared *shared;  // null: they are its own
  struct nbc_shm *shm;    // null: there is none
  struct nbc_p2p *p2p;    // likewise
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
  x->layout = m->layout;
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

static int send_now(const struct lane *lane, const void *from, uint64_t bytes) {
  const struct near *n = (const struct near *)lane->device;
  return n->ops->send_now ? n->ops->send_now(n->lanes, lane->number, from, bytes) : 0;
}

static int receive_now(const struct lane *lane, void *to, uint64_t bytes) {
  const struct near *n = (const struct near *)lane->device;
  return n->ops->receive_now ? n->ops->receive_now(n->lanes, lane->number, to, bytes) : 0;
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
    .most_now = NBC_SHM_SHORT,
    .send_now = send_now,
    .receive_now = receive_now,
    .forget = forget,
    .describe = describe,
    .connect = connect_lane,
};

static int move_next(struct messages *s) {
  struct near *n = (struct near *)s->own;
  const bool far = n->count < s->peers && n->p2p->ops->move;
  if (++n->turn >= n->count + far) n->turn = 0;
  if (n->turn < n->count) return n->ops->move(n->lanes, n->numbers[n->turn]);
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

// Which way leads to each peer; `ranks`: of those that shared memory reaches.
static int find_ways(const nbc_plan *plan, struct near *n, uint32_t *ranks) {
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

static struct nbc_shm_wish wish_for(const nbc_plan *plan, const struct near *n,
                                    const uint32_t *ranks, uint32_t count) {
  return (struct nbc_shm_wish){.ranks = ranks,
                               .count = count,
                               .cells = MORE_CELLS * plan->depth * most_messages(plan),
                               .eager_bytes = plan->eager_bytes,
                               .memory = plan->slot_memory,
                               .grows = n->shared != NULL};
}

static int make_lanes(nbc_plan *plan, struct near *n, const uint32_t *ranks) {
  const struct nbc_shm_wish wish = wish_for(plan, n, ranks, n->count);
  const int status = n->ops->make(n->shm, &wish, &n->lanes, &plan->why);
  if (status) return status;
  plan->queue_bytes += n->ops->memory(n->lanes);
  for (uint32_t i = 0; i < n->count; ++i) n->numbers[i] = i;
  return 0;
}

// Those that there are, and one for each rank that has none.
static int share_lanes(nbc_plan *plan, struct near *n, const uint32_t *ranks) {
  struct shared *s = n->shared;
  const size_t all = (size_t)plan->comm->bootstrap.ranks;
  if (!s->numbers) s->numbers = (uint32_t *)calloc(all, sizeof *s->numbers);
  if (!s->numbers) return NBC_ERROR_MEMORY;
  uint32_t *fresh = n->numbers, count = 0;
  for (uint32_t i = 0; i < n->count; ++i)
    if (!s->numbers[ranks[i]]) fresh[count++] = ranks[i];
  const struct nbc_shm_wish wish = wish_for(plan, n, fresh, count);
  const size_t before = s->lanes ? s->ops->memory(s->lanes) : 0;
  int status = 0;
  if (!s->lanes)
    status = s->ops->make(n->shm, &wish, &s->lanes, &plan->why);
  else if (count)
    status = s->ops->add(s->lanes, fresh, count, &plan->why);
  if (status) return status;
  plan->queue_bytes += s->ops->memory(s->lanes) - before;
  n->lanes = s->lanes;
  for (uint32_t i = 0; i < count; ++i) s->numbers[fresh[i]] = ++s->count;
  for (uint32_t i = 0; i < n->count; ++i) n->numbers[i] = s->numbers[ranks[i]] - 1;
  return 0;
}

// Other plans' calls may be under way.
static int share_lanes_locked(nbc_plan *plan, struct near *n, const uint32_t *ranks) {
  plan_lock(plan);
  const int status = share_lanes(plan, n, ranks);
  plan_unlock(plan);
  return status;
}

static int make_near(nbc_plan *plan, struct near *n) {
  struct messages *s = messages_of(plan);
  uint32_t peers = s->peers;
  size_t messages = (size_t)plan->depth * s->most;
  n->messages = s->messages;
  n->under_way =
      (struct nbc_shm_message *)arena_take(&plan->arena, messages * sizeof *n->under_way);
  n->numbers = (uint32_t *)arena_take(&plan->arena, peers * sizeof *n->numbers);
  uint32_t *ranks = (uint32_t *)calloc((size_t)peers + 1, sizeof *ranks);
  int status = n->under_way && n->numbers && ranks ? find_ways(plan, n, ranks) : NBC_ERROR_MEMORY;
  if (!status && n->count)
    status = n->shared ? share_lanes_locked(plan, n, ranks) : make_lanes(plan, n, ranks);
  for (uint32_t i = 0; i < peers && !status; ++i)
    if (s->lanes[i].ops == &lane_ops) s->lanes[i].number = n->numbers[s->lanes[i].number];
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
  const struct attachment *on = comm_device(plan->comm, find_target(NBC_SHM_TARGET));
  n->shm = on ? (struct nbc_shm *)on->device : NULL;
  n->p2p = (struct nbc_p2p *)comm_device_for(plan->comm, NBC_P2P_TARGET);
  n->ops = n->shm ? n->shm->ops : NULL;
  const bool alone = on && on->target == plan->target;  // what goes elsewhere keeps another order
  if (alone && plan->turns && n->ops->add) n->shared = (struct shared *)on->shared;
  status = make_near(plan, n);
  return status ? status : messages_publish(plan);
}

// What leaves the node is the p2p device's, and has nothing to connect.
bool near_reachable(const nbc_plan *plan) {
  const struct near *n = near_of(plan);
  return !n || !n->lanes || (n->ops->reachable && n->ops->reachable(n->lanes));
}

enum nbc_layouts near_layouts(const nbc_plan *plan) {
  const struct near *n = near_of(plan);
  if (!messages_take_layouts(plan)) return NBC_LAYOUTS_REFUSED;
  if (!n) return NBC_LAYOUTS_QUICK;  // it has no peers
  const bool all = n->lanes && n->count == messages_of(plan)->peers;
  return all && n->ops->layouts ? n->ops->layouts(n->lanes) : NBC_LAYOUTS_REFUSED;
}

void near_destroy(nbc_plan *plan) {
  struct near *n = near_of(plan);
  int touched = 0;
  if (n && n->lanes && !n->shared)
    touched = n->ops->close(n->lanes);
  else if (n && n->lanes && plan->oldest)  // what they hold belongs to nobody
    touched = n->ops->give_up(n->lanes);
  if (touched) plan->memory_in_use = true;
  messages_destroy(plan);
}

// --- a communicator ---

int near_attach(struct nbc_device *device, void **shared) {
  struct shared *s = (struct shared *)calloc(1, sizeof *s);
  if (!s) return NBC_ERROR_MEMORY;
  s->ops = ((struct nbc_shm *)device)->ops;
  *shared = s;
  return 0;
}

void near_detach(void *shared) {
  struct shared *s = (struct shared *)shared;
  if (s->lanes) s->ops->close(s->lanes);
  free(s->numbers);
  free(s);
}

// --- waiting ---

bool near_failed(nbc_plan *plan) {
  const struct near *n = near_of(plan);
  return messages_failed(plan) || (n && n->lanes && n->ops->lost(n->lanes) < 0);
}

bool near_rest(nbc_plan *plan) {
  const struct near *n = near_of(plan);
  if (n && n->lanes) return n->ops->rest(n->lanes);
  if (n && n->p2p) n->p2p->ops->sleep(n->p2p, 1000000);
  return n && n->p2p;
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
  for (uint32_t i = 0; i < n->count && i < 4; ++i) {
    size_t bytes;
    const void *hot = n->ops->hot(n->lanes, n->numbers[i], &bytes);
    keep_warm(w, hot, bytes);
  }
  keep_warm(w, n->ops, 2 * sizeof n->ops->send);
  keep_warm(w, &lane_ops, 2 * sizeof lane_ops.send);
}
