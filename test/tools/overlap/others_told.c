// A rank that takes no part in a call may be told by another collective that it is complete, and look at what some rank has
// written before it.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: nbc-overlap %s -- mpicc.openmpi -DNO_FILE | FileCheck %s --check-prefix=NO_FILE
#include <mpi.h>
#include <stdio.h>
static double work[400];

int main(int argc, char **argv) {
  int rank, sum = 0, one = 1, token = 7;
  MPI_Comm some, others;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &some);
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &others);
#ifndef NO_FILE
  if (rank == 0) {
    FILE *f = fopen("shared", "w");
    fprintf(f, "42\n");
    fclose(f);
  }
#endif
  // CHECK: [[#@LINE+4]]:3: remark: MPI_Allreduce: line [[#@LINE+5]] can run meanwhile
  // CHECK-NEXT: note: it must be complete here: MPI_Bcast may reach ranks that take no part in MPI_Allreduce, before others have done
  // CHECK: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+3]]
  // NO_FILE: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+3]]
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, some);
  for (int i = 0; i < 400; ++i) work[i] += i;
  MPI_Bcast(&token, 1, MPI_INT, 0, others);
  printf("%d\n", sum);
#ifndef NO_FILE
  if (rank > 1) {
    int found = 0;
    FILE *f = fopen("shared", "r");
    if (f && fscanf(f, "%d", &found) == 1) printf("%d\n", found);
  }
#endif
  // Of all ranks each has started it by then.
  // CHECK: [[#@LINE+1]]:3: remark: MPI_Allreduce: lines [[#@LINE+2]] to [[#@LINE+3]] can run meanwhile
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 400; ++i) work[i] += i;
  MPI_Bcast(&token, 1, MPI_INT, 0, others);
  printf("%d %g\n", sum, work[1]);
  MPI_Finalize();
}
