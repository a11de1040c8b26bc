// Who ends all ranks behind a barrier knows that they have come there; behind any call, where they have files to write.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s --check-prefixes=CHECK,INSIDE
// RUN: nbc-overlap %s -- mpicc.openmpi -DWRITES | FileCheck %s --check-prefixes=CHECK,WRITES
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 400 };
static double y[N];
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] = i;
}
int main(int argc, char **argv) {
  int rank, x = 1, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRITES
  FILE *report = fopen("report.txt", "a");
  if (report) fprintf(report, "here\n"), fclose(report);
#endif
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: line{{s?}} [[#@LINE+3]]
  // WRITES: [[#@LINE+3]]:17: note: it must be complete here: abort ends all ranks, and what they did before MPI_Allreduce
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  work();
  if (y[3] > 5) abort();
  work();
  // INSIDE: note: it must be complete here: sum is read
  x = sum;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Barrier: line [[#@LINE+3]] can
  // CHECK: [[#@LINE+3]]:17: note: it must be complete here: abort ends all ranks, and what they did before MPI_Barrier
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) x += i;
  if (argc > 9) abort();
  // Of its own communicator a rank ends itself only.
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Reduce: line [[#@LINE+3]] can
  // CHECK: [[#@LINE+3]]:17: note: it must be complete here: MPI_Abort ends the rank while
  MPI_Reduce(&x, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  work();
  if (argc > 9) MPI_Abort(MPI_COMM_SELF, 1);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast: line [[#@LINE+3]] can
  // CHECK: [[#@LINE+3]]:3: note: it must be complete here: a loop that does not end
  MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
  for (;;) {
    if (argc > 5) for (;;) {
      if (y[1] > 0) break;
    }
    work();
  }
}
