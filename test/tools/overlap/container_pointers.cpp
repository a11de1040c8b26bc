// A vector that is reached through a pointer is the one that the pointer points at.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DOMPI_SKIP_MPICXX | FileCheck %s
#include <mpi.h>

#include <vector>
enum { N = 100 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  std::vector<double> in(N), a(N), b(N), *now = &a;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: note: it must be complete here: a[i] is read, which MPI_Allreduce writes
  MPI_Allreduce(in.data(), now->data(), N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) a[i] *= 2;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: note: it must be complete here: now is written, which MPI_Allreduce writes
  MPI_Allreduce(in.data(), a.data(), N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  now->resize(7 * N);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: line
  // CHECK: note: fix
  MPI_Allreduce(in.data(), now->data(), N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) b[i] = i;
  MPI_Finalize();
  return a[3] + b[3] > 0;
}
