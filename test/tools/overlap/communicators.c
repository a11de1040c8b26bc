// What a variable remembers of one communicator says nothing of the next, and the two sides of one get different things.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
// RUN: nbc-overlap %s -- mpicc.openmpi -DSIDES | FileCheck %s --check-prefix=SIDES --implicit-check-not=fix:
// CHECK: note: not changed: whether a rank comes here depends on 'size > 2'
// SIDES: note: not changed: whether a rank comes here depends on 'theirs > 1.5'
#include <mpi.h>
void elsewhere(void);  // in no source: it may hold another one of each kind
enum { N = 400 };
static double y[N], in, out;
#ifndef SIDES
static void total(MPI_Comm comm) {
  static int size;
  if (!size) MPI_Comm_size(comm, &size);
  if (size > 2) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < N; ++i) y[i] = i;
  }
}
#endif
int main(int argc, char **argv) {
  int rank;
  MPI_Comm part;
  MPI_Init(&argc, &argv);
  elsewhere();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 3, rank, &part);
#ifdef SIDES
  MPI_Comm both;
  double theirs = 0;
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 3, 5, &both);
  MPI_Allreduce(&in, &theirs, 1, MPI_DOUBLE, MPI_SUM, both);
  if (theirs > 1.5) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, both);
    for (int i = 0; i < N; ++i) y[i] = i;
  }
#else
  total(part);
  total(MPI_COMM_WORLD);
#endif
  MPI_Finalize();
}
