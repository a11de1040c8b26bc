// A macro that stands for nothing here may read the result in another configuration.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi -DNDEBUG | FileCheck %s
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi -DNDEBUG > /dev/null && cmp %s %t.c
#include <assert.h>
#include <mpi.h>

#define TRACE(...)
#define TRACK(x) do { } while (0)
#define COUNT(x) 0

static double scale = 1, traced[1000];
static void scaled(double *x) {
  TRACE("%g", scale)
  for (int i = 0; i < 1000; ++i) x[i] *= i;
}
int main(int argc, char **argv) {
  double in = 1, out, x[1000];
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: assert stands for nothing here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  assert(out > 0);
  for (int i = 0; i < 1000; ++i) x[i] = i;
  x[1] += out;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:19: note: it must be complete here: a macro in front of ; stands for nothing here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  TRACE("%g", out);
  for (int i = 0; i < 1000; ++i) x[i] = i;
  x[1] += out;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: TRACK stands for nothing here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  TRACK(out);
  for (int i = 0; i < 1000; ++i) x[i] = i;
  x[1] += out;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: COUNT stands for nothing here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  COUNT(out);
  for (int i = 0; i < 1000; ++i) x[i] = i;
  x[1] += out;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:17: note: it must be complete here: COUNT stands for nothing here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (x[1] > 0) COUNT(out);
  for (int i = 0; i < 1000; ++i) x[i] = i;
  x[1] += out;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: a macro stands for nothing here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  TRACE("%g", out)
  for (int i = 0; i < 1000; ++i) x[i] = i;
  x[1] += out;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+3]]:5: note: it must be complete here: a macro stands for nothing here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) {
    TRACE("%g", out)
    x[i] = i;
  }
  x[1] += out;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: a macro in scaled() stands for nothing here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  scaled(traced);
  MPI_Finalize();
  return (int)x[1];
}
