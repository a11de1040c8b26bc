// A call at the end of a turn is under way into the next, where neither what follows it nor what the next begins with is
// in its way.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.c
// RUN: cp %t.c %t.again.c && nbc-overlap --fix %t.again.c -- mpicc.openmpi && cmp %t.c %t.again.c
#include <mpi.h>
enum { N = 100 };
static double in[N], out[N], other[N], more[N];
static void work(double *v) {
  for (int i = 0; i < N; ++i) v[i] += i;
}

static void carried(int steps) {
  // CHECK-LABEL: void carried(
  // CHECK-NEXT: {{^}}  MPI_Request allreduce_request = MPI_REQUEST_NULL;
  // CHECK-NEXT:        for (int i = 0; i < steps; ++i) {
  // CHECK-NEXT:          work(other);  // needs nothing of it
  // CHECK-NEXT: {{^}}    if (allreduce_request != MPI_REQUEST_NULL) MPI_Wait(&allreduce_request, MPI_STATUS_IGNORE);
  // CHECK-NEXT:          in[0] = out[1];
  // CHECK-NEXT:          MPI_Iallreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &allreduce_request);
  // CHECK-NEXT:          more[0] += 1;
  // CHECK-NEXT:        }
  // CHECK-NEXT: {{^}}  if (allreduce_request != MPI_REQUEST_NULL) MPI_Wait(&allreduce_request, MPI_STATUS_IGNORE);
  // CHECK-NEXT:        work(out);
  for (int i = 0; i < steps; ++i) {
    work(other);  // needs nothing of it
    in[0] = out[1];
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    more[0] += 1;
  }
  work(out);
}

// A turn may be left between the wait and the next start.
static void leaves(int steps) {
  // CHECK-LABEL: void leaves(
  // CHECK:      while (steps > 0) {
  // CHECK-NEXT:   work(other);
  // CHECK-NEXT:   if ({{.*}} != MPI_REQUEST_NULL) MPI_Wait(
  // CHECK-NEXT:   if (sum > 5) break;
  // CHECK-NEXT:   --steps;
  // CHECK-NEXT:   MPI_Iallreduce(
  // CHECK-NEXT: }
  // CHECK-NEXT: if ({{.*}} != MPI_REQUEST_NULL) MPI_Wait(
  double mine = 1, sum = 0;
  while (steps > 0) {
    work(other);
    if (sum > 5) break;
    --steps;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

// The next turn begins with what the call reads or writes; so does the loop's condition, or its step; a turn is left
// behind the call; the buffer ends with the turn, or with the loop; the call is not the block's own.
static void not_carried(int steps) {
  // CHECK-LABEL: void not_carried(
  // CHECK-NOT: MPI_REQUEST_NULL
  // CHECK: {{^}}}
  for (int i = 0; i < steps; ++i) {
    work(in);
    work(other);
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    more[i] = out[i];
    work(other);
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (out[0] = 0; out[0] < 1e9;) {
    work(other);
    in[0] = out[0];
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i, out[0] = 3) {
    work(other);
    in[0] = 1;
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    work(other);
    in[0] = 1;
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (i == 3) continue;
    more[0] = 1;
  }
  for (int i = 0; i < steps; ++i) {
    work(other);
    double mine[N] = {0};
    mine[0] = i;
    MPI_Allreduce(mine, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (double mine[N] = {0}; steps-- > 0;) {
    work(other);
    mine[0] = 3;
    MPI_Allreduce(mine, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    work(other);
#ifdef FAST
    out[0] = 1;
#endif
    in[0] = 1;
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  do {
    work(other);
    in[0] = 1;
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } while (--steps > 0);
}

// What a rank is decides how often it turns, or whether it comes to the call.
static void ranks(int rank, int steps) {
  // CHECK-LABEL: void ranks(
  // CHECK-NOT: MPI_REQUEST_NULL
  // CHECK: {{^}}}
  for (int i = 0; i < rank; ++i) {
    work(other);
    in[0] = 1;
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    work(other);
    if (i == rank) break;
    in[0] = 1;
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

// Two buffers taken in turns by a pointer: what the pointer may be is what the next turn fills.
static void swapped(int steps) {
  // CHECK-LABEL: void swapped(
  // CHECK-NOT: MPI_REQUEST_NULL
  // CHECK: {{^}}}
  double *now = in, *next = more;
  for (int i = 0; i < steps; ++i) {
    work(now);
    other[0] = out[0];
    MPI_Allreduce(now, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double *t = now;
    now = next;
    next = t;
  }
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  carried(argc);
  leaves(argc);
  not_carried(argc);
  ranks(rank, argc);
  swapped(argc);
  MPI_Finalize();
}
