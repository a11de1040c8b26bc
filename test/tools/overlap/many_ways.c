// Functions to which ways are as many as sets of functions: which call each other, or two times the next one each. They are
// not gone through to the end.
// REQUIRES: openmpi
// RUN: timeout %if sanitizer %{300%} %else %{60%} nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// CHECK: many_ways.c:[[#@LINE+27]]:3: remark: MPI_Allreduce: nothing can run meanwhile
// CHECK: many_ways.c:[[#@LINE+27]]:3: note: it must be complete here: {{d[0-9]+}}(), which does too much to go through, in {{d[0-9]+}}() cannot be seen into
// CHECK: many_ways.c:[[#@LINE+27]]:3: remark: MPI_Allreduce: nothing can run meanwhile
// CHECK: many_ways.c:[[#@LINE+27]]:3: note: it must be complete here: m0(), which does too much to go through, cannot be seen into
#include <mpi.h>

static double other[100], sum;

#define DOUBLED(next, name)                       \
  static void name(int i) { next(i), next(i + 1); }
static void d0(int i) { other[i] += i; }
DOUBLED(d0, d1) DOUBLED(d1, d2) DOUBLED(d2, d3) DOUBLED(d3, d4) DOUBLED(d4, d5) DOUBLED(d5, d6) DOUBLED(d6, d7)
DOUBLED(d7, d8) DOUBLED(d8, d9) DOUBLED(d9, d10) DOUBLED(d10, d11) DOUBLED(d11, d12) DOUBLED(d12, d13) DOUBLED(d13, d14)
DOUBLED(d14, d15) DOUBLED(d15, d16) DOUBLED(d16, d17) DOUBLED(d17, d18) DOUBLED(d18, d19) DOUBLED(d19, d20)
DOUBLED(d20, d21) DOUBLED(d21, d22) DOUBLED(d22, d23) DOUBLED(d23, d24) DOUBLED(d24, d25) DOUBLED(d25, d26)

static void m0(int), m1(int), m2(int), m3(int), m4(int), m5(int), m6(int), m7(int), m8(int), m9(int);
#define ALL(name)                                                                                   \
  static void name(int i) {                                                                         \
    if (i > 0) other[i] += i, m0(i - 1), m1(i - 1), m2(i - 1), m3(i - 1), m4(i - 1), m5(i - 1), m6(i - 1), \
                              m7(i - 1), m8(i - 1), m9(i - 1);                                      \
  }
ALL(m0) ALL(m1) ALL(m2) ALL(m3) ALL(m4) ALL(m5) ALL(m6) ALL(m7) ALL(m8) ALL(m9)

int main(int argc, char **argv) {
  double mine = argc;
  MPI_Init(&argc, &argv);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  d26(1);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  m0(2);
  MPI_Finalize();
  return sum > 3;
}
