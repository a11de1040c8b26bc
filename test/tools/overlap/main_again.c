// What main() is given is the command line, unless the program calls it, too.
// REQUIRES: openmpi
// RUN: nbc-overlap --least 1 %s -- mpicc.openmpi -DAGAIN='main(rank, argv)' | FileCheck %s
// RUN: nbc-overlap --least 1 %s -- mpicc.openmpi -DAGAIN='(void)rank' | FileCheck %s --check-prefix=ONCE

#include <mpi.h>
#include <stdio.h>

static int in, out, y[400], depth;

int main(int argc, char **argv) {
  if (depth++ == 0) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    AGAIN;
  }
  if (argc > 0) {
    // CHECK: [[#@LINE+3]]:5: remark: MPI_Allreduce
    // CHECK: note: not changed:{{.*}} main() is called by the program, too
    // ONCE: MPI_Wait
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 400; ++i) y[i] = i;
    printf("%d %d\n", out, y[5]);
  } else {
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (depth-- == 1) MPI_Finalize();
  return 0;
}
