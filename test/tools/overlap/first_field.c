// A structure begins where its first field does: what is written there may go on into the others, unless it is known how long it is.
// REQUIRES: openmpi
// RUN: for how in 0 1 2 3 4; do nbc-overlap %s -- mpicc.openmpi -DHOW=$how | grep "30:.*fix:\|not changed: .*turns" | sed "s/.*note: /$how: /;s/, which may differ.*//" | sort -u; done | FileCheck %s
// CHECK: 0: fix: MPI_Iallreduce here
// CHECK-NEXT: 1: fix: MPI_Iallreduce here
// CHECK-NEXT: 2: not changed: whether a rank comes here depends on 'i < p.turns'
// CHECK-NEXT: 3: not changed: whether a rank comes here depends on 'i < p.turns'
// CHECK-NEXT: 4: fix: MPI_Iallreduce here
#include <mpi.h>
#include <stdio.h>
static double x = 1, y, v[1000];
struct parameters {
#if HOW == 1 || HOW == 4
  int first;
#define TYPE MPI_INT
#else
  double first;
#define TYPE MPI_DOUBLE
#endif
  int turns;
};
#if HOW == 2
#define COUNT 2
#elif HOW == 3
#define COUNT argc
#else
#define COUNT 1
#endif
static void sum(void) {
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) v[i] += i;
  printf("%g\n", y);
  MPI_Allreduce(v, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
  struct parameters p = {3, 4};
  MPI_Init(&argc, &argv);
  MPI_Bcast(&p.turns, 1, MPI_INT, 0, MPI_COMM_WORLD);
#if HOW == 4
  MPI_Comm_rank(MPI_COMM_WORLD, &p.first);
#else
  MPI_Bcast(&p.first, COUNT, TYPE, 0, MPI_COMM_WORLD);
#endif
  for (int i = 0; i < p.turns; ++i) sum();
  MPI_Finalize();
  return p.first > 9;
}
