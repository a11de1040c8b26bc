// The call starts where its inputs are ready; the wait stays, or moves down as well.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.c
// RUN: cp %t.c %t.again.c && nbc-overlap --fix %t.again.c -- mpicc.openmpi && cmp %t.c %t.again.c
#include <mpi.h>
enum { N = 100 };

static double up(int n) {
  double mine[N], all[N], other[N] = {0};
  // CHECK-LABEL: double up(
  // CHECK:      mine[i] = i; // filled
  // CHECK-NEXT: MPI_Request allreduce_request;
  // CHECK-NEXT: MPI_Iallreduce(mine, all, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &allreduce_request);
  // CHECK-NEXT: for (int i = 0; i < N; ++i) other[i] = mine[i];
  // CHECK-NEXT: // what it is for
  // CHECK-NEXT: MPI_Wait(&allreduce_request, MPI_STATUS_IGNORE);
  // CHECK-NEXT: return
  for (int i = 0; i < N; ++i) mine[i] = i; // filled
  for (int i = 0; i < N; ++i) other[i] = mine[i];
  // what it is for
  MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all[0] + other[1];
}

static double both(void) {
  double mine[N], all[N], other[N] = {0};
  // CHECK-LABEL: double both(
  // CHECK:      mine[i] = i;
  // CHECK-NEXT: MPI_Request allreduce_request_2;
  // CHECK-NEXT: MPI_Iallreduce(
  // CHECK-NEXT: other[i] = mine[i];
  // CHECK-NEXT: other[i] *= 2;
  // CHECK-NEXT: MPI_Wait(&allreduce_request_2
  // CHECK-NEXT: return
  for (int i = 0; i < N; ++i) mine[i] = i;
  for (int i = 0; i < N; ++i) other[i] = mine[i];
  MPI_Allreduce(mine, all, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] *= 2;
  return all[0] + other[1];
}

// What the count is computed from is changed just before.
static double count(int n) {
  double mine[N] = {0}, all[N], other[N] = {0};
  // CHECK-LABEL: double count(
  // CHECK:      n /= 2;
  // CHECK-NEXT: MPI_Allreduce(
  for (int i = 0; i < N; ++i) other[i] = mine[i];
  n /= 2;
  MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all[0] + other[1];
}

// The old content of what is written is read.
static double old(double all[N]) {
  double mine[N] = {0}, other[N];
  // CHECK-LABEL: double old(
  // CHECK:      other[i] = all[i];
  // CHECK-NEXT: MPI_Allreduce(
  for (int i = 0; i < N; ++i) other[i] = all[i];
  MPI_Allreduce(mine, all, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all[0] + other[1];
}

// Its arguments do more than name values.
static double argument(void) {
  double mine[N] = {0}, all[N], other[N] = {0};
  int n = N;
  // CHECK-LABEL: double argument(
  // CHECK:      other[i] = i;
  // CHECK-NEXT: MPI_Allreduce(mine, all, --n
  for (int i = 0; i < N; ++i) other[i] = i;
  MPI_Allreduce(mine, all, --n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all[0] + other[1] + n;
}

// Collectives start in the order in which they stand.
static double order(void) {
  double mine[N] = {0}, all[N], other[N] = {0};
  // CHECK-LABEL: double order(
  // CHECK:      MPI_Iallreduce(
  // CHECK-NEXT: other[i] = i;
  // CHECK-NEXT: MPI_Wait(
  // CHECK-NEXT: MPI_Bcast(
  MPI_Allreduce(mine, all, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] = i;
  MPI_Bcast(all, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all[0] + other[1];
}

int main(int argc, char **argv) {
  double all[N] = {0};
  MPI_Init(&argc, &argv);
  double r = up(argc) + both() + count(N) + old(all) + argument() + order();
  MPI_Finalize();
  return r > 0;
}
