// What follows runs while the call is under way; comments and layout stay, and a second run changes nothing.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi
// RUN: FileCheck %s --input-file=%t.c --strict-whitespace && mpicc.openmpi -Wall -Werror -fsyntax-only %t.c
// RUN: cp %t.c %t.again.c && nbc-overlap --fix %t.again.c -- mpicc.openmpi && cmp %t.c %t.again.c
#include <mpi.h>
enum { N = 100 };

static double sum(const double *v) {
  double s = 0;
  for (int i = 0; i < N; ++i) s += v[i];
  return s;
}

int main(int argc, char **argv) {
  static double other[N];
  double mine[N] = {1}, all[N], result;
  int allreduce_request = 0;  // the name is taken
  MPI_Init(&argc, &argv);
  // CHECK:      {{^}}  // the sum of all{{$}}
  // CHECK-NEXT: {{^}}  MPI_Request allreduce_request_2;{{$}}
  // CHECK-NEXT: {{^}}  MPI_Iallreduce(mine, all,  // two buffers{{$}}
  // CHECK-NEXT: {{^}}                N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &allreduce_request_2);{{$}}
  // CHECK-NEXT: {{^}}  for (int i = 0; i < N; ++i){{$}}
  // CHECK-NEXT: {{^}}    other[i] = mine[i];  // it may be read{{$}}
  // CHECK-NEXT: {{^}}  MPI_Wait(&allreduce_request_2, MPI_STATUS_IGNORE);{{$}}
  // CHECK-NEXT: {{^}}  result = all[0];{{$}}
  // the sum of all
  MPI_Allreduce(mine, all,  // two buffers
                N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i)
    other[i] = mine[i];  // it may be read
  result = all[0];

  // A second one of the same name has a request of its own; a wait at the end of the block.
  // CHECK: {
  // CHECK-NEXT: {{^}}    MPI_Request bcast_request;{{$}}
  // CHECK-NEXT: {{^}}    MPI_Ibcast(other, N, MPI_DOUBLE, 0, MPI_COMM_WORLD, &bcast_request);{{$}}
  // CHECK-NEXT: {{^}}    result += sum(mine);{{$}}
  // CHECK-NEXT: {{^}}    MPI_Wait(&bcast_request, MPI_STATUS_IGNORE);{{$}}
  // CHECK-NEXT: {{^}}  }
  {
    MPI_Bcast(other, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    result += sum(mine);
  }
  // A break that stays within a statement does not leave the block.
  // CHECK:      MPI_Iallreduce(
  // CHECK-NEXT: for
  // CHECK-NEXT: MPI_Wait(&allreduce_request_3
  MPI_Allreduce(mine, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) if (other[i] > 1) break; else continue;
  MPI_Finalize();
  return result + allreduce_request > 0 ? 0 : 1;
}
