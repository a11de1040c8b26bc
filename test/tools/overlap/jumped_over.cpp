// In C++ no goto may pass by the declaration of a request that has a value. In C it may.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX | FileCheck %s --implicit-check-not=fix:
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --check-prefix=C && mpicc.openmpi -Wall -Werror -fsyntax-only %t.c
#include <mpi.h>
#include <stdio.h>
enum { N = 400 };
static double y[N], in, out;
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) {
    printf("%d: nothing to do\n", rank);
    goto end;
  }
  // CHECK: [[#@LINE+3]]:5: note: not changed: a goto jumps past it, and may not jump past its request
  // C: [[#@LINE+2]]:5: note: fix: MPI_Iallreduce here
  if (argc < 5)
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] += i;
end:
  MPI_Finalize();
}
