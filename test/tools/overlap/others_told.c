// A rank may be told, by another collective or a message, of what a call says to some ranks only: that others have come to it.
// Where these have written something before, or receives take what comes first, that has to stay behind the wait.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: nbc-overlap %s -- mpicc.openmpi -DNO_FILE | FileCheck %s --check-prefix=NO_FILE
// RUN: nbc-overlap %s -- mpicc.openmpi -DNO_FILE -DFIRST | FileCheck %s --check-prefix=FIRST
// FIRST: note: it must be complete here: MPI_Bcast may tell what MPI_Allreduce does: messages may be seen earlier, by MPI_ANY_SOURCE
#include <mpi.h>
#include <stdio.h>
static double work[400];
static int deep(int n, int *token) {
  MPI_Bcast(token, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return n > 0 ? deep(n - 1, token) : n;
}

int main(int argc, char **argv) {
  int rank, sum = 0, one = 1, token = 7, all;
  MPI_Comm some, others;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &some);
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &others);
#ifdef FIRST
  if (rank > 2) MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  if (rank == 2) MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
#ifndef NO_FILE
  if (rank == 0) {
    FILE *f = fopen("shared", "w");
    fprintf(f, "42\n");
    fclose(f);
  }
#endif
  // CHECK: [[#@LINE+4]]:3: remark: MPI_Allreduce: line [[#@LINE+5]] can run meanwhile
  // CHECK-NEXT: note: it must be complete here: MPI_Bcast may tell what MPI_Allreduce does: a rank may be told by it that others have come to MPI_Allreduce, and look at what they have done before
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
  // Of a sum at rank 0 only rank 0 knows when it is complete.
  // CHECK: [[#@LINE+3]]:3: remark: MPI_Reduce: line [[#@LINE+4]] can run meanwhile
  // CHECK-NEXT: note: it must be complete here: MPI_Bcast may tell what MPI_Reduce does
  // NO_FILE: [[#@LINE+1]]:3: remark: MPI_Reduce: lines [[#@LINE+2]] to [[#@LINE+3]] can run meanwhile
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 400; ++i) work[i] += i;
  MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
  printf("%d %g\n", sum, work[1]);
  // CHECK: [[#@LINE+3]]:3: remark: MPI_Reduce: line [[#@LINE+4]] can run meanwhile
  // CHECK-NEXT: note: it must be complete here: MPI_Sendrecv is another call of MPI that may depend on this one being complete: a rank may be told
  // NO_FILE: [[#@LINE+1]]:3: remark: MPI_Reduce: lines [[#@LINE+2]] to [[#@LINE+3]] can run meanwhile
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 400; ++i) work[i] += i;
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &token, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  printf("%d %g\n", sum, work[1]);
  // But rank 0 knows more than any other anyway, and of an allreduce all know as much.
  // CHECK: [[#@LINE+1]]:3: remark: MPI_Reduce: lines [[#@LINE+2]] to [[#@LINE+4]] can run meanwhile
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 400; ++i) work[i] += i;
  MPI_Reduce(&one, &token, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  printf("%d %g %d\n", sum, work[1], all + token);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Reduce: line [[#@LINE+3]] can run meanwhile
  // CHECK-NEXT: note: it must be complete here: MPI_Reduce may tell what MPI_Reduce does
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 400; ++i) work[i] += i;
  MPI_Reduce(&one, &token, 1, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD);
  printf("%d %g\n", sum + token, work[1]);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Reduce: line [[#@LINE+3]] can run meanwhile
  // CHECK-NEXT: note: it must be complete here: MPI_Bcast in deep() may tell what MPI_Reduce does
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 400; ++i) work[i] += i;
  deep(3, &token);
  printf("%d %g\n", sum, work[1]);
  MPI_Finalize();
}
