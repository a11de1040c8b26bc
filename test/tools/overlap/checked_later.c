// What a check does where a call has failed it does behind the wait, too, with the same values: nothing is under way beyond
// a change to them.
// REQUIRES: openmpi
// RUN: grep -v "CHECK\|RUN:" %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi
// RUN: FileCheck %s --input-file=%t.c
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };
static double in[N], out[N], other[N];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double *p = malloc(sizeof *p);
  // CHECK: if (MPI_Iallreduce(
  // CHECK: for
  // CHECK-NEXT: if (MPI_Wait(
  // CHECK-NEXT: free(p);
  // CHECK: free(p);
  // CHECK-NEXT: for
  if (MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS) {
    free(p);
    return 1;
  }
  for (int i = 0; i < N; ++i) other[i] = i;
  free(p);
  for (int i = 0; i < N; ++i) other[i] += i;
  // CHECK: int rc = MPI_Iallreduce(
  // CHECK: printf
  // CHECK: for
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: if (rc != MPI_SUCCESS) {
  // CHECK-NEXT: printf
  // CHECK: step = 2;
  int step = 1;
  int rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) {
    printf("step %d\n", step);
    return 1;
  }
  for (int i = 0; i < N; ++i) other[i] += i;
  step = 2;
  for (int i = 0; i < N; ++i) other[i] += step;
  MPI_Finalize();
  return other[0] + out[0] > 0;
}
