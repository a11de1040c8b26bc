// A macro that only looks at what the call returns is put around both calls; one that does more is left alone.
// REQUIRES: openmpi
// RUN: grep -Ev "CHECKS|NOTES" %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --check-prefix=NOTES
// RUN: FileCheck %s --input-file=%t.c --check-prefix=CHECKS && mpicc.openmpi -Werror -fsyntax-only %t.c
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(call)                                    \
  do {                                                 \
    int rc_ = (call);                                  \
    if (rc_ != MPI_SUCCESS) {                          \
      fprintf(stderr, "%s: error %d\n", #call, rc_);   \
      MPI_Abort(MPI_COMM_WORLD, rc_);                  \
    }                                                  \
  } while (0)
#define RETURN(call) \
  if ((call) != MPI_SUCCESS) return 1
#define MAYBE(call) \
  if (enabled) call
#define USE(call) (call, out[0])
enum { N = 100 };
static int enabled = 1;
static double in[N], out[N], other[N];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  // CHECKS: MPI_Request allreduce_request;
  // CHECKS-NEXT: CHECK(MPI_Iallreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &allreduce_request));
  // CHECKS-NEXT: for
  // CHECKS-NEXT: CHECK(MPI_Wait(&allreduce_request, MPI_STATUS_IGNORE));
  CHECK(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < N; ++i) other[i] = i;
  // CHECKS: RETURN(MPI_Iallreduce(
  // CHECKS-NEXT: for
  // CHECKS-NEXT: RETURN(MPI_Wait(
  RETURN(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < N; ++i) other[i] = i;
  // NOTES: not changed: MAYBE() may run the call more than once, or not
  MAYBE(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < N; ++i) other[i] = i;
  enabled = 0;
  // NOTES: not changed: the call is part of a macro
  double first = USE(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < N; ++i) other[i] = i;
  MPI_Finalize();
  return first + other[0] + out[0] > 0;
}
