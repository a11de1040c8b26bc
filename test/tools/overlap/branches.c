// A call in a branch of an if may be under way behind the if, where nothing in between lives in the branch only.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.c
// RUN: cp %t.c %t.again.c && nbc-overlap --fix %t.again.c -- mpicc.openmpi && cmp %t.c %t.again.c
#include <mpi.h>
enum { N = 100 };
static double in[N], out[N], other[N], *held;
static void work(double *v) {
  for (int i = 0; i < N; ++i) v[i] += i;
}

static void unbraced(int kind) {
  // CHECK-LABEL: void unbraced(
  // CHECK-NEXT:  {{^}}  MPI_Request allgather_request = MPI_REQUEST_NULL;
  // CHECK-NEXT:  {{^}}  MPI_Request alltoall_request = MPI_REQUEST_NULL;
  // CHECK-NEXT:  if (kind)
  // CHECK-NEXT:    MPI_Iallgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD, &allgather_request);
  // CHECK-NEXT:  else
  // CHECK-NEXT:    MPI_Ialltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD, &alltoall_request);
  // CHECK-NEXT:  work(other);
  // CHECK-NEXT:  {{^}}  if (allgather_request != MPI_REQUEST_NULL) MPI_Wait(&allgather_request, MPI_STATUS_IGNORE);
  // CHECK-NEXT:  {{^}}  if (alltoall_request != MPI_REQUEST_NULL) MPI_Wait(&alltoall_request, MPI_STATUS_IGNORE);
  // CHECK-NEXT:  work(out);
  if (kind)
    MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  else
    MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  work(other);
  work(out);
}

static void braced(int kind) {
  // CHECK-LABEL: void braced(
  // CHECK-NEXT:  MPI_Request bcast_request = MPI_REQUEST_NULL;
  // CHECK-NEXT:  if (kind == 1) {
  // CHECK-NEXT:    work(out);
  // CHECK-NEXT:  } else if (kind == 2) {
  // CHECK-NEXT:    MPI_Ibcast(
  // CHECK-NEXT:    int unused = 0;
  // CHECK-NEXT:    (void)unused;
  // CHECK-NEXT:  }
  // CHECK-NEXT:  work(other);
  // CHECK-NEXT:  if (bcast_request != MPI_REQUEST_NULL) MPI_Wait(&bcast_request
  if (kind == 1) {
    work(out);
  } else if (kind == 2) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    int unused = 0;
    (void)unused;
  }
  work(other);
}

// The buffer ends with the branch, by name and by a pointer to it; then something else happens in the branch.
static void ends(int kind) {
  // CHECK-LABEL: void ends(
  // CHECK-NOT: MPI_Ib
  // CHECK: {{^}}}
  if (kind) {
    double mine[N] = {0};
    MPI_Bcast(mine, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  work(other);
  if (kind) {
    double mine[N] = {0};
    held = mine;
    MPI_Bcast(held, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  work(other);
  if (kind) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    in[0] = 1;
  }
  work(other);
  if (kind) MPI_Bcast((double[N]){1}, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(other);
  if (kind) {
    int *value = (int[]){1};
    MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  work(other);
}

// The wait would stand behind a loop or a case, which start more than once or not at all.
static void loops(int kind) {
  // CHECK-LABEL: void loops(
  // CHECK-NOT: MPI_Ib
  // CHECK: {{^}}}
  for (int i = 0; i < kind; ++i) MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(other);
  for (int i = 0; i < kind; ++i) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  work(other);
  switch (kind) {
    case 0:
      MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  work(other);
  switch (kind) {
    case 0:
      work(other);
      if (kind) MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      work(other);
  }
  int code = 0;
  if (kind) code = MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(other);
  if (code) work(in);
}

// What a rank is decides, and whichever it is, it meets the other one.
static void ranks(int rank) {
  // CHECK-LABEL: void ranks(
  // CHECK: MPI_Ibcast(
  // CHECK: MPI_Ibcast(
  if (rank == 0)
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  else
    MPI_Bcast(out, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(other);
}

// A continue behind the call changes nothing for the next turn; one before it does.
static void turns(int rank, int steps) {
  // CHECK-LABEL: void turns(
  // CHECK:      MPI_Ibcast(in
  // CHECK-NEXT: work(other);
  // CHECK-NEXT: MPI_Wait(
  // CHECK-NEXT: if (rank == 1) continue;
  // CHECK: if (rank == 1) continue;
  // CHECK-NEXT: MPI_Bcast(out
  for (int i = 0; i < steps; ++i) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(other);
    if (rank == 1) continue;
    other[0] = 0;
  }
  for (int i = 0; i < steps; ++i) {
    if (rank == 1) continue;
    MPI_Bcast(out, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(other);
  }
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unbraced(argc);
  braced(argc);
  ends(argc);
  loops(argc);
  ranks(rank);
  turns(rank, argc);
  MPI_Finalize();
}
