// What memory without a name holds is followed: that of malloc(), and of a function that hands it on. Whether there was
// any each rank knows for itself, unless the user promises that it is alike.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: nbc-overlap --alike 'malloc()' %s -- mpicc.openmpi | FileCheck %s --check-prefix=PROMISED
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double y[1000], in, out;
static void work(void) {
  for (int i = 0; i < 1000; ++i) y[i] += i;
}
static int rank_of(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
static void *get(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) {
    fprintf(stderr, "no memory\n");
    exit(1);
  }
  return memory;
}
static void reduced(void) {
  double *mine = malloc(2 * sizeof *mine), *all = malloc(2 * sizeof *all);
  mine[0] = rank_of(), mine[1] = 1;
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int s = 0; s < all[1]; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  free(mine);
  free(all);
}
static void given(void) {
  double *mine = malloc(2 * sizeof *mine);
  mine[0] = rank_of();
  for (int s = 0; s < mine[0]; ++s) {
    // CHECK: [[#@LINE-1]]:19: note: not changed: {{.*}}'s < mine[0]'
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  free(mine);
}
static void by_wrapper(void) {
  int ranks, mine = rank_of(), most = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int *all = get((size_t)ranks * sizeof *all);
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i)
    if (all[i] > most) most = all[i];
  for (int s = 0; s < most; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    work();
  }
  free(all);
}
static void by_another_name(void) {
  int *all = get(2 * sizeof *all), *other = all + 1;
  MPI_Allgather(&in, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_SELF);
  other[0] = rank_of();
  for (int s = 0; s < all[1]; ++s) {
    // CHECK: [[#@LINE-1]]:19: note: not changed: {{.*}}'s < all[1]'
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    work();
  }
  free(all);
}
static void copied(void) {
  int mine = rank_of(), *all = get(sizeof *all);
  memcpy(all, &mine, sizeof mine);
  for (int s = 0; s < *all; ++s) {
    // CHECK: [[#@LINE-1]]:19: note: not changed: {{.*}}'s < *all'
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    work();
  }
  free(all);
}
static void there_or_not(void) {
  int *all = malloc(100 * sizeof *all);
  if (all) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: {{.*}} what malloc() returns is not followed (--alike 'malloc()', if it is null on all ranks or on none)
    // PROMISED: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    work();
    printf("%g\n", out);
  }
  free(all);
}
static void promised_no_more(void) {
  int *all = malloc(100 * sizeof *all);
  all[0] = rank_of();
  if (all[0]) {
    // PROMISED: [[#@LINE-1]]:7: note: not changed: {{.*}}'all[0]'
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    work();
    printf("%g\n", out);
  }
  free(all);
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  reduced();
  by_wrapper();
  there_or_not();
  given();
  by_another_name();
  copied();
  promised_no_more();
  MPI_Finalize();
  return 0;
}
