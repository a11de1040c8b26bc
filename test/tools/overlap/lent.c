// A stream writes later to the buffer that it was given, and random() to its state.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi -DLENT="setvbuf(stdout,buffer,_IOFBF,N)" | FileCheck %s
// RUN: nbc-overlap %s -- mpicc.openmpi -DLENT="setbuf(stdout,buffer)" | FileCheck %s
// RUN: nbc-overlap %s -- mpicc.openmpi -DLENT="initstate(1,buffer,N)" | FileCheck %s
// RUN: nbc-overlap %s -- mpicc.openmpi -DLENT="(*(argc>2?setbuf:setlinebuf_))(stdout,buffer)" | FileCheck %s
// RUN: nbc-overlap %s -- mpicc.openmpi -DLENT="setvbuf(stdout,0,_IOLBF,0)" | FileCheck %s --check-prefix=NONE
// CHECK: note: it must be complete here: what printf was lent is written, and may be memory that MPI_Bcast writes
// CHECK: note: it must be complete here: what random was lent is written, and may be memory that MPI_Bcast writes
// NONE-COUNT-2: note: fix: MPI_Ibcast
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 4096 };
static char buffer[N];
static double w[N];
static inline void setlinebuf_(FILE *stream, char *none) { (void)stream, (void)none; }
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  LENT;
  MPI_Bcast(buffer, N, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) w[i] = i;
  printf("%d\n", argc);
  MPI_Bcast(buffer, N, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) w[i] = i;
  w[0] = random();
  MPI_Finalize();
}
