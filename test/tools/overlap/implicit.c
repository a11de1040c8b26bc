// What gcc takes with a warning, as it did before version 14, is no error for clang.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi 2>&1 | FileCheck %s
#include <mpi.h>
#include <stdlib.h>
static double w[1000], in, out;
static int *place;
// CHECK: [[#@LINE+1]]:8: warning: type specifier missing, defaults to 'int'
static before(int *a, int *b) {
  return *a - *b;
}
int main(int argc, char **argv) {
  int numbers[3] = {3, 1, 2};
  long where = 0;
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+1]]:3: warning: call to undeclared function 'sched_yield'
  sched_yield();
  // CHECK: [[#@LINE+1]]:9: warning: incompatible integer to pointer conversion
  place = where;
  // CHECK: [[#@LINE+1]]:38: warning: incompatible function pointer types
  qsort(numbers, 3, sizeof *numbers, before);
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce before
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) w[i] += i;
  MPI_Finalize();
  return w[3] + numbers[0] + (place != 0) < 0;
}
