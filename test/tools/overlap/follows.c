// Where one call has been moved up another follows it, at once: a second run finds nothing more to do.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out && FileCheck %s --input-file=%t.c
// RUN: FileCheck %s --input-file=%t.out --check-prefix=OUT
// RUN: cp %t.c %t.again.c && nbc-overlap --fix %t.again.c -- mpicc.openmpi > %t.out && cmp %t.c %t.again.c
// OUT: note: fix: MPI_Ireduce before line [[#]], MPI_Wait behind line [[#]]
// OUT: note: fix: MPI_Iallreduce before line [[#]], MPI_Wait behind line [[#]]
#include <mpi.h>

int main(int argc, char **argv) {
  double a = 1, m = 0, s, x[1000];
  MPI_Init(&argc, &argv);
  // CHECK: MPI_Ireduce(
  // CHECK: MPI_Iallreduce(
  // CHECK: for (
  // CHECK: MPI_Wait(&reduce_request
  // CHECK: MPI_Wait(&allreduce_request
  for (int i = 0; i < 1000; ++i) x[i] = i;
  MPI_Reduce(&a, &m, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&a, &s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  m += s;
  MPI_Finalize();
  return (int)(m + x[1]);
}
