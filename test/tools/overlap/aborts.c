// What stands behind MPI_Abort() is not come to; behind that of this rank alone it is.
// RUN: nbc-overlap %s -- mpicc | FileCheck %s

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double sum[1], all[1], w[1000];

static void die(const char *why) {
  fprintf(stderr, "%s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}
static void leave(void) {
  MPI_Abort(MPI_COMM_SELF, 1);
  exit(1);
}
static void jumps(int n) {
  if (n < 0) goto out;
  w[0] = n;
  if (n > 0) return;
  MPI_Abort(MPI_COMM_WORLD, 1);
out:
  exit(1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  // CHECK: aborts.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: lines [[#@LINE+2]] to [[#@LINE+3]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) w[i] = i;
  if (w[3] != 3) die("not three");
  printf("%g\n", all[0]);
  // CHECK: aborts.c:[[#@LINE+3]]:18: note: it must be complete here: MPI_Abort in leave() ends the rank
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) w[i] = i;
  if (w[3] != 3) leave();
  printf("%g\n", all[0]);
  // CHECK: aborts.c:[[#@LINE+3]]:3: note: it must be complete here: exit in jumps() ends the rank
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) w[i] = i;
  jumps(argc);
  MPI_Finalize();
  return 0;
}
