// The wait may set errno, so it does not come between a call that does and what asks for it.
// REQUIRES: openmpi
// RUN: nbc-overlap --whole --least=1 %s -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  double a[4] = {1}, *p;
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: errno, by malloc(), which perror() asks for, may also be set by the call, or by its wait
  MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  p = malloc((size_t)-1 / (size_t)(argc + 1));
  if (!p) perror("malloc");
  MPI_Finalize();
  return a[0] > 1;
}
