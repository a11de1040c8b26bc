// What a call leaves out is computed where the call is; so is what a thread's own variable begins with.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DOMPI_SKIP_MPICXX | FileCheck %s
#include <mpi.h>
enum { N = 100 };
static double other[N], omega = 1;
static void relax(double weight = omega) {
  for (int i = 0; i < N; i++) other[i] *= weight;
}
static void step(double weight = 7) {
  for (int i = 0; i < N; i++) other[i] *= weight;
}

int main(int argc, char **argv) {
  double mine = argc;
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: note: it must be complete here: omega is read
  MPI_Allreduce(&mine, &omega, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  relax();
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: [[#@LINE+2]]:37: note: it must be complete here: omega is read
  MPI_Allreduce(&mine, &omega, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  thread_local const double first = omega;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: line [[#@LINE+3]] can run meanwhile
  // CHECK: [[#@LINE+3]]:7: note: it must be complete here: omega is read
  MPI_Allreduce(&mine, &omega, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  step();
  if (omega > first) step(omega);
  MPI_Finalize();
}
