// Even where nothing has to be there to do, a call is not changed whose statement ends in a macro, or has another one
// beside it there.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix --least=0 %t.c -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix: && cmp %s %t.c
// CHECK: note: not changed: where its statement ends is hidden in a macro
// CHECK: note: not changed: the call is part of a macro's expansion
#include <mpi.h>
#define CHECK(c)                         \
  do {                                   \
    if (c) MPI_Abort(MPI_COMM_WORLD, 1); \
  } while (0);
#define COUNT(c)                       \
  if (c) MPI_Abort(MPI_COMM_WORLD, 1); \
  n++
int main(int argc, char **argv) {
  int n = 3;
  MPI_Init(&argc, &argv);
  CHECK(MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD))
  COUNT(MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD));
  MPI_Finalize();
  return n;
}
