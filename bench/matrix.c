// SPDX-License-Identifier: BSD-3-Clause
// matrix.c - what it costs to move parts of a square matrix of doubles as they lie, by types of
// MPI.
//
//   mpirun -n 2 [-x LD_PRELOAD=libnbc-mpi.so] bench-matrix-openmpi SIZE...
//
// A line for each size, which the ranks divide: microseconds of a call, the mean of some in a row.
//
//   alltoallw    rows become columns: each rank sends every other a subarray of its rows
//   allgatherv   all ranks get the columns of all, in place
//   gatherv      likewise rank 0, of ranks whose columns lie one behind the other

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct matrix {
  int n, each, ranks;
  double *in, *out;
  int *ones, *zeros, *counts, *places;
  MPI_Datatype *parts, *stacks, column;
};

static MPI_Datatype part_of(int rows, int columns, int each, int row, int column) {
  const int whole[] = {rows, columns}, part[] = {each, each}, at[] = {row, column};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, whole, part, at, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static MPI_Datatype column_of(int n) {
  MPI_Datatype gaps, type;
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &gaps);
  MPI_Type_create_resized(gaps, 0, sizeof(double), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&gaps);
  return type;
}

// Ends the program where there is no memory.
static void *take(size_t count, size_t bytes) {
  void *memory = calloc(count, bytes);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static struct matrix make(int n, int ranks) {
  const size_t all = (size_t)n * (size_t)n, row = (size_t)ranks;
  struct matrix m = {.n = n, .each = n / ranks, .ranks = ranks};
  m.in = take(all, sizeof *m.in);
  m.out = take(all, sizeof *m.out);
  for (size_t i = 0; i < all; ++i) m.in[i] = m.out[i] = (double)i;
  m.ones = take(row, sizeof *m.ones);
  m.zeros = take(row, sizeof *m.zeros);
  m.counts = take(row, sizeof *m.counts);
  m.places = take(row, sizeof *m.places);
  m.parts = take(row, sizeof(MPI_Datatype));
  m.stacks = take(row, sizeof(MPI_Datatype));
  for (int i = 0; i < ranks; ++i) {
    m.ones[i] = 1;
    m.counts[i] = m.each;
    m.places[i] = i * m.each;
    m.parts[i] = part_of(m.each, n, m.each, 0, m.places[i]);
    m.stacks[i] = part_of(n, m.each, m.each, m.places[i], 0);
  }
  m.column = column_of(n);
  return m;
}

static void end(struct matrix *m) {
  for (int i = 0; i < m->ranks; ++i) {
    MPI_Type_free(&m->parts[i]);
    MPI_Type_free(&m->stacks[i]);
  }
  MPI_Type_free(&m->column);
  void *const all[] = {m->in, m->out, m->ones, m->zeros, m->counts, m->places, m->parts, m->stacks};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free(all[i]);
}

static void transpose(const struct matrix *m) {
  MPI_Alltoallw(m->in, m->ones, m->zeros, m->parts, m->out, m->ones, m->zeros, m->stacks,
                MPI_COMM_WORLD);
}

static void give_columns(const struct matrix *m) {
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, m->out, m->counts, m->places, m->column,
                 MPI_COMM_WORLD);
}

static void gather_columns(const struct matrix *m) {
  MPI_Gatherv(m->in, m->n * m->each, MPI_DOUBLE, m->out, m->counts, m->places, m->column, 0,
              MPI_COMM_WORLD);
}

static double microseconds(const struct matrix *m, void (*call)(const struct matrix *)) {
  enum { FIRST = 3, FEW = 20, MANY = 200, LARGE = 1000 };
  const int calls = m->n > LARGE ? FEW : MANY;
  double begin = 0;
  for (int i = -FIRST; i < calls; ++i) {
    if (i == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      begin = MPI_Wtime();
    }
    call(m);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return (MPI_Wtime() - begin) / calls * 1e6;
}

int main(int argc, char **argv) {
  int ranks, rank, status = argc < 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc && !status; ++i) {
    enum { MOST = 16384 };
    const long n = strtol(argv[i], NULL, 10);
    status = n < ranks || n > MOST || n % ranks != 0;
    if (status) break;
    struct matrix m = make((int)n, ranks);
    const double w = microseconds(&m, transpose), all = microseconds(&m, give_columns),
                 one = microseconds(&m, gather_columns);
    if (rank == 0) printf("%ld alltoallw %.1f allgatherv %.1f gatherv %.1f\n", n, w, all, one);
    end(&m);
  }
  if (status && rank == 0)
    fprintf(stderr,
            "usage: bench-matrix SIZE...\n       up to 16384, and divisible by the ranks\n");
  MPI_Finalize();
  return status;
}
