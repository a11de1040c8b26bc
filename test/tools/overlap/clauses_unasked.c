// What a clause computes is read, also where the source is not read as one of OpenMP.
// REQUIRES: openmpi
// RUN: nbc-overlap --whole --least=1 %s -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
#include <mpi.h>
static double w[1000];
static int n = 10;
static void threads(void) {
  // CHECK: [[#@LINE+1]]:{{.*}} note:
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
#pragma omp parallel for num_threads(n) schedule(static, 2)
  for (int i = 0; i < 1000; ++i) w[i] += 1;
}
static void chunks(void) {
  // CHECK: [[#@LINE+1]]:{{.*}} note:
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
#pragma omp parallel for schedule(static, n)
  for (int i = 0; i < 1000; ++i) w[i] += 1;
}
static void maybe(void) {
  // CHECK: [[#@LINE+1]]:{{.*}} note:
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
#pragma omp parallel for if (n > 5)
  for (int i = 0; i < 1000; ++i) w[i] += 1;
}
static void plain(void) {
  // CHECK: [[#@LINE+1]]:{{.*}} fix: MPI_Ibcast here
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
#pragma omp parallel for num_threads(4) schedule(static, 2) collapse(1)
  for (int i = 0; i < 1000; ++i) w[i] += 1;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  threads(), chunks(), maybe(), plain();
  MPI_Finalize();
}
