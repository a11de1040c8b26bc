// A counter that may wrap around takes two buffers in turns no longer: 255 and 0 are the same one of three.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | grep remark | FileCheck %s
#include <mpi.h>
enum { N = 100 };
static double buffer[3][N];

int main(int argc, char **argv) {
  unsigned char few = 0;
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+4]]:5: remark: MPI_Bcast: nothing can run meanwhile{{$}}
  for (unsigned char k = 0; k <= 255; ++k) {
    for (int i = 0; i < N; ++i) buffer[k % 3][i] = i;
    if (++few == 7) break;
    MPI_Bcast(buffer[k % 3], N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  // CHECK: [[#@LINE+3]]:5: remark: MPI_Bcast: nothing can run meanwhile{{$}}
  for (unsigned char k = 0; k < argc; ++k) {
    for (int i = 0; i < N; ++i) buffer[k % 3][i] = i;
    MPI_Bcast(buffer[k % 3], N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  // CHECK: [[#@LINE+3]]:5: remark: MPI_Bcast: nothing can run meanwhile; of the next turn
  for (unsigned char k = 0; k < 200; ++k) {
    for (int i = 0; i < N; ++i) buffer[k % 3][i] = i;
    MPI_Bcast(buffer[k % 3], N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  // CHECK: [[#@LINE+3]]:5: remark: MPI_Bcast: nothing can run meanwhile; of the next turn
  for (int k = 0; k < argc; ++k) {
    for (int i = 0; i < N; ++i) buffer[k % 3][i] = i;
    MPI_Bcast(buffer[k % 3], N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
