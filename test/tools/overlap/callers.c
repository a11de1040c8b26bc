// A function that ends with its call: notes say which of its callers could go on, and until where.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
enum { N = 100 };
static double x[N], y[N], z[N];
static double dot(const double *a, const double *b) {
  double mine = 0, all;
  for (int i = 0; i < N; ++i) mine += a[i] * b[i];
  // CHECK: [[#@LINE+5]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK: [[#@LINE+4]]:3: note: dot() ends with it, so only callers have something to do meanwhile: make two functions of it, one that ends with MPI_Iallreduce and one that begins with MPI_Wait
  // CHECK-NEXT: :[[#@LINE+8]]:17: note: between the two, line [[#@LINE+10]] of solve() could run; it must be complete where beta is read
  // CHECK-NEXT: :[[#@LINE+12]]:13: note: between the two, lines [[#@LINE+14]] to [[#@LINE+15]] of solve() could run; it must be complete where
  // CHECK-NEXT: remark
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static double solve(int steps) {
  double beta = dot(x, y), gamma;

  for (int i = 0; i < N; ++i) z[i] += x[i];
  for (int i = 0; i < steps; ++i) {
    z[0] += dot(z, z) + beta;
    gamma = dot(x, x);

    for (int k = 0; k < N; ++k) y[k] += z[k];
    z[1] = 0;
    if (gamma < 1) break;
  }
  return dot(x, z);
}

// It goes on behind the call; it writes what it is given.
static void goes_on(double *a) {
  // CHECK: remark: MPI_Bcast: nothing
  // CHECK-NOT: between the two
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) a[i] *= 2;
}
static void fills(double *a) {
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double result = solve(argc);
  goes_on(x);
  for (int i = 0; i < N; ++i) z[i] += y[i];
  fills(x);
  for (int i = 0; i < N; ++i) z[i] += x[i];
  MPI_Finalize();
  return result > 3;
}
