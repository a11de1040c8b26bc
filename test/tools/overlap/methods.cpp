// A method touches what its body does, and no more of its object.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 | FileCheck %s
#include <mpi.h>
#include <vector>
enum { N = 400 };
static double y[N];
namespace {
struct Solver {
  std::vector<double> sums = std::vector<double>(N), grid = std::vector<double>(N);
  double *last;

  void smooth() {
    for (int i = 0; i < N; ++i) grid[i] *= 0.5;
  }
  void add() {
    for (int i = 0; i < N; ++i) grid[i] += sums[i];
  }
  void share() {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Ibcast here, MPI_Wait behind line [[#@LINE+2]]
    MPI_Bcast(sums.data(), N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    smooth();
  }
  void shareAndAdd() {
    // CHECK: [[#@LINE+2]]:5: note: it must be complete here: sums[i] in add() is read, and may be memory that MPI_Bcast
    MPI_Bcast(sums.data(), N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    add();
  }
  void keep(double *p) {
    auto put = [this](auto *q) { last = q; };
    put(p);
  }
  void read(double *p) {
    // CHECK: [[#@LINE+2]]:40: note: it must be complete here: last[i] is read, and may be memory that MPI_Bcast writes
    MPI_Bcast(p, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) y[i] = last[i];
  }
};
}  // namespace
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Solver s;
  double buffer[N], none[N];
  s.last = none;
  s.keep(buffer);
  s.share(), s.shareAndAdd(), s.read(buffer);
  MPI_Finalize();
}
