// What a launcher is given to read, it hands to one rank: a loop that counts by it may turn more often there, and others make
// up for that. So what ends a loop is shown to be alike.
// REQUIRES: openmpi
// RUN: for how in 0 1 2 3 4; do nbc-overlap %s -- mpicc.openmpi -DHOW=$how | grep "31:.*fix:\|called before" | sed "s/.*note: /$how: /"; done | uniq | FileCheck %s
// CHECK: 0: fix: MPI_Iallreduce here
// CHECK-NEXT: 1: not changed: 'i < n' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 2: not changed: 'fgets(line, sizeof line, stdin)' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 3: not changed: 'i < n' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 4: fix: MPI_Iallreduce here
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static double v[1000];
int main(int argc, char **argv) {
  int n = 1, i;
  double a = 1, b = 0, c = 0, s = 0;
  char line[80];
  MPI_Init(&argc, &argv);
#if HOW == 1 || HOW == 4
  if (scanf("%d", &n) != 1) n = 1;
#elif HOW == 2
  while (fgets(line, sizeof line, stdin)) MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), s += b;
#elif HOW == 3
  FILE *from = argc > 1 ? fopen(argv[1], "r") : stdin;
  if (from && fgets(line, sizeof line, from)) n = atoi(line);
#endif
#if HOW == 4
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
#endif
  for (i = 0; i < n; i++) MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), s += b;
  MPI_Allreduce(&a, &c, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < 1000; i++) v[i] += i;
  s += c;
  for (i = n; i < 5; i++) MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), s += b;
  printf("%g %g %s\n", s, v[3], line);
  MPI_Finalize();
}
