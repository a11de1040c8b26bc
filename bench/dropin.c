// SPDX-License-Identifier: BSD-3-Clause
// dropin.c - what collective calls cost in a row, of an MPI program that knows nothing of nbcc.
//
//   bench-dropin-openmpi [--threads] [--nonblocking|--waitall] [--vary|--fresh|--apart|--first|
//                        --behind|--made|--alone] COLLECTIVE BYTES...
//
// Bytes are those of a block, or of the vector: of doubles where it reduces, or blocks have lengths
// of their own, which are alike here, one block behind the other. A line for each length
// says the microseconds of a call: of some batches the quickest, each between two barriers. Varied
// calls have another root, length (but of rows) or buffer than the one before, as a program's have;
// before fresh ones a rank writes the memory of what it gives, which counts. Calls apart are as
// benchmark suites have them: between two there is a barrier, which does not count, and the time is
// the mean of the ranks'. Or each is the first of its kind on a communicator, on which another kind
// has been called. Or calls are of 8 bytes, and a message of that many is under way when they
// begin, to ranks that come late. Or each is of a type, columns of doubles with as much between
// them, or by an operator, that is made for it and freed behind it, which counts. Or each is on a
// communicator of one rank. Calls that do not block are waited for at once, by MPI_Wait or
// MPI_Waitall. With threads it is still one that calls, but the MPI was asked for
// MPI_THREAD_MULTIPLE. bench/dropin.py compares the MPI alone with libnbc-mpi.so in front of it.

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 5 };

struct buffers {
  void *in, *out;
  int bytes, elements, root, ranks;
  int *counts, *displacements;
  MPI_Comm comm;
  int count;  // of the type, in as many bytes
  MPI_Datatype type;
  MPI_Op op;
  enum waiting { NEVER, BY_WAIT, BY_WAITALL } waits;  // for calls that do not block
};

enum manner { IN_A_ROW, VARIED, FRESH, APART, FIRST, BEHIND, MADE, ALONE };
static const struct {
  const char *option;
  enum manner how;
} manners[] = {{"--vary", VARIED},   {"--fresh", FRESH}, {"--apart", APART}, {"--first", FIRST},
               {"--behind", BEHIND}, {"--made", MADE},   {"--alone", ALONE}};
enum { MANNERS = sizeof manners / sizeof *manners };

// Of each the MPI's names, whether it reduces, and what it is called with.
#define COLLECTIVES(X)                                                                            \
  X(barrier, Barrier, Ibarrier, false, b->comm)                                                   \
  X(bcast, Bcast, Ibcast, false, b->in, b->count, b->type, b->root, b->comm)                      \
  X(gather, Gather, Igather, false, b->in, b->count, b->type, b->out, b->count, b->type, b->root, \
    b->comm)                                                                                      \
  X(scatter, Scatter, Iscatter, false, b->in, b->count, b->type, b->out, b->count, b->type,       \
    b->root, b->comm)                                                                             \
  X(allgather, Allgather, Iallgather, false, b->in, b->count, b->type, b->out, b->count, b->type, \
    b->comm)                                                                                      \
  X(alltoall, Alltoall, Ialltoall, false, b->in, b->count, b->type, b->out, b->count, b->type,    \
    b->comm)                                                                                      \
  X(gatherv, Gatherv, Igatherv, false, b->in, b->counts[0], MPI_DOUBLE, b->out, b->counts,        \
    b->displacements, MPI_DOUBLE, b->root, b->comm)                                               \
  X(scatterv, Scatterv, Iscatterv, false, b->in, b->counts, b->displacements, MPI_DOUBLE, b->out, \
    b->counts[0], MPI_DOUBLE, b->root, b->comm)                                                   \
  X(allgatherv, Allgatherv, Iallgatherv, false, b->in, b->counts[0], MPI_DOUBLE, b->out,          \
    b->counts, b->displacements, MPI_DOUBLE, b->comm)                                             \
  X(alltoallv, Alltoallv, Ialltoallv, false, b->in, b->counts, b->displacements, MPI_DOUBLE,      \
    b->out, b->counts, b->displacements, MPI_DOUBLE, b->comm)                                     \
  X(reduce, Reduce, Ireduce, true, b->in, b->out, b->elements, MPI_DOUBLE, b->op, b->root,        \
    b->comm)                                                                                      \
  X(allreduce, Allreduce, Iallreduce, true, b->in, b->out, b->elements, MPI_DOUBLE, b->op,        \
    b->comm)                                                                                      \
  X(reduce_scatter, Reduce_scatter, Ireduce_scatter, true, b->in, b->out, b->counts, MPI_DOUBLE,  \
    b->op, b->comm)                                                                               \
  X(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, true, b->in, b->out,       \
    b->elements, MPI_DOUBLE, b->op, b->comm)                                                      \
  X(scan, Scan, Iscan, true, b->in, b->out, b->elements, MPI_DOUBLE, b->op, b->comm)              \
  X(exscan, Exscan, Iexscan, true, b->in, b->out, b->elements, MPI_DOUBLE, b->op, b->comm)

static void wait_for(MPI_Request *request, enum waiting how) {
  MPI_Status status;
  if (how == BY_WAIT)
    MPI_Wait(request, MPI_STATUS_IGNORE);
  else
    MPI_Waitall(1, request, &status);
}

#define CALL(name, blocking, nonblocking, reduces, ...) \
  static void call_##name(const struct buffers *b) {    \
    MPI_Request request;                                \
    if (b->waits) {                                     \
      MPI_##nonblocking(__VA_ARGS__, &request);         \
      wait_for(&request, b->waits);                     \
    } else {                                            \
      MPI_##blocking(__VA_ARGS__);                      \
    }                                                   \
  }
COLLECTIVES(CALL)

#define ROW(name, blocking, nonblocking, reduces, ...) {#name, reduces, call_##name},
static const struct collective {
  const char *name;
  bool reduces;
  void (*call)(const struct buffers *);
} collectives[] = {COLLECTIVES(ROW)};

static const struct collective *find(const char *name) {
  for (size_t i = 0; i < sizeof collectives / sizeof *collectives; ++i)
    if (!strcmp(collectives[i].name, name)) return &collectives[i];
  return NULL;
}

// Milliseconds a batch, or so.
static int calls_of(int bytes, int ranks) {
  const int calls = bytes <= 1024 ? 4000 : bytes <= 8192 ? 1500 : bytes <= 65536 ? 300 : 40;
  return ranks > 2 ? calls / 4 : calls;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((double *)inout)[i] += ((double *)in)[i];
}

// Types and operators that are made for a call.
static void call_made(const struct collective *c, struct buffers *b) {
  if (c->reduces) {
    MPI_Op_create(add, 1, &b->op);
    c->call(b);
    MPI_Op_free(&b->op);
    return;
  }
  b->count = 1;
  MPI_Type_vector(b->elements, 1, 2, MPI_DOUBLE, &b->type);
  MPI_Type_commit(&b->type);
  c->call(b);
  MPI_Type_free(&b->type);
}

static void call(const struct collective *c, const struct buffers *b, enum manner how, int number) {
  enum { LENGTHS = 3, PLACES = 2, LINE = 64 };
  struct buffers other = *b;
  if (how == VARIED) {
    other.root = number % b->ranks;
    other.elements -= number % LENGTHS;
    if (other.elements < 1) other.elements = 1;
    other.bytes = other.count = other.elements * (int)sizeof(double);
    other.in = (char *)b->in + number % PLACES * LINE;
    other.out = (char *)b->out + number % PLACES * LINE;
  }
  if (how == FRESH) memset(b->in, number % PLACES, (size_t)b->ranks * (size_t)b->bytes);
  if (how == MADE)
    call_made(c, &other);
  else
    c->call(&other);
}

// Communicators stay until all are measured, or what one leaves would serve the next.
static double microseconds_first(const struct collective *c, const struct buffers *b) {
  enum { COMMUNICATORS = 50 };
  struct buffers on[COMMUNICATORS];
  const struct collective *other = find(strcmp(c->name, "barrier") ? "barrier" : "bcast");
  double time = 0;
  for (int i = 0; i < COMMUNICATORS; ++i) {
    on[i] = *b;
    MPI_Comm_dup(MPI_COMM_WORLD, &on[i].comm);
    other->call(&on[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    c->call(&on[i]);
    time += MPI_Wtime() - begin;
  }
  for (int i = 0; i < COMMUNICATORS; ++i) MPI_Comm_free(&on[i].comm);
  return time / COMMUNICATORS * 1e6;
}

// From each even rank to the next, which computes before it receives: while the one waits in the
// call for the other, the message has to go on. What comes on top of the time that is computed.
static double microseconds_behind(const struct collective *c, const struct buffers *b) {
  enum { TIMES = 20, LATE = 5000 };
  struct buffers small = *b;
  int rank;
  MPI_Comm_rank(b->comm, &rank);
  const bool receives = rank % 2 == 1, sends = !receives && rank + 1 < b->ranks;
  small.bytes = small.count = (int)sizeof(double);
  small.elements = 1;
  for (int r = 0; r < b->ranks; ++r) small.counts[r] = 1;
  double time = 0;
  for (int i = 0; i <= TIMES; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Barrier(b->comm);
    const double begin = MPI_Wtime();
    if (sends) MPI_Isend(b->in, b->bytes, MPI_BYTE, rank + 1, 0, b->comm, &request);
    while (receives && MPI_Wtime() < begin + LATE * 1e-6) continue;
    if (receives) MPI_Recv(b->in, b->bytes, MPI_BYTE, rank - 1, 0, b->comm, MPI_STATUS_IGNORE);
    c->call(&small);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(b->comm);
    if (i > 0) time += MPI_Wtime() - begin;  // after one of its length
  }
  return time / TIMES * 1e6 - LATE;
}

static double microseconds(const struct collective *c, const struct buffers *b, enum manner how) {
  const int calls = calls_of(b->bytes, b->ranks);
  double best = 0;
  for (int i = 0; i < calls / 10 + 2; ++i) call(c, b, how, i);
  for (int batch = 0; batch < BATCHES; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    double time = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call(c, b, how, i);
    MPI_Barrier(MPI_COMM_WORLD);
    time = (MPI_Wtime() - time) / calls;
    if (batch == 0 || time < best) best = time;
  }
  return best * 1e6;
}

static double microseconds_apart(const struct collective *c, const struct buffers *b) {
  const int calls = calls_of(b->bytes, b->ranks);
  double best = 0;
  for (int batch = 0; batch <= BATCHES; ++batch) {
    double time = 0, mean = 0;
    for (int i = 0; i < calls; ++i) {
      const double begin = MPI_Wtime();
      c->call(b);
      time += MPI_Wtime() - begin;
      MPI_Barrier(b->comm);
    }
    MPI_Allreduce(&time, &mean, 1, MPI_DOUBLE, MPI_SUM, b->comm);
    mean /= (double)b->ranks * calls;
    if (batch == 1 || (batch > 1 && mean < best)) best = mean;  // after one that does not count
  }
  return best * 1e6;
}

// At the beginning of a page: some distances modulo that make copies twice as slow.
static void *take(int ranks, int bytes) {
  enum { PAGE = 4096 };
  const size_t all = ((size_t)ranks * (size_t)bytes / PAGE + 2) * PAGE;  // and a line or two more
  void *memory = aligned_alloc(PAGE, all);
  if (memory) memset(memory, 0, all);
  return memory;
}

static void measure(const struct collective *c, int bytes, enum manner how, enum waiting waits,
                    int rank, int ranks) {
  struct buffers b = {.bytes = bytes,
                      .elements = bytes / (int)sizeof(double),
                      .ranks = how == ALONE ? 1 : ranks,
                      .comm = MPI_COMM_WORLD,
                      .count = bytes,
                      .type = MPI_BYTE,
                      .op = MPI_SUM,
                      .waits = waits};
  if (how == ALONE) MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &b.comm);
  const int places = how == MADE ? 2 * ranks : ranks;
  b.in = take(places, bytes);
  b.out = take(places, bytes);
  b.counts = (int *)malloc(2 * (size_t)ranks * sizeof *b.counts);
  if (!b.in || !b.out || !b.counts) {
    fprintf(stderr, "bench-dropin: no memory for %d bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return;
  }
  b.displacements = b.counts + ranks;
  for (int i = 0; i < ranks; ++i) {
    b.counts[i] = b.elements;
    b.displacements[i] = i * b.elements;
  }
  const double time = how == APART    ? microseconds_apart(c, &b)
                      : how == FIRST  ? microseconds_first(c, &b)
                      : how == BEHIND ? microseconds_behind(c, &b)
                                      : microseconds(c, &b, how);
  if (rank == 0) printf("%s %d %.3f\n", c->name, bytes, time);
  if (how == ALONE) MPI_Comm_free(&b.comm);
  free(b.in);
  free(b.out);
  free(b.counts);
}

static bool is_next(const char *option, int count, char **words, int *first) {
  const bool is = *first < count && !strcmp(words[*first], option);
  if (is) ++*first;
  return is;
}

int main(int argc, char **argv) {
  int rank, ranks, level, status = 0, first = 1;
  const bool threads = is_next("--threads", argc, argv, &first);
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  enum manner how = IN_A_ROW;
  const enum waiting waits = is_next("--nonblocking", argc, argv, &first) ? BY_WAIT
                             : is_next("--waitall", argc, argv, &first)   ? BY_WAITALL
                                                                          : NEVER;
  for (int i = 0; argc > first && i < MANNERS; ++i)
    if (!strcmp(argv[first], manners[i].option)) how = manners[i].how;
  if (how != IN_A_ROW) ++first;
  const struct collective *c = argc > first + 1 ? find(argv[first]) : NULL;
  for (int i = first + 1; c && !status && i < argc; ++i) {
    const int bytes = atoi(argv[i]);
    if (bytes >= (int)sizeof(double) && bytes <= 1 << 30)
      measure(c, bytes, how, waits, rank, ranks);
    else
      status = 1;
  }
  if (!c || status) {
    if (rank == 0)
      fprintf(stderr,
              "usage: bench-dropin [--threads] [--nonblocking|--waitall] "
              "[--vary|--fresh|--apart|--first|--behind|--made|--alone] COLLECTIVE BYTES...\n"
              "       of 8 to 1 GiB\n");
    status = 1;
  }
  MPI_Finalize();
  return status;
}
