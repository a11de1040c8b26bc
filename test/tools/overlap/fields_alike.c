// Ways to the same memory that lead through fields: nothing is changed.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix: && cmp %s %t.c
// CHECK-COUNT-12: note: it must be complete here: {{.*(written|read)}}
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
enum { N = 100 };
struct field {
  double *values, *next, *halo;
  int n, sum;
};
static void *allocate(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory) abort();
  return memory;
}
static double *zeros(int n) {
  double *v = allocate(sizeof *v * (size_t)n);
  for (int i = 0; i < n; ++i) v[i] = 0;
  return v;
}
static void make(struct field *f, int n) {
  f->n = n;
  f->values = zeros(n);
  f->next = zeros(n);
  f->halo = zeros(n);
}
static void smooth(const struct field *f) {
  for (int i = 1; i < f->n - 1; ++i) f->next[i] = f->values[i - 1] + f->values[i + 1];
}

static void take(struct field *f, double *v) {
  f->values = v;
}
static double *pick(struct field *f, int k) {
  return k ? f->values : f->next;
}
static void *cached(void) {
  static void *memory;
  if (!memory) memory = malloc(N * sizeof(double));
  return memory;
}
union both {
  struct {
    double *a, *b;
  } x;
  struct {
    double *b, *a;
  } y;
};
static void same(int k) {
  struct field a, b;
  make(&a, N);
  take(&a, a.halo);
  MPI_Bcast(a.halo, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  smooth(&a);
  b = a;
  MPI_Bcast(b.next, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  smooth(&a);
  struct field c;
  make(&c, N);
  memcpy(&b, &c, sizeof b);
  MPI_Bcast(b.next, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  smooth(&c);
  struct field d;
  make(&d, N);
  for (size_t i = 0; i < sizeof d; ++i) ((char *)&b)[i] = ((char *)&d)[i];
  MPI_Bcast(b.next, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  smooth(&d);
  double *p = pick(&d, k);
  MPI_Bcast(p, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  smooth(&d);
  struct field e = {.values = cached(), .next = cached(), .n = N};
  MPI_Bcast(e.values, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  smooth(&e);
  union both u;
  u.x.a = zeros(N);
  u.x.b = zeros(N);
  MPI_Bcast(u.y.b, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) u.x.a[i] = i;
  double *rows[2] = {a.values, c.values};
  MPI_Bcast(rows[0], N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) rows[1][i] = i;
  long address = (long)c.halo;
  MPI_Bcast(c.halo, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) ((double *)address)[i] = i;
  struct field *list = allocate(2 * sizeof *list);
  make(list, N);
  make(list + 1, N);
  MPI_Bcast(list[0].values, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) list[k].values[i] = i;
}

// What it is given through a pointer to a pointer, and what comes back out of the standard library.
static void turn(double **a, double **b) {
  double *t = *a;
  *a = *b;
  *b = t;
}
static void library(struct field *f) {
  char text[N] = "abc", *at = strchr(text, 'b');
  turn(&f->values, &f->halo);
  MPI_Bcast(f->halo, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  smooth(f);
  text[0] = 'a';
  MPI_Bcast(text, N, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) at[i] = 'x';
}

int main(int argc, char **argv) {
  struct field g;
  MPI_Init(&argc, &argv);
  make(&g, N);
  same(argc);
  library(&g);
  MPI_Finalize();
}
