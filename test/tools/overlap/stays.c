// What a function leaves in a variable that outlives it is the same on all ranks only if all of them were in there.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix: && cmp %s %t.c
// CHECK-COUNT-3: note: not changed: whether a rank comes here depends on 'rank == 0'
#include <mpi.h>
enum { N = 400 };
static double y[N], in, out;
static int mode, ranks;
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] += i;
}
static void enable(void) {
  mode = 1;
}
static void ask(void) {
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}
static int ticket(void) {
  static int next;
  return ++next;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) enable();
  if (rank == 0) ask();
  if (rank == 0) ticket();
  if (mode) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  if (ranks) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  if (ticket() > 1) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  MPI_Finalize();
}
