// What begins its line keeps to that, whatever stands above.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi && FileCheck %s --input-file=%t.c --match-full-lines --strict-whitespace
#include <mpi.h>
static double v[1000], h[1000];
int main(int argc, char **argv) {
int me;
  MPI_Init(&argc, &argv);
MPI_Comm_rank(MPI_COMM_WORLD, &me);
if (me == 0)
    v[0] = 1;
//      CHECK:MPI_Request bcast_request;
// CHECK-NEXT:MPI_Ibcast(v, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD, &bcast_request);
MPI_Bcast(v, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
for (int i = 0; i < 1000; i++) h[i] = i;
// CHECK:MPI_Wait(&bcast_request, MPI_STATUS_IGNORE);

h[1] = v[0];
MPI_Finalize();
}
