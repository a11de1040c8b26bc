// Checks that leave, with what they say of it: macros that return or go elsewhere where a call has failed, and functions
// that print what they are given behind a format. What leaves when nothing has failed, goes backwards, or looks at its
// arguments otherwise is not one.
// REQUIRES: openmpi
// RUN: grep -v "CHECK\|RUN:" %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t.c
// RUN: mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.c
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };
static double in[N], out[N], other[N];
static char text[N];

#define RETURN(call)                        \
  do {                                      \
    int failed = (call);                    \
    if (failed != MPI_SUCCESS) return failed; \
  } while (0)
#define GO(call)                            \
  do {                                      \
    if ((rc = (call)) != MPI_SUCCESS) {     \
      fprintf(stderr, "failed: %d\n", rc);  \
      goto end;                             \
    }                                       \
  } while (0)
#define RETURN_OTHERWISE(call)              \
  do {                                      \
    int failed = (call);                    \
    if (failed || other[0] > 1e9) return 1; \
  } while (0)
#define RETURN_SUCCESS(call)                \
  do {                                      \
    if ((call) == MPI_SUCCESS) return 0;    \
  } while (0)

static void die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  exit(1);
}

static void die_of(int count, ...) {
  va_list list;
  va_start(list, count);
  while (count-- > 0) other[0] += va_arg(list, double);
  va_end(list);
  exit(1);
}

static void work(void) {
  for (int i = 0; i < N; ++i) other[i] += i;
}

static int returns(void) {
  int rc;
  // CHECK: RETURN(MPI_Iallreduce(
  // CHECK-NEXT: work();
  // CHECK-NEXT: RETURN(MPI_Wait(
  RETURN(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  other[0] += out[0];
  // CHECK: GO(MPI_Iallreduce(
  // CHECK-NEXT: work();
  // CHECK-NEXT: GO(MPI_Wait(
  GO(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Iallreduce(
  // CHECK-NEXT: if (rc != MPI_SUCCESS) die("%s: %d", "sum", rc);
  // CHECK-NEXT: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: if (rc != MPI_SUCCESS) die("%s: %d", "sum", rc);
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) die("%s: %d", "sum", rc);
  work();
  other[0] += out[0];
end:
  return rc;
}

// CHECK-LABEL: does_more(
static int does_more(void) {
  int rc, least = 0;
  // WHY: RETURN_OTHERWISE() does more than stop at an error: return
  // CHECK: RETURN_OTHERWISE(MPI_Allreduce(
  RETURN_OTHERWISE(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  other[0] += out[0];
  // WHY: GO() does more than stop at an error: goto
  // CHECK: GO(MPI_Allreduce(
end:
  work();
  GO(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  other[0] += out[0];
  // WHY: and this one does: text is read
  // CHECK: rc = MPI_Allreduce(
  rc = MPI_Allreduce(in, text, 8, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) die("%s", text);
  work();
  other[0] += text[0];
  // WHY: and this one does: __builtin_va_start in die_of(){{$}}
  // CHECK: rc = MPI_Allreduce(
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) die_of(1, 1.0);
  work();
  other[0] += out[0] + least;
  // WHY: RETURN_SUCCESS() does more than stop at an error: return
  // CHECK: RETURN_SUCCESS(MPI_Allreduce(
  RETURN_SUCCESS(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  return out[0] > 0;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = returns();
  bad += does_more();
  MPI_Finalize();
  return bad;
}
