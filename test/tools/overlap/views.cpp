// What a function that is promised to be local is given in a structure, it may touch as well.
// REQUIRES: openmpi
// RUN: nbc-overlap --local=smooth,norm %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 | FileCheck %s
#include <mpi.h>
enum { N = 400 };
struct View {
  double *of;
  int length;
};
struct Range {
  int from, to;
};
void smooth(View);
void norm(Range, double *);
int main(int argc, char **argv) {
  double a[N], b[N], z[N];
  View va{a, N};
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+2]]:10: note: it must be complete here: va is read, and may be memory that MPI_Allreduce writes
  MPI_Allreduce(b, a, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  smooth(va);
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(b, a, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  norm({0, N}, z);
  MPI_Finalize();
}
