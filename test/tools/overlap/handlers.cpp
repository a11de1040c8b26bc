// A rank that throws passes by what follows, wherever the throw stands; a handler that ends the rank does no harm.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX | FileCheck %s
#include <mpi.h>
#include <iostream>
#include <stdexcept>
enum { N = 400 };
static double y[N], in, out;
static void check(int rank) {
  if (rank == 1) throw std::runtime_error("one");
}
static void mean() {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce
  // CHECK: {{[0-9]+}}:5: note: not changed: an exception may lead a rank past it, to this handler
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
}
static void most() {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce
  // CHECK: [[#@LINE+1]]:3: note: fix:
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    most();
    check(rank);
  } catch (const std::exception &e) {
    std::cerr << e.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  try {
    check(rank);
    mean();
  } catch (...) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
