// Parts of one array are told apart by what their indices are computed from; and so in the next turn of a loop.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.c
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
enum { N = 100 };
static double in[2 * N], out[64 * N], other[N];
static void work(double *v) {
  for (int i = 0; i < N; ++i) v[i] += i;
}

static void halves(int n, double *v) {
  // CHECK-LABEL: void halves(
  // CHECK:      MPI_Iallreduce(v, v + n, n, MPI_DOUBLE
  // CHECK-NEXT: for (int k = 2 * n; k < 3 * n; ++k) v[k] = k;
  // CHECK-NEXT: MPI_Wait(
  // CHECK-NEXT: v[n] += 1;
  MPI_Allreduce(v, v + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 2 * n; k < 3 * n; ++k) v[k] = k;
  v[n] += 1;
}

// Each turn has a row of its own; what is read are rows of earlier turns.
static double rows(int steps) {
  // CHECK-LABEL: double rows(
  // CHECK: MPI_Request allreduce_request
  // CHECK-NEXT: MPI_Iallreduce(in, &out[step * N], N
  // CHECK-NEXT: for (int r = 0; r < step; ++r)
  // CHECK-NEXT:   for (int k = 0; k < N; ++k) sum += out[r * N + k];
  // CHECK-NEXT: MPI_Wait(
  double sum = 0;
  for (int step = 0; step < steps; ++step) {
    MPI_Allreduce(in, &out[step * N], N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int r = 0; r < step; ++r)
      for (int k = 0; k < N; ++k) sum += out[r * N + k];
    sum += out[step * N];
  }
  return sum;
}

// Two buffers by the parity of the turn: the other is filled while one is under way.
static void parity(int steps) {
  // CHECK-LABEL: void parity(
  // CHECK:      for (int i = 0; i < steps; ++i) {
  // CHECK-NEXT:   for (int k = 0; k < N; ++k) in[i % 2 * N + k] = k + i;
  // CHECK-NEXT:   MPI_Wait(&allreduce_request
  // CHECK-NEXT:   MPI_Iallreduce(in + i % 2 * N, out, N
  for (int i = 0; i < steps; ++i) {
    for (int k = 0; k < N; ++k) in[i % 2 * N + k] = k + i;
    MPI_Allreduce(in + i % 2 * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

// The same by a variable that each turn flips, and a function that fills.
static void fill(double (*buffers)[N], int which) {
  for (int k = 0; k < N; ++k) buffers[which][k] = k;
}
static void flips(int steps) {
  // CHECK-LABEL: void flips(
  // CHECK:      while (steps-- > 0) {
  // CHECK-NEXT:   fill(two, now);
  // CHECK-NEXT:   MPI_Wait(
  // CHECK-NEXT:   MPI_Iallreduce(two[now], out, N
  double two[2][N];
  int now = 0;
  while (steps-- > 0) {
    fill(two, now);
    MPI_Allreduce(two[now], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    now = 1 - now;
  }
}

// Three buffers in turns; one of them by a pointer of the turn's own.
static void ring(int steps, int n, double *v) {
  // CHECK-LABEL: void ring(
  // CHECK:      for (int i = 0; i < steps; ++i) {
  // CHECK-NEXT:   double *mine = v + i % 3 * n;
  // CHECK-NEXT:   for (int k = 0; k < n; ++k) mine[k] = 3;
  // CHECK-NEXT:   MPI_Wait(
  // CHECK-NEXT:   MPI_Ibcast(mine, n, MPI_DOUBLE
  for (int i = 0; i < steps; ++i) {
    double *mine = v + i % 3 * n;
    for (int k = 0; k < n; ++k) mine[k] = 3;
    MPI_Bcast(mine, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
}

// The number of buffers has no sign, but the turn is never negative.
static void slots(int steps) {
  // CHECK-LABEL: void slots(
  // CHECK:      for (int i = 0; i < steps; ++i) {
  // CHECK-NEXT:   work(three[i % (sizeof three / sizeof three[0])]);
  // CHECK-NEXT:   MPI_Wait(
  // CHECK-NEXT:   MPI_Iallreduce(three[i % (sizeof three / sizeof three[0])], out, N
  static double three[3][N];
  for (int i = 0; i < steps; ++i) {
    work(three[i % (sizeof three / sizeof three[0])]);
    MPI_Allreduce(three[i % (sizeof three / sizeof three[0])], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

// The part that comes next is filled first: the call starts before that.
static void early(int steps) {
  // CHECK-LABEL: void early(
  // CHECK:        MPI_Iallreduce(in + i % 2 * N, out
  // CHECK-NEXT:   for (int k = 0; k < N; ++k) in[(i + 1) % 2 * N + k] = k;
  // CHECK-NEXT:   MPI_Wait(
  for (int i = 0; i < steps; ++i) {
    for (int k = 0; k < N; ++k) in[(i + 1) % 2 * N + k] = k;
    MPI_Allreduce(in + i % 2 * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

// Buffers that were allocated one by one.
struct pool {
  double *buffer[2], sum;
};
static void one_by_one(int steps) {
  // CHECK-LABEL: void one_by_one(
  // CHECK:      for (int i = 0; i < steps; ++i) {
  // CHECK-NEXT:   work(p.buffer[i % 2]);
  // CHECK-NEXT:   MPI_Wait(
  // CHECK-NEXT:   MPI_Iallreduce(p.buffer[i % 2], out
  struct pool p = {.sum = 0};
  for (int i = 0; i < 2; ++i) p.buffer[i] = malloc(N * sizeof(double));
  for (int i = 0; i < steps; ++i) {
    work(p.buffer[i % 2]);
    MPI_Allreduce(p.buffer[i % 2], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < 2; ++i) free(p.buffer[i]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double *v = calloc(3 * N, sizeof *v);
  halves(N, v);
  rows(argc);
  parity(argc);
  flips(argc);
  ring(argc, N, v);
  slots(argc);
  early(argc);
  one_by_one(argc);
  free(v);
  MPI_Finalize();
  return other[0] < 0;
}
