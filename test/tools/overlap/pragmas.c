// Nothing is put between a pragma and what it is for, whatever stands between the two.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix: && cmp %s %t.c
// CHECK: a pragma, or an #if, stands before it
#include <mpi.h>
enum { N = 400 };
#define INDEPENDENT _Pragma("GCC ivdep")
static double y[N], in[N], out[N];
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] += i;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
#pragma GCC ivdep
  // two steps
  /* at
     once */
  for (int k = 0; k < 6; ++k) {
    work();
    in[0] = out[1] + k;
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  INDEPENDENT
  for (int k = 0; k < 6; ++k) {
    work();
    in[0] = out[1] + k;
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
#pragma GCC \
  diagnostic ignored "-Wunused"
  // and a call
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  MPI_Finalize();
}
