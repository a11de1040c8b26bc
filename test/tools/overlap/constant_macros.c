// A macro that is a condition, a case or an initial value stands for something.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>

#define TRUE 1
#define FIRST 0

int main(int argc, char **argv) {
  double in = 1, out, x[1000];
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: lines {{.*}} can run meanwhile
  // CHECK: [[#@LINE+12]]:11: note: it must be complete here: out is read
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = FIRST; TRUE && i < 1000; ++i) x[i] = i;
  if (TRUE) x[0] = 1;
  switch (argc) {
    case FIRST:
      x[1] = 0;
      break;
    default:
      break;
  }
  while (FIRST) x[2] = 1;
  x[1] += out;
  MPI_Finalize();
  return (int)x[1];
}
