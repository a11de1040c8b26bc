// SPDX-License-Identifier: BSD-3-Clause
// calls.c - calls whose results are known, byte for byte.

#include "test/mpi/calls.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/runtime/template_file.h"

enum { GUARD = 32 };

struct world world;

#define COMPLAIN(...)                                                                   \
  do {                                                                                  \
    if (world.wrong++ < 5) {                                                            \
      fprintf(stderr, "%s: rank %d of %d: ", world.file_name, world.rank, world.ranks); \
      fprintf(stderr, __VA_ARGS__);                                                     \
      fputc('\n', stderr);                                                              \
    }                                                                                   \
  } while (0)

void must(int status, const char *what) {
  if (status == 0) return;
  fprintf(stderr, "%s: rank %d of %d: %s: %s\n", world.file_name, world.rank, world.ranks, what,
          nbc_status_text(status));
  world.stop();
}

static const struct {
  enum nbc_type nbc;
  size_t size;
} types[] = {{NBC_I32, 4}, {NBC_U64, 8}, {NBC_F64, 8}};

// Of each rank and call another; small enough for sums of doubles to be exact.
static uint64_t value(int from, int call, size_t i) {
  return ((uint64_t)from * 1000003u + (uint64_t)call * 7919u + i * 31u + 1) % 65521;
}

static void store(void *memory, size_t i, int type, uint64_t v) {
  if (types[type].nbc == NBC_I32) {
    int32_t x = (int32_t)v;
    memcpy((char *)memory + i * 4, &x, 4);
  } else if (types[type].nbc == NBC_U64) {
    memcpy((char *)memory + i * 8, &v, 8);
  } else {
    double x = (double)v;
    memcpy((char *)memory + i * 8, &x, 8);
  }
}

// All ranks are on one host, with one clock; MPI_Wtime may begin anywhere on each.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// --- what the kinds mean ---

struct shape {
  const char *name;
  bool in_row, out_row, rooted;  // a block for each rank, or neighbour; only the root has it
  bool neighbors;
};
static const struct shape shapes[NBC_KINDS] = {
    [NBC_ALLGATHER] = {"allgather", .out_row = true},
    [NBC_ALLTOALL] = {"alltoall", .in_row = true, .out_row = true},
    [NBC_ALLREDUCE] = {"allreduce"},
    [NBC_REDUCE] = {"reduce", .rooted = true},
    [NBC_BCAST] = {"bcast", .rooted = true},
    [NBC_GATHER] = {"gather", .out_row = true, .rooted = true},
    [NBC_SCATTER] = {"scatter", .in_row = true, .rooted = true},
    [NBC_BARRIER] = {"barrier"},
    [NBC_REDUCE_SCATTER] = {"reduce_scatter", .in_row = true},
    [NBC_REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block", .in_row = true},
    [NBC_SCAN] = {"scan"},
    [NBC_EXSCAN] = {"exscan"},
    [NBC_NEIGHBOR_ALLGATHER] = {"neighbor_allgather", .out_row = true, .neighbors = true},
    [NBC_NEIGHBOR_ALLTOALL] = {"neighbor_alltoall", .in_row = true, .out_row = true,
                               .neighbors = true},
};

// Blocks of a row. Neighbours are those of a ring of at least three ranks: before and behind.
static size_t blocks(const struct shape *s, bool row) {
  return !row ? 1 : s->neighbors ? 2 : (size_t)world.ranks;
}

static int neighbor(size_t block) {
  return (world.rank + (block ? 1 : world.ranks - 1)) % world.ranks;
}

// Element i of `out`, or of bcast's buffer; block b of what rank r gives begins at element b n.
static uint64_t result(uint32_t kind, int root, int call, size_t n, size_t i) {
  uint64_t sum = 0;
  switch ((enum nbc_kind)kind) {
    case NBC_ALLGATHER:
    case NBC_GATHER:
      return value((int)(i / n), call, i % n);
    case NBC_ALLTOALL:
      return value((int)(i / n), call, (size_t)world.rank * n + i % n);
    case NBC_SCATTER:
      return value(root, call, (size_t)world.rank * n + i);
    case NBC_BCAST:
      return value(root, call, i);
    case NBC_ALLREDUCE:
    case NBC_REDUCE:
    case NBC_SCAN:
    case NBC_EXSCAN: {
      int last = kind == NBC_SCAN     ? world.rank
                 : kind == NBC_EXSCAN ? world.rank - 1
                                      : world.ranks - 1;
      for (int r = 0; r <= last; ++r) sum += value(r, call, i);
      return sum;
    }
    case NBC_REDUCE_SCATTER:
    case NBC_REDUCE_SCATTER_BLOCK:
      for (int r = 0; r < world.ranks; ++r) sum += value(r, call, (size_t)world.rank * n + i);
      return sum;
    case NBC_NEIGHBOR_ALLGATHER:
      return value(neighbor(i / n), call, i % n);
    case NBC_NEIGHBOR_ALLTOALL:  // of the rank before, what it has for the rank behind it
      return value(neighbor(i / n), call, (1 - i / n) * n + i % n);
    case NBC_BARRIER:
    case NBC_OWN:
    case NBC_KINDS:
      break;
  }
  return 0;
}

// --- one call ---

struct flight {
  nbc_request request;
  char *in, *out, *before;  // before: `out` as it was, with its guard
  size_t n, in_elements, out_elements, out_bytes;
  int call, type;
  double started;
};

static bool placed(uint32_t kind, int root, int call) {
  bool has = kind != NBC_BCAST && kind != NBC_BARRIER && !shapes[kind].neighbors;
  return world.in_place && has && call % 2 && (!shapes[kind].rooted || world.rank == root);
}

// Where MPI_IN_PLACE says that the contribution is, in elements of `out`.
static size_t placed_at(uint32_t kind, size_t n) {
  return kind == NBC_ALLGATHER || kind == NBC_GATHER ? (size_t)world.rank * n : 0;
}

static void begin(struct flight *f, nbc_plan *plan, uint32_t kind, int root, int call, size_t n) {
  const struct shape *s = &shapes[kind];
  bool here = placed(kind, root, call);
  f->n = n;
  f->call = call;
  f->type = call % (int)(sizeof types / sizeof *types);
  size_t size = types[f->type].size;
  f->in_elements = n * blocks(s, s->in_row);
  f->out_elements = n * blocks(s, s->out_row);
  // In place `out` begins as `in`, which may be longer than the result.
  size_t room = f->out_elements > f->in_elements ? f->out_elements : f->in_elements;
  f->out_bytes = room * size + GUARD;
  f->in = (char *)malloc(f->in_elements * size + 1);
  f->out = (char *)malloc(f->out_bytes);
  f->before = (char *)malloc(f->out_bytes);
  if (!f->in || !f->out || !f->before) must(NBC_ERROR_MEMORY, "buffers");
  for (size_t i = 0; i < f->in_elements; ++i) store(f->in, i, f->type, value(world.rank, call, i));
  memset(f->out, 0x5a, f->out_bytes);
  if (kind == NBC_BCAST && world.rank == root) memcpy(f->out, f->in, n * size);
  if (here && kind != NBC_SCATTER) {
    size_t elements = kind == NBC_ALLGATHER || kind == NBC_GATHER ? n : f->in_elements;
    memcpy(f->out + placed_at(kind, n) * size, f->in, elements * size);
  }
  memcpy(f->before, f->out, f->out_bytes);
  struct nbc_call c = {.in = here ? NBC_IN_PLACE : f->in,
                       .out = f->out,
                       .data = f->out,
                       .count = n,
                       .type = types[f->type].nbc,
                       .op = NBC_SUM};
  if (here && kind == NBC_SCATTER) c.in = f->in, c.out = NBC_IN_PLACE;
  f->started = now();
  must(nbc_start(plan, &c, &f->request), "start");
}

// Where this rank's `out` is not looked at, it must be as it was.
static bool has_result(uint32_t kind, int root, int call) {
  if (kind == NBC_BARRIER || (kind == NBC_EXSCAN && world.rank == 0)) return false;
  if (kind == NBC_SCATTER) return !placed(kind, root, call);
  return !shapes[kind].rooted || kind == NBC_BCAST || world.rank == root;
}

static void compare(struct flight *f, uint32_t kind, int root) {
  size_t size = types[f->type].size, bytes = f->out_elements * size;
  bool result_here = has_result(kind, root, f->call);
  bool by_another = world.by_another && !shapes[kind].neighbors;  // MPI's need a topology
  char *wanted = (char *)malloc(f->out_bytes), *another = (char *)malloc(f->out_bytes);
  if (!wanted || !another) must(NBC_ERROR_MEMORY, "buffers");
  memcpy(wanted, f->before, f->out_bytes);
  if (kind == NBC_BCAST && world.rank == root)
    memcpy(another, f->before, f->out_bytes);
  else
    memset(another, 0x5a, f->out_bytes);
  for (size_t i = 0; i < f->out_elements && result_here; ++i)
    store(wanted, i, f->type, result(kind, root, f->call, f->n, i));
  if (by_another) world.by_another(kind, root, f->in, another, f->n, types[f->type].nbc);
  // In place, what is behind the result of reduce_scatter is unspecified.
  bool whole = !(placed(kind, root, f->call) && shapes[kind].in_row && !shapes[kind].out_row);
  size_t checked = whole ? f->out_bytes : bytes;
  bool loose = kind == NBC_EXSCAN && world.rank == 0;  // may hold anything
  for (size_t i = loose ? bytes : 0; i < checked; ++i)
    if (f->out[i] != wanted[i]) {
      COMPLAIN("call %d of %zu elements: byte %zu is %#x instead of %#x", f->call, f->n, i,
               (unsigned char)f->out[i], (unsigned char)wanted[i]);
      break;
    }
  if (result_here && by_another && memcmp(f->out, another, bytes))
    COMPLAIN("call %d of %zu elements: not what MPI_%s says", f->call, f->n, shapes[kind].name);
  free(wanted);
  free(another);
}

// Nobody may leave before the last has come.
static void compare_times(double started) {
  double ended = now(), last = world.latest(started);
  if (last > ended) COMPLAIN("left the barrier %g s before the last has come", last - ended);
}

static void end(struct flight *f, uint32_t kind, int root, bool by_test) {
  int done = 0;
  while (by_test && !done) {
    must(nbc_test(&f->request, &done), "test");
    if (!done) sched_yield();  // ranks outnumber cores: the one that is waited for may have none
  }
  if (!by_test) must(nbc_wait(&f->request), "wait");
  if (kind == NBC_BARRIER)
    compare_times(f->started);
  else
    compare(f, kind, root);
  free(f->in);
  free(f->out);
  free(f->before);
}

// --- a file ---

static struct nbc_template *own_template(char **memory) {
  size_t bytes;
  *memory = read_templates(world.file_name, &bytes);
  if (!*memory) must(NBC_ERROR_ARGUMENT, "cannot be read");
  struct nbc_template *t = template_of(*memory, bytes, world.ranks, world.rank);
  if (!t) must(NBC_ERROR_TEMPLATE, "holds no template of this rank");
  return t;
}

int read_lengths(const char *list, size_t lengths[MOST_LENGTHS]) {
  for (int count = 0; count < MOST_LENGTHS;) {
    char *end;
    lengths[count++] = strtoull(list, &end, 10);
    if (end == list) return 0;
    if (*end == 0) return count;
    if (*end != ',') return 0;
    list = end + 1;
  }
  return 0;
}

int check_file(nbc_comm *comm, const char *name, const struct variation *v) {
  char *memory;
  world.file_name = name;
  struct nbc_template *t = own_template(&memory);
  nbc_plan *plan;
  const char *why = "";
  if (nbc_template_check(t, t->bytes, &why)) COMPLAIN("%s", why);
  must(nbc_plan_create(comm, t, t->bytes, &v->options, &plan), "plan");
  must(nbc_plan_connect(plan), "connect");
  int calls = 0;
  uint32_t kind = t->kind;
  const int several = v->flights < v->count ? v->flights : v->count;
  for (int flights = 1; flights <= several; flights += several > 1 ? several - 1 : 1)
    for (int first = 0; first + flights <= v->count; first += flights) {
      struct flight flight[MOST_FLIGHTS];
      // Some ranks come late, some look before others do.
      for (int i = 0; i < flights; ++i)
        begin(&flight[i], plan, kind, (int)t->root, calls + i, v->lengths[first + i]);
      for (int i = 0; i < flights; ++i)
        end(&flight[i], kind, (int)t->root, (world.rank + i + first) % 2);
      calls += flights;
    }
  world.latest(0);  // no rank ends a plan before all ranks' calls of it are done
  must(nbc_plan_free(plan), "free");
  free(memory);
  return calls;
}

int tell(int files, int calls) {
  if (world.rank == 0 && !world.wrong)
    printf("%d algorithm%s on %d rank%s: %d calls, all right\n", files, files == 1 ? "" : "s",
           world.ranks, world.ranks == 1 ? "" : "s", calls);
  return world.wrong != 0;
}
