// Statements in an expression do what they do: assert() of GNU's C library is one.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi > %t && FileCheck %s < %t && FileCheck %s --check-prefix=COMPLETE < %t
#include <assert.h>
#include <mpi.h>
enum { N = 400 };
static double y[N], in[N], out[N];
static int ranks;
#define LARGER(a, b) ({ int a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })
#define TAKE(from) ({ double *from_ = (from); from_; })
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] += i;
}
static int half(int n) {
  assert(n > 1);
  return n / 2;
}
static void behind(int n) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: lines [[#@LINE+3]] to [[#@LINE+5]] can run meanwhile
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  assert(n > 0 && in[0] < 5);
  work();
  y[0] = LARGER(n, 3);
  // COMPLETE: [[#@LINE+1]]:3: note: it must be complete here: assert(out[1] > 0) is read, which MPI_Allreduce writes
  assert(out[1] > 0);
}
// In front of a call it may be what the call relies on.
static void in_front(int n) {
  work();
  // CHECK: [[#@LINE+3]]:3: remark: MPI_Allreduce: line [[#@LINE+4]] can run meanwhile
  // CHECK: [[#@LINE+1]]:3: note: it cannot start before this: __assert_fail ends the program
  assert(n > 0);
  MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
}
// What it leads past, it leads past.
static void leaves(int n) {
  for (int i = 0; i < n; ++i) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce: line [[#@LINE+3]] can run meanwhile
    // CHECK: [[#@LINE+3]]:28: note: it must be complete here: break
    MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
    (void)({ if (y[3] > 5) break; 1; });
  }
}
// Pointers that come out of one are not followed.
static void pointer(int n) {
  double *p = TAKE(in);
  // CHECK: note: not changed: pointer() has a pointer out of a statement in an expression, which is not followed
  MPI_Allreduce(p, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
}
// What a function returns that holds one.
static void returned(int n) {
  if (half(n) > 4) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
static void within(void) {
  int one = ({
    // CHECK: note: not changed: its block is part of an expression
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
    1;
  });
  y[0] = one;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  behind(ranks);
  in_front(ranks);
  returned(ranks);
  leaves(ranks);
  pointer(ranks);
  within();
  MPI_Finalize();
}
