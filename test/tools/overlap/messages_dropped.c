// A message whose request is freed may be of memory that no other rank can name: what tells that it is over is the collective
// all the same. Only a number whose address nobody has is surely of none.
// REQUIRES: openmpi
// RUN: for how in 0 1 2 3 4; do nbc-overlap %s -- mpicc.openmpi -DHOW=$how | grep "39:.*fix:\|tells when" | sed "s/.*note: /$how: /"; done | FileCheck %s
// CHECK: 0: it must be complete here: CHANGE may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 1: it must be complete here: CHANGE may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 2: it must be complete here: CHANGE may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 3: it must be complete here: CHANGE may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 4: fix: MPI_Iallreduce here, MPI_Wait behind line 40
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1000 };
#if HOW == 0
#define MEMORY double a[N] = {1}, *of = a
#define CHANGE a[i] = 2
#elif HOW == 1
#define MEMORY double *a = calloc(N, sizeof *a), *of = a
#define CHANGE *a += 2
#elif HOW == 2
#define MEMORY struct { double x[N]; } a = {{1}}; double *of = a.x
#define CHANGE a.x[i] = 2
#elif HOW == 3
#define MEMORY double *of = &t
#define CHANGE t += i
#else
#define MEMORY double *of = calloc(N, sizeof *of)
#define CHANGE t += i
#endif
int main(int argc, char **argv) {
  int rank;
  double x = 1, y = 0, t = 0;
  MPI_Request r;
  MEMORY;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Isend(of, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r), MPI_Request_free(&r);
  if (rank == 1) MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) CHANGE;
  printf("%g %g\n", y, t);
  MPI_Finalize();
}
