// Types are made and freed on each rank by itself, those of a call that is under way among them (MPI 4.1, section 5.1.9); a call
// does not begin before its own is ready.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi && mpicc.openmpi -Wall -Werror %t.c -o %t.after && mpicc.openmpi %s -o %t.before
// RUN: for n in 1 3; do %run_openmpi $n %t.before | sort > %t.1 && %run_openmpi $n %t.after | sort > %t.2 && diff %t.1 %t.2 || exit 1; done
#include <mpi.h>
#include <stdio.h>

enum { N = 40 };
static double columns[N][N], other[N * N];

int main(int argc, char **argv) {
  MPI_Datatype column, both;
  double sum = 0;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < N; ++i) columns[i][0] = i * (rank + 1);
  MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  // CHECK: types.c:[[@LINE+1]]:3: remark: MPI_Bcast: lines [[@LINE+3]] to [[@LINE+7]] can run meanwhile
  MPI_Bcast(&columns[0][0], 1, column, 0, MPI_COMM_WORLD);
  // CHECK: note: fix: MPI_Ibcast here, MPI_Wait behind line [[@LINE+5]]
  MPI_Type_contiguous(2, column, &both);
  MPI_Type_free(&column);
  MPI_Type_commit(&both);
  for (int i = 0; i < N * N; ++i) other[i] += i;
  MPI_Type_free(&both);
  for (int i = 0; i < N; ++i) sum += columns[i][0] + other[i];
  printf("%d: %g\n", rank, sum);
  MPI_Finalize();
}
