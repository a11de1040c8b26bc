// What the call returns goes to a variable: the wait's goes there as well, and an if that stops at an error is repeated.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.c
// RUN: cp %t.c %t.again.c && nbc-overlap --fix %t.again.c -- mpicc.openmpi && cmp %t.c %t.again.c
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 100 };
static double in[N], out[N], other[N];
static void work(double *v) {
  for (int i = 0; i < N; ++i) v[i] += i;
}
static int count;

static int checked(void) {
  // CHECK-LABEL: int checked(
  // CHECK-NEXT: {{^}}  MPI_Request bcast_request;
  // CHECK-NEXT: {{^}}  int rc = MPI_Ibcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD, &bcast_request);
  // CHECK-NEXT: {{^}}  if (rc != MPI_SUCCESS) {
  // CHECK-NEXT:          fprintf
  // CHECK-NEXT:          return rc;
  // CHECK-NEXT:        }
  // CHECK-NEXT:        work(other);
  // CHECK-NEXT: {{^}}  if (rc == MPI_SUCCESS) rc = MPI_Wait(&bcast_request, MPI_STATUS_IGNORE);
  // CHECK-NEXT: {{^}}  if (rc != MPI_SUCCESS) {
  // CHECK-NEXT:          fprintf
  // CHECK-NEXT:          return rc;
  // CHECK-NEXT:        }
  // CHECK-NEXT:        work(in);
  int rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) {
    fprintf(stderr, "error %d\n", rc);
    return rc;
  }
  work(other);
  work(in);
  // CHECK:      rc = MPI_Ibcast(
  // CHECK-NEXT: if (rc) MPI_Abort(MPI_COMM_WORLD, rc);
  // CHECK-NEXT: work(other);
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(&bcast_request_2, MPI_STATUS_IGNORE);
  // CHECK-NEXT: if (rc) MPI_Abort(MPI_COMM_WORLD, rc);
  // CHECK-NEXT: return rc;
  rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc) MPI_Abort(MPI_COMM_WORLD, rc);
  work(other);
  return rc;
}

static int unchecked(void) {
  // CHECK-LABEL: int unchecked(
  // CHECK:      rc = MPI_Ibcast(
  // CHECK-NEXT: work(other);
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(&bcast_request_3, MPI_STATUS_IGNORE);
  // CHECK-NEXT: return rc;
  int rc;
  rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(other);
  return rc;
}

// The code decides what is done, is counted, goes elsewhere, is lost on the way, or is asked whether all went well.
static int otherwise(void) {
  // CHECK-LABEL: int otherwise(
  // CHECK-NOT: MPI_Ib
  // CHECK: {{^}}}
  static int kept;
  short little;
  int rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD), rest = 0;
  work(other);
  rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc == MPI_SUCCESS) return 0;
  work(other);
  rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) rc = 0, in[0] = 0;
  work(other);
  rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) MPI_Barrier(MPI_COMM_WORLD);
  work(other);
  rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS)
    return rc;
  else
    count = 1;
  work(other);
  rc += MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(other);
  kept = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(other);
  count = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(other);
  little = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(other);
  rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc > 1) return rc;
  work(other);
  rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#ifdef CAREFUL
  if (rc) return rc;
#endif
  work(other);
  return rc + rest + kept + little;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rc = checked() + unchecked() + otherwise();
  MPI_Finalize();
  return rc;
}
