// Other calls of MPI in the loop leave alone what a persistent call is given, if it is constants and places.
// REQUIRES: openmpi
// RUN: nbc-overlap --persistent=mpix %s -- mpicc.openmpi | FileCheck %s

#include <mpi.h>
#include <stdio.h>

static double local, global, halo[2], w[1000];
static void work(void) {
  for (int i = 0; i < 1000; ++i) w[i] = w[i] * 0.5 + i;
}
static void exchange(int with) {
  MPI_Sendrecv(&halo[0], 1, MPI_DOUBLE, with, 0, &halo[1], 1, MPI_DOUBLE, with, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  int n = 1, rank;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 10; ++i) {
    exchange(rank);
    local = halo[1];
    // CHECK: persistent_between.c:[[#@LINE+1]]:5: note: fix: MPIX_Allreduce_init before the loop
    MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
    printf("%g\n", global);
  }
  for (int i = 0; i < 10; ++i) {
    exchange(rank);
    local = halo[1];
    // CHECK: persistent_between.c:[[#@LINE+1]]:5: note: not persistent: MPI_Sendrecv in exchange() may change what the call is given
    MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, comm);
    work();
    printf("%g\n", global);
  }
  for (int i = 0; i < 10; ++i) {
    MPI_Sendrecv_replace(&n, 1, MPI_INT, rank, 0, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    // CHECK: persistent_between.c:[[#@LINE+1]]:5: note: not persistent: {{.*}} may change what the call is given
    MPI_Allreduce(&local, &global, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
    printf("%g\n", global);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
