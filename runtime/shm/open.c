// SPDX-License-Identifier: BSD-3-Clause
// open.c - who is on this node, whose memory can be read, and whether each rank has a core.
//
// What is known of a rank (facts) is brought to the others; each looks at those of all ranks that
// may be on its node, and reads a word from their memory to see whether the system allows it.
// Linear in the ranks.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/shm/shm.h"

enum { MOST_CORES = 1024, MASK_WORDS = MOST_CORES / 64 };
#define KEY "nbc.shm.facts"

struct facts {
  char host[128];  // its name, its boot and its /dev/shm
  int64_t pid;
  uint64_t pid_space;        // pids of another mean nothing here
  uint64_t token_at, token;  // there is this number, which is the process'
  struct offer memory;
  uint64_t cores[MASK_WORDS];
};
_Static_assert(sizeof(struct facts) == sizeof(struct nbc_shm_facts), "what travels");

// The same for as long as this process is.
static char host_name[128];
static uint64_t pid_space;
static pthread_once_t named = PTHREAD_ONCE_INIT;

static void name_host(void) {
  char name[65] = "", boot[40] = "";
  gethostname(name, sizeof name - 1);
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file) {
    if (fscanf(file, "%39s", boot) != 1) boot[0] = 0;
    fclose(file);
  }
  struct stat shared;
  unsigned long long device = stat("/dev/shm", &shared) ? 0 : (unsigned long long)shared.st_dev;
  snprintf(host_name, sizeof host_name, "%s %s %llx", name, boot, device);
  struct stat space;
  pid_space = stat("/proc/self/ns/pid", &space) ? 0 : space.st_ino;
}

static void find_facts(struct facts *f) {
  cpu_set_t cores;
  memset(f, 0, sizeof *f);
  pool_enter(&f->memory);
  f->token = *pool_token();
  f->token_at = (uint64_t)(uintptr_t)pool_token();
  pthread_once(&named, name_host);
  memcpy(f->host, host_name, sizeof f->host);
  f->pid = getpid();
  f->pid_space = pid_space;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores)) return;
  for (int i = 0; i < MOST_CORES && i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &cores)) f->cores[i / 64] |= UINT64_C(1) << i % 64;
}

static bool can_read(const struct facts *theirs) {
  uint64_t found = 0;
  struct iovec local = {&found, sizeof found};
  struct iovec remote = {(void *)(uintptr_t)theirs->token_at, sizeof found};
  return process_vm_readv((pid_t)theirs->pid, &local, 1, &remote, 1, 0) == sizeof found &&
         found == theirs->token;
}

static void meet(struct peer *p, const struct facts *mine, const struct facts *theirs,
                 bool never_pull) {
  const bool pids_mean_something = mine->pid_space == theirs->pid_space && mine->pid_space;
  p->near = true;
  p->token = theirs->token;
  p->same = theirs->token == mine->token;
  if (pids_mean_something) p->pid = theirs->pid;
  p->pulls = p->same && !never_pull;
  if (p->same) return;
  p->process = process_watch(p->token, p->pid);
  pool_visit(p->token, &theirs->memory);
  if (never_pull || !p->pid) return;
  // What could be read once is looked at no more; should that change, reading says so.
  p->pulls = (p->process && atomic_load(&p->process->pulled)) || can_read(theirs);
  if (p->process && p->pulls) atomic_store(&p->process->pulled, true);
}

// --- a core for each: a matching, by augmenting paths ---

struct cores {
  const struct facts *const *of;  // of each rank of the node
  int user[MOST_CORES];           // -1: none
  bool seen[MOST_CORES];
};

static bool find_core(struct cores *c, int rank) {
  for (int i = 0; i < MOST_CORES; ++i) {
    if (!(c->of[rank]->cores[i / 64] >> i % 64 & 1) || c->seen[i]) continue;
    c->seen[i] = true;
    if (c->user[i] >= 0 && !find_core(c, c->user[i])) continue;
    c->user[i] = rank;
    return true;
  }
  return false;
}

static bool have_cores(const struct facts *const *of, int ranks) {
  struct cores *c = (struct cores *)malloc(sizeof *c);
  if (!c) return false;
  c->of = of;
  for (int i = 0; i < MOST_CORES; ++i) c->user[i] = -1;
  int found = 0;
  for (; found < ranks && found < MOST_CORES; ++found) {
    memset(c->seen, 0, sizeof c->seen);
    if (!find_core(c, found)) break;
  }
  free(c);
  return found == ranks;
}

// --- opening ---

static const struct facts *facts_of(const struct nbc_shm_facts *f) {
  return (const struct facts *)(const void *)f;
}

static bool believable(const struct facts *f) {
  return memchr(f->host, 0, sizeof f->host) != NULL;
}

static bool same_host(const struct facts *a, const struct facts *b) {
  return believable(a) && believable(b) && strcmp(a->host, b->host) == 0;
}

int nbc_shm_same_node(const struct nbc_shm_facts *a, const struct nbc_shm_facts *b) {
  return a && b && same_host(facts_of(a), facts_of(b));
}

// Whether a rank is to be looked at: it is said to be on this node, or nothing is said.
static bool may_be_near(const struct nbc_shm_options *o, int mine, int rank) {
  return !o->nodes || o->nodes[rank] == o->nodes[mine];
}

// A peer that was killed before all had mapped its memory has left the name.
static void close_device(struct nbc_device *device) {
  struct shm *shm = (struct shm *)device;
  bool died = false;
  for (int r = 0; r < shm->ranks; ++r) {
    died = died || process_died(shm->peers[r].process);
    process_leave(shm->peers[r].process);
  }
  if (!shm->met) pool_met();
  pool_leave();
  if (died) objects_clean();
  numa_close(shm->topology);
  free(shm);
}

int nbc_shm_begin(int rank, int ranks, struct nbc_shm_facts *facts, struct nbc_device **result) {
  if (!facts || !result || ranks < 1 || rank < 0 || rank >= ranks) return NBC_ERROR_ARGUMENT;
  struct shm *shm = (struct shm *)calloc(1, sizeof *shm + (size_t)ranks * sizeof *shm->peers);
  if (!shm) return NBC_ERROR_MEMORY;
  shm->base = (struct nbc_shm){.device = {NBC_SHM_TARGET, close_device}, .ops = &shm_ops};
  shm->rank = rank;
  shm->ranks = ranks;
  struct facts mine;
  find_facts(&mine);
  memcpy(facts, &mine, sizeof mine);
  objects_clean_seldom();
  shm->topology = numa_open();
  *result = &shm->base.device;
  return 0;
}

int nbc_shm_finish(struct nbc_device *device, const struct nbc_shm_facts *of,
                   const struct nbc_shm_options *options) {
  static const struct nbc_shm_options none = {0};
  struct shm *shm = (struct shm *)device;
  const struct nbc_shm_options *o = options ? options : &none;
  if (!device || !of || !believable(facts_of(&of[shm->rank]))) return NBC_ERROR_ARGUMENT;
  const struct facts *mine = facts_of(&of[shm->rank]);
  const struct facts **near = (const struct facts **)malloc((size_t)shm->ranks * sizeof *near);
  if (!near) return NBC_ERROR_MEMORY;
  int count = 0;
  for (int r = 0; r < shm->ranks; ++r) {
    const struct facts *f = facts_of(&of[r]);
    if (!may_be_near(o, shm->rank, r) || (!o->nodes && !same_host(f, mine))) continue;
    meet(&shm->peers[r], mine, f, o->never_pull);
    near[count++] = f;
  }
  shm->near = (uint32_t)count;
  shm->own_cores = have_cores(near, count);
  if (!shm->met) pool_met();
  shm->met = true;
  free(near);
  return 0;
}

// Of the ranks that may be near; what is left zero is of no host.
static int get_facts(const struct nbc_bootstrap *b, const struct nbc_shm_options *o,
                     struct nbc_shm_facts *of) {
  for (int r = 0; r < b->ranks; ++r) {
    size_t bytes = 0;
    if (r == b->rank || !may_be_near(o, b->rank, r)) continue;
    if (b->get(b->context, r, KEY, &of[r], sizeof *of, &bytes) || bytes != sizeof *of)
      return NBC_ERROR_BOOTSTRAP;
  }
  return 0;
}

static int meet_all(struct nbc_device *device, const struct nbc_bootstrap *b,
                    const struct nbc_shm_options *o, const struct nbc_shm_facts *mine) {
  struct nbc_shm_facts *of = (struct nbc_shm_facts *)calloc((size_t)b->ranks, sizeof *of);
  if (!of) return NBC_ERROR_MEMORY;
  of[b->rank] = *mine;
  int status = get_facts(b, o, of);
  if (!status) status = nbc_shm_finish(device, of, o);
  free(of);
  return status;
}

int nbc_shm_open(const struct nbc_bootstrap *b, const struct nbc_shm_options *options,
                 struct nbc_device **result) {
  static const struct nbc_shm_options none = {0};
  struct nbc_shm_facts mine;
  struct nbc_device *device = NULL;
  if (!b || !result || (b->ranks > 1 && (!b->put || !b->get))) return NBC_ERROR_ARGUMENT;
  int status = nbc_shm_begin(b->rank, b->ranks, &mine, &device);
  if (status) return status;
  if (b->ranks > 1 && b->put(b->context, KEY, &mine, sizeof mine)) status = NBC_ERROR_BOOTSTRAP;
  if (!status) status = meet_all(device, b, options ? options : &none, &mine);
  // Also after a failure: others wait here for all, and may still be reading the probe.
  if (b->fence && b->fence(b->context) && !status) status = NBC_ERROR_BOOTSTRAP;
  if (b->forget) b->forget(b->context, "nbc.shm.");
  if (status)
    close_device(device);
  else
    *result = device;
  return status;
}
