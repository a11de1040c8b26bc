// SPDX-License-Identifier: BSD-3-Clause
// pool.c - the memory of a process' plans, in few objects that are mapped once.
//
// To make an object and to map those of the peers takes a plan longer than all else, and to unmap
// them again as long. So plans take pieces of what is there. An object is a sparse file: of 16 MiB,
// the next one of twice as much; what a piece takes of it is reserved with the piece, and kept for
// the next one, or given back where more than 4 MiB are free.
//
// Peers map the first object when they meet, and later ones with the first plan that is there.
//
//   taken     its plan is there
//   leaving   its plan is gone, and a peer may still have a lane in it
//   free
//
// A plan is made in an object that its peers can find: by its name, or because they have it in
// their memory already, which the roll says. Linear in the pieces that are not taken.

#define _GNU_SOURCE  // MADV_POPULATE_WRITE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "runtime/common/pages.h"
#include "runtime/shm/shm.h"

#define FIRST ((size_t)16 << 20)
#define LARGEST ((size_t)256 << 20)  // but for a plan that needs more
#define KEPT ((size_t)4 << 20)       // bytes that are free, and reserved
#define STEP ((size_t)1 << 18)       // what is reserved at once
#define USERS INT32_MAX              // of a guard's word
#define EVER ((uint64_t)1 << 31)

struct range {
  struct range *next;                  // the one behind it
  struct range *next_idle, **to_idle;  // of those that are not taken
  size_t offset, bytes;
  enum { FREE, TAKEN, LEAVING } state;
  size_t part;  // of a piece: bytes of each
  uint32_t parts;
  bool reserved;
  bool dirty;  // not all zero
};

struct mapped {
  struct mapped *next;
  uint64_t token;  // whose
  char name[NAME];
  unsigned char *memory;
  size_t bytes;
  unsigned lanes;
  bool forgotten;  // its process is no peer any more
};

struct own {
  struct own *next;  // an older one
  struct object object;
  struct range *ranges, *idle;
  struct mapped here;  // for threads that are ranks, too
  uint32_t tickets;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t token;  // others read it
static pid_t process;   // whose all this is; under the lock, as is all below
static unsigned devices;
static unsigned meeting;  // of these: their peers are not all known yet
static size_t awaited;
static size_t kept;
static struct own *objects;
static struct mapped *peers;

const uint64_t *pool_token(void) {
  return &token;
}

// --- the roll ---

static struct roll *roll_of(const unsigned char *memory) {
  return (struct roll *)(void *)memory;
}

static _Atomic uint64_t *find_in(struct roll *r, uint64_t wanted) {
  for (int i = 0; i < ROLL; ++i)
    if (atomic_load(&r->processes[i]) == wanted) return &r->processes[i];
  return NULL;
}

static void strike(struct roll *r, uint64_t gone) {
  _Atomic uint64_t *at = find_in(r, gone);
  if (at) atomic_store(at, 0);
}

static size_t count(struct roll *r) {
  size_t n = 0;
  for (int i = 0; i < ROLL; ++i) n += atomic_load(&r->processes[i]) != 0;
  return n;
}

static bool has_name(struct roll *r) {
  return atomic_load(&r->awaited) != 0;
}

static void unname_if_all_have(struct roll *r, const char name[NAME]) {
  uint64_t now = atomic_load(&r->awaited);
  while (now && count(r) + 1 >= now) {
    if (!atomic_compare_exchange_strong(&r->awaited, &now, 0)) continue;
    object_unname(name);
    return;
  }
}

// Where there is no room, the name stays.
static void enrol(struct roll *r) {
  if (find_in(r, token)) return;
  for (int i = 0; i < ROLL; ++i) {
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&r->processes[i], &none, token)) return;
  }
}

// One for the object, and one for each process.
static uint64_t now_awaited(void) {
  return meeting ? UINT64_MAX : awaited + 1;
}

static void await_all(void) {
  for (struct own *o = objects; o; o = o->next) {
    struct roll *r = roll_of(o->object.memory);
    uint64_t now = atomic_load(&r->awaited);
    while (now && !atomic_compare_exchange_strong(&r->awaited, &now, now_awaited())) {
    }
    unname_if_all_have(r, o->here.name);
  }
}

void pool_await(size_t processes) {
  pthread_mutex_lock(&lock);
  awaited = processes;
  await_all();
  pthread_mutex_unlock(&lock);
}

// --- pieces ---

static struct guard *guard_at(void *part) {
  return (struct guard *)part;
}

static struct guard *guard_of(const struct own *o, const struct range *r, uint32_t part) {
  return guard_at(o->object.memory + r->offset + part * r->part);
}

static void make_idle(struct own *o, struct range *r) {
  r->next_idle = o->idle;
  r->to_idle = &o->idle;
  if (o->idle) o->idle->to_idle = &r->next_idle;
  o->idle = r;
}

static void end_idle(struct range *r) {
  *r->to_idle = r->next_idle;
  if (r->next_idle) r->next_idle->to_idle = r->to_idle;
}

static bool is_left(const struct own *o, const struct range *r) {
  for (uint32_t i = 0; i < r->parts; ++i) {
    const uint64_t now = atomic_load(&guard_of(o, r, i)->users);
    if (now & USERS || (now >> 32 && !(now & EVER))) return false;
  }
  return true;
}

static void release(const struct own *o, struct range *r) {
  object_release(&o->object, r->offset, r->bytes);
  r->reserved = r->dirty = false;
}

static void look_at(const struct own *o, struct range *r) {
  if (r->state != LEAVING || !is_left(o, r)) return;
  r->state = FREE;
  if (kept + r->bytes > KEPT)
    release(o, r);
  else
    kept += r->bytes;
}

static void join(struct range *r) {
  for (struct range *next; (next = r->next) && r->state == FREE && next->state == FREE &&
                           r->reserved == next->reserved;) {
    r->bytes += next->bytes;
    r->dirty = r->dirty || next->dirty;
    r->next = next->next;
    end_idle(next);
    free(next);
  }
}

// The first that is large enough, of those that are reserved if there is one.
static struct range *find_range(const struct own *o, size_t bytes) {
  struct range *found = NULL;
  for (struct range *r = o->idle; r; r = r->next_idle) look_at(o, r);
  for (struct range *r = o->idle; r; r = r->next_idle) join(r);
  for (struct range *r = o->idle; r; r = r->next_idle) {
    if (r->state != FREE || r->bytes < bytes) continue;
    const bool alike = found && r->reserved == found->reserved;
    if (!found || (alike ? r->offset < found->offset : r->reserved)) found = r;
  }
  return found;
}

static bool is_unused(const struct own *o) {
  for (const struct range *r = o->ranges; r; r = r->next)
    if (r->state == TAKEN) return false;
  return o->here.lanes == 0;
}

static void destroy(struct own *o) {
  struct own **at = &objects;
  while (*at != o) at = &(*at)->next;
  *at = o->next;
  if (has_name(roll_of(o->object.memory))) object_unname(o->here.name);
  object_close(&o->object);
  for (struct range *r = o->ranges, *next; r; r = next) {
    if (r->state == FREE && r->reserved) kept -= r->bytes;
    next = r->next;
    free(r);
  }
  free(o);
}

static int add_object(size_t bytes) {
  size_t size = objects ? 2 * objects->object.bytes : FIRST;
  if (size > LARGEST) size = LARGEST;
  while (size < bytes + PAGE) size *= 2;
  struct own *o = (struct own *)calloc(1, sizeof *o);
  struct range *all = (struct range *)calloc(1, sizeof *all);
  int failed = o && all ? object_make(&o->object, size) : ENOMEM;
  if (!failed) failed = object_reserve(&o->object, 0, PAGE, NULL);
  if (failed) {
    if (o && o->object.memory) object_unname(o->object.name);
    if (o) object_close(&o->object);
    free(all);
    free(o);
    return failed;
  }
  *all = (struct range){.offset = PAGE, .bytes = size - PAGE};
  o->ranges = all;
  make_idle(o, all);
  o->here.memory = o->object.memory;
  o->here.bytes = size;
  memcpy(o->here.name, o->object.name, NAME);
  atomic_store(&roll_of(o->object.memory)->awaited, now_awaited());
  o->next = objects;
  objects = o;
  return 0;
}

// What is free, of all objects, back to the system.
static void release_all(void) {
  for (const struct own *o = objects; o; o = o->next)
    for (struct range *r = o->idle; r; r = r->next_idle)
      if (r->state == FREE && r->reserved) {
        kept -= r->bytes;
        release(o, r);
      }
}

// What is behind its first bytes is a range of its own.
static int split(struct own *o, struct range *r, size_t bytes) {
  if (r->bytes == bytes) return 0;
  struct range *rest = (struct range *)malloc(sizeof *rest);
  if (!rest) return ENOMEM;
  *rest = *r;
  rest->offset += bytes;
  rest->bytes -= bytes;
  r->next = rest;
  r->bytes = bytes;
  make_idle(o, rest);
  return 0;
}

// Somewhat more than is needed now.
static int reserve(struct own *o, struct range *r, size_t bytes, void *topology) {
  size_t step = bytes < STEP ? STEP : bytes;
  if (step > r->bytes) step = r->bytes;
  int failed = object_reserve(&o->object, r->offset, step, topology);
  if (failed == ENOSPC && (kept || step > bytes)) {
    release_all();
    step = bytes;
    failed = object_reserve(&o->object, r->offset, step, topology);
  }
  if (!failed) failed = split(o, r, step);
  if (failed) return failed;
  r->reserved = true;
  kept += step;
  return 0;
}

// 0, or an error number.
static int take(struct own *o, struct range *r, size_t bytes, void *topology) {
  int failed = r->reserved ? 0 : reserve(o, r, bytes, topology);
  if (!failed) failed = split(o, r, bytes);
  if (failed) return failed;
  kept -= bytes;
  if (++o->tickets == 0) ++o->tickets;
  r->state = TAKEN;
  end_idle(r);
  return 0;
}

static void prepare(const struct own *o, struct range *r, size_t first) {
  const bool together = r->part < 2 * first;  // there is little else
  if (together) fetch_pages(guard_of(o, r, 0), r->parts * r->part);
  for (uint32_t i = 0; i < r->parts; ++i) {
    if (!together) fetch_pages(guard_of(o, r, i), first);
    struct guard *guard = guard_of(o, r, i);
    if (r->dirty) memset(guard, 0, first);
    guard->bytes = r->part;
    atomic_store(&guard->users, (uint64_t)o->tickets << 32);
  }
  r->dirty = true;
}

static bool is_held_by(const struct own *o, const struct peer *peer) {
  return peer->same || find_in(roll_of(o->object.memory), peer->token);
}

static bool is_found_by(const struct own *o, const struct shm *shm, const uint32_t *ranks,
                        uint32_t ranks_count) {
  if (has_name(roll_of(o->object.memory))) return true;
  for (uint32_t i = 0; i < ranks_count; ++i)
    if (!is_held_by(o, &shm->peers[ranks[i]])) return false;
  return true;
}

static int refuse(size_t bytes, int error, const char **why) {
  static _Thread_local char text[160];
  snprintf(text, sizeof text, "no %zu bytes of /dev/shm for its messages: %s", bytes,
           strerror(error));
  *why = text;
  return NBC_ERROR_MEMORY;
}

int pool_take(const struct shm *shm, const uint32_t *ranks, uint32_t count, size_t bytes,
              size_t first, struct piece *p, const char **why) {
  size_t all = 0;
  int failed = __builtin_mul_overflow(bytes, count, &all) || all > SIZE_MAX / 4 ? ENOMEM : 0;
  const size_t whole = (all + PAGE - 1) / PAGE * PAGE;
  struct own *o = NULL;
  struct range *r = NULL;
  pthread_mutex_lock(&lock);
  // All of them, as what peers have left is seen here alone.
  for (struct own *at = objects; at && !failed; at = at->next) {
    struct range *found = find_range(at, whole);
    if (r || !found || !is_found_by(at, shm, ranks, count)) continue;
    o = at;
    r = found;
  }
  if (!r && !failed && !(failed = add_object(whole))) {
    o = objects;
    r = o->ranges;
  }
  if (!failed) failed = take(o, r, whole, shm->topology);
  if (!failed) {
    r->part = bytes;
    r->parts = count;
    *p = (struct piece){o, r, o->object.memory + r->offset, all, o->tickets};
    prepare(o, r, first);
  } else if (o && !o->ranges->next) {
    destroy(o);  // there has been nothing in it
  }
  pthread_mutex_unlock(&lock);
  return failed ? refuse(all, failed, why) : 0;
}

static void destroy_unused(void) {
  for (struct own *o = objects, *next; o && devices == 0; o = next) {
    next = o->next;
    if (is_unused(o)) destroy(o);
  }
}

// Whoever comes late finds its part as it was left.
static void close_guard(struct guard *g, bool is_awaited) {
  uint64_t now = atomic_load(&g->users);
  while ((now & EVER || !is_awaited) &&
         !atomic_compare_exchange_weak(&g->users, &now, now & (USERS | EVER))) {
  }
}

void pool_give_back(struct piece *p, bool is_awaited) {
  if (!p->of) return;
  pthread_mutex_lock(&lock);
  struct range *r = p->range;
  for (uint32_t i = 0; i < r->parts; ++i) close_guard(guard_of(p->of, r, i), is_awaited);
  r->state = LEAVING;
  make_idle(p->of, r);
  look_at(p->of, r);
  destroy_unused();
  pthread_mutex_unlock(&lock);
  *p = (struct piece){0};
}

bool pool_has(const struct piece *p, const struct peer *peer) {
  return is_held_by(p->of, peer);
}

void pool_describe(const struct piece *p, struct nbc_shm_address *a) {
  memcpy(a->name, p->of->here.name, sizeof a->name);
  a->bytes = p->of->object.bytes;
  a->offset = (uint64_t)(p->memory - p->of->object.memory);
  a->ticket = p->ticket;
}

// --- peers' objects ---

static struct mapped *find_mapped(const char name[NAME]) {
  for (struct own *o = objects; o; o = o->next)
    if (memcmp(o->here.name, name, NAME) == 0) return &o->here;
  struct mapped *m = peers;
  while (m && memcmp(m->name, name, NAME) != 0) m = m->next;
  return m;
}

static int add_mapped(uint64_t whose, const char name[NAME], size_t bytes, struct mapped **result) {
  struct mapped *m = (struct mapped *)calloc(1, sizeof *m);
  void *memory = NULL;
  if (!m) return NBC_ERROR_MEMORY;
  const int status = bytes > PAGE ? object_find(name, bytes, &memory) : NBC_ERROR_BOOTSTRAP;
  if (status) {
    free(m);
    return status;
  }
  *m = (struct mapped){
      .next = peers, .token = whose, .memory = (unsigned char *)memory, .bytes = bytes};
  memcpy(m->name, name, NAME);
  peers = m;
  *result = m;
  return 0;
}

static int find_or_map(uint64_t whose, const char name[NAME], size_t bytes,
                       struct mapped **result) {
  *result = find_mapped(name);
  const int status = *result ? 0 : add_mapped(whose, name, bytes, result);
  if (status) return status;
  (*result)->forgotten = false;
  if (whose != token) enrol(roll_of((*result)->memory));
  unname_if_all_have(roll_of((*result)->memory), name);
  return 0;
}

static void drop(struct mapped *m) {
  struct mapped **at = &peers;
  while (*at != m) at = &(*at)->next;
  *at = m->next;
  strike(roll_of(m->memory), token);
  munmap(m->memory, m->bytes);
  free(m);
}

// One peer more, if that is what the ticket was for.
static bool use(struct guard *g, uint32_t ticket) {
  uint64_t now = atomic_load(&g->users);
  while (ticket && now >> 32 == ticket && (now & USERS) < USERS)
    if (atomic_compare_exchange_weak(&g->users, &now, (now | EVER) + 1)) return true;
  return false;
}

int pool_map(uint64_t whose, const struct nbc_shm_address *a, size_t first, struct mapped **result,
             unsigned char **inbox) {
  struct mapped *m;
  pthread_mutex_lock(&lock);
  int status = find_or_map(whose, a->name, a->bytes, &m);
  if (!status && m->bytes != a->bytes) status = NBC_ERROR_BOOTSTRAP;
  if (!status) fetch_pages(m->memory + a->offset, first);
  if (!status && !use(guard_at(m->memory + a->offset), a->ticket)) status = NBC_ERROR_BOOTSTRAP;
  if (!status) {
    ++m->lanes;
    *result = m;
    *inbox = m->memory + a->offset;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

void pool_unmap(struct mapped *m, void *inbox) {
  atomic_fetch_sub(&guard_at(inbox)->users, 1);
  pthread_mutex_lock(&lock);
  if (--m->lanes == 0) {
    if (m->forgotten) drop(m);
    destroy_unused();
  }
  pthread_mutex_unlock(&lock);
}

void pool_forget(uint64_t gone) {
  pthread_mutex_lock(&lock);
  for (struct own *o = objects; o; o = o->next) strike(roll_of(o->object.memory), gone);
  for (struct mapped *m = peers, *next; m; m = next) {
    next = m->next;
    if (m->token != gone) continue;
    m->forgotten = true;
    if (m->lanes == 0) drop(m);
  }
  pthread_mutex_unlock(&lock);
}

// --- devices ---

// A child of a process with devices has none of them; what it was told of the pool stays as it is.
static void begin_anew(void) {
  struct timespec now;
  process = getpid();
  devices = meeting = 0;
  awaited = kept = 0;
  objects = NULL;
  peers = NULL;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (getrandom(&token, sizeof token, 0) != sizeof token)
    token = (uint64_t)process << 32 ^ (uint64_t)now.tv_nsec;
  token |= 1;  // not 0
}

void pool_enter(struct offer *offer) {
  pthread_mutex_lock(&lock);
  if (process != getpid()) begin_anew();
  ++devices;
  ++meeting;
  await_all();
  if (!objects) (void)add_object(0);  // or when the first plan is made, which can say why not
  *offer = (struct offer){0};
  if (objects) {
    memcpy(offer->name, objects->here.name, NAME);
    offer->bytes = objects->here.bytes;
  }
  pthread_mutex_unlock(&lock);
}

void pool_visit(uint64_t whose, const struct offer *offer) {
  struct mapped *m;
  if (!offer->name[0]) return;
  pthread_mutex_lock(&lock);
  (void)find_or_map(whose, offer->name, offer->bytes, &m);
  pthread_mutex_unlock(&lock);
}

void pool_met(void) {
  pthread_mutex_lock(&lock);
  --meeting;
  await_all();
  pthread_mutex_unlock(&lock);
}

void pool_leave(void) {
  pthread_mutex_lock(&lock);
  --devices;
  destroy_unused();
  pthread_mutex_unlock(&lock);
}
