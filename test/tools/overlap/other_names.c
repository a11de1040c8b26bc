// An alias, a label or assembly gives a function or variable another name.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix: && cmp %s %t.c
#include <mpi.h>
static double all[4], other[4], w[1000];
static int rank, chosen, more;
int one, two;
extern int alias_of_one __attribute__((alias("one")));
extern int label_of_two __asm__("two");
void put(double *p) {
  // CHECK: [[#@LINE+3]]:{{.*}}: note: it must be complete here: all[i] is read, and may be memory that MPI_Bcast writes
  // CHECK: [[#@LINE+1]]:3: note: not changed: put() is called through a pointer
  MPI_Bcast(p, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++) all[i] += 1;
}
void put_(double *p) __attribute__((alias("put")));
void share(void) {
  // CHECK: note: not changed: share() is called through a pointer
  MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = i;
}
void share_(void) __asm__("share");
void last(void) {
  // CHECK: note: not changed: last() is called through a pointer
  MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = i;
}
void last_(void);
__asm__(".globl last_\n.set last_, last");
void own(void) __asm__("other_one");
void own(void) {
  // CHECK: note: not changed: own() is called through a pointer
  MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = i;
}
static int few __asm__("few_of_them");
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // CHECK: note: it must be complete here: alias_of_one is read, and may be memory that MPI_Bcast writes
  MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = alias_of_one;
  // CHECK: note: it must be complete here: two is read, and may be memory that MPI_Bcast writes
  MPI_Bcast(&label_of_two, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) w[i] = two;
  // CHECK: note: not changed: whether a rank comes here depends on 'few'
  if (few) {
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++) w[i] = i;
  }
  put(other), put_(all);
  if (rank == 0) {
    share_(), last_(), own();
  } else {
    MPI_Bcast(&chosen, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  share(), last(), own();
  MPI_Finalize();
}
