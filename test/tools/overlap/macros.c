// A macro of several statements is in a window with all of them, or with none.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -Werror -fsyntax-only %t.c
#include <mpi.h>
enum { N = 100 };
static double in[N], out[N], other[N], sum;
#define WORK for (int i = 0; i < N; ++i) other[i] += 1
#define WORK_AND_USE WORK; sum += out[0]
#define WORK_TWICE WORK; WORK
#define FILL_AND_WORK for (int i = 0; i < N; ++i) in[i] = i; WORK
#define CALL(call) call; WORK

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  // CHECK:      MPI_Iallreduce(
  // CHECK-NEXT: WORK;
  // CHECK-NEXT: MPI_Wait(
  // CHECK-NEXT: WORK_AND_USE;
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  WORK;
  WORK_AND_USE;
  // CHECK-NEXT: {{^}}  MPI_Allreduce(
  // CHECK-NEXT: WORK_AND_USE;
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  WORK_AND_USE;
  // CHECK:      MPI_Iallreduce(
  // CHECK-NEXT: WORK_TWICE;
  // CHECK-NEXT: MPI_Wait(
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  WORK_TWICE;
  sum += out[1];
  // CHECK:      FILL_AND_WORK;
  // CHECK-NEXT: {{^}}  MPI_Allreduce(
  FILL_AND_WORK;
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  sum += out[2];
  // CHECK-NEXT: sum += out[2];
  // CHECK-NEXT: CALL(MPI_Allreduce(
  CALL(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  WORK;
  sum += out[3];
  MPI_Finalize();
  return sum > 0;
}
