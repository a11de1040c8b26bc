// What stands behind the wait on its line goes to one of its own: else it would seem to be behind the `if` of a repeated check.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --whole --least=1 --fix %t.c -- mpicc.openmpi && mpicc.openmpi -fsyntax-only -Werror=misleading-indentation %t.c
// RUN: sed /CHECK/d %t.c | FileCheck %s
#include <mpi.h>
static double a[4], b[4];
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rc = MPI_Bcast(b, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) return 1;
  // CHECK: a[0] += 1;
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait
  // CHECK-NEXT: if (rc != MPI_SUCCESS) return 1;
  // CHECK-NEXT: {{^ *}}a[1] += b[0];
  a[0] += 1; a[1] += b[0];
  MPI_Finalize();
  return a[1] > 0;
}
