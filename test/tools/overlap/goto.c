// A goto forwards leads past a call, or to what stands before it.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out && mpicc.openmpi -Wall -Werror -fsyntax-only %t.c
#include <mpi.h>
#include <stdlib.h>
enum { N = 400 };
static double y[N], in, out;
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] += i;
}
static int cleans_up(int steps, int rank) {
  double *mine = NULL;
  if (steps < 1) goto done;
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  mine = malloc(sizeof *mine);
  if (!mine) goto done;
  // CHECK: [[#@LINE-1]]:7: note: not changed: whether a rank comes here depends on '!mine'
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
done:
  free(mine);
  return rank;
}
static void in_front(int rank) {
  if (rank == 0) {
    if (rand() > 5) goto told;
    work();
  told:;
  }
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Ireduce here
  MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  work();
  MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void out_of_loop(int steps, int rank) {
  for (int i = 0; i < steps; ++i) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast: line
    // CHECK: [[#@LINE+3]]:9: note: not changed: whether a rank comes here depends on 'rank == i'
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
    if (rank == i) goto over;
  }
over:
  MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void again(int rank) {
more:
  MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  if (out > rank) goto more;
  // CHECK: [[#@LINE-1]]:19: note: not changed: goto is not followed
  MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
}
static void into(int rank) {
  if (rank == 1) goto within;
  // CHECK: [[#@LINE-1]]:18: note: not changed: goto is not followed
  if (rank < 0) {
  within:
    y[0] = 1;
    MPI_Exscan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  MPI_Exscan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  in_front(rank);
  cleans_up(argc, rank);
  out_of_loop(argc, rank);
  again(rank);
  into(rank);
  MPI_Finalize();
}
