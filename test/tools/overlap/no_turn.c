// Before a loop without a turn a communicator may be null: nothing is made of it there.
// REQUIRES: openmpi
// RUN: nbc-overlap --persistent=mpix %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
enum { N = 400 };
static double y[N], in[N], out[N];
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] += i;
}
int main(int argc, char **argv) {
  int size;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int k = 0; size > 1 && k < 6; ++k) {
    in[0] = k;
    // CHECK: [[#@LINE+3]]:5: remark: MPI_Allreduce
    // CHECK: note: not persistent: the loop may have no turn, and comm may have no good value then
    // CHECK-NEXT: note: fix: MPI_Iallreduce
    MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, comm);
    work();
    y[2] += out[0];
  }
  for (int k = 0; k < 6; ++k) {
    in[0] = k;
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce
    // CHECK: note: fix: MPIX_Allreduce_init
    MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, comm);
    work();
    y[2] += out[0];
  }
  // Nor is one made where turns end before the call, as those of ranks without the communicator.
  for (int k = 0; k < 6; ++k) {
    in[0] = k;
    if (size == 1) continue;
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce
    // CHECK: note: not persistent: a turn may end before the call
    MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, comm);
    work();
    y[2] += out[0];
  }
  // Not every number is a rank.
  for (int k = 0; k < argc; ++k) {
    in[0] = k;
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK: note: not persistent: the loop may have no turn, and 2 may have no good value then
    MPI_Bcast(in, 4, MPI_DOUBLE, 2, MPI_COMM_WORLD);
    work();
    y[2] += in[0];
  }
  MPI_Finalize();
}
