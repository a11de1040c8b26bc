// Whoever else calls a function of a library does so on all ranks, but not with the same arguments. Of one that nobody else
// can call all are seen.
// REQUIRES: openmpi
// RUN: nbc-overlap --library --least=1 %s -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
#include <mpi.h>
enum { N = 400 };
void share(double *restrict x, int root, double *restrict y) {
  if (root) {
    // CHECK: note: not changed: whether a rank comes here depends on 'root'
    MPI_Bcast(x, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) y[i] += i;
  }
}
static void own(double *restrict x, int root, double *restrict y) {
  if (root) {
    // CHECK: note: fix: MPI_Iallreduce here
    MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) y[i] += i;
  }
}
void plain(double *x, double *y) {
  share(x, 0, y);
  own(x, 1, y);
}
