// A function that calls itself with parts of what it was given does what it does once, anywhere in that.
// RUN: nbc-overlap %s -- mpicc 2>&1 | FileCheck %s

#include <mpi.h>
#include <stdio.h>

enum { N = 1000 };
struct node {
  double value;
  struct node *next;
};
static double sum[2], all[2], data[N], other[N];
static long depth;

static void swap(double *a, double *b) {
  const double t = *a;
  *a = *b;
  *b = t;
}

static void sort(double *v, int begin, int end) {
  if (end - begin < 2) return;
  int middle = begin;
  for (int i = begin; i < end - 1; ++i)
    if (v[i] < v[end - 1]) swap(&v[i], &v[middle++]);
  swap(&v[middle], &v[end - 1]);
  sort(v, begin, middle);
  sort(v, middle + 1, end);
}

static void walk(double *v, int n) {
  double *const half = v + n / 2;
  if (n < 2) return;
  walk(v, n / 2);
  walk(half, n - n / 2);
  v[0] += half[0];
}

static void turns(double *to, double *from, int n) {
  if (n == 0) return;
  to[n] = from[n];
  turns(from, to, n - 1);
}

static void reaches(double *v, int n) {
  if (n == 0) return;
  v[n] = n;
  reaches(all, n - 1);
}

static double list(struct node *n) { return n ? n->value + list(n->next) : 0; }

static long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static void counts(int n) {
  depth += n;
  if (n > 0) counts(n - 1);
}

static void even(double *v, int n);
static void odd(double *v, int n) {
  v[n] = 1;
  if (n > 0) even(v, n - 1);
}
static void even(double *v, int n) {
  v[n] = 0;
  if (n > 0) odd(v, n - 1);
}

int main(int argc, char **argv) {
  static struct node nodes[2];
  MPI_Init(&argc, &argv);
  // CHECK: recursive.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: lines [[#@LINE+2]] to [[#@LINE+5]] can run meanwhile
  MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  sort(data, 0, N);
  walk(other, N);
  const long f = fibonacci(10);
  counts(10);
  printf("%g %ld %ld\n", all[0], f, depth);

  // Wherever in it.
  // CHECK: recursive.c:[[#@LINE+2]]:3: note: it must be complete here: v[i] in sort() is read, which MPI_Bcast writes
  MPI_Bcast(data, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  sort(data, 2, N);
  // CHECK: recursive.c:[[#@LINE+2]]:3: note: it must be complete here: {{.*}} in walk() is {{.*}}, which MPI_Bcast writes
  MPI_Bcast(other + 500, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  walk(other, 4);
  // CHECK: recursive.c:[[#@LINE+2]]:3: note: it must be complete here: depth in counts() is read, which MPI_Bcast
  MPI_Bcast(&depth, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  counts(10);

  // Each time something else.
  // CHECK: recursive.c:[[#@LINE+2]]:3: note: it must be complete here: turns in turns() cannot be seen into
  MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  turns(data, other, 10);
  // CHECK: recursive.c:[[#@LINE+2]]:3: note: it must be complete here: reaches in reaches() cannot be seen into
  MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  reaches(data, 1);
  // CHECK: recursive.c:[[#@LINE+2]]:20: note: it must be complete here: list in list() cannot be seen into
  MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double l = list(nodes);
  // CHECK: recursive.c:[[#@LINE+2]]:3: note: it must be complete here: odd in even() cannot be seen into
  MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  odd(data, 3);
  printf("%g %g %g %g\n", all[0], l, data[0], other[0]);
  MPI_Finalize();
  return 0;
}
