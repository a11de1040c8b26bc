// SPDX-License-Identifier: BSD-3-Clause
// pool.c - the memory of a process' plans, in few objects that are mapped once.
//
// To make an object and to map those of the peers takes a plan longer than all else, and to unmap
// them again as long. So plans take pieces of what is there. An object is a sparse file: of 16 MiB,
// the next one of twice as much; what a piece takes of it is reserved with the piece, and kept for
// the next one, or given back where more than a MiB is free.
//
// Peers map the first object when they meet, and later ones with the first plan that is there.
//
//   taken     its plan is there
//   leaving   its plan is gone, and a peer may still have a lane in it
//   free
//
// A plan is made in an object that its peers can find: by its name, or because they have it in
// their memory already, which the roll says. Linear in the pieces of a process.

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "runtime/shm/shm.h"

#define FIRST ((size_t)16 << 20)
#define KEPT ((size_t)1 << 20)  // bytes that are free, and reserved
#define USERS UINT32_MAX        // of a head's word

struct range {
  struct range *next;  // the one behind it
  size_t offset, bytes;
  enum { FREE, TAKEN, LEAVING } state;
  bool reserved;
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
  struct range *ranges;
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

// One for the object, and one for each process.
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

static struct head *head_at(const struct own *o, size_t offset) {
  return (struct head *)(void *)(o->object.memory + offset);
}

static void release(const struct own *o, struct range *r) {
  object_release(&o->object, r->offset, r->bytes);
  r->reserved = false;
}

static void look_at(const struct own *o, struct range *r) {
  if (r->state != LEAVING || atomic_load(&head_at(o, r->offset)->users)) return;
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
    r->next = next->next;
    free(next);
  }
}

// The first that is large enough, of those that are reserved if there is one.
static struct range *find_range(const struct own *o, size_t bytes) {
  struct range *found = NULL;
  for (struct range *r = o->ranges; r; r = r->next) {
    look_at(o, r);
    if (r->next) look_at(o, r->next);
    join(r);
    if (r->state != FREE || r->bytes < bytes) continue;
    if (!found || (r->reserved && !found->reserved)) found = r;
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
  while (size < bytes + PAGE) size *= 2;
  struct own *o = (struct own *)calloc(1, sizeof *o);
  struct range *all = (struct range *)calloc(1, sizeof *all);
  int failed = o && all ? object_make(&o->object, size) : ENOMEM;
  if (!failed) failed = object_reserve(&o->object, 0, PAGE, NULL);
  if (failed) {
    if (o) object_close(&o->object);
    free(all);
    free(o);
    return failed;
  }
  *all = (struct range){.offset = PAGE, .bytes = size - PAGE};
  o->ranges = all;
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
    for (struct range *r = o->ranges; r; r = r->next)
      if (r->state == FREE && r->reserved) {
        kept -= r->bytes;
        release(o, r);
      }
}

// `used`: bytes of it. 0, or an error number.
static int take(struct own *o, struct range *r, size_t bytes, size_t used, void *topology,
                struct piece *p) {
  struct range *rest = NULL;
  if (r->bytes > bytes && !(rest = (struct range *)calloc(1, sizeof *rest))) return ENOMEM;
  if (!r->reserved) {
    int failed = object_reserve(&o->object, r->offset, bytes, topology);
    if (failed == ENOSPC && kept) {
      release_all();
      failed = object_reserve(&o->object, r->offset, bytes, topology);
    }
    if (failed) {
      free(rest);
      return failed;
    }
  }
  if (rest) {
    *rest = (struct range){r->next, r->offset + bytes, r->bytes - bytes, FREE, r->reserved};
    r->next = rest;
    r->bytes = bytes;
  }
  if (r->reserved) kept -= bytes;
  if (++o->tickets == 0) ++o->tickets;
  *p = (struct piece){o, o->object.memory + r->offset, used, o->tickets, r->reserved};
  r->state = TAKEN;
  r->reserved = true;
  struct head *head = head_at(o, r->offset);
  head->bytes = used;
  atomic_store(&head->users, (uint64_t)p->ticket << 32);
  return 0;
}

static bool is_found_by(const struct own *o, const struct shm *shm, const uint32_t *ranks,
                        uint32_t ranks_count) {
  struct roll *roll = roll_of(o->object.memory);
  if (has_name(roll)) return true;
  for (uint32_t i = 0; i < ranks_count; ++i) {
    const struct peer *peer = &shm->peers[ranks[i]];
    if (!peer->same && !find_in(roll, peer->token)) return false;
  }
  return true;
}

static int refuse(size_t bytes, int error, const char **why) {
  static _Thread_local char text[160];
  snprintf(text, sizeof text, "no %zu bytes of /dev/shm for its messages: %s", bytes,
           strerror(error));
  *why = text;
  return NBC_ERROR_MEMORY;
}

int pool_take(const struct shm *shm, size_t bytes, const uint32_t *ranks, uint32_t ranks_count,
              struct piece *p, const char **why) {
  const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
  int failed = whole < bytes || whole > SIZE_MAX / 4 ? ENOMEM : 0;
  pthread_mutex_lock(&lock);
  struct own *o = NULL;
  struct range *r = NULL;
  // All of them, as what peers have left is seen here alone.
  for (struct own *at = objects; at && !failed; at = at->next) {
    struct range *found = find_range(at, whole);
    if (r || !found || !is_found_by(at, shm, ranks, ranks_count)) continue;
    o = at;
    r = found;
  }
  if (!r && !failed && !(failed = add_object(whole))) {
    o = objects;
    r = o->ranges;
  }
  if (!failed) failed = take(o, r, whole, bytes, shm->topology, p);
  if (failed && o && !o->ranges->next) destroy(o);  // there has been nothing in it
  pthread_mutex_unlock(&lock);
  return failed ? refuse(bytes, failed, why) : 0;
}

static void destroy_unused(void) {
  for (struct own *o = objects, *next; o && devices == 0; o = next) {
    next = o->next;
    if (is_unused(o)) destroy(o);
  }
}

void pool_give_back(struct piece *p) {
  if (!p->of) return;
  pthread_mutex_lock(&lock);
  struct range *r = p->of->ranges;
  while (p->of->object.memory + r->offset != p->memory) r = r->next;
  atomic_fetch_and(&head_at(p->of, r->offset)->users, USERS);
  r->state = LEAVING;
  look_at(p->of, r);
  destroy_unused();
  pthread_mutex_unlock(&lock);
  *p = (struct piece){0};
}

void pool_describe(const struct piece *p, struct nbc_shm_address *a) {
  memcpy(a->name, p->of->here.name, sizeof a->name);
  a->bytes = p->of->object.bytes;
  a->piece = (uint64_t)(p->memory - p->of->object.memory);
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
  *m = (struct mapped){peers, whose, "", (unsigned char *)memory, bytes, 0, false};
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

// One lane more, if the plan whose ticket this is is there.
static bool use(struct head *h, uint32_t ticket) {
  uint64_t now = atomic_load(&h->users);
  while (ticket && now >> 32 == ticket && (now & USERS) < USERS)
    if (atomic_compare_exchange_weak(&h->users, &now, now + 1)) return true;
  return false;
}

int pool_map(uint64_t whose, const struct nbc_shm_address *a, struct mapped **result,
             struct head **head, unsigned char **memory) {
  if (a->piece % PAGE || a->piece < PAGE || a->bytes < PAGE || a->piece > a->bytes - PAGE)
    return NBC_ERROR_BOOTSTRAP;
  pthread_mutex_lock(&lock);
  struct mapped *m;
  int status = find_or_map(whose, a->name, a->bytes, &m);
  struct head *h = status ? NULL : (struct head *)(void *)(m->memory + a->piece);
  if (!status && (m->bytes != a->bytes || !use(h, a->ticket))) status = NBC_ERROR_BOOTSTRAP;
  if (!status) {
    ++m->lanes;
    m->forgotten = false;
    *result = m;
    *head = h;
    *memory = m->memory;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

void pool_unmap(struct mapped *m, struct head *h) {
  atomic_fetch_sub(&h->users, 1);
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

uint64_t pool_enter(struct offer *offer) {
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
  const uint64_t mine = token;
  pthread_mutex_unlock(&lock);
  return mine;
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
