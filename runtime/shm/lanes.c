// SPDX-License-Identifier: BSD-3-Clause
// lanes.c - the lanes of a plan: how large they are; made, connected, closed.
//
// A rank takes a piece of memory with an inbox for each peer, and finds those of its peers: linear
// in the peers, twice.

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
  return true;
}

// As wished, or what fits into so much memory; but never nothing.
static struct sizes choose_sizes(const struct shm *shm, const struct nbc_shm_wish *wish) {
  size_t slot = wish->eager_bytes < LONGEST_SLOT ? (size_t)wish->eager_bytes : LONGEST_SLOT;
  struct sizes z = {.cells = FEWEST_CELLS,
                    .slot = slot <= INLINE ? 0 : (uint32_t)round_up(slot, LINE),
                    .window = LARGEST_WINDOW};
  while (z.window > SMALL_WINDOW && (size_t)wish->count * z.window > CHEAP_WINDOWS) z.window /= 2;
  if (!shm->own_cores && all_pull(shm, wish)) z.window = SMALL_WINDOW;
  // Where ranks outnumber cores, as many short messages as there are cells go out while one has a
  // core. And whether there is a free one is looked up once a round.
  while (z.cells < MOST_CELLS &&
         (z.cells < wish->cells || 2 * wish->count * z.cells * sizeof(struct cell) <= CHEAP_CELLS))
    z.cells *= 2;
  z.ring = smallest_ring(z.slot);
  const uint32_t wished = wish->cells < MOST_CELLS ? wish->cells : MOST_CELLS;
  while (z.ring < wished * z.slot) z.ring *= 2;
  while (z.ring < ENOUGH_SLOTS * z.slot) {
    struct sizes more = {.cells = z.cells, .ring = 2 * z.ring};
    if (wish->count * inbox_bytes(&more) > CHEAP) break;
    z.ring = more.ring;
  }
  // The largest first, and the longest slot only where nothing else is left.
  while (wish->count * inbox_bytes(&z) > wish->memory) {
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

static int make(struct nbc_shm *base, const struct nbc_shm_wish *wish,
                struct nbc_shm_lanes **result, const char **why) {
  struct shm *shm = shm_of(base);
  for (uint32_t i = 0; i < wish->count; ++i)
    if (!near(base, wish->ranks[i])) return NBC_ERROR_ARGUMENT;
  struct nbc_shm_lanes *lanes =
      (struct nbc_shm_lanes *)calloc(1, sizeof *lanes + wish->count * sizeof *lanes->lanes);
  if (!lanes) return NBC_ERROR_MEMORY;
  lanes->shm = shm;
  lanes->count = wish->count;
  lanes->sizes = choose_sizes(shm, wish);
  size_t each = inbox_bytes(&lanes->sizes);
  int status =
      pool_take(shm, wish->ranks, wish->count, each, cells_bytes(&lanes->sizes), &lanes->own, why);
  if (status) {
    free(lanes);
    return status;
  }
  for (uint32_t i = 0; i < wish->count; ++i) {
    struct lane *l = &lanes->lanes[i];
    l->in = inbox_at(lanes->own.memory + i * each, &lanes->sizes);
    l->rank = wish->ranks[i];
    l->peer = &shm->peers[l->rank];
    l->pulls = l->peer->pulls;
    atomic_store(&l->in.note->never, !l->pulls);
  }
  *result = lanes;
  return 0;
}

static void describe(const struct nbc_shm_lanes *lanes, uint32_t lane, struct nbc_shm_address *a) {
  const struct sizes *z = &lanes->sizes;
  *a = (struct nbc_shm_address){
      .cells = z->cells, .ring = z->ring, .slot = z->slot, .window = z->window};
  pool_describe(&lanes->own, a);
  a->offset += lane * inbox_bytes(z);
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
  if (l->mapped || !believable(a)) return NBC_ERROR_BOOTSTRAP;
  int status = pool_map(l->peer->token, a, cells_bytes(&z), &l->mapped, &memory);
  if (status) return status;
  if (((struct note *)(void *)memory)->guard.bytes != inbox_bytes(&z)) {
    pool_unmap(l->mapped, memory);
    l->mapped = NULL;
    return NBC_ERROR_BOOTSTRAP;
  }
  l->out = inbox_at(memory, &z);
  l->never = atomic_load(&l->out.note->never);
  return 0;
}

static int reachable(const struct nbc_shm_lanes *lanes) {
  for (uint32_t i = 0; i < lanes->count; ++i)
    if (!pool_has(&lanes->own, lanes->lanes[i].peer)) return 0;
  return 1;
}

static const void *hot(const struct nbc_shm_lanes *lanes, size_t *bytes) {
  enum { FEW = 4 };
  uint32_t count = lanes->count < FEW ? lanes->count : FEW;
  *bytes = (count - 1) * sizeof *lanes->lanes + offsetof(struct lane, ends);
  return lanes->lanes;
}

static size_t memory(const struct nbc_shm_lanes *lanes) {
  return lanes->own.bytes;
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
  return touched;
}

static int close_lanes(struct nbc_shm_lanes *lanes) {
  int touched = 0;
  bool connected = true;
  if (!lanes) return 0;
  for (uint32_t i = 0; i < lanes->count; ++i) connected = connected && lanes->lanes[i].mapped;
  for (uint32_t i = 0; i < lanes->count; ++i) touched |= close_lane(&lanes->lanes[i]);
  pool_give_back(&lanes->own, connected);
  free(lanes);
  return touched;
}

const struct nbc_shm_ops shm_ops = {
    .near = near,
    .make = make,
    .describe = describe,
    .connect = connect_lane,
    .reachable = reachable,
    .hot = hot,
    .memory = memory,
    .send = lane_send,
    .receive = lane_receive,
    .move = lane_move,
    .rest = lanes_rest,
    .lost = lanes_lost,
    .close = close_lanes,
};
