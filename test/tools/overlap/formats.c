// %n writes what it is given, and so may a format that is not seen; %m asks for errno, which the wait may set.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
#include <stdio.h>
void elsewhere(void);  // in no source: it may hold another one of each kind
static double w[1000];
int main(int argc, char **argv) {
  char text[] = "abc", all[4], name[9];
  int x = 1, y = 2;
  MPI_Init(&argc, &argv);
  elsewhere();
  // CHECK: [[#@LINE+3]]:49: note: it must be complete here: (short *)&x is written, which MPI_Allreduce reads
  MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = i;
  printf("%d%% of %s%-*hn %g\n", argc, text, 4, (short *)&x, w[5]);

  // CHECK: [[#@LINE+3]]:30: note: it must be complete here: text is written, which MPI_Allreduce reads
  MPI_Allreduce(text, all, 4, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = i;
  snprintf(name, 9, argv[1], text);

  // CHECK: [[#@LINE+1]]:3: remark: MPI_Allreduce: lines [[#@LINE+2]] to [[#@LINE+3]] can run meanwhile
  MPI_Allreduce(text, all, 4, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = i;
  printf("%d%%n of %s, %+5.*lf\n", argc, text, 2, w[5]);
  // CHECK: [[#@LINE+1]]:21: note: it must be complete here: all[0] is read
  printf("%d %d\n", all[0], x + y);

  // CHECK: [[#@LINE+3]]:3: note: it must be complete here: errno, by %m, may also be set by the call, or by its wait
  MPI_Allreduce(text, all, 4, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = i;
  printf("%d%%: %5m\n", argc);

  // CHECK: note: not changed: whether a rank comes here depends on 'many > 2'
  int many = 0;
  printf("%d%n\n", x, &many);
  if (many > 2) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
