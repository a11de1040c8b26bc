// What would leave a request behind, or change what others see, ends the window.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > /dev/null && cmp %s %t.c
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 100 };
#define REDUCE MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)
static double in[N], out[N], other[N];
static int argc_;
volatile int flag;
void opaque(double *);

static int returns(void) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+3]]:7: note: it must be complete here: return leaves the block
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i)
      return i;
  return 0;
}

static void breaks(void) {
  for (int k = 0; k < N; ++k) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce: nothing
    // CHECK-NEXT: [[#@LINE+2]]:17: note: it must be complete here: break leaves the block
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (k == 3) break;
    for (int i = 0; i < N; ++i) other[i] = 0;
  }
}

static void seen_by_others(void) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: flag is volatile or atomic
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  flag = 1;
  for (int i = 0; i < N; ++i) other[i] = 0;
}

static void cannot_see(void) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: opaque cannot be seen into
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  opaque(other);
}

static double timed(void) {
  double start = MPI_Wtime();
  // CHECK: [[#@LINE+4]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+4]]:11: note: it must be complete here: MPI_Wtime takes the time
  // CHECK-NEXT: [[#@LINE-3]]:18: note: it cannot start before this: MPI_Wtime takes the time
  // CHECK-NEXT: note: not changed: there is too little to do
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  start = MPI_Wtime() - start;
  for (int i = 0; i < N; ++i) other[i] = 0;
  return start;
}

static void messages(void) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: MPI_Send is another call of MPI
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Send(other, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF);
  for (int i = 0; i < N; ++i) other[i] = 0;
}

static void hidden(void) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:1: note: it must be complete here: other code may stand here
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#ifdef FAST
  out[0] = 1;
#endif
  for (int i = 0; i < N; ++i) other[i] = 0;
}

static void barrier(void) {
  double local[N];
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Barrier: line [[#@LINE+3]] can run meanwhile
  // CHECK-NEXT: [[#@LINE+3]]:3: note: it must be complete here: printf writes, and a barrier may be
  MPI_Barrier(MPI_COMM_WORLD);
  local[0] = 1;
  printf("%f\n", local[0]);
  for (int i = 0; i < N; ++i) local[i] = 0;
}

static void ends(void) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing
  // CHECK-NEXT: [[#@LINE+2]]:15: note: it must be complete here: exit ends the rank
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (argc_) {exit(1);}
}

// The call itself is not a plain statement.
static int spelled(void) {
  // CHECK: [[#@LINE+2]]:{{.*}}remark: MPI_Allreduce
  // CHECK: note: not changed: the call is part of a macro's expansion
  REDUCE;
  for (int i = 0; i < N; ++i) other[i] = 0;
  // CHECK: [[#@LINE+2]]:{{.*}}remark: MPI_Allreduce
  // CHECK: note: not changed: what the call returns is used
  int rc = -MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] = 0;
  // CHECK: [[#@LINE+3]]:{{.*}}remark: MPI_Allreduce
  // CHECK: note: not changed: the call is no statement of a block
  while (N < 3)
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] = 0;
  // CHECK: [[#@LINE+3]]:{{.*}}remark: MPI_Allreduce
  // CHECK: note: not changed: a pragma, or an #if, stands before it
#pragma omp master
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] = 0;
  return rc;
}

static void operator(MPI_Op own) {
  // CHECK: [[#@LINE+2]]:{{.*}}remark: MPI_Allreduce
  // CHECK: note: not changed: the operator own may be the program's own
  MPI_Allreduce(in, out, N, MPI_DOUBLE, own, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] = 0;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  returns(), breaks(), seen_by_others(), cannot_see(), timed(), messages(), hidden(), barrier(), ends();
  spelled(), operator(MPI_SUM);
  MPI_Finalize();
}
