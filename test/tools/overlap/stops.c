// A call is not made before what may end the program in its place: that may be what its arguments are checked by.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > /dev/null && FileCheck %s --input-file=%t.c --check-prefix=FIXED
#include <mpi.h>
#include <stdlib.h>

static void must(int good) {
  if (!good) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
  double x[1000], *p = argc > 1 ? calloc(1000, sizeof *p) : NULL;
  MPI_Init(&argc, &argv);
  // FIXED: if (!p) MPI_Abort
  // FIXED-NEXT: MPI_Request
  // FIXED-NEXT: MPI_Ibcast(p
  // FIXED-NEXT: for
  if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < 1000; ++i) x[i] = i;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast: line [[#@LINE-1]] can run
  // CHECK: [[#@LINE-3]]:11: note: it cannot start before this: MPI_Abort ends the program where
  MPI_Bcast(p, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  x[1] += p[0];
  if (argc > 1000) abort();
  // CHECK: [[#@LINE+3]]:3: remark: MPI_Bcast: nothing can run
  // CHECK: note: it must be complete here
  // CHECK: [[#@LINE-3]]:20: note: it cannot start before this: abort ends the program where
  MPI_Bcast(x, argc, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  p[0] = x[0];
  must(argc < 1000);
  // CHECK: [[#@LINE+3]]:3: remark: MPI_Bcast: nothing can run
  // CHECK: note: it must be complete here
  // CHECK: [[#@LINE-3]]:3: note: it cannot start before this: MPI_Abort in must() ends the program where
  MPI_Bcast(x, argc, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  p[0] = x[0];
  MPI_Finalize();
  return (int)p[0];
}
