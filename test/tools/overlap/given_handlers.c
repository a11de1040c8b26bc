// What the library calls for the program where a call ends, fails or prints may touch the buffers.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi -DGIVE='signal(SIGABRT, save)' | FileCheck %s --check-prefixes=CHECK,ABORT
// RUN: nbc-overlap %s -- mpicc.openmpi -DGIVE='atexit(end)' | FileCheck %s --check-prefixes=CHECK,EXIT
// RUN: nbc-overlap %s -- mpicc.openmpi -DGIVE='(void)handler' -DENDS='__attribute__((destructor))' | FileCheck %s --check-prefixes=CHECK,EXIT
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -x c++ -DGIVE='(void)handler' | FileCheck %s --check-prefixes=CHECK,EXIT
// RUN: nbc-overlap %s -- mpicc.openmpi -DGIVE='MPI_Comm_create_errhandler(fail, &handler)' | FileCheck %s --check-prefixes=CHECK,FAIL
// RUN: nbc-overlap %s -- mpicc.openmpi -DGIVE='MPI_Type_create_keyval(MPI_TYPE_DUP_FN, drop, &bytes, 0)' | FileCheck %s --check-prefixes=CHECK,FAIL
// RUN: nbc-overlap %s -- mpicc.openmpi -D_GNU_SOURCE -DGIVE="register_printf_specifier('d', print, size)" | FileCheck %s --check-prefixes=CHECK,PRINT
// RUN: nbc-overlap %s -- mpicc.openmpi -DGIVE='(void)handler' | FileCheck %s --check-prefix=NONE --implicit-check-not="cannot be seen into"

#include <assert.h>
#include <mpi.h>
#include <printf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int in, out, y[400];

void save(int signal) {
  printf("saved %d\n", out);
  _Exit(signal);
}
#ifndef ENDS
#define ENDS
#endif
ENDS void end(void) { printf("ended with %d\n", out); }
#ifdef __cplusplus
struct Told {
  ~Told() { end(); }
} told;
#endif
void fail(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  in += out;
}
int drop(MPI_Datatype type, int key, void *value, void *extra) {
  (void)type, (void)key, (void)value, (void)extra;
  in += out;
  return MPI_SUCCESS;
}
int print(FILE *stream, const struct printf_info *info, const void *const *given) {
  (void)info, (void)given;
  return fprintf(stream, "%u", (unsigned)out);
}
int size(const struct printf_info *info, size_t n, int *types, int *sizes) {
  (void)info, (void)n, (void)types, (void)sizes;
  return 0;
}

int main(int argc, char **argv) {
  MPI_Errhandler handler;
  int bytes;
  MPI_Init(&argc, &argv);
  GIVE;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce
  // ABORT-NEXT: [[#@LINE+3]]:3: note: it must be complete here: a handler of the program's that __assert_fail may run
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 400; ++i) y[i] = i;
  assert(y[3] == 3);
  // EXIT-NEXT: [[#@LINE+1]]:18: note: it must be complete here: a handler of the program's that MPI_Abort may run
  if (y[4] != 4) MPI_Abort(MPI_COMM_WORLD, 1);
  // FAIL-NEXT: [[#@LINE+1]]:3: note: it must be complete here: a handler of the program's that MPI_Type_size may run
  MPI_Type_size(MPI_INT, &bytes);
  // PRINT-NEXT: [[#@LINE+1]]:3: note: it must be complete here: a handler of the program's that printf may run
  printf("%d\n", y[5] + bytes);
  // NONE: MPI_Wait behind line [[#@LINE-1]]
  MPI_Finalize();
  return out;
}
