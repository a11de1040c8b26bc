// Communicators that are made at two places may be each other on another rank: then calls on one of them meet calls on the
// other.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi -DALIKE | FileCheck %s --check-prefix=ALIKE
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
// RUN: nbc-overlap %s -- mpicc.openmpi -DDUP=PMPI_Comm_dup | FileCheck %s --implicit-check-not=fix: --check-prefix=PROFILED
// RUN: nbc-overlap %s -- mpicc.openmpi -DJUMPS | FileCheck %s --implicit-check-not=fix:
#include <mpi.h>
#include <stdio.h>

static double work[400];
static MPI_Comm c1, c2, c3;
static int rank;

#ifdef JUMPS
static void make(void) {
  int turn = rank == 0 ? 0 : 1, n = 0;
again:;
  if (turn == 0)
    MPI_Comm_dup(MPI_COMM_WORLD, &c1);
  else
    MPI_Comm_dup(MPI_COMM_WORLD, &c2);
  turn = 1 - turn;
  if (++n < 2) goto again;
  c3 = c1;
}
#elif defined ALIKE
static void make(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &c1);
  MPI_Comm_dup(MPI_COMM_WORLD, &c2);
  MPI_Comm_dup(MPI_COMM_WORLD, &c3);
}
#else
#ifndef DUP
#define DUP MPI_Comm_dup
#endif
static void make(void) {
  if (rank == 0) DUP(MPI_COMM_WORLD, &c1);
  MPI_Comm_dup(MPI_COMM_WORLD, &c2);
  if (rank != 0) DUP(MPI_COMM_WORLD, &c3);
}
#endif

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double x = rank, y = 10 + rank, z = 20 + rank;
  make();
  if (rank == 0) MPI_Bcast(&x, 1, MPI_DOUBLE, 0, c1);
  // ALIKE: [[#@LINE+4]]:3: remark: MPI_Bcast
  // ALIKE: fix: MPI_Ibcast here, MPI_Wait behind line [[#@LINE+4]]
  // PROFILED: not changed: 'c2' may be another communicator on other ranks
  // CHECK: [[#@LINE+1]]:3: note: not changed: 'c2' may be another communicator on other ranks
  MPI_Bcast(&y, 1, MPI_DOUBLE, 0, c2);
  for (int i = 0; i < 400; ++i) work[i] += i;
  printf("%g\n", y);
  if (rank != 0) MPI_Bcast(&z, 1, MPI_DOUBLE, 0, c3);
  printf("%d: %g %g %g\n", rank, x, y, z);
  MPI_Finalize();
}
