// SPDX-License-Identifier: BSD-3-Clause
// lanes.c - the lanes of a plan: how large they are; made, connected, closed.
//
// A rank takes a piece of memory with an inbox for each peer, and finds those of its peers: linear
// in the peers, twice. Lanes that grow keep their place: there is room for all that may come.

#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/common/pages.h"
#include "runtime/shm/shm.h"

enum {
  FEWEST_CELLS = 2,
  FEWEST_SLOTS = 2,  // of the longest, in a ring
  ENOUGH_SLOTS = 16,
  LARGEST_WINDOW = 65536,
  SMALL_WINDOW = 4096,  // of many peers
  SMALLEST_WINDOW = 1024,
  LONGEST_SLOT = 65536,
  MANY = 16,            // peers
  RING_AT_ONCE = 16384  // bytes whose pages are fetched together
};
#define CHEAP_CELLS (64 << 10)     // bytes of a plan's cells
#define CHEAP (256 << 10)          // of its cells and rings
#define CHEAP_WINDOWS (256 << 10)  // and of its windows
#define PATIENCE 1                 // s, for a peer that is reading

static size_t round_up(size_t n, size_t to) {
  return (n + to - 1) / to * to;
}

// All but the ring and the window.
static size_t cells_bytes(const struct sizes *z) {
  return sizeof(struct note) + sizeof(struct supply) + z->cells * sizeof(struct cell);
}

size_t inbox_bytes(const struct sizes *z) {
  return cells_bytes(z) + (size_t)z->ring + z->window;
}

static struct inbox inbox_at(unsigned char *at, const struct sizes *z) {
  struct inbox in = {.sizes = *z, .note = (struct note *)at};
  in.supply = (struct supply *)(in.note + 1);
  in.cells = (struct cell *)(in.supply + 1);
  in.ring = (unsigned char *)(in.cells + z->cells);
  in.window = in.ring + z->ring;
  return in;
}

// The pages of a ring up to `end` and some more, where there are none yet.
__attribute__((noinline)) void ring_fetch(const struct inbox *in, uint32_t *pages, uint32_t end) {
  const uint32_t from = *pages, ring = in->sizes.ring;
  uint32_t to = from;
  while (to < end && to < ring) to += RING_AT_ONCE;
  fetch_pages(in->ring + from, to - from);
  *pages = to >= ring ? UINT32_MAX : to;
}

static uint32_t smallest_ring(uint32_t slot) {
  uint32_t ring = slot ? LINE : 0;
  while (ring < FEWEST_SLOTS * slot) ring *= 2;
  return ring;
}

// Where ranks share cores nothing goes through windows, unless memory cannot be read.
static bool all_pull(const struct shm *shm, const struct nbc_shm_wish *wish) {
  for (uint32_t i = 0; i < wish->count; ++i)
    if (!shm->peers[wish->ranks[i]].pulls) return false;
  for (int r = 0; r < shm->ranks && wish->grows; ++r)
    if (r != shm->rank && shm->peers[r].near && !shm->peers[r].pulls) return false;
  return true;
}

// Of those that grow, to all ranks of the node, or where these are many to some: most algorithms
// talk to few.
static uint32_t expected(const struct shm *shm, const struct nbc_shm_wish *wish) {
  uint32_t count = wish->grows ? shm->near - 1 : 0;
  if (count > MANY) count = count / 4 > MANY ? count / 4 : MANY;
  return wish->count > count ? wish->count : count;
}

// As wished, or what fits into so much memory; but never nothing.
static struct sizes choose_sizes(const struct shm *shm, const struct nbc_shm_wish *wish) {
  const uint32_t count = expected(shm, wish);
  size_t slot = wish->eager_bytes < LONGEST_SLOT ? (size_t)wish->eager_bytes : LONGEST_SLOT;
  struct sizes z = {.cells = FEWEST_CELLS,
                    .slot = slot <= INLINE ? 0 : (uint32_t)round_up(slot, LINE),
                    .window = LARGEST_WINDOW};
  while (z.window > SMALL_WINDOW && (size_t)count * z.window > CHEAP_WINDOWS) z.window /= 2;
  if (!shm->own_cores && all_pull(shm, wish)) z.window = SMALL_WINDOW;
  // Where ranks outnumber cores, as many short messages as there are cells go out while one has a
  // core. And whether there is a free one is looked up once a round.
  while (z.cells < MOST_CELLS &&
         (z.cells < wish->cells || 2 * count * z.cells * sizeof(struct cell) <= CHEAP_CELLS))
    z.cells *= 2;
  z.ring = smallest_ring(z.slot);
  const uint32_t wished = wish->cells < MOST_CELLS ? wish->cells : MOST_CELLS;
  while (z.ring < wished * z.slot) z.ring *= 2;
  while (z.ring < ENOUGH_SLOTS * z.slot) {
    struct sizes more = {.cells = z.cells, .ring = 2 * z.ring};
    if (count * inbox_bytes(&more) > CHEAP) break;
    z.ring = more.ring;
  }
  // The largest first, and the longest slot only where nothing else is left.
  while (count * inbox_bytes(&z) > wish->memory) {
    const size_t cells = z.cells * sizeof(struct cell);
    if (z.cells > FEWEST_CELLS && cells >= z.ring && cells >= z.window) {
      z.cells /= 2;
    } else if (z.window > SMALLEST_WINDOW && z.window >= z.ring) {
      z.window /= 2;
    } else if (z.ring > smallest_ring(z.slot)) {
      z.ring /= 2;
    } else if (z.slot) {
      const uint32_t half = (uint32_t)round_up(z.slot / 2, LINE);
      z.slot = half < z.slot ? half : 0;
      z.ring = smallest_ring(z.slot);
    } else if (z.cells > FEWEST_CELLS) {
      z.cells /= 2;
    } else {
      break;
    }
  }
  return z;
}

static int near(const struct nbc_shm *base, uint32_t rank) {
  const struct shm *shm = (const struct shm *)base;
  return rank < (uint32_t)shm->ranks && shm->peers[rank].near;
}

static int add(struct nbc_shm_lanes *lanes, const uint32_t *ranks, uint32_t count,
               const char **why) {
  struct shm *shm = lanes->shm;
  if (count > lanes->room - lanes->count) return NBC_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < count; ++i)
    if (!near(&shm->base, ranks[i])) return NBC_ERROR_ARGUMENT;
  struct lot *lot = (struct lot *)calloc(1, sizeof *lot);
  if (!lot) return NBC_ERROR_MEMORY;
  const size_t each = inbox_bytes(&lanes->sizes);
  const int status =
      pool_take(shm, ranks, count, each, cells_bytes(&lanes->sizes), &lot->piece, why);
  if (status) {
    free(lot);
    return status;
  }
  lot->next = lanes->lots;
  lanes->lots = lot;
  for (uint32_t i = 0; i < count; ++i) {
    struct lane *l = &lanes->lanes[lanes->count++];
    l->lot = lot;
    l->in = inbox_at(lot->piece.memory + i * each, &lanes->sizes);
    l->rank = ranks[i];
    l->peer = &shm->peers[l->rank];
    l->pulls = l->peer->pulls;
    atomic_store(&l->in.note->never, !l->pulls);
    for (int d = 0; d < DIRECTIONS && l->pulls && l->peer->process; ++d)
      atomic_store(&l->in.note->reads[d], ways_read(&l->peer->process->ways[d]));
  }
  return 0;
}

static int make(struct nbc_shm *base, const struct nbc_shm_wish *wish,
                struct nbc_shm_lanes **result, const char **why) {
  struct shm *shm = shm_of(base);
  const uint32_t room = wish->grows ? shm->near : wish->count;
  struct nbc_shm_lanes *lanes =
      (struct nbc_shm_lanes *)calloc(1, sizeof *lanes + room * sizeof *lanes->lanes);
  if (!lanes) return NBC_ERROR_MEMORY;
  lanes->shm = shm;
  lanes->room = room;
  lanes->sizes = choose_sizes(shm, wish);
  int status = add(lanes, wish->ranks, wish->count, why);
  if (status)
    free(lanes);
  else
    *result = lanes;
  return status;
}

static void describe(const struct nbc_shm_lanes *lanes, uint32_t lane, struct nbc_shm_address *a) {
  const struct sizes *z = &lanes->sizes;
  *a = (struct nbc_shm_address){
      .cells = z->cells, .ring = z->ring, .slot = z->slot, .window = z->window};
  const struct lane *l = &lanes->lanes[lane];
  pool_describe(&l->lot->piece, a);
  a->offset += (uint64_t)((unsigned char *)l->in.note - l->lot->piece.memory);
}

static bool power_of_two(uint32_t n) {
  return n && (n & (n - 1)) == 0;
}

static bool believable(const struct nbc_shm_address *a) {
  struct sizes z = {a->cells, a->ring, a->slot, a->window};
  return power_of_two(z.cells) && z.cells >= FEWEST_CELLS && z.cells <= MOST_CELLS &&
         z.slot % LINE == 0 && z.slot <= LONGEST_SLOT && z.ring >= FEWEST_SLOTS * z.slot &&
         (z.slot ? power_of_two(z.ring) : !z.ring) && power_of_two(z.window) &&
         z.window >= SMALLEST_WINDOW && z.window <= LARGEST_WINDOW && a->bytes <= SIZE_MAX / 2 &&
         a->offset % LINE == 0 && a->offset >= sizeof(struct roll) && a->offset <= a->bytes &&
         inbox_bytes(&z) <= a->bytes - a->offset;
}

static int connect_lane(struct nbc_shm_lanes *lanes, uint32_t lane,
                        const struct nbc_shm_address *a) {
  struct lane *l = &lanes->lanes[lane];
  const struct sizes z = {a->cells, a->ring, a->slot, a->window};
  unsigned char *memory;
  if (l->connected)
    return l->offset == a->offset && l->ticket == a->ticket ? 0 : NBC_ERROR_BOOTSTRAP;
  if (!believable(a)) return NBC_ERROR_BOOTSTRAP;
  int status = pool_map(l->peer->token, a, cells_bytes(&z), &l->mapped, &memory);
  if (status) return status;
  if (((struct note *)(void *)memory)->guard.bytes != inbox_bytes(&z)) {
    pool_unmap(l->mapped, memory);
    l->mapped = NULL;
    return NBC_ERROR_BOOTSTRAP;
  }
  l->out = inbox_at(memory, &z);
  l->never = atomic_load(&l->out.note->never);
  lane_heed(l);
  l->offset = a->offset;
  l->ticket = a->ticket;
  l->connected = true;
  return 0;
}

static int reachable(const struct nbc_shm_lanes *lanes) {
  for (uint32_t i = 0; i < lanes->count; ++i)
    if (!pool_has(&lanes->lanes[i].lot->piece, lanes->lanes[i].peer)) return 0;
  return 1;
}

// What is sent goes through the window: who shares a core would wait for a turn of it at each part,
// and a small one has many parts.
static enum nbc_layouts layouts(const struct nbc_shm_lanes *lanes) {
  const bool quick = lanes->shm->own_cores && lanes->sizes.window >= WORTH_IT;
  return quick ? NBC_LAYOUTS_QUICK : NBC_LAYOUTS_TAKEN;
}

static const void *hot(const struct nbc_shm_lanes *lanes, uint32_t lane, size_t *bytes) {
  *bytes = offsetof(struct lane, ends);
  return &lanes->lanes[lane];
}

static size_t memory(const struct nbc_shm_lanes *lanes) {
  return lanes->count * inbox_bytes(&lanes->sizes);
}

// Until the peer does not read any more, or cannot. Returns whether it may still.
static int take_back(const struct lane *l, const struct nbc_shm_message *m) {
  struct cell *cell = cell_of(&l->out, m->number);
  struct timespec begin, now;
  atomic_store(&cell->kind, KIND_GONE);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  while (atomic_load(&l->out.note->reading) == m->number + 1) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - begin.tv_sec > PATIENCE) return 1;
    sched_yield();
  }
  return 0;
}

static int close_lane(struct lane *l) {
  int touched = 0;
  atomic_store(&l->in.note->closed, 1);
  if (!l->mapped) return 0;
  for (const struct nbc_shm_message *m = l->posted.first; m; m = m->next)
    if (m->kind != KIND_WINDOW) touched |= take_back(l, m);
  for (const struct nbc_shm_message *m = l->owed.first; m; m = m->next) touched |= take_back(l, m);
  atomic_store(&l->out.supply->closed, 1);
  pool_unmap(l->mapped, l->out.note);
  l->mapped = NULL;
  return touched;
}

static int give_up(struct nbc_shm_lanes *lanes) {
  int touched = 0;
  for (uint32_t i = 0; i < lanes->count; ++i) touched |= close_lane(&lanes->lanes[i]);
  return touched;
}

static void give_back(const struct nbc_shm_lanes *lanes, struct lot *lot) {
  bool connected = true;
  for (uint32_t i = 0; i < lanes->count; ++i)
    connected = connected && (lanes->lanes[i].lot != lot || lanes->lanes[i].connected);
  pool_give_back(&lot->piece, connected);
  free(lot);
}

static int close_lanes(struct nbc_shm_lanes *lanes) {
  if (!lanes) return 0;
  const int touched = give_up(lanes);
  for (struct lot *lot = lanes->lots, *next; lot; lot = next) {
    next = lot->next;
    give_back(lanes, lot);
  }
  free(lanes);
  return touched;
}

const struct nbc_shm_ops shm_ops = {
    .near = near,
    .make = make,
    .add = add,
    .describe = describe,
    .connect = connect_lane,
    .reachable = reachable,
    .layouts = layouts,
    .hot = hot,
    .memory = memory,
    .send = lane_send,
    .receive = lane_receive,
    .send_now = lane_send_now,
    .receive_now = lane_receive_now,
    .move = lane_move,
    .rest = lanes_rest,
    .lost = lanes_lost,
    .give_up = give_up,
    .close = close_lanes,
};
