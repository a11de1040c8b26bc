// What a function of the program's own only prints, by the format that it is given, it does not change; and one that
// says why and ends all ranks does not communicate before.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s --check-prefixes=CHECK,PRINTED
// RUN: nbc-overlap %s -- mpicc.openmpi -DFORMAT='"%%hhn"' | FileCheck %s --check-prefixes=CHECK,OTHER
// RUN: nbc-overlap %s -- mpicc.openmpi -DFORMAT='"%%p"' | FileCheck %s --check-prefixes=CHECK,OTHER
// RUN: nbc-overlap %s -- mpicc.openmpi -DTAKES | FileCheck %s --check-prefixes=CHECK,OTHER
// RUN: nbc-overlap %s -- mpicc.openmpi -DANOTHER | FileCheck %s --check-prefixes=CHECK,OTHER
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef FORMAT
#define FORMAT "%s\n"
#endif
static double w[1000], in, out;
static void work(void) {
  for (int i = 0; i < 1000; ++i) w[i] += i;
}
static void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
#ifdef ANOTHER
  format = "%hhn";
#endif
#ifdef TAKES
  va_arg(arguments, char *)[0] = 'x';
#endif
  vprintf(format, arguments);
  va_end(arguments);
}
static void fail(const char *format, ...) {
  char text[80];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}
int main(int argc, char **argv) {
  int rank;
  char name[8] = "full";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *memory = malloc(1000);
  if (!memory) fail("no memory for %s", name);
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  work();
  in = out;
  if (rank == 0) say(FORMAT, name);
  if (name[0] == 'f') {
    // PRINTED: [[#@LINE+2]]:5: note: fix: MPI_Iallreduce here
    // OTHER: [[#@LINE-2]]:7: note: not changed: {{.*}}'name[0] == 'f'', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  } else {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  } else {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return w[3] + memory[0] < 0;
}
