// Memory that may be the buffers' ends the window, and the note says which and why.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > /dev/null && cmp %s %t.c
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
enum { N = 100 };
void opaque(void);
void keep(double *);
double global[N], *held;

static void fill(double *v) {
  for (int i = 0; i < N; ++i) v[i] = i;
}
static double sum_global(void) {
  double s = 0;
  for (int i = 0; i < N; ++i) s += global[i];
  return s;
}

static void direct(double *out) {
  double in[N] = {0};
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: [[#@LINE+2]]:31: note: it must be complete here: in[i] is written, which MPI_Allreduce reads
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) in[i] = i;
  keep(in);
}

static void parameters(double *a, double *b, double *c) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:31: note: it must be complete here: c[i] is written, and may be memory that MPI_Allreduce writes
  MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) c[i] = i;
}

static void through_pointer(void) {
  double in[N] = {0}, out[N], s = 0, *p = s ? in : out + 1;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:36: note: it must be complete here: *p++ is read, which MPI_Allreduce writes
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 1; i < N; ++i) s += *p++;
  opaque();
}

static void in_callee(void) {
  double in[N] = {0}, out[N];
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: v[i] in fill() is written, which MPI_Allreduce reads
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  fill(in);
  opaque();
}

static double global_in_callee(void) {
  double in[N] = {0};
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:10: note: it must be complete here: global[i] in sum_global() is read, which MPI_Allreduce writes
  MPI_Allreduce(in, global, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum_global();
}

static void kept(void) {
  double in[N] = {0}, out[N];
  keep(out);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:31: note: it must be complete here: held[i] is written, and may be memory that MPI_Allreduce
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) held[i] = i;
}

static void freed(void) {
  double *in = calloc(N, sizeof *in), *out = malloc(N * sizeof *out);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:8: note: it must be complete here: in is written, which MPI_Allreduce reads
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  free(in);
  for (int i = 0; i < N; ++i) held[i] = i;
  free(out);
}

static void counts(int *lengths, int *places) {
  double in[N] = {0}, out[N];
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allgatherv: nothing
  // CHECK-NEXT: [[#@LINE+2]]:31: note: it must be complete here: lengths[0] is written, which MPI_Allgatherv reads
  MPI_Allgatherv(in, 1, MPI_DOUBLE, out, lengths, places, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) lengths[0] = i;
}

static void in_place(void) {
  double v[N] = {0}, w[N];
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:13: note: it must be complete here: v is read, which MPI_Allreduce writes
  MPI_Allreduce(MPI_IN_PLACE, v, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  memcpy(w, v, sizeof w);
  keep(w);
}

// A pointer whose address is given away is no longer followed.
static void swap(double **a, double **b) {
  double *t = *a;
  *a = *b;
  *b = t;
}
static void swapped(void) {
  double *in = calloc(N, sizeof *in), *out = malloc(N * sizeof *out), *p = malloc(N * sizeof *p);
  swap(&out, &p);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:31: note: it must be complete here: p[i] is written, and may be memory that MPI_Allreduce writes
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) p[i] = i;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  direct(global), parameters(global, held, held), through_pointer(), in_callee(), global_in_callee(), kept();
  freed(), counts(0, 0), in_place(), swapped();
  MPI_Finalize();
}
