// a ?: f() comes to f() where a is 0.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
// CHECK: note: not changed: whether a rank comes here depends on 'rank'
#include <mpi.h>
void elsewhere(void);  // in no source: it may hold another one of each kind
enum { N = 400 };
static double y[N], in, out;
static int mean(void) {
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
  return 1;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  elsewhere();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int one = rank ?: mean();
  MPI_Finalize();
  return one;
}
