// What stands behind a call and does nothing but stop at an error is repeated behind the wait: an if in other words, a
// macro, a function of the program. What does more ends the window.
// REQUIRES: openmpi
// RUN: grep -v "CHECK\|RUN:" %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi 2>&1 | FileCheck %s --check-prefix=WHY
// WHY-COUNT-6: is read, in which is what MPI_Allreduce returns: only a check right behind the call that does no more than stop at an error
// RUN: FileCheck %s --input-file=%t.c
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef int Error;
enum { N = 100 };
static double in[N], out[N], other[N];
static int calls, failures;

#define STOP(rc)                              \
  do {                                        \
    if ((rc) != MPI_SUCCESS) {                \
      fprintf(stderr, "failed: %d\n", (rc));  \
      MPI_Abort(MPI_COMM_WORLD, (rc));        \
    }                                         \
  } while (0)
#define RETURN(e)                                  \
  do {                                             \
    int failed = (e);                              \
    if (__builtin_expect(!!(failed), 0)) return 1; \
  } while (0)
#define HOLDS(c) ((c) ? (void)0 : abort())
#define COUNT(rc)        \
  do {                   \
    ++calls;             \
    if (rc) exit(1);     \
  } while (0)
#define GOES_ON(rc) \
  do {              \
    if (rc) fprintf(stderr, "failed: %d\n", (rc)); \
  } while (0)
#define LEAVES(rc) \
  do {             \
    if (!(rc)) return 0; \
  } while (0)

static void stop(int code, const char *where, int number) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "%s %d: %s\n", where, number, text);
  exit(1);
}

static void note(int code) {
  if (code) ++failures;
}

static void work(void) {
  for (int i = 0; i < N; ++i) other[i] += i;
}

static int checked(void) {
  Error rc;
  // CHECK: rc = MPI_Iallreduce(
  // CHECK-NEXT: STOP(rc);
  // CHECK-NEXT: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: STOP(rc);
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  STOP(rc);
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Iallreduce(
  // CHECK-NEXT: RETURN(rc);
  // CHECK-NEXT: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: RETURN(rc);
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  RETURN(rc);
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Iallreduce(
  // CHECK-NEXT: HOLDS(rc == MPI_SUCCESS);
  // CHECK-NEXT: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: HOLDS(rc == MPI_SUCCESS);
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  HOLDS(rc == MPI_SUCCESS);
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Iallreduce(
  // CHECK-NEXT: assert(rc == MPI_SUCCESS);
  // CHECK-NEXT: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: assert(rc == MPI_SUCCESS);
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  assert(rc == MPI_SUCCESS);
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Iallreduce(
  // CHECK-NEXT: stop(rc, "sum", N);
  // CHECK-NEXT: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: stop(rc, "sum", N);
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  stop(rc, "sum", N);
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Iallreduce(
  // CHECK-NEXT: if (!(rc == MPI_SUCCESS)) return 1;
  // CHECK-NEXT: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: if (!(rc == MPI_SUCCESS)) return 1;
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (!(rc == MPI_SUCCESS)) return 1;
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Iallreduce(
  // CHECK-NEXT: if (rc > MPI_SUCCESS) {
  // CHECK: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: if (rc > MPI_SUCCESS) {
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rc > MPI_SUCCESS) {
    fprintf(stderr, "failed: %d\n", rc);
    MPI_Finalize();
    exit(1);
  }
  work();
  return out[0] > 0;
}

// CHECK-LABEL: does_more(
static int does_more(void) {
  int rc;
  // CHECK: rc = MPI_Allreduce(
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  COUNT(rc);
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Allreduce(
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  GOES_ON(rc);
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Allreduce(
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  note(rc);
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Allreduce(
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  stop(rc, "sum", ++calls);
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Allreduce(
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rc == MPI_SUCCESS) {
    ++calls;
  } else {
    return 1;
  }
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Allreduce(
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  LEAVES(rc);
  work();
  return out[0] > 0;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = checked();
  bad += does_more();
  MPI_Finalize();
  return bad;
}
