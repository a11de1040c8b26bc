// A program of today whose makers want declarations first, by a warning, has its request there, too.
// REQUIRES: openmpi
// RUN: grep -v // %s > %t.c && cp %t.c %t.as.c && nbc-overlap --fix %t.c -- mpicc.openmpi -std=gnu11 -Wdeclaration-after-statement
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -std=gnu11 -Werror=declaration-after-statement -fsyntax-only %t.c
// RUN: nbc-overlap --fix %t.as.c -- mpicc.openmpi -std=gnu11 -Wdeclaration-after-statement -Wno-declaration-after-statement
// RUN: FileCheck %s --input-file=%t.as.c --check-prefix=CHECKAS
#include <mpi.h>
static double w[1000], all[4], mine[4];
int main(int argc, char **argv) {
  // CHECK:      int main(
  // CHECK-NEXT: {{^}}  MPI_Request allreduce_request;
  // CHECK-NEXT:   int i;
  // CHECKAS:      int main(
  // CHECKAS-NEXT:   int i;
  // CHECKAS:      MPI_Request allreduce_request;
  // CHECKAS-NEXT: MPI_Iallreduce(
  int i;
  MPI_Init(&argc, &argv);
  MPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < 1000; i++) w[i] += i;
  w[0] += all[0];
  MPI_Finalize();
  return 0;
}
