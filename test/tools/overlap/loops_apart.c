// Loops that turn as often as the rank says, in ways that are not its number: what they turn less, another makes up for.
// REQUIRES: openmpi
// RUN: for how in 0 1 2 3 4 5 6; do nbc-overlap %s -- mpicc.openmpi -DHOW=$how | grep "56:.*fix:\|called before" | sed "s/.*note: /$how: /;s/ called before.*/ called before/" | sort -u; done | FileCheck %s
// CHECK: 0: fix: MPI_Iallreduce here
// CHECK-NEXT: 1: not changed: 'q' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 2: not changed: 'e > tolerance' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 3: not changed: 't < 1' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 4: not changed: '!at[k]' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 5: not changed: 'name[k]' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 6: not changed: 'fgetc(from) != EOF' may differ among ranks and decides how often MPI_Allreduce is called before
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static double x = 1, y, v[1000];
static int turns;
static void sum(void) {
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  ++turns;
}
struct cell {
  struct cell *next;
};
int main(int argc, char **argv) {
  int rank, size, n = 0;
  double c = 0, t = 0, e = 1, tolerance = 1e-3, step[2] = {0.5, 0.5};
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  struct cell *cells = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#if HOW == 0
  for (e = 1; e > tolerance; e *= 0.5) sum();
#elif HOW == 1
  for (int k = rank; k < 3; k += size) {
    struct cell *one = malloc(sizeof *one);
    one->next = cells, cells = one;
  }
  for (struct cell *q = cells; q; q = q->next) sum();
#elif HOW == 2
  if (rank) tolerance = 1e-2;
  for (; e > tolerance; e *= 0.5) sum();
#elif HOW == 3
  step[0] = 1. / (rank + 2);
  for (; t < 1; t += step[0]) sum();
#elif HOW == 4
  int at[9] = {0};
  at[rank + 2] = 1;
  for (int k = 0; !at[k]; ++k) sum();
#elif HOW == 5
  MPI_Get_processor_name(name, &n);
  for (int k = 0; name[k]; ++k) sum();
#elif HOW == 6
  FILE *from = popen("cat", "r");
  while (fgetc(from) != EOF) sum();
#endif
  MPI_Allreduce(&x, &c, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) v[i] += i;
  printf("%g\n", c);
  while (turns < 30) sum();
  (void)cells, (void)n, (void)step, (void)t, (void)name;
  MPI_Finalize();
}
