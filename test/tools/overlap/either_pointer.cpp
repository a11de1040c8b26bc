// Of two pointers either may be the one that is assigned to.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DOMPI_SKIP_MPICXX | FileCheck %s
#include <mpi.h>
enum { N = 100 };

int main(int argc, char **argv) {
  double in[N] = {0}, out[N], other[N], *p = other, *q = other;
  MPI_Init(&argc, &argv);
  (argc < 5 ? p : q) = out;
  // CHECK: [[#@LINE+2]]:31: note: it must be complete here: p[i] is read, and may be memory that MPI_Allreduce writes
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) p[i] *= 2;
  MPI_Finalize();
  return out[5] + q[5] > 0;
}
