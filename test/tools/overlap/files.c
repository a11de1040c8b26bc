// What is written to a file another rank may read behind the call, or append to: no call moves across that.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
#include <stdio.h>
enum { N = 100 };
static double other[N];
extern FILE *stdout_log;
static void work(void) {
  for (int i = 0; i < N; ++i) other[i] += i;
}

int main(int argc, char **argv) {
  int n = 7;
  MPI_Init(&argc, &argv);
  FILE *file = fopen("log", "a");
  work();
  fprintf(file, "header\n");
  fflush(file);
  // CHECK: [[#@LINE+3]]:3: remark: MPI_Bcast: line [[#@LINE+4]] can run meanwhile
  // CHECK-NEXT: [[#@LINE+4]]:3: note: it must be complete here: fprintf writes a file, and MPI_Bcast may be what orders
  // CHECK-NEXT: [[#@LINE-3]]:3: note: it cannot start before this: fflush writes a file
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
  fprintf(file, "more\n");
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast: lines [[#@LINE+3]] to [[#@LINE+5]] can run meanwhile
  // CHECK-NEXT: [[#@LINE+5]]:3: note: it must be complete here: fflush writes a file
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
  fprintf(stderr, "at work\n");
  printf("at work\n");
  fflush(NULL);
  // CHECK: [[#@LINE+3]]:3: note: it must be complete here: fprintf writes a file
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
  fprintf(stdout_log, "named alike\n");
  MPI_Finalize();
}
