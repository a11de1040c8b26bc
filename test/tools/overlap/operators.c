// An operator of the program's own may have any name, also one that looks like MPI's.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
#define MPI_MOST MPI_MAX
enum { N = 100 };
static double other[N], weight = 1;
static MPI_Op MPI_WSUM;
static void weighted(void *in, void *io, int *n, MPI_Datatype *t) {
  for (int i = 0; i < *n && t; i++) ((double *)io)[i] += weight * ((double *)in)[i];
}

int main(int argc, char **argv) {
  double mine = argc, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Op_create(weighted, 1, &MPI_WSUM);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce
  // CHECK: not changed: the operator MPI_WSUM may be the program's own
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_WSUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] = i;
  weight = all;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce
  // CHECK: note: fix
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MOST, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] = i;
  weight = all;
  MPI_Op_free(&MPI_WSUM);
  MPI_Finalize();
}
