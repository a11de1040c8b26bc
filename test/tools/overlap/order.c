// All ranks reach the call, but not as the same one in their order: the first broadcast of rank 0 meets it.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
enum { N = 200 };
static double y[N];
static int a, b;
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] = i;
}
// As many on both sides, or on another communicator: what follows is in order.
static void in_order(int rank) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 3, rank, &part);
  if (rank == 3) MPI_Gather(&a, 1, MPI_INT, y, 1, MPI_INT, 0, part);
  if (rank == 0)
    MPI_Gather(&a, 1, MPI_INT, y, 1, MPI_INT, 0, MPI_COMM_WORLD);
  else
    MPI_Gather(&a, 1, MPI_INT, NULL, 1, MPI_INT, 0, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Gather
  // CHECK: [[#@LINE+1]]:3: note: fix:
  MPI_Gather(&a, 1, MPI_INT, &b, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
}
static void early(int rank) {
  if (rank == 0) return;
  MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  in_order(rank);
  early(rank);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Reduce
  // CHECK: note: not changed: whether a rank comes here depends on 'rank == 0'
  MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  work();
  if (rank == 0) MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  if (rank == 0) MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast
  // CHECK: note: not changed: 'rank == 0' may differ among ranks and decides how often MPI_Bcast is called before
  MPI_Bcast(rank == 0 ? &b : &a, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
  if (rank != 0) MPI_Bcast(&b, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
