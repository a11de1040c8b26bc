// A rank that ends behind a collective of its own may have met others with it, wherever around the end that stands.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix: && cmp %s %t.c
// CHECK-COUNT-4: note: not changed: whether a rank comes here depends on 'rank {{[!=]}}= 0'
#include <mpi.h>
#include <stdlib.h>
enum { N = 400, STOP = -1 };
static double y[N], mine, all;
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] += i;
}
static void serves(int rank) {
  int command;
  if (rank != 0)
    for (;;) {
      MPI_Bcast(&command, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (command == STOP) exit(0);
    }
}
int main(int argc, char **argv) {
  int rank, size, command = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    MPI_Reduce(&mine, NULL, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    if (size > 7) return 0;
  }
  serves(rank);
  MPI_Bcast(&command, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
  work();
  MPI_Finalize();
}
