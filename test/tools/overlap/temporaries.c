// What a call returns is gone with the statement, and a buffer that is a part of it.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --check-prefixes=CHECK,CHECK-C --implicit-check-not=fix: && cmp %s %t.c
// RUN: cp %s %t.cpp && nbc-overlap --fix %t.cpp -- mpicxx.openmpi -DOMPI_SKIP_MPICXX | FileCheck %s --implicit-check-not=fix: && cmp %s %t.cpp
// CHECK: note: not changed: a temporary object lives as long as the call
#include <mpi.h>
static double w[1000], all[4];
struct four {
  double v[4];
};
static struct four from(double x) {
  struct four f = {{x, x, x, x}};
  return f;
}
#ifdef __cplusplus  // or with the branch or the turn
static void in_branch(double x) {
  if (x < 5) {
    const four &mine = from(x);
    MPI_Allreduce(mine.v, all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < 1000; i++) w[i] = i;
}
static void held(double x) {
  struct holder {
    const four &of;
  };
  if (x < 5) {
    holder mine{from(x)};
    MPI_Allreduce(mine.of.v, all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < 1000; i++) w[i] = i;
}
static void in_turn(double x) {
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < 1000; i++) w[i] = i;
    four &&mine = from(x);
    MPI_Allreduce(mine.v, all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}
#endif
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
#ifdef __cplusplus
  in_branch(argc), held(argc), in_turn(argc);
#endif
  MPI_Allreduce(from(argc).v, all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = i;
#ifndef __cplusplus  // where it has no address
  // CHECK-C: note: not changed: a temporary object lives as long as the call
  MPI_Allreduce(&from(argc).v[1] + 1, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = i;
#endif
  MPI_Finalize();
}
