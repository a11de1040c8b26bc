// Where memory is can be told in letters, and be read back.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
#include <stdio.h>
enum { N = 400 };
static double w[N];
static void told(void) {
  char name[40];
  double buffer[N], *p = w;
  sprintf(name, "%p", (void *)buffer);
  sscanf(name, "%p", (void **)&p);
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: p[i] is read, and may be memory that MPI_Bcast writes
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) w[i] = p[i];
}
static void hidden(const char *format) {
  char name[40];
  double buffer[N], *p = w;
  sprintf(name, format, (void *)buffer);
  sscanf(name, "%p", (void **)&p);
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: p[i] is read, and may be memory that MPI_Bcast writes
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) w[i] = p[i];
}
static void untold(void) {
  char name[40];
  double buffer[N] = {0}, *p = w;
  sprintf(name, "%g%%p", buffer[0]);
  sscanf(name, "%p", (void **)&p);
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Ibcast here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) w[i] = p[i];
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  told(), hidden(argv[1]), untold();
  MPI_Finalize();
}
