// Where declarations stand first in their block, so does that of a request, and no call comes before one.
// REQUIRES: openmpi
// RUN: grep -v // %s > %t.c && cp %t.c %t.x.c && nbc-overlap --fix %t.c -- mpicc.openmpi -std=c90 && FileCheck %s --input-file=%t.c
// RUN: mpicc.openmpi -std=c90 -Wall -Wextra -Wdeclaration-after-statement -Werror -fsyntax-only %t.c
// RUN: nbc-overlap --fix --persistent=mpix %t.x.c -- mpicc.openmpi -std=gnu89 && FileCheck %s --input-file=%t.x.c --check-prefix=CHECKX
// RUN: mpicc.openmpi -std=gnu89 -Wall -Wextra -Wdeclaration-after-statement -Werror -fsyntax-only %t.x.c
#include <mpi.h>
static double w[1000], in[4], out[4];
static void work(void) {
  int i;
  for (i = 0; i < 1000; i++) w[i] += i;
}
static double mean(double of) {
  // CHECK:      double mean(double of) {
  // CHECK-NEXT: {{^}}  MPI_Request bcast_request;
  // CHECK-NEXT:   double x = of;
  // CHECK-NEXT: {{^}}  MPI_Ibcast(&of,
  double x = of;
  MPI_Bcast(&of, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work();
  return of + x;
}
static double first(double of) {
  // CHECK:      if (out{{.*}} with its own
  // CHECK-NEXT: {{^}}    MPI_Request bcast_request_2;
  // CHECK-NEXT:     double x = w[0], y[100];
  // CHECK-NEXT: {{^}}    MPI_Ibcast(
  // CHECK-NEXT:     work();
  // CHECK-NEXT:     y[0] = x;
  // CHECK-NEXT: {{^}}    MPI_Wait(
  if (out[0] >= 0) { /* with its own */
    double x = w[0], y[100];
    work();
    y[0] = x;
    MPI_Bcast(&of, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return of + y[0];
  }
  return 0;
}
static double turns(void) {
  // CHECK:      double turns(void) {
  // CHECK-NEXT: {{^}}  MPI_Request allreduce_request = MPI_REQUEST_NULL;
  // CHECK-NEXT:   int i;
  // CHECK-NEXT:   for (i
  // CHECKX:      double turns(void) {
  // CHECKX-NEXT: {{^}}  MPI_Request allreduce_request{{.*}};
  // CHECKX-NEXT:   int i;
  int i;
  for (i = 0; i < 9; i++) {
    work();
    in[0] = out[0] + i;
    MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return out[0];
}
static double repeated(void) {
  // CHECKX:      double repeated(void) {
  // CHECKX-NEXT: {{^}}  MPI_Request bcast_request_3;
  // CHECKX-NEXT:   int i;
  // CHECKX-NEXT: {{^}}  MPIX_Bcast_init(
  int i;
  for (i = 0; i < 9; i++) {
    in[0] = i;
    MPI_Bcast(in, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
    out[0] += in[0];
  }
  return out[0];
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  w[0] = mean(1) + first(2) + turns() + repeated();
  MPI_Finalize();
  return 0;
}
