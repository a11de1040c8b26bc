// What callers have as local variables is touched by them, too: advice ends where that begins.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
enum { N = 1000 };
static void sum(double *mine, double *all) {
  // CHECK: [[#@LINE+2]]:3: note: sum() ends with it
  // CHECK-NEXT: :[[#@LINE+8]]:3: note: between the two, line [[#@LINE+9]] of main() could run; it must be complete where b is read
  MPI_Allreduce(mine, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  // CHECK-NOT: between the two
}

int main(int argc, char **argv) {
  double a = 1, b, x[N];
  MPI_Init(&argc, &argv);
  sum(&a, &b);
  for (int i = 1; i < N; ++i) x[i] = i;
  x[0] = b;
  sum(&a, &b);
  a = 5;
  for (int i = 1; i < N; ++i) x[i] += b;
  MPI_Finalize();
  return (int)x[1];
}
