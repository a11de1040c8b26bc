// A directive may stand behind a comment of several lines.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s && cmp %s %t.c
#include <mpi.h>
static double w[1000];
int main(int argc, char **argv) {
  int x = argc, y = 0;
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+3]]:{{[0-9]+}}: note: it must be complete here: other code may stand here
  MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
  /* in the other
   * configuration */ #ifdef OTHER
  y = x;
  /* and
   * here */ #endif
  for (int i = 0; i < 1000; i++) w[i] = i;
  MPI_Finalize();
  return y + w[5] > 0;
}
