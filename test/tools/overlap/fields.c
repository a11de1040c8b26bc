// Memory is told apart through the whole program: what is in which field, and what a program's own malloc() returns.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.c
#include <mpi.h>
#include <stdlib.h>
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

static void apart(struct field *f) {
  // CHECK-LABEL: void apart(
  // CHECK:      MPI_Ibcast(f->halo
  // CHECK-NEXT: smooth(f);
  // CHECK-NEXT: MPI_Wait(
  // CHECK-NEXT: f->halo[0]
  MPI_Bcast(f->halo, f->n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  smooth(f);
  f->halo[0] += 1;
}

// One field of a structure is received, another is used.
static void own_field(struct field *f) {
  // CHECK-LABEL: void own_field(
  // CHECK:      MPI_Ibcast(&f->sum
  // CHECK-NEXT: smooth(f);
  // CHECK-NEXT: MPI_Wait(
  MPI_Bcast(&f->sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
  smooth(f);
  f->n += f->sum;
}
// More is received than the field has; or as much as a variable says.
static void beyond(struct field *f) {
  // CHECK-LABEL: void beyond(
  // CHECK-NOT: MPI_Ib
  // CHECK: {{^}}}
  MPI_Bcast(&f->n, 2, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) f->sum += i;
  MPI_Bcast(&f->n, f->n, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) f->sum += i;
  MPI_Bcast(&f->n, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) f->sum += i;
}

int main(int argc, char **argv) {
  struct field f;
  MPI_Init(&argc, &argv);
  make(&f, N);
  apart(&f);
  own_field(&f);
  beyond(&f);
  MPI_Finalize();
}
