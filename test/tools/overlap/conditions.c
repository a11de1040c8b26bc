// A call in an if that stops at an error: the if is repeated with the wait. One that does anything else keeps its call.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.c
// RUN: cp %t.c %t.again.c && nbc-overlap --fix %t.again.c -- mpicc.openmpi && cmp %t.c %t.again.c
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define FAILED != MPI_SUCCESS
enum { N = 100 };
static double in[N], out[N], other[N];
static int failures;
static void work(double *v) {
  for (int i = 0; i < N; ++i) v[i] += i;
}

static int stops(void) {
  // CHECK-LABEL: int stops(
  // CHECK:      {{^}}  MPI_Request bcast_request;
  // CHECK-NEXT: {{^}}  if (MPI_Ibcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD, &bcast_request) != MPI_SUCCESS) {  // the first
  // CHECK-NEXT:          fprintf(stderr, "it failed\n");
  // CHECK-NEXT:          return 1;
  // CHECK-NEXT:        }
  // CHECK-NEXT:        work(other);
  // CHECK-NEXT: {{^}}  if (MPI_Wait(&bcast_request, MPI_STATUS_IGNORE) != MPI_SUCCESS) {  // the first
  // CHECK-NEXT:          fprintf(stderr, "it failed\n");
  // CHECK-NEXT:          return 1;
  // CHECK-NEXT:        }
  // CHECK-NEXT:        work(in);
  int rc;
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD) != MPI_SUCCESS) {  // the first
    fprintf(stderr, "it failed\n");
    return 1;
  }
  work(other);
  work(in);
  // CHECK:      if (MPI_SUCCESS != (rc = MPI_Ibcast(in, N,
  // CHECK-NEXT:                 MPI_DOUBLE, 0, MPI_COMM_WORLD, &bcast_request_2)))
  // CHECK-NEXT:   goto failed;
  // CHECK-NEXT: work(other);
  // CHECK-NEXT: if (MPI_SUCCESS != (rc = MPI_Wait(&bcast_request_2, MPI_STATUS_IGNORE)))
  // CHECK-NEXT:   goto failed;
  // CHECK-NEXT: failures += rc;
  if (MPI_SUCCESS != (rc = MPI_Bcast(in, N,
                 MPI_DOUBLE, 0, MPI_COMM_WORLD)))
    goto failed;
  work(other);
  failures += rc;
  // CHECK:      if (MPI_Ibcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD, &bcast_request_3) FAILED) exit(1);
  // CHECK-NEXT: work(other);
  // CHECK-NEXT: if (MPI_Wait(&bcast_request_3, MPI_STATUS_IGNORE) FAILED) exit(1);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD) FAILED) exit(1);
  work(other);
  // CHECK:      rc = MPI_Ibcast(
  // CHECK-NEXT: if (rc) goto failed;
  // CHECK-NEXT: work(other);
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(&bcast_request_4, MPI_STATUS_IGNORE);
  // CHECK-NEXT: if (rc) goto failed;
  rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc) goto failed;
  work(other);
  return 0;
failed:
  fprintf(stderr, "it failed\n");
  return rc;
}

// It goes back.
static void retries(void) {
  // CHECK-LABEL: void retries(
  // CHECK-NOT: MPI_Ib
  // CHECK: {{^}}}
again:
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD) != MPI_SUCCESS) goto again;
  work(other);
}

// It goes on; asks something else, or more; counts, touches what comes, or has another way.
static int otherwise(void) {
  // CHECK-LABEL: int otherwise(
  // CHECK-NOT: MPI_Ib
  // CHECK: {{^}}}
  int tries = 0, rc;
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD) != MPI_SUCCESS) ++failures;
  work(other);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD) == MPI_SUCCESS) return 0;
  work(other);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD) != MPI_SUCCESS || tries++ > 2) return 1;
  work(other);
  if (tries || MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD)) return 1;
  work(other);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD) > 1) return 1;
  work(other);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD) != MPI_ERR_COMM) return 1;
  work(other);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD)) in[0] = 0, exit(1);
  work(other);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD)) return MPI_Barrier(MPI_COMM_WORLD);
  work(other);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD)) {
    if (tries) return 1;
  }
  work(other);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD))
    return 1;
  else
    ++tries;
  work(other);
  if ((failures = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD)) != 0) return 1;
  work(other);
  if ((rc = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD)) != 0) return 1;
  tries += rc;
  work(other);
  if (tries)
    if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD)) return 1;
  work(other);
  if (MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD)) {
#ifdef CAREFUL
    work(in);
#endif
    return 1;
  }
  work(other);
  return tries;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rc = stops() + otherwise();
  retries();
  MPI_Finalize();
  return rc;
}
