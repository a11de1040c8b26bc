// Messages between two ranks may be on their way while a collective is: their receives name who sends, so that
// they meet no other one for it, and nobody looks for a message without waiting for it.
// REQUIRES: openmpi
// RUN: grep -v "CHECK\|RUN:" %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t.c
// RUN: mpicc.openmpi -Wall -Wextra -Werror -Wno-unused-function %t.c -o %t.changed && mpicc.openmpi %s -o %t.original
// RUN: for n in 1 2 3 5; do %run_openmpi $n %t.original | sort > %t.out && %run_openmpi $n %t.changed | sort | diff %t.out - || exit 1; done
// RUN: cp %t.c %t.twice.c && nbc-overlap --fix %t.twice.c -- mpicc.openmpi > /dev/null && diff %t.c %t.twice.c
#include <mpi.h>
#include <stdio.h>

enum { N = 100 };
static double sum, mine, left[N], right[N], other[N];
static int rank, ranks, before, behind;
static MPI_Comm half;

static void work(void) {
  for (int i = 0; i < N; ++i) other[i] += i;
}

/// As headers have it; nothing here calls it.
static inline int isThere(MPI_Request *request) {
  int there;
  MPI_Test(request, &there, MPI_STATUS_IGNORE);
  return there;
}

static void exchange(double *from, double *to) {
  MPI_Request requests[2];
  MPI_Irecv(from, N, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(to, N, MPI_DOUBLE, behind, 0, MPI_COMM_WORLD, &requests[1]);
  work();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void changed(void) {
  // CHECK: MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &allreduce_request);
  // CHECK-NEXT: exchange(left, right);
  // CHECK-NEXT: MPI_Wait(&allreduce_request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  exchange(left, right);
  mine = sum / ranks + left[3];
  // CHECK: MPI_Ibcast(
  // CHECK-NEXT: MPI_Sendrecv(
  // CHECK-NEXT: MPI_Wait(
  MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Sendrecv(right, N, MPI_DOUBLE, behind, 1, left, N, MPI_DOUBLE, before, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  mine += sum + left[4];
  // CHECK: MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, half, &allreduce_request_2);
  // CHECK-NEXT: exchange(left, right);
  // CHECK-NEXT: MPI_Wait(
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
  exchange(left, right);
  mine += sum;
  // CHECK: MPI_Ireduce(
  // CHECK-NEXT: if (rank + 1 < ranks)
  // CHECK-NEXT: if (rank > 0)
  // CHECK-NEXT: MPI_Wait(
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank + 1 < ranks) MPI_Send(right, N, MPI_DOUBLE, rank + 1, 2, MPI_COMM_WORLD);
  if (rank > 0) MPI_Recv(left, N, MPI_DOUBLE, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%d %g %g\n", rank, rank == 0 ? sum : 0, left[5]);
}

static void unchanged(void) {
  // WHY: note: it must be complete here: from in exchange() is written, which MPI_Bcast writes
  MPI_Bcast(left, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  exchange(left, right);
  // WHY: note: it must be complete here: to in exchange() is read, which MPI_Bcast writes
  MPI_Bcast(right, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  exchange(left, right);
  // WHY: MPI_Barrier: nothing can run meanwhile
  // WHY-NEXT: note: it must be complete here: before in exchange() may be memory that other ranks see
  MPI_Barrier(MPI_COMM_WORLD);
  exchange(left, right);
  MPI_Request request;
  MPI_Send_init(right, N, MPI_DOUBLE, behind, 3, MPI_COMM_WORLD, &request);
  // WHY: note: it must be complete here: MPI_Start is another call of MPI that may depend on this one being complete
  MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work();
  MPI_Start(&request);
  MPI_Recv(left, N, MPI_DOUBLE, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%d %g\n", rank, left[5] + sum);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  before = (rank + ranks - 1) % ranks;
  behind = (rank + 1) % ranks;
  mine = rank + 1;
  for (int i = 0; i < N; ++i) right[i] = rank * N + i;
  changed();
  unchanged();
  MPI_Finalize();
}
