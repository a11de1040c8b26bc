// A call that was moved up keeps a later one within its turn, in the first run and in the second.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s && cp %t.c %t.again.c
// RUN: nbc-overlap --fix %t.again.c -- mpicc.openmpi > %t.out && cmp %t.c %t.again.c
// CHECK-COUNT-1: fix:
// CHECK-NOT: fix:
#include <mpi.h>
enum { N = 400 };
static double in[N], out[N], a[N], b[N], more[N];
static void work(double *v) {
  for (int i = 0; i < N; ++i) v[i] += i;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int k = 0; k < 5; ++k) {
    work(a);
    work(more);
    MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) in[i] = b[i] + out[i];
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
