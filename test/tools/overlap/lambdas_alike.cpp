// A return leaves the lambda that it stands in, and who calls that goes on.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 | FileCheck %s
#include <mpi.h>
#include <cstdlib>
enum { N = 400 };
static double y[N], in, out;
static void mean() {
  auto scaled = [](double k) {
    if (k < 0) return -k;
    return 2 * k;
  };
  in = scaled(in);
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
}
static void shared(int rank) {
  auto share = [rank] {
    if (rank == 0) return;
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  };
  share();
  // CHECK: remark: MPI_Bcast
  // CHECK: remark: MPI_Bcast
  // CHECK: note: not changed:
  MPI_Bcast(&out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
}
static void ended(int rank) {
  auto end = [rank] {
    if (rank == 0) return;
    MPI_Barrier(MPI_COMM_WORLD);
    std::exit(1);
  };
  end();
  // CHECK: remark: MPI_Reduce
  // CHECK: note: not changed:
  MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  mean(), shared(rank), ended(rank);
  MPI_Finalize();
}
