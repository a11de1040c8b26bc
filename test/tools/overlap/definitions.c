// A call moves across no #define: what it names may be another macro there, or none yet. Nor does its check.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix --persistent=mpix %t.c -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
// RUN: cmp %s %t.c
// CHECK-COUNT-5: not changed: there is too little to do
#include <mpi.h>
enum { N = 200 };
static double y[N], in[N], out[N];
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] = i;
}
static void above(void) {
  work();
#define TEN 10
  MPI_Allreduce(in, out, TEN, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
// The call would stand behind what comes before the directive.
static void above_both(void) {
  in[0] = 1;
#undef TEN
#define TEN 9
  work();
  MPI_Allreduce(in, out, TEN, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void first(void) {
%:define ELEVEN 11
  work();
  MPI_Allreduce(in, out, ELEVEN, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void turns(void) {
  for (int i = 0; i < 3; ++i) {
    in[0] = out[0];
#define FOUR 4
    MPI_Allreduce(in, out, FOUR, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#undef FOUR
    work();
  }
}
#define CHECK(c) \
  if (c) MPI_Abort(MPI_COMM_WORLD, 1)
static void checked(void) {
  CHECK(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
#undef CHECK
  work();
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  above();
  above_both();
  first();
  turns();
  checked();
  MPI_Finalize();
}
