// A check that does something beside stopping would do it for the start and for the wait: it stays one.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | grep -E "remark|not changed|fix|complete" | FileCheck %s
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define COUNTED(call)                                               \
  do {                                                              \
    ++calls;                                                        \
    if ((call) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);        \
  } while (0)
#define TRACED(call)          \
  do {                        \
    printf("%s\n", #call);    \
    int rc_ = (call);         \
    if (rc_) exit(rc_);       \
  } while (0)
#define FAILS(call)              \
  do {                           \
    if ((call) != 0) ++failures; \
  } while (0)
#define KEPT(call)                            \
  do {                                        \
    if ((code = call) != 0) die("it failed"); \
  } while (0)
// Only where it fails does it stop; what it counts it would count twice.
#define COUNTED_FIRST(call)               \
  do {                                    \
    int rc_ = (call);                     \
    if (argc > 0) calls++, failed(rc_);   \
  } while (0)
#define COUNTED_BLOCK(call)               \
  do {                                    \
    int rc_ = (call);                     \
    if (argc > 0) {                       \
      calls++;                            \
      do {                                \
        if (rc_ == 0) continue;           \
        MPI_Abort(MPI_COMM_WORLD, 1);     \
      } while (0);                        \
    }                                     \
  } while (0)
enum { N = 100 };
static double in[N], out[N], other[N];
static int calls, failures, code;
static void work(void) {
  for (int i = 0; i < N; ++i) other[i] += i;
}
static void die(const char *why) {
  fprintf(stderr, "%s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
static void failed(int rc) {
  if (rc == MPI_SUCCESS) return;
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  // CHECK: not changed: COUNTED_FIRST() would do a change to calls twice
  COUNTED_FIRST(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  // CHECK: not changed: COUNTED_BLOCK() would do a change to calls twice
  COUNTED_BLOCK(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  // CHECK: not changed: COUNTED() would do a change to calls twice
  COUNTED(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  // CHECK: not changed: TRACED() would do printf twice
  TRACED(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  // CHECK: not changed: FAILS() would do a change to failures twice
  FAILS(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  // CHECK: note: fix
  KEPT(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  // CHECK: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: must be complete here: rc is read
  int rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) ++failures;
  work();
  MPI_Finalize();
  return calls + failures + code;
}
