// Where the program has to do with error handlers, a call that fails may return. A start that has failed leaves no
// request, so it is null before; and what keeps a code without stopping would keep that of the wait.
// REQUIRES: openmpi
// RUN: grep -v "CHECK\|RUN:" %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t.c
// WHY: KEEPS() keeps the code of a start that has failed for the wait's alone
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };
static double in[N], out[N], other[N];

#define KEEPS(call) last = (call)
#define STOPS(call)                \
  do {                             \
    last = (call);                 \
    if (last != MPI_SUCCESS) {     \
      printf("failed: %d\n", last); \
      exit(1);                     \
    }                              \
  } while (0)

int main(int argc, char **argv) {
  int last = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // CHECK: MPI_Request [[R:.*]] = MPI_REQUEST_NULL;
  // CHECK-NEXT: MPI_Iallreduce(
  // CHECK: MPI_Wait(&[[R]],
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] += i;
  other[0] += out[0];
  // CHECK: KEEPS(MPI_Allreduce(
  KEEPS(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < N; ++i) other[i] += i;
  other[0] += out[0] + last;
  // CHECK: STOPS(MPI_Iallreduce(
  // CHECK: STOPS(MPI_Wait(
  STOPS(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < N; ++i) other[i] += i;
  other[0] += out[0];
  // CHECK: last = MPI_Iallreduce(
  // CHECK: if (last == MPI_SUCCESS) last = MPI_Wait(
  last = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] += i;
  other[0] += out[0] + last;
  MPI_Finalize();
  return other[0] > 0;
}
