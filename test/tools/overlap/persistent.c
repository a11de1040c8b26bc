// A call that is the same in each turn of a loop is made persistent where that is asked for, with a wait at the window's end.
// REQUIRES: openmpi, mpich
// RUN: grep -v CHECK %s > %t.c && cp %t.c %t.x.c && nbc-overlap --fix --persistent=mpi4 %t.c -- mpicc.mpich
// RUN: FileCheck %s --input-file=%t.c && mpicc.mpich -Wall -Wextra -Werror -fsyntax-only %t.c
// RUN: nbc-overlap --fix --persistent=mpix %t.x.c -- mpicc.openmpi && FileCheck %s --input-file=%t.x.c --check-prefix=CHECKX
// RUN: mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.x.c
// RUN: cp %t.c %t.again.c && nbc-overlap --fix --persistent=mpi4 %t.again.c -- mpicc.mpich && cmp %t.c %t.again.c
#include <mpi.h>
enum { N = 100 };
static double in[N], out[N], other[N];
static int counts[N], places[N];
static void work(double *v) {
  for (int i = 0; i < N; ++i) v[i] += i;
}
// CHECKX: #include <mpi.h>
// CHECKX-NEXT: #include <mpi-ext.h>

static void made(int n) {
  // CHECK-LABEL: void made(
  // CHECK-NEXT: {{^}}  MPI_Request allreduce_request;
  // CHECK-NEXT: {{^}}  MPI_Allreduce_init(in, out, n + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &allreduce_request);
  // CHECK-NEXT:        for (int i = 0; i < 9; ++i) {
  // CHECK-NEXT:          in[0] = i;
  // CHECK-NEXT: {{^}}    MPI_Start(&allreduce_request) /* with */;  // and behind
  // CHECK-NEXT:          work(other);
  // CHECK-NEXT: {{^}}    MPI_Wait(&allreduce_request, MPI_STATUS_IGNORE);
  // CHECK-NEXT:          in[1] = out[1];
  // CHECK-NEXT:          if (i == 7) break;
  // CHECK-NEXT:        }
  // CHECK-NEXT: {{^}}  MPI_Request_free(&allreduce_request);
  // CHECKX:     MPIX_Allreduce_init(in, out, n + 1
  for (int i = 0; i < 9; ++i) {
    in[0] = i;
    MPI_Allreduce(in, out, n + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) /* with */;  // and behind
    work(other);
    in[1] = out[1];
    if (i == 7) break;
  }
}

// Without a turn there may be no root and no buffer. A count, a root, a place change; an array of counts does; the loop
// is left by return; a communicator may end; a pointer may not be there before; a name is the loop's own. All of them
// are nonblocking then.
static void not_made(int steps, int n, double *held, MPI_Comm *group) {
  // CHECK-LABEL: void not_made(
  // CHECK-NOT: _init(
  // CHECK: {{^}}}
  // CHECKX-LABEL: void not_made(
  // CHECKX-NOT: _init(
  // CHECKX: {{^}}}
  for (int i = 0; i < steps; ++i) {
    MPI_Bcast(in, N, MPI_DOUBLE, n - 1, MPI_COMM_WORLD);
    work(other);
  }
  for (int i = 0; i < steps; ++i) {
    MPI_Bcast(held, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(other);
  }
  for (int i = 0; i < 9; ++i) {
    MPI_Bcast(in, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(other);
    n = n / 2;
  }
  for (int i = 0; i < steps; ++i) {
    MPI_Bcast(in, n, MPI_DOUBLE, i, MPI_COMM_WORLD);
    work(other);
  }
  for (int i = 0; i < steps; ++i) {
    MPI_Bcast(in + n, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(other);
    ++n;
  }
  for (int i = 0; i < steps; ++i) {
    MPI_Allgatherv(in, 1, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    work(other);
    counts[0] = 1;
  }
  for (int i = 0; i < steps; ++i) {
    MPI_Bcast(&held[3], 1, MPI_DOUBLE, 0, *group);
    work(other);
  }
  for (int i = 0; i < steps; ++i) {
    double mine[N] = {0};
    MPI_Bcast(mine, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(other);
  }
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int i = 0; i < steps; ++i) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, copy);
    work(other);
    MPI_Comm_free(&copy);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  }
  for (int i = 0; i < steps; ++i) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(other);
    if (n == 7) return;
  }
}

int main(int argc, char **argv) {
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  made(argc);
  not_made(argc, 64, in, &world);
  MPI_Finalize();
}
