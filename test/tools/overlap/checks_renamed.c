// A check that is repeated would mean something else behind statements that declare what it names: by types within others
// or within expressions, as C has them. Names that a macro puts together may be any. One that says __COUNTER__ would count
// once more, and so would the call.
// REQUIRES: openmpi
// RUN: grep -v "CHECK\|RUN:" %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi
// RUN: FileCheck %s --input-file=%t.c
#include <mpi.h>
#include <stdlib.h>

enum { N = 100, well = 0, few = 4 };
static double in[N], out[N], other[N];

#define STOP(rc)                    \
  do {                              \
    if ((rc) != well) abort();      \
  } while (0)
#define CALL(how) stop_##how(rc)
#define COUNTS(rc)                         \
  do {                                     \
    if (rc) exit(1 + __COUNTER__);         \
  } while (0)

static void stop_here(int rc) {
  if (rc) exit(1);
}

static void work(void) {
  for (int i = 0; i < N; ++i) other[i] += i;
}

static void checked(void) {
  int rc;
  // CHECK: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: STOP(rc);
  // CHECK-NEXT: struct
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  STOP(rc);
  work();
  struct {
    enum { well = 7 } how;
  } inner;
  inner.how = well;
  work();
  other[0] += out[0] + inner.how;
}

static void within(void) {
  int rc;
  // CHECK-LABEL: within(
  // CHECK: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: STOP(rc);
  // CHECK-NEXT: other[1]
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  STOP(rc);
  work();
  other[1] += sizeof(enum { well = 7 });
  work();
  other[0] += out[0];
}

static void together(void) {
  int rc;
  // CHECK-LABEL: together(
  // CHECK: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: CALL(here);
  // CHECK-NEXT: int
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  CALL(here);
  work();
  int stop_nowhere = 1;
  work();
  other[0] += out[0] + stop_nowhere;
}

static void moved(void) {
  // CHECK-LABEL: moved(
  // CHECK: other[1]
  // CHECK-NEXT: MPI_Request
  // CHECK-NEXT: MPI_Iallreduce(
  // CHECK-NEXT: work();
  in[0] = 1;
  work();
  other[1] += sizeof(enum { few = 2 });
  work();
  MPI_Allreduce(in, out, few, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  other[0] += out[0];
}

static void counted(void) {
  int rc;
  // CHECK-LABEL: counted(
  // CHECK: rc = MPI_Allreduce(
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  COUNTS(rc);
  work();
  // CHECK: MPI_Allreduce(
  MPI_Allreduce(in, out, 1 + __COUNTER__, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  other[0] += out[0];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  checked();
  within();
  together();
  moved();
  counted();
  MPI_Finalize();
  return other[0] > 0;
}
