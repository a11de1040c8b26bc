// Two calls in the branches of an if, of which each rank makes one, are changed together, or none of them is. Not where
// they may meet others: where a branch may be left before, makes another call of the kind, or calls on another
// communicator, and where not all ranks come to the if.
// REQUIRES: openmpi
// RUN: grep -v "CHECK\|RUN:" %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t.c
// RUN: mpicc.openmpi -Wall -Wextra -Werror %t.c -o %t.changed && mpicc.openmpi %s -o %t.original
// RUN: for n in 1 2 3 5; do %run_openmpi $n %t.original > %t.out && %run_openmpi $n %t.changed | diff %t.out - || exit 1; done
// RUN: cp %t.c %t.twice.c && nbc-overlap --fix %t.twice.c -- mpicc.openmpi > /dev/null && diff %t.c %t.twice.c
#include <mpi.h>
#include <stdio.h>

enum { N = 100 };
static double in[N], out[N], other[N];
static int rank, ranks;
static FILE *input;

static void work(void) {
  for (int i = 0; i < N; ++i) other[i] += i;
}

// CHECK-LABEL: static void changed(
static void changed(void) {
  // CHECK: MPI_Ibcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD, &bcast_request);
  // CHECK: MPI_Ibcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD, &bcast_request_2);
  // CHECK: work();
  // CHECK-NEXT: if (bcast_request != MPI_REQUEST_NULL) MPI_Wait(&bcast_request, MPI_STATUS_IGNORE);
  // CHECK-NEXT: if (bcast_request_2 != MPI_REQUEST_NULL) MPI_Wait(&bcast_request_2, MPI_STATUS_IGNORE);
  if (rank == 0) {
    for (int i = 0; i < N; ++i) in[i] = i;
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  work();
  other[0] += in[1];
  // CHECK: MPI_Ireduce(MPI_IN_PLACE, in,
  // CHECK: MPI_Ireduce(in, NULL,
  if (rank == 0)
    MPI_Reduce(MPI_IN_PLACE, in, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  else
    MPI_Reduce(in, NULL, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  work();
  for (int i = 0; i < N; ++i) other[i] += in[i] * (rank == 0);
  // CHECK: for (int turn
  for (int turn = 0; turn < 3; ++turn) {
    // CHECK: MPI_Igather(MPI_IN_PLACE
    // CHECK: MPI_Igather(in
    if (rank == 0) {
      MPI_Gather(MPI_IN_PLACE, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } else {
      MPI_Gather(in, 1, MPI_DOUBLE, NULL, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    work();
    in[0] += 1;
    other[1] += out[ranks - 1];
  }
}

// CHECK-LABEL: static void several(
static void several(void) {
  int n = 1;
  // CHECK: MPI_Bcast(&n
  // CHECK-NEXT: MPI_Ibcast(in
  // CHECK: MPI_Bcast(&n
  // CHECK: MPI_Ibcast(in
  if (rank == 0) {
    n = N;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(in, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i) in[i] = -1;
    MPI_Bcast(in, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  work();
  other[0] += in[2];
}

// CHECK-LABEL: static void together(
static void together(void) {
  // WHY: so it meets the one of {{.*}}, and both change or neither
  // CHECK: MPI_Reduce(MPI_IN_PLACE
  // CHECK: MPI_Reduce(in
  if (rank == 0) {
    MPI_Reduce(MPI_IN_PLACE, in, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    other[0] += in[0];
  } else {
    MPI_Reduce(in, NULL, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  work();
}

// CHECK-LABEL: static void left_before(
static void left_before(void) {
  // CHECK: MPI_Bcast(
  // CHECK: MPI_Bcast(
  if (rank == 0) {
    if (input) return;
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  work();
  other[0] += in[0];
}

// CHECK-LABEL: static void more(
static void more(void) {
  int n = 1;
  // CHECK: MPI_Bcast(
  // CHECK: MPI_Bcast(
  // CHECK: MPI_Bcast(
  // CHECK: MPI_Bcast(
  if (rank == 0) {
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
    if (n > 0) MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  work();
  other[0] += in[0];
}

// CHECK-LABEL: static void on_another(
static void on_another(void) {
  // CHECK: MPI_Bcast(
  // CHECK: MPI_Ibcast({{.*}} MPI_COMM_SELF
  if (rank < ranks)
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  else
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_SELF);
  work();
  other[0] += in[0];
}

// CHECK-LABEL: static void of_some(
static void of_some(MPI_Comm comm) {
  int place;
  MPI_Comm_rank(comm, &place);
  // CHECK: MPI_Bcast(
  // CHECK: MPI_Bcast(
  if (rank % 2 == 0) {
    if (place == 0)
      MPI_Bcast(in, N, MPI_DOUBLE, 0, comm);
    else
      MPI_Bcast(in, N, MPI_DOUBLE, 0, comm);
    work();
    other[0] += in[0];
  } else {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, comm);
  }
}

int main(int argc, char **argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &comm);
  changed();
  several();
  together();
  left_before();
  more();
  on_another();
  of_some(comm);
  double sum = other[0] + other[1] + other[N - 1];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%g\n", sum);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
